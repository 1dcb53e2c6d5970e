/*
 * dp_norm_bound.h
 *	  The norm to which users' rows of counts are bounded, chosen from a noisy
 *	  histogram of their norms.
 */
#ifndef DP_NORM_BOUND_H
#define DP_NORM_BOUND_H

#include "common/dp_base.h"

/*
 * Bucket b counts the users whose norm lies in (2^((b-1)/2), 2^(b/2)], bucket 0 those
 * up to 1, the last one all above.  The range is public: 33 buckets reach to 2^16.
 */
#define DP_NORM_BUCKETS 33

typedef struct DpNormInput
{
	const double *histogram; /* every bucket with its noise */
	int buckets;			 /* 1 to 1,000 */
	double histogram_sd;	 /* standard deviation of a bucket's noise, >= 0 */
	const double *p;		 /* public distribution: > 0, of any finite sum */
	int64 n;				 /* n-grams in the vocabulary, >= 1 */
	double unit_sd;			 /* of one count's noise if the norm were bounded to 1, >= 0 */
} DpNormInput;

typedef struct DpNormChoice
{
	double norm; /* a bucket's upper end */
	double lost; /* the part of all norms' sum that bounding takes away, for dp_shrink() */
} DpNormChoice;

extern int dp_norm_bucket(double square, int buckets);
extern DpStatus dp_choose_norm(const DpNormInput *in, DpNormChoice *choice);

#endif /* DP_NORM_BOUND_H */
