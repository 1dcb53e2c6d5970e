/*
 * dp_select.h
 *	  A private choice among released candidates: permute-and-flip.
 */
#ifndef DP_SELECT_H
#define DP_SELECT_H

#include "common/dp_random.h"

/* Epsilon is an integer number of 2^-20; a caller rounds down. */
#define DP_SELECT_EPSILON_ONE (1 << 20)

#define DP_SELECT_MAX_CANDIDATES (1 << 20)

extern DpStatus dp_select(DpRandom *rng, const int64 *cost, int n, int64 sensitivity,
						  int64 epsilon, int *chosen);

#endif /* DP_SELECT_H */
