/*
 * outlook.c
 *	  What a role can still spend of a dataset: dp_remaining, the forecast of
 *	  view dpngram.outlook, and which price a call would be debited.
 *
 * Nothing is locked and nothing is charged, so the answer is that of the moment:
 * other calls may spend in between.  Who sees a dataset in dpngram.budget sees it
 * here, suspended or not, on a standby too.
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "dpngram_errcodes.h"
#include "fmgr.h"
#include "funcapi.h"
#include "ledger/afford.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* A dataset and the rights by which the caller sees it. */
typedef struct Prospect
{
	Dataset *dataset;
	List *grants; /* as of grants_usable() */
	LedgerPeriod period;
	LaneAmounts spent;
} Prospect;

/* By ownership of any of the relations, else by the grants; NIL if the caller sees nothing. */
static List *
rights_to_see(const Catalog *cat, const Dataset *dataset)
{
	List *grants = NIL;
	ListCell *cell;

	foreach (cell, dataset->relations)
	{
		List *usable = grants_usable(cat, dataset, lfirst(cell), cat->caller);

		if (grants == NIL || (usable != NIL && ((Grant *) linitial(usable))->id == 0))
			grants = usable;
	}
	if (grants == NIL && has_privs_of_role(cat->caller, ROLE_PG_READ_ALL_STATS))
	{
		MemoryContext old = MemoryContextSwitchTo(cat->outer);

		grants = list_make1(palloc0(sizeof(Grant)));
		MemoryContextSwitchTo(old);
	}
	return grants;
}

/*
 * Within a visit; false if there is no such dataset, or none that the caller sees.  The
 * period is that of a call with such an option, or without one (NULL).
 */
static bool
look(const Catalog *cat, const char *name, const char *period, Prospect *prospect)
{
	memset(prospect, 0, sizeof(*prospect));
	prospect->dataset = dataset_by_name(cat, name);
	if (prospect->dataset == NULL)
		return false;
	prospect->grants = rights_to_see(cat, prospect->dataset);
	if (prospect->grants == NIL)
		return false;
	prospect->period = period_foreseen(name, &prospect->dataset->renewal, period);
	prospect->spent = spent_of(cat, prospect->dataset, NULL, &prospect->period);
	return true;
}

static void
refuse_unseen(const Catalog *cat, const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("dataset \"%s\" does not exist or is not granted to role \"%s\"", name,
					GetUserNameFromId(cat->caller, false))));
}

/*
 * ledger_terms: the terms of a dataset that the caller sees, palloc'd; else an error
 * (42704).
 */
LedgerTerms
ledger_terms(const char *dataset)
{
	Catalog cat;
	Prospect prospect;

	catalog_enter(&cat);
	if (!look(&cat, dataset, NULL, &prospect))
		refuse_unseen(&cat, dataset);
	catalog_leave(&cat);
	return dataset_terms(prospect.dataset);
}

/*
 * ledger_quote: the index of the candidate that a call of the caller's would be
 * debited now; the first one's if none fits.
 */
int
ledger_quote(const char *dataset, const LedgerRequest *request)
{
	LaneAmounts prices[LEDGER_MAX_CANDIDATES];
	Shortage shortage = {0};
	LedgerTerms terms;
	Prospect prospect;
	Catalog cat;
	int chosen = 0;

	for (int i = 0; i < request->ncandidates; i++)
		prices[i] = accounting_price(&request->candidates[i], request->epsilon, request->delta);
	catalog_enter(&cat);
	if (!look(&cat, dataset, request->period, &prospect))
		refuse_unseen(&cat, dataset);
	terms = dataset_terms(prospect.dataset);
	request_check_least(&terms, request);
	if (afford(&cat, prospect.dataset, prospect.grants, &prospect.period, prices,
			   request->ncandidates, &chosen, &shortage) == NULL)
		chosen = 0;
	catalog_leave(&cat);
	return chosen;
}

static bool
any_uncapped(const List *grants)
{
	ListCell *cell;

	foreach (cell, grants)
	{
		if (!((Grant *) lfirst(cell))->capped)
			return true;
	}
	return false;
}

/*
 * The grant whose cap limits what one call may spend: of several the one with most
 * left in the accounting's first lane.  NULL if none limits it.
 */
static const Grant *
limiting_grant(const Catalog *cat, const Prospect *prospect, LaneAmounts *spent)
{
	int lane = accounting_lanes(prospect->dataset->budget.accounting).first;
	const Grant *best = NULL;
	ListCell *cell;

	if (any_uncapped(prospect->grants))
		return NULL;
	foreach (cell, prospect->grants)
	{
		const Grant *grant = lfirst(cell);
		LaneAmounts own = spent_of(cat, prospect->dataset, grant, &prospect->period);

		if (best != NULL && !lane_less(lane_remaining(spent->lane[lane], best->cap.lane[lane]),
									   lane_remaining(own.lane[lane], grant->cap.lane[lane])))
			continue;
		best = grant;
		*spent = own;
	}
	return best;
}

static void
return_lane(ReturnSetInfo *rsinfo, int lane, Datum cap, Datum spent)
{
	Datum values[4] = {CStringGetTextDatum(lane_names[lane]), cap, spent,
					   lane_remaining(spent, cap)};
	bool nulls[4] = {false};

	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* A row a lane: the grant's cap where that leaves less than the dataset. */
static void
return_lanes(ReturnSetInfo *rsinfo, const Prospect *prospect, const Grant *grant,
			 const LaneAmounts *own)
{
	const Dataset *dataset = prospect->dataset;
	AccountingLanes lanes = accounting_lanes(dataset->budget.accounting);

	for (int i = lanes.first; i < (int) lanes.first + lanes.count; i++)
	{
		Datum cap = dataset->cap.lane[i];
		Datum spent = prospect->spent.lane[i];

		if (grant != NULL && lane_less(lane_remaining(own->lane[i], grant->cap.lane[i]),
									   lane_remaining(spent, cap)))
			return_lane(rsinfo, i, grant->cap.lane[i], own->lane[i]);
		else
			return_lane(rsinfo, i, cap, spent);
	}
}

PG_FUNCTION_INFO_V1(dpngram_remaining);

/* dp_remaining(dataset): what the caller may still spend, exactly, lane by lane. */
Datum
dpngram_remaining(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Catalog cat;
	Prospect prospect;
	const Grant *grant;
	LaneAmounts own = {0};

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT), errmsg("dataset must not be null")));
	catalog_enter(&cat);
	if (!look(&cat, NameStr(*PG_GETARG_NAME(0)), NULL, &prospect))
		refuse_unseen(&cat, NameStr(*PG_GETARG_NAME(0)));
	grant = limiting_grant(&cat, &prospect, &own);
	catalog_leave(&cat);
	return_lanes(rsinfo, &prospect, grant, &own);
	return (Datum) 0;
}

/* ------------------------------------------------------------------------
 * how many more calls fit
 * ------------------------------------------------------------------------ */

static bool
valid_amount(Datum amount)
{
	return !numeric_is_nan(DatumGetNumeric(amount)) && !lane_less(amount, lane_exact(0));
}

/* Amounts of the accounting's lanes, in their order. */
static LaneAmounts
price_argument(ArrayType *array, AccountingLanes lanes)
{
	LaneAmounts price = lanes_zero();
	Datum *amounts;
	bool *nulls;
	int n;
	bool valid;

	deconstruct_array(array, NUMERICOID, -1, false, TYPALIGN_INT, &amounts, &nulls, &n);
	valid = n == lanes.count;
	for (int i = 0; valid && i < n; i++)
	{
		valid = !nulls[i] && valid_amount(amounts[i]);
		price.lane[lanes.first + i] = amounts[i];
	}
	if (!valid)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("a price is an amount of at least 0 for each lane")));
	return price;
}

/* How often a price, of more than 0 in some lane, fits between spent and cap. */
static Datum
count_within(AccountingLanes lanes, const LaneAmounts *price, const LaneAmounts *spent,
			 const LaneAmounts *cap)
{
	Datum count = LANE_NONE;

	for (int i = lanes.first; i < (int) lanes.first + lanes.count; i++)
	{
		Datum times;

		if (!lane_less(lane_exact(0), price->lane[i]))
			continue;
		times = DirectFunctionCall2(numeric_div_trunc,
									lane_remaining(spent->lane[i], cap->lane[i]),
									price->lane[i]);
		if (lane_is_none(count) || lane_less(times, count))
			count = times;
	}
	return count;
}

/* The same within the caller's rights: each of several grants may be spent to its end. */
static int64
count_calls(const Catalog *cat, const Prospect *prospect, const LaneAmounts *price)
{
	const Dataset *dataset = prospect->dataset;
	AccountingLanes lanes = accounting_lanes(dataset->budget.accounting);
	Datum most = DirectFunctionCall1(int8_numeric, Int64GetDatum(PG_INT64_MAX));
	Datum count = count_within(lanes, price, &prospect->spent, &dataset->cap);
	Datum own = lane_exact(0);
	ListCell *cell;

	foreach (cell, prospect->grants)
	{
		const Grant *grant = lfirst(cell);
		LaneAmounts spent;

		if (!grant->capped)
		{
			own = count;
			break;
		}
		spent = spent_of(cat, dataset, grant, &prospect->period);
		own = lane_add(own, count_within(lanes, price, &spent, &grant->cap));
	}
	count = DirectFunctionCall2(numeric_smaller, count, own);
	count = DirectFunctionCall2(numeric_smaller, count, most);
	return DatumGetInt64(DirectFunctionCall1(numeric_int8, count));
}

PG_FUNCTION_INFO_V1(dpngram_calls_left);

/*
 * calls_left(dataset, price): how many more calls at exactly this price, given by
 * lane, the caller could make; NULL if it is 0 in all lanes, or the caller doesn't
 * see the dataset.
 */
Datum
dpngram_calls_left(PG_FUNCTION_ARGS)
{
	Catalog cat;
	Prospect prospect;
	bool known = false;
	int64 count = 0;

	catalog_enter(&cat);
	if (look(&cat, NameStr(*PG_GETARG_NAME(0)), NULL, &prospect))
	{
		AccountingLanes lanes = accounting_lanes(prospect.dataset->budget.accounting);
		LaneAmounts price = price_argument(PG_GETARG_ARRAYTYPE_P(1), lanes);

		known = lanes_any(&price);
		if (known)
			count = count_calls(&cat, &prospect, &price);
	}
	catalog_leave(&cat);
	if (!known)
		PG_RETURN_NULL();
	PG_RETURN_INT64(count);
}
