/*
 * test_clopper.c
 *	  Bounds on a rate against published and 40-digit values and their own definition;
 *	  the audit's epsilon against values, its promise, and what it should find.
 */
#include "common/dp_clopper.h"

#include <math.h>

#include "common/dp_normal.h"
#include "tap.h"

/* A bound may be outside of the exact one by that much of its distance to 0 or 1. */
#define OUTSIDE 1.5e-6

typedef struct Known
{
	int64 hits;
	int64 trials;
	double alpha;
	double low;
	double high;
} Known;

/*
 * The first is the example of R's binom.test() (Conover 1971: .7076683 .7654066), all
 * were computed with mpmath at 40 digits: bisection of the incomplete beta function's
 * continued fraction.
 */
static const Known known[] = {
	{682, 925, .05, 0.70766826407903902, 0.76540655824152525},
	{7, 20, .05, 0.15390920478454116, 0.59218853453282812},
	{1, 1, .05, 0.025, 1},
	{0, 10, .05, 0, 0.30849710781876082},
	{10, 10, .05, 0.69150289218123918, 1},
	{1, 10, .01, 0.00050112857546463387, 0.54428705689968685},
	{5000, 10000, .05, 0.49015138058998049, 0.50984861941001951},
	{90000, 100000, 1e-6, 0.89528919817325233, 0.90458032494221868},
	{3, 1000000, 1e-6, 1.4474776195538319e-8, 2.2148209272453435e-5},
	{500000, 1000000, 1e-8, 0.49713415981870114, 0.50286584018129886},
	{999999, 1000000, .001, 0.99999000136748969, 0.99999999949987496},
	{123, 200000, .025, 0.00049749314490383084, 0.00075139147517100328},
};

static void
test_known(void)
{
	for (size_t i = 0; i < lengthof(known); i++)
	{
		const Known *k = &known[i];
		double low = NAN;
		double high = NAN;
		DpStatus status = dp_clopper_pearson((DpTrials){k->hits, k->trials}, k->alpha, &low, &high);

		ok(status == DP_OK && low <= k->low * (1 + 1e-15) && low >= k->low * (1 - OUTSIDE) &&
			   high >= k->high * (1 - 1e-15) && 1 - high >= (1 - k->high) * (1 - OUTSIDE) - 1e-16,
		   INT64_FORMAT " of " INT64_FORMAT " at %g: %.9g to %.9g", k->hits, k->trials, k->alpha,
		   low, high);
	}
}

static long double
binomial(int hits, int trials, long double rate)
{
	if (rate <= 0 || rate >= 1)
		return hits == (rate <= 0 ? 0 : trials);
	return expl(lgammal(trials + 1) - lgammal(hits + 1) - lgammal(trials - hits + 1) +
				hits * logl(rate) + (trials - hits) * log1pl(-rate));
}

/* P(first <= X <= last), term by term. */
static double
binomial_sum(int first, int last, int trials, double rate)
{
	long double sum = 0;

	for (int hits = first; hits <= last; hits++)
		sum += binomial(hits, trials, rate);
	return (double) sum;
}

/* At a bound the tail is alpha/2, and not more. */
static void
test_definition(void)
{
	const double alphas[] = {0.3, 0.05, 1e-3, 1e-8};
	double most = 0;
	double least = 1;

	for (size_t i = 0; i < lengthof(alphas); i++)
	{
		double half = alphas[i] / 2;

		for (int trials = 1; trials <= 60; trials++)
		{
			for (int hits = 0; hits <= trials; hits++)
			{
				double low = NAN;
				double high = NAN;
				double tail;

				(void) dp_clopper_pearson((DpTrials){hits, trials}, alphas[i], &low, &high);
				tail = hits == 0 ? half : binomial_sum(hits, trials, trials, low);
				most = fmax(most, tail / half);
				least = fmin(least, tail / half);
				tail = hits == trials ? half : binomial_sum(0, hits, trials, high);
				most = fmax(most, tail / half);
				least = fmin(least, tail / half);
			}
		}
	}
	ok(most < 1 + 1e-12, "no bound has a tail above alpha/2 (%.9g)", most);
	ok(least > 1 - 1e-5, "none has one much below (%.9g)", least);
}

static double
audit(int64 with, int64 without, int64 trials, double delta, double alpha)
{
	double epsilon = NAN;

	if (dp_audit_epsilon((DpTrials){with, trials}, (DpTrials){without, trials}, delta, alpha,
						 &epsilon) != DP_OK)
		return NAN;
	return epsilon;
}

/* By mpmath from its own bounds: each of the four inequalities is once the one that counts. */
static void
test_audit_values(void)
{
	const double values[4] = {1.68733683094926, 1.67221514292735, 4.50340037889263,
							  2.21704719603109};

	ok(fabs(audit(700, 100, 1000, 0, .05) - values[0]) < 1e-5, "the event where the user is");
	ok(fabs(audit(700, 100, 1000, .01, .05) - values[1]) < 1e-5, "the same with a delta");
	ok(fabs(audit(3, 900, 1000, 0, .05) - values[2]) < 1e-5, "the event where the user is not");
	ok(fabs(audit(300, 900, 1000, 0, .05) - values[0]) < 1e-5, "the contrary where the user is");
	ok(fabs(audit(997, 100, 1000, 0, .05) - values[2]) < 1e-5,
	   "the contrary where the user is not");
	ok(audit(500, 500, 1000, 0, .05) == 0 && audit(510, 500, 1000, 0, .05) == 0,
	   "what chance may do proves nothing");
	ok(audit(0, 0, 1000, 0, .05) == 0 && audit(1000, 1000, 1000, 0, .05) == 0,
	   "an event that never or always shows proves nothing");
	ok(audit(1000, 0, 1000, 0, .05) > 5.4 && audit(1000, 0, 1000, 0.9999, .05) == 0,
	   "one that tells the worlds apart proves what the trials allow, or delta explains it");
	ok(audit(1, 0, 1, 0, .05) == 0, "one trial proves nothing");
}

/* The least epsilon that the rates allow. */
static double
true_epsilon(double p, double q, double delta)
{
	double ratio = fmax(fmax((p - delta) / q, (q - delta) / p),
						fmax((1 - p - delta) / (1 - q), (1 - q - delta) / (1 - p)));

	return ratio > 1 ? log(ratio) : 0;
}

#define TRIALS 24

/* By enumeration: the probability of an epsilon above the true one is at most alpha. */
static void
test_audit_promise(void)
{
	static double epsilons[TRIALS + 1][TRIALS + 1];
	const double alpha = 0.1;
	const double deltas[] = {0, 0.05};
	double worst = 0;

	for (size_t d = 0; d < lengthof(deltas); d++)
	{
		for (int with = 0; with <= TRIALS; with++)
			for (int without = 0; without <= TRIALS; without++)
				epsilons[with][without] = audit(with, without, TRIALS, deltas[d], alpha);
		for (double p = 0.02; p < 1; p += 0.04)
			for (double q = 0.02; q < 1; q += 0.04)
			{
				double claimed = true_epsilon(p, q, deltas[d]);
				double wrong = 0;

				for (int with = 0; with <= TRIALS; with++)
					for (int without = 0; without <= TRIALS; without++)
						if (epsilons[with][without] > claimed)
							wrong += (double) (binomial(with, TRIALS, p) *
											   binomial(without, TRIALS, q));
				worst = fmax(worst, wrong);
			}
	}
	ok(worst <= alpha && worst > alpha / 100, "an epsilon too large has probability %.3f, not %g",
	   worst, alpha);
}

/*
 * The Gaussian mechanism with mu = 1 has epsilon 4.89 at delta 1e-6.  Counts as expected
 * in 200,000 trials of "the released value exceeds t" prove 2.5 of it at the best t, and
 * more than 4.89 at none.
 */
static void
test_audit_power(void)
{
	double best = 0;

	for (double t = -4; t <= 6; t += 0.01)
	{
		int64 with = (int64) rint(200000 * dp_normal_sf(t - 1));
		int64 without = (int64) rint(200000 * dp_normal_sf(t));

		best = fmax(best, audit(with, without, 200000, 1e-6, .05));
	}
	ok(best > 2.5 && best < 4.89, "200,000 trials of a Gaussian of mu 1 prove epsilon %.2f", best);
}

static void
test_domain(void)
{
	const DpTrials bad[] = {{0, 0}, {-1, 5}, {6, 5}, {0, -1}, {1, DP_CLOPPER_MAX_TRIALS + 1}};
	const double alphas[] = {0, 1, -1, NAN, DP_CLOPPER_MIN_ALPHA / 2};
	const double deltas[] = {-1e-9, 1, NAN};
	const DpTrials good = {1, 5};
	bool refused = true;
	double low;
	double high;

	for (size_t i = 0; i < lengthof(bad); i++)
		refused &= dp_clopper_pearson(bad[i], .05, &low, &high) == DP_ERR_DOMAIN &&
				   dp_audit_epsilon(bad[i], good, 0, .05, &low) == DP_ERR_DOMAIN &&
				   dp_audit_epsilon(good, bad[i], 0, .05, &low) == DP_ERR_DOMAIN;
	for (size_t i = 0; i < lengthof(alphas); i++)
		refused &= dp_clopper_pearson(good, alphas[i], &low, &high) == DP_ERR_DOMAIN;
	for (size_t i = 0; i < lengthof(deltas); i++)
		refused &= dp_audit_epsilon(good, good, deltas[i], .05, &low) == DP_ERR_DOMAIN;
	ok(refused, "trials, alphas and deltas out of the domain are refused");
}

int
main(void)
{
	test_known();
	test_definition();
	test_audit_values();
	test_audit_promise();
	test_audit_power();
	test_domain();
	return tap_done();
}
