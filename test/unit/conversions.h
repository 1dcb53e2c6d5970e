/*
 * conversions.h
 *	  zCDP's conversions as values, for the tests that compare many of them.
 */
#ifndef CONVERSIONS_H
#define CONVERSIONS_H

#include "common/dp_zcdp.h"

#include <math.h>

/* What they give, NaN where they refuse. */
static inline double
delta_of(double rho, double epsilon)
{
	double delta;

	return dp_zcdp_delta(rho, epsilon, &delta) == DP_OK ? delta : NAN;
}

static inline double
epsilon_of(double rho, double delta)
{
	double epsilon;

	return dp_zcdp_epsilon(rho, delta, &epsilon) == DP_OK ? epsilon : NAN;
}

#endif /* CONVERSIONS_H */
