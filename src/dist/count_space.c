/*
 * count_space.c
 *	  Distributions from noisy counts: shrinkage, and the paper's two baselines.
 *
 * The main release is a vector of integers, one for each n-gram of the public
 * vocabulary, with noise on every one of them.  One user's row is bounded to norm 1 in
 * lattice units of 2^-20, in integers, so that adding or removing the user moves the
 * vector by at most 2^20 in that norm:
 *
 *	shrinkage, Gaussian	 l2.  A row c of norm at most L adds c u, u = floor(2^20 / L), as
 *						 long as the sum of (c u)^2 is at most 2^40, and else of each
 *						 count the largest w with w^2 sum c^2 <= 2^40 c^2, whose squares
 *						 sum to at most 2^40.
 *	shrinkage, Laplace	 l1.  c u as long as the sum of c u is at most 2^20, else
 *						 floor(2^20 c / sum c).
 *	laplace				 l1.  At most W occurrences a user (rows.c), each floor(2^20 / W).
 *	laplace-public		 l1, see below.
 *
 * L is given, or chosen from a first release: the histogram of the rows' norms, each user
 * adding 2^20 to one bucket of a fixed public range, with noise on every bucket.  What
 * follows is a function of released integers and the public distribution: the choice of
 * L and the shrinkage (common/dp_shrink.c) cost nothing.
 *
 * laplace-public (section 4.2, second baseline).  As printed the users are averaged with
 * weights that depend on the private total.  Here a user's row is scaled to weight k =
 * min(W, total of the row), which needs no other user: with a the public distribution in
 * integers of sum u = floor(2^32 / 2W), the user adds c u - k a to the main release, of
 * l1 norm at most k u + k u <= 2^32, and k floor(2^32 / W) to the side release of the
 * total weight.  The result is a / u + main / total, cut at 0 and normalised: what was
 * taken off is put back, not the probability that it was rounded down from, which for a
 * large W would leave the public distribution in the result for good.
 */
#include "postgres.h"

#include <math.h>

#include "common/dp_audit.h"
#include "common/dp_norm_bound.h"
#include "common/dp_shrink.h"
#include "dist/world.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Exact sums of rows clipped at one L. */
typedef struct ClippedSum
{
	double max_norm;
	int64 *sum;
	struct ClippedSum *next;
} ClippedSum;

typedef struct CountStatistics
{
	int64 *norms; /* histogram of the rows' norms, once it was needed */
	ClippedSum *sums;

	/* laplace-public */
	int64 total;	 /* of the rows' weights */
	int64 *expected; /* the public distribution in units: public, unlike the rest */
} CountStatistics;

/* Releases of a run, for the streams of seeded noise. */
enum
{
	RELEASE_SIDE,
	RELEASE_MAIN
};

/* ---- one user's row ---- */

/* Sum of the counts, and of their squares: at most 2^24 counts below 2^31. */
static void
row_norms(const GramRow *row, uint64 *sum, dp_uint128 *squares)
{
	*sum = 0;
	*squares = 0;
	for (uint32 i = 0; i < row->n; i++)
	{
		*sum += row_count(row, i);
		*squares += (uint64) row_count(row, i) * row_count(row, i);
	}
}

/* The largest w with w^2 squares <= 2^40 count^2. */
static int64
clipped_l2(uint32 count, dp_uint128 squares)
{
	dp_uint128 most = ((dp_uint128) count * count) << (2 * DP_LATTICE_BITS);
	int64 w = (int64) (DP_LATTICE_ONE * (count / sqrt((double) squares)));

	while ((dp_uint128) w * w * squares > most)
		w--;
	while ((dp_uint128) (w + 1) * (w + 1) * squares <= most)
		w++;
	return w;
}

static void
add_row_l2(const GramRow *row, int64 unit, int64 *sum)
{
	uint64 total;
	dp_uint128 squares;
	uint32 cached_count = 0;
	int64 cached = 0;

	row_norms(row, &total, &squares);
	/* the left side could overflow only where it is true anyway */
	if ((squares > ((dp_uint128) 1 << (2 * DP_LATTICE_BITS)) ||
		 squares * unit * unit > (dp_uint128) 1 << (2 * DP_LATTICE_BITS)) &&
		!DP_SABOTAGED(SABOTAGE_UNCLIPPED))
	{
		for (uint32 i = 0; i < row->n; i++)
		{
			if (row_count(row, i) != cached_count)
			{
				cached_count = row_count(row, i);
				cached = clipped_l2(cached_count, squares);
			}
			sum[row_gram(row, i) - 1] += cached;
		}
		return;
	}
	for (uint32 i = 0; i < row->n; i++)
		sum[row_gram(row, i) - 1] += row_count(row, i) * unit;
}

static void
add_row_l1(const GramRow *row, int64 unit, int64 *sum)
{
	uint64 total;
	dp_uint128 squares;
	bool fits;

	row_norms(row, &total, &squares);
	fits = (dp_uint128) total * unit <= DP_LATTICE_ONE || DP_SABOTAGED(SABOTAGE_UNCLIPPED);
	for (uint32 i = 0; i < row->n; i++)
		sum[row_gram(row, i) - 1] +=
			fits ? row_count(row, i) * unit :
				   (int64) (((dp_uint128) row_count(row, i) << DP_LATTICE_BITS) / total);
}

/* ---- exact sums ---- */

static int64
unit_of(double max_norm)
{
	return (int64) floor(DP_LATTICE_ONE / max_norm);
}

static int64 *
clipped_sum(DistWorld *world, double max_norm)
{
	bool l1 = world->plan->main.laplace;
	CountStatistics *counted = world->counted;
	ClippedSum *clipped;
	GramRowScan scan;
	GramRow row;

	for (clipped = counted->sums; clipped != NULL; clipped = clipped->next)
		if (clipped->max_norm == max_norm)
			return clipped->sum;
	clipped = palloc(sizeof(ClippedSum));
	*clipped = (ClippedSum){max_norm, zero_counts(world->grams->size), counted->sums};
	counted->sums = clipped;

	rows_scan_begin(&scan, world->rows);
	while (world_next(world, &scan, &row))
	{
		if (l1)
			add_row_l1(&row, unit_of(max_norm), clipped->sum);
		else
			add_row_l2(&row, unit_of(max_norm), clipped->sum);
	}
	rows_scan_end(&scan);
	return clipped->sum;
}

static void
count_norms(DistWorld *world)
{
	CountStatistics *counted = world->counted;
	bool l1 = world->plan->main.laplace;
	GramRowScan scan;
	GramRow row;

	counted->norms = zero_counts(DP_NORM_BUCKETS);
	rows_scan_begin(&scan, world->rows);
	while (world_next(world, &scan, &row))
	{
		uint64 total;
		dp_uint128 squares;
		double square;

		row_norms(&row, &total, &squares);
		square = l1 ? (double) total * (double) total : (double) squares;
		counted->norms[dp_norm_bucket(square, DP_NORM_BUCKETS)] += DP_LATTICE_ONE;
	}
	rows_scan_end(&scan);
}

/* ---- shrinkage ---- */

static double
noise_sd(const DistNoise *noise)
{
	return noise->laplace ? M_SQRT2 * noise->scale : (double) noise->scale;
}

/* The norm to which rows are bounded; a given one is not asked what it takes away. */
static DpNormChoice
choose_norm(DistWorld *world, Noise *noise, int run)
{
	const DistPlan *plan = world->plan;
	int64 norms[DP_NORM_BUCKETS];
	double histogram[DP_NORM_BUCKETS];
	DpNormInput input = {
		.histogram = histogram,
		.buckets = DP_NORM_BUCKETS,
		.histogram_sd = noise_sd(&plan->side) / DP_LATTICE_ONE,
		.p = world->grams->probability,
		.n = world->grams->size,
		.unit_sd = noise_sd(&plan->main) / DP_LATTICE_ONE};
	const CountStatistics *counted = world->counted;
	DpNormChoice choice = {.norm = plan->query.max_norm};

	if (plan->query.max_norm > 0)
		return choice;
	if (counted->norms == NULL)
		count_norms(world);
	memcpy(norms, counted->norms, sizeof(norms));
	add_noise(&plan->side, noise, world_stream(run, RELEASE_SIDE), norms, DP_NORM_BUCKETS);
	for (int i = 0; i < DP_NORM_BUCKETS; i++)
		histogram[i] = norms[i] / (double) DP_LATTICE_ONE;
	if (dp_choose_norm(&input, &choice) != DP_OK)
		elog(ERROR, "no bound on the norms can be chosen");
	return choice;
}

/* The noisy main release, in counts: the lattice's one is worth "worth" of them. */
static double *
noisy_counts(const DistWorld *world, Noise *noise, int run, const int64 *exact, double worth)
{
	Size n = world->grams->size;
	int64 *sum = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(int64));
	double *y = zero_doubles(n);

	memcpy(sum, exact, n * sizeof(int64));
	add_noise(&world->plan->main, noise, world_stream(run, RELEASE_MAIN), sum, n);
	for (Size i = 0; i < n; i++)
		y[i] = sum[i] * worth;
	pfree(sum);
	return y;
}

static void
release_shrinkage(DistWorld *world, Noise *noise, int run, double *theta, DistReport *report)
{
	const DistPlan *plan = world->plan;
	DpNormChoice chosen = choose_norm(world, noise, run);
	double worth = 1.0 / unit_of(chosen.norm);
	double *y = noisy_counts(world, noise, run, clipped_sum(world, chosen.norm), worth);
	DpShrinkInput input = {
		.y = y,
		.p = world->grams->probability,
		.n = world->grams->size,
		.sd = noise_sd(&plan->main) * worth,
		.noise = plan->main.laplace ? DP_NOISE_LAPLACE : DP_NOISE_GAUSSIAN,
		.lost = chosen.lost};
	DpShrinkReport shrunk;

	if (dp_shrink(&input, theta, &shrunk) != DP_OK)
		elog(ERROR, "counts could not be shrunk");
	report->max_norm = chosen.norm;
	report->prior_weight = 1 - shrunk.lambda;
	pfree(y);
}

/* ---- the baselines ---- */

/* Cut at 0 and normalise; the floor keeps every n-gram possible. */
static void
threshold_and_normalise(double *theta, Size n, double floor_at)
{
	long double total = 0;

	for (Size i = 0; i < n; i++)
		total += theta[i] = Max(theta[i], floor_at);
	for (Size i = 0; i < n; i++)
		theta[i] = (double) (theta[i] / total);
}

/*
 * Of one count, what a threshold at 0 leaves: as good as nothing, but an n-gram that is
 * cut stays possible, and a divergence from the result finite.
 */
#define LAPLACE_FLOOR 1e-3

static void
release_laplace(DistWorld *world, Noise *noise, int run, double *theta)
{
	double max_norm = world->plan->query.max_contributions;
	double *y = noisy_counts(world, noise, run, clipped_sum(world, max_norm),
							 1.0 / unit_of(max_norm));

	memcpy(theta, y, world->grams->size * sizeof(double));
	threshold_and_normalise(theta, world->grams->size, LAPLACE_FLOOR);
	pfree(y);
}

/* The public distribution in integers of sum at most "unit". */
static int64 *
public_units(const PublicGrams *grams, int64 unit)
{
	int64 *a = zero_counts(grams->size);
	int64 left = unit;

	for (uint32 i = 0; i < grams->size; i++)
	{
		a[i] = Min(left, (int64) floor(grams->probability[i] * unit));
		left -= a[i];
	}
	return a;
}

/*
 * Sums c u, where c is the row scaled to weight k, and of k.  The public part of every
 * user is k a, so of all users total * a: it is taken off once.
 */
static void
count_public(DistWorld *world)
{
	CountStatistics *counted = world->counted;
	int64 most = world->plan->query.max_contributions;
	int64 unit = (INT64CONST(1) << DIST_PUBLIC_BITS) / (2 * most);
	int64 *sum = zero_counts(world->grams->size);
	int64 *a = public_units(world->grams, unit);
	GramRowScan scan;
	GramRow row;

	rows_scan_begin(&scan, world->rows);
	while (world_next(world, &scan, &row))
	{
		uint64 total;
		dp_uint128 squares;
		int64 k;

		row_norms(&row, &total, &squares);
		k = Min((int64) total, most);
		for (uint32 i = 0; i < row.n; i++)
			sum[row_gram(&row, i) - 1] +=
				(int64) ((dp_uint128) row_count(&row, i) * k * unit / total);
		counted->total += k;
	}
	rows_scan_end(&scan);
	for (uint32 i = 0; i < world->grams->size; i++)
		sum[i] -= counted->total * a[i];
	counted->expected = a;
	counted->sums = palloc(sizeof(ClippedSum));
	*counted->sums = (ClippedSum){.sum = sum};
}

static void
release_laplace_public(DistWorld *world, Noise *noise, int run, double *theta)
{
	const DistPlan *plan = world->plan;
	const CountStatistics *counted = world->counted;
	int64 most = plan->query.max_contributions;
	int64 unit = (INT64CONST(1) << DIST_PUBLIC_BITS) / (2 * most);
	int64 total_unit = (INT64CONST(1) << DIST_PUBLIC_BITS) / most;
	int64 total;
	double weight;
	double *y;

	if (counted->sums == NULL)
		count_public(world);
	total = counted->total * total_unit;
	add_noise(&plan->side, noise, world_stream(run, RELEASE_SIDE), &total, 1);
	if (DP_SABOTAGED(SABOTAGE_EXACT_TOTAL))
		total = counted->total * total_unit;
	weight = Max(total / (double) total_unit, 1);
	y = noisy_counts(world, noise, run, counted->sums->sum, 1.0 / unit);
	for (uint32 i = 0; i < world->grams->size; i++)
		theta[i] = (double) counted->expected[i] / unit + y[i] / weight;
	threshold_and_normalise(theta, world->grams->size, LAPLACE_FLOOR / weight);
	pfree(y);
}

/* A release of shrinkage or of a baseline. */
void
release_counts(DistWorld *world, Noise *noise, int run, double *theta, DistReport *report)
{
	if (world->counted == NULL)
		world->counted = palloc0(sizeof(CountStatistics));
	switch (world->plan->query.method)
	{
		case DIST_LAPLACE:
			release_laplace(world, noise, run, theta);
			break;
		case DIST_LAPLACE_PUBLIC:
			release_laplace_public(world, noise, run, theta);
			break;
		default:
			release_shrinkage(world, noise, run, theta, report);
			break;
	}
}
