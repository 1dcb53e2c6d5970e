/*
 * dp_shrink.c
 *	  Shrinks noisy counts towards a public distribution, as far as their noise
 *	  deserves, and chooses the norm to which users are bounded.
 *
 * All of it is post-processing of what was released with noise, together with
 * public numbers: it costs no privacy.
 */
#include "common/dp_base.h"

#include <float.h>
#include <math.h>

#include "common/dp_shrink.h"

/* No count is shrunk below this part of its prior, so that every probability is > 0. */
#define FLOOR 0.05

/* sum of x over the vocabulary, or NaN if one isn't positive and finite */
static double
sum_positive(const double *x, int64 n)
{
	double sum = 0;

	for (int64 i = 0; i < n; i++)
	{
		if (!(x[i] > 0 && x[i] <= DBL_MAX))
			return NAN;
		sum += x[i];
	}
	return sum;
}

static void
normalize(double *theta, int64 n)
{
	double sum = sum_positive(theta, n);

	for (int64 i = 0; i < n; i++)
		theta[i] /= sum;
}

/*
 * dp_shrink - the private distribution, from noisy counts and the public one.
 *
 * theta gets n probabilities, all finite and > 0, of sum 1.  DP_ERR_DOMAIN for an
 * empty vocabulary, for a p that isn't positive and finite or has no finite sum,
 * and for an sd that is negative or no number.
 */
DpStatus
dp_shrink(const DpShrinkInput *in, double *theta, DpShrinkReport *report)
{
	double mass = in->n > 0 ? sum_positive(in->p, in->n) : NAN;
	double variance = in->sd * in->sd;
	double total = 0;
	double above = 0;
	double below = 0;

	if (!(mass <= DBL_MAX) || !(variance >= 0 && variance <= DBL_MAX))
		return DP_ERR_DOMAIN;

	for (int64 i = 0; i < in->n; i++)
		total += in->y[i];
	for (int64 i = 0; i < in->n; i++)
	{
		double m = total * in->p[i] / mass;
		double weight = m / (m * m + variance);
		double d = in->y[i] - m;

		above += weight * weight * (d * d - variance);
		below += weight * weight * m * m;
	}

	memset(report, 0, sizeof(*report));
	report->total = total;
	if (!(total > 0) || !(above > 0))
	{
		for (int64 i = 0; i < in->n; i++)
			theta[i] = in->p[i] / mass;
		return DP_OK;
	}
	report->kappa = sqrt(above / below);
	report->lambda = 1;
	for (int64 i = 0; i < in->n; i++)
	{
		double m = total * in->p[i] / mass;
		double spread = report->kappa * m;
		double c = m + spread * spread / (spread * spread + variance) * (in->y[i] - m);

		theta[i] = Max(c, FLOOR * m);
	}
	normalize(theta, in->n);
	return DP_OK;
}

/* dp_norm_bucket - the bucket of a norm of which the square is given. */
int
dp_norm_bucket(double square, int buckets)
{
	int exponent;
	double fraction = frexp(square, &exponent);

	if (!(square > 1))
		return 0;
	if (fraction == 0.5)
		exponent--;
	return Min(exponent, buckets - 1);
}

/*
 * dp_choose_norm - the norm at which what bounding takes away and what noise adds
 * are balanced, a power of sqrt 2.
 */
DpStatus
dp_choose_norm(const DpNormInput *in, double *norm)
{
	double users = 0;
	double above = 0;
	int bucket;

	if (in->buckets < 1)
		return DP_ERR_DOMAIN;
	for (bucket = 0; bucket < in->buckets; bucket++)
		users += in->histogram[bucket];
	for (bucket = in->buckets - 1; bucket > 0; bucket--)
	{
		above += in->histogram[bucket];
		if (above > 0.01 * users)
			break;
	}
	*norm = sqrt(ldexp(1, bucket));
	return DP_OK;
}
