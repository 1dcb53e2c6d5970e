/*
 * dist_arguments.c
 *	  The arguments of the functions that release distributions: everything is checked
 *	  here, before the ledger is asked.
 *
 * Each method takes some of the bounds and has defaults of its own:
 *
 *						C			W			L			delta
 *	shrinkage			no bound	2^20		chosen		Gaussian above 0, Laplace at 0
 *	log-posterior		1			10			-			above 0
 *	laplace				no bound	10			-			0
 *	laplace-public		no bound	10			-			0
 *	local-sensitivity	1			2^20		-			above 0
 *
 * W counts n-grams in the first two and in laplace-public, where it is also the most that
 * a user weighs; occurrences in the other two.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "api/checks.h"
#include "api/dist_arguments.h"
#include "dpngram_errcodes.h"
#include "ledger/json.h"
#include "ledger/options.h"
#include "ngram/plan.h"

#define DEFAULT_CONTRIBUTIONS 10

/* Norms beyond are clipped; a lattice unit is then still worth a sixteenth of a count. */
#define MAX_NORM 65536.0

/* Of the noise budget, for the choice of L or for a total. */
#define DEFAULT_NORM_SHARE 0.05

/* Section 4.3: 90 % of the users train, 10 % validate. */
#define DEFAULT_TRAIN_SHARE 0.9

/* Tuning aside: what does little harm where epsilon is small. */
#define DEFAULT_SLOPE 0.001
#define DEFAULT_WEIGHT 0.5

static void
parse_method(DistArguments *arguments)
{
	if (!dist_method_by_name(arguments->method, &arguments->query.method))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("unknown method \"%s\"", arguments->method),
				 errhint("Methods are shrinkage, log-posterior, laplace, laplace-public and "
						 "local-sensitivity.")));
}

static bool
is_log_method(const DistQuery *query)
{
	return query->method == DIST_LOG_POSTERIOR || query->method == DIST_LOCAL_SENSITIVITY;
}

static bool
is_baseline(const DistQuery *query)
{
	return query->method == DIST_LAPLACE || query->method == DIST_LAPLACE_PUBLIC;
}

/* Which of the two kinds of noise delta asks for. */
static void
parse_delta(FunctionCallInfo fcinfo, int n, DistQuery *query)
{
	query->delta = DatumGetFloat8(required(fcinfo, n, "delta"));
	if (!(query->delta >= 0 && query->delta < 1))
		bad_argument("delta", "at least 0 and less than 1");
	if (query->delta == 0 && is_log_method(query))
		bad_argument("delta", "greater than 0 for this method, whose noise is Gaussian");
	if (query->delta > 0 && is_baseline(query))
		bad_argument("delta", "0 for this method, whose noise is Laplace");
}

static void
parse_counting(const char *counting, DistQuery *query)
{
	query->once = strcmp(counting, "users") == 0;
	if (!query->once && strcmp(counting, "occurrences") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("unknown counting \"%s\"", counting),
				 errhint("Countings are occurrences and users.")));
}

/* C, W and L. */
static void
parse_bounds(FunctionCallInfo fcinfo, int first, DistQuery *query)
{
	query->max_count = is_log_method(query) || query->once ? 1 : PG_INT32_MAX;
	if (!PG_ARGISNULL(first))
		query->max_count = int_range(fcinfo, first, "max_count", 1, PG_INT32_MAX);
	if (query->once && query->max_count > 1)
		bad_argument("max_count", "null or 1 where users are counted");

	query->max_contributions = is_baseline(query) || query->method == DIST_LOG_POSTERIOR ?
								   DEFAULT_CONTRIBUTIONS :
								   DP_MAX_KEYS;
	if (!PG_ARGISNULL(first + 1))
		query->max_contributions = int_range(fcinfo, first + 1, "max_contributions", 1,
											 DP_MAX_KEYS);

	if (PG_ARGISNULL(first + 2))
		return;
	if (query->method != DIST_SHRINKAGE)
		bad_argument("max_norm", "null, except for method shrinkage");
	query->max_norm = PG_GETARG_FLOAT8(first + 2);
	if (!(query->max_norm >= 1 && query->max_norm <= MAX_NORM))
		bad_argument("max_norm", psprintf("between 1 and %.0f", MAX_NORM));
}

static void
parse_tune(FunctionCallInfo fcinfo, int n, DistQuery *query)
{
	bool tune = DatumGetBool(required(fcinfo, n, "tune"));

	if (tune && query->method != DIST_SHRINKAGE && query->method != DIST_LOG_POSTERIOR)
		bad_argument("tune", "false, except for methods shrinkage and log-posterior");
	/* what shrinkage would tune it estimates from what is released anyway */
	query->tune = tune && query->method == DIST_LOG_POSTERIOR;
}

static void
parse_sensitivity(FunctionCallInfo fcinfo, int n, DistQuery *query)
{
	char *name;

	if (PG_ARGISNULL(n))
		return;
	if (query->method != DIST_LOCAL_SENSITIVITY)
		bad_argument("sensitivity", "null, except for method local-sensitivity");
	name = text_argument(fcinfo, n, "sensitivity");
	query->worst_case = strcmp(name, "worst-case") == 0;
	if (!query->worst_case && strcmp(name, "brute-force") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("unknown sensitivity \"%s\"", name),
				 errhint("Sensitivities are brute-force and worst-case.")));
}

static void
share_option(const char *name, double value)
{
	if (!(value > 0 && value < 1))
		bad_argument(name, "greater than 0 and less than 1");
}

static void
parse_options(FunctionCallInfo fcinfo, int n, DistArguments *arguments)
{
	DistQuery *query = &arguments->query;
	Option known[8];
	int nknown = 0;
	double slope = NAN;
	double weight = NAN;

	known[nknown++] = (Option){"period", OPTION_TEXT, &arguments->target.period};
	if ((query->method == DIST_SHRINKAGE && query->max_norm == 0) ||
		query->method == DIST_LAPLACE_PUBLIC)
		known[nknown++] = (Option){"norm_share", OPTION_NUMBER, &query->norm_share};
	if (is_log_method(query) && !query->tune)
	{
		known[nknown++] = (Option){"s", OPTION_NUMBER, &slope};
		known[nknown++] = (Option){"rho", OPTION_NUMBER, &weight};
	}
	if (query->method == DIST_LOG_POSTERIOR)
		known[nknown++] = (Option){"m0", OPTION_NUMBER, &query->center};
	if (query->tune)
		known[nknown++] = (Option){"train_share", OPTION_NUMBER, &query->train_share};
	if (query->method == DIST_LOCAL_SENSITIVITY)
		known[nknown++] = (Option){"unweighted_mean", OPTION_BOOL, &query->unweighted_mean};

	query->norm_share = DEFAULT_NORM_SHARE;
	query->train_share = DEFAULT_TRAIN_SHARE;
	query->center = NAN;
	options_read(DatumGetJsonbP(required(fcinfo, n, "options")), known, nknown);
	query->slope = isnan(slope) ? DEFAULT_SLOPE : slope;
	query->weight = isnan(weight) ? DEFAULT_WEIGHT : weight;
	/* the paper tries 1e-3 to 1e4; a sensitivity is known for all of these, whatever C is */
	if (!(query->slope >= 1e-6 && query->slope <= 1e9))
		bad_argument("s", "between 1e-6 and 1e9");
	if (!(query->weight > 0 && query->weight <= 1))
		bad_argument("rho", "greater than 0 and at most 1");
	if (!isnan(query->center) && !(fabs(query->center) <= 1e3))
		bad_argument("m0", "between -1000 and 1000");
	share_option("norm_share", query->norm_share);
	share_option("train_share", query->train_share);
}

/* ---- what the ledger keeps of a call ---- */

/* Of a relation that may be none, where only a price is asked for. */
static void
note_relation(StringInfo json, const char *key, Oid relid)
{
	char *name = OidIsValid(relid) ? get_rel_name(relid) : NULL;

	if (name != NULL)
		json_text(json, key,
				  quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
											 name));
}

static void
note_parameters(DistArguments *arguments)
{
	StringInfo json = &arguments->parameters;
	const DistQuery *query = &arguments->query;

	json_begin(json);
	json_text(json, "method", arguments->method);
	json_text(json, "text_col", arguments->target.text_col);
	note_relation(json, "public_ngrams", arguments->public_relid);
	json_number(json, "n", arguments->n);
	json_text(json, "counting", query->once ? "users" : "occurrences");
	if (query->max_count < PG_INT32_MAX)
		json_number(json, "max_count", query->max_count);
	json_number(json, "max_contributions", query->max_contributions);
	if (query->max_norm > 0)
		json_number(json, "max_norm", query->max_norm);
	if (query->method == DIST_LAPLACE_PUBLIC ||
		(query->method == DIST_SHRINKAGE && query->max_norm == 0))
		json_number(json, "norm_share", query->norm_share);
	if (query->method == DIST_LOG_POSTERIOR && !isnan(query->center))
		json_number(json, "m0", query->center);
	if (query->method == DIST_LOG_POSTERIOR && query->tune)
		json_number(json, "train_share", query->train_share);
	else if (query->method == DIST_LOG_POSTERIOR)
	{
		json_number(json, "s", query->slope);
		json_number(json, "rho", query->weight);
	}
	json_text(json, "tokenizer", arguments->target.tokenizer);
	if (arguments->target.max_tokens > 0)
		json_number(json, "max_tokens", arguments->target.max_tokens);
	(void) json_end(json);
}

/*
 * The arguments of bayes_dp_dist, in their order; another function may have more of its
 * own before the last one, "options".
 */
void
parse_dist_arguments(FunctionCallInfo fcinfo, DistArguments *arguments)
{
	DistQuery *query = &arguments->query;
	TextTarget *target = &arguments->target;

	memset(arguments, 0, sizeof(*arguments));
	target->relid = DatumGetObjectId(required(fcinfo, 0, "relation"));
	target->user_col = NameStr(*DatumGetName(required(fcinfo, 1, "user_col")));
	target->text_col = NameStr(*DatumGetName(required(fcinfo, 2, "text_col")));
	arguments->public_relid = DatumGetObjectId(required(fcinfo, 3, "public_ngrams"));
	query->epsilon = open_interval(fcinfo, 4, "epsilon", 0, get_float8_infinity(),
								   "positive and finite");
	arguments->n = int_range(fcinfo, 6, "n", 1, NGRAM_MAX_LENGTH);
	arguments->method = text_argument(fcinfo, 7, "method");
	parse_method(arguments);
	parse_delta(fcinfo, 5, query);
	parse_counting(text_argument(fcinfo, 8, "counting"), query);
	parse_bounds(fcinfo, 9, query);
	parse_tune(fcinfo, 12, query);
	parse_sensitivity(fcinfo, 13, query);
	target->tokenizer = tokenizer_argument(fcinfo, 14);
	if (!PG_ARGISNULL(15))
		target->max_tokens = int_range(fcinfo, 15, "max_tokens", 1, PG_INT32_MAX);
	parse_options(fcinfo, PG_NARGS() - 1, arguments);
	note_parameters(arguments);
}

/* Do the text column's tokens come with escapes?  As tokenize.h says. */
static bool
escaped_tokens(const TextTarget *target)
{
	AttrNumber attnum = get_attnum(target->relid, target->text_col);

	if (attnum > 0 && OidIsValid(get_element_type(getBaseType(get_atttype(target->relid, attnum)))))
		return true;
	return strncmp(target->tokenizer, "parser:", 7) == 0 ||
		   strncmp(target->tokenizer, "config:", 7) == 0;
}

/* The vocabulary, read with the caller's rights and checked. */
PublicGrams *
read_public_grams(const DistArguments *arguments)
{
	if (arguments->public_relid == arguments->target.relid)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("the private relation can't be its own public side")));
	ledger_refuse_protected(arguments->public_relid);
	return public_read(arguments->public_relid, arguments->n, escaped_tokens(&arguments->target));
}
