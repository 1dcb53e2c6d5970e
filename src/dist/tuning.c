/*
 * tuning.c
 *	  Private tuning of S and rho: the candidate that fits the users of the other part
 *	  best (section 3.2, without the errors of Claim 2 and Algorithm 2).
 *
 * The users are parted by a keyed hash.  The candidates are released first, from one part;
 * given them, each user of the other part has a cost for each candidate: the mean of
 * -ln theta over the user's n-grams, cut to [0, B], B = ln V + 3 public, in integers of
 * 2^-20 B rounded down.  Summed over users, adding one user raises every cost by 0 to
 * 2^20 units and lowers none.  So the costs are monotone of sensitivity 2^20, and
 * permute-and-flip is epsilon-DP with one epsilon, not two (common/dp_select.c).  The
 * result is the chosen candidate as it was released: nothing else of the second part is
 * used.
 */
#include "postgres.h"

#include <math.h>

#include "common/dp_audit.h"
#include "common/dp_select.h"
#include "dist/world.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Above a uniform distribution's cost, ln V, so much is still told apart. */
#define COST_ABOVE_UNIFORM 3.0

/*
 * What tells users apart: their hash, or, for the few types of users that have none
 * (read.c), what they wrote.  In both cases a function of the user's own data.
 */
static uint64
own_hash(const GramRow *row)
{
	uint64 hash = row->hash;

	if (hash != 0)
		return hash;
	for (uint32 i = 0; i < row->n; i++)
		hash = dp_mix64(dp_mix64(hash, row_gram(row, i)), row_count(row, i));
	return hash;
}

/* Is the user of the part that the candidates are made of? */
bool
in_training(const DistWorld *world, const GramRow *row)
{
	double place = ldexp((double) (dp_mix64(world->split_key, own_hash(row)) >> 11), -53);

	return place < world->plan->query.train_share;
}

/* -ln theta of the candidates of one S, DIST_WEIGHTS to each n-gram. */
static float *
candidate_costs(const PublicGrams *grams, const double *prior, const double *feature)
{
	Size n = grams->size;
	float *cost = MemoryContextAllocHuge(CurrentMemoryContext, n * DIST_WEIGHTS * sizeof(float));
	double *eta = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(double));

	for (int k = 0; k < DIST_WEIGHTS; k++)
	{
		double highest = -HUGE_VAL;
		double sum = 0;

		CHECK_FOR_INTERRUPTS();
		posterior_logs(prior, feature, dist_weight(k), n, eta);
		for (Size i = 0; i < n; i++)
			highest = Max(highest, eta[i]);
		for (Size i = 0; i < n; i++)
			sum += exp(eta[i] - highest);
		for (Size i = 0; i < n; i++)
			cost[i * DIST_WEIGHTS + k] = (float) (highest + log(sum) - eta[i]);
	}
	pfree(eta);
	return cost;
}

/* One user's costs, cut and rounded, onto the sums. */
static void
add_user(const GramRow *row, const float *cost, double most, int64 *sum)
{
	double mean[DIST_WEIGHTS] = {0};
	double total = 0;

	for (uint32 i = 0; i < row->n; i++)
	{
		const float *of_gram = &cost[(Size) (row_gram(row, i) - 1) * DIST_WEIGHTS];

		total += row_count(row, i);
		for (int k = 0; k < DIST_WEIGHTS; k++)
			mean[k] += row_count(row, i) * (double) of_gram[k];
	}
	for (int k = 0; k < DIST_WEIGHTS; k++)
	{
		double cut = Min(Max(mean[k] / total, 0), most);

		sum[k] += Min((int64) floor(ldexp(cut / most, DP_LATTICE_BITS)), DP_LATTICE_ONE);
	}
}

static void
add_costs(const DistWorld *world, const float *cost, int64 *sum)
{
	double most = log((double) world->grams->size) + COST_ABOVE_UNIFORM;
	GramRowScan scan;
	GramRow row;

	rows_scan_begin(&scan, world->rows);
	while (world_next(world, &scan, &row))
		if (!in_training(world, &row) || DP_SABOTAGED(SABOTAGE_SAME_HALVES))
			add_user(&row, cost, most, sum);
	rows_scan_end(&scan);
}

/*
 * The chosen candidate: number of S times DIST_WEIGHTS, plus number of rho.  One pass
 * over the rows for each S, so that the costs of a large vocabulary fit in memory.
 */
int
choose_candidate(const DistWorld *world, Noise *noise, int run, const double *prior,
				 double *const *features)
{
	DpRandom *random = noise_stream(noise, world_stream(run, DIST_SLOPES));
	int64 sum[DIST_CANDIDATES] = {0};
	int chosen;

	if (world->plan->select_epsilon == 0)
		return 0;

	for (int i = 0; i < DIST_SLOPES; i++)
	{
		float *cost = candidate_costs(world->grams, prior, features[i]);

		add_costs(world, cost, sum + i * DIST_WEIGHTS);
		pfree(cost);
	}
	DP_AUDIT_EXACT(AUDIT_CHOICE, world->plan->select_epsilon, sum, DIST_CANDIDATES);
	if (dp_select(random, sum, DIST_CANDIDATES,
				  DP_LATTICE_ONE, world->plan->select_epsilon, &chosen) != DP_OK)
		elog(ERROR, "no candidate could be chosen");
	DP_AUDIT_CHOSEN(&chosen);
	return chosen;
}
