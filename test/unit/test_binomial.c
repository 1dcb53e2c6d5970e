/*
 * test_binomial.c
 *	  The binomial sampler against its exact law, and its speed.
 */
#include "common/dp_binomial.h"

#include <math.h>
#include <time.h>

#include "laws.h"
#include "tap.h"

/* |z| of a normal variable beyond this has probability 1e-6. */
#define ALARM_Z 4.9

#define P(p) ((uint64) ((p) *0x1p62))

static DpRandom rng;

typedef struct Case
{
	uint64 n;
	uint64 num;
} Case;

/* Both regimes, their seams, both tables of heights, steps of one and of many, any p. */
static const Case cases[] = {
	{1, P(0.3)},
	{5, P(0.5)},
	{20, P(0.97)},
	{64, P(0.12)},
	{65, DP_DYADIC_ONE / 3},
	{100, P(0.5)},
	{256, P(0.25)},
	{257, P(0.25)},
	{257, P(0.003)},
	{300, P(0.99)},
	{2000, P(0.0005)},
	{1000, P(0.00101)},
	{1000, P(0.0155)},
	{1000, P(0.0163)},
	{1000, P(0.12)},
	{1000, P(0.5)},
	{5000, P(0.025)},
	{3000, P(0.93)},
	{100000, P(0.0012)},
	{100000, P(0.0014)},
	{100000, P(0.02)},
	{1000000, P(0.7)},
	{5000000, P(0.12)},
	{7600000, P(0.5)},
	{UINT64CONST(1) << 32, 1},
	{UINT64CONST(1) << 32, UINT64CONST(3) << 30},
	{UINT64CONST(1) << 32, UINT64CONST(300) << 30},
	{UINT64CONST(1) << 32, P(0.37)},
};

static long double
success(const Case *c)
{
	return c->num * 0x1p-62L;
}

static long double
failure(const Case *c)
{
	return (DP_DYADIC_ONE - c->num) * 0x1p-62L;
}

static double
deviation(const Case *c)
{
	return sqrt((double) (c->n * success(c) * failure(c)));
}

static void
test_laws(void)
{
	static Law law;
	Case other;

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		const Case *c = &cases[i];
		DpBinomial prepared;
		double p;

		law_binomial(&law, c->n, c->num);
		dp_binomial_prepare(&prepared, c->n, c->num);
		for (int j = 0; j < 1 << 17; j++)
		{
			law_count(&law, (int64) dp_binomial_draw(&rng, &prepared));
			law_count(&law, (int64) dp_binomial_dyadic(&rng, c->n, c->num));
		}
		p = law_p_value(&law);
		ok(p > ALARM, "binomial of " UINT64_FORMAT ", %g: p = %g", c->n, (double) success(c), p);
	}

	/* and it notices a mean that is 3 % of a standard deviation off */
	other.n = 5000000;
	other.num = P(0.12 + 0.03 * 0.000145);
	law_binomial(&law, other.n, other.num);
	for (int j = 0; j < 1 << 18; j++)
		law_count(&law, (int64) dp_binomial_dyadic(&rng, other.n, P(0.12)));
	ok(law_p_value(&law) < ALARM, "a mean 3%% of a standard deviation off is rejected");
}

static void
test_edges(void)
{
	const uint64 ns[] = {0, 1, 63, 256, 257, 100000, DP_BINOMIAL_MAX_TRIALS};
	bool none = true;
	bool all = true;
	bool hardly = true;
	bool empty = true;

	for (size_t i = 0; i < lengthof(ns); i++)
	{
		for (int j = 0; j < 200; j++)
		{
			none &= dp_binomial_dyadic(&rng, ns[i], 0) == 0;
			all &= dp_binomial_dyadic(&rng, ns[i], DP_DYADIC_ONE) == ns[i];
			hardly &= dp_binomial_dyadic(&rng, ns[i], 1) == 0;
			hardly &= dp_binomial_dyadic(&rng, ns[i], DP_DYADIC_ONE - 1) == ns[i];
		}
	}
	for (int i = 0; i <= 62; i++)
		empty &= dp_binomial_dyadic(&rng, 0, UINT64CONST(1) << i) == 0;
	ok(none, "probability 0: no success");
	ok(all, "probability 1: no failure");
	ok(hardly, "probabilities 2^-62 and 1 - 2^-62");
	ok(empty, "no trials: no success");
}

/* The mean and variance of many draws, as normal variables. */
static void
test_moments(void)
{
	const double ps[] = {1e-6, 0.0004, 0.12, 0.5, 0.8808};
	const int draws = 200000;

	for (size_t i = 0; i < lengthof(ps); i++)
	{
		Case c = {7600000, P(ps[i])};
		double v = deviation(&c) * deviation(&c);
		double mean = (double) (c.n * success(&c));
		double sum = 0;
		double squares = 0;
		double z;
		double z_variance;

		for (int j = 0; j < draws; j++)
		{
			double x = (double) dp_binomial_dyadic(&rng, c.n, c.num) - mean;

			sum += x;
			squares += x * x;
		}
		z = sum / sqrt(draws * v);
		/* the variance of (X - mean)^2 is 2 v^2 + v (1 - 6 p q) */
		z_variance = (squares - draws * v) /
					 sqrt(draws * (2 * v * v + v * (1 - 6 * ps[i] * (1 - ps[i]))));
		ok(fabs(z) < ALARM_Z, "mean at p = %g: z = %.2f", ps[i], z);
		ok(fabs(z_variance) < ALARM_Z, "variance at p = %g: z = %.2f", ps[i], z_variance);
	}
}

static void
test_seeded(void)
{
	static DpRandom one;
	static DpRandom two;
	bool same = true;
	bool mirrored = true;
	uint64 differs = 0;

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		const Case *c = &cases[i];
		DpBinomial law;

		dp_binomial_prepare(&law, c->n, c->num);
		for (int j = 0; j < 200; j++)
		{
			uint64 k;

			dp_random_seeded(&one, 1, i, j);
			dp_random_seeded(&two, 1, i, j);
			k = dp_binomial_draw(&one, &law);
			same &= k == dp_binomial_dyadic(&two, c->n, c->num);
			dp_random_seeded(&two, 1, i, j);
			if (c->num != DP_DYADIC_ONE / 2)
				mirrored &= k == c->n - dp_binomial_dyadic(&two, c->n, DP_DYADIC_ONE - c->num);
			dp_random_seeded(&two, 2, i, j);
			differs += k != dp_binomial_draw(&two, &law);
		}
	}
	ok(same, "one seed, one outcome, prepared or not");
	ok(mirrored, "failures are successes of 1 - p");
	ok(differs > 1000, "another seed, another outcome");
}

static double
nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e9 * now.tv_sec + now.tv_nsec;
}

/* Speeds, as comments only. */
static void
report_speed(void)
{
	const int draws = 50000;

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		const Case *c = &cases[i];
		DpBinomial law;
		uint64 sum = 0;
		double start = nanoseconds();
		double middle;
		double end;

		dp_binomial_prepare(&law, c->n, c->num);
		for (int j = 0; j < draws; j++)
			sum += dp_binomial_draw(&rng, &law);
		middle = nanoseconds();
		for (int j = 0; j < draws; j++)
			sum += dp_binomial_dyadic(&rng, c->n, c->num);
		end = nanoseconds();
		printf("# binomial of " UINT64_FORMAT ", %g: %.0f ns a draw, %.0f unprepared (mean %.6g)\n",
			   c->n, (double) success(c), (middle - start) / draws, (end - middle) / draws,
			   (double) sum / (2 * draws));
	}
}

int
main(void)
{
	dp_random_system(&rng, NULL);
	test_edges();
	test_laws();
	test_moments();
	test_seeded();
	report_speed();
	return tap_done();
}
