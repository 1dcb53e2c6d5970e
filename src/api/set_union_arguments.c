/*
 * set_union_arguments.c
 *	  The arguments of dp_set_union: everything is checked here, before the ledger is
 *	  asked.
 *
 * Options that a method has no use for are errors: threshold_share divides the delta of
 * Gaussian methods, the others' goes to the threshold as a whole; alpha is the policies'.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "api/arguments.h"
#include "api/checks.h"
#include "api/set_union.h"
#include "common/dp_base.h"
#include "dpngram_errcodes.h"
#include "ledger/json.h"
#include "ledger/options.h"

#define DEFAULT_METHOD "cumulative"
#define DEFAULT_THRESHOLD_SHARE 0.1
#define DEFAULT_ALPHA 3.0

/* A higher cutoff than this is next to none. */
#define MOST_ALPHA 10.0

static void
parse_method(const char *name, SetUnionQuery *query)
{
	if (!set_union_method_by_name(name, &query->method))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT), errmsg("unknown method \"%s\"", name),
				 errhint("Methods are cumulative, sips, weighted_gaussian, policy_gaussian, "
						 "policy_laplace, weighted_laplace and single.")));
	if (query->method == SET_UNION_SINGLE && query->bound != 1)
		bad_argument("max_contributions", "1 for method single");
}

static void
parse_options(FunctionCallInfo fcinfo, int n, SetUnionArguments *arguments)
{
	SetUnionQuery *query = &arguments->query;
	Option known[3] = {{"period", OPTION_TEXT, &arguments->target.period}};
	int nknown = 1;

	if (set_union_is_gaussian(query->method))
		known[nknown++] =
			(Option){"threshold_share", OPTION_NUMBER, &arguments->threshold_share};
	if (set_union_is_policy(query->method))
		known[nknown++] = (Option){"alpha", OPTION_NUMBER, &query->alpha};
	options_read(DatumGetJsonbP(required(fcinfo, n, "options")), known, nknown);
	if (!(arguments->threshold_share > 0 && arguments->threshold_share < 1))
		bad_argument("threshold_share", "greater than 0 and less than 1");
	if (!(query->alpha > 0 && query->alpha <= MOST_ALPHA))
		bad_argument("alpha", psprintf("greater than 0 and at most %g", MOST_ALPHA));
}

/* What the ledger keeps of a call. */
static void
note_parameters(SetUnionArguments *arguments, const char *method)
{
	StringInfo json = &arguments->parameters;
	const SetUnionQuery *query = &arguments->query;

	json_begin(json);
	json_text(json, "method", method);
	json_text(json, "item_col", arguments->target.text_col);
	appendStringInfo(json, ", \"max_contributions\": [" INT64_FORMAT "]", query->bound);
	if (set_union_is_policy(query->method))
		json_number(json, "alpha", query->alpha);
	if (set_union_is_gaussian(query->method))
		json_number(json, "threshold_share", arguments->threshold_share);
	(void) json_end(json);
}

/* The arguments in their order. */
void
parse_set_union_arguments(FunctionCallInfo fcinfo, SetUnionArguments *arguments)
{
	SetUnionQuery *query = &arguments->query;
	const char *method = DEFAULT_METHOD;

	memset(arguments, 0, sizeof(*arguments));
	parse_release_arguments(fcinfo, "item_col", &arguments->target, &query->epsilon,
							&query->delta);
	query->bound = int_range(fcinfo, 5, "max_contributions", 1, DP_MAX_KEYS);
	query->alpha = DEFAULT_ALPHA;
	arguments->threshold_share = DEFAULT_THRESHOLD_SHARE;
	if (!PG_ARGISNULL(6))
		method = TextDatumGetCString(PG_GETARG_DATUM(6));
	parse_method(method, query);
	parse_options(fcinfo, 7, arguments);
	arguments->target.tokenizer = "item";
	note_parameters(arguments, method);
}
