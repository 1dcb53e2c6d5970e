/*
 * test_gaussian.c
 *	  Calibration, composition and thresholds against published figures and
 *	  against 18 digits computed at a precision of 80 with mpmath 1.3.
 */
#include "common/dp_gaussian.h"

#include <math.h>

#include "common/dp_normal.h"
#include "tap.h"

typedef struct Delta
{
	double epsilon;
	double mu;
	double delta;
} Delta;

static const Delta deltas[] = {
	{0, 1e-10, 3.98942280401432692e-11},
	{0, 0.5, 1.97412651365847448e-1},
	{0, 3, 8.66385597462283868e-1},
	{1e-6, 1e-3, 3.98442662471268214e-4},
	{0.01, 1e-3, 7.51202572235820116e-28},
	{0.01, 0.02, 3.97565895938057552e-3},
	{0.1, 0.1, 8.75176814580959449e-3},
	{0.5, 0.05, 4.79729136266234441e-26},
	{1, 0.1, 1.23083598364271123e-25},
	{1, 0.25, 2.92427210485640735e-6},
	{1, 1, 1.26936737506643946e-1},
	{1, 4, 9.26711281255480395e-1},
	{4, 0.5, 2.70603380295690694e-16},
	{4, 0.8159, 5.0057391725458385e-7},
	{4, 2, 8.49533186710710628e-2},
	{4, 8, 9.99581864253936881e-1},
	{10, 1, 9.81270582684695595e-23},
	{10, 12, 9.99999789477100974e-1},
	{100, 5, 1.58478023266862658e-69},
	{100, 15, 7.77869664795622939e-1},
	{1000, 40, 2.53629651495655088e-7},
	{1e4, 140, 7.55470237697628551e-2},
	{1e4, 150, 9.99999999999999958e-1},
	{1, 1000, 1},
	{2, 1e6, 1},
	{1, 0.021, 0},
	{1e4, 1e-300, 0},
};

/* sigma = 1/mu for (epsilon, delta), as the design and DPNE's tables print it. */
static const struct
{
	double epsilon;
	double delta;
	double sigma;
	double half_digit;
} sigmas[] = {
	{4, 5e-7, 1.22569, 5e-6},
	{1, 5e-8, 4.8087, 5e-5},
	{4, 5e-8, 1.3279, 5e-5},
	{1, 1e-6, 4.2247, 5e-5},
	{4, 9e-8, 1.3024, 5e-5},
	{1, 9e-8, 4.6986, 5e-5},
	{4, 1e-7, 1.2978, 5e-5},
	/* the same to twelve places */
	{4, 5e-7, 1.22569307325, 1e-11},
	{1, 5e-8, 4.80870240585, 1e-11},
	{1, 1e-6, 4.22467888933, 1e-11},
};

/* epsilon at delta = 1e-7. */
static const struct
{
	double mu;
	double epsilon;
} epsilons[] = {
	{0.1, 4.470784241863837e-1},
	{0.25, 1.18174590055524943},
	{0.5, 2.49033852934045735},
	{0.753, 3.89957480670525551},
	{1, 5.3493454057768334},
	{2, 1.19078673981350641e+1},
};

static void
test_delta(void)
{
	const double bad_epsilon[] = {-1, NAN, INFINITY, -INFINITY};
	const double bad_mu[] = {0, -1, NAN, INFINITY};
	double delta;
	bool fine;

	for (size_t i = 0; i < lengthof(deltas); i++)
	{
		fine = dp_gaussian_delta(deltas[i].epsilon, deltas[i].mu, &delta) == DP_OK;

		ok(fine && fabs(delta - deltas[i].delta) <= 1e-13 * deltas[i].delta,
		   "delta(epsilon %g, mu %g) = %.17g", deltas[i].epsilon, deltas[i].mu, delta);
	}
	fine = dp_gaussian_delta(4, 1 / 1.2257, &delta) == DP_OK;
	ok(fine && fabs(delta - 5e-7) < 5e-10,
	   "sigma 1.2257 at epsilon 4 gives delta 5e-7 back: %g", delta);
	for (size_t i = 0; i < lengthof(bad_epsilon); i++)
		ok(dp_gaussian_delta(bad_epsilon[i], 1, &delta) == DP_ERR_DOMAIN,
		   "delta at epsilon %g is refused", bad_epsilon[i]);
	for (size_t i = 0; i < lengthof(bad_mu); i++)
		ok(dp_gaussian_delta(1, bad_mu[i], &delta) == DP_ERR_DOMAIN,
		   "delta at mu %g is refused", bad_mu[i]);
}

/*
 * At mu = .01 (1 + a) the closed form gives way to the integral: between just
 * below and just above, delta must change by phi(a) d mu, its derivative.
 */
static void
test_seam(void)
{
	double worst = 0;

	for (double epsilon = 0; epsilon < 2; epsilon += 0.01)
	{
		double seam = (0.01 + sqrt(1e-4 + 4.02e-2 * epsilon)) / 2.01;
		double a = epsilon / seam - seam / 2;
		double below = seam * (1 - 1e-9);
		double above = seam * (1 + 1e-9);
		double delta_below = NAN;
		double delta_above = NAN;
		double change = (above - below) * exp(-a * a / 2) / sqrt(2 * M_PI);

		(void) dp_gaussian_delta(epsilon, below, &delta_below);
		(void) dp_gaussian_delta(epsilon, above, &delta_above);
		worst = fmax(worst, fabs(delta_above - delta_below - change) / delta_above);
		if (isnan(delta_above - delta_below))
			worst = INFINITY;
	}
	ok(worst < 1e-12, "no step where the formula changes: %g", worst);
}

static void
test_inverses(void)
{
	const double bad[] = {0, -1, NAN, INFINITY};
	const double bad_delta[] = {0, 1, 2, -1, NAN};
	double mu;
	double epsilon;
	double delta;
	bool never_over = true;
	bool tight = true;
	bool fine;

	for (size_t i = 0; i < lengthof(sigmas); i++)
	{
		fine = dp_gaussian_mu(sigmas[i].epsilon, sigmas[i].delta, &mu) == DP_OK;
		ok(fine && fabs(1 / mu - sigmas[i].sigma) <= sigmas[i].half_digit,
		   "sigma(epsilon %g, delta %g) = %.12g", sigmas[i].epsilon, sigmas[i].delta, 1 / mu);
	}
	for (size_t i = 0; i < lengthof(epsilons); i++)
	{
		fine = dp_gaussian_epsilon(epsilons[i].mu, 1e-7, &epsilon) == DP_OK;
		ok(fine && epsilon >= epsilons[i].epsilon && epsilon <= epsilons[i].epsilon * (1 + 1e-11),
		   "epsilon(mu %g, delta 1e-7) = %.15g", epsilons[i].mu, epsilon);
	}

	for (double e = 1e-6; e < 1e5; e *= 3.7)
	{
		for (double d = 1e-250; d < 0.999; d = sqrt(d) < 0.9 ? sqrt(d) : d * 1.05)
		{
			never_over &= dp_gaussian_mu(e, d, &mu) == DP_OK &&
						  dp_gaussian_delta(e, mu, &delta) == DP_OK && delta <= d;
			tight &= dp_gaussian_delta(e, mu * (1 + 1e-9), &delta) == DP_OK && delta > d;
			never_over &= dp_gaussian_epsilon(mu, d, &epsilon) == DP_OK &&
						  dp_gaussian_delta(epsilon, mu, &delta) == DP_OK && delta <= d;
			tight &= fabs(epsilon - e) <= 1e-9 * (e + mu);
		}
	}
	ok(never_over, "neither inverse promises more than holds");
	ok(tight, "and neither wastes more than 1e-9");
	ok(dp_gaussian_epsilon(0.1, 0.5, &epsilon) == DP_OK && epsilon == 0,
	   "epsilon 0 where delta alone is enough");

	for (size_t i = 0; i < lengthof(bad); i++)
	{
		ok(dp_gaussian_mu(bad[i], 1e-7, &mu) == DP_ERR_DOMAIN,
		   "mu for epsilon %g is refused", bad[i]);
		ok(dp_gaussian_epsilon(bad[i], 1e-7, &epsilon) == DP_ERR_DOMAIN,
		   "epsilon for mu %g is refused", bad[i]);
	}
	for (size_t i = 0; i < lengthof(bad_delta); i++)
		ok(dp_gaussian_mu(1, bad_delta[i], &mu) == DP_ERR_DOMAIN &&
			   dp_gaussian_epsilon(1, bad_delta[i], &epsilon) == DP_ERR_DOMAIN,
		   "delta %g is refused", bad_delta[i]);
}

/*
 * The largest mu where a double's digits run out: at epsilon so large that a is a
 * difference of two numbers a billion times its size, and at denormal delta.
 */
static void
test_ends(void)
{
	const struct
	{
		double epsilon;
		double delta;
		long double mu;
	} ends[] = {
		{1.1950944436952085e17, 2.0062254006284127e-196, 488895550.73284403L},
		{8, 1e-320, 0.209219330169267194867L},
		{0.01, 2e-323, 2.623217049074417058239e-4L},
		{1, 5e-324, 0.02611609924709207990167L},
	};

	for (size_t i = 0; i < lengthof(ends); i++)
	{
		double mu;
		bool fine = dp_gaussian_mu(ends[i].epsilon, ends[i].delta, &mu) == DP_OK;

		ok(fine && mu <= ends[i].mu && mu >= ends[i].mu * (1 - 1e-12),
		   "mu(epsilon %g, delta %g) = %.17g", ends[i].epsilon, ends[i].delta, mu);
	}
}

static void
test_composition(void)
{
	const double mus[] = {0.3, 0.4, 1.2};
	const double third[] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
	const double broken[] = {1, NAN};
	const double negative[] = {1, -1};
	double mu = dp_compose_mu(third, 3);

	ok(fabs(dp_compose_mu(mus, 3) - 1.3) < 1e-15, "mu composes as the root of squares");
	ok((long double) mu * mu >= 3 * ((long double) third[0] * third[0]), "rounded up");
	ok(dp_compose_mu(mus, 1) == 0.3, "one release is itself");
	ok(dp_compose_mu(mus, 0) == 0, "none costs nothing");
	ok(isinf(dp_compose_mu(broken, 2)), "NaN costs more than any budget");
	ok(isinf(dp_compose_mu(negative, 2)), "so does a negative mu");
}

/* max over t of 1/sqrt t + sigma z(1 - (1 - delta)^(1/t)), in plain words. */
static double
threshold_by_definition(double sigma, double delta, int64 items)
{
	double highest = 0;

	for (int64 t = 1; t <= items; t++)
	{
		double z;

		dp_normal_isf((double) -expm1l(log1pl(-(long double) delta) / t), &z);
		highest = Max(highest, 1 / sqrt((double) t) + sigma * z);
	}
	return highest;
}

/* rho for sigma, delta and items; NaN if refused. */
static double
threshold(double sigma, double delta, int64 items)
{
	double rho;

	return dp_union_threshold(sigma, delta, items, &rho) == DP_OK ? rho : NAN;
}

static void
test_union_threshold(void)
{
	/* sigma_1 = sqrt(T) / mu; twelve places from mpmath at a precision of 40 */
	const struct
	{
		double sigma;
		double delta;
		int items;
		double rho;
		double half_digit;
	} goldens[] = {
		{11.7789, 5e-8, 10, 67.818, 5e-4},
		{11.77886722, 5e-8, 10, 67.8177221294, 1e-7},
		{3.983710584, 5e-8, 300, 25.0850956759, 1e-7},
		{3.907348806, 1e-8, 300, 25.5647941291, 1e-7},
		{14.42610722, 5e-8, 300, 90.6886632635, 1e-7},
		{14.09583915, 1e-8, 300, 92.0749620777, 1e-7},
	};
	/* with a small sigma the maximum is not at the largest t */
	const double sigmas_tried[] = {0.01, 0.3, 2, 50};
	const int64 items[] = {50, 4095, 4097, 60000};
	double mu = NAN;
	double rho;

	(void) dp_gaussian_mu(1, 5e-8, &mu);
	ok(fabs(sqrt(6) / mu - 11.7789) < 5e-5, "sigma_1 of (1, 1e-7), T = 6, is 11.7789");
	for (size_t i = 0; i < lengthof(goldens); i++)
	{
		rho = threshold(goldens[i].sigma, goldens[i].delta, goldens[i].items);
		ok(fabs(rho - goldens[i].rho) < goldens[i].half_digit,
		   "rho for sigma %g, delta %g, %d items: %.12g", goldens[i].sigma, goldens[i].delta,
		   goldens[i].items, rho);
	}
	for (size_t i = 0; i < lengthof(items); i++)
	{
		double exact = threshold_by_definition(sigmas_tried[i], 1e-8, items[i]);

		rho = threshold(sigmas_tried[i], 1e-8, items[i]);
		ok(rho >= exact && rho <= exact * (1 + (items[i] > 4096 ? 1e-4 : 1e-14)),
		   "threshold for sigma %g and " INT64_FORMAT " items: %.10g, exactly %.10g",
		   sigmas_tried[i], items[i], rho, exact);
	}
	rho = threshold(1, 1e-7, INT64CONST(1) << 26);
	ok(fabs(dp_normal_sf(rho - 0x1p-13) * 0x1p26 / 1e-7 - 1) < 1e-3, "2^26 items: %.10g", rho);

	ok(dp_union_threshold(1, 1e-7, (INT64CONST(1) << 26) + 1, &rho) == DP_ERR_DOMAIN,
	   "too many items are refused");
	ok(dp_union_threshold(1, 1e-7, 0, &rho) == DP_ERR_DOMAIN, "0 items are refused");
	ok(dp_union_threshold(1, 1e-320, 1 << 20, &rho) == DP_ERR_RANGE,
	   "a delta beyond doubles is out of range");
	for (int i = 0; i < 5; i++)
	{
		const double bad_sigma[] = {0, -1, NAN, INFINITY, -INFINITY};
		const double bad_delta[] = {0, 1, -1, NAN, INFINITY};

		ok(dp_union_threshold(bad_sigma[i], 1e-7, 1, &rho) == DP_ERR_DOMAIN,
		   "sigma %g is refused", bad_sigma[i]);
		ok(dp_union_threshold(1, bad_delta[i], 1, &rho) == DP_ERR_DOMAIN,
		   "delta %g is refused", bad_delta[i]);
	}
}

int
main(void)
{
	test_delta();
	test_seam();
	test_inverses();
	test_ends();
	test_composition();
	test_union_threshold();
	return tap_done();
}
