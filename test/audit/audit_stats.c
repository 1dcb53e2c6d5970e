/*
 * audit_stats.c
 *	  Statistics without approximations that could hide a fault: exact binomial
 *	  tails, Clopper-Pearson bounds on them, chi-square tests, and the lower
 *	  bound of mu that two proportions prove.
 *
 * Nothing here uses the engine's own mathematics (src/common): an audit that
 * shared its mistakes would not see them.
 */
#include "postgres.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "audit.h"

/* Terms this much smaller than the first add nothing any more. */
#define NEGLIGIBLE 1e-22L

static long double
log_binomial(int64 n, int64 k, long double p)
{
	return lgammal(n + 1.0L) - lgammal(k + 1.0L) - lgammal(n - k + 1.0L) + k * logl(p) +
		   (n - k) * log1pl(-p);
}

/* Sum of the probabilities from k on, in steps of direction, while they fall. */
static long double
binomial_sum(int64 n, int64 k, long double p, int direction)
{
	long double term = expl(log_binomial(n, k, p));
	long double sum = 0;

	for (; k >= 0 && k <= n && (sum == 0 || term > sum * NEGLIGIBLE); k += direction)
	{
		sum += term;
		term *= direction > 0 ? (n - k) * p / ((k + 1) * (1 - p)) : k * (1 - p) / ((n - k + 1) * p);
	}
	return sum;
}

/*
 * binomial_at_least - P(Binomial(n, p) >= k), by summing the tail that is away
 * from the mean, whose terms fall from the first.
 */
double
binomial_at_least(int64 n, int64 k, double p)
{
	if (k <= 0)
		return 1;
	if (k > n || p <= 0)
		return 0;
	if (p >= 1)
		return 1;
	if (k > n * p)
		return (double) binomial_sum(n, k, p, 1);
	return (double) (1 - binomial_sum(n, k - 1, p, -1));
}

/* P(Binomial(n, p) <= k), likewise. */
static double
binomial_at_most(int64 n, int64 k, double p)
{
	if (k >= n || p <= 0)
		return 1;
	if (k < 0 || p >= 1)
		return 0;
	if (k < n * p)
		return (double) binomial_sum(n, k, p, -1);
	return (double) (1 - binomial_sum(n, k + 1, p, 1));
}

/* binomial_p - the two-sided p-value of k successes in n trials of probability p. */
double
binomial_p(int64 n, int64 k, double p)
{
	return Min(1.0, 2 * Min(binomial_at_least(n, k, p), binomial_at_most(n, k, p)));
}

/*
 * binomial_uniform - P(B < k) + u P(B = k), which is uniform on (0, 1) if k is
 * drawn from B = Binomial(n, p) and u is uniform.
 */
double
binomial_uniform(int64 n, int64 k, double p, double u)
{
	double below = 1 - binomial_at_least(n, k, p);
	double at = n == 0 ? 1 : (double) expl(log_binomial(n, k, p));

	return below + u * at;
}

/*
 * proportion_low, proportion_high - Clopper-Pearson bounds: the true
 * probability lies below (above) with probability at most alpha.
 */
double
proportion_low(int64 n, int64 k, double alpha)
{
	double low = 0;
	double high = (double) k / n;

	for (int i = 0; i < 60; i++)
	{
		double middle = (low + high) / 2;

		if (binomial_at_least(n, k, middle) < alpha)
			low = middle;
		else
			high = middle;
	}
	return low;
}

double
proportion_high(int64 n, int64 k, double alpha)
{
	double low = (double) k / n;
	double high = 1;

	for (int i = 0; i < 60; i++)
	{
		double middle = (low + high) / 2;

		if (binomial_at_most(n, k, middle) < alpha)
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* chi_square_tail - P(chi-square with so many degrees of freedom > statistic). */
double
chi_square_tail(double statistic, int freedom)
{
	return gsl_cdf_chisq_Q(statistic, freedom);
}

/* chi_square_p - are the cells equally likely? */
double
chi_square_p(const int64 *observed, int cells)
{
	double statistic = 0;
	double expected = 0;

	for (int i = 0; i < cells; i++)
		expected += (double) observed[i] / cells;
	for (int i = 0; i < cells; i++)
		statistic += (observed[i] - expected) * (observed[i] - expected) / expected;
	return chi_square_tail(statistic, cells - 1);
}

/* chi_square_two_p - do two samples have the same law over the cells? */
double
chi_square_two_p(const int64 *a, const int64 *b, int cells)
{
	double na = 0;
	double nb = 0;
	double statistic = 0;

	for (int i = 0; i < cells; i++)
	{
		na += a[i];
		nb += b[i];
	}
	for (int i = 0; i < cells; i++)
	{
		double difference = a[i] * sqrt(nb / na) - b[i] * sqrt(na / nb);

		if (a[i] + b[i] > 0)
			statistic += difference * difference / (a[i] + b[i]);
	}
	return chi_square_tail(statistic, cells - 1);
}

/*
 * lattice_tail - P(X > bound) for the discrete Gaussian of a sigma so large
 * (above 2^15 units) that half a unit's continuity correction is exact to 1e-9.
 */
double
lattice_tail(int64 sigma, int64 bound)
{
	Assert(sigma >= (1 << 15));
	return (double) (0.5L * erfcl((bound + 0.5L) / (sigma * sqrtl(2))));
}

/*
 * gaussian_rejection - the mu that an event proves which came k0 times in n0
 * runs of world 0 and k1 times in n1 runs of world 1: a mu-GDP mechanism has
 * z(P0) - z(P1) <= mu.  It exceeds the true mu with probability at most
 * AUDIT_P.
 */
Rejection
gaussian_rejection(int64 n0, int64 k0, int64 n1, int64 k1)
{
	Rejection result = {.mu = 0,
						.true_pos = proportion_low(n1, k1, AUDIT_P / 2),
						.false_pos = proportion_high(n0, k0, AUDIT_P / 2)};

	if (result.true_pos > 0 && result.false_pos < 1)
		result.mu = gsl_cdf_ugaussian_Qinv(result.false_pos) -
					gsl_cdf_ugaussian_Qinv(result.true_pos);
	return result;
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *) a;
	double y = *(const double *) b;

	return x < y ? -1 : x > y;
}

/* How many of n sorted numbers exceed c. */
static int64
count_above(const double *sorted, int64 n, double c)
{
	int64 low = 0;
	int64 high = n;

	while (low < high)
	{
		int64 middle = low + (high - low) / 2;

		if (sorted[middle] > c)
			high = middle;
		else
			low = middle + 1;
	}
	return n - low;
}

/*
 * pure_rejection - the epsilon that the same event proves: an epsilon-DP mechanism has
 * P1 <= e^epsilon P0.  Likewise wrong with probability at most AUDIT_P.
 */
static double
pure_rejection(int64 n0, int64 k0, int64 n1, int64 k1)
{
	return log(proportion_low(n1, k1, AUDIT_P / 2) / proportion_high(n0, k0, AUDIT_P / 2));
}

/* Roughly that, to choose an event by. */
static double
rough_epsilon(int64 n0, int64 k0, int64 n1, int64 k1)
{
	double false_pos = (k0 + 12.0) / (n0 + 24.0);
	double true_pos = (k1 + 12.0) / (n1 + 24.0);

	false_pos += 5 * sqrt(false_pos * (1 - false_pos) / n0);
	true_pos -= 5 * sqrt(true_pos * (1 - true_pos) / n1);
	return true_pos <= 0 ? -1 : log(true_pos / false_pos);
}

/* Roughly gaussian_rejection().mu: good enough to choose an event by. */
static double
rough_mu(int64 n0, int64 k0, int64 n1, int64 k1)
{
	double false_pos = (k0 + 12.0) / (n0 + 24.0);
	double true_pos = (k1 + 12.0) / (n1 + 24.0);

	false_pos += 5 * sqrt(false_pos * (1 - false_pos) / n0);
	true_pos -= 5 * sqrt(true_pos * (1 - true_pos) / n1);
	if (false_pos >= 1 || true_pos <= 0)
		return -1;
	return gsl_cdf_ugaussian_Qinv(false_pos) - gsl_cdf_ugaussian_Qinv(true_pos);
}

/*
 * Sorts the halves of the samples in place, and chooses c for the event "statistic
 * above c" on the first ones.
 */
static double
best_threshold(double *world0, int64 n0, double *world1, int64 n1,
			   double (*rough)(int64, int64, int64, int64))
{
	int64 half0 = n0 / 2;
	int64 half1 = n1 / 2;
	double best = -1;
	double best_c = 0;

	qsort(world0, half0, sizeof(double), compare_doubles);
	qsort(world1, half1, sizeof(double), compare_doubles);
	qsort(world0 + half0, n0 - half0, sizeof(double), compare_doubles);
	qsort(world1 + half1, n1 - half1, sizeof(double), compare_doubles);
	for (int i = 1; i < 200; i++)
	{
		double at = i % 2 ? world0[half0 * i / 200] : world1[half1 * i / 200];
		/* of a statistic with atoms, the event that has this one in it */
		double c = nextafter(at, -HUGE_VAL);
		double found = rough(half0, count_above(world0, half0, c), half1,
							 count_above(world1, half1, c));

		if (found > best)
		{
			best = found;
			best_c = c;
		}
	}
	return best_c;
}

/*
 * best_rejection - the mu that the event "statistic above c" proves, with c
 * chosen on the first halves of the samples and judged on the second, so that
 * the choice costs nothing.  The halves are sorted in place.
 */
Rejection
best_rejection(double *world0, int64 n0, double *world1, int64 n1)
{
	double c = best_threshold(world0, n0, world1, n1, rough_mu);
	int64 half0 = n0 / 2;
	int64 half1 = n1 / 2;

	return gaussian_rejection(n0 - half0, count_above(world0 + half0, n0 - half0, c),
							  n1 - half1, count_above(world1 + half1, n1 - half1, c));
}

/* best_ratio - likewise the epsilon. */
double
best_ratio(double *world0, int64 n0, double *world1, int64 n1)
{
	double c = best_threshold(world0, n0, world1, n1, rough_epsilon);
	int64 half0 = n0 / 2;
	int64 half1 = n1 / 2;

	return pure_rejection(n0 - half0, count_above(world0 + half0, n0 - half0, c),
						  n1 - half1, count_above(world1 + half1, n1 - half1, c));
}
