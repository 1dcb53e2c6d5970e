/*
 * test_combination.c
 *	  Sums of discrete Gaussians: their law against convolution, thresholds, and the terms
 *	  given a large sum against enumeration.
 */
#include "common/dp_combination.h"

#include <math.h>

#include "common/dp_gaussian.h"
#include "common/dp_sample.h"
#include "laws.h"
#include "tap.h"

/* As far as sums are convolved, and single terms summed up. */
#define SPAN 16000
#define WIDEST 30000

/* The coefficients of ten rounds, which sum to 100. */
static const int64 ten_rounds[] = {5, 6, 8, 10, 11, 12, 12, 12, 12, 12};

static DpRandom rng;

static DpCombination
combination(const int64 *coefficient, const int64 *sigma, int n)
{
	DpCombination comb;

	if (dp_combination_prepare(&comb, coefficient, sigma, n) != DP_OK)
		abort();
	return comb;
}

/* exp(-x^2/(2 sigma^2)) */
static long double
density(int64 x, int64 sigma)
{
	return expl(-(long double) x * x / (2.0L * sigma * sigma));
}

/*
 * The furthest that P(S = s) is from the discrete Gaussian of the same V, relatively and as
 * far as 8 standard deviations: by convolution.
 */
static double
furthest_from_gaussian(const DpCombination *comb)
{
	static long double law[2 * SPAN + 1];
	static long double next[2 * SPAN + 1];
	long double total;
	double furthest = 0;

	memset(law, 0, sizeof(law));
	law[SPAN] = 1;
	for (int j = 0; j < comb->n; j++)
	{
		int64 f = comb->coefficient[j];
		int64 reach = 14 * comb->sigma[j];

		total = 0;
		for (int64 x = 40 * comb->sigma[j]; x > 0; x--)
			total += 2 * density(x, comb->sigma[j]);
		memset(next, 0, sizeof(next));
		for (int64 x = -reach; x <= reach; x++)
		{
			long double p = density(x, comb->sigma[j]) / (total + 1);

			for (int64 s = Max(-SPAN, -SPAN + f * x); s <= Min(SPAN, SPAN + f * x); s++)
				next[s + SPAN] += p * law[s - f * x + SPAN];
		}
		memcpy(law, next, sizeof(law));
	}

	total = 0;
	for (int64 s = -SPAN; s <= SPAN; s++)
		total += expl(-(long double) s * s / 2 / (long double) comb->variance);
	for (int64 s = 0; s <= (int64) (8 * comb->deviation); s++)
	{
		long double p = expl(-(long double) s * s / 2 / (long double) comb->variance) / total;

		furthest = Max(furthest, (double) fabsl(law[s + SPAN] / p - 1));
	}
	return furthest;
}

/* The theorem of dp_combination.c, at and beside the edge of its condition. */
static void
test_law(void)
{
	const struct
	{
		int n;
		int64 coefficient[4];
		int64 sigma[4];
		bool near;
	} cases[] = {
		{1, {1}, {5}, true},
		{2, {1, 2}, {6, 6}, true},
		{2, {2, 3}, {8, 9}, true},
		{2, {7, 3}, {19, 30}, true},
		{3, {6, 10, 15}, {57, 60, 58}, true}, /* no two without a common factor */
		{3, {1, 2, 4}, {15, 16, 20}, true},
		{4, {4, 4, 4, 3}, {19, 20, 21, 19}, true}, /* all but one share a factor */
		{4, {5, 6, 6, 6}, {28, 28, 28, 28}, true},
		{2, {4, 6}, {50, 50}, false}, /* a common factor: no odd sums */
		{2, {7, 9}, {2, 2}, false},	  /* too narrow: holes between the multiples */
		{3, {12, 12, 1}, {30, 30, 1}, false},
	};

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		DpCombination comb = combination(cases[i].coefficient, cases[i].sigma, cases[i].n);
		int64 f = 0;
		int64 least = PG_INT64_MAX;
		double furthest = furthest_from_gaussian(&comb);

		for (int j = 0; j < comb.n; j++)
		{
			f = Max(f, comb.coefficient[j]);
			least = Min(least, comb.sigma[j]);
		}
		if (cases[i].near)
			ok(least * least >= 7 * (comb.n - 1) * f * f && furthest < 1e-14,
			   "sum %d of %d terms: one discrete Gaussian, within %g", (int) i, comb.n, furthest);
		else
			ok(furthest > 1e-3, "sum %d of %d terms: not one, by %g", (int) i, comb.n, furthest);
	}
}

/* P(F_1 X_1 + F_2 X_2 > bound) from the tails of X_1, summed up over X_2. */
static long double
tail_of_two(const DpCombination *comb, int64 bound)
{
	static long double tail[2 * WIDEST + 2]; /* P(X_1 >= x), as far as it goes */
	long double total1 = 0;
	long double total2 = 0;
	long double sum = 0;
	int64 reach = 14 * comb->sigma[1];

	tail[2 * WIDEST + 1] = 0;
	for (int64 x = WIDEST; x >= -WIDEST; x--)
	{
		total1 += density(x, comb->sigma[0]);
		tail[x + WIDEST] = total1;
	}
	for (int64 x = -reach; x <= reach; x++)
	{
		long double p = density(x, comb->sigma[1]);
		int64 rest = bound - comb->coefficient[1] * x;
		int64 f = comb->coefficient[0];
		int64 least = (rest >= 0 ? rest / f : -((-rest + f - 1) / f)) + 1;

		total2 += p;
		if (least <= WIDEST)
			sum += p * tail[Max(least, -WIDEST) + WIDEST];
	}
	return sum / total1 / total2;
}

static void
test_tail(void)
{
	const int64 coefficients[][2] = {{1, 1}, {1, 2}, {3, 2}, {12, 11}, {64, 63}};
	const int64 sigmas[][2] = {{1024, 1024}, {2000, 1500}, {1025, 1999}};
	const double multiples[] = {-8, -1, 0, 0.5, 2, 4, 7, 11};
	double worst = 0;
	double p;

	for (size_t i = 0; i < lengthof(coefficients) * lengthof(sigmas) * lengthof(multiples); i++)
	{
		size_t k = i / lengthof(multiples);
		DpCombination comb = combination(coefficients[k % lengthof(coefficients)],
										 sigmas[k / lengthof(coefficients)], 2);
		int64 bound = (int64) (multiples[i % lengthof(multiples)] * (double) comb.deviation);
		long double exact = tail_of_two(&comb, bound);

		if (dp_combination_tail(&comb, bound, &p) != DP_OK)
			p = NAN;
		if (!(fabs((double) (p / exact - 1)) <= worst))
			worst = fabs((double) (p / exact - 1));
	}
	ok(worst < 1e-13, "tails of sums of two against summation: within %g", worst);
}

/* One term is dp_lattice_tail() itself, to the last digit. */
static void
test_one_term(void)
{
	const int64 one = 1;
	bool same = true;

	for (int64 sigma = 1024; sigma <= (INT64CONST(1) << 50); sigma *= 4)
		for (double z = -3; z < 30; z += 1.7)
		{
			DpCombination comb = combination(&one, &sigma, 1);
			int64 bound = (int64) (z * (double) sigma);
			int64 near;
			int64 near_lattice;
			double p;
			double lattice;

			same &= dp_combination_tail(&comb, bound, &p) == DP_OK &&
					dp_lattice_tail(sigma, bound, &lattice) == DP_OK && p == lattice;
			if (z < 0)
				continue;
			same &= dp_combination_threshold(&comb, p, &near) == DP_OK &&
					dp_lattice_threshold(sigma, p, &near_lattice) == DP_OK &&
					near == near_lattice;
		}
	ok(same, "a sum of one term has the tails and thresholds of the term");
}

static void
test_threshold(void)
{
	const double ps[] = {0.9, 0.25, 1e-3, 1e-9, 1e-40};
	int64 sigma[10];
	bool smallest = true;
	DpCombination comb;

	for (int j = 0; j < 10; j++)
		sigma[j] = 3000000 + 77777 * j;
	comb = combination(ten_rounds, sigma, 10);
	for (size_t i = 0; i < lengthof(ps); i++)
	{
		int64 bound;
		double p;

		smallest &= dp_combination_threshold(&comb, ps[i], &bound) == DP_OK &&
					dp_combination_tail(&comb, bound, &p) == DP_OK && p <= ps[i] &&
					dp_combination_tail(&comb, bound - 1, &p) == DP_OK && p > ps[i];
	}
	ok(smallest, "thresholds of ten rounds are the smallest");
}

/* Whether every number of novel items keeps delta, and by how much at the worst of them. */
static double
union_delta(const DpCombination *comb, int64 bound, int64 max_items)
{
	double worst = 0;

	for (int64 t = 1; t <= max_items; t++)
	{
		int64 most = comb->total * dp_lattice_weight(t);
		double p;

		if (dp_combination_tail(comb, bound - most, &p) != DP_OK)
			return NAN;
		worst = Max(worst, -expm1(t * log1p(-p)));
	}
	return worst;
}

static void
test_union_threshold(void)
{
	const int64 doubling[] = {1, 2, 4, 8, 16, 32};
	const double deltas[] = {1e-7, 1e-12, 0.01, 0.7};
	const int64 most[] = {1, 2, 100, 300, 5000};
	bool kept = true;
	bool tight = true;
	int64 sigma[6];
	int64 bound;
	DpCombination comb;

	for (int j = 0; j < 6; j++)
		sigma[j] = (int64) (30 * DP_LATTICE_ONE / sqrt(1 << j)) + 2;
	for (int rounds = 1; rounds <= 6; rounds++)
		for (size_t i = 0; i < lengthof(deltas) * lengthof(most); i++)
		{
			double delta = deltas[i % lengthof(deltas)];
			int64 items = most[i / lengthof(deltas)];
			double worst = NAN;

			comb = combination(doubling, sigma, rounds);
			if (dp_combination_union_threshold(&comb, delta, items, &bound) == DP_OK)
				worst = union_delta(&comb, bound, items);
			kept &= worst <= delta;
			/* cells of 1/512 beyond 4096 items, else but for rounding */
			tight &= worst >= delta * (items > 4096 ? 0.98 : 0.999);
		}
	ok(kept, "novel items pass with probability delta at most, for all numbers of them");
	ok(tight, "and hardly less at the worst of them");
	ok(dp_combination_union_threshold(&comb, 0, 1, &bound) == DP_ERR_DOMAIN &&
		   dp_combination_union_threshold(&comb, 1, 1, &bound) == DP_ERR_DOMAIN &&
		   dp_combination_union_threshold(&comb, 0.1, 0, &bound) == DP_ERR_DOMAIN &&
		   dp_combination_union_threshold(&comb, 0.99999, 1, &bound) == DP_ERR_RANGE,
	   "refused: no delta, all of it, no items");
}

static void
test_refused(void)
{
	int64 coefficient[DP_COMBINATION_MOST + 1];
	int64 sigma[DP_COMBINATION_MOST + 1];
	const int64 even[] = {2, 4};
	const int64 odd[] = {2, 5};
	const int64 wide[] = {2000, 2000};
	const int64 narrow[] = {2000, 1023};
	const int64 zero[] = {2000, 0};
	const int64 widest[] = {INT64CONST(1) << 49, INT64CONST(1) << 48};
	DpCombination comb;
	int64 bound;
	double p;

	for (int j = 0; j <= DP_COMBINATION_MOST; j++)
	{
		coefficient[j] = 64 - j % 2;
		sigma[j] = 1100;
	}
	ok(dp_combination_prepare(&comb, odd, wide, 0) == DP_ERR_DOMAIN &&
		   dp_combination_prepare(&comb, coefficient, sigma, DP_COMBINATION_MOST + 1) ==
			   DP_ERR_DOMAIN &&
		   dp_combination_prepare(&comb, odd, zero, 2) == DP_ERR_DOMAIN &&
		   dp_combination_prepare(&comb, zero, wide, 2) == DP_ERR_DOMAIN,
	   "refused: no terms, too many, numbers that are not positive");
	ok(dp_combination_prepare(&comb, odd, widest, 2) == DP_ERR_RANGE, "refused: too wide");
	comb = combination(even, wide, 2);
	ok(dp_combination_tail(&comb, 0, &p) == DP_ERR_RANGE &&
		   dp_combination_threshold(&comb, 0.1, &bound) == DP_ERR_RANGE &&
		   dp_combination_union_threshold(&comb, 0.1, 1, &bound) == DP_ERR_RANGE,
	   "no tails of sums whose coefficients have a common factor");
	comb = combination(odd, narrow, 2);
	ok(dp_combination_tail(&comb, 0, &p) == DP_ERR_RANGE, "nor where a sigma is small");
	comb = combination(coefficient, sigma, DP_COMBINATION_MOST);
	ok(dp_combination_tail(&comb, 0, &p) == DP_ERR_RANGE, "nor for the number of coefficients");
	for (int j = 0; j < DP_COMBINATION_MOST; j++)
		sigma[j] = 1400;
	comb = combination(coefficient, sigma, DP_COMBINATION_MOST);
	ok(dp_combination_tail(&comb, 0, &p) == DP_OK, "where it is larger there are");
}

/* The joint law of two or three terms given S > bound, every outcome on its own. */
static void
test_above_small(const int64 *coefficient, const int64 *sigma, int n, int64 bound)
{
	enum
	{
		SIDE = 41,
		CELLS = SIDE * SIDE * SIDE
	};
	static double p[CELLS];
	static uint64 seen[CELLS];
	DpCombination comb = combination(coefficient, sigma, n);
	int64 reach = n == 2 ? 50 : SIDE / 2;
	int64 side = 2 * reach + 1;
	int cells = (int) (n == 2 ? side * side : side * side * side);
	double total = 0;
	bool above = true;

	memset(seen, 0, sizeof(seen));
	for (int i = 0; i < cells; i++)
	{
		int64 sum = 0;
		double energy = 0;

		for (int64 j = 0, rest = i; j < n; j++, rest /= side)
		{
			int64 x = rest % side - reach;

			sum += coefficient[j] * x;
			energy += (double) (x * x) / (2.0 * sigma[j] * sigma[j]);
		}
		p[i] = sum > bound ? exp(-energy) : 0;
		total += p[i];
	}
	for (int i = 0; i < cells; i++)
		p[i] /= total;
	for (int i = 0; i < 100000; i++)
	{
		int64 x[3];
		int64 sum = 0;
		int64 cell = 0;

		dp_combination_above(&rng, &comb, bound, x);
		for (int j = n - 1; j >= 0; j--)
		{
			sum += coefficient[j] * x[j];
			cell = cell * side + x[j] + reach;
			above &= x[j] >= -reach && x[j] <= reach;
		}
		above &= sum > bound;
		if (above)
			seen[cell]++;
	}
	total = chi_square_p(seen, p, cells);
	ok(above && total > ALARM, "%d terms given a sum above " INT64_FORMAT " (%.1f sd): p = %g",
	   n, bound, (double) (bound / comb.deviation), total);
}

/*
 * Ten rounds: S has the law of one discrete Gaussian above the bound, and what is left of
 * each X_j, X_j - b_j S with b_j = F_j sigma_j^2 / V, is Gaussian and knows nothing of S.
 */
static void
test_above_rounds(double mu, double z)
{
	enum
	{
		DRAWS = 20000
	};
	static Law law;
	static Law rest[10];
	int64 sigma[10];
	double correlation[10] = {0};
	double least = 1;
	double mean = 0;
	double variance = 0;
	int64 bound;
	DpCombination comb;

	for (int j = 0; j < 10; j++)
		sigma[j] = (int64) (DP_LATTICE_ONE / (mu * sqrt(ten_rounds[j] / 100.0))) + 2;
	comb = combination(ten_rounds, sigma, 10);
	bound = (int64) (z * (double) comb.deviation);
	law_gaussian(&law, comb.deviation, bound);
	for (int j = 0; j < 10; j++)
	{
		long double part = (long double) comb.coefficient[j] * sigma[j];

		law_gaussian(&rest[j], sigma[j] * sqrtl(1 - part * part / (long double) comb.variance),
					 PG_INT64_MIN);
	}
	for (int i = 0; i < DRAWS; i++)
	{
		int64 x[10];
		int64 sum = 0;
		double excess;

		dp_combination_above(&rng, &comb, bound, x);
		for (int j = 0; j < 10; j++)
			sum += comb.coefficient[j] * x[j];
		law_count(&law, sum);
		excess = (double) (sum / comb.deviation) - z;
		mean += excess / DRAWS;
		variance += excess * excess / DRAWS;
		for (int j = 0; j < 10; j++)
		{
			double slope = (double) ((long double) comb.coefficient[j] * sigma[j] * sigma[j] /
									 (long double) comb.variance);
			double left = (double) x[j] - slope * (double) sum;

			law_count(&rest[j], (int64) floor(left));
			correlation[j] += left / (double) sigma[j] * excess / DRAWS;
		}
	}
	ok(law_p_value(&law) > ALARM, "ten rounds, mu %g, above %g sd: the sum, p = %g", mu, z,
	   law_p_value(&law));
	for (int j = 0; j < 10; j++)
	{
		least = Min(least, law_p_value(&rest[j]));
		least = Min(least, erfc(fabs(correlation[j]) / sqrt(2 * variance / DRAWS)));
	}
	ok(least > ALARM / 20, "what is left of each, and that it knows nothing of the sum: p = %g",
	   least);
	ok(mean > 0, "the mean excess is %g", mean);
}

/* At the ends of the range: one term against its own sampler's law. */
static void
test_above_wide(void)
{
	const int64 one = 1;
	const int64 sigmas[] = {1, 3, 100, INT64CONST(1) << 31, INT64CONST(1) << 50};
	const double zs[] = {-20, -0.3, 0.99, 1.01, 3, 8.2};

	for (size_t i = 0; i < lengthof(sigmas) * lengthof(zs); i++)
	{
		static Law law;
		int64 sigma = sigmas[i % lengthof(sigmas)];
		int64 bound = (int64) floor(zs[i / lengthof(sigmas)] * (double) sigma);
		DpCombination comb = combination(&one, &sigma, 1);

		law_gaussian(&law, sigma, bound);
		for (int j = 0; j < 50000; j++)
		{
			int64 x;

			dp_combination_above(&rng, &comb, bound, &x);
			law_count(&law, x);
		}
		ok(law_p_value(&law) > ALARM, "sigma " INT64_FORMAT " above " INT64_FORMAT ": p = %g",
		   sigma, bound, law_p_value(&law));
	}
}

int
main(void)
{
	const int64 two[][2] = {{1, 2}, {3, 2}, {4, 6}};
	const int64 narrow[] = {2, 3};
	const int64 three[] = {1, 3, 2};
	const int64 narrowest[] = {2, 1, 1};

	dp_random_system(&rng, NULL);
	test_law();
	test_tail();
	test_one_term();
	test_threshold();
	test_union_threshold();
	test_refused();
	for (int i = 0; i < 3; i++)
		for (int64 bound = -10; bound <= 38; bound += 24)
			test_above_small(two[i], narrow, 2, bound);
	for (int64 bound = -5; bound <= 19; bound += 12)
		test_above_small(three, narrowest, 3, bound);
	test_above_rounds(0.2, 2.5);
	test_above_rounds(1.3, 5);
	test_above_wide();
	return tap_done();
}
