/*
 * test_zcdp.c
 *	  zCDP's conversions against 18 digits of mpmath, a search by brute force and
 *	  their own inverses; what pure mechanisms cost.
 *
 * The golden values are from mpmath 1.3 at a precision of 60, with the doubles
 * printed here as exact inputs.  delta: the formula itself,
 *
 *	exp((a - 1) * (a * rho - epsilon)) * (1 - 1 / a) ** a / (a - 1), a = 1 + exp(t),
 *
 * where bisection over -3000 < t < 3000 brings the derivative's
 * (2 * exp(t) + 1) * rho - epsilon - log1p(exp(-t)) to 0; epsilon and rho: bisection
 * over that; mu: bisection for erfc(mu / 2 / sqrt(2)) / 2 = 1 / (1 + exp(epsilon)).
 */
#include "common/dp_zcdp.h"

#include <float.h>
#include <math.h>

#include "common/dp_normal.h"
#include "conversions.h"
#include "tap.h"

#define DENORMAL_MIN 0x1p-1074

typedef struct Golden
{
	double first;
	double second;
	double value;
} Golden;

/* rho, epsilon, delta */
static const Golden deltas[] = {
	{1e-30, 0, 8.57763884960706832e-16},
	{1e-30, 1e-15, 3.67879441171442508e-16},
	{1e-30, 2e-14, 1.36513931903012402e-60},
	{1e-10, 1e-6, 7.98195825330102674e-6},
	{1e-10, 1e-4, 1.01189701720278189e-17},
	{1e-6, 1e-3, 3.68063350204751389e-4},
	{1e-4, 0.1, 1.0636984768837401e-14},
	{1e-3, 0, 2.71203554258779741e-2},
	{1e-3, 0.2, 1.80188775844616197e-7},
	{1e-3, 1, 3.23385355201591682e-112},
	{0.02, 1, 8.825254987221153e-8},
	{0.125, 2.5, 4.5512317313105092e-7},
	{0.125, 4, 2.069696696857313e-15},
	{0.5, 0, 5.58835639347434634e-1},
	{0.5, 1e-3, 5.58531796377495494e-1},
	{0.5, 5, 2.89612280938479501e-6},
	{0.5, 30, 1.30610135929087695e-191},
	{2, 12, 4.52848068695368511e-7},
	{2, 70, 1.99681953436250473e-253},
	{10, 30, 1.12177022401712021e-5},
	{10, 10, 7.88311676666225141e-1},
	{30, 25, 9.94262435902052604e-1},
	{100, 200, 5.32947310108485555e-12},
	{100, 500, 2.83612336172214117e-175},
	{1000, 1100, 6.69833010397562654e-2},
	{1e4, 1e4, 9.98071479193558156e-1},
	{1e4, 9950, 1},
	{1e6, 1e6, 9.99957858233204678e-1},
	{1e6, 1.01e6, 1.34571426793592902e-11},
	{1e6, 1.05e6, 3.27268232827167576e-272},
};

/* rho, delta, epsilon */
static const Golden epsilons[] = {
	{1e-30, 1e-300, 5.10684383500506642e-14},
	{1e-10, 1e-7, 3.45580326194671831e-5},
	{1e-3, 1e-300, 1.6539457229904451},
	{0.02, 1e-7, 9.95080740657781624e-1},
	{0.125, 1e-10, 3.24361314488009665},
	{0.5, 1e-7, 5.67085883546877029},
	{0.5, 0.25, 9.88753486901409316e-1},
	{2, 1e-12, 1.62061666727494662e+1},
	{30, 1e-7, 7.23621749808000617e+1},
	{1000, 1e-300, 2.66074022943029418e+3},
	{1000, 0.999, 9.93847601197175872e+2},
	{1e6, 1e-7, 1.00802294978334164e+6},
};

/* epsilon, delta, rho */
static const Golden rhos[] = {
	{1e-6, 1e-300, 3.73825587518485202e-16},
	{1e-6, 1e-7, 3.49071841704254616e-13},
	{0.01, 1e-6, 4.35897368314257243e-6},
	{0.5, 1e-8, 4.57818104025115318e-3},
	{1, 1e-7, 2.01871324418249468e-2},
	{4, 7.5e-7, 3.04693131448540255e-1},
	{4, 1e-300, 5.83144724576830202e-3},
	{10, 0.5, 7.78391461003502112},
	{100, 1e-9, 4.23802117218930644e+1},
	{1e4, 1e-6, 9.28784952303683128e+3},
	{1e4, 1e-300, 5.94817041642189129e+3},
};

/* epsilon of a pure mechanism, mu */
static const Golden mus[] = {
	{1e-12, 0, 1.25331413731550023e-12},
	{1e-3, 0, 1.25331411490187518e-3},
	{0.05, 0, 6.26629055410031484e-2},
	{0.5, 0, 6.23892592098508192e-1},
	{1 - 0x1p-53, 0, 1.23203538534490084},
	{1, 0, 1.23203538534490097},
	{3, 0, 3.34068371224060071},
	{20, 0, 1.17584187136531013e+1},
	{700, 0, 7.45901592652948339e+1},
	{1e4, 0, 2.82759679746254327e+2},
};

/* What the functions give, NaN where they refuse. */
static double
rho_of(double epsilon, double delta)
{
	double rho;

	return dp_zcdp_rho(epsilon, delta, &rho) == DP_OK ? rho : NAN;
}

/* Within a part of the value on the safe side, and past it by no more than printing does. */
static bool
just_above(double got, double exact, double part)
{
	return got >= exact * (1 - 1e-15) && got <= exact * (1 + part);
}

static bool
just_below(double got, double exact, double part)
{
	return got <= exact * (1 + 1e-15) && got >= exact * (1 - part);
}

static void
test_goldens(void)
{
	for (size_t i = 0; i < lengthof(deltas); i++)
	{
		double delta = delta_of(deltas[i].first, deltas[i].second);

		ok(just_above(delta, deltas[i].value, 1e-13),
		   "delta(rho %g, epsilon %g) = %.17g", deltas[i].first, deltas[i].second, delta);
	}
	for (size_t i = 0; i < lengthof(epsilons); i++)
	{
		double epsilon = epsilon_of(epsilons[i].first, epsilons[i].second);

		ok(just_above(epsilon, epsilons[i].value, 1e-13),
		   "epsilon(rho %g, delta %g) = %.17g", epsilons[i].first, epsilons[i].second, epsilon);
	}
	for (size_t i = 0; i < lengthof(rhos); i++)
	{
		double rho = rho_of(rhos[i].first, rhos[i].second);

		ok(just_below(rho, rhos[i].value, 1e-13),
		   "rho(epsilon %g, delta %g) = %.17g", rhos[i].first, rhos[i].second, rho);
	}
}

/* Where no double, or hardly one, is near the value. */
static void
test_extremes(void)
{
	ok(delta_of(5e3, 1e4) == DENORMAL_MIN && delta_of(1e-30, 1e4) == DENORMAL_MIN &&
		   delta_of(DENORMAL_MIN, DBL_MAX) == DENORMAL_MIN,
	   "a delta below all doubles is the smallest, not 0");
	ok(delta_of(1e6, 0) == 1 && delta_of(DBL_MAX, 0) == 1 && delta_of(DBL_MAX, DBL_MAX) == 1,
	   "and never more than 1");
	ok(delta_of(DENORMAL_MIN, 0) > 1.9e-162 && delta_of(DENORMAL_MIN, 0) < 2e-162,
	   "the smallest rho");
	ok(epsilon_of(1e-30, 0.5) == 0 && epsilon_of(0.02, 0.9) == 0,
	   "epsilon 0 where delta alone is enough");
	ok(epsilon_of(1, DENORMAL_MIN) > 55 && epsilon_of(1, DENORMAL_MIN) < 56,
	   "epsilon for the smallest delta");
	ok(epsilon_of(1, 1 - 0x1p-53) == 0 && epsilon_of(1e6, 1 - 0x1p-53) > 9.9e5,
	   "epsilon for the largest delta");
	ok(isnan(rho_of(1e-300, 1e-300)), "no double is small enough a rho for (1e-300, 1e-300)");
	ok(rho_of(1e300, 1e-300) > 9.9e299 && rho_of(DBL_MAX, 0.5) > 1e308, "rho for a huge epsilon");
}

static void
test_domains(void)
{
	const double bad[] = {0, -1, -DENORMAL_MIN, NAN, INFINITY, -INFINITY};
	const double bad_delta[] = {0, 1, 2, -1, NAN, INFINITY};
	double result;

	for (size_t i = 0; i < lengthof(bad); i++)
	{
		ok(dp_zcdp_delta(bad[i], 1, &result) == DP_ERR_DOMAIN &&
			   dp_zcdp_epsilon(bad[i], 1e-7, &result) == DP_ERR_DOMAIN,
		   "rho %g is refused", bad[i]);
		ok(dp_zcdp_rho(bad[i], 1e-7, &result) == DP_ERR_DOMAIN &&
			   (dp_zcdp_delta(1, bad[i], &result) == DP_ERR_DOMAIN || bad[i] == 0),
		   "epsilon %g is refused", bad[i]);
		ok(bad[i] == 0 || (isinf(dp_pure_to_rho(bad[i])) && isinf(dp_exponential_to_rho(bad[i])) &&
						   isinf(dp_pure_to_mu(bad[i]))),
		   "a pure mechanism of epsilon %g costs more than any budget", bad[i]);
	}
	for (size_t i = 0; i < lengthof(bad_delta); i++)
		ok(dp_zcdp_rho(1, bad_delta[i], &result) == DP_ERR_DOMAIN &&
			   dp_zcdp_epsilon(1, bad_delta[i], &result) == DP_ERR_DOMAIN,
		   "delta %g is refused", bad_delta[i]);
}

/* ln of the formula at a = 1 + b, as it is printed; 1 - 1/a is 1/(1 + 1/b). */
static long double
log_at(long double rho, long double epsilon, long double b)
{
	long double a = 1 + b;

	return b * (a * rho - epsilon) - a * log1pl(1 / b) - logl(b);
}

/* The minimum over a grid: above the true one by less than the curve bends within a cell. */
static void
test_brute_force(void)
{
	const double width = 2e-4;
	double worst = 0;
	bool below = true;
	int tried = 0;

	for (size_t i = 0; i < lengthof(deltas); i++)
	{
		double rho = deltas[i].first;
		double epsilon = deltas[i].second;
		long double delta = delta_of(rho, epsilon);
		long double lowest = INFINITY;
		long double where = 0;

		if (rho < 1e-5 || rho > 1e5)
			continue;
		for (int cell = -125000; cell <= 75000; cell++)
		{
			long double b = expl(cell * (long double) width);
			long double value = log_at(rho, epsilon, b);

			if (value < lowest)
			{
				lowest = value;
				where = b;
			}
		}
		worst = fmax(worst, (double) (logl(delta) - lowest));
		below &= logl(delta) > lowest - (2 * rho * where * where + 1) * width * width / 7;
		tried++;
	}
	ok(worst < 1e-13, "no order in a dense grid gives a smaller delta: %g", worst);
	ok(below, "nor is delta smaller than the grid's can be wrong");
	ok(tried > 20, "%d minima", tried);
}

/* The formula at its minimum, which is found by bisection, in long double. */
static long double
reference_delta(long double rho, long double epsilon)
{
	long double low = -400;
	long double high = 400;

	for (int i = 0; i < 90; i++)
	{
		long double middle = (low + high) / 2;

		if (2 * expl(middle) * rho + (rho - epsilon) > log1pl(expl(-middle)))
			high = middle;
		else
			low = middle;
	}
	return expl(log_at(rho, epsilon, expl(low)));
}

/* Where long double has digits to spare: not below by half a unit, and not far above. */
static void
test_rounding(void)
{
	bool up = true;
	bool near = true;

	for (double rho = 0.01; rho < 2; rho *= 1.07)
	{
		for (double epsilon = 0; epsilon < rho + 9 * sqrt(rho); epsilon += 0.07)
		{
			double delta = delta_of(rho, epsilon);
			long double exact = reference_delta(rho, epsilon);

			up &= delta >= exact * (1 - 1e-17L);
			near &= delta <= exact * (1 + 3e-15L);
		}
	}
	ok(up, "delta is rounded up");
	ok(near, "by no more than its error");
}

static void
test_round_trips(void)
{
	bool holds = true;
	bool never_over = true;
	bool tight = true;
	int tried = 0;

	for (double e = 1e-6; e < 2e4; e *= 3.7)
	{
		for (double d = 1e-300; d < 0.999; d = sqrt(d) < 0.9 ? sqrt(d) : d * 1.05)
		{
			double rho = rho_of(e, d);
			double epsilon = epsilon_of(rho, d);

			/* log_at() loses what a huge rho takes up */
			holds &= reference_delta(rho, e) <= d * (1 + 1e-16L * (1000 + rho));
			never_over &= delta_of(rho, e) <= d && delta_of(rho, epsilon) <= d && epsilon <= e;
			tight &= delta_of(rho * (1 + 1e-11), e) > d;
			tight &= epsilon >= e * (1 - 1e-11) - 1e-11 * rho;
			tried++;
		}
	}
	for (double rho = 1e-30; rho < 2e6; rho *= 37)
	{
		for (double d = 1e-300; d < 0.999; d = sqrt(d) < 0.9 ? sqrt(d) : d * 1.05)
		{
			double epsilon = epsilon_of(rho, d);

			never_over &= delta_of(rho, epsilon) <= d;
			tried++;
			if (epsilon == 0)
				continue;
			never_over &= rho_of(epsilon, d) >= rho;
			tight &= delta_of(rho, epsilon * (1 - 1e-11)) > d;
		}
	}
	ok(holds, "the promise of a rho holds by the formula as printed");
	ok(never_over, "no inverse promises more than holds, there and back");
	ok(tight, "and none wastes more than 1e-11");
	ok(tried > 600, "in %d cases", tried);
}

static void
test_monotone(void)
{
	bool rho_rises = true;
	bool epsilon_falls = true;
	bool inverses_rise = true;

	for (double rho = 1e-30; rho < 1e6; rho *= 1.3)
	{
		double last = 1;
		double step = sqrt(rho) / 3;

		for (double epsilon = 0; epsilon < rho + 60 * sqrt(rho); epsilon += step)
		{
			double delta = delta_of(rho, epsilon);

			epsilon_falls &= delta <= last && (delta < last || delta > 1 - 1e-9 || delta < 1e-300);
			rho_rises &= delta_of(rho * 1.01, epsilon) >= delta;
			last = delta;
		}
		inverses_rise &= epsilon_of(rho * 1.01, 1e-7) >= epsilon_of(rho, 1e-7);
		inverses_rise &= epsilon_of(rho, 1e-6) <= epsilon_of(rho, 1e-7);
	}
	for (double epsilon = 1e-6; epsilon < 1e4; epsilon *= 1.3)
	{
		inverses_rise &= rho_of(epsilon * 1.01, 1e-7) > rho_of(epsilon, 1e-7);
		inverses_rise &= rho_of(epsilon, 1e-6) > rho_of(epsilon, 1e-7);
	}
	ok(epsilon_falls, "delta falls in epsilon");
	ok(rho_rises, "delta rises in rho");
	ok(inverses_rise, "epsilon rises in rho and falls in delta, rho rises in both");
}

static void
test_pure(void)
{
	bool above = true;
	bool tight = true;

	for (double e = 1e-140; e < 1e140; e *= 1.7)
	{
		double rho = dp_pure_to_rho(e);

		/* by fma exact but for a rounding that keeps the sign */
		above &= fma(e, e, -2 * rho) <= 0;
		tight &= fma(e, e, -2 * nextafter(rho, 0)) > 0;
		above &= dp_exponential_to_rho(e) == rho / 4;
	}
	ok(above, "epsilon^2/2 and epsilon^2/8 are rounded up");
	ok(tight, "to the next double");
	ok(dp_pure_to_rho(0.5) == 0.125 && dp_exponential_to_rho(2) == 0.5 && dp_pure_to_rho(0) == 0 &&
		   dp_exponential_to_rho(0) == 0 && dp_pure_to_mu(0) == 0,
	   "exact where they can be");
	ok(dp_pure_to_rho(1e-200) == DENORMAL_MIN &&
		   dp_exponential_to_rho(DENORMAL_MIN) == DENORMAL_MIN,
	   "above 0 where doubles end");
	ok(isinf(dp_pure_to_rho(1e200)) && isinf(dp_exponential_to_rho(DBL_MAX)),
	   "infinite beyond them");

	for (size_t i = 0; i < lengthof(mus); i++)
	{
		double mu = dp_pure_to_mu(mus[i].first);

		ok(just_above(mu, mus[i].value, 1e-13), "mu of pure epsilon %g: %.17g", mus[i].first, mu);
	}
	above = tight = true;
	for (double e = 1e-3; e < 700; e *= 1.07)
	{
		double mu = dp_pure_to_mu(e);
		long double both = 1 / (1 + expl(e)); /* where the two errors are equal */

		above &= dp_normal_sf_long(mu / 2.0L) <= both * (1 + 1e-16L);
		tight &= dp_normal_sf_long(mu / 2.0L * (1 - 1e-13L)) > both;
	}
	ok(above, "mu-GDP with it is no better than epsilon-DP");
	ok(tight, "and hardly worse");
}

int
main(void)
{
	test_goldens();
	test_extremes();
	test_domains();
	test_brute_force();
	test_rounding();
	test_round_trips();
	test_monotone();
	test_pure();
	return tap_done();
}
