/*
 * test_normal.c
 *	  The normal distribution's tails against 18 digits computed at a precision
 *	  of 60 with mpmath 1.3.
 */
#include "common/dp_normal.h"

#include <gsl/gsl_sf_erf.h>
#include <math.h>

#include "tap.h"

typedef struct Golden
{
	double x;
	double value;
} Golden;

static const Golden tails[] = {
	{-3, 9.98650101968369905e-1},
	{-0.5, 6.91462461274013104e-1},
	{0, 5.0e-1},
	{0.1, 4.60172162722971016e-1},
	{1, 1.58655253931457051e-1},
	{3, 1.34989803163009453e-3},
	{5.5, 1.89895624658877194e-8},
	{8, 6.22096057427178412e-16},
	{12, 1.776482112077679e-33},
	{20, 2.7536241186062337e-89},
	{30, 4.90671392714818706e-198},
	{37.5, 4.60535300958195484e-308},
};

static const Golden quantiles[] = {
	{0.75, -6.74489750196081743e-1},
	{0.5, 0.0},
	{0.4999, 2.50662830088007492e-4},
	{0.1, 1.28155156554460044},
	{1e-3, 3.09023230616781354},
	{1e-7, 5.19933758219281694},
	{1e-12, 7.03448382530113193},
	{1e-20, 9.26234008979840758},
	{1e-50, 1.4933337534788489e+1},
	{1e-100, 2.12734535609653243e+1},
	{1e-200, 3.02055941795796431e+1},
	{1e-300, 3.70470962993611992e+1},
};

static const Golden scaled[] = {
	{-26, 7.65772493149056835e+293},
	{-5, 1.4400979867466104e+11},
	{-1, 5.00898008076228347},
	{-0.01, 1.01138454895399083},
	{0, 1.0},
	{0.01, 9.8881546104634251e-1},
	{0.5, 6.15690344192925875e-1},
	{1, 4.27583576155807004e-1},
	{2.5, 2.10806364061143581e-1},
	{4.99, 1.10918370453888116e-1},
	{5, 1.10704637733068626e-1},
	{5.01, 1.10491713152792981e-1},
	{8, 6.99851662008809277e-2},
	{30, 1.87958888614167515e-2},
	{1e3, 5.64189301453387654e-4},
	{1e8, 5.64189583547756259e-9},
	{1e150, 5.64189583547756298e-151},
};

/* Within "units" of a double's last place, relatively. */
static bool
close_to(double got, double expected, double units)
{
	return fabs(got - expected) <= units * 0x1p-52 * fabs(expected);
}

static void
test_domains(void)
{
	const double bad[] = {0, 1, -0.5, 1.5, NAN, INFINITY};
	double z;

	for (size_t i = 0; i < lengthof(bad); i++)
		ok(dp_normal_isf(bad[i], &z) == DP_ERR_DOMAIN, "quantile of %g is refused", bad[i]);
	ok(isnan(dp_normal_sf(NAN)) && isnan(dp_erfcx(NAN)), "NaN stays NaN");
	ok(dp_normal_sf(INFINITY) == 0 && dp_normal_sf(-INFINITY) == 1, "tails of the infinities");
	ok(dp_erfcx(INFINITY) == 0, "erfcx falls to 0");
	ok(isinf(dp_erfcx(-27)), "erfcx overflows to infinity");
}

/* What an independent implementation says, and that one function inverts the other. */
static void
test_consistency(void)
{
	double worst_gsl = 0;
	double worst_inverse = 0;

	for (int i = 0; i < 1000; i++)
	{
		double x = -5 + i * 0.03;
		double p = exp2(-1 - i);
		double z;

		if (x < 25)
			worst_gsl = Max(worst_gsl, fabs(log(dp_erfcx(x)) - x * x - gsl_sf_log_erfc(x)));
		if (dp_normal_isf(p, &z) != DP_OK)
			worst_inverse = INFINITY;
		else
			worst_inverse = Max(worst_inverse, fabs(dp_normal_sf(z) / p - 1) / (1 + z * z));
	}
	ok(worst_gsl < 1e-12, "erfcx agrees with GSL's log_erfc: %g", worst_gsl);
	ok(worst_inverse < 0x1p-51, "tail of quantile returns, down to 2^-1000: %g", worst_inverse);
}

int
main(void)
{
	for (size_t i = 0; i < lengthof(tails); i++)
		ok(close_to(dp_normal_sf(tails[i].x), tails[i].value, 4), "tail at %g", tails[i].x);
	for (size_t i = 0; i < lengthof(quantiles); i++)
	{
		double z;

		ok(dp_normal_isf(quantiles[i].x, &z) == DP_OK && close_to(z, quantiles[i].value, 2),
		   "quantile of %g", quantiles[i].x);
	}
	for (size_t i = 0; i < lengthof(scaled); i++)
		ok(close_to(dp_erfcx(scaled[i].x), scaled[i].value, 4), "erfcx at %g", scaled[i].x);
	test_domains();
	test_consistency();
	return tap_done();
}
