/*
 * test_sample.c
 *	  The samplers against their exact laws by chi-square, and the places that
 *	  chance never reaches by random words made for them.
 */
#include "common/dp_sample.h"

#include <float.h>
#include <math.h>

#include "laws.h"
#include "tap.h"

#define DRAWS (1 << 20)

static DpRandom rng;

/* A generator that serves these words and then fails the test. */
static void
serve(DpRandom *made, const uint64 *words, int n)
{
	memset(made, 0, sizeof(*made));
	made->left = sizeof(uint64) * n;
	memcpy(made->buffer + DP_RANDOM_BUFFER - made->left, words, made->left);
}

/* p-value of "successes" in DRAWS trials of probability p. */
static double
trials_p(uint64 successes, double p)
{
	uint64 seen[2] = {successes, DRAWS - successes};
	double expected[2] = {p, 1 - p};

	return chi_square_p(seen, expected, 2);
}

/* n = 2^62 * 3: without redrawing, every third result would be twice as likely. */
static void
test_uniform(void)
{
	const uint64 sizes[] = {1, 2, 6, 97, 1000003, UINT64CONST(3) << 62, PG_UINT64_MAX};
	double p;

	for (size_t i = 0; i < lengthof(sizes); i++)
	{
		int cells = (int) Min(sizes[i], 97);
		uint64 seen[97] = {0};
		uint64 rest[3] = {0};
		double even[97];
		bool inside = true;

		for (int j = 0; j < cells; j++)
			even[j] = 1.0 / cells;
		for (int j = 0; j < DRAWS; j++)
		{
			uint64 u = dp_uniform(&rng, sizes[i]);

			inside &= u < sizes[i];
			seen[(dp_uint128) u * cells / sizes[i]]++;
			rest[u % 3]++;
		}
		p = chi_square_p(seen, even, cells);
		ok(inside && p > ALARM, "uniform below " UINT64_FORMAT ": p = %g", sizes[i], p);
		if (sizes[i] % 3 == 0)
		{
			for (int j = 0; j < 3; j++)
				even[j] = 1.0 / 3;
			p = chi_square_p(rest, even, 3);
			ok(p > ALARM, "uniform below " UINT64_FORMAT ", modulo 3: p = %g", sizes[i], p);
		}
	}
}

static void
test_uniform_128(void)
{
	const dp_uint128 sizes[] = {5, ((dp_uint128) 1 << 64) - 1, (dp_uint128) 1 << 64,
								((dp_uint128) 1 << 64) + 1, (dp_uint128) 3 << 99,
								((dp_uint128) 1 << 127) - 1};

	for (size_t i = 0; i < lengthof(sizes); i++)
	{
		uint64 seen[5] = {0};
		uint64 low[8] = {0};
		double even[8];
		bool inside = true;
		double p;

		for (int j = 0; j < DRAWS; j++)
		{
			dp_uint128 u = dp_uniform_128(&rng, sizes[i]);

			inside &= u < sizes[i];
			seen[sizes[i] == 5 ? (int) u : (int) ((u >> 3) / (sizes[i] / 40 + 1))]++;
			low[u & 7]++;
		}
		for (int j = 0; j < 5; j++)
			even[j] = 0.2;
		p = chi_square_p(seen, even, 5);
		ok(inside && p > ALARM, "uniform, 128 bits, size %d: p = %g", (int) i, p);
		if (i == 0)
			continue;
		for (int j = 0; j < 8; j++)
			even[j] = 0.125;
		p = chi_square_p(low, even, 8);
		ok(p > ALARM, "its low bits: p = %g", p);
	}
}

/* Around the word that decides: r * den < num * 2^64, and ties go on. */
static void
test_bernoulli_edges(void)
{
	static DpRandom made;
	const uint64 third = UINT64CONST(0x5555555555555555);
	bool exact = true;
	bool wide_exact = true;

	for (int i = 0; i < 200000; i++)
	{
		uint64 den = (dp_random_u64(&rng) >> (i % 63)) | 2;
		uint64 num = 1 + dp_uniform(&rng, den - 1);
		uint64 r = (uint64) (((dp_uint128) num << 64) / den);
		int shift = 62 + i % 63; /* up to 126 bits */
		const uint64 words[] = {0, r / 2, r - (r > 0), r, r + (r < PG_UINT64_MAX), PG_UINT64_MAX};

		/* words below the quotient decide for true, above it for false */
		for (size_t j = 0; j < lengthof(words); j++)
		{
			if (words[j] == r)
				continue;
			serve(&made, &words[j], 1);
			exact &= dp_bernoulli(&made, num, den) == (words[j] < r) && made.left == 0;
			serve(&made, &words[j], 1);
			wide_exact &= dp_bernoulli(&made, (dp_uint128) num << shift,
									   (dp_uint128) den << shift) == (words[j] < r) &&
						  made.left == 0;
		}
	}
	ok(exact, "Bernoulli: exact on both sides of its quotient");
	ok(wide_exact, "Bernoulli: the same in 128 bits");

	/* 2^64 / 3 lies a third above "third": a tie asks the same question again */
	for (int shift = 0; shift <= 70; shift += 70)
	{
		const uint64 yes[] = {third, third, third - 1};
		const uint64 no[] = {third, third, third + 1};
		bool right;

		serve(&made, yes, 3);
		right = dp_bernoulli(&made, (dp_uint128) 1 << shift, (dp_uint128) 3 << shift);
		right &= made.left == 0;
		serve(&made, no, 3);
		right &= !dp_bernoulli(&made, (dp_uint128) 1 << shift, (dp_uint128) 3 << shift);
		right &= made.left == 0;
		ok(right, "Bernoulli: ties draw more digits (shift %d)", shift);
	}
}

static void
test_bernoulli(void)
{
	const struct
	{
		uint64 num;
		uint64 den;
		int shift;
	} cases[] = {{1, 3, 0}, {999, 1000, 0}, {7, 1000, 0}, {1, 2, 62}, {1, 3, 70}, {77, 78, 110}};

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		uint64 successes = 0;
		double p;

		for (int j = 0; j < DRAWS; j++)
			successes += dp_bernoulli(&rng, (dp_uint128) cases[i].num << cases[i].shift,
									  (dp_uint128) cases[i].den << cases[i].shift);
		p = trials_p(successes, (double) cases[i].num / cases[i].den);
		ok(p > ALARM, "Bernoulli " UINT64_FORMAT "/" UINT64_FORMAT " << %d: p = %g",
		   cases[i].num, cases[i].den, cases[i].shift, p);
	}
}

/* exp(-1) from one word, and by digits of the factorial base where that ties. */
static void
test_exp_one_edges(void)
{
	static DpRandom made;
	const uint64 quotient = UINT64CONST(895014631192902120); /* floor(20!/e) */
	const uint64 copies = UINT64CONST(7) * UINT64CONST(2432902008176640000);
	/* words that dp_uniform(n) takes for 0 and for n - 1 */
	const uint64 lowest = 1;
	const uint64 highest = PG_UINT64_MAX;
	const struct
	{
		uint64 words[5];
		int n;
		bool result;
		const char *name;
	} cases[] = {
		{{7 * quotient - 1}, 1, true, "just below"},
		{{7 * quotient + 7}, 1, false, "just above"},
		{{copies, copies - 1}, 2, false, "a word beyond seven copies is redrawn"},
		{{7 * quotient, lowest}, 2, true, "tie, digit 21 below"},
		{{7 * quotient + 6, highest, highest}, 3, false, "tie, digit 22 above"},
		{{7 * quotient + 3, highest, lowest, lowest}, 4, true, "tie, digit 23 below"},
		{{7 * quotient + 3, highest, lowest, highest, highest}, 5, false, "tie, digit 24 above"},
	};

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		/* exp(-3/2) = exp(-1) exp(-1/2); a word 2^64-1 says no to 1/2, so k = 1 is odd */
		uint64 words[6];
		int n = cases[i].n;
		bool result;

		memcpy(words, cases[i].words, sizeof(cases[i].words));
		if (cases[i].result)
			words[n++] = PG_UINT64_MAX;
		serve(&made, words, n);
		result = dp_bernoulli_exp(&made, 3, 2);
		ok(result == cases[i].result && made.left == 0, "exp(-1): %s", cases[i].name);
	}
}

static void
test_bernoulli_exp(void)
{
	const struct
	{
		uint64 num;
		uint64 den;
		int shift;
	} cases[] = {
		{0, 1, 0},
		{1, 1000, 0},
		{1, 2, 0},
		{1, 1, 0},
		{2, 1, 0},
		{3, 2, 0},
		{13, 3, 0},
		{2, 3, 57},
		{1, 1, 60},
		{2, 3, 100},
		{7, 3, 100},
		{13, 3, 110},
	};

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		uint64 successes = 0;
		double p;

		for (int j = 0; j < DRAWS; j++)
			successes += dp_bernoulli_exp(&rng, (dp_uint128) cases[i].num << cases[i].shift,
										  (dp_uint128) cases[i].den << cases[i].shift);
		p = trials_p(successes, exp(-(double) cases[i].num / cases[i].den));
		ok(p > ALARM, "exp(-" UINT64_FORMAT "/" UINT64_FORMAT ") << %d: p = %g",
		   cases[i].num, cases[i].den, cases[i].shift, p);
	}
	ok(!dp_bernoulli_exp(&rng, ~(dp_uint128) 0, 1), "exp(-2^128) ends, with false");
}

static void
test_rate(void)
{
	const double bad[] = {0, 1, -0.1, 1.1, NAN, INFINITY};
	DpRate rate;
	long double worst = 0;
	bool in_range = true;

	for (int i = 1; i < 380; i++)
	{
		double p = i < 60 ? 1 - ldexp(1, -Min(i, 53)) : 0.97 * exp2((60 - i) / 3.0);
		long double lambda = -log1pl(-(long double) p);

		if (dp_rate_from_probability(p, &rate) != DP_OK)
			in_range = false;
		in_range &= rate.num > 0 && rate.den >= (dp_uint128) 1 << 61 &&
					rate.den <= (dp_uint128) 1 << 120;
		in_range &= (rate.num & (rate.num - 1)) == 0;
		worst = Max(worst, fabsl((long double) rate.num / rate.den / lambda - 1));
	}
	for (int i = 1; i < 1000; i++)
	{
		double q = 0.99 * exp2(-i);

		in_range &= dp_rate_from_failure(q, &rate) == DP_OK &&
					rate.den >= (dp_uint128) 1 << 61;
		worst = Max(worst, fabsl((long double) rate.num / rate.den / -logl(q) - 1));
	}
	ok(in_range, "rates are a power of two over 61 bits or more");
	ok(worst < 0x1p-59L || (LDBL_MANT_DIG < 64 && worst < 0x1p-50L),
	   "rates are right to %g", (double) worst);
	for (size_t i = 0; i < lengthof(bad); i++)
		ok(dp_rate_from_probability(bad[i], &rate) == DP_ERR_DOMAIN &&
			   dp_rate_from_failure(bad[i], &rate) == DP_ERR_DOMAIN,
		   "the rate of p = %g is refused", bad[i]);
	ok(dp_rate_from_probability(1e-37, &rate) == DP_ERR_RANGE,
	   "the rate of p = 1e-37 is out of range");
}

/* P(failures > x) = exp(-(x + 1) lambda). */
static long double
geometric_tail(int64 x, const void *context)
{
	return expl(-((long double) x + 1) * *(const long double *) context);
}

static void
judge_geometric(DpRate rate, const char *name)
{
	static Law law;
	long double lambda = (long double) rate.num / rate.den;
	double p;

	law_from_tail(&law, 120, -1, Max(1, (int64) (0.05L / lambda)), geometric_tail, &lambda);
	for (int i = 0; i < DRAWS; i++)
	{
		uint64 failures = dp_geometric(&rng, rate);

		law_count(&law, (int64) Min(failures, (uint64) PG_INT64_MAX));
	}
	p = law_p_value(&law);
	ok(p > ALARM, "geometric, %s: p = %g", name, p);
}

static void
test_geometric(void)
{
	const double ps[] = {0.9, 0.5, 0.1, 1e-3, 1e-9, 0x1p-60};
	const DpRate rates[] = {
		{3, 2},
		{1, 7},
		{(dp_uint128) 3 << 97, (dp_uint128) 1 << 100},
		{5 << 20, INT64CONST(1) << 40},
		{(dp_uint128) 3 << 50, (dp_uint128) 1 << 100},
	};
	DpRate rate;
	bool saturated = true;
	char name[64];

	for (size_t i = 0; i < lengthof(ps); i++)
	{
		(void) dp_rate_from_probability(ps[i], &rate);
		snprintf(name, sizeof(name), "p = %g", ps[i]);
		judge_geometric(rate, name);
	}
	for (size_t i = 0; i < lengthof(rates); i++)
	{
		snprintf(name, sizeof(name), "rate %d", (int) i);
		judge_geometric(rates[i], name);
	}
	(void) dp_rate_from_probability(1e-30, &rate);
	for (int i = 0; i < 1000; i++)
		saturated &= dp_geometric(&rng, rate) == PG_UINT64_MAX;
	ok(saturated, "geometric saturates");
}

static void
test_binomial(void)
{
	const struct
	{
		uint64 n;
		double p;
		int draws;
	} cases[] = {
		{1, 0.5, DRAWS},
		{10, 0.3, DRAWS},
		{20, 0.95, DRAWS},
		{1000, 0.01, DRAWS},
		{UINT64CONST(1) << 40, 5 * 0x1p-40, DRAWS},
		{UINT64CONST(1) << 62, 11 * 0x1p-62, DRAWS},
	};
	DpRate rate;

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		double n = (double) cases[i].n;
		double q = cases[i].p;
		uint64 seen[64] = {0};
		double expected[64] = {0};
		int cells = (int) Min(cases[i].n + 1, 64);
		bool inside = true;
		double p;

		(void) dp_rate_from_probability(q, &rate);
		for (int k = 0; k < cells; k++)
		{
			/* ln of n! / (n-k)!, k factors, then p^k q^(n-k) / k! */
			double falling = 0;

			for (int j = 0; j < k; j++)
				falling += log(n - j);
			expected[k] = exp(falling - lgamma(k + 1) + k * log(q) + (n - k) * log1p(-q));
		}
		for (int j = 0; j < cases[i].draws; j++)
		{
			uint64 k = dp_binomial(&rng, cases[i].n, rate);

			inside &= k < 64;
			seen[Min(k, 63)]++;
		}
		p = chi_square_p(seen, expected, cells);
		ok(inside && p > ALARM, "binomial of " UINT64_FORMAT ", %g: p = %g", cases[i].n, q, p);
	}
	ok(dp_binomial(&rng, 0, rate) == 0, "binomial of no trials");
}

/* The discrete Laplace's P(X > x); context is the scale. */
static long double
laplace_tail(int64 x, const void *context)
{
	long double rate = 1 / *(const long double *) context;

	if (x < 0)
		return 1 - laplace_tail(-x - 1, context);
	return expl(-(x + 1) * rate) / (1 + expl(-rate));
}

static void
test_laplace(void)
{
	const int64 scales[] = {1, 2, 7, 1000, 1 << 20, (INT64CONST(1) << 45) + 1};
	static Law law;

	for (size_t i = 0; i < lengthof(scales); i++)
	{
		long double scale = scales[i];
		int64 step = Max(1, scales[i] / 8);
		double p;

		/* from below -17 scales, or -64 in the smallest */
		law_from_tail(&law, LAW_CELLS, -Max(64, 64 * step) - 1, step, laplace_tail, &scale);
		law.p[0] += (double) (1 - laplace_tail(law.above[0], &scale));
		law.above[0] = PG_INT64_MIN;
		for (int j = 0; j < DRAWS; j++)
			law_count(&law, dp_discrete_laplace(&rng, scales[i]));
		p = law_p_value(&law);
		ok(p > ALARM, "discrete Laplace of scale " INT64_FORMAT ": p = %g", scales[i], p);
	}
}

static void
test_above(void)
{
	const int64 sigmas[] = {1, 2, 10, 1 << 20, (1 << 24) + 1, INT64CONST(1) << 42};
	const double multiples[] = {-20, -2, 0, 0.99, 1, 3, 6, 12};
	static Law law;

	for (size_t i = 0; i < lengthof(sigmas); i++)
	{
		for (size_t j = 0; j < lengthof(multiples); j++)
		{
			int64 bound = (int64) floor(multiples[j] * sigmas[i]);
			double p;

			/* nothing to see: 1 above 12 is 13 */
			if (sigmas[i] == 1 && multiples[j] > 6)
				continue;
			law_gaussian(&law, sigmas[i], bound);
			for (int k = 0; k < DRAWS / 2; k++)
				law_count(&law, dp_discrete_gaussian_above(&rng, sigmas[i], bound));
			p = law_p_value(&law);
			ok(p > ALARM,
			   "sigma " INT64_FORMAT " above " INT64_FORMAT ": p = %g", sigmas[i], bound, p);
		}
	}

	/* and the test notices a sigma 2 % off, or a bound that is passed over */
	law_gaussian(&law, 1 << 20, 3 << 20);
	for (int k = 0; k < DRAWS; k++)
		law_count(&law, dp_discrete_gaussian_above(&rng, (1 << 20) + (1 << 20) / 50, 3 << 20));
	ok(law_p_value(&law) < ALARM, "a sigma 2%% off is rejected");
	law_gaussian(&law, 10, 30);
	for (int k = 0; k < DRAWS; k++)
		law_count(&law, dp_discrete_gaussian_above(&rng, 10, 29));
	ok(law_p_value(&law) < ALARM, "a bound one off is rejected");
}

int
main(void)
{
	dp_random_system(&rng, NULL);
	test_uniform();
	test_uniform_128();
	test_bernoulli_edges();
	test_bernoulli();
	test_exp_one_edges();
	test_bernoulli_exp();
	test_rate();
	test_geometric();
	test_binomial();
	test_laplace();
	test_above();
	return tap_done();
}
