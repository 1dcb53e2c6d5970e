/*
 * lanes.c
 *	  The ledger's arithmetic: what is asked is rounded up, what is allowed is
 *	  rounded down, and what decides is exact.
 *
 * A double is a binary fraction, so its decimal expansion is finite and type
 * numeric holds it, and sums of such, without any error.  The ledger makes use
 * of that: prices and caps are doubles on the grid of 2^-100, converted exactly;
 * sums and comparisons are numeric.  Rounding happens in three places only,
 * each against the one who spends:
 *
 *	- a price is an upper bound by contract and is rounded up to the grid (which
 *	  leaves every double of at least 2^-48 as it is);
 *	- a cap is computed by products and differences of doubles, each rounded
 *	  down, and then down to the grid;
 *	- mu of the Gaussian lane comes from dp_gaussian_mu(), which rounds down.
 *
 * Hence a price that equals a cap, as a double, fits it, however often the two
 * were stored and read, and one that exceeds it by one unit in the last place
 * does not.
 *
 * The caps are those of the three-lane filter: for a budget of (epsilon, delta),
 *
 *	exp(cap_eps_pure) dG(epsilon - cap_eps_pure, sqrt(cap_mu2)) + cap_delta_add <= delta
 *
 * where dG is the hockey-stick divergence of Gaussian differential privacy; the
 * factor pays for what the pure lane also holds, noise that is Gaussian but for
 * a density ratio (doc/privacy.md, "The lattice").  As long as each lane's sum
 * stays within its own cap, fixed beforehand, releases may be chosen adaptively
 * (Smith and Thakurta, arXiv 2210.17520, for the Gaussian lane; pure epsilon and
 * additive delta add up).
 */
#include "postgres.h"

#include <math.h>

#include "common/dp_gaussian.h"
#include "ledger/lanes.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

const char *const lane_names[LANES] = {"mu2", "eps_pure", "delta_add"};

/* From here on every double is an integer, and shifting it could overflow. */
#define ON_GRID_FROM 0x1p52

static double
grid_down(double x)
{
	if (x >= ON_GRID_FROM)
		return x;
	return ldexp(floor(ldexp(x, LANE_QUANTUM_BITS)), -LANE_QUANTUM_BITS);
}

static double
grid_up(double x)
{
	if (x >= ON_GRID_FROM)
		return x;
	return ldexp(ceil(ldexp(x, LANE_QUANTUM_BITS)), -LANE_QUANTUM_BITS);
}

/* a * b for a, b >= 0, rounded down; fma gives the rounding error's sign. */
static double
multiply_down(double a, double b)
{
	double product = a * b;

	return fma(a, b, -product) < 0 ? nextafter(product, 0) : product;
}

/* a - b for a >= b >= 0, rounded down; the error is itself a double (Knuth's TwoSum). */
static double
subtract_down(double a, double b)
{
	double difference = a - b;
	double b_seen = a - difference;
	double error = (a - (difference + b_seen)) + (b_seen - b);

	return error < 0 ? nextafter(difference, 0) : difference;
}

/*
 * The caps of a budget of (epsilon, delta), on the grid.  pure_share of epsilon
 * goes to the lane of pure epsilon and delta_share of delta to that of additive
 * delta; with delta = 0 nothing but pure epsilon can be spent, and all of
 * epsilon goes there.  False if no cap can be computed.
 */
bool
lanes_caps(double epsilon, double delta, double pure_share, double delta_share,
		   LedgerPrice *caps)
{
	double delta_g;
	double mu;

	memset(caps, 0, sizeof(*caps));
	if (delta == 0)
	{
		caps->eps_pure = grid_down(epsilon);
		return true;
	}

	caps->eps_pure = grid_down(multiply_down(pure_share, epsilon));
	caps->delta_add = grid_down(multiply_down(delta_share, delta));
	delta_g = multiply_down(subtract_down(delta, caps->delta_add),
							nextafter(exp(-caps->eps_pure), 0));
	if (dp_gaussian_mu(subtract_down(epsilon, caps->eps_pure), delta_g, &mu) != DP_OK)
		return false;
	caps->mu2 = grid_down(multiply_down(mu, mu));
	return true;
}

bool
lanes_valid_price(const LedgerPrice *price)
{
	return isfinite(price->mu2) && price->mu2 >= 0 &&
		   isfinite(price->eps_pure) && price->eps_pure >= 0 &&
		   isfinite(price->delta_add) && price->delta_add >= 0;
}

/*
 * A finite amount on the grid as numeric: LANE_QUANTUM_BITS decimals are
 * enough for it to be exact.
 */
Datum
lane_exact(double amount)
{
	char *text = psprintf("%.*f", LANE_QUANTUM_BITS, amount);
	char *end = text + strlen(text);

	Assert(isfinite(amount) && amount == grid_up(amount));

	/* numeric keeps trailing zeros, and they would show */
	while (end[-1] == '0')
		*--end = '\0';
	if (end[-1] == '.')
		end[-1] = '\0';
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

LaneAmounts
lanes_exact(const LedgerPrice *amounts)
{
	LaneAmounts result;

	result.lane[LANE_MU2] = lane_exact(amounts->mu2);
	result.lane[LANE_EPS_PURE] = lane_exact(amounts->eps_pure);
	result.lane[LANE_DELTA_ADD] = lane_exact(amounts->delta_add);
	return result;
}

/* A valid price as it is debited: rounded up to the grid. */
LaneAmounts
lanes_price(const LedgerPrice *price)
{
	LedgerPrice up;

	up.mu2 = grid_up(price->mu2);
	up.eps_pure = grid_up(price->eps_pure);
	up.delta_add = grid_up(price->delta_add);
	return lanes_exact(&up);
}

LaneAmounts
lanes_zero(void)
{
	LedgerPrice zero = {0, 0, 0};

	return lanes_exact(&zero);
}

/* The first lane in which spent + price exceeds the cap, or -1 if all hold it. */
int
lanes_short(const LaneAmounts *price, const LaneAmounts *spent, const LaneAmounts *cap)
{
	for (int i = 0; i < LANES; i++)
	{
		Datum sum = DirectFunctionCall2(numeric_add, spent->lane[i], price->lane[i]);

		if (!DatumGetBool(DirectFunctionCall2(numeric_le, sum, cap->lane[i])))
			return i;
	}
	return -1;
}

/* cap - spent, or 0 where a dataset carries more than its cap. */
Datum
lane_remaining(Datum spent, Datum cap)
{
	return DirectFunctionCall2(numeric_larger,
							   DirectFunctionCall2(numeric_sub, cap, spent),
							   lane_exact(0));
}

/* Is any of the amounts more than 0? */
bool
lanes_any(const LaneAmounts *amounts)
{
	LaneAmounts zero = lanes_zero();

	return lanes_short(amounts, &zero, &zero) >= 0;
}

bool
lane_overdrawn(Datum spent, Datum cap)
{
	return DatumGetBool(DirectFunctionCall2(numeric_gt, spent, cap));
}

/* An amount for a message: the nearest double, in its shortest form. */
char *
lane_text(Datum amount)
{
	return DatumGetCString(DirectFunctionCall1(float8out,
											   DirectFunctionCall1(numeric_float8, amount)));
}
