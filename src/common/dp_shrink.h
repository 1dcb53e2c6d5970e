/*
 * dp_shrink.h
 *	  From noisy counts and a public distribution to a private distribution, and
 *	  the norm to which users are bounded before.
 */
#ifndef DP_SHRINK_H
#define DP_SHRINK_H

#include "common/dp_base.h"

typedef enum DpNoise
{
	DP_NOISE_GAUSSIAN,
	DP_NOISE_LAPLACE
} DpNoise;

/* What was released, and the public distribution: all on the scale of counts. */
typedef struct DpShrinkInput
{
	const double *y; /* noisy sum of the bounded rows, one for every n-gram */
	const double *p; /* public distribution: > 0, of any finite sum */
	int64 n;		 /* n-grams in the vocabulary, >= 1 */
	double sd;		 /* standard deviation of the noise of one coordinate, >= 0 */
	DpNoise noise;
} DpShrinkInput;

/* What came of it: every number is post-processing of y, so all may be shown. */
typedef struct DpShrinkReport
{
	double total;	   /* estimated sum of the bounded counts */
	double kappa;	   /* estimated relative distance between private and public counts */
	double lambda;	   /* weight of the private counts in the mixture, 0 to 1 */
	double risk;	   /* estimated risk of the result, in nats */
	double prior_risk; /* that of the public distribution alone */
} DpShrinkReport;

extern DpStatus dp_shrink(const DpShrinkInput *in, double *theta, DpShrinkReport *report);

/*
 * The noisy histogram of the users' norms: bucket b counts those whose norm lies
 * in (2^((b-1)/2), 2^(b/2)], bucket 0 those up to 1, the last one all above.
 */
#define DP_NORM_BUCKETS 33 /* up to 2^16 */

typedef struct DpNormInput
{
	const double *histogram;
	int buckets;
	double histogram_sd; /* of the noise of every bucket, >= 0 */
	const double *p;	 /* as above */
	int64 n;
	double unit_sd; /* sd of one coordinate's noise at the norm 1: it is L times this at L */
} DpNormInput;

extern int dp_norm_bucket(double square, int buckets); /* of the norm's square */
extern DpStatus dp_choose_norm(const DpNormInput *in, double *norm);

#endif /* DP_SHRINK_H */
