/*
 * test_lattice.c
 *	  What lies between the real line and the integers: the discrete Gaussian's
 *	  nearness to the rounded one, its tails, and integer weights.
 */
#include "common/dp_gaussian.h"

#include <math.h>

#include "common/dp_calibrate.h"
#include "common/dp_normal.h"
#include "common/dp_random.h"
#include "common/dp_sample.h"
#include "tap.h"

/* exp(-j^2 / (2 sigma^2)) summed over first .. last, smallest terms first. */
static long double
density_sum(int64 sigma, int64 first, int64 last)
{
	long double sum = 0;

	if (first < 0)
		return density_sum(sigma, 0, last) + density_sum(sigma, 1, -first);
	for (int64 j = last; j >= first; j--)
		sum += expl(-(long double) j * j / (2.0L * sigma * sigma));
	return sum;
}

/*
 * Bound (1) of dp_gaussian.c: ln P(round(Y) = j) - ln P(X = j) between
 * -1/(24 sigma^2) and x^2/(24 sigma^2), as wide as x = 40; and its first order,
 * max(1, |x^2 - 1|)/(24 sigma^2), which the price is made of.
 */
static void
test_rounded(int64 sigma)
{
	long double total = density_sum(sigma, -60 * sigma, 60 * sigma);
	bool inside = true;
	bool first_order = true;
	long double widest = 0;

	for (int64 j = 0; j <= 40 * sigma; j++)
	{
		long double x = (long double) j / sigma;
		long double half = 0.5L / sigma;
		long double rounded = j == 0 ? 1 - 2 * dp_normal_sf_long(half) :
									   dp_normal_sf_long(x - half) - dp_normal_sf_long(x + half);
		long double ratio = logl(rounded * total) + x * x / 2;
		long double scaled = ratio * 24 * sigma * sigma;
		long double noise = 24 * sigma * sigma * 1e-15L * (1 + x * x / 100);

		inside &= scaled >= -1 - noise && scaled <= x * x + noise;
		first_order &= fabsl(scaled) <= Max(1, fabsl(x * x - 1)) + noise;
		widest = Max(widest, fabsl(scaled));
	}
	ok(inside, "sigma " INT64_FORMAT ": rounded against discrete within its bounds", sigma);
	ok(first_order, "sigma " INT64_FORMAT ": and within the first order's", sigma);
	ok(widest > 100, "sigma " INT64_FORMAT ": which are not vacuous (%g)", sigma, (double) widest);
}

static void
test_slack(void)
{
	double near = 0x1p-40 * (143 + 168) / 24;

	ok(dp_slack_epsilon(1, 1) >= near && dp_slack_epsilon(1, 1) < near * (1 + 1e-5),
	   "slack of one key at mu 1: %g", dp_slack_epsilon(1, 1));
	ok(dp_slack_epsilon(0.2, DP_MAX_KEYS) <= 12.2 * 0x1p-20 * 0.04,
	   "2^20 keys cost no more than 12.2 mu^2 2^-20 at mu 0.2");
	ok(dp_slack_epsilon(1e-6, 10) >= 1e-12 && dp_slack_epsilon(1e-6, 10) < 1.001e-12,
	   "each key pays for the error of its computed tail");
	ok(dp_slack_epsilon(2, 7) > 4 * 7 * near, "slack grows with mu^2 and keys");
	ok(dp_slack_epsilon(1, 0) == 0 && dp_slack_epsilon(0, 100) == 0, "nothing costs nothing");
	ok(isinf(dp_slack_epsilon(NAN, 1)) && isinf(dp_slack_epsilon(-1, 1)) &&
		   isinf(dp_slack_epsilon(INFINITY, 1)) && isinf(dp_slack_epsilon(1, -1)) &&
		   isinf(dp_slack_epsilon(0x1p21, 1)),
	   "nonsense costs more than any budget");
	ok(dp_slack_delta(1) >= 2 * 1.776482112077679e-33 && dp_slack_delta(1) < 3.553e-33,
	   "tail of one key: %g", dp_slack_delta(1));
	ok(dp_slack_delta(DP_MAX_KEYS) < 4e-27 && dp_slack_delta(0) == 0,
	   "tail of 2^20 keys and of none");
	ok(isinf(dp_slack_delta(-1)), "tail of fewer than none");
	ok(dp_tail_mu(1) >= 1e-13 && dp_tail_mu(1) < 1.0001e-13 &&
		   dp_tail_mu(DP_MAX_KEYS) >= 1024 * 1e-13 && dp_tail_mu(DP_MAX_KEYS) < 1025 * 1e-13 &&
		   dp_tail_mu(0) == 0 && isinf(dp_tail_mu(-1)),
	   "where the noise has an exact price, keys pay for the error of their computed tails");
}

/* Rounds chosen one after the other cost no more than the whole that bounds them. */
static void
test_slack_rounds(void)
{
	static DpRandom rng;
	bool bounded = true;
	double whole = dp_slack_rounds(1, 1, 0);

	dp_random_seeded(&rng, 4, 5, 6);
	for (int i = 0; i < 10000; i++)
	{
		double mu2 = 0;
		double sum = 0;
		double left = ldexp(1, (int) (dp_random_u64(&rng) % 24) - 12);

		for (int j = 0; j < 20; j++)
		{
			double part = left * (double) (dp_random_u64(&rng) >> 11) * 0x1p-53;

			sum += dp_slack_rounds(sqrt(part), 7, 0);
			mu2 += part;
			left -= part;
		}
		bounded &= sum <= dp_slack_rounds(sqrt(mu2), 7, 0) * (1 + 1e-12);
	}
	ok(bounded, "rounds together cost no more than one release of their mu");
	ok(whole >= 0x1p-40 * (143 + 168) / 24 && whole == dp_slack_epsilon(1, 1),
	   "one round costs what a release does");
	ok(fabs(dp_slack_rounds(1, 1000, 3) - 1000 * (whole + 3e-13)) < 1e-20,
	   "and each computed tail its error");
	ok(dp_slack_rounds(0, 100, 5) == 0 && isinf(dp_slack_rounds(NAN, 1, 0)) &&
		   isinf(dp_slack_rounds(-1, 1, 0)) && isinf(dp_slack_rounds(1, -1, 0)) &&
		   isinf(dp_slack_rounds(1, 1, -1)) && isinf(dp_slack_rounds(0x1p21, 1, 0)),
	   "nonsense costs more than any budget, here too");
}

/* A step of rounds: what calibration and price make of it. */
static void
test_steps(void)
{
	const DpStep one = {.share = 1, .keys = 5000, .decided = 1};
	const DpStep rounds = {.share = 1, .keys = 5000, .rounds = 86, .decided = 8};
	const DpDivision free_slack = {0};
	DpStepsPrice price;
	DpStepsPrice priced_one;
	int64 sigma;
	double mu;
	double rho = 0;

	ok(dp_calibrate(&rounds, 1, 4, 1e-7, free_slack, &mu) == DP_OK &&
		   dp_step_sigma(mu, &sigma) == DP_OK,
	   "a step of 86 rounds is calibrated");
	price = dp_steps_price(&rounds, &sigma, 1);
	priced_one = dp_steps_price(&one, &sigma, 1);
	ok(price.mu2 == priced_one.mu2 && price.mu2 == dp_step_mu2(sigma) && price.mu2 <= mu * mu,
	   "its price in mu is that of a single release with its sigma");
	ok(price.eps_pure >= priced_one.eps_pure + 8 * 5000 * 1e-13 &&
		   price.eps_pure < priced_one.eps_pure + 8.01 * 5000 * 1e-13,
	   "its slack is more by eight tails, and otherwise the same");
	ok(fabs(dp_steps_tail(&rounds, 1) / (86 * dp_steps_tail(&one, 1)) - 1) < 1e-12,
	   "its outputs beyond are those of all rounds");
	for (int k = 0; k < 8; k++)
	{
		/* eight levels that share mu^2 as they like */
		double level = mu * sqrt(k < 7 ? ldexp(1, -k - 1) : ldexp(1, -7));
		double t = dp_tail_mu(5000);

		rho += t * (level + t / 2);
	}
	ok(price.tail_rho >= rho && price.tail_rho < 2 * rho,
	   "its levels' tails are within its own price as zCDP");
}

/*
 * The Renyi divergence of order alpha, either way round, of what is released of a
 * coordinate: noise X of parameter sigma on the weight w where it exceeds the bound;
 * and X where a computed probability, p times 1 + error, decides about it.
 */
static double
tail_divergence(int64 sigma, int64 w, int64 bound, double error, double alpha, bool swapped)
{
	long double total = density_sum(sigma, -40 * sigma, 40 * sigma);
	long double p = density_sum(sigma, bound + 1, 40 * sigma) / total;
	long double q = density_sum(sigma, bound + 1 - w, 40 * sigma) / total;
	long double computed = p + error * Min(p, 1 - p);
	long double order = swapped ? 1 - alpha : alpha;
	long double sum = powl(1 - computed, order) * powl(1 - q, 1 - order);

	for (int64 j = bound + 1; j <= 60 * sigma; j++)
	{
		long double without = -(long double) j * j / (2 * sigma * sigma);
		long double with = -(long double) (j - w) * (j - w) / (2 * sigma * sigma);

		sum += expl(order * (logl(computed / p) + without) + (1 - order) * with) / total;
	}
	return (double) (logl(sum) / (alpha - 1));
}

/* With errors that one can see: mu becomes mu + error, and without that it is too little. */
static void
test_tail_price(void)
{
	const double alphas[] = {1.001, 1.1, 2, 7, 30};
	const double errors[] = {-0.3, -0.05, 0.05, 0.3};
	bool paid = true;
	int beyond = 0;

	for (int64 w = 1; w <= 9; w += 2)
		for (int64 bound = -12; bound <= 12; bound += 4)
			for (size_t i = 0; i < lengthof(alphas) * lengthof(errors) * 2; i++)
			{
				double alpha = alphas[i % lengthof(alphas)];
				double error = errors[i / 2 / lengthof(alphas)];
				double mu = w / 6.0;
				double step = -log1p(-fabs(error));
				double rate = tail_divergence(6, w, bound, error, alpha, i % 2 == 1) / alpha;

				paid &= rate <= (mu + step) * (mu + step) / 2 * (1 + 1e-12);
				beyond += rate > mu * mu / 2 * (1 + 1e-9);
			}
	ok(paid, "an error in the computed tail adds to mu no more than itself");
	ok(beyond > 100, "and not nothing, in %d cases", beyond);
}

/* dp_lattice_tail against a sum over everything. */
static void
test_tail(int64 sigma)
{
	const double multiples[] = {-9, -3, -1, -0.3, 0, 0.3, 1, 2, 4, 7, 12, 20, 30, 35};
	long double total = density_sum(sigma, -45 * sigma - 45, 45 * sigma + 45);
	double worst = 0;

	for (size_t i = 0; i < lengthof(multiples); i++)
	{
		for (int64 off = -1; off <= 1; off++)
		{
			int64 bound = (int64) (multiples[i] * sigma) + off;
			long double exact = density_sum(sigma, bound + 1, 45 * sigma + 45) / total;
			double p = NAN;

			if (dp_lattice_tail(sigma, bound, &p) != DP_OK)
				worst = INFINITY;
			worst = fmax(worst, (double) fabsl(p / exact - 1));
			if (isnan(p))
				worst = INFINITY;
		}
	}
	ok(worst < 1e-13, "tails at sigma " INT64_FORMAT ": relative error %g", sigma, worst);
}

static void
test_threshold(void)
{
	const int64 sigmas[] = {1, 2, 5, 100, 1024, 1025, 1 << 20, (1 << 24) + 1,
							INT64CONST(1) << 40, DP_MAX_SIGMA};
	const double ps[] = {0.9999, 0.5, 0.25, 1e-3, 1e-9, 1e-100, 1e-299};
	bool smallest = true;
	int64 bound;
	double p;

	for (size_t i = 0; i < lengthof(sigmas); i++)
	{
		for (size_t j = 0; j < lengthof(ps); j++)
		{
			if (dp_lattice_threshold(sigmas[i], ps[j], &bound) != DP_OK)
				smallest = false;
			(void) dp_lattice_tail(sigmas[i], bound, &p);
			smallest &= p <= ps[j];
			smallest &= dp_lattice_tail(sigmas[i], bound - 1, &p) == DP_OK && p > ps[j];
		}
	}
	ok(smallest, "a threshold is the smallest bound whose tail is small enough");
	ok(dp_lattice_threshold(1, 0.5, &bound) == DP_OK && bound == 0, "P(X > 0) < 1/2");

	ok(dp_lattice_tail(0, 0, &p) == DP_ERR_DOMAIN && dp_lattice_tail(-1, 0, &p) == DP_ERR_DOMAIN &&
		   dp_lattice_tail(DP_MAX_SIGMA + 1, 0, &p) == DP_ERR_DOMAIN,
	   "tail: sigma out of its domain");
	ok(dp_lattice_tail(1, 100, &p) == DP_ERR_RANGE && p == 0 &&
		   dp_lattice_tail(1 << 20, PG_INT64_MAX, &p) == DP_ERR_RANGE && p == 0,
	   "a tail beyond doubles");
	ok(dp_lattice_tail(1, PG_INT64_MIN, &p) == DP_OK && p == 1 &&
		   dp_lattice_tail(1 << 20, PG_INT64_MIN, &p) == DP_OK && p == 1,
	   "a tail that is everything");
	for (int i = 0; i < 4; i++)
	{
		const double bad[] = {0, 1, NAN, -1};

		ok(dp_lattice_threshold(10, bad[i], &bound) == DP_ERR_DOMAIN,
		   "threshold for p = %g is refused", bad[i]);
	}
	ok(dp_lattice_threshold(0, 0.1, &bound) == DP_ERR_DOMAIN, "threshold for sigma = 0 is refused");
	ok(dp_lattice_threshold(10, 1e-301, &bound) == DP_ERR_RANGE, "p = 1e-301 is out of range");
}

/* weight = floor(2^m / sqrt(items)): weight^2 items <= 2^(2m) < (weight + 1)^2 items. */
static bool
weight_is_exact(uint64 items)
{
	const dp_uint128 one = (dp_uint128) DP_LATTICE_ONE * DP_LATTICE_ONE;
	dp_uint128 weight = dp_lattice_weight(items);

	return weight * weight * items <= one && (weight + 1) * (weight + 1) * items > one;
}

static void
test_weight(void)
{
	static DpRandom rng;
	bool exact = true;

	for (uint64 items = 1; items <= 1 << 18; items++)
		exact &= weight_is_exact(items);
	ok(exact, "weights of 1 to 2^18 items: the norm is at most 1, as close as integers come");

	/* the two sides of every step between weights, where rounding would show */
	for (uint64 weight = 1; weight <= DP_LATTICE_ONE; weight += 1 + weight / 3000)
	{
		uint64 items = ((uint64) DP_LATTICE_ONE * DP_LATTICE_ONE) / (weight * weight);

		for (uint64 near = Max(items, 2) - 1; near <= items + 1; near++)
			exact &= weight_is_exact(near);
	}
	ok(exact, "weights at the steps");

	dp_random_seeded(&rng, 1, 2, 3);
	for (int i = 0; i < 100000; i++)
		exact &= weight_is_exact(1 + (dp_random_u64(&rng) >> (i % 63)));
	ok(exact, "weights of 10^5 random numbers of items up to 2^64");
	ok(dp_lattice_weight(0) == 0, "no items have no weight");
	ok(dp_lattice_weight(1) == DP_LATTICE_ONE && dp_lattice_weight(4) == DP_LATTICE_ONE / 2 &&
		   dp_lattice_weight(UINT64CONST(1) << 40) == 1 &&
		   dp_lattice_weight((UINT64CONST(1) << 40) + 1) == 0,
	   "weights of 1, 4, 2^40 and more items");
}

int
main(void)
{
	const int64 rounded[] = {1, 2, 3, 5, 10, 50};
	const int64 summed[] = {1, 2, 3, 5, 17, 100, 1000, 1024, 1025, 1500, 4096};

	for (size_t i = 0; i < lengthof(rounded); i++)
		test_rounded(rounded[i]);
	test_slack();
	test_slack_rounds();
	test_steps();
	test_tail_price();
	for (size_t i = 0; i < lengthof(summed); i++)
		test_tail(summed[i]);
	test_threshold();
	test_weight();
	return tap_done();
}
