/*
 * dp_normal.c
 *	  The standard normal distribution in its far tails, where thresholds and
 *	  deltas live and textbook formulas lose their digits.
 *
 * In the tail, Phibar(z) ~ exp(-z^2/2), so an error of one unit in the last
 * place of z costs z^2 units in the result: 144 of them at z = 12, 1,400 at the
 * end of a double's range.  The functions therefore compute in long double
 * (libm's erfcl and expl), which keeps a double's precision to that end; where
 * long double is no longer than double, expect a relative error of z^2 2^-53.
 *
 * GSL gives the first approximation of the quantile.  It is under the GPL, so
 * only this file and dp_clopper.c include it, and its error handler, which
 * would abort() a whole database cluster, is switched off before first use.
 */
#include "common/dp_base.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "common/dp_normal.h"

/* 1/sqrt(2), sqrt(2/pi), 1/sqrt(pi) */
#define SQRT_HALF 0.707106781186547524400844362104849039L
#define SQRT_2_BY_PI 0.797884560802865355879892119868763737L
#define SQRT_1_BY_PI 0.564189583547756286948079451560772586L

/* From here on the continued fraction of erfcx has converged at this depth. */
#define FRACTION_FROM 5.0
#define FRACTION_DEPTH 25

/*
 * dp_normal_sf_long - Phibar(z) = P(N(0,1) > z) in the range of long double.
 */
long double
dp_normal_sf_long(long double z)
{
	return 0.5L * erfcl(z * SQRT_HALF);
}

/*
 * dp_normal_sf - Phibar(z) = P(N(0,1) > z), relative error below 1e-15 down to
 * the smallest normal double (z = 37.5), 0 far beyond.
 */
double
dp_normal_sf(double z)
{
	return (double) dp_normal_sf_long(z);
}

/*
 * dp_erfcx - exp(x^2) erfc(x), the scaled complementary error function,
 * relative error below 1e-15; infinite below x = -26.6, where it overflows.
 *
 * From x = 5 on by Laplace's continued fraction (Abramowitz and Stegun, 7.1.14)
 * sqrt(pi) erfcx(x) = 1/(x + (1/2)/(x + (2/2)/(x + (3/2)/(x + ...)))).
 */
double
dp_erfcx(double x)
{
	long double y = x;
	long double tail = y;

	if (isnan(x))
		return x;
	if (x < FRACTION_FROM)
		return (double) (expl(y * y) * erfcl(y));

	for (int k = FRACTION_DEPTH; k >= 1; k--)
		tail = y + 0.5L * k / tail;
	return (double) (SQRT_1_BY_PI / tail);
}

/* The z <= 38.5 with Phibar(z) = p, for p <= 1/2. */
static double
upper_quantile(double p)
{
	static bool handler_off = false;
	long double z;

	if (!handler_off)
	{
		gsl_set_error_handler_off();
		handler_off = true;
	}
	z = gsl_cdf_ugaussian_Qinv(p);

	/*
	 * Newton's step for ln Phibar(z) = ln p, whose derivative is minus the
	 * hazard phi/Phibar = sqrt(2/pi) / erfcx(z/sqrt 2).  ln Phibar is nearly a
	 * parabola, so each step squares GSL's small error.
	 */
	for (int step = 0; step < 2; step++)
	{
		long double tail = dp_normal_sf_long(z);

		z += log1pl((tail - p) / p) * dp_erfcx((double) (z * SQRT_HALF)) / SQRT_2_BY_PI;
	}
	return (double) z;
}

/*
 * dp_normal_isf - the z with Phibar(z) = p.
 *
 * z is right to one unit in its last place for p down to the smallest normal
 * double, so that Phibar(z) meets p as closely as a double z can: within
 * z^2 2^-53, 1e-14 at p = 1e-20.  DP_ERR_DOMAIN unless 0 < p < 1.
 */
DpStatus
dp_normal_isf(double p, double *z)
{
	if (!(p > 0 && p < 1))
		return DP_ERR_DOMAIN;

	/* 1 - p is exact for p >= 1/2 */
	*z = p <= 0.5 ? upper_quantile(p) : -upper_quantile(1 - p);
	return DP_OK;
}
