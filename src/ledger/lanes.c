/*
 * lanes.c
 *	  The ledger's arithmetic: what is asked is rounded up, what is allowed is
 *	  rounded down, and what decides is exact.
 *
 * A double is a binary fraction, so its decimal expansion is finite and type
 * numeric holds it, and sums of such, without any error.  The ledger makes use
 * of that: amounts and caps are doubles on the grid of 2^-100, converted exactly;
 * sums and comparisons are numeric.  Rounding happens in three places only,
 * each against the one who spends:
 *
 *	- an amount is an upper bound by contract and is rounded up to the grid (which
 *	  leaves every double of at least 2^-48 as it is);
 *	- a cap is computed by products and differences of doubles, each rounded
 *	  down, and then down to the grid;
 *	- conversions between notions of privacy (dp_gaussian.c, dp_zcdp.c) are
 *	  rounded so that the promise holds.
 *
 * Hence a price that equals a cap, as a double of at least 2^-48, fits it, however
 * often the two were stored and read, and one that exceeds it by one unit in the
 * last place does not.
 */
#include "postgres.h"

#include <math.h>

#include "ledger/lanes.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

const char *const lane_names[LANES] = {
	"mu2", "eps_pure", "delta_add", "rho", "rho_delta", "basic_epsilon", "basic_delta"};

/* From here on every double is an integer, and shifting it could overflow. */
#define ON_GRID_FROM 0x1p52

double
lane_grid_down(double x)
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

/* Below this a product's rounding error may itself be too small for a double. */
#define ERROR_VANISHES_BELOW 0x1p-960

/* a * b for a, b >= 0, rounded down; fma gives the rounding error's sign. */
double
lane_multiply_down(double a, double b)
{
	double product = a * b;

	if (product < ERROR_VANISHES_BELOW || fma(a, b, -product) < 0)
		return nextafter(product, 0);
	return product;
}

/* a - b for a >= b >= 0, rounded down; the error is itself a double (Knuth's TwoSum). */
double
lane_subtract_down(double a, double b)
{
	double difference = a - b;
	double b_seen = a - difference;
	double error = (a - (difference + b_seen)) + (b_seen - b);

	return error < 0 ? nextafter(difference, 0) : difference;
}

/*
 * An amount on the grid as numeric: LANE_QUANTUM_BITS decimals are enough for it
 * to be exact.  It may be infinite, in the lane of another accounting.
 */
Datum
lane_exact(double amount)
{
	char *text = psprintf("%.*f", LANE_QUANTUM_BITS, amount);
	char *end = text + strlen(text);

	Assert(amount == grid_up(amount));

	/* numeric keeps trailing zeros, and they would show */
	while (end[-1] == '0')
		*--end = '\0';
	if (end[-1] == '.')
		end[-1] = '\0';
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* "count" times an amount of at least 0, which is rounded up to the grid. */
Datum
lane_price(double amount, int32 count)
{
	Datum one = lane_exact(grid_up(amount));

	if (count == 1)
		return one;
	return DirectFunctionCall2(numeric_mul, one,
							   DirectFunctionCall1(int4_numeric, Int32GetDatum(count)));
}

Datum
lane_add(Datum a, Datum b)
{
	return DirectFunctionCall2(numeric_add, a, b);
}

LaneAmounts
lanes_zero(void)
{
	LaneAmounts zero;

	for (int i = 0; i < LANES; i++)
		zero.lane[i] = lane_exact(0);
	return zero;
}

LaneAmounts
lanes_add(const LaneAmounts *a, const LaneAmounts *b)
{
	LaneAmounts sum;

	for (int i = 0; i < LANES; i++)
		sum.lane[i] = lane_add(a->lane[i], b->lane[i]);
	return sum;
}

bool
lane_less(Datum a, Datum b)
{
	return DatumGetBool(DirectFunctionCall2(numeric_lt, a, b));
}

/* Does spent + price keep the cap?  A lane without a cap holds nothing. */
bool
lane_fits(Datum price, Datum spent, Datum cap)
{
	return !lane_is_none(cap) && !lane_less(cap, lane_add(spent, price));
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
	for (int i = 0; i < LANES; i++)
		if (lane_less(lane_exact(0), amounts->lane[i]))
			return true;
	return false;
}

/* The smallest double on the grid that is not below an amount, or one a little above. */
double
lane_double_up(Datum amount)
{
	double nearest = DatumGetFloat8(DirectFunctionCall1(numeric_float8, amount));

	if (nearest != grid_up(nearest) || lane_less(lane_exact(nearest), amount))
		return nextafter(nearest, HUGE_VAL);
	return nearest;
}

/* a + b for a, b >= 0, rounded up. */
double
lane_add_up(double a, double b)
{
	double sum = a + b;
	double b_seen = sum - a;
	double error = (a - (sum - b_seen)) + (b - b_seen);

	return error > 0 ? nextafter(sum, HUGE_VAL) : sum;
}

/* The root of a double of at least 0, rounded up. */
double
lane_root_up(double x)
{
	double root = sqrt(x);

	return fma(root, root, -x) < 0 ? nextafter(root, HUGE_VAL) : root;
}

/* An amount for a message: the nearest double, in its shortest form. */
char *
lane_text(Datum amount)
{
	return DatumGetCString(DirectFunctionCall1(float8out,
											   DirectFunctionCall1(numeric_float8, amount)));
}
