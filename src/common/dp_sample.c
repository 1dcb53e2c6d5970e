/*
 * dp_sample.c
 *	  Exact samplers: integers alone decide every outcome, because noise that
 *	  floating point rounds has gaps, and gaps in noise tell what it hides.
 *
 * The algorithms are those of Canonne, Kamath and Steinke, "The Discrete
 * Gaussian for Differential Privacy" (NeurIPS 2020; CKS below), resting on
 * three bricks:
 *
 *	uniform		 D. Lemire, "Fast random integer generation in an interval"
 *				 (2019): the high word of r * n, redrawn where that is uneven.
 *	Bernoulli	 r * den < num * 2^64 with the fraction's digits drawn only as
 *				 far as they are needed (see bernoulli_64), so that a trial is
 *				 one random word and one multiplication, and never a division.
 *	exp(-x)		 CKS Algorithm 1: draw A_k ~ Bernoulli(x/k), k = 1, 2, ... until
 *				 the first failure, at k = K, say; then P(K odd) = exp(-x).
 *
 * The running time depends on what is drawn, not on any data.
 */
#include "common/dp_base.h"

#include <math.h>

#include "common/dp_sample.h"

#ifndef FRONTEND
#include "miscadmin.h"
#else
#define CHECK_FOR_INTERRUPTS() ((void) 0)
#endif

/* 20!, floor(20! / e), and how many whole times 20! goes into 2^64. */
#define FACTORIAL_20 UINT64CONST(2432902008176640000)
#define FACTORIAL_20_OVER_E UINT64CONST(895014631192902120)
#define FACTORIAL_20_COPIES UINT64CONST(7)

/* Up to here den * k fits into 64 bits for every k up to 255. */
#define SMALL_DEN (UINT64CONST(1) << 56)
#define SMALL_K 255

#define LOW_WORD(x) ((uint64) (x))
#define HIGH_WORD(x) ((uint64) ((x) >> 64))

/*
 * dp_uniform - uniform on 0 .. n-1; n > 0.
 *
 * Of the 2^64 values of r each result has floor(2^64 / n) or one more; the
 * first (2^64 mod n) low words of a result are redrawn to leave all the same.
 */
uint64
dp_uniform(DpRandom *rng, uint64 n)
{
	dp_uint128 product;

	Assert(n > 0);

	product = (dp_uint128) dp_random_u64(rng) * n;
	if (unlikely(LOW_WORD(product) < n))
	{
		uint64 uneven = (0 - n) % n; /* 2^64 mod n */

		while (LOW_WORD(product) < uneven)
			product = (dp_uint128) dp_random_u64(rng) * n;
	}
	return HIGH_WORD(product);
}

/*
 * dp_uniform_128 - uniform on 0 .. n-1; n > 0.
 *
 * By masking and redrawing: fewer than two attempts on average.
 */
dp_uint128
dp_uniform_128(DpRandom *rng, dp_uint128 n)
{
	dp_uint128 mask;
	dp_uint128 result;

	Assert(n > 0);

	if (HIGH_WORD(n) == 0)
		return dp_uniform(rng, LOW_WORD(n));

	mask = n - 1;
	for (int shift = 1; shift < 128; shift <<= 1)
		mask |= mask >> shift;
	do
	{
		result = (dp_uint128) dp_random_u64(rng) << 64;
		result |= dp_random_u64(rng);
		result &= mask;
	} while (result >= n);
	return result;
}

/*
 * Bernoulli(num / den), 0 <= num <= den.
 *
 * Let u = (r + u') / 2^64 be uniform on [0, 1), r its first 64 bits and u'
 * uniform on [0, 1) like u.  Then
 *
 *	u < num / den	iff		u' * den < num * 2^64 - r * den =: rest,
 *
 * which is false for every u' if rest <= 0, true for every u' if rest >= den,
 * and Bernoulli(rest / den) otherwise: the same question, with fresh bits.
 * The last holds for at most one r, so hardly ever.
 */
static inline bool
bernoulli_64(DpRandom *rng, uint64 num, uint64 den)
{
	for (;;)
	{
		dp_uint128 product = (dp_uint128) dp_random_u64(rng) * den;
		uint64 high = HIGH_WORD(product);
		uint64 low = LOW_WORD(product);
		uint64 rest;

		if (high >= num)
			return false; /* rest <= 0 */
		if (num - high > 1 || low == 0)
			return true; /* rest >= 2^64 */
		rest = 0 - low;	 /* 2^64 - low */
		if (rest >= den)
			return true;
		num = rest;
	}
}

/*
 * The same where den needs more than 64 bits, den < 2^127.  r * den has 192
 * bits: "high" holds the upper 128 of them and "low" the rest.
 */
static bool
bernoulli_128(DpRandom *rng, dp_uint128 num, dp_uint128 den)
{
	for (;;)
	{
		dp_uint128 r = dp_random_u64(rng);
		dp_uint128 part = r * LOW_WORD(den);
		dp_uint128 high = r * HIGH_WORD(den) + HIGH_WORD(part);
		uint64 low = LOW_WORD(part);
		dp_uint128 rest;

		if (high >= num)
			return false; /* rest <= 0 */
		if (num - high > (dp_uint128) HIGH_WORD(den) + 1)
			return true; /* rest > (HIGH_WORD(den) + 1) * 2^64 > den */
		rest = ((num - high) << 64) - low;
		if (rest >= den)
			return true;
		num = rest;
	}
}

/* dp_bernoulli - true with probability num / den; num <= den < 2^127. */
bool
dp_bernoulli(DpRandom *rng, dp_uint128 num, dp_uint128 den)
{
	Assert(den > 0 && num <= den && (den >> 127) == 0);

	if (HIGH_WORD(den) == 0)
		return bernoulli_64(rng, LOW_WORD(num), LOW_WORD(den));
	return bernoulli_128(rng, num, den);
}

/*
 * Bernoulli(exp(-1)).
 *
 * Write u in the factorial base, u = sum_{n >= 2} d_n / n! with digits d_n
 * uniform on 0 .. n-1.  There exp(-1) = sum_{m >= 1} (1/(2m)! - 1/(2m+1)!) has
 * the digits 0 at even and n-1 at odd n, and u < exp(-1) is decided at the
 * first digit that differs.  One word brings all the digits up to n = 20 at
 * once, as a number uniform on 0 .. 20!-1, seven copies of each: words beyond
 * 7 * 20! are redrawn, and only the seven words of a tie need more digits.
 */
static inline bool
bernoulli_exp_one(DpRandom *rng)
{
	uint64 r;

	do
		r = dp_random_u64(rng);
	while (unlikely(r >= FACTORIAL_20_COPIES * FACTORIAL_20));

	if (r < FACTORIAL_20_COPIES * FACTORIAL_20_OVER_E)
		return true;
	if (likely(r >= FACTORIAL_20_COPIES * (FACTORIAL_20_OVER_E + 1)))
		return false;
	for (uint64 n = 21;; n += 2)
	{
		if (dp_uniform(rng, n) < n - 1)
			return true;
		if (dp_uniform(rng, n + 1) > 0)
			return false;
	}
}

/* Bernoulli(exp(-num / den)), num <= den < 2^56, by CKS Algorithm 1. */
static inline bool
bernoulli_exp_small(DpRandom *rng, uint64 num, uint64 den)
{
	uint64 product = den; /* den * k */
	uint64 k = 1;

	Assert(num <= den && den < SMALL_DEN);

	while (k <= SMALL_K && bernoulli_64(rng, num, product))
	{
		k++;
		product += den;
	}
	/* Beyond, a trial of 1/k and one of num/den stand for num/(den k). */
	while (k > SMALL_K && dp_uniform(rng, k) == 0 && bernoulli_64(rng, num, den))
		k++;
	return (k & 1) == 1;
}

/*
 * The same for any den < 2^127: den * k may overflow, so Bernoulli(num/(den k))
 * is drawn as two independent trials.
 */
static bool
bernoulli_exp_fraction(DpRandom *rng, dp_uint128 num, dp_uint128 den)
{
	uint64 k = 1;

	if (den < SMALL_DEN)
		return bernoulli_exp_small(rng, LOW_WORD(num), LOW_WORD(den));

	while ((k == 1 || dp_uniform(rng, k) == 0) && dp_bernoulli(rng, num, den))
		k++;
	return (k & 1) == 1;
}

/*
 * dp_bernoulli_exp - true with probability exp(-num / den); 0 < den < 2^127.
 *
 * exp(-x) = exp(-1)^n exp(-(x - n)) with n < x <= n + 1; the first failure ends
 * it, so that a huge x costs no more than a small one.
 */
bool
dp_bernoulli_exp(DpRandom *rng, dp_uint128 num, dp_uint128 den)
{
	Assert(den > 0 && (den >> 127) == 0);

	while (num > den)
	{
		if (!bernoulli_exp_one(rng))
			return false;
		num -= den;
	}
	return bernoulli_exp_fraction(rng, num, den);
}

/* The number of successes of Bernoulli(exp(-1)) before the first failure. */
static inline uint64
count_exp_one(DpRandom *rng)
{
	uint64 n = 0;

	while (bernoulli_exp_one(rng))
		n++;
	return n;
}

/*
 * lambda > 0 as num/den, with a relative error of about 2^-61 where long double has
 * 64 bits, 2^-52 where 53.
 *
 * num is a power of two and den lies in [2^61, 2^62); only below lambda = 2^-61 is
 * num = 1 and den larger, up to 2^120.
 */
static DpStatus
rate_from_exponent(long double lambda, DpRate *rate)
{
	int exponent;
	long double mantissa = frexpl(1 / lambda, &exponent); /* in [0.5, 1) */

	if (exponent > 120)
		return DP_ERR_RANGE;

	rate->num = (dp_uint128) 1 << Max(62 - exponent, 0);
	rate->den = (dp_uint128) ldexpl(mantissa, 62) << Max(exponent - 62, 0);
	return DP_OK;
}

/*
 * dp_rate_from_probability - p as 1 - exp(-num/den).
 *
 * For p near 1 rather give 1 - p to dp_rate_from_failure().  DP_ERR_DOMAIN unless
 * 0 < p < 1, DP_ERR_RANGE for p < 2^-120.
 */
DpStatus
dp_rate_from_probability(double p, DpRate *rate)
{
	if (!(p > 0 && p < 1))
		return DP_ERR_DOMAIN;
	return rate_from_exponent(-log1pl(-(long double) p), rate);
}

/*
 * dp_rate_from_failure - 1 - q as 1 - exp(-num/den): a trial that fails with
 * probability q, however small q is.  DP_ERR_DOMAIN unless 0 < q < 1.
 */
DpStatus
dp_rate_from_failure(double q, DpRate *rate)
{
	if (!(q > 0 && q < 1))
		return DP_ERR_DOMAIN;
	return rate_from_exponent(-logl(q), rate);
}

/*
 * dp_geometric - failures before the first success, in trials that succeed with
 * probability 1 - exp(-num/den); PG_UINT64_MAX stands for all that is larger.
 * num > 0, 0 < den <= 2^120.
 *
 * As in CKS Algorithm 2: U uniform on 0 .. den-1 kept with probability
 * exp(-U/den), V the successes of Bernoulli(exp(-1)); then Z = U + den V has
 * P(Z >= z) = exp(-z/den), hence P(floor(Z/num) >= k) = exp(-k num/den).
 */
uint64
dp_geometric(DpRandom *rng, DpRate rate)
{
	dp_uint128 u;
	dp_uint128 z;
	uint64 v;

	Assert(rate.num > 0 && rate.den > 0 && rate.den <= (dp_uint128) 1 << 120);

	do
		u = dp_uniform_128(rng, rate.den);
	while (!bernoulli_exp_fraction(rng, u, rate.den));
	v = count_exp_one(rng);

	/* keep Z in 128 bits: an event of probability exp(-255) */
	if (unlikely(v >= 255 && HIGH_WORD(rate.den) != 0))
		return PG_UINT64_MAX;
	z = u + rate.den * v;
	if (likely(HIGH_WORD(z) == 0 && HIGH_WORD(rate.num) == 0))
		return LOW_WORD(z) / LOW_WORD(rate.num);
	z /= rate.num;
	return HIGH_WORD(z) == 0 ? LOW_WORD(z) : PG_UINT64_MAX;
}

/*
 * dp_binomial - successes in n trials of probability 1 - exp(-num/den).
 *
 * Leaps from one success to the next, so it costs one geometric draw a success:
 * meant for small probabilities.
 */
uint64
dp_binomial(DpRandom *rng, uint64 n, DpRate rate)
{
	uint64 successes = 0;

	for (;;)
	{
		uint64 failures = dp_geometric(rng, rate);

		CHECK_FOR_INTERRUPTS();

		if (failures >= n)
			return successes;
		n -= failures + 1;
		successes++;
	}
}

/*
 * Discrete Laplace with scale num/den: P(x) proportional to exp(-|x| den/num);
 * 0 < num <= DP_MAX_SIGMA (CKS Algorithm 2).
 *
 * Position and sign come out of one uniform number, sign in its lowest bit.  0
 * would come up with both signs, so one of them starts again.
 */
static inline int64
discrete_laplace(DpRandom *rng, uint64 num, uint64 den)
{
	for (;;)
	{
		uint64 signed_u = dp_uniform(rng, 2 * num);
		uint64 u = signed_u >> 1;
		uint64 v;
		uint64 x;

		if (!bernoulli_exp_small(rng, u, num))
			continue;
		v = count_exp_one(rng);

		/* 2^12 successes have probability exp(-2^12): x stays below 2^63 */
		x = u + num * Min(v, 0xFFF);
		if (den != 1)
			x /= den;
		if ((signed_u & 1) == 0)
			return (int64) x;
		if (x != 0)
			return -(int64) x;
	}
}

/*
 * dp_discrete_laplace - integer noise, P(x) proportional to exp(-|x|/scale);
 * scale in 1 .. DP_MAX_SIGMA.
 */
int64
dp_discrete_laplace(DpRandom *rng, int64 scale)
{
	Assert(scale >= 1 && scale <= DP_MAX_SIGMA);

	return discrete_laplace(rng, (uint64) scale, 1);
}

/*
 * The discrete Gaussian with sigma = num/den, P(x) proportional to
 * exp(-x^2 / (2 sigma^2)) (CKS Algorithm 3, with t = sigma).
 *
 * Y from the discrete Laplace of scale sigma is kept with probability
 * exp(-(|Y| - sigma)^2 / (2 sigma^2)).  The product of the two is
 * exp(-|y|/sigma) exp(-y^2/(2 sigma^2) + |y|/sigma - 1/2), which is the law
 * asked for.  In integers the exponent is (|Y| den - num)^2 / (2 num^2), below
 * 2^127 over 2^101; about three draws in four are kept.
 */
static inline int64
discrete_gaussian(DpRandom *rng, uint64 num, uint64 den)
{
	for (;;)
	{
		int64 y = discrete_laplace(rng, num, den);
		uint64 size = (uint64) (y < 0 ? -y : y) * den;
		uint64 off = size > num ? size - num : num - size;

		if (dp_bernoulli_exp(rng, (dp_uint128) off * off, 2 * (dp_uint128) num * num))
			return y;
	}
}

/*
 * dp_discrete_gaussian - integer noise, P(x) proportional to
 * exp(-x^2 / (2 sigma^2)); sigma in 1 .. DP_MAX_SIGMA.
 *
 * Its variance is below sigma^2 by less than one part in 10^6 at sigma = 1, and
 * by nothing that can be computed from sigma = 3 on.
 */
int64
dp_discrete_gaussian(DpRandom *rng, int64 sigma)
{
	Assert(sigma >= 1 && sigma <= DP_MAX_SIGMA);

	return discrete_gaussian(rng, (uint64) sigma, 1);
}

/* dp_discrete_gaussian_ratio - the same for sigma = num/den, both as sigma there. */
int64
dp_discrete_gaussian_ratio(DpRandom *rng, int64 num, int64 den)
{
	Assert(num >= 1 && num <= DP_MAX_SIGMA && den >= 1 && den <= DP_MAX_SIGMA);

	return discrete_gaussian(rng, (uint64) num, (uint64) den);
}

/*
 * dp_discrete_gaussian_above - the discrete Gaussian X given X > bound;
 * sigma in 1 .. DP_MAX_SIGMA, bound up to 2^62.
 *
 * Below sigma it is drawn until it fits, one draw in seven or better.  Beyond,
 * with a = bound + 1 and y geometric, P(y) proportional to exp(-y a/sigma^2),
 * kept with probability exp(-y^2/(2 sigma^2)), a + y has a law proportional to
 *
 *	exp(-(2 a y + y^2) / (2 sigma^2)) = exp(-((a+y)^2 - a^2) / (2 sigma^2)),
 *
 * which is exp(-x^2/(2 sigma^2)) at x = a + y > bound, up to a constant: the law
 * asked for, for any a > 0.  Since a > sigma here, two draws in three are kept.
 */
int64
dp_discrete_gaussian_above(DpRandom *rng, int64 sigma, int64 bound)
{
	DpRate rate;
	uint64 y;

	Assert(sigma >= 1 && sigma <= DP_MAX_SIGMA && bound <= (INT64CONST(1) << 62));

	if (bound < sigma)
	{
		int64 x;

		do
			x = dp_discrete_gaussian(rng, sigma);
		while (x <= bound);
		return x;
	}

	rate.num = (dp_uint128) bound + 1;
	rate.den = (dp_uint128) sigma * sigma;
	do
		y = dp_geometric(rng, rate);
	while (!dp_bernoulli_exp(rng, (dp_uint128) y * y, 2 * rate.den));
	return bound + 1 + (int64) y;
}
