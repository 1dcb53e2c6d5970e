/*
 * test_binomial_exact.c
 *	  The binomial sampler's doubles against rational arithmetic, its envelope, and its
 *	  exact decisions where chance never gets.
 */
#include "common/dp_binomial.h"

#include <math.h>
#include <openssl/bn.h>

#include "laws.h"
#include "tap.h"

#define P(p) ((uint64) ((p) *0x1p62))

/* The sampler's table for all variances but the least: its steps, the first and the tail's. */
#define STEPS 20
#define PEAK 9897
#define TAIL 10

static DpRandom rng;

typedef struct Case
{
	uint64 n;
	uint64 num;
} Case;

/* *x *= factor, of up to 64 bits. */
static void
times(BIGNUM *x, uint64 factor)
{
	if (BN_mul_word(x, factor) != 1)
		abort();
}

/* floor(f(mode + distance) / f(mode) * 2^shift), of big integers. */
static BIGNUM *
exact_ratio(const DpBinomial *law, int64 distance, int shift)
{
	uint64 left = law->n - law->mode;
	BIGNUM *numerator = BN_new();
	BIGNUM *denominator = BN_new();
	BN_CTX *context = BN_CTX_new();

	BN_one(numerator);
	BN_one(denominator);
	for (int64 j = 1; j <= distance; j++)
	{
		times(numerator, left - j + 1);
		times(numerator, law->num);
		times(denominator, law->mode + j);
		times(denominator, DP_DYADIC_ONE - law->num);
	}
	for (int64 j = 0; j < -distance; j++)
	{
		times(numerator, law->mode - j);
		times(numerator, DP_DYADIC_ONE - law->num);
		times(denominator, left + j + 1);
		times(denominator, law->num);
	}
	if (BN_lshift(numerator, numerator, shift) != 1 ||
		BN_div(numerator, NULL, numerator, denominator, context) != 1)
		abort();
	BN_free(denominator);
	BN_CTX_free(context);
	return numerator;
}

/* Word i of a number, from the lowest. */
static uint64
bignum_word(const BIGNUM *x, int i)
{
	unsigned char bytes[64];
	uint64 word = 0;

	if (BN_bn2binpad(x, bytes, sizeof(bytes)) < 0)
		abort();
	for (int j = 0; j < 8; j++)
		word = word << 8 | bytes[sizeof(bytes) - 8 * (i + 1) + j];
	return word;
}

/* The relative error of dp_binomial_ratio(), as a share of its bound. */
static double
ratio_error(const DpBinomial *law, int64 distance, double ratio)
{
	int exponent;
	BIGNUM *exact;
	dp_uint128 value;
	dp_uint128 claimed;
	double error;

	/* about 120 bits of the quotient, and the same of the double */
	(void) frexp(ratio, &exponent);
	exact = exact_ratio(law, distance, 120 - exponent);
	value = (dp_uint128) bignum_word(exact, 1) << 64 | bignum_word(exact, 0);
	claimed = (dp_uint128) ldexp(ratio, 120 - exponent);
	error = (double) (value > claimed ? value - claimed : claimed - value) / (double) value;
	BN_free(exact);
	return error / (DP_BINOMIAL_RATIO_ERROR * (fabs((double) distance) + 1));
}

static uint64
uniform_bits(int bits)
{
	return bits == 0 ? 0 : dp_random_u64(&rng) >> (64 - bits);
}

/* Random n, num and k: any magnitude of each, most k not far from the mode. */
static void
test_ratio(void)
{
	double worst[2] = {0, 0};
	int checked[2] = {0, 0};
	int unknown = 0;

	while (checked[0] < 1500 || checked[1] < 1500)
	{
		uint64 n = 257 + uniform_bits(dp_random_u64(&rng) % 33);
		uint64 num = 1 + uniform_bits(61 - dp_random_u64(&rng) % 40);
		int64 distance = uniform_bits(dp_random_u64(&rng) % 11);
		double ratio;
		DpBinomial law;
		int kind;

		if (n > DP_BINOMIAL_MAX_TRIALS)
			continue;
		dp_binomial_prepare(&law, n, num);
		if (dp_random_u64(&rng) & 1)
			distance = -distance;
		kind = distance < -64 || distance > 64;
		if (distance < -(int64) law.mode || distance > (int64) (n - law.mode) ||
			(checked[kind] >= 1500))
			continue;
		ratio = dp_binomial_ratio(&law, distance);
		if (ratio == DP_BINOMIAL_UNKNOWN)
			unknown++;
		else if (ratio > 0x1p-300)
		{
			worst[kind] = fmax(worst[kind], ratio_error(&law, distance, ratio));
			checked[kind]++;
		}
	}
	ok(worst[0] <= 1, "products: error %.3f of the bound", worst[0]);
	ok(worst[1] <= 1, "Stirling's formula: error %.3f of the bound", worst[1]);
	printf("# %d ratios left to integers\n", unknown);
}

/* At the corners of what Stirling's formula is used for. */
static void
test_ratio_corners(void)
{
	const Case laws[] = {
		{260, P(0.4999)},
		{600, P(0.25)},
		{100000, P(0.003)},
		{DP_BINOMIAL_MAX_TRIALS, P(0x1p-22)},
	};
	double worst = 0;
	int checked = 0;

	for (size_t i = 0; i < lengthof(laws); i++)
	{
		DpBinomial law;

		dp_binomial_prepare(&law, laws[i].n, laws[i].num);
		for (int64 d = -800; d <= 800; d += 1 + (d < 60 || d > 70 ? 2 : 0))
		{
			double ratio;

			if (d < -(int64) law.mode || d > (int64) (law.n - law.mode))
				continue;
			ratio = dp_binomial_ratio(&law, d);
			if (ratio == DP_BINOMIAL_UNKNOWN || ratio < 0x1p-300)
				continue;
			worst = fmax(worst, ratio_error(&law, d, ratio));
			checked++;
		}
	}
	ok(checked > 300 && worst <= 1, "corners: error %.3f of the bound", worst);
}

/* The steps lie above B, and their heights sum to 2^16. */
static void
test_heights(void)
{
	const double variances[] = {1, 16};
	DpBinomial law;

	for (size_t i = 0; i < lengthof(variances); i++)
	{
		double sum = 0;
		double least = INFINITY;
		double peak;

		dp_binomial_prepare(&law, 1000000, P(0.99e-6 * variances[i]));
		for (int x = 0; x < 700; x++)
		{
			double height = dp_binomial_envelope(&law, x);

			least = fmin(least, height / exp(-x * (x - 1.0) / (2 * variances[i] + x)));
			sum += height;
		}
		peak = rint(65536 / sum);
		ok(least >= 1, "steps for variance %g lie above the bound: %.6f", variances[i], least);
		ok(fabs(sum * peak - 65536) < 1e-6, "and sum to 2^16, %g at the mode", peak);
		if (i == 1)
			ok(peak == PEAK && rint(dp_binomial_envelope(&law, STEPS) * PEAK) == TAIL,
			   "which is what the ties are made for");
	}
}

/* No ratio above the envelope, whatever the law. */
static void
test_envelope(void)
{
	double most = 0;
	int checked = 0;

	for (int i = 0; i < 20000; i++)
	{
		uint64 n = 257 + uniform_bits(dp_random_u64(&rng) % 33);
		uint64 num = 1 + uniform_bits(61 - dp_random_u64(&rng) % 34);
		DpBinomial law;

		if (n > DP_BINOMIAL_MAX_TRIALS)
			continue;
		dp_binomial_prepare(&law, n, num);
		for (int step = -12; step < 12; step++)
		{
			/* where the step comes closest, for the next one out is lower */
			int64 d = step * (int64) law.width - (step < 0 ? 1 : 0);
			double ratio;

			if (d < -(int64) law.mode || d > (int64) (n - law.mode))
				continue;
			ratio = dp_binomial_ratio(&law, d);
			if (ratio == DP_BINOMIAL_UNKNOWN)
				continue;
			most = fmax(most, ratio / dp_binomial_envelope(&law, d));
			checked++;
		}
	}
	ok(checked > 100000 && most <= 1 + 1e-9, "the envelope lies above: at most %.6f of it", most);
}

/* Doubles widened to always unsure: the same decisions on the same random words. */
static void
test_forced(void)
{
	/* with the number of draws, as each costs time in proportion to the deviation */
	const struct
	{
		Case law;
		int draws;
	} cases[] = {
		{{257, P(0.25)}, 2000},
		{{257, P(0.003)}, 2000},
		{{300, P(0.99)}, 2000},
		{{2000, P(0.0005)}, 2000},
		{{1000, P(0.0155)}, 2000},
		{{1000, P(0.0163)}, 2000},
		{{1000, P(0.5)}, 1500},
		{{3000, P(0.93)}, 1500},
		{{100000, P(0.0012)}, 2000},
		{{100000, P(0.02)}, 500},
		{{5000000, P(0.12)}, 100},
		{{7600000, P(0.5)}, 50},
		{{DP_BINOMIAL_MAX_TRIALS, 1}, 2000},
		{{DP_BINOMIAL_MAX_TRIALS, UINT64CONST(300) << 30}, 1500},
	};

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		static DpRandom fast;
		static DpRandom slow;
		DpBinomial law;
		DpBinomial forced;
		bool same = true;

		dp_binomial_prepare(&law, cases[i].law.n, cases[i].law.num);
		forced = law;
		forced.unsure = INFINITY;
		dp_random_seeded(&fast, 5, i, 0);
		dp_random_seeded(&slow, 5, i, 0);
		for (int j = 0; j < cases[i].draws; j++)
			same &= dp_binomial_draw(&fast, &law) == dp_binomial_draw(&slow, &forced);
		ok(same && fast.state == slow.state && !law.by_bits,
		   "of " UINT64_FORMAT ", %g: %d draws by integers alone are the same", law.n,
		   cases[i].law.num * 0x1p-62, cases[i].draws);
	}
}

/* And their law, by themselves. */
static void
test_forced_law(void)
{
	const Case few[] = {{300, P(0.004)}, {1000, P(0.01)}, {1000, P(0.9)}, {2000, P(0.25)}};
	static Law law;

	for (size_t i = 0; i < lengthof(few); i++)
	{
		DpBinomial forced;
		double p;

		law_binomial(&law, few[i].n, few[i].num);
		dp_binomial_prepare(&forced, few[i].n, few[i].num);
		forced.unsure = INFINITY;
		for (int j = 0; j < 15000; j++)
			law_count(&law, (int64) dp_binomial_draw(&rng, &forced));
		p = law_p_value(&law);
		ok(p > ALARM, "by integers alone, of " UINT64_FORMAT ", %g: p = %g", few[i].n,
		   few[i].num * 0x1p-62, p);
	}
}

/* A generator that serves these words and then fails the test. */
static void
serve(DpRandom *made, const uint64 *words, int n)
{
	memset(made, 0, sizeof(*made));
	made->left = sizeof(uint64) * n;
	memcpy(made->buffer + DP_RANDOM_BUFFER - made->left, words, made->left);
}

/*
 * A draw whose first proposal is the distance, with the digits of u.  The second
 * proposal, at the mode, is always accepted.
 */
static bool
is_accepted(const DpBinomial *law, int64 distance, const uint64 *digits, int n, bool *exhausted)
{
	static DpRandom made;
	uint64 place = (uint64) (distance < 0 ? -1 - distance : distance);
	uint64 halvings = place / law->width - STEPS;
	uint64 words[16];
	int used = 0;
	int second;
	uint64 k;

	words[used++] = (distance < 0 ? UINT64CONST(1) << 63 : 0);
	if (place / law->width >= STEPS)
	{
		words[0] |= 0xFFFF;
		for (uint64 i = 0; i < halvings / 64; i++)
			words[used++] = 0;
		words[used++] = UINT64CONST(1) << (halvings % 64);
	}
	if (law->width > 1)
		words[used++] = (uint64) (((dp_uint128) (place % law->width) << 64) / law->width) +
						(1 << 20);
	memcpy(words + used, digits, n * sizeof(uint64));
	used += n;
	second = used;
	words[used++] = 0;
	if (law->width > 1)
		words[used++] = law->width;
	words[used++] = 0;
	serve(&made, words, used);
	k = dp_binomial_draw(&made, law);
	if (law->flipped)
		k = law->n - k;
	/* what is left over is the second proposal, or nothing */
	*exhausted &= made.left == (k == law->mode ? 0 : (used - second) * sizeof(uint64));
	return k == law->mode + distance;
}

/*
 * u ties with what it must lie below in its first digits, and the digit after them
 * decides.  Returns how many ties there were.
 */
static int
tie(const DpBinomial *law, int64 distance, bool *right, bool *exhausted)
{
	uint64 step = (uint64) (distance < 0 ? -1 - distance : distance) / law->width;
	BIGNUM *exact = exact_ratio(law, distance, 256 + (step < STEPS ? 0 : (int) (step - STEPS)));
	uint64 digits[3];

	if (step >= STEPS)
	{
		times(exact, PEAK);
		if (BN_div_word(exact, TAIL) == (BN_ULONG) -1)
			abort();
	}
	for (int i = 0; i < 3; i++)
		digits[i] = bignum_word(exact, 3 - i);
	BN_free(exact);
	/* R = 1 where two values are likeliest, or R < 2^-64 */
	if (digits[0] == 0)
		return 0;
	for (int last = 0; last < 3; last++)
	{
		uint64 near[3];

		memcpy(near, digits, sizeof(near));
		near[last] = digits[last] - 1;
		*right &= is_accepted(law, distance, near, last + 1, exhausted);
		near[last] = digits[last] + 1;
		*right &= !is_accepted(law, distance, near, last + 1, exhausted);
	}
	return 3;
}

/* On the two steps at the mode, where u must lie below R, and in the tails. */
static void
test_ties(void)
{
	const Case laws[] = {
		{1000, P(0.01) + 1},
		{1000, P(0.2) + 5},
		{100000, P(0.0005)},
		{5000000, P(0.12)},
		{5000000, P(0.9) + 1},
		{DP_BINOMIAL_MAX_TRIALS, P(0x1p-20) + 1},
	};
	bool right = true;
	bool exhausted = true;
	int near = 0;
	int far = 0;

	for (size_t i = 0; i < lengthof(laws); i++)
	{
		DpBinomial law;
		int64 reach;

		dp_binomial_prepare(&law, laws[i].n, laws[i].num);
		reach = (int64) Min(law.width, 150);
		for (int64 d = -reach; d < reach; d++)
			near += d == 0 ? 0 : tie(&law, d, &right, &exhausted);
		if (law.width > 10)
			continue;
		for (int64 d = STEPS * law.width; d < 100 * (int64) law.width; d++)
		{
			far += tie(&law, d, &right, &exhausted);
			if (d < (int64) law.mode)
				far += tie(&law, -1 - d, &right, &exhausted);
		}
	}
	ok(near > 1000 && far > 300 && right,
	   "%d ties near the mode, %d in the tails: the first digit that differs decides", near, far);
	ok(exhausted, "and no more digits are drawn than that takes");
}

int
main(void)
{
	dp_random_system(&rng, NULL);
	test_ratio();
	test_ratio_corners();
	test_heights();
	test_envelope();
	test_forced();
	test_forced_law();
	test_ties();
	return tap_done();
}
