/*
 * dp_norm_bound.c
 *	  Chooses the norm to which users' rows of counts are bounded.
 *
 * A user's row of counts is scaled down to a norm L if it is longer (the Euclidean
 * norm for Gaussian noise, the sum of counts for Laplace noise), and the noise grows
 * with L.  A small L takes away what makes long texts different, a large L drowns
 * everything in noise.  L is chosen here from a histogram of the users' norms of which
 * every bucket has its own noise, so choosing is post-processing of that release.
 *
 * The rule
 * --------
 * Let phi(L) be the part of the sum of all norms that bounding takes away.  What that
 * does to the distribution can't be seen in bounded counts.  Measured on page visits
 * and on commit messages, the KL divergence from the true to the bounded distribution
 * was 0.02 phi to 0.15 phi there and 0.05 phi to 0.35 phi here, nearly linear in phi over
 * two orders of magnitude: what is removed is a part phi of the text, unlike the rest.
 * dp_shrink() is told phi and mixes with the prior, which undoes most of that; LOST phi
 * nats are reckoned for what is left.  The noise's part is that of a normal model, in which
 * the private counts spread by kappa around the public ones and are shrunk as they should
 * be: with s = the noise of one count by the sum of the counts, an n-gram of public
 * probability p keeps the part B = s^2 / (kappa^2 p^2 + s^2) of its prior's risk
 * kappa^2 p / 2 and, of what was lost, the other part.  So the risk is
 *
 *	R(L, kappa) = sum over n-grams of p (B kappa^2 / 2 + (1 - B) LOST phi(L)),
 *
 * and L minimises the mean of R / (kappa^2 / 2), at most 1, over two values of kappa, near
 * texts and far ones, since nobody knows kappa before.  The constants are those that did
 * best over both kinds of text, 10^4 to 10^6 users and epsilon from 0.01 to 10, where L
 * cost 4 % of KL on average against the best L in hindsight.  n-grams whose p lies within
 * one octave share their mean p.
 *
 * A bucket stands for nobody if REACH lies between it and the last one that stands out of
 * its noise by VISIBLE standard deviations: noise would be multiplied with norms of up to
 * 2^16.  Laplace noise does so in one of 33 buckets with probability 0.001.  Below that,
 * buckets count as they are, if positive, since many users may hide in buckets of which
 * none stands out.
 */
#include "common/dp_base.h"

#include <float.h>
#include <math.h>

#include "common/dp_norm_bound.h"

#define LOST 0.03	/* nats for all of the norms' sum */
#define VISIBLE 7.0 /* standard deviations */
#define REACH 4		/* buckets, a factor of 4 in norm */
#define MAX_BUCKETS 1000
#define OCTAVES 64

static const double kappas_squared[] = {0.1, 1.0};

/* The vocabulary by octaves of p, the largest first. */
typedef struct Octaves
{
	double mass[OCTAVES]; /* of all its n-grams, of sum 1 */
	double size[OCTAVES]; /* mean p of one */
} Octaves;

/* A bucket's upper end, and what is taken for the norm of a user in it. */
static double
upper_end(int bucket)
{
	return exp2(bucket / 2.0);
}

static double
typical_norm(int bucket)
{
	return bucket > 0 ? exp2(bucket / 2.0 - 0.25) : 1;
}

/* dp_norm_bucket - the bucket of a norm, of which the square is given. */
int
dp_norm_bucket(double square, int buckets)
{
	int exponent;
	double fraction;

	if (!(square > 1))
		return 0;
	if (!(square <= DBL_MAX))
		return buckets - 1;
	fraction = frexp(square, &exponent);
	if (fraction == 0.5)
		exponent--;
	return Min(exponent, buckets - 1);
}

/* false if p is no distribution */
static bool
count_octaves(const DpNormInput *in, Octaves *octaves)
{
	double count[OCTAVES] = {0};
	double largest = 0;
	double mass = 0;

	memset(octaves, 0, sizeof(*octaves));
	for (int64 i = 0; i < in->n; i++)
	{
		if (!(in->p[i] > 0 && in->p[i] <= DBL_MAX))
			return false;
		mass += in->p[i];
		largest = Max(largest, in->p[i]);
	}
	if (!(mass <= DBL_MAX))
		return false;
	for (int64 i = 0; i < in->n; i++)
	{
		int octave = Min(Max(ilogb(largest / in->p[i]), 0), OCTAVES - 1);

		octaves->mass[octave] += in->p[i] / mass;
		count[octave]++;
	}
	for (int i = 0; i < OCTAVES; i++)
		octaves->size[i] = count[i] > 0 ? octaves->mass[i] / count[i] : 0;
	return true;
}

/* How many buckets, from the first, may hold users; 0 if none is to be seen. */
static int
buckets_in_reach(const DpNormInput *in)
{
	int visible = -1;

	for (int i = 0; i < in->buckets; i++)
	{
		if (in->histogram[i] > VISIBLE * in->histogram_sd)
			visible = i;
	}
	return visible < 0 ? 0 : Min(visible + 1 + REACH, in->buckets);
}

/* The users' norms after bounding them, summed. */
static double
bounded_sum(const DpNormInput *in, int buckets, double norm)
{
	double sum = 0;

	for (int i = 0; i < buckets; i++)
		sum += Max(in->histogram[i], 0) * Min(typical_norm(i), norm);
	return sum;
}

/* The sum over kappa of what is left of the prior's risk. */
static double
relative_risk(const Octaves *octaves, double noise, double loss)
{
	double sum = 0;

	for (size_t k = 0; k < lengthof(kappas_squared); k++)
	{
		double prior_risk = kappas_squared[k] / 2;
		double risk = 0;

		for (int i = 0; i < OCTAVES; i++)
		{
			double signal = octaves->size[i] / noise;
			double part = 1 / (1 + kappas_squared[k] * signal * signal);

			risk += octaves->mass[i] * (part * prior_risk + (1 - part) * loss);
		}
		sum += Min(risk / prior_risk, 1);
	}
	return sum;
}

static bool
is_valid(const DpNormInput *in)
{
	if (in->buckets < 1 || in->buckets > MAX_BUCKETS || in->n < 1 ||
		!(in->histogram_sd >= 0 && in->histogram_sd <= DBL_MAX) ||
		!(in->unit_sd >= 0 && in->unit_sd <= DBL_MAX))
		return false;
	for (int i = 0; i < in->buckets; i++)
	{
		if (!(fabs(in->histogram[i]) <= DBL_MAX))
			return false;
	}
	return true;
}

/*
 * dp_choose_norm - the norm that balances what bounding takes away and what noise adds.
 *
 * One of the buckets' upper ends, or 1, with all given for lost, if no user is to be seen.
 * Among equals the smallest.  Takes two passes over the vocabulary.  DP_ERR_DOMAIN if the
 * input isn't as the header says.
 */
DpStatus
dp_choose_norm(const DpNormInput *in, DpNormChoice *choice)
{
	Octaves octaves;
	double least = HUGE_VAL;
	double all;
	int buckets;

	if (!is_valid(in) || !count_octaves(in, &octaves))
		return DP_ERR_DOMAIN;

	choice->norm = 1;
	choice->lost = 1;
	buckets = buckets_in_reach(in);
	all = bounded_sum(in, buckets, HUGE_VAL);
	if (!(all > 0 && all <= DBL_MAX))
		return DP_OK;
	for (int i = 0; i < buckets; i++)
	{
		double norm = upper_end(i);
		double kept = bounded_sum(in, buckets, norm);
		double lost = Max(1 - kept / all, 0);
		double noise = Max(in->unit_sd * norm / kept, DBL_MIN);
		double risk = relative_risk(&octaves, noise, LOST * lost);

		if (risk < least)
		{
			least = risk;
			choice->norm = norm;
			choice->lost = lost;
		}
	}
	return DP_OK;
}
