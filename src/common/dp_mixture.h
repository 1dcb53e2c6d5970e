/*
 * dp_mixture.h
 *	  What noisy counts were before the noise, learned from all of them together.
 */
#ifndef DP_MIXTURE_H
#define DP_MIXTURE_H

#include "common/dp_shrink.h"

#define DP_MIXTURE_CLASSES 8
#define DP_MIXTURE_COMPONENTS 17

/* Noise as a mixture of normal laws of these variances, in parts of the noise's own. */
typedef struct DpMixtureNoise
{
	int nodes;
	double variance[3];
	double weight[3];
} DpMixtureNoise;

/* The fitted model, in units of count in which nothing overflows. */
typedef struct DpMixture
{
	const DpShrinkInput *in;
	const DpMixtureNoise *noise;
	double unit;	 /* the largest of all |y| and of sd; 0 if all are 0 */
	double mass;	 /* sum of p as it was given */
	double largest;	 /* largest p as it was given */
	double variance; /* of the noise, in square units */
	double scale;	 /* counts expected for p = 1, in units; 0 if nothing was fitted */
	double spread;	 /* square of the counts' relative spread around that */

	/* weights are fitted to every so manyth n-gram of a class, so to so many */
	int64 stride[DP_MIXTURE_CLASSES];
	double members[DP_MIXTURE_CLASSES];
	double weight[DP_MIXTURE_CLASSES][DP_MIXTURE_COMPONENTS];
} DpMixture;

extern DpStatus dp_mixture_fit(DpMixture *model, const DpShrinkInput *in);
extern double dp_mixture_estimate(const DpMixture *model, int64 i, double y, double *variance);

/* The noisy count in units, and the public probability. */
static inline double
dp_mixture_count(const DpMixture *model, int64 i)
{
	return model->in->y[i] / model->unit;
}

static inline double
dp_mixture_prior(const DpMixture *model, int64 i)
{
	return model->in->p[i] / model->mass;
}

#endif /* DP_MIXTURE_H */
