/*
 * test_accounting.c
 *	  What histories of releases cost as zCDP and as GDP: the design's tables, and
 *	  Google's dp_accounting beside ours.
 */
#include "common/dp_zcdp.h"

#include <math.h>

#include "common/dp_gaussian.h"
#include "conversions.h"
#include "tap.h"

/* What the conversions give, NaN where they refuse. */
static double
mu_of(double epsilon, double delta)
{
	double mu;

	return dp_gaussian_mu(epsilon, delta, &mu) == DP_OK ? mu : NAN;
}

static double
gaussian_epsilon_of(double mu, double delta)
{
	double epsilon;

	return dp_gaussian_epsilon(mu, delta, &epsilon) == DP_OK ? epsilon : NAN;
}

/* epsilon at delta = 1e-7 of mu^2/2-zCDP and of mu-GDP, to the digits that the design prints. */
static void
test_table(void)
{
	const struct
	{
		double mu;
		double bun_steinke; /* rho + 2 sqrt(rho ln(1/delta)), Bun and Steinke 2016 */
		double zcdp;
		double gdp;
		double half_digit;
	} table[] = {
		{0.1, 0.573, 0.479, 0.447, 5e-4},
		{0.25, 1.451, 1.261, 1.182, 5e-4},
		{0.5, 2.964, 2.649, 2.490, 5e-4},
		{0.753, 4.559, 4.140, 3.900, 5e-4},
		{1, 6.178, 5.671, 5.349, 5e-4},
		{2, 13.36, 12.57, 11.91, 5e-3},
	};

	for (size_t i = 0; i < lengthof(table); i++)
	{
		double rho = table[i].mu * table[i].mu / 2;
		double bun_steinke = rho + 2 * sqrt(rho * log(1e7));
		double zcdp = epsilon_of(rho, 1e-7);
		double gdp = gaussian_epsilon_of(table[i].mu, 1e-7);

		ok(fabs(bun_steinke - table[i].bun_steinke) < table[i].half_digit &&
			   fabs(zcdp - table[i].zcdp) < table[i].half_digit &&
			   fabs(gdp - table[i].gdp) < table[i].half_digit &&
			   gdp < zcdp && zcdp < bun_steinke,
		   "mu %g at delta 1e-7: %.3f by Bun and Steinke, %.3f as zCDP, %.3f as GDP",
		   table[i].mu, bun_steinke, zcdp, gdp);
	}
}

/* Twelve releases, each of (.5, 1e-8) by itself: the epsilon of all at delta 1e-7. */
static void
test_twelve(void)
{
	double mu[12];
	double all;
	double gdp;
	double zcdp;

	for (int i = 0; i < 12; i++)
		mu[i] = mu_of(0.5, 1e-8);
	all = dp_compose_mu(mu, 12);
	gdp = gaussian_epsilon_of(all, 1e-7);
	zcdp = epsilon_of(all * all / 2, 1e-7);
	ok(fabs(mu[0] - 0.10138354272055) < 1e-14, "mu of (.5, 1e-8) is %.15g", mu[0]);
	ok(fabs(gdp - 1.70) < 5e-3 && fabs(gdp - 1.700435708) < 1e-9, "12 of them as GDP: %.10g", gdp);
	ok(fabs(zcdp - 1.81) < 5e-3 && fabs(zcdp - 1.811576519) < 1e-9,
	   "as zCDP: %.10g; basic: %g", zcdp, 12 * 0.5);
}

/* How many amounts fit a cap, as sums of doubles; the amounts here are not near a tie. */
static int
fit(double cap, double amount)
{
	int n = 0;

	while ((n + 1) * amount <= cap)
		n++;
	return n;
}

/*
 * How many calls of (1, 1e-7), a tenth of whose delta is additive, a budget of
 * (4, 1e-6) holds, by the caps of each accounting: a quarter of delta for additive
 * amounts, and in gdp a thousandth of epsilon for pure ones.  The lattice's slack,
 * 1e-9 of epsilon, makes no difference.
 */
static void
test_counts(void)
{
	double mu = mu_of(1 - 1e-9, 0.9e-7);
	double mu_cap = mu_of(4 - 0.004, 0.75e-6 * exp(-0.004));
	double rho_cap = NAN;
	int additive = fit(0.25e-6, 0.1e-7);
	int gdp;
	int zcdp;

	(void) dp_zcdp_rho(4, 0.75e-6, &rho_cap);
	gdp = fit(mu_cap * mu_cap, mu * mu);
	zcdp = fit(rho_cap, mu * mu / 2);
	ok(Min(gdp, additive) == 15, "gdp holds 15: %.3f", mu_cap * mu_cap / (mu * mu));
	ok(Min(zcdp, additive) == 13, "zcdp holds 13: %.3f", rho_cap / (mu * mu / 2));
	ok(Min(fit(4, 1), fit(1e-6, 1e-7)) == 4, "basic holds 4");
}

/* Below what a search over a grid found, by no more than a part of it. */
static bool
near(double got, double grid, double part)
{
	return got <= grid && got >= grid * (1 - part);
}

/*
 * Google's dp_accounting 0.6.0 (pip install dp-accounting).  "fine" is its
 * RdpAccountant over the orders list(1 + numpy.geomspace(.0101, 1e5, 400001)),
 * "plain" the same over its default orders, after ZCDpEvent(rho).
 */
static void
test_google(void)
{
	const struct
	{
		double rho;
		double delta;
		double fine;
		double plain;
	} by_delta[] = {
		{0.005, 1e-7, 0.478884435508126, 0.478900816060647},
		{0.02, 1e-6, 0.899935267753619, 0.899938504173218},
		{0.0616701282, 1e-7, 1.81155123768891, 1.811883991977},
		{0.125, 1e-10, 3.24361314523331, 3.24410692017899},
		{0.5, 1e-7, 5.67085883547373, 5.67103379424754},
		{2, 1e-7, 12.5696916823729, 12.570016298289},
		{10, 1e-5, 30.1108573043148, 30.1266311038503},
	};
	const struct
	{
		double rho;
		double epsilon;
		double fine;
		double plain;
	} by_epsilon[] = {
		{0.02, 1, 8.82525502366928e-08, 8.86460496288378e-08},
		{0.125, 2.5, 4.551231739145e-07, 4.55135660736024e-07},
		{0.5, 5, 2.89612281673258e-06, 2.89619310539064e-06},
		{2, 12, 4.52848070184196e-07, 4.53154782503961e-07},
		{10, 30, 1.12177022816413e-05, 1.13499824406212e-05},
	};
	double mu = 0.10138354272055217537;
	double gdp = gaussian_epsilon_of(sqrt(12) * mu, 1e-7);
	double mixed;

	for (size_t i = 0; i < lengthof(by_delta); i++)
	{
		double epsilon = epsilon_of(by_delta[i].rho, by_delta[i].delta);

		ok(near(epsilon, by_delta[i].fine, 1e-8) && epsilon <= by_delta[i].plain,
		   "epsilon(rho %g, delta %g) = %.12g, dp_accounting says %.12g", by_delta[i].rho,
		   by_delta[i].delta, epsilon, by_delta[i].fine);
	}
	for (size_t i = 0; i < lengthof(by_epsilon); i++)
	{
		double delta = delta_of(by_epsilon[i].rho, by_epsilon[i].epsilon);

		ok(near(delta, by_epsilon[i].fine, 1e-7) && delta <= by_epsilon[i].plain,
		   "delta(rho %g, epsilon %g) = %.12g, dp_accounting says %.12g", by_epsilon[i].rho,
		   by_epsilon[i].epsilon, delta, by_epsilon[i].fine);
	}

	/* GaussianDpEvent(1/mu) twelve times: RdpAccountant (fine), then PLDAccountant */
	ok(near(epsilon_of(6 * mu * mu, 1e-7), 1.81157651884233, 1e-8),
	   "12 Gaussian releases as zCDP agree with dp_accounting");
	ok(near(gdp, 1.70043572494045, 1e-7), "and as GDP, %.12g", gdp);

	/* GaussianDpEvent(2) and 30 times ZCDpEvent(.05 ** 2 / 2), then / 8; fine, delta 1e-6 */
	mixed = epsilon_of(0.125 + 30 * dp_pure_to_rho(0.05), 1e-6);
	ok(near(mixed, 2.79294505818857, 1e-8), "mu .5 and 30 pure .05: %.12g", mixed);
	gdp = gaussian_epsilon_of(0.5, 1e-6) + 30 * 0.05;
	ok(fabs(gdp - 3.754) < 5e-4, "which sums with a Gaussian part come to as %.4g", gdp);
	gdp = gaussian_epsilon_of(0.5, 1e-6 * exp(-1.5)) + 30 * 0.05;
	ok(fabs(gdp - 3.910) < 5e-4, "and the lanes of gdp, whose pure one bears a factor: %.4g", gdp);
	mixed = epsilon_of(0.125 + 30 * dp_exponential_to_rho(0.05), 1e-6);
	ok(near(mixed, 2.51666052248233, 1e-8), "and 30 exponential .05: %.12g", mixed);
}

int
main(void)
{
	test_table();
	test_twelve();
	test_counts();
	test_google();
	return tap_done();
}
