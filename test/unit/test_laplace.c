/*
 * test_laplace.c
 *	  Tails of discrete Laplace noise against their sums, and thresholds against every
 *	  number of items they must hold for.
 */
#include "common/dp_laplace.h"

#include <math.h>

#include "common/dp_sample.h"
#include "tap.h"

/* P(X > bound), term by term. */
static double
summed_tail(int64 scale, int64 bound)
{
	long double total = 0;
	long double tail = 0;

	for (int64 x = -60 * scale; x <= 60 * scale; x++)
	{
		long double term = expl(-(long double) (x < 0 ? -x : x) / scale);

		total += term;
		if (x > bound)
			tail += term;
	}
	return (double) (tail / total);
}

static void
test_tail(void)
{
	const int64 scales[] = {1, 2, 7, 100};
	double worst = 0;
	double p;

	for (int i = 0; i < (int) lengthof(scales); i++)
		for (int64 bound = 0; bound <= 20 * scales[i]; bound += Max(scales[i] / 3, 1))
		{
			if (dp_laplace_tail(scales[i], bound, &p) != DP_OK)
				p = NAN;
			worst = fmax(worst, fabs(p / summed_tail(scales[i], bound) - 1));
		}
	ok(worst < 1e-13, "tails as summed, within %g", worst);
	ok(dp_laplace_tail(0, 1, &p) == DP_ERR_DOMAIN && dp_laplace_tail(1, -1, &p) == DP_ERR_DOMAIN,
	   "arguments out of the domain");
}

/* The chance that any of t items of one user exceeds the threshold. */
static double
shown(int64 scale, int64 threshold, int64 t)
{
	int64 weight = (DP_LATTICE_ONE + t - 1) / t;
	double p = 1;

	if (threshold >= weight)
		(void) dp_laplace_tail(scale, threshold - weight, &p);
	return -expm1(t * log1p(-p));
}

static void
check_threshold(int64 scale, double delta, int64 items)
{
	int64 threshold = 0;
	DpStatus status = dp_laplace_union_threshold(scale, delta, items, &threshold);
	double most = 0;
	double lower = 0;

	for (int64 t = 1; t <= items; t++)
	{
		most = fmax(most, shown(scale, threshold, t));
		lower = fmax(lower, shown(scale, threshold - 1 - threshold / 1000, t));
	}
	ok(status == DP_OK && most <= delta,
	   "scale " INT64_FORMAT ", delta %g, up to " INT64_FORMAT " items: shown with %g", scale,
	   delta, items, most);
	/* beyond delta = 1/2 no novel weight may exceed the threshold before noise, either */
	ok(delta > 0.4 || lower > delta, "and a lower threshold would show too much: %g", lower);
}

static void
test_threshold(void)
{
	const int64 scales[] = {1, 1000, DP_LATTICE_ONE / 10, DP_LATTICE_ONE, 40 * DP_LATTICE_ONE};
	const double deltas[] = {1e-12, 1e-5, 0.01, 0.3, 0.9};
	const int64 items[] = {1, 2, 100, 20000};
	int64 threshold;

	for (int i = 0; i < (int) lengthof(scales); i++)
		for (int j = 0; j < (int) lengthof(deltas); j++)
			for (int k = 0; k < (int) lengthof(items); k++)
				check_threshold(scales[i], deltas[j], items[k]);
	ok(dp_laplace_union_threshold(1, 0, 1, &threshold) == DP_ERR_DOMAIN, "delta 0");
	ok(dp_laplace_union_threshold(1, 1e-300, 1000, &threshold) == DP_ERR_RANGE, "delta too small");
	ok(dp_laplace_union_threshold(1, 0.1, 0, &threshold) == DP_ERR_DOMAIN, "no items");
	ok(dp_laplace_union_threshold(DP_MAX_SIGMA, 1e-200, 100, &threshold) == DP_OK && threshold > 0,
	   "the largest scale");
}

int
main(void)
{
	test_tail();
	test_threshold();
	return tap_done();
}
