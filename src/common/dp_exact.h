/*
 * dp_exact.h
 *	  What samplers by rejection compare with: an exponential in doubles whose error is
 *	  proven, and numbers of any precision for where that error leaves the answer open.
 */
#ifndef DP_EXACT_H
#define DP_EXACT_H

#include <math.h>

#include "common/dp_random.h"
#include "port/pg_bitutils.h"

/* The least argument of dp_exponential(). */
#define DP_LEAST_EXPONENT (-700.0)

/*
 * exp(x) for DP_LEAST_EXPONENT <= x < 1/4, relative error 4 * 2^-53: x - i ln 2 in
 * [-0.35, 0.35] with an error of 0.8 (ln 2 in two parts, of which the first has so few
 * bits that its multiple is exact), then Taylor's series to the 13th power, which leaves
 * out less than 0.06.
 */
static inline double
dp_exponential(double x)
{
	int i = (int) (x * 1.4426950408889634 - 0.5); /* towards 0, so the nearest */
	double r = (x - i * 6.93147180369123816490e-01) - i * 1.90821492927058770002e-10;
	double sum = 1.0 / 6227020800.0;

	sum = 1.0 / 479001600 + r * sum;
	sum = 1.0 / 39916800 + r * sum;
	sum = 1.0 / 3628800 + r * sum;
	sum = 1.0 / 362880 + r * sum;
	sum = 1.0 / 40320 + r * sum;
	sum = 1.0 / 5040 + r * sum;
	sum = 1.0 / 720 + r * sum;
	sum = 1.0 / 120 + r * sum;
	sum = 1.0 / 24 + r * sum;
	sum = 1.0 / 6 + r * sum;
	sum = 0.5 + r * sum;
	sum = 1 + r * sum;
	return ldexp(1 + r * sum, i);
}

/* The failures of fair coins before the first success. */
static inline uint32
dp_halvings(DpRandom *rng)
{
	uint32 halvings = 0;
	uint64 word;

	while ((word = dp_random_u64(rng)) == 0)
		halvings += 64;
	return halvings + pg_rightmost_one_pos64(word);
}

/*
 * Fixed-point numbers of any precision: x[0] .. x[words], 64 bits each, of which so many
 * as the caller likes are the integer part and the others fraction.
 */

/* x *= factor, whose integer part must fit. */
static inline void
dp_fixed_multiply(uint64 *x, int words, uint64 factor)
{
	uint64 carry = 0;

	for (int i = words; i >= 0; i--)
	{
		dp_uint128 product = (dp_uint128) x[i] * factor + carry;

		x[i] = (uint64) product;
		carry = (uint64) (product >> 64);
	}
	Assert(carry == 0);
}

/* x /= divisor, rounded down or up. */
static inline void
dp_fixed_divide(uint64 *x, int words, uint64 divisor, bool up)
{
	uint64 remainder = 0;

	for (int i = 0; i <= words; i++)
	{
		dp_uint128 dividend = (dp_uint128) remainder << 64 | x[i];

		x[i] = (uint64) (dividend / divisor);
		remainder = (uint64) (dividend % divisor);
	}
	for (int i = words; up && remainder > 0 && i >= 0; i--)
	{
		if (++x[i] != 0)
			break;
	}
}

/* Negative, 0 or positive as x is below, equal to or above y. */
static inline int
dp_fixed_compare(const uint64 *x, const uint64 *y, int words)
{
	for (int i = 0; i <= words; i++)
	{
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	}
	return 0;
}

/* x += y, whose sum must fit. */
static inline void
dp_fixed_add(uint64 *x, const uint64 *y, int words)
{
	uint64 carry = 0;

	for (int i = words; i >= 0; i--)
	{
		dp_uint128 sum = (dp_uint128) x[i] + y[i] + carry;

		x[i] = (uint64) sum;
		carry = (uint64) (sum >> 64);
	}
	Assert(carry == 0);
}

#endif /* DP_EXACT_H */
