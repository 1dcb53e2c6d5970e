/*
 * test_select.c
 *	  Permute-and-flip: its draws against its exact law, over gaps and epsilons to the
 *	  end of integers, and the law against what is promised of it.
 */
#include "common/dp_select.h"

#include <math.h>

#include "common/dp_sample.h"
#include "laws.h"
#include "tap.h"

#define MAX_CANDIDATES 6
#define DRAWS 200000

static DpRandom rng;

/* The probability with which a candidate whose turn it is is taken. */
static long double
acceptance(const int64 *cost, int n, int k, long double epsilon, int64 sensitivity)
{
	long double least = cost[0];

	for (int i = 1; i < n; i++)
		least = fminl(least, cost[i]);
	return expl(-epsilon * (cost[k] - least) / sensitivity);
}

/* By definition: all orders of those left, each as likely as the others. */
static void
add_orders(const long double *a, int n, int done, long double weight, double *law)
{
	int left = n - __builtin_popcount(done);

	for (int k = 0; k < n; k++)
	{
		if ((done >> k & 1) != 0)
			continue;
		law[k] += (double) (weight / left * a[k]);
		add_orders(a, n, done | 1 << k, weight / left * (1 - a[k]), law);
	}
}

static void
exact_law(const int64 *cost, int n, long double epsilon, int64 sensitivity, double *law)
{
	long double a[MAX_CANDIDATES];

	for (int k = 0; k < n; k++)
	{
		a[k] = acceptance(cost, n, k, epsilon, sensitivity);
		law[k] = 0;
	}
	add_orders(a, n, 0, 1, law);
}

/* The largest score with exponential noise: uniform on those that exceed the best. */
static void
noisy_max_law(const int64 *cost, int n, long double epsilon, int64 sensitivity, double *law)
{
	for (int k = 0; k < n; k++)
		law[k] = 0;
	for (int set = 1; set < 1 << n; set++)
	{
		long double p = 1.0L / __builtin_popcount(set);

		for (int k = 0; k < n; k++)
		{
			long double a = acceptance(cost, n, k, epsilon, sensitivity);

			p *= (set >> k & 1) != 0 ? a : 1 - a;
		}
		for (int k = 0; k < n; k++)
			law[k] += (set >> k & 1) != 0 ? (double) p : 0;
	}
}

/* Draws against the law; epsilon in 2^-20. */
static void
test_law(const char *name, const int64 *cost, int n, int64 epsilon, int64 sensitivity)
{
	double law[MAX_CANDIDATES];
	uint64 seen[MAX_CANDIDATES] = {0};
	bool drawn = true;
	double p;

	exact_law(cost, n, (long double) epsilon / DP_SELECT_EPSILON_ONE, sensitivity, law);
	for (int i = 0; i < DRAWS; i++)
	{
		int chosen = -1;

		drawn &= dp_select(&rng, cost, n, sensitivity, epsilon, &chosen) == DP_OK;
		drawn &= chosen >= 0 && chosen < n;
		if (!drawn)
			break;
		seen[chosen]++;
	}
	p = drawn ? chi_square_p(seen, law, n) : 0;
	ok(p > ALARM, "%s: %d candidates follow their law (p = %.3g)", name, n, p);
}

static void
test_laws(void)
{
	const int64 one[] = {42};
	const int64 two[] = {5, 3};
	const int64 three[] = {0, 100, 250};
	const int64 four[] = {7, 7, 9, 7};
	const int64 five[] = {-1000, -900, -900, 0, -990};
	const int64 six[] = {60, 10, 20, 10, 40, 30};
	const int64 ends[] = {PG_INT64_MAX, PG_INT64_MIN, 0};
	const int64 far[] = {PG_INT64_MAX, PG_INT64_MIN, PG_INT64_MIN, PG_INT64_MIN + 3};
	const int64 e = DP_SELECT_EPSILON_ONE;

	test_law("alone", one, 1, e, 1);
	test_law("epsilon 1", two, 2, e, 2);
	test_law("epsilon .3", two, 2, 314572, 1);
	test_law("epsilon 2", three, 3, 2 * e, 100);
	test_law("ties", four, 4, e, 3);
	test_law("below zero", five, 5, e / 2, 77);
	test_law("in no order", six, 6, 3 * e / 2, 16);
	test_law("sensitivity 2^40", six, 6, INT64CONST(1) << 56, INT64CONST(1) << 40);
	test_law("costs at the ends of integers", ends, 3, e, PG_INT64_MAX);
	test_law("epsilon and sensitivity at the end", six, 6, PG_INT64_MAX, PG_INT64_MAX);
	test_law("epsilon 2^-20", six, 6, 1, 1);
	test_law("a gap beyond all chances", far, 4, e, 1);
	test_law("and with the largest epsilon", far, 4, PG_INT64_MAX, 1);
}

/* Within sampling error a tiny epsilon can't be told from none. */
static void
test_uniform(void)
{
	const int64 six[] = {60, 10, 20, 10, 40, 30};
	double even[MAX_CANDIDATES];
	uint64 seen[MAX_CANDIDATES] = {0};
	int chosen = 0;

	for (int k = 0; k < 6; k++)
		even[k] = 1.0 / 6;
	for (int i = 0; i < DRAWS; i++)
	{
		(void) dp_select(&rng, six, 6, INT64CONST(1) << 40, 1, &chosen);
		seen[chosen]++;
	}
	ok(chi_square_p(seen, even, 6) > ALARM, "next to no epsilon chooses evenly");
}

/*
 * What the proof says, on laws: both forms agree, monotone neighbours are within
 * epsilon, and others are not, though within 2 epsilon.
 */
static void
test_promise(void)
{
	double apart = 0;
	double monotone = 0;
	double other = 0;

	for (int round = 0; round < 5000; round++)
	{
		int n = 2 + (int) dp_uniform(&rng, MAX_CANDIDATES - 1);
		int64 cost[MAX_CANDIDATES];
		int64 joined[MAX_CANDIDATES];
		int64 moved[MAX_CANDIDATES];
		double laws[4][MAX_CANDIDATES];
		long double epsilon = (1 + dp_uniform(&rng, 40)) / 10.0L;

		for (int k = 0; k < n; k++)
		{
			cost[k] = (int64) dp_uniform(&rng, round % 2 == 0 ? 10 : 60);
			joined[k] = cost[k] + (round % 3 == 0 ? 10 * (int64) dp_uniform(&rng, 2) :
													(int64) dp_uniform(&rng, 11));
			moved[k] = cost[k] + (k == 0 ? -10 : 10);
		}
		exact_law(cost, n, epsilon, 10, laws[0]);
		noisy_max_law(cost, n, epsilon, 10, laws[1]);
		exact_law(joined, n, epsilon, 10, laws[2]);
		exact_law(moved, n, epsilon, 10, laws[3]);
		for (int k = 0; k < n; k++)
		{
			apart = fmax(apart, fabs(laws[1][k] - laws[0][k]));
			monotone = fmax(monotone, fabs(log(laws[2][k] / laws[0][k])) / (double) epsilon);
			other = fmax(other, fabs(log(laws[3][k] / laws[0][k])) / (double) epsilon);
		}
	}
	ok(apart < 1e-14, "permute-and-flip is the largest score with exponential noise");
	ok(monotone <= 1 + 1e-9 && monotone > 0.99, "monotone costs: %.4f of epsilon", monotone);
	ok(other > 1.2 && other <= 2 + 1e-9, "costs that move apart would need %.2f epsilon", other);
}

static void
test_domain(void)
{
	const int64 two[] = {5, 3};
	int chosen = -7;

	ok(dp_select(&rng, two, 0, 1, 1, &chosen) == DP_ERR_DOMAIN &&
		   dp_select(&rng, two, DP_SELECT_MAX_CANDIDATES + 1, 1, 1, &chosen) == DP_ERR_DOMAIN &&
		   dp_select(&rng, two, 2, 0, 1, &chosen) == DP_ERR_DOMAIN &&
		   dp_select(&rng, two, 2, -1, 1, &chosen) == DP_ERR_DOMAIN &&
		   dp_select(&rng, two, 2, 1, 0, &chosen) == DP_ERR_DOMAIN && chosen == -7,
	   "no candidates, too many, no sensitivity, no epsilon: refused");
}

int
main(void)
{
	dp_random_seeded(&rng, 4, 5, 6);
	test_laws();
	test_uniform();
	test_promise();
	test_domain();
	return tap_done();
}
