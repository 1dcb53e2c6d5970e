/*
 * dp_laplace.c
 *	  Discrete Laplace noise on the lattice: its tail, and the thresholds of set
 *	  unions with it.
 *
 * X has P(x) proportional to q^|x|, q = exp(-1/scale), as dp_discrete_laplace()
 * draws it.  The sum of q^|x| over the integers is (1 + q)/(1 - q), hence
 *
 *	P(X > k) = q^(k+1) / (1 + q)		for k >= 0.
 */
#include "common/dp_base.h"

#include <math.h>

#include "common/dp_laplace.h"
#include "common/dp_sample.h"

/* As in dp_union_threshold(): exact up to here, then in cells 1/512 wide (relatively). */
#define UNION_EXACT 4096
#define UNION_CELL 512
#define UNION_MAX_ITEMS (INT64CONST(1) << 26)

/* More than the relative error of a probability computed here. */
#define LAPLACE_ERROR 1e-12

/*
 * dp_laplace_tail - p = P(X > bound), bound >= 0, with a relative error below 1e-12.
 *
 * DP_ERR_DOMAIN unless 1 <= scale <= DP_MAX_SIGMA and bound >= 0.
 */
DpStatus
dp_laplace_tail(int64 scale, int64 bound, double *p)
{
	if (scale < 1 || scale > DP_MAX_SIGMA || bound < 0)
		return DP_ERR_DOMAIN;

	*p = exp(-((double) bound + 1) / scale) / (1 + exp(-1.0 / scale));
	return DP_OK;
}

/* The smallest k >= 0, or one more, with P(X > k) <= p. */
static double
tail_bound(int64 scale, double p)
{
	double log_p = log(p * (1 - LAPLACE_ERROR) * (1 + exp(-1.0 / scale)));

	return fmax(0, ceil(-log_p * scale) - 1);
}

/*
 * dp_laplace_union_threshold - the threshold that hides which items only one user has,
 * where a user with t such items gives each at most ceil(2^20 / t) lattice units: with
 * it, the probability that any of them exceeds the threshold is at most delta, for
 * every t = 1 .. max_items.  (Gopi et al. 2020, theorem 1.1 for Laplace noise.)
 *
 * Beyond t = 4096 with the weight of the first and the probability of the last t of a
 * cell.  Rounded up.  DP_ERR_DOMAIN unless 1 <= scale <= DP_MAX_SIGMA, 0 < delta < 1 and
 * 1 <= max_items <= 2^26; DP_ERR_RANGE if delta / max_items is no normal double.
 */
DpStatus
dp_laplace_union_threshold(int64 scale, double delta, int64 max_items, int64 *threshold)
{
	double highest = 0;
	int64 last;

	if (scale < 1 || scale > DP_MAX_SIGMA || !(delta > 0 && delta < 1) || max_items < 1 ||
		max_items > UNION_MAX_ITEMS)
		return DP_ERR_DOMAIN;
	if (delta / max_items < 1e-300)
		return DP_ERR_RANGE;

	for (int64 first = 1; first <= max_items; first = last + 1)
	{
		int64 weight = (DP_LATTICE_ONE + first - 1) / first;

		last = first < UNION_EXACT ? first : Min(first + first / UNION_CELL, max_items);
		highest = fmax(highest,
					   weight + tail_bound(scale, -expm1(log1p(-delta) / last)));
	}
	*threshold = (int64) highest;
	return DP_OK;
}
