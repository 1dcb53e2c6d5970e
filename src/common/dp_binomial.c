/*
 * dp_binomial.c
 *	  Binomial draws, exact and fast: clients who randomise their own reports are
 *	  simulated by the million, and each must have just the promised probabilities.
 *
 * Bin(n, p) with p = num / 2^62.  Few trials are compared with p bit by bit, 64 at a
 * time (count_by_bits).  Many are drawn by rejection:
 *
 * The envelope.  Let p <= 1/2 (else failures are counted), q = 1 - p, f the law, m its
 * mode floor((n+1) p), V = (n+1) p q, and R(d) = f(m + d) / f(m).  Then
 *
 *	R(d) <= B(|d|, V),		B(x, V) = exp(-x (x - 1) / (2V + x)).
 *
 * Proof for d > 0: let a = (n+1) p, b = (n+1) q and s = j - (a - m), in [j-1, j].  Then
 * R(d) is the product over j = 1 .. d of
 *	(n-m-j+1) p / ((m+j) q) = (1 - s/b) / (1 + s/a),
 * whose logarithm is at most -s/b - 2(s/a)/(2 + s/a) = -s/b - s/(a + s/2), by ln(1-y)
 * <= -y and ln(1+x) >= 2x/(2+x).  As V = ab/(a+b), that is at most -s/(V + s/2), and
 * the sum of (j-1)/(V + d/2) over j is d(d-1)/(2V + d).  d < 0 is d > 0 with p and q
 * exchanged.  B grows with V, so B(x, 16) does for every V <= 16.  For a larger V let
 * w = ceil(sqrt(V)/4), so V <= 16 w^2, and |d| >= i w; then B(|d|, V) <= B(i, 16),
 * because i w (i w - 1) / (32 w^2 + i w) >= i (i - 1) / (32 + i).  So steps of width w
 * and heights B(i, 16), rounded up to integers, lie above every such law: one small table.
 * Its tail goes down by halves, B by more.  A second table, of B(i, 1), is for V <= 1.
 * The idea of steps as an envelope: Bringmann, Kuhn, Panagiotou, Peter and Thomas,
 * "Internal DLA: Efficient Simulation of a Physical Growth Model" (ICALP 2014).
 *
 * The decision.  A proposal d under a step of height h (1 at the mode) is accepted if
 * u h < R(d), u uniform on [0, 1).  R(d) is computed in doubles, and u is known to 64
 * bits.  Where the two sides are closer than their errors (about once in 10^11 where
 * sqrt(V) is 1000) accept_exactly() decides, by integers and with as many bits of u as
 * it takes.  So the doubles are never heard where they might be wrong.
 *
 * The error of R(d), in units of e = 2^-53, relative: at most 20 (|d| + 1).  No function
 * of libm but sqrt and ldexp is used, only IEEE arithmetic, rounded to nearest (fused
 * operations round less and do no harm).  Integers below 2^53 are exact.  First-order
 * terms are counted; all the others are below 10^-4 of these, for which there is room.
 *
 *	|d| <= 64	the product itself.  p/(q(m+1)) has 4, 1/(m+1) has 1; either times an
 *				integer, times the product so far 2 more, so 9 for each of |d| factors,
 *				and the division 1.  Nothing overflows: numerators are below 1 and
 *				denominators between 1/2 and 64, each.  If anything underflows, R(d) <
 *				2^-900 is lost, for which accepts() makes allowance.
 *	|d| > 64	with k = m + d, and s' = d/(k+m), s'' = -d/((n-k)+(n-m)),
 *		ln R(d) = d ln(p (n-m) / (q m)) - (2k+1) atanh(s') - (2(n-k)+1) atanh(s'')
 *				  + c(m) - c(k) + c(n-m) - c(n-k),
 *				which is Stirling's formula, c(x) = 1/(12x) - 1/(360x^3) + 1/(1260x^5),
 *				off by at most 1/(1680x^7).  Required: m, k, n-m, n-k >= 128 and |s'|,
 *				|s''| <= 1/8; else accept_exactly() decides.  There nine terms of the
 *				series of atanh leave out less than 0.03; it has 3.1 in all, and its
 *				product with the integer 4.1.  Each such product is at most 1.14 |d|, for
 *				(2k+1)/(k+m) <= 9/8 + 1/256, so 9.4 |d| for the two of them, and their
 *				difference 2.3 |d|.  The first term is at most |d|/30 and has 7: 0.3 |d|.
 *				The c are below 1/1500 and leave out 0.05 in all.  Two additions of what
 *				is at most 2.4 |d|: 4.8 |d|.  Together 17 |d| + 1, absolute, in ln R(d),
 *				and relative in R(d); dp_exponential() adds 4.
 */
#include "common/dp_base.h"

#include <math.h>

#include "port/pg_bitutils.h"

#include "common/dp_binomial.h"
#include "common/dp_exact.h"
#include "common/dp_sample.h"

#ifndef FRONTEND
#include "miscadmin.h"
#else
#define CHECK_FOR_INTERRUPTS() ((void) 0)
#endif

/* Up to here bits are cheaper than an envelope. */
#define MOST_BY_BITS 256

/* Up to here R(d) is a product; beyond, Stirling's formula from 128 on. */
#define MOST_FACTORS 64
#define LEAST_STIRLING 128

/* Where its logarithm is below DP_LEAST_EXPONENT, R(d) is 0 but for less than this. */
#define TINY 0x1p-900

/* R(d)'s error, the 4 of u h and those of the comparison, for each of |d| + 1. */
#define UNSURE (24 * 0x1p-53)

/*
 * Heights of one side, which sum to 2^16 with the tail's, 2 * tail: after the last step
 * tail, tail/2, tail/4 and so on.  Each is at least height[0] times its B.
 */
typedef struct DpEnvelope
{
	int steps;
	uint16 height[20];
	uint16 tail;
} DpEnvelope;

static const DpEnvelope envelope_1 = {8, {20864, 20864, 12656, 6285, 2824, 1199, 491, 197}, 78};

static const DpEnvelope envelope_16 = {
	20,
	{9897, 9897, 9333, 8338, 7092, 5765, 4495, 3372, 2441, 1710,
	 1162, 767, 493, 309, 190, 114, 67, 39, 22, 13},
	10};

/* A proposal: mode + distance, under a step of height * 2^-halvings. */
typedef struct Proposal
{
	int64 distance;
	uint32 height;
	uint32 halvings;
} Proposal;

/* How many of n bits are 1. */
static inline uint64
count_ones(DpRandom *rng, uint64 n)
{
	uint64 ones = 0;

	for (; n >= 64; n -= 64)
		ones += pg_popcount64(dp_random_u64(rng));
	if (n > 0)
		ones += pg_popcount64(dp_random_u64(rng) >> (64 - n));
	return ones;
}

/*
 * Bin(n, num / 2^62), num < 2^62: n uniform numbers are compared with p bit by bit, from
 * the first on.  Those whose bit differs are decided, so half of them stay each time,
 * and only how many matters.
 */
static uint64
count_by_bits(DpRandom *rng, uint64 n, uint64 num)
{
	uint64 successes = 0;

	for (uint64 rest = num << 2; n > 0 && rest != 0; rest <<= 1)
	{
		uint64 ones = count_ones(rng, n);

		if (rest >> 63)
		{
			successes += n - ones;
			n = ones;
		}
		else
			n -= ones;
	}
	return successes; /* who is left is not below p */
}

/* atanh(s) for |s| <= 1/8. */
static inline double
inverse_tanh(double s)
{
	double z = s * s;
	double sum = 1.0 / 17;

	sum = 1.0 / 15 + z * sum;
	sum = 1.0 / 13 + z * sum;
	sum = 1.0 / 11 + z * sum;
	sum = 1.0 / 9 + z * sum;
	sum = 1.0 / 7 + z * sum;
	sum = 1.0 / 5 + z * sum;
	sum = 1.0 / 3 + z * sum;
	return s * (1 + z * sum);
}

/* What Stirling's formula leaves of ln x!, x >= 128. */
static inline double
stirling_remainder(double x)
{
	double inverse = 1 / x;
	double square = inverse * inverse;

	return inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260)));
}

/* The half of dp_binomial_prepare() that Stirling's formula needs. */
static void
prepare_stirling(DpBinomial *law)
{
	uint64 n = law->n;
	uint64 mode = law->mode;
	dp_uint128 mean = (dp_uint128) n * law->num;
	dp_uint128 whole = (dp_uint128) mode << 62;
	dp_uint128 up = (dp_uint128) (n - mode) * law->num;				  /* p (n - m) */
	dp_uint128 down = (dp_uint128) mode * (DP_DYADIC_ONE - law->num); /* q m */
	double difference;

	law->stirling = mode >= LEAST_STIRLING && n - mode >= LEAST_STIRLING;
	if (!law->stirling)
		return;
	/* p (n - m) - q m = n p - m, which may be negative */
	difference = mean >= whole ? (double) (mean - whole) : -(double) (whole - mean);
	law->slope = 2 * inverse_tanh(difference / (double) (up + down));
	law->remainder = stirling_remainder(mode) + stirling_remainder(n - mode);
}

/*
 * dp_binomial_prepare - make ready for draws of Bin(n, num / 2^62); n <= 2^32,
 * num <= 2^62.
 */
void
dp_binomial_prepare(DpBinomial *law, uint64 n, uint64 num)
{
	double p;
	double variance;

	Assert(n <= DP_BINOMIAL_MAX_TRIALS && num <= DP_DYADIC_ONE);

	law->n = n;
	law->flipped = num > DP_DYADIC_ONE / 2;
	law->num = law->flipped ? DP_DYADIC_ONE - num : num;
	law->by_bits = n <= MOST_BY_BITS || law->num == 0;
	if (law->by_bits)
		return;

	law->mode = (uint64) (((dp_uint128) (n + 1) * law->num) >> 62);
	p = (double) law->num * 0x1p-62;
	variance = (double) (n + 1) * p * (1 - p) * (1 + 0x1p-40); /* never too small */
	law->envelope = variance <= 1 ? &envelope_1 : &envelope_16;
	law->width = variance <= 16 ? 1 : (uint64) ceil(sqrt(variance * (1.0 / 16)));
	law->unit = 0x1p-64 / law->envelope->height[0];
	law->norm = 1 / (double) (law->mode + 1);
	law->up = (double) law->num /
			  ((double) (DP_DYADIC_ONE - law->num) * (double) (law->mode + 1));
	law->unsure = UNSURE;
	prepare_stirling(law);
}

/* R(d) as a product. */
static inline double
ratio_by_factors(const DpBinomial *law, int64 distance)
{
	double numerator = 1;
	double denominator = 1;
	double failures = (double) (law->n - law->mode);
	double mode = (double) law->mode;

	if (distance >= 0)
	{
		for (int j = 1; j <= distance; j++)
		{
			numerator *= (failures - j + 1) * law->up;
			denominator *= (mode + j) * law->norm;
		}
	}
	else
	{
		for (int j = 0; j < -distance; j++)
		{
			numerator *= (mode - j) * law->norm;
			denominator *= (failures + j + 1) * law->up;
		}
	}
	return numerator / denominator;
}

/* R(d) by Stirling's formula, if it's good enough there. */
static inline double
ratio_by_stirling(const DpBinomial *law, int64 distance)
{
	double d = (double) distance;
	double mode = (double) law->mode;
	double k = mode + d;
	double mode_left = (double) law->n - mode;
	double k_left = mode_left - d;
	double logarithm;

	if (!law->stirling || k < LEAST_STIRLING || k_left < LEAST_STIRLING ||
		8 * fabs(d) > Min(k + mode, k_left + mode_left))
		return DP_BINOMIAL_UNKNOWN;

	logarithm = (2 * k_left + 1) * inverse_tanh(d / (k_left + mode_left)) -
				(2 * k + 1) * inverse_tanh(d / (k + mode));
	logarithm += d * law->slope;
	logarithm += law->remainder - stirling_remainder(k) - stirling_remainder(k_left);
	return logarithm < DP_LEAST_EXPONENT ? 0 : dp_exponential(logarithm);
}

/*
 * dp_binomial_ratio - R(distance) with a relative error of at most
 * DP_BINOMIAL_RATIO_ERROR * (|distance| + 1), and TINY; or DP_BINOMIAL_UNKNOWN.
 *
 * mode + distance must lie between 0 and n, and law->by_bits must not be set.
 */
double
dp_binomial_ratio(const DpBinomial *law, int64 distance)
{
	if (distance >= -MOST_FACTORS && distance <= MOST_FACTORS)
		return ratio_by_factors(law, distance);
	return ratio_by_stirling(law, distance);
}

/* dp_binomial_envelope - the height, 1 at the mode, of the step over a distance. */
double
dp_binomial_envelope(const DpBinomial *law, int64 distance)
{
	const DpEnvelope *envelope = law->envelope;
	uint64 step = (uint64) (distance < 0 ? -1 - distance : distance) / law->width;
	double height = envelope->tail;

	if (step < (uint64) envelope->steps)
		height = envelope->height[step];
	else
		height = ldexp(height, -(int) Min(step - envelope->steps, 10000));
	return height / envelope->height[0];
}

/*
 * R(distance), rounded down or up.
 *
 * Every factor is at most 1, but is multiplied and divided in two halves.  On the left
 * (m-j)/(n-m+j+1) comes first, being at most 1 too, so the integer part never has more
 * than 62 bits.  What that rounds is magnified by q/p, but to little more than 2n units in
 * all, as the left side has m <= (n + 1) p factors.
 */
static void
fixed_ratio(uint64 *x, int words, const DpBinomial *law, int64 distance, bool up)
{
	uint64 p = law->num;
	uint64 q = DP_DYADIC_ONE - law->num;
	uint64 failures = law->n - law->mode;

	memset(x, 0, sizeof(uint64) * (words + 1));
	x[0] = 1;
	for (int64 j = 1; j <= distance; j++)
	{
		CHECK_FOR_INTERRUPTS();
		dp_fixed_multiply(x, words, p);
		dp_fixed_divide(x, words, q, up);
		dp_fixed_multiply(x, words, failures - j + 1);
		dp_fixed_divide(x, words, law->mode + j, up);
	}
	for (int64 j = 0; j < -distance; j++)
	{
		CHECK_FOR_INTERRUPTS();
		dp_fixed_multiply(x, words, law->mode - j);
		dp_fixed_divide(x, words, failures + j + 1, up);
		dp_fixed_multiply(x, words, q);
		dp_fixed_divide(x, words, p, up);
	}
}

/* The right side of u * height < R * height[0] * 2^halvings. */
static void
fixed_right_side(uint64 *x, int words, const DpBinomial *law, const Proposal *proposal, bool up)
{
	fixed_ratio(x, words, law, proposal->distance, up);
	dp_fixed_multiply(x, words, law->envelope->height[0]);
	for (uint32 left = proposal->halvings; left > 0; left -= Min(left, 32))
		dp_fixed_multiply(x, words, UINT64CONST(1) << Min(left, 32));
}

/* The left side for digits [1] .. [known] of u, the rest being all 0 or all 1 without end. */
static void
fixed_left_side(uint64 *x, int words, const Proposal *proposal, const uint64 *digits, int known,
				bool up)
{
	memset(x, 0, sizeof(uint64) * (words + 1));
	memcpy(x + 1, digits + 1, sizeof(uint64) * known);
	for (int i = known; up && i >= 0; i--)
	{
		if (++x[i] != 0)
			break;
	}
	dp_fixed_multiply(x, words, proposal->height);
}

/*
 * Whether u * height < R * height[0] * 2^halvings, by integers: both sides between
 * bounds, closer and closer until these don't overlap.  first is u's first digit; the
 * others are drawn as they are needed, which hardly ever happens.
 */
static bool
accept_exactly(DpRandom *rng, const DpBinomial *law, const Proposal *proposal, uint64 first)
{
	uint64 *digits = palloc(2 * sizeof(uint64));
	int result = -1;

	digits[1] = first;
	for (int known = 1; result < 0; known++)
	{
		int words = known + 2 + proposal->halvings / 64;
		uint64 *left = palloc(sizeof(uint64) * (words + 1));
		uint64 *right = palloc(sizeof(uint64) * (words + 1));

		if (known > 1)
		{
			digits = repalloc(digits, (known + 1) * sizeof(uint64));
			digits[known] = dp_random_u64(rng);
		}
		fixed_left_side(left, words, proposal, digits, known, false);
		fixed_right_side(right, words, law, proposal, true);
		if (dp_fixed_compare(left, right, words) >= 0)
			result = false;
		else
		{
			fixed_left_side(left, words, proposal, digits, known, true);
			fixed_right_side(right, words, law, proposal, false);
			if (dp_fixed_compare(left, right, words) <= 0)
				result = true;
		}
		pfree(left);
		pfree(right);
	}
	pfree(digits);
	return result;
}

/* Whether u h < R(d); what u's later bits may add to u h is "step". */
static inline bool
accepts(DpRandom *rng, const DpBinomial *law, const Proposal *proposal)
{
	uint64 u = dp_random_u64(rng);
	double ratio = dp_binomial_ratio(law, proposal->distance);
	double step = proposal->height * law->unit;
	double left;
	double slack;

	if (proposal->halvings > 0)
		step = ldexp(step, -(int) Min(proposal->halvings, 10000));
	left = (double) u * step;
	slack = law->unsure * (fabs((double) proposal->distance) + 1) * (left + ratio);
	slack += 2 * step + TINY;
	if (ratio != DP_BINOMIAL_UNKNOWN && likely(fabs(ratio - left) > slack))
		return left < ratio;
	return accept_exactly(rng, law, proposal, u);
}

/* Draw from the envelope: the step, its side, and the place on the step. */
static inline void
propose(DpRandom *rng, const DpBinomial *law, Proposal *proposal)
{
	const DpEnvelope *envelope = law->envelope;
	uint64 word = dp_random_u64(rng);
	uint32 rest = word & 0xFFFF;
	uint64 step = 0;
	int64 distance;

	while (step < (uint64) envelope->steps && rest >= envelope->height[step])
		rest -= envelope->height[step++];
	proposal->halvings = 0;
	if (likely(step < (uint64) envelope->steps))
		proposal->height = envelope->height[step];
	else
	{
		proposal->height = envelope->tail;
		proposal->halvings = dp_halvings(rng);
		step += proposal->halvings;
	}

	distance = step * law->width;
	if (law->width > 1)
		distance += dp_uniform(rng, law->width);
	proposal->distance = word >> 63 ? -1 - distance : distance;
}

/* dp_binomial_draw - the successes, of a law made ready. */
uint64
dp_binomial_draw(DpRandom *rng, const DpBinomial *law)
{
	uint64 k;

	if (law->by_bits)
		k = count_by_bits(rng, law->n, law->num);
	else
	{
		int64 least = -(int64) law->mode;
		int64 most = law->n - law->mode;
		Proposal proposal;

		do
			propose(rng, law, &proposal);
		while (proposal.distance < least || proposal.distance > most ||
			   !accepts(rng, law, &proposal));
		k = law->mode + proposal.distance;
	}
	return law->flipped ? law->n - k : k;
}

/* dp_binomial_dyadic - successes in n trials of probability num / 2^62. */
uint64
dp_binomial_dyadic(DpRandom *rng, uint64 n, uint64 num)
{
	DpBinomial law;

	dp_binomial_prepare(&law, n, num);
	return dp_binomial_draw(rng, &law);
}
