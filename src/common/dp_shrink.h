/*
 * dp_shrink.h
 *	  From noisy counts and a public distribution to a private distribution.
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
	double lost; /* part of the counts that bounding took away, estimated: 0 to 1 */
} DpShrinkInput;

/* What came of it: post-processing of y like the result, so all of it may be shown. */
typedef struct DpShrinkReport
{
	double total;  /* estimated sum of the bounded counts; 0 where nothing was estimated */
	double kappa;  /* estimated relative distance between private and public counts */
	double lambda; /* weight of the private counts in the result, from 0 to 1 */
	double gain;   /* estimated KL divergence that the result is nearer than p, in nats */
} DpShrinkReport;

extern DpStatus dp_shrink(const DpShrinkInput *in, double *theta, DpShrinkReport *report);

#endif /* DP_SHRINK_H */
