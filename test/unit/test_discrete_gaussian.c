/*
 * test_discrete_gaussian.c
 *	  The discrete Gaussian sampler against its exact law, over all sizes of
 *	  sigma; and a sampler 1 % off, which the same test must reject.
 */
#include "common/dp_sample.h"

#include "laws.h"
#include "tap.h"

/* Enough that a sigma 1 % off fails by eight standard deviations. */
#define DRAWS (1 << 21)

/* The p-value of draws at sigma = num/den against the law of sigma = law_num/law_den. */
static double
judge(DpRandom *rng, int64 num, int64 den, int64 law_num, int64 law_den)
{
	static Law law;

	law_gaussian(&law, (long double) law_num / law_den, PG_INT64_MIN);
	for (int i = 0; i < DRAWS; i++)
	{
		if (den == 1)
			law_count(&law, dp_discrete_gaussian(rng, num));
		else
			law_count(&law, dp_discrete_gaussian_ratio(rng, num, den));
	}
	return law_p_value(&law);
}

static void
test_sigma(int64 num, int64 den)
{
	static DpRandom rng;
	double p;

	dp_random_system(&rng, NULL);
	p = judge(&rng, num, den, num, den);
	ok(p > ALARM, "sigma " INT64_FORMAT "/" INT64_FORMAT ", system generator: p = %g", num, den, p);
	p = judge(&rng, 101 * num, 100 * den, num, den);
	ok(p < ALARM, "sigma " INT64_FORMAT "/" INT64_FORMAT " and 1%%: rejected, p = %g", num, den, p);
	p = judge(&rng, 99 * num, 100 * den, num, den);
	ok(p < ALARM,
	   "sigma " INT64_FORMAT "/" INT64_FORMAT " less 1%%: rejected, p = %g", num, den, p);
	dp_random_clear(&rng);

	dp_random_seeded(&rng, 1, (uint64) num, (uint64) den);
	p = judge(&rng, num, den, num, den);
	ok(p > ALARM, "sigma " INT64_FORMAT "/" INT64_FORMAT ", seeded generator: p = %g", num, den, p);
}

int
main(void)
{
	test_sigma(1, 2);
	test_sigma(1, 1);
	test_sigma(2, 1);
	test_sigma(10, 1);
	test_sigma(INT64CONST(1) << 10, 1);
	test_sigma(INT64CONST(1) << 20, 1);
	test_sigma((INT64CONST(1) << 24) + 1, 1);
	test_sigma(INT64CONST(1) << 24, 1);
	/* 2 sigma^2 beyond 64 bits, and the largest allowed less a hundredth */
	test_sigma(INT64CONST(1) << 40, 1);
	test_sigma(DP_MAX_SIGMA / 128, 1);
	return tap_done();
}
