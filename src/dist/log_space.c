/*
 * log_space.c
 *	  The paper's mechanism made private: noisy logarithms of counts, drawn towards the
 *	  public ones (Ramadan et al. 2021, equations 1 to 5).
 *
 * For n-gram i with c_i occurrences of N_i users the feature is
 *
 *	f_i = w_i (ln(1 + c_i) - m0),	w_i = min(1, S N_i / C)			(equation 5)
 *
 * with a public constant m0 where equation 2 has the mean of all n-grams, which one user
 * could move without bound.  The result is the softmax (equation 4) of
 *
 *	rho (f_i + noise) + (1 - rho) mu_i,
 *
 * mu_i being equation 1 of the public counts.
 *
 * Sensitivity.  A user has at most W of the vocabulary's n-grams, each at most C times
 * (rows.c), and moves each of their features by at most A(S, C, m0) and no other
 * (common/dp_posterior.c).  The feature is released as the integer x_i = rint(s f_i) with
 * s A + 2 <= 2^20 / sqrt(W): rounding moves it by at most one more, and the rounding of
 * doubles on the way by less than the other one.  For f is 0 where N = 0, and N users take
 * it there in N steps of at most A, so |s f_i| is at most 2^20 N: below 2^51 up to 2^31
 * users, where the nearest double is within a quarter, and within an int64 whatever S, C
 * and m0 are.  (What f itself is off by, A has in it.)  So the vector moves by at most
 * 2^20 in l2, and everything after the noise is post-processing, rho included.
 *
 * With private tuning there is one such release for each S, of the users of one part.
 */
#include "postgres.h"

#include <math.h>

#include "common/dp_posterior.h"
#include "dist/world.h"
#include "dpngram_errcodes.h"
#include "miscadmin.h"
#include "utils/memutils.h"

typedef struct LogStatistics
{
	int64 *count;  /* c */
	int64 *users;  /* N */
	double *prior; /* equation 1 of the public counts */
} LogStatistics;

static double *
prior_logs(const PublicGrams *grams)
{
	double *prior = zero_doubles(grams->size);

	for (uint32 i = 0; i < grams->size; i++)
		prior[i] = grams->count[i];
	dp_center_log(prior, grams->size, prior);
	return prior;
}

/* With more users the doubles of a feature would be off by too much: see above. */
#define MOST_USERS (INT64CONST(1) << 31)

static LogStatistics *
count_rows(const DistWorld *world)
{
	Size n = world->grams->size;
	LogStatistics *counted = palloc(sizeof(LogStatistics));
	GramRowScan scan;
	GramRow row;
	int64 users = 0;

	*counted = (LogStatistics){zero_counts(n), zero_counts(n), prior_logs(world->grams)};
	rows_scan_begin(&scan, world->rows);
	while (world_next(world, &scan, &row))
	{
		if (world->plan->query.tune && !in_training(world, &row))
			continue;
		for (uint32 i = 0; i < row.n; i++)
		{
			counted->count[row_gram(&row, i) - 1] += row_count(&row, i);
			counted->users[row_gram(&row, i) - 1]++;
		}
		if (++users > MOST_USERS)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("too many users for method log-posterior")));
	}
	rows_scan_end(&scan);
	return counted;
}

/* s: how many lattice units the feature's one is worth. */
static double
feature_unit(const DistPlan *plan, int candidate)
{
	double moved = DP_LATTICE_ONE / sqrt((double) plan->query.max_contributions) - 2;

	return moved / plan->bound[candidate] * (1 - 1e-12);
}

/* The noisy features for one S. */
static double *
release_features(const DistWorld *world, Noise *noise, int run, int candidate)
{
	const DistPlan *plan = world->plan;
	const LogStatistics *counted = world->counted;
	Size n = world->grams->size;
	double unit = feature_unit(plan, candidate);
	double slope = dist_slope(&plan->query, candidate);
	int64 *x = zero_counts(n);
	double *feature = zero_doubles(n);

	for (Size i = 0; i < n; i++)
		x[i] = (int64) rint(unit * dp_log_feature(counted->users[i], counted->count[i], slope,
												  plan->query.max_count,
												  plan->center[candidate]));
	add_noise(&plan->main, noise, world_stream(run, candidate), x, n);
	for (Size i = 0; i < n; i++)
		feature[i] = x[i] / unit;
	pfree(x);
	return feature;
}

/* The posterior's mean: rho of the feature and the rest of the prior. */
void
posterior_logs(const double *prior, const double *feature, double weight, Size n, double *eta)
{
	for (Size i = 0; i < n; i++)
		eta[i] = weight * feature[i] + (1 - weight) * prior[i];
}

/* A release of log-posterior, with or without tuning. */
void
release_logs(DistWorld *world, Noise *noise, int run, double *theta, DistReport *report)
{
	const DistPlan *plan = world->plan;
	const LogStatistics *counted;
	double *feature[DIST_SLOPES];
	int slope = 0;
	double weight = plan->query.weight;

	if (world->counted == NULL)
		world->counted = count_rows(world);
	counted = world->counted;
	for (int i = 0; i < plan->nmain; i++)
		feature[i] = release_features(world, noise, run, i);
	if (plan->query.tune)
	{
		int chosen = choose_candidate(world, noise, run, counted->prior, feature);

		slope = chosen / DIST_WEIGHTS;
		weight = dist_weight(chosen % DIST_WEIGHTS);
	}
	posterior_logs(counted->prior, feature[slope], weight, world->grams->size, theta);
	dp_softmax(theta, world->grams->size);
	for (int i = 0; i < plan->nmain; i++)
		pfree(feature[i]);
	report->slope = dist_slope(&plan->query, slope);
	report->weight = weight;
}
