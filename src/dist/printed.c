/*
 * printed.c
 *	  The paper's mechanism as it is printed (Ramadan et al. 2021, Algorithm 1, Corollary
 *	  1, Claim 1), to reproduce its figures.  It is NOT differentially private:
 *	  common/dp_printed.c says why.
 *
 * The mean of the Gaussian is Corollary 1's, rho w xhat + (1 - rho) mu_p, to which gamma
 * belongs.  The last lines of Algorithm 1 leave w out; "unweighted_mean" does so, too.
 */
#include "postgres.h"

#include <math.h>

#include "common/dp_posterior.h"
#include "common/dp_printed.h"
#include "dist/world.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Lattice units of one standard deviation: fine enough to pass for a normal number. */
#define FINE_SIGMA (INT64CONST(1) << 30)

/* Beyond, noise is all that there is anyway, and it must stay finite. */
#define LARGEST_SIGMA 1e300

typedef struct PrintedStatistics
{
	DpPrintedCounts counts;
	double *mean; /* of the Gaussian */
	double sigma;
	double gamma;
} PrintedStatistics;

static void
count_rows(const DistWorld *world, double *count, int64 *users)
{
	GramRowScan scan;
	GramRow row;

	rows_scan_begin(&scan, world->rows);
	while (world_next(world, &scan, &row))
		for (uint32 i = 0; i < row.n; i++)
		{
			count[row_gram(&row, i) - 1] += row_count(&row, i);
			users[row_gram(&row, i) - 1]++;
		}
	rows_scan_end(&scan);
}

/* gamma by brute force: the most that leaving out one user who is there would move. */
static double
brute_force(const DistWorld *world, const DpPrintedCounts *counts)
{
	double gamma = 0;
	uint32 *word = MemoryContextAllocHuge(CurrentMemoryContext, counts->words * sizeof(uint32));
	int64 *count = MemoryContextAllocHuge(CurrentMemoryContext, counts->words * sizeof(int64));
	GramRowScan scan;
	GramRow row;

	rows_scan_begin(&scan, world->rows);
	while (world_next(world, &scan, &row))
	{
		for (uint32 i = 0; i < row.n; i++)
		{
			word[i] = row_gram(&row, i) - 1;
			count[i] = row_count(&row, i);
		}
		gamma = Max(gamma, dp_printed_user_norm(counts, word, count, row.n));
	}
	rows_scan_end(&scan);
	pfree(word);
	pfree(count);
	return gamma;
}

/* The mean of the Gaussian. */
static double *
posterior_mean(const DistWorld *world, const DpPrintedCounts *counts)
{
	const DistQuery *query = &world->plan->query;
	Size n = world->grams->size;
	double *prior = zero_doubles(n);
	double *mean = zero_doubles(n);

	for (Size i = 0; i < n; i++)
		prior[i] = world->grams->count[i];
	dp_center_log(prior, n, prior);
	for (Size i = 0; i < n; i++)
	{
		double xhat = log1p(counts->count[i]) - counts->mean;
		double w = query->unweighted_mean ?
					   1 :
					   dp_log_weight(counts->users[i], query->slope, query->max_count);

		mean[i] = query->weight * w * xhat + (1 - query->weight) * prior[i];
	}
	pfree(prior);
	return mean;
}

static PrintedStatistics *
count_world(const DistWorld *world)
{
	const DistQuery *query = &world->plan->query;
	PrintedStatistics *counted = palloc(sizeof(PrintedStatistics));
	Size n = world->grams->size;
	double *count = zero_doubles(n);
	int64 *users = zero_counts(n);

	count_rows(world, count, users);
	counted->counts = (DpPrintedCounts){
		.words = n,
		.count = count,
		.users = users,
		.weight_slope = query->slope,
		.max_count = query->max_count};
	dp_printed_prepare(&counted->counts);
	counted->mean = posterior_mean(world, &counted->counts);
	counted->gamma = query->worst_case ? dp_printed_worst_case(&counted->counts) :
										 brute_force(world, &counted->counts);
	counted->sigma = Min(dp_printed_sigma(query->weight, counted->gamma, query->epsilon,
										  query->delta),
						 LARGEST_SIGMA);
	return counted;
}

/* A release of local-sensitivity. */
void
release_printed(DistWorld *world, Noise *noise, int run, double *theta, DistReport *report)
{
	const PrintedStatistics *counted;
	Size n = world->grams->size;

	if (world->counted == NULL)
		world->counted = count_world(world);
	counted = world->counted;
	for (Size i = 0; i < n; i++)
	{
		double z = ldexp((double) noise_gaussian(noise, FINE_SIGMA, world_stream(run, 0), i), -30);

		CHECK_FOR_INTERRUPTS();
		theta[i] = counted->mean[i] + counted->sigma * z;
	}
	dp_softmax(theta, n);
	report->slope = world->plan->query.slope;
	report->weight = world->plan->query.weight;
	report->sensitivity = counted->gamma;
}
