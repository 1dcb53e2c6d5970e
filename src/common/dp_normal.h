/*
 * dp_normal.h
 *	  The standard normal distribution in its far tails.
 */
#ifndef DP_NORMAL_H
#define DP_NORMAL_H

#include "common/dp_base.h"

extern double dp_normal_sf(double z);				 /* upper tail, Phibar(z) */
extern long double dp_normal_sf_long(long double z); /* the same, for z past 38 */
extern DpStatus dp_normal_isf(double p, double *z);	 /* z with Phibar(z) = p */
extern double dp_erfcx(double x);					 /* exp(x^2) erfc(x) */

#endif /* DP_NORMAL_H */
