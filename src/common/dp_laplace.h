/*
 * dp_laplace.h
 *	  Discrete Laplace noise on the lattice: thresholds of set unions.
 */
#ifndef DP_LAPLACE_H
#define DP_LAPLACE_H

#include "common/dp_base.h"

extern DpStatus dp_laplace_tail(int64 scale, int64 bound, double *p);
extern DpStatus dp_laplace_union_threshold(int64 scale, double delta, int64 max_items,
										   int64 *threshold);

#endif /* DP_LAPLACE_H */
