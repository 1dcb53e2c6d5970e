/*
 * bucket_budget.c
 *	  Which predicted weights part V_k, and how many spurious n-grams each part may have.
 *
 * A lower threshold releases more n-grams of all kinds.  For the same number of spurious
 * n-grams in all it pays where an n-gram is about as likely to pass as not: hopeless
 * buckets gain nothing by it, and what is certain passes anyhow.  If a bucket's n-grams
 * pass at the rate rho, and rho is a logistic function of the logarithm of their weight
 * over the threshold z, then the number released changes with the logarithm of the
 * rate p of noise alone as
 *
 *		Y = members rho (1 - rho) / z^2,		z = Phibar^-1(p),
 *
 * up to a constant, since d ln z / d ln p is nearly -1/z^2.  The expected number of
 * spurious n-grams is parted in proportion to Y, which equalises the gain, but for a
 * fifth that is parted evenly, for what the prediction doesn't see.
 *
 * Edges are in units of the level's standard deviation, so a bucket means the same at
 * each level, and rho is the share of its members that the level before released,
 * drawn to a prior guess where there were few.
 *
 * All of it is a function of what is released and of |V_k|: nothing here is private.  It
 * decides how many n-grams are found, not what a user can lose (level_rounds.c).
 */
#include "postgres.h"

#include <math.h>

#include "common/dp_normal.h"
#include "ngram/bucket_budget.h"

/* The parts of the budget that are parted evenly: in the end, and before z is known. */
#define EVEN 0.2
#define EVEN_AT_FIRST 0.1

/*
 * No member is released on noise alone less often than this, which costs nothing and which
 * the samplers take: nobody's n-grams may be rare, but must never be impossible.
 */
#define LEAST_RATE 1e-33

/* The prior guess of rho counts like so many members. */
#define PRIOR_MEMBERS 50.0

#define LOWEST_EXPONENT (-6)
#define EDGE_DEVIATIONS 3.0

/* The edges of a level whose weights have noise of this standard deviation. */
void
bucket_edges(double stddev, double *edge)
{
	for (int i = 0; i < BUCKET_EDGES; i++)
		edge[i] = ldexp(EDGE_DEVIATIONS * stddev, i + LOWEST_EXPONENT);
}

/* A weight in the middle of a bucket, in units of three standard deviations. */
static double
middle(int bucket)
{
	double low = ldexp(1, bucket - 1 + LOWEST_EXPONENT);

	return bucket == 0 ? 0.35 * 2 * low : M_SQRT2 * low;
}

/* The rate at which a bucket's members pass: before is NULL at k = 2, where it's a guess. */
static double
pass_rate(const BucketYield *before, int bucket)
{
	double prior = 1 / (1 + pow(1.5 * middle(bucket), before == NULL ? -1.5 : -2));

	if (before == NULL)
		return prior;
	return ((double) before->released[bucket] + PRIOR_MEMBERS * prior) /
		   ((double) before->members[bucket] + PRIOR_MEMBERS);
}

/* Part the budget by Y, z being that of the rates at hand; even: the part parted evenly. */
static void
divide(const double *gain, const uint64 *members, double bound, double even, double *rate)
{
	double y[BUCKETS];
	double sum = 0;
	int nonempty = 0;

	for (int i = 0; i < BUCKETS; i++)
	{
		double z = 1;

		if (rate[i] > 0)
			(void) dp_normal_isf(rate[i], &z);
		y[i] = gain[i] / (z * z);
		sum += y[i];
		nonempty += members[i] > 0;
	}
	for (int i = 0; i < BUCKETS; i++)
	{
		double part = even / nonempty + (sum > 0 ? (1 - even) * y[i] / sum : (1 - even) / nonempty);

		if (members[i] > 0)
			rate[i] = Max(LEAST_RATE, Min(MAX_RATE, bound * part / (double) members[i]));
	}
}

/*
 * The rate at which noise alone may release a member of each bucket, 0 for a bucket
 * without members, so that bound n-grams are released so in expectation at most.
 *
 * before: of level k - 1, NULL at k = 2; members: |V_k| by bucket, not all 0.
 */
void
bucket_budget(const BucketYield *before, const uint64 *members, double bound, double *rate)
{
	double gain[BUCKETS];

	for (int i = 0; i < BUCKETS; i++)
	{
		double rho = pass_rate(before, i);

		gain[i] = (double) members[i] * rho * (1 - rho);
		rate[i] = 0;
	}
	divide(gain, members, bound, EVEN_AT_FIRST, rate);
	divide(gain, members, bound, EVEN, rate);
	divide(gain, members, bound, EVEN, rate);
}
