/*
 * arguments.c
 *	  The arguments of dp_ngrams, and what other functions' have in common with
 *	  them: everything is checked here, before the ledger is asked.
 *
 * Messages may name the arguments, which the caller wrote; they know nothing
 * of the data.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/jsonb.h"

#include "api/arguments.h"
#include "api/checks.h"
#include "common/dp_base.h"
#include "dpngram_errcodes.h"
#include "ledger/json.h"
#include "ledger/options.h"

/* Below this a spurious n-gram's probability could not be drawn exactly. */
#define MIN_SPURIOUS 1e-20

/* Rounds of each length above 1 in dpne-mr. */
#define DEFAULT_ROUNDS 10

/* The arguments that all functions begin with: relation, columns, epsilon, delta. */
void
parse_release_arguments(FunctionCallInfo fcinfo, const char *column, TextTarget *target,
						double *epsilon, double *delta)
{
	target->relid = DatumGetObjectId(required(fcinfo, 0, "relation"));
	target->user_col = NameStr(*DatumGetName(required(fcinfo, 1, "user_col")));
	target->text_col = NameStr(*DatumGetName(required(fcinfo, 2, column)));
	*epsilon = open_interval(fcinfo, 3, "epsilon", 0, get_float8_infinity(),
							 "positive and finite");
	*delta = open_interval(fcinfo, 4, "delta", 0, 1, "greater than 0 and less than 1");
}

static NgramMethod
parse_method(const char *name)
{
	NgramMethod method;

	if (!ngram_method_by_name(name, &method))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT), errmsg("unknown method \"%s\"", name),
				 errhint("Methods are dpne-mr, dpne, dpsu-all, dpsu-even and dpsu-single.")));
	return method;
}

static NgramPruning
parse_pruning(const char *name)
{
	NgramPruning pruning;

	if (!ngram_pruning_by_name(name, &pruning))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT), errmsg("unknown pruning \"%s\"", name),
				 errhint("Prunings are both and single.")));
	return pruning;
}

/* Delta_1 .. Delta_T; without a bound (NULL) the public cap on keys holds. */
static void
parse_bounds(ArrayType *array, NgramQuery *query)
{
	Datum *bound;
	bool *isnull;
	int n;

	if (ARR_NDIM(array) > 1)
		bad_argument("max_contributions_per_length", "a one-dimensional array");
	deconstruct_array(array, INT4OID, sizeof(int32), true, TYPALIGN_INT, &bound, &isnull, &n);
	if (n != query->max_length)
		bad_argument("max_contributions_per_length", "an array of max_length elements");
	for (int i = 0; i < n; i++)
	{
		if (isnull[i] && (i == 0 || !ngram_by_levels(query->method)))
			bad_argument("max_contributions_per_length",
						 "without nulls, except for lengths above 1 in methods dpne-mr and dpne");
		query->bound[i + 1] = isnull[i] ? DP_MAX_KEYS : DatumGetInt32(bound[i]);
		if (query->bound[i + 1] < 1 || query->bound[i + 1] > DP_MAX_KEYS)
			bad_argument("max_contributions_per_length",
						 psprintf("of elements between 1 and %d", DP_MAX_KEYS));
	}
}

static void
parse_length(FunctionCallInfo fcinfo, int n, NgramQuery *query)
{
	if (query->method != METHOD_DPSU_SINGLE)
	{
		if (!PG_ARGISNULL(n))
			bad_argument("length", "null, except for method dpsu-single");
		return;
	}
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("method dpsu-single needs the argument \"length\"")));
	query->length = int_range(fcinfo, n, "length", 1, query->max_length);
}

static void
parse_schedule(const OptionEither *schedule, NgramQuery *query)
{
	if (schedule->text != NULL)
	{
		if (!ngram_schedule_by_name(schedule->text, &query->schedule))
			bad_argument("schedule", "balanced, adaptive or a number");
		return;
	}
	query->schedule = SCHEDULE_RATIO;
	query->noise_ratio = schedule->number;
	if (!(query->noise_ratio > 0 && isfinite(query->noise_ratio)))
		bad_argument("schedule", "positive and finite, where it is a number");
}

/*
 * Left to us, dpne is counted where the rows are, but dpne-mr is not: its rounds would read
 * and tokenise them anew many times, which pays on many servers only.
 */
static NgramExecution
parse_execution(const char *name, const NgramQuery *query)
{
	if (strcmp(name, "auto") == 0)
		return query->method == METHOD_DPNE ? EXECUTION_AUTO : EXECUTION_LOCAL;
	if (strcmp(name, "local") == 0)
		return EXECUTION_LOCAL;
	if (strcmp(name, "pushdown") != 0)
		bad_argument("execution", "auto, local or pushdown");
	if (!ngram_by_levels(query->method))
		bad_argument("execution", "auto or local, except for methods dpne-mr and dpne");
	return EXECUTION_PUSHDOWN;
}

/* The options of dp_ngrams: what is for rounds is an error in methods without. */
static void
parse_ngrams_options(FunctionCallInfo fcinfo, int n, NgramArguments *arguments)
{
	NgramQuery *query = &arguments->query;
	OptionEither schedule = {.text = "balanced"};
	char *spurious_of = "previous";
	char *execution = "auto";
	double rounds = DEFAULT_ROUNDS;
	const Option known[] = {{"period", OPTION_TEXT, &arguments->target.period},
							{"execution", OPTION_TEXT, &execution},
							{"schedule", OPTION_EITHER, &schedule},
							{"rounds", OPTION_NUMBER, &rounds},
							{"spurious_of", OPTION_TEXT, &spurious_of}};

	options_read(DatumGetJsonbP(required(fcinfo, n, "options")), known,
				 query->method == METHOD_DPNE_MR ? lengthof(known) : 2);
	arguments->execution = parse_execution(execution, query);
	if (query->method != METHOD_DPNE_MR)
		return;
	if (query->noise_ratio != 1)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("method dpne-mr has no argument \"noise_ratio\""),
				 errhint("Its option \"schedule\" may be a ratio; the argument is for method "
						 "dpne.")));
	parse_schedule(&schedule, query);
	if (!(rounds >= 1 && rounds <= NGRAM_MAX_ROUNDS && rounds == floor(rounds)))
		bad_argument("rounds", psprintf("an integer between 1 and %d", NGRAM_MAX_ROUNDS));
	query->rounds = (int) rounds;
	if (!ngram_spurious_of_by_name(spurious_of, &query->spurious_of))
		bad_argument("spurious_of", "previous or forecast");
}

/* ------------------------------------------------------------------------
 * what the ledger keeps of a call
 * ------------------------------------------------------------------------ */

static void
note_rounds(StringInfo json, const NgramQuery *query)
{
	if (query->schedule == SCHEDULE_RATIO)
		json_number(json, "schedule", query->noise_ratio);
	else
		json_text(json, "schedule",
				  query->schedule == SCHEDULE_ADAPTIVE ? "adaptive" : "balanced");
	json_number(json, "rounds", query->rounds);
	json_text(json, "spurious_of",
			  query->spurious_of == SPURIOUS_OF_FORECAST ? "forecast" : "previous");
}

static void
note_parameters(NgramArguments *arguments, const char *method)
{
	StringInfo json = &arguments->parameters;
	const NgramQuery *query = &arguments->query;

	json_begin(json);
	json_text(json, "method", method);
	json_text(json, "text_col", arguments->target.text_col);
	if (query->method == METHOD_DPSU_SINGLE)
		json_number(json, "length", query->length);
	else
		json_number(json, "max_length", query->max_length);
	appendStringInfoString(json, ", \"max_contributions\": [");
	for (int k = 1; k <= query->max_length; k++)
		appendStringInfo(json, "%s" INT64_FORMAT, k > 1 ? ", " : "", query->bound[k]);
	appendStringInfoChar(json, ']');
	if (ngram_by_levels(query->method))
	{
		json_number(json, "spurious", query->spurious);
		json_text(json, "pruning", query->pruning == PRUNING_BOTH ? "both" : "single");
	}
	if (query->method == METHOD_DPNE)
		json_number(json, "noise_ratio", query->noise_ratio);
	if (query->method == METHOD_DPNE_MR)
		note_rounds(json, query);
	json_text(json, "tokenizer", arguments->target.tokenizer);
	if (arguments->target.max_tokens > 0)
		json_number(json, "max_tokens", arguments->target.max_tokens);
	json_number(json, "threshold_share", arguments->threshold_share);
	if (arguments->execution == EXECUTION_PUSHDOWN)
		json_text(json, "execution", "pushdown");
	(void) json_end(json);
}

/* ------------------------------------------------------------------------
 * the function's arguments, in their order
 * ------------------------------------------------------------------------ */

void
parse_ngrams_arguments(FunctionCallInfo fcinfo, NgramArguments *arguments)
{
	NgramQuery *query = &arguments->query;
	char *method;

	memset(arguments, 0, sizeof(*arguments));
	parse_release_arguments(fcinfo, "text_col", &arguments->target, &query->epsilon,
							&query->delta);
	query->max_length = int_range(fcinfo, 5, "max_length", 1, NGRAM_MAX_LENGTH);
	method = text_argument(fcinfo, 6, "method");
	query->method = parse_method(method);
	for (int k = 1; k <= query->max_length; k++)
		query->bound[k] = int_range(fcinfo, 7, "max_contributions", 1, DP_MAX_KEYS);
	if (query->method == METHOD_DPNE_MR)
		for (int k = 2; k <= query->max_length; k++)
			query->bound[k] = DP_MAX_KEYS; /* dpne-mr needs none, but for the lattice */
	if (!PG_ARGISNULL(8))
		parse_bounds(PG_GETARG_ARRAYTYPE_P(8), query);
	query->spurious =
		open_interval(fcinfo, 9, "spurious", MIN_SPURIOUS, 1, "greater than 1e-20 and less than 1");
	query->pruning = parse_pruning(text_argument(fcinfo, 10, "pruning"));
	query->noise_ratio = open_interval(fcinfo, 11, "noise_ratio", 0, get_float8_infinity(),
									   "positive and finite");
	parse_length(fcinfo, 12, query);
	arguments->target.tokenizer = tokenizer_argument(fcinfo, 13);
	if (!PG_ARGISNULL(14))
		arguments->target.max_tokens = int_range(fcinfo, 14, "max_tokens", 1, PG_INT32_MAX);
	arguments->threshold_share = open_interval(fcinfo, 15, "threshold_share", 0, 1,
											   "greater than 0 and less than 1");
	parse_ngrams_options(fcinfo, 16, arguments);
	arguments->mechanism = "dp_ngrams";
	note_parameters(arguments, method);
}
