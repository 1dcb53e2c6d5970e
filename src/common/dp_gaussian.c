/*
 * dp_gaussian.c
 *	  The calculus of Gaussian differential privacy: what noise a promise costs,
 *	  what promise a noise gives, and what the integer lattice adds to it.
 *
 * A mechanism is mu-GDP if telling two neighbours apart by its output is no
 * easier than telling N(0,1) from N(mu,1) (Dong, Roth, Su, "Gaussian
 * Differential Privacy", 2019).  Gaussian noise of standard deviation sigma on
 * a sum of l2 sensitivity 1 is (1/sigma)-GDP, and that is (epsilon, delta)-DP
 * for exactly delta >= dG(epsilon, mu) (Balle and Wang, "Improving the Gaussian
 * mechanism for differential privacy", ICML 2018, theorem 8):
 *
 *	dG(epsilon, mu) = Phibar(a) - exp(epsilon) Phibar(b),
 *	a = epsilon/mu - mu/2,	b = a + mu.
 *
 * From the real line to the lattice
 * ---------------------------------
 * The noise really drawn is the discrete Gaussian X on the integers, with sigma =
 * 2^m / mu lattice units, m = DP_LATTICE_BITS.  Rounding the sum of an integer h
 * and a Gaussian Y to the nearest integer gives h + round(Y): so integer sums
 * with the *rounded* Gaussian R = round(Y) are exactly mu-GDP, and X is close to
 * R.  For f the density of N(0, sigma^2), x = j/sigma and w = x/sigma,
 *
 *	P(R = j) = f(j) * integral over |u| < 1/2 of cosh(w u) exp(-u^2/(2 sigma^2)),
 *	P(X = j) = f(j) / theta, theta = sum of f over the integers,
 *
 * where 1 < theta < 1 + 2.1 exp(-2 pi^2 sigma^2) by Poisson's formula.  Below,
 * cosh >= 1 and Jensen's inequality; above, the mean of a product of a rising
 * and a falling function of |u| is at most the product of their means, that of
 * cosh is sinh(w/2)/(w/2) <= exp(w^2/24), and that of the other is below 1/theta
 * for sigma >= 1.  Hence for every j and every sigma >= 1
 *
 *	-1 / (24 sigma^2) <= ln P(R = j) - ln P(X = j) <= x^2 / (24 sigma^2).	(1)
 *
 * Let P, Q be the laws of the coordinates one user touches, with X, in the two
 * worlds, and P', Q' those with R.  By the left side of (1) P <= t P', ln t =
 * keys/(24 sigma^2), everywhere; and the privacy loss ln P/Q is ln P'/Q' plus two
 * terms (1) a coordinate, one a world, whose sum dp_slack_epsilon() =: s bounds
 * but for outputs so far out that dp_slack_delta() is their probability.  Hence
 *
 *	P - exp(epsilon) Q <= t (P' - exp(epsilon - s) Q'),		t < exp(s),
 *
 * and a mu-GDP mechanism is, on the lattice, (epsilon, delta)-DP for delta =
 * exp(s) dG(epsilon - s, mu) + dp_slack_delta().  doc/privacy.md has the rest;
 * test/unit/test_lattice.c compares (1) with the exact ratio.
 *
 * Every result that promises something is rounded so that the promise holds.
 */
#include "common/dp_base.h"

#include <float.h>
#include <math.h>

#include "common/dp_gaussian.h"
#include "common/dp_normal.h"
#include "common/dp_sample.h"

#define SQRT_HALF 0.707106781186547524400844362104849039L
#define SQRT_1_BY_2PI 0.398942280401432677939946059934381868L

/* Relative error of dp_gaussian_delta(), generously. */
#define DELTA_ERROR 1e-12

/* Beyond this many standard deviations the slack does not vouch for outputs. */
#define SLACK_RANGE 12.0

/* Relative error of dp_lattice_tail(), which decides about coordinates of weight 0. */
#define TAIL_ERROR 1e-13

/* Union thresholds: exact up to here, then in cells 1/512 wide (relatively). */
#define UNION_EXACT 4096
#define UNION_CELL 512
#define UNION_MAX_ITEMS (INT64CONST(1) << 26)

/* The largest sigma whose tails are added up term by term. */
#define DIRECT_SIGMA 1024

static bool
positive_finite(double x)
{
	return x > 0 && x <= DBL_MAX;
}

/*
 * dG for mu small against 1 + a, where the closed form is a difference of two
 * nearly equal numbers, as its own definition E(1 - exp(epsilon - L))+ over the
 * privacy loss L:
 *
 *	dG = phi(a) * integral over s > 0 of exp(-s^2/2 - a s) (1 - exp(-mu s)) ds.
 *
 * No term is negative, so no digit is lost.  With s (1 + a) = exp(t - exp(-t))
 * the integrand falls doubly exponentially both ways and the trapezoid rule of
 * width 1/16 is exact to 1e-15 (Takahasi and Mori, "Double exponential formulas
 * for numerical integration", 1974).  a >= -0.01.
 */
static long double
delta_integral(long double a, double mu)
{
	const double width = 1.0 / 16;
	double slope = (double) a;
	double sum = 0;

	for (int i = -56; i <= 64; i++)
	{
		double t = i * width;
		double s = exp(t - exp(-t)) / (1 + slope);
		double ds = s * (1 + exp(-t));

		sum += exp(-s * (s / 2 + slope)) * -expm1(-mu * s) * ds;
	}
	return SQRT_1_BY_2PI * expl(-a * a / 2) * sum * width;
}

/*
 * dG for finite mu > 0 and a = epsilon/mu - mu/2, epsilon >= 0.
 *
 * exp(epsilon) Phibar(b) is exp(-a^2/2) erfcx(b/sqrt 2) / 2, since b^2 - a^2 =
 * 2 epsilon; Phibar(a) likewise where a > 0, while for a < 0, where erfcx would
 * overflow, it is better left as it is.
 */
static long double
gaussian_delta(long double a, double mu)
{
	long double half_density = 0.5L * expl(-a * a / 2);
	long double other;

	if (a > 39)
		return 0; /* below 1e-330 */
	if (mu < 0.01L * (1 + a))
		return delta_integral(a, mu);

	other = dp_erfcx((double) ((a + mu) * SQRT_HALF));
	if (a > 0)
		return half_density * (dp_erfcx((double) (a * SQRT_HALF)) - other);
	return dp_normal_sf_long(a) - half_density * other;
}

/*
 * dp_gaussian_delta - the smallest delta for which mu-GDP is (epsilon, delta)-DP.
 *
 * Relative error below 1e-13 where delta > 1e-300 and epsilon < 1e8.  DP_ERR_DOMAIN
 * unless epsilon >= 0 and mu > 0 are finite.
 */
DpStatus
dp_gaussian_delta(double epsilon, double mu, double *delta)
{
	if (!(epsilon >= 0 && epsilon <= DBL_MAX) || !positive_finite(mu))
		return DP_ERR_DOMAIN;

	*delta = (double) gaussian_delta((long double) epsilon / mu - (long double) mu / 2, mu);
	return DP_OK;
}

/*
 * Whether mu-GDP is (epsilon, delta)-DP, beyond the error of computing dG.
 *
 * dG falls in a.  The error of a is that of a difference: nothing by the side of
 * DELTA_ERROR at ordinary epsilon, but the larger one from 1e9 or so on.
 */
static bool
promise_holds(double epsilon, double mu, double delta)
{
	long double far = (long double) epsilon / mu;
	long double near = (long double) mu / 2;
	long double least = far - near - 2 * LDBL_EPSILON * (far + near);

	return gaussian_delta(least, mu) * (1 + DELTA_ERROR) <= delta;
}

/*
 * dp_gaussian_mu - the largest mu (smallest noise) that is (epsilon, delta)-DP.
 *
 * Rounded down: dG(epsilon, mu) <= delta holds.
 * DP_ERR_DOMAIN unless epsilon > 0 is finite and 0 < delta < 1; DP_ERR_RANGE if
 * no positive double will do.
 */
DpStatus
dp_gaussian_mu(double epsilon, double delta, double *mu)
{
	double low = 1;
	double high;

	if (!positive_finite(epsilon) || !(delta > 0 && delta < 1))
		return DP_ERR_DOMAIN;

	/* low keeps the promise, high breaks it */
	while (low >= DBL_MIN && !promise_holds(epsilon, low, delta))
		low /= 2;
	if (low < DBL_MIN)
		return DP_ERR_RANGE;
	high = low * 2;
	while (high <= DBL_MAX && promise_holds(epsilon, high, delta))
	{
		low = high;
		high *= 2;
	}

	for (;;)
	{
		double middle = low + (high - low) / 2;

		if (middle <= low || middle >= high)
			break;
		if (promise_holds(epsilon, middle, delta))
			low = middle;
		else
			high = middle;
	}
	*mu = low;
	return DP_OK;
}

/*
 * dp_gaussian_epsilon - the smallest epsilon >= 0 at which mu-GDP is
 * (epsilon, delta)-DP.
 *
 * Rounded up: dG(epsilon, mu) <= delta holds.
 * DP_ERR_DOMAIN unless mu > 0 is finite and 0 < delta < 1; DP_ERR_RANGE if no
 * double will do.
 */
DpStatus
dp_gaussian_epsilon(double mu, double delta, double *epsilon)
{
	double low = 0;
	double high = 1;

	if (!positive_finite(mu) || !(delta > 0 && delta < 1))
		return DP_ERR_DOMAIN;

	*epsilon = 0;
	if (promise_holds(0, mu, delta))
		return DP_OK;

	/* low breaks the promise, high keeps it */
	while (high <= DBL_MAX && !promise_holds(high, mu, delta))
	{
		low = high;
		high *= 2;
	}
	if (high > DBL_MAX)
		return DP_ERR_RANGE;

	for (;;)
	{
		double middle = low + (high - low) / 2;

		if (middle <= low || middle >= high)
			break;
		if (promise_holds(middle, mu, delta))
			high = middle;
		else
			low = middle;
	}
	*epsilon = high;
	return DP_OK;
}

/*
 * dp_compose_mu - the mu of n Gaussian releases together: the root of the sum
 * of squares (Dong, Roth, Su, corollary 2), never rounded down.
 *
 * Infinite, which no budget holds, if a mu is negative or not a number.
 */
double
dp_compose_mu(const double *mu, int n)
{
	long double sum = 0;
	double result;

	for (int i = 0; i < n; i++)
	{
		if (!(mu[i] >= 0))
			return HUGE_VAL;
		sum += (long double) mu[i] * mu[i];
	}
	result = (double) sqrtl(sum);
	if ((long double) result * result < sum)
		result = nextafter(result, HUGE_VAL);
	return result;
}

/* The first order of (1) for a coordinate in both worlds, see dp_slack_epsilon(). */
static double
slack_first_order(double mu)
{
	double step = mu / DP_LATTICE_ONE;
	double near = SLACK_RANGE + step;
	double far = near + mu;

	return step * step * ((near * near - 1) + (far * far - 1)) / 24;
}

/*
 * dp_slack_epsilon - what the discrete Gaussian adds to the pure epsilon of a
 * mu-GDP release in which one user touches at most "keys" coordinates.
 *
 * An output within 12 standard deviations of one world's sum is within 12 + mu of
 * the other's, since no coordinate moves by more than a weight of 1, which is mu
 * standard deviations.  The price of a coordinate is
 *
 *	((12^2 - 1) + ((12 + mu)^2 - 1)) / (24 sigma^2),
 *
 * the first order of (1), (x^2 - 1)/(24 sigma^2), once for each world; it exceeds
 * the ((12 + mu)^2 + 1) / (24 sigma^2) that the difference of two terms within (1)
 * can reach at most.  In the world without the user, a coordinate that nobody else
 * has is not sampled, but decided by the computed dp_lattice_tail() (spurious.c):
 * so a coordinate costs at least the latter bound and that function's error, which
 * is the larger only below mu = 0.14.
 *
 * The 12 is stretched by one lattice step, so that outputs beyond it are no likelier
 * than dp_slack_delta() says: P(X = j) <= t P(R = j), and 2 Phibar(12 + 1/(2 sigma))
 * < 2 Phibar(12) / t.
 *
 * At m = 20, 1.1e-11 mu^2 a key for mu from 0.14 to 1 or so, and 1e-13 below.
 * Rounded up; infinite if mu or keys is negative or not a number, and beyond
 * mu = 2^m, where sigma < 1.
 */
double
dp_slack_epsilon(double mu, int64 keys)
{
	double step = mu / DP_LATTICE_ONE;
	double far = SLACK_RANGE + step + mu;
	double least = step * step * (far * far + 1) / 24 + TAIL_ERROR;

	if (!(mu >= 0 && step <= 1) || keys < 0)
		return HUGE_VAL;
	if (mu == 0)
		return 0; /* nothing is released */

	return keys * Max(slack_first_order(mu), least) * (1 + 1e-14);
}

/*
 * dp_slack_rounds - the same for several releases, one after the other, each chosen when
 * the ones before are public and each within "keys" coordinates of a user, whose mu_j^2
 * sum to at most mu^2 whatever comes up; a coordinate of nobody is decided "decided"
 * times by a computed tail with the relative error TAIL_ERROR.
 *
 * A coordinate's first order F exceeds what two terms within (1) can differ by in one
 * release; the quotient F(mu_j)/mu_j^2 grows with mu_j, so that the sum of F(mu_j) =
 * mu_j^2 (F(mu_j)/mu_j^2) is at most mu^2 (F(mu)/mu^2) = F(mu).  Along every sequence of
 * outputs the logarithms add up, so a chosen release costs no more than a fixed one.
 */
double
dp_slack_rounds(double mu, int64 keys, int decided)
{
	if (!(mu >= 0 && mu <= DP_LATTICE_ONE) || keys < 0 || decided < 0)
		return HUGE_VAL;
	if (mu == 0)
		return 0; /* nothing is released */

	return keys * (slack_first_order(mu) + decided * TAIL_ERROR) * (1 + 1e-14);
}

/*
 * dp_tail_mu - what the error of dp_lattice_tail() adds to the mu of one level in
 * which a user touches at most "keys" coordinates, where the discrete noise itself
 * has an exact price (zero-concentrated differential privacy).
 *
 * A coordinate decided by a probability with that relative error has, up to a factor
 * exp(+-error), the law of the exact one: both are (error^2/2)-zCDP to one another,
 * and the level's coordinates together (keys error^2/2).  The root of a Renyi
 * divergence's rate adds up along a way from law to law: (mu^2/2)-zCDP becomes
 * ((mu + error sqrt keys)^2/2)-zCDP (doc/privacy.md, "Accounting zcdp").  Rounded up;
 * infinite if keys is negative.
 */
double
dp_tail_mu(int64 keys)
{
	if (keys < 0)
		return HUGE_VAL;
	return sqrt((double) keys) * TAIL_ERROR * (1 + 1e-12);
}

/*
 * dp_slack_delta - the probability that one of "keys" coordinates lies beyond 12
 * standard deviations, where dp_slack_epsilon() says nothing.  Rounded up;
 * infinite if keys is negative.
 */
double
dp_slack_delta(int64 keys)
{
	if (keys < 0)
		return HUGE_VAL;
	return keys * (2 * dp_normal_sf(SLACK_RANGE)) * (1 + 1e-14);
}

/*
 * dp_union_threshold - the threshold that hides which items only one user has.
 *
 * A user with t such items gives each the weight 1/sqrt t; with noise of standard
 * deviation sigma, the probability that any of them exceeds rho is at most delta
 * if rho >= 1/sqrt t + sigma z(1 - (1 - delta)^(1/t)), and rho is the maximum of
 * that over t = 1 .. max_items (Gopi et al., "Differentially private set union",
 * ICML 2020, theorem 1.1).  sigma and rho in units of weight.
 *
 * Beyond t = 4096 the terms are bounded over cells of t by 1/sqrt of the cell's
 * first and z of its last t, which exceeds the maximum by less than 1e-4 of it.
 * Rounded up.  DP_ERR_DOMAIN unless sigma > 0 is finite, 0 < delta < 1 and
 * 1 <= max_items <= 2^26; DP_ERR_RANGE if delta / max_items is no double.
 */
DpStatus
dp_union_threshold(double sigma, double delta, int64 max_items, double *rho)
{
	double highest = -HUGE_VAL;
	int64 last;

	if (!positive_finite(sigma) || !(delta > 0 && delta < 1) ||
		max_items < 1 || max_items > UNION_MAX_ITEMS)
		return DP_ERR_DOMAIN;

	for (int64 first = 1; first <= max_items; first = last + 1)
	{
		double z;

		last = first < UNION_EXACT ? first : Min(first + first / UNION_CELL, max_items);
		if (dp_normal_isf(-expm1(log1p(-delta) / last), &z) != DP_OK)
			return DP_ERR_RANGE;
		/* four units in the last place cover the rounding of all this */
		highest = Max(highest, 1 / sqrt((double) first) + sigma * z +
								   4 * DBL_EPSILON * (1 + sigma * fabs(z)));
	}
	*rho = highest;
	return DP_OK;
}

/* The sum that makes exp(-j^2 / (2 sigma^2)) a law, by Poisson's formula. */
static long double
lattice_total(long double sigma)
{
	const long double two_pi_squared = 19.7392088021787172376689819991L;

	return sigma / SQRT_1_BY_2PI * (1 + 2 * expl(-two_pi_squared * sigma * sigma));
}

/* P(X > bound), bound >= 0, summed term by term. */
static long double
tail_by_sum(long double sigma, int64 bound)
{
	long double first = (long double) bound + 1;
	long double sum = 0;
	long double term = 1;

	/* terms relative to the first one, whose square is taken out */
	for (int64 y = 0; term > 1e-22L; y++)
	{
		term = expl(-y * (2 * first + y) / (2 * sigma * sigma));
		sum += term;
	}
	return sum * expl(-first * first / (2 * sigma * sigma)) / lattice_total(sigma);
}

/*
 * P(X > bound), bound >= 0, for large sigma: the midpoint rule's Euler-Maclaurin
 * series at c = bound + 1/2, f the density of N(0, sigma^2),
 *
 *	sum of f(j), j > c = integral of f from c on
 *						 + f'(c)/24 - 7 f'''(c)/5760 + 31 f'''''(c)/967680 - ...
 *
 * The n-th derivative is phi(z) (-1)^n He_n(z) / sigma^(n+1), z = c/sigma; the
 * first correction is z^2 / (24 sigma^2) of the whole, and what is left out less
 * than 1e-6 (z/sigma)^8, with z/sigma < 0.04 in the range of a double.
 */
static long double
tail_by_series(long double sigma, int64 bound)
{
	long double z = ((long double) bound + 0.5L) / sigma;
	long double y = z * z;
	long double q = 1 / (sigma * sigma);
	long double he3 = (y - 3) * z;
	long double he5 = ((y - 10) * y + 15) * z;
	long double correction = q * (z / 24 - q * (7 * he3 / 5760 - q * 31 * he5 / 967680));

	return dp_normal_sf_long(z) - correction * SQRT_1_BY_2PI * expl(-y / 2);
}

/*
 * dp_lattice_tail_real - p = P(X > bound) for the discrete Gaussian X on the integers
 * with parameter sigma (both in lattice units), relative error below 1e-13.
 *
 * DP_ERR_DOMAIN unless 1 <= sigma <= DP_MAX_SIGMA; DP_ERR_RANGE where p, below
 * 1e-307, is no normal double.
 */
DpStatus
dp_lattice_tail_real(long double sigma, int64 bound, double *p)
{
	int64 distance = bound >= 0 ? bound : -(bound + 1);
	long double tail;

	if (!(sigma >= 1 && sigma <= DP_MAX_SIGMA))
		return DP_ERR_DOMAIN;

	tail = sigma <= DIRECT_SIGMA ?
			   tail_by_sum(sigma, distance) :
			   tail_by_series(sigma, distance);
	/* P(X > bound) = 1 - P(X > -bound - 1), since X and -X have one law */
	*p = (double) (bound >= 0 ? tail : 1 - tail);
	return *p >= DBL_MIN ? DP_OK : DP_ERR_RANGE;
}

/* dp_lattice_tail - the same for an integer sigma. */
DpStatus
dp_lattice_tail(int64 sigma, int64 bound, double *p)
{
	return dp_lattice_tail_real(sigma, bound, p);
}

static bool
tail_exceeds(long double sigma, int64 bound, double p)
{
	double tail;

	return dp_lattice_tail_real(sigma, bound, &tail) == DP_OK && tail > p;
}

/*
 * dp_lattice_threshold_real - the smallest integer bound with P(X > bound) <= p, as
 * dp_lattice_tail() computes it.
 *
 * The normal quantile is a step or two away, so the search starts there.
 * DP_ERR_DOMAIN unless 1 <= sigma <= DP_MAX_SIGMA and 0 < p < 1; DP_ERR_RANGE for
 * p < 1e-300.
 */
DpStatus
dp_lattice_threshold_real(long double sigma, double p, int64 *bound)
{
	int64 low;
	int64 high;
	int64 step = 1;
	double z;

	if (!(sigma >= 1 && sigma <= DP_MAX_SIGMA) || dp_normal_isf(p, &z) != DP_OK)
		return DP_ERR_DOMAIN;
	if (p < 1e-300)
		return DP_ERR_RANGE;

	/* bracket: the tail at low exceeds p, the tail at high does not */
	low = high = (int64) floor((double) sigma * z);
	while (tail_exceeds(sigma, high, p))
	{
		low = high;
		high += step;
		step *= 2;
	}
	while (!tail_exceeds(sigma, low, p))
	{
		high = low;
		low -= step;
		step *= 2;
	}

	while (high - low > 1)
	{
		int64 middle = low + (high - low) / 2;

		if (tail_exceeds(sigma, middle, p))
			low = middle;
		else
			high = middle;
	}
	*bound = high;
	return DP_OK;
}

/* dp_lattice_threshold - the same for an integer sigma. */
DpStatus
dp_lattice_threshold(int64 sigma, double p, int64 *bound)
{
	return dp_lattice_threshold_real(sigma, p, bound);
}

/*
 * dp_lattice_weight - floor(2^m / sqrt(items)), the weight in lattice units of
 * each of a user's items; 0 for no items and for more than 2^(2m).
 *
 * Its point: items * weight^2 <= 2^(2m), so the user's l2 norm is at most 1
 * exactly, not up to rounding.  floor(sqrt(x)) = floor(sqrt(floor(x))), and the
 * double square root of an integer below 2^41 is off by one at most.
 */
int64
dp_lattice_weight(uint64 items)
{
	uint64 square;
	uint64 root;

	if (items == 0)
		return 0;

	square = ((uint64) DP_LATTICE_ONE * DP_LATTICE_ONE) / items;
	root = (uint64) sqrt((double) square);
	while (root * root > square)
		root--;
	while ((root + 1) * (root + 1) <= square)
		root++;
	return (int64) root;
}
