/*
 * gram_weight.h
 *	  The weight of a released n-gram, apart from the sets of these, so that what
 *	  reckons with weights builds without a server.
 */
#ifndef DPNGRAM_GRAM_WEIGHT_H
#define DPNGRAM_GRAM_WEIGHT_H

#include "common/dp_base.h"

/*
 * A noisy weight, in units of the most that one user adds, and the standard
 * deviation of its noise: functions of lattice integers, differentially private.
 */
typedef struct GramWeight
{
	double value;
	double stddev;
} GramWeight;

/* What one noisy count on the lattice says. */
static inline GramWeight
gram_weight(int64 noisy, int64 sigma)
{
	return (GramWeight){noisy / (double) DP_LATTICE_ONE, sigma / (double) DP_LATTICE_ONE};
}

#endif /* DPNGRAM_GRAM_WEIGHT_H */
