/*
 * planning.c
 *	  dp_price: what a call would be debited, without making it.
 *
 * A mechanism is priced by the very code of its calls: its arguments are parsed as
 * a call's (arguments.c) and its plans made as a call's (price.c).  Another
 * mechanism joins by a line in the table below (planned_functions).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "compat.h"
#include "dpngram_errcodes.h"
#include "fmgr.h"
#include "ledger/accounting.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"

#include "api/dist_price.h"
#include "api/local_arguments.h"
#include "api/named_call.h"
#include "api/price.h"
#include "api/set_union.h"

/* What a call with these arguments would ask the ledger for. */
typedef LedgerRequest (*Planner)(FunctionCallInfo call, const LedgerTerms *terms);

static LedgerRequest
plan_extraction(const NgramArguments *arguments, const LedgerTerms *terms)
{
	NgramPlan plans[NGRAM_MAX_PLANS];
	int nplans = ngram_plans(terms, arguments, plans);

	return ngram_request(arguments, plans, nplans);
}

static LedgerRequest
plan_ngrams(FunctionCallInfo call, const LedgerTerms *terms)
{
	NgramArguments arguments;

	parse_ngrams_arguments(call, &arguments);
	return plan_extraction(&arguments, terms);
}

static LedgerRequest
plan_set_union(FunctionCallInfo call, const LedgerTerms *terms)
{
	SetUnionArguments arguments;
	SetUnionPlan plans[SET_UNION_MAX_PLANS];

	parse_set_union_arguments(call, &arguments);
	return set_union_request(&arguments, terms, plans);
}

static LedgerRequest
plan_distribution(FunctionCallInfo call, const LedgerTerms *terms)
{
	DistArguments arguments;
	DistPlan plans[DIST_MAX_PLANS];

	parse_dist_arguments(call, &arguments);
	if (arguments.query.method == DIST_LOCAL_SENSITIVITY)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("method local-sensitivity has no price"),
				 errdetail("It is not private and not debited.")));
	return dist_request(&arguments, terms, plans);
}

static LedgerRequest
plan_frequent_terms(FunctionCallInfo call, const LedgerTerms *terms)
{
	LocalArguments arguments;

	parse_local_arguments(call, &arguments);
	return local_request(&arguments, terms);
}

typedef struct PlannedFunction
{
	const char *name;
	bool takes_delta;
	Planner plan;
} PlannedFunction;

static const PlannedFunction planned_functions[] = {
	{"dp_ngrams", true, plan_ngrams},
	{"dp_set_union", true, plan_set_union},
	{"bayes_dp_dist", true, plan_distribution},
	{"ldp_frequent_terms", false, plan_frequent_terms},
};

static const PlannedFunction *
find_planned(const char *function)
{
	for (int i = 0; i < (int) lengthof(planned_functions); i++)
		if (strcmp(planned_functions[i].name, function) == 0)
			return &planned_functions[i];
	ereport(ERROR,
			(errcode(ERRCODE_DP_ARGUMENT),
			 errmsg("function \"%s\" has no price", function),
			 errhint("Functions that have one are dp_ngrams, dp_set_union, bayes_dp_dist and "
					 "ldp_frequent_terms.")));
	return NULL; /* not reached */
}

/* The text of one of dp_price's own options, which is taken out; NULL if it isn't there. */
static char *
take_option(Jsonb **options, const char *key)
{
	JsonbValue name = {.type = jbvString};
	JsonbValue *value;
	Datum rest;

	name.val.string.val = unconstify(char *, key);
	name.val.string.len = strlen(key);
	value = findJsonbValueFromContainer(&(*options)->root, JB_FOBJECT, &name);
	if (value == NULL)
		return NULL;
	if (value->type != jbvString)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT), errmsg("option \"%s\" must be a string", key)));
	rest = DirectFunctionCall2(jsonb_delete, JsonbPGetDatum(*options), CStringGetTextDatum(key));
	*options = DatumGetJsonbP(rest);
	return pnstrdup(value->val.string.val, value->val.string.len);
}

/* Without a dataset: those of a new one with room for everything. */
static LedgerTerms
terms_of_accounting(const char *accounting)
{
	LedgerTerms terms = {.delta = 1, .public_user_count = true};

	if (!accounting_by_name(accounting ? accounting : "gdp", &terms.accounting))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT), errmsg("unknown accounting \"%s\"", accounting),
				 errhint("Known are gdp, zcdp and basic.")));
	return terms;
}

static void
return_price(ReturnSetInfo *rsinfo, LedgerAccounting accounting, const LaneAmounts *price)
{
	AccountingLanes lanes = accounting_lanes(accounting);

	for (int i = lanes.first; i < (int) lanes.first + lanes.count; i++)
	{
		Datum values[2] = {CStringGetTextDatum(lane_names[i]), price->lane[i]};
		bool nulls[2] = {false};

		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

static void
refuse_null(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT), errmsg("argument \"%s\" must not be null", name)));
}

/* A pure mechanism's calls have no delta: it is given as 0. */
static void
refuse_delta(FunctionCallInfo fcinfo, int n, const char *function)
{
	if (PG_ARGISNULL(n) || PG_GETARG_FLOAT8(n) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT), errmsg("delta must be 0 for %s", function),
				 errdetail("Its releases are purely differentially private.")));
}

PG_FUNCTION_INFO_V1(dpngram_price);

/*
 * dp_price(function, epsilon, delta, options): the amounts that a call would be
 * debited, lane by lane.  Options are the function's arguments by name, and
 * "accounting" or "dataset".
 */
Datum
dpngram_price(PG_FUNCTION_ARGS)
{
	LOCAL_FCINFO(call, FUNC_MAX_ARGS);
	GivenArgument given[2] = {
		{"epsilon", PG_GETARG_DATUM(1), PG_ARGISNULL(1)},
		{"delta", PG_GETARG_DATUM(2), PG_ARGISNULL(2)}};
	const char *function;
	const PlannedFunction *planned;
	Jsonb *options;
	char *accounting;
	char *dataset;
	LedgerTerms terms;
	LedgerRequest request;
	LaneAmounts price;
	int chosen;

	InitMaterializedSRF(fcinfo, 0);
	refuse_null(fcinfo, 0, "function");
	refuse_null(fcinfo, 3, "options");
	function = NameStr(*PG_GETARG_NAME(0));
	planned = find_planned(function);
	if (!planned->takes_delta)
		refuse_delta(fcinfo, 2, function);
	options = PG_GETARG_JSONB_P(3);
	if (!JB_ROOT_IS_OBJECT(options))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT), errmsg("options must be a JSON object")));
	accounting = take_option(&options, "accounting");
	dataset = take_option(&options, "dataset");
	if (accounting != NULL && dataset != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("options \"accounting\" and \"dataset\" exclude each other")));

	terms = dataset ? ledger_terms(dataset) : terms_of_accounting(accounting);
	fill_named_call(call, find_sibling(fcinfo->flinfo->fn_oid, function), options, given,
					planned->takes_delta ? 2 : 1);
	request = planned->plan(call, &terms);
	chosen = dataset ? ledger_quote(dataset, &request) : 0;
	price = accounting_price(&request.candidates[chosen], request.epsilon, request.delta);
	return_price((ReturnSetInfo *) fcinfo->resultinfo, terms.accounting, &price);
	return (Datum) 0;
}
