/*
 * dp_zcdp.c
 *	  The calculus of zero-concentrated differential privacy (zCDP), which adds
 *	  up where many small releases of different kinds are to be accounted as one.
 *
 * A mechanism is rho-zCDP if, whichever of two neighbours has the law P and which
 * Q, the Renyi divergence D_a(P||Q) is at most a rho for every order a > 1 (Bun
 * and Steinke, "Concentrated Differential Privacy", TCC 2016).  Gaussian noise on
 * a sum is (mu^2/2)-zCDP, the discrete Gaussian on a sum of integers likewise,
 * and rho adds up, for adaptive choices too.
 *
 * What rho promises
 * -----------------
 * A rho-zCDP mechanism is (epsilon, delta)-DP for
 *
 *	delta = inf over a > 1 of exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1)	(1)
 *
 * (Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy",
 * NeurIPS 2020, corollary 13).  Every a gives a promise that holds, so finding the
 * minimum is a matter of thrift alone, and only the value at the a that was taken
 * must be rounded up.  With b = a - 1 the logarithm of (1) is
 *
 *	g(b) = b ((b + 1) rho - epsilon) - b log(1 + 1/b) - log(1 + b),
 *	g'(b) = (2 b + 1) rho - epsilon - log(1 + 1/b),
 *	g''(b) = 2 rho + 1 / (b (b + 1)).
 *
 * g is convex, 0 at b = 0 and falls from there, so (1) never exceeds 1 and g' has
 * one root.  g' is concave: Newton's steps from the left of the root rise to it
 * and never pass it.  Near the root the terms of g cancel, but not those of
 *
 *	g(b) = b g'(b) - b^2 rho - log(1 + b),											(2)
 *
 * the same function, whose first term all but vanishes there.
 *
 * Every result is rounded so that the promise holds.
 */
#include "common/dp_base.h"

#include <float.h>
#include <math.h>

#include "common/dp_normal.h"
#include "common/dp_zcdp.h"

#define SQRT_HALF 0.707106781186547524400844362104849039L

/* ln of what is below every positive double, 2^-1074 = exp(-744.4) */
#define LOG_BELOW_DOUBLES -784.0L

/* Newton's steps: fewer than 10 nearly always, and any b will do. */
#define MAX_STEPS 200

/* The error of a sum in long double relative to the size of its terms, generously. */
#define SUM_ERROR (8 * LDBL_EPSILON)

/* Relative error of comparing tails in mu_keeps(), generously. */
#define TAIL_MARGIN 1e-14

static bool
positive_finite(double x)
{
	return x > 0 && x <= DBL_MAX;
}

/* The smallest double that is not below x > 0, and none below 2^-1074. */
static double
round_up(long double x)
{
	double nearest = (double) x;

	return nearest > 0 && nearest >= x ? nearest : nextafter(nearest, HUGE_VAL);
}

/*
 * A point at or left of the root of g', near enough for Newton's steps; 0 if the
 * root is so small that delta is 1 for every purpose.
 *
 * Each of the three makes g' <= 0, by log(1 + 1/b) >= 0, >= 1/(1 + b) and
 * >= log(1/b) in turn.
 */
static long double
left_of_minimum(long double rho, long double epsilon)
{
	long double far = (epsilon - rho) / (2 * rho);
	long double middle = 1 / sqrtl(2 * rho) - 1;
	long double near = Min(1 / (2 * rho), expl(epsilon - rho - 1));

	return Max(Max(far, middle), near);
}

/*
 * An upper bound of g at its minimum, for finite rho > 0 and epsilon >= 0.
 *
 * An error of b in its 12th digit costs one of g in its 20th; the error of
 * computing (2) is bounded by that of a sum of its terms.
 */
static long double
log_delta(long double rho, long double epsilon)
{
	long double b = left_of_minimum(rho, epsilon);
	long double offset = rho - epsilon;
	long double pull; /* log(1 + 1/b) */
	long double slope;

	if (!(b > 0))
		return 0;
	for (int i = 0; i < MAX_STEPS; i++)
	{
		long double step;

		if (b * sqrtl(rho) > 28)
			return LOG_BELOW_DOUBLES; /* g <= -b^2 rho left of the root */
		pull = log1pl(1 / b);
		slope = 2 * b * rho + offset - pull;
		step = -slope / (2 * rho + 1 / (b * (b + 1)));
		if (!(step > b * 1e-12L))
			break;
		b += step;
	}
	return b * slope - b * b * rho - log1pl(b) +
		   SUM_ERROR * (b * (2 * b * rho + fabsl(offset) + pull) + b * b * rho + log1pl(b));
}

/* (1), rounded up. */
static double
zcdp_delta(double rho, double epsilon)
{
	long double delta = expl(log_delta(rho, epsilon)) * (1 + SUM_ERROR);

	return delta < 1 ? round_up(delta) : 1;
}

/*
 * dp_zcdp_delta - a delta for which rho-zCDP is (epsilon, delta)-DP.
 *
 * Never below the infimum (1), and above it by less than 1e-12 of it for rho up to
 * 1e6 where that is a normal double; never 0.  DP_ERR_DOMAIN unless rho > 0 and
 * epsilon >= 0 are finite.
 */
DpStatus
dp_zcdp_delta(double rho, double epsilon, double *delta)
{
	if (!positive_finite(rho) || !(epsilon >= 0 && epsilon <= DBL_MAX))
		return DP_ERR_DOMAIN;

	*delta = zcdp_delta(rho, epsilon);
	return DP_OK;
}

/*
 * Does a promise hold at x?  True on one side of a boundary and false on the
 * other; p and q are the promise's other two numbers.
 */
typedef bool (*Promise)(double x, double p, double q);

static bool
rho_keeps(double rho, double epsilon, double delta)
{
	return zcdp_delta(rho, epsilon) <= delta;
}

static bool
epsilon_keeps(double epsilon, double rho, double delta)
{
	return zcdp_delta(rho, epsilon) <= delta;
}

/* The double next to the boundary on the side where the promise holds. */
static double
boundary(Promise promise, double keeps, double breaks, double p, double q)
{
	for (;;)
	{
		double middle = keeps + (breaks - keeps) / 2;

		if (middle == keeps || middle == breaks)
			return keeps;
		if (promise(middle, p, q))
			keeps = middle;
		else
			breaks = middle;
	}
}

/*
 * dp_zcdp_rho - the largest rho that is (epsilon, delta)-DP by (1).
 *
 * Rounded down: dp_zcdp_delta(rho, epsilon) <= delta holds.
 * DP_ERR_DOMAIN unless epsilon > 0 is finite and 0 < delta < 1; DP_ERR_RANGE if
 * no normal positive double will do.
 */
DpStatus
dp_zcdp_rho(double epsilon, double delta, double *rho)
{
	double low = 1;
	double high;

	if (!positive_finite(epsilon) || !(delta > 0 && delta < 1))
		return DP_ERR_DOMAIN;

	/* low keeps the promise, high breaks it */
	while (low >= DBL_MIN && !rho_keeps(low, epsilon, delta))
		low /= 2;
	if (low < DBL_MIN)
		return DP_ERR_RANGE;
	high = low * 2;
	while (high <= DBL_MAX && rho_keeps(high, epsilon, delta))
	{
		low = high;
		high *= 2;
	}
	*rho = boundary(rho_keeps, low, Min(high, DBL_MAX), epsilon, delta);
	return DP_OK;
}

/*
 * dp_zcdp_epsilon - the smallest epsilon >= 0 at which rho-zCDP is
 * (epsilon, delta)-DP by (1).
 *
 * Rounded up: dp_zcdp_delta(rho, epsilon) <= delta holds.
 * DP_ERR_DOMAIN unless rho > 0 is finite and 0 < delta < 1; DP_ERR_RANGE if no
 * double will do.
 */
DpStatus
dp_zcdp_epsilon(double rho, double delta, double *epsilon)
{
	double low = 0;
	double high = 1;

	if (!positive_finite(rho) || !(delta > 0 && delta < 1))
		return DP_ERR_DOMAIN;

	*epsilon = 0;
	if (epsilon_keeps(0, rho, delta))
		return DP_OK;

	/* low breaks the promise, high keeps it */
	while (high <= DBL_MAX && !epsilon_keeps(high, rho, delta))
	{
		low = high;
		high *= 2;
	}
	if (high > DBL_MAX)
		return DP_ERR_RANGE;
	*epsilon = boundary(epsilon_keeps, high, low, rho, delta);
	return DP_OK;
}

/*
 * x^2 2^shift, rounded up to a double; infinite if x is negative or not a number.
 *
 * The fraction is squared on its own, where fma tells the sign of the error and
 * nothing underflows.
 */
static double
square_up(double x, int shift)
{
	int exponent;
	double fraction;
	double square;
	double result;

	if (!(x >= 0 && x <= DBL_MAX))
		return HUGE_VAL;

	fraction = frexp(x, &exponent);
	square = fraction * fraction;
	if (fma(fraction, fraction, -square) > 0)
		square = nextafter(square, HUGE_VAL);
	shift += 2 * exponent;
	result = ldexp(square, shift);
	return ldexp(result, -shift) < square ? nextafter(result, HUGE_VAL) : result;
}

/*
 * dp_pure_to_rho - the rho of an epsilon-DP mechanism, epsilon^2/2 (Bun and
 * Steinke 2016, proposition 1.4), rounded up; infinite if epsilon is negative or
 * not a number.
 */
double
dp_pure_to_rho(double epsilon)
{
	return square_up(epsilon, -1);
}

/*
 * dp_exponential_to_rho - the rho of a mechanism of bounded range epsilon,
 * epsilon^2/8, rounded up; infinite if epsilon is negative or not a number.
 *
 * Its privacy losses lie within an interval of length epsilon, wherever that is
 * (Cesar and Rogers, "Bounding, concentrating, and truncating", ALT 2021).  The
 * exponential mechanism and the maximum after Gumbel noise are such; permute-and-
 * flip and noisy maxima after other noise are not, and cost dp_pure_to_rho().
 */
double
dp_exponential_to_rho(double epsilon)
{
	return square_up(epsilon, -3);
}

/*
 * Whether Phibar(mu/2) <= 1/(1 + exp(epsilon)), by more than the margin.
 *
 * Below epsilon = 1 by what both sides lack to 1/2, above by their logarithms,
 * so that neither digits nor range are lost.
 */
static bool
mu_keeps(double mu, double epsilon, double margin)
{
	long double z = (long double) mu / 2;

	if (epsilon < 1)
		return erfl(z * SQRT_HALF) >= tanhl((long double) epsilon / 2) * (1 + margin);
	return z * z / 2 - logl(dp_erfcx((double) (z * SQRT_HALF)) / 2) >=
		   (epsilon + log1pl(expl(-(long double) epsilon))) * (1 + margin);
}

/*
 * dp_pure_to_mu - the smallest mu for which every epsilon-DP mechanism is mu-GDP,
 * 2 Phibar^-1(1 / (1 + exp(epsilon))), rounded up by less than 1e-13 of it;
 * infinite if epsilon is negative or not a number.
 *
 * The trade-off function of epsilon-DP is made of two straight lines, which meet
 * where both errors are 1/(1 + exp(epsilon)).  That of mu-GDP is convex with the
 * same ends, so it lies below them as soon as it does in that point, where its own
 * errors are Phibar(mu/2).  mu is below 1.2534 epsilon.
 */
double
dp_pure_to_mu(double epsilon)
{
	if (!(epsilon >= 0 && epsilon <= DBL_MAX / 2))
		return HUGE_VAL;
	return boundary(mu_keeps, 2 * epsilon, 0, epsilon, TAIL_MARGIN);
}
