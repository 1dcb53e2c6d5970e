/*
 * budget.c
 *	  The numbers of a budget: their domains, their caps, and dp_set_budget, which
 *	  raises them.
 *
 * A filter whose caps followed what was already seen would prove nothing about
 * the old budget.  So dp_set_budget may only raise: whatever the lanes' sums are,
 * they keep the new caps, and the promise is from then on that of the new budget.
 */
#include "postgres.h"

#include <math.h>

#include "dpngram_errcodes.h"
#include "fmgr.h"
#include "ledger/budget.h"
#include "ledger/json.h"
#include "ledger/owner.h"
#include "utils/builtins.h"

/* epsilon and delta of a budget; also those of a grant. */
void
budget_check(const Budget *budget)
{
	if (!(budget->epsilon > 0) || isinf(budget->epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("epsilon must be positive and finite")));
	if (!(budget->delta >= 0 && budget->delta < 1))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("delta must be at least 0 and less than 1")));
	if (budget->delta == 0 && budget->accounting == ACCOUNTING_ZCDP)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("accounting zcdp needs a delta greater than 0"),
				 errhint("With delta 0 use accounting gdp or basic.")));
}

/* The caps of a budget, or an error. */
LaneAmounts
budget_caps(const Budget *budget)
{
	LaneAmounts caps;

	if (!accounting_caps(budget, &caps))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("no budget can be computed from this epsilon and delta"),
				 errhint("One of them, or its share, is too small for any noise.")));
	return caps;
}

static void
refuse_lower(const Dataset *dataset, const LaneAmounts *cap)
{
	AccountingLanes lanes = accounting_lanes(dataset->budget.accounting);

	for (int i = lanes.first; i < (int) lanes.first + lanes.count; i++)
		if (lane_less(cap->lane[i], dataset->cap.lane[i]))
			ereport(ERROR,
					(errcode(ERRCODE_DP_ARGUMENT),
					 errmsg("a budget can only be raised"),
					 errdetail("The cap of lane %s is %s now and would be %s.", lane_names[i],
							   lane_text(dataset->cap.lane[i]), lane_text(cap->lane[i]))));
}

/* In accounting gdp a dataset made with delta 0 has its shares from that: all is pure. */
static void
refuse_new_delta(const Dataset *dataset, const Budget *budget)
{
	if (budget->accounting == ACCOUNTING_GDP && dataset->budget.delta == 0 && budget->delta > 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("dataset \"%s\" was made with delta 0 and stays so", dataset->name),
				 errhint("End it and protect the relation anew: what it spent is carried on.")));
}

static char *
budget_json(const Dataset *before, const Budget *budget)
{
	StringInfoData json;

	json_begin(&json);
	json_number(&json, "epsilon", budget->epsilon);
	json_number(&json, "delta", budget->delta);
	json_number(&json, "epsilon_before", before->budget.epsilon);
	json_number(&json, "delta_before", before->budget.delta);
	return json_end(&json);
}

static void
dataset_set_budget(int32 id, const Budget *budget, const LaneAmounts *cap)
{
	CatalogArgs args = {0};

	arg_int4(&args, id);
	arg_float8(&args, budget->epsilon);
	arg_float8(&args, budget->delta);
	arg_float8(&args, budget->pure_share);
	arg_float8(&args, budget->delta_share);
	arg_lanes(&args, cap);
	catalog_change("UPDATE dpngram.dataset SET epsilon = $2, delta = $3, pure_share = $4, "
				   "delta_share = $5, mu2_cap = $6, eps_pure_cap = $7, delta_add_cap = $8, "
				   "rho_cap = $9, rho_delta_cap = $10, basic_epsilon_cap = $11, "
				   "basic_delta_cap = $12 WHERE id = $1",
				   &args);
}

PG_FUNCTION_INFO_V1(dpngram_set_budget);

/*
 * dp_set_budget(dataset, epsilon, delta): raises the dataset's budget.  The shares
 * that dp_protect was given stay; no lane's cap may fall.
 */
Datum
dpngram_set_budget(PG_FUNCTION_ARGS)
{
	Catalog cat;
	Dataset *dataset;
	Budget budget;
	LaneAmounts cap;

	owner_may_write("dp_set_budget()");
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("dataset, epsilon and delta must not be null")));
	catalog_enter(&cat);
	dataset = owner_dataset(&cat, NameStr(*PG_GETARG_NAME(0)));
	budget = dataset->budget;
	budget.epsilon = PG_GETARG_FLOAT8(1);
	budget.delta = PG_GETARG_FLOAT8(2);
	budget_check(&budget);
	refuse_new_delta(dataset, &budget);
	cap = budget_caps(&budget);
	refuse_lower(dataset, &cap);
	dataset_set_budget(dataset->id, &budget, &cap);
	owner_act(&cat, dataset, "dp_set_budget", budget_json(dataset, &budget), NULL);
	catalog_leave(&cat);
	PG_RETURN_VOID();
}
