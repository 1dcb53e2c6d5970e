/*
 * test_posterior.c
 *	  The log-space mechanism: its global sensitivity against enumeration, and the
 *	  paper's equations against a vocabulary of four words that was computed by hand.
 */
#include "common/dp_posterior.h"

#include <float.h>
#include <math.h>

#include "common/dp_random.h"
#include "common/dp_sample.h"
#include "tap.h"

#define LN_2 0.69314718055994530941723212145817657L

#define NEAR(value, expected) (fabs((value) - (expected)) < 1e-12)

/* ln(1 + i), as far as an enumeration needs it: C = 10 and S = 1e-3 */
#define LOGS 100200
static long double logs[LOGS];

/* All the numbers of users up to here, and beyond only those around C/S. */
#define EVERY_USERS 110

/* The enumeration of what one more user can change, by definition, at one center. */
typedef struct Enumeration
{
	long double slope;
	int max_count;
	long double center;
	long double largest; /* |f(N+1, c+d) - f(N, c)| */
	double computed;	 /* the same between values of dp_log_feature() */
} Enumeration;

static long double
feature(const Enumeration *e, int64 users, int64 count)
{
	long double weight = e->slope * users / e->max_count;

	return (weight < 1 ? weight : 1) * (logs[count] - e->center);
}

static void
enumerate_users(Enumeration *e, int64 users)
{
	for (int64 count = users; count <= users * e->max_count; count++)
	{
		long double before = feature(e, users, count);
		double computed = dp_log_feature(users, count, (double) e->slope, e->max_count,
										 (double) e->center);

		for (int d = 1; d <= e->max_count; d++)
		{
			long double change = fabsl(feature(e, users + 1, count + d) - before);

			if (change < e->largest * (1 - 1e-9L))
				continue;
			e->largest = fmaxl(e->largest, change);
			e->computed = fmax(e->computed,
							   fabs(dp_log_feature(users + 1, count + d, (double) e->slope,
												   e->max_count, (double) e->center) -
									computed));
		}
	}
}

/* Few users, and those at which the weight reaches 1. */
static void
enumerate(Enumeration *e)
{
	int64 bend = (int64) (e->max_count / e->slope);

	e->largest = e->computed = 0;
	for (int64 users = 0; users <= Min(bend + 5, EVERY_USERS); users++)
		enumerate_users(e, users);
	for (int64 users = Max(bend - 3, EVERY_USERS + 1); users <= bend + 4; users++)
		enumerate_users(e, users);
	if (bend > EVERY_USERS)
		enumerate_users(e, bend / 2);
}

/* How A fares against the enumeration at one center. */
typedef struct Verdict
{
	int cases;
	int below;	   /* A is less than what happens */
	int computed;  /* or less than what happens in doubles */
	int above;	   /* A is more than what happens */
	int undefined; /* no A at all */
} Verdict;

static void
judge(Verdict *verdict, double slope, int max_count, double center)
{
	Enumeration e = {slope, max_count, center, 0, 0};
	double a;

	verdict->cases++;
	if (dp_log_sensitivity(slope, max_count, center, &a) != DP_OK)
	{
		verdict->undefined++;
		return;
	}
	enumerate(&e);
	verdict->below += a < e.largest;
	verdict->computed += a < e.computed;
	verdict->above += a > e.largest * (1 + 1e-12L) + 1e-12L;
}

/* A slope with every C, at no center, the best one, and one at random. */
static void
judge_slope(Verdict *verdict, double slope, DpRandom *rng)
{
	for (int max_count = 1; max_count <= 10; max_count++)
	{
		double best;

		if (max_count > 3 && max_count < 10 && slope < 0.009)
			continue; /* many counts and nothing new */
		if (dp_log_best_center(slope, max_count, &best) != DP_OK)
			verdict->undefined++;
		judge(verdict, slope, max_count, 0);
		judge(verdict, slope, max_count, best);
		judge(verdict, slope, max_count, dp_uniform(rng, 12000000) / 1e6 - 2);
	}
}

static void
report(const Verdict *verdict, const char *name)
{
	ok(verdict->cases > 0 && verdict->undefined == 0, "%s: A is defined in all %d cases", name,
	   verdict->cases);
	ok(verdict->below == 0, "%s: no change is larger than A", name);
	ok(verdict->computed == 0, "%s: nor as the feature is computed", name);
	ok(verdict->above == 0, "%s: and A is no larger than the largest change", name);
}

static void
test_sensitivity(void)
{
	const double odd[] = {0.7, 1.0 / 3, 2.5, 0.1, 0.3, 0.011, 0.999, 1.001, 7.5};
	static DpRandom rng;
	Verdict grid = {0};
	Verdict others = {0};
	Verdict bends = {0};

	dp_random_seeded(&rng, 4, 1, 1);
	for (int i = -12; i <= 16; i++)
		judge_slope(&grid, pow(10, i / 4.0), &rng);
	report(&grid, "S from 1e-3 to 1e4");

	for (size_t i = 0; i < lengthof(odd); i++)
		judge_slope(&others, odd[i], &rng);
	report(&others, "odd S");

	/* C/S an integer, the next double above and the next below it */
	for (int max_count = 1; max_count <= 10; max_count++)
	{
		for (int users = 1; users <= 24; users += 1 + users / 8)
		{
			double slope = (double) max_count / users;
			double best = 0;

			(void) dp_log_best_center(slope, max_count, &best);
			judge(&bends, slope, max_count, 0);
			judge(&bends, nextafter(slope, 0), max_count, best);
			judge(&bends, nextafter(slope, 2 * slope), max_count, best);
		}
	}
	report(&bends, "C/S at an integer");
}

/*
 * The center that makes A smallest: no other one of a grid does better, and the next
 * smaller one is worse.  The table of A is to the digits that the grid of steps of 1/40
 * gave when it was made; a grid can only be above the smallest A.
 */
static void
test_center(int max_count, double slope, double at_zero, double at_best, double digit)
{
	double best = NAN;
	double smallest = NAN;
	double left = NAN;
	double a = NAN;
	double on_grid = HUGE_VAL;
	bool found;

	ok(dp_log_sensitivity(slope, max_count, 0, &a) == DP_OK && fabs(a - at_zero) < digit / 2,
	   "C = %d, S = %g: A is %g without a center", max_count, slope, at_zero);
	for (int i = -80; i <= 480; i++)
	{
		(void) dp_log_sensitivity(slope, max_count, i / 40.0, &a);
		on_grid = fmin(on_grid, a);
	}
	ok(fabs(on_grid - at_best) < digit / 2, "C = %d, S = %g: and %g with the grid's best",
	   max_count, slope, at_best);

	found = dp_log_best_center(slope, max_count, &best) == DP_OK &&
			dp_log_sensitivity(slope, max_count, best, &smallest) == DP_OK &&
			dp_log_sensitivity(slope, max_count, best - 0.01, &left) == DP_OK;
	ok(found && smallest <= on_grid + 1e-12 && smallest < left && smallest > 0.99 * on_grid,
	   "C = %d, S = %g: the best center, %.4f, is no worse", max_count, slope, best);
}

/* Where the grid of 1/40 and the exact center part, and where A is level: by mpmath. */
static void
test_best_values(void)
{
	double center;
	double a;

	ok(dp_log_best_center(0.1, 1, &center) == DP_OK && NEAR(center, 1.9744170357986197) &&
		   dp_log_sensitivity(0.1, 1, center, &a) == DP_OK && NEAR(a, 0.1281269855238674),
	   "C = 1, S = .1: .12813 at 1.97442");
	ok(dp_log_best_center(0.01, 1, &center) == DP_OK && NEAR(center, 3.146675225932423) &&
		   dp_log_sensitivity(0.01, 1, center, &a) == DP_OK && NEAR(a, 0.0245352804537247),
	   "C = 1, S = .01: .02454 at 3.14668");
	ok(dp_log_best_center(1, 1, &center) == DP_OK && NEAR(center, log(4.0 / 3)) &&
		   dp_log_sensitivity(1, 1, center, &a) == DP_OK && NEAR(a, log(1.5)),
	   "C = S = 1: ln 3/2, from ln 4/3 on");
	ok(dp_log_sensitivity(1, 1, log(3), &a) == DP_OK && NEAR(a, log(1.5)),
	   "C = S = 1: up to ln 3");
}

static void
test_domain(void)
{
	const double bad[] = {0, -1, NAN, INFINITY, 1e-17};
	const double centers[] = {NAN, INFINITY, -INFINITY};
	bool refused = true;
	double a;

	for (size_t i = 0; i < lengthof(bad); i++)
		refused &= dp_log_sensitivity(bad[i], 1, 0, &a) == DP_ERR_DOMAIN &&
				   dp_log_best_center(bad[i], 1, &a) == DP_ERR_DOMAIN;
	for (size_t i = 0; i < lengthof(centers); i++)
		refused &= dp_log_sensitivity(1, 1, centers[i], &a) == DP_ERR_DOMAIN;
	refused &= dp_log_sensitivity(1, 0, 0, &a) == DP_ERR_DOMAIN &&
			   dp_log_sensitivity(1, PG_INT64_MAX, 0, &a) == DP_ERR_DOMAIN &&
			   dp_log_best_center(1, -1, &a) == DP_ERR_DOMAIN;
	ok(refused, "slopes, maxima and centers out of the domain are refused");
	ok(dp_log_sensitivity(DBL_MAX, 1, 0, &a) == DP_OK && NEAR(a, (double) LN_2),
	   "a slope without bound: ln 2");
	ok(dp_log_sensitivity(1, 1, 1e300, &a) == DP_OK && a >= 1e300 &&
		   dp_log_sensitivity(1, 1, -1e300, &a) == DP_OK && a >= 1e300 &&
		   dp_log_sensitivity(1, 1, DBL_MAX, &a) == DP_ERR_RANGE,
	   "centers towards the end of doubles, and at it");
	ok(dp_log_sensitivity(1e-15, 1, 0, &a) == DP_OK && a > 3e-14 && a < 3e-13 &&
		   dp_log_sensitivity(1e-3, INT64CONST(1) << 40, 0, &a) == DP_OK && a > 0 && a < 1,
	   "a slope near nothing and a large maximum");
}

/*
 * Four words, c + 1 = 1, 2, 4, 8: the logarithms are 0, 1, 2, 3 times ln 2, their mean
 * 3/2 ln 2.  The public counts are the same, turned round.  A user has 0, 1, 2, 4 of
 * them, and without that 1, 1, 2, 4 are left, with the mean 3/4 ln 2.  The words have 0,
 * 1, 2, 4 users; S = 2 and C = 4 give them the weights 0, 1/2, 1, 1.
 */
static void
test_equations(void)
{
	const double private_counts[4] = {0, 1, 3, 7};
	const double public_counts[4] = {7, 3, 1, 0};
	const double without_user[4] = {0, 0, 1, 3};
	const int64 users[4] = {0, 1, 2, 4};
	const double weights[4] = {0, 0.5, 1, 1};
	/* 2^(3/4), 2^(1/8), 1, 1 over their sum 4.772300563172687 */
	const double theta[4] = {0.35240714792476346, 0.22850776438529138, 0.20954254384497256,
							 0.20954254384497256};
	const double ln_2 = (double) LN_2;
	double x[4];
	double mu[4];
	double reduced[4];
	double h[4];
	bool right[5] = {true, true, true, true, true};

	right[0] = NEAR(dp_center_log(public_counts, 4, mu), 1.5 * ln_2);
	right[1] = NEAR(dp_center_log(private_counts, 4, x), 1.5 * ln_2);
	right[2] = NEAR(dp_center_log(without_user, 4, reduced), 0.75 * ln_2);
	for (int i = 0; i < 4; i++)
	{
		const double thrice[4] = {-0.75, -0.75, 0.25, 1.25};

		right[0] &= NEAR(mu[i], (1.5 - i) * ln_2);
		right[1] &= NEAR(x[i], (i - 1.5) * ln_2);
		right[2] &= NEAR(reduced[i], thrice[i] * ln_2);
		right[4] &= NEAR(dp_log_weight(users[i], 2, 4), weights[i]);
		right[4] &= NEAR(dp_log_feature(users[i], (int64) private_counts[i], 2, 4, ln_2),
						 weights[i] * (i - 1) * ln_2);
		/* the mechanism's mean at rho = 1/2: 3/4, 1/8, 0, 0 times ln 2 */
		h[i] = 0.5 * dp_log_weight(users[i], 2, 4) * x[i] + 0.5 * mu[i];
	}
	dp_softmax(h, 4);
	for (int i = 0; i < 4; i++)
		right[3] &= NEAR(h[i], theta[i]);
	for (int i = 0; i < 5; i++)
		ok(right[i], "equation %d on four words", i + 1);
}

static void
test_softmax(void)
{
	static double h[60000];
	static DpRandom rng;
	long double sum = 0;
	bool positive = true;
	double extreme[3] = {1e300, -1e300, 1e300};
	double one[1] = {-1234};
	double in_place[2] = {0, 3};

	dp_random_seeded(&rng, 4, 2, 2);
	for (size_t i = 0; i < lengthof(h); i++)
		h[i] = dp_uniform(&rng, 1 << 24) / 1e4;
	dp_softmax(h, lengthof(h));
	for (size_t i = 0; i < lengthof(h); i++)
	{
		sum += h[i];
		positive &= h[i] >= DBL_MIN;
	}
	ok(positive && fabsl(sum - 1) < 1e-12,
	   "60,000 probabilities from 0 to exp(-1678) are positive and sum to 1");
	dp_softmax(extreme, 3);
	ok(extreme[0] == 0.5 && extreme[1] == DBL_MIN && extreme[2] == 0.5, "logits of 1e300");
	dp_softmax(one, 1);
	ok(one[0] == 1, "a vocabulary of one");
	ok(NEAR(dp_center_log(in_place, 2, in_place), (double) LN_2) &&
		   NEAR(in_place[1], (double) LN_2),
	   "centred in place");
}

int
main(void)
{
	for (int i = 0; i < LOGS; i++)
		logs[i] = log1pl(i);

	test_sensitivity();
	test_center(1, 1, 0.6931, 0.4055, 1e-4);
	test_center(1, 0.1, 0.3256, 0.1282, 1e-4);
	test_center(1, 0.01, 0.0560, 0.0246, 1e-4);
	test_center(1, 0.001, 0.00791, 0.00361, 1e-5);
	test_center(10, 1, 0.9234, 0.6466, 1e-4);
	test_center(10, 0.1, 0.1414, 0.0944, 1e-4);
	test_center(10, 0.01, 0.0169, 0.0099, 1e-4);
	test_best_values();
	test_domain();
	test_equations();
	test_softmax();
	return tap_done();
}
