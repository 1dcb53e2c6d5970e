/*
 * views.c
 *	  What the ledger's tables and views need besides SQL: amounts of the lanes
 *	  as one epsilon, and the trigger that keeps the log append-only.
 */
#include "postgres.h"

#include <math.h>

#include "commands/trigger.h"
#include "common/dp_gaussian.h"
#include "common/dp_zcdp.h"
#include "fmgr.h"
#include "ledger/lanes.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/rel.h"

/* An amount that was spent: rounded up, and nothing if it is less than that. */
static double
amount_argument(FunctionCallInfo fcinfo, int argument)
{
	Datum amount = PG_GETARG_DATUM(argument);

	return lane_less(lane_exact(0), amount) ? lane_double_up(amount) : 0;
}

/* What of delta an additive part leaves, rounded down; negative if that is more. */
static double
delta_left(double delta, double additive)
{
	return additive <= delta ? lane_subtract_down(delta, additive) : -1;
}

PG_FUNCTION_INFO_V1(dpngram_lanes_epsilon);

/*
 * lanes_epsilon(mu2, eps_pure, delta_add, delta): the smallest epsilon for which
 * these amounts together are (epsilon, delta) differentially private, that is
 * exp(eps_pure) dG(epsilon - eps_pure, sqrt(mu2)) + delta_add <= delta (see
 * lanes.c); infinity if there is none.  Rounded up, by the steps of accounting.c,
 * so that the caps of a budget come to no more than its epsilon.
 */
Datum
dpngram_lanes_epsilon(PG_FUNCTION_ARGS)
{
	double mu = lane_root_up(amount_argument(fcinfo, 0));
	double eps_pure = amount_argument(fcinfo, 1);
	double left = delta_left(PG_GETARG_FLOAT8(3), amount_argument(fcinfo, 2));
	double epsilon;

	if (mu == 0 && left >= 0)
		PG_RETURN_FLOAT8(eps_pure);
	left = lane_multiply_down(left, nextafter(exp(-eps_pure), 0));
	if (!(left > 0) || dp_gaussian_epsilon(mu, left, &epsilon) != DP_OK)
		PG_RETURN_FLOAT8(get_float8_infinity());
	PG_RETURN_FLOAT8(lane_add_up(eps_pure, epsilon));
}

PG_FUNCTION_INFO_V1(dpngram_zcdp_epsilon);

/*
 * zcdp_epsilon(rho, rho_delta, delta): the smallest epsilon for which rho-zCDP and
 * an additive rho_delta together are (epsilon, delta) differentially private, by
 * the conversion of Canonne, Kamath and Steinke (2020); infinity if there is none.
 * Rounded up.
 */
Datum
dpngram_zcdp_epsilon(PG_FUNCTION_ARGS)
{
	double rho = amount_argument(fcinfo, 0);
	double left = delta_left(PG_GETARG_FLOAT8(2), amount_argument(fcinfo, 1));
	double epsilon;

	if (rho == 0 && left >= 0)
		PG_RETURN_FLOAT8(0);
	if (!(left > 0) || dp_zcdp_epsilon(rho, left, &epsilon) != DP_OK)
		PG_RETURN_FLOAT8(get_float8_infinity());
	PG_RETURN_FLOAT8(epsilon);
}

PG_FUNCTION_INFO_V1(dpngram_remainder);

/*
 * remainder(cap, spent): what is left of a lane, or 0 where more than the cap is
 * spent, as the largest double that is not above it.
 */
Datum
dpngram_remainder(PG_FUNCTION_ARGS)
{
	Datum left = lane_remaining(PG_GETARG_DATUM(1), PG_GETARG_DATUM(0));
	double nearest = DatumGetFloat8(DirectFunctionCall1(numeric_float8, left));

	/* amounts are on the grid, and so is the double nearest to one */
	if (lane_less(left, lane_price(nearest, 1)))
		nearest = nextafter(nearest, 0);
	PG_RETURN_FLOAT8(nearest);
}

PG_FUNCTION_INFO_V1(dpngram_append_only);

/* Trigger: refuses every change of a log's rows, the superuser's too. */
Datum
dpngram_append_only(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function can only be called as a trigger")));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("rows of \"%s\" can only be added",
					RelationGetRelationName(trigger->tg_relation))));
	PG_RETURN_NULL();
}
