/*
 * dp_keep.c
 *	  The optimal choice among items of which each user has one: an item that n users
 *	  have is kept with probability pi(n) (Desfontaines, Voss, Gipson, Mandayam,
 *	  "Differentially private partition selection", PoPETs 2022, theorem 1),
 *
 *		pi(0) = 0,
 *		pi(n+1) = min(exp(epsilon) pi(n) + delta,
 *					  1 - exp(-epsilon) (1 - pi(n) - delta), 1).
 *
 * A user moves one item's count by 1.  With p = pi(n) <= p' = pi(n+1), keeping the
 * item is (epsilon, delta) differentially private, either way round, iff
 *
 *		p' <= exp(epsilon) p + delta		and
 *		1 - p <= exp(epsilon) (1 - p') + delta,
 *
 * the other two inequalities following from p <= p'.  Here pi(n) is an integer P_n in
 * units of 2^-62, and what is drawn is Bernoulli(P_n 2^-62) exactly.  The factors are
 * rounded to the private side: growth <= exp(epsilon), decay >= exp(-epsilon), and
 * delta down.  Then with T = 2^62
 *
 *		P_(n+1) <= growth P_n + delta T <= exp(epsilon) P_n + delta T,
 *		T - P_(n+1) >= decay (T - P_n - delta T) >= exp(-epsilon) (T - P_n - delta T),
 *
 * the first as the product is rounded down, the second as it is rounded up (where
 * T - P_n - delta T is negative P_(n+1) <= T will do).  So the rounded sequence itself
 * satisfies both.  It does not fall: growth >= 1, and decay <= 1.
 */
#include "common/dp_base.h"

#include <float.h>
#include <math.h>

#include "common/dp_keep.h"

/* More than the relative error of expl(), whatever the width of a long double. */
#define EXP_ERROR ldexpl(1, -48)

/*
 * dp_keep_prepare - the factors for (epsilon, delta).
 *
 * DP_ERR_DOMAIN unless epsilon > 0 is finite and 0 < delta < 1; DP_ERR_RANGE for delta
 * below 2^-62, with which nothing would ever be kept.
 */
DpStatus
dp_keep_prepare(double epsilon, double delta, DpKeep *keep)
{
	long double growth;
	long double decay;
	int exponent;

	if (!(epsilon > 0 && epsilon <= DBL_MAX) || !(delta > 0 && delta < 1))
		return DP_ERR_DOMAIN;

	/* capped: a smaller factor is private as well */
	growth = expl(Min((long double) epsilon, 45.0L)) * (1 - EXP_ERROR);
	growth = frexpl(Min(Max(growth, 1), ldexpl(1, DP_KEEP_BITS - 1)), &exponent);
	keep->growth = (uint64) floorl(ldexpl(growth, DP_KEEP_BITS));
	keep->growth_bits = DP_KEEP_BITS - exponent;

	decay = ldexpl(expl(-(long double) epsilon) * (1 + EXP_ERROR), DP_KEEP_BITS);
	keep->decay = (uint64) Min(ceill(decay) + 1, ldexpl(1, DP_KEEP_BITS));

	keep->delta = (uint64) floor(ldexp(delta, DP_KEEP_BITS));
	return keep->delta > 0 ? DP_OK : DP_ERR_RANGE;
}

/* dp_keep_next - P_(n+1) of P_n; P_0 is 0. */
uint64
dp_keep_next(const DpKeep *keep, uint64 p)
{
	dp_uint128 grown = (((dp_uint128) keep->growth * p) >> keep->growth_bits) + keep->delta;
	uint64 rest = DP_KEEP_ONE - p;
	uint64 kept;

	if (rest <= keep->delta)
		return grown < DP_KEEP_ONE ? (uint64) grown : DP_KEEP_ONE;
	rest -= keep->delta;
	kept = (uint64) (((dp_uint128) keep->decay * rest + (DP_KEEP_ONE - 1)) >> DP_KEEP_BITS);
	return grown < DP_KEEP_ONE - kept ? (uint64) grown : DP_KEEP_ONE - kept;
}
