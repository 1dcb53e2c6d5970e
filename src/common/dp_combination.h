/*
 * dp_combination.h
 *	  Sums of discrete Gaussians with integer coefficients: the noise of a statistic
 *	  gathered over several rounds.
 */
#ifndef DP_COMBINATION_H
#define DP_COMBINATION_H

#include "common/dp_random.h"

#define DP_COMBINATION_MOST 64 /* terms */

/* The least sigma whose tails are computed (the sampler takes any). */
#define DP_COMBINATION_LEAST_SIGMA 1024

/* S = sum of coefficient[j] X_j, X_j independent discrete Gaussians with parameter sigma[j]. */
typedef struct DpCombination
{
	int n;
	int64 coefficient[DP_COMBINATION_MOST];
	int64 sigma[DP_COMBINATION_MOST];
	int64 total;		   /* of the coefficients */
	dp_uint128 variance;   /* V = sum of (coefficient sigma)^2 */
	long double deviation; /* sqrt V, in lattice units */
	bool gaussian;		   /* whether S has the law of one discrete Gaussian, see tails */
} DpCombination;

extern DpStatus dp_combination_prepare(DpCombination *comb, const int64 *coefficient,
									   const int64 *sigma, int n);
extern DpStatus dp_combination_tail(const DpCombination *comb, int64 bound, double *p);
extern DpStatus dp_combination_threshold(const DpCombination *comb, double p, int64 *bound);
extern DpStatus dp_combination_union_threshold(const DpCombination *comb, double delta,
											   int64 max_items, int64 *bound);
extern void dp_combination_above(DpRandom *rng, const DpCombination *comb, int64 bound,
								 int64 *x);

#endif /* DP_COMBINATION_H */
