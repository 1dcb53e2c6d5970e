/*
 * local_arguments.c
 *	  The arguments of ldp_frequent_terms, checked, and what a call costs.
 *
 * The price is epsilon, once for the whole call, however many groups the users are
 * divided into and however often they are asked: each user's answers taken together are
 * epsilon-differentially private, whatever the user has (src/local, doc/privacy.md), so the
 * release is so for each user.  It is pure.  Where the dataset's pure lane is short, as it
 * is by default, the ledger may debit it as the Gaussian mechanism that it is no worse
 * than.
 *
 * How many users answer is part of what is released, so a dataset whose owner has not
 * declared that number public is refused.
 */
#include "postgres.h"

#include <math.h>

#include "common/dp_calibrate.h"
#include "common/sha2.h"
#include "common/dp_zcdp.h"

#include "api/checks.h"
#include "api/local_arguments.h"
#include "compat.h"
#include "dpngram_errcodes.h"
#include "ledger/json.h"
#include "ledger/options.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"

/* Bytes of an alphabet that the ledger keeps at most. */
#define MAX_NOTED_ALPHABET 512

static const char *const method_names[] = {
	[LOCAL_PRIVTRIE] = "privtrie",
	[LOCAL_IBSL] = "ibsl",
	[LOCAL_BSL] = "bsl",
	[LOCAL_PEM] = "pem",
	[LOCAL_TREEHIST] = "treehist",
	[LOCAL_RAPPOR] = "rappor",
};

/* A method by its name; errors: NG005. */
LocalMethod
local_method_argument(FunctionCallInfo fcinfo, int n)
{
	char *name = text_argument(fcinfo, n, "method");

	for (int i = 0; i < (int) lengthof(method_names); i++)
		if (strcmp(name, method_names[i]) == 0)
			return (LocalMethod) i;
	ereport(ERROR,
			(errcode(ERRCODE_DP_ARGUMENT),
			 errmsg("unknown method \"%s\"", name),
			 errhint("Methods are privtrie, ibsl, bsl, pem, treehist and rappor.")));
	return LOCAL_PRIVTRIE; /* not reached */
}

/* What one user's answers may cost; errors: NG005. */
double
local_epsilon_argument(FunctionCallInfo fcinfo, int n)
{
	double epsilon = open_interval(fcinfo, n, "epsilon", 0, get_float8_infinity(),
								   "positive and finite");

	if (epsilon < ORACLE_MIN_EPSILON || epsilon > ORACLE_MAX_EPSILON)
		bad_argument("epsilon", psprintf("between %g and %g under local differential privacy",
										 ORACLE_MIN_EPSILON, ORACLE_MAX_EPSILON));
	return epsilon;
}

/* A method may not be up to every alphabet, length and epsilon. */
void
refuse_collection(LocalMethod method)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_ARGUMENT),
			 errmsg("method %s can't collect terms of this alphabet and length with this epsilon",
					local_method_name(method)),
			 errhint("A smaller alphabet or max_length, or a larger epsilon, may do.")));
}

const char *
local_method_name(LocalMethod method)
{
	return method_names[method];
}

/* What options may be; errors: NG005. */
void
check_local_options(const LocalQuery *query, double frontier, double lifetime)
{
	if (!(query->eta >= 0 && query->eta <= 1000))
		bad_argument("eta", "between 0 and 1000");
	if (!(frontier >= 1 && frontier <= 1000000 && frontier == floor(frontier)))
		bad_argument("frontier", "a whole number between 1 and 1000000");
	if (query->max_work != 0 && !(query->max_work >= 1 && query->max_work <= 1e18))
		bad_argument("max_work", "between 1 and 1e18");
	if (lifetime != 0 && !(lifetime > query->epsilon && lifetime <= ORACLE_MAX_EPSILON))
		bad_argument("lifetime", psprintf("greater than epsilon and at most %g",
										  ORACLE_MAX_EPSILON));
}

/* Options are those of the method; clients alone report repeatedly, the server has periods. */
static void
parse_options(FunctionCallInfo fcinfo, const LocalPositions *at, LocalArguments *arguments)
{
	LocalQuery *query = &arguments->query;
	bool clients = at->consistency < 0;
	double frontier = LOCAL_FRONTIER;
	Option known[5];
	int nknown = 0;

	if (!clients)
		known[nknown++] = (Option){"period", OPTION_TEXT, &arguments->target.period};
	if (arguments->method <= LOCAL_BSL)
	{
		known[nknown++] = (Option){"eta", OPTION_NUMBER, &query->eta};
		known[nknown++] = (Option){"frontier", OPTION_NUMBER, &frontier};
		if (clients)
			known[nknown++] = (Option){"consistency", OPTION_BOOL, &query->consistency};
	}
	if (arguments->method == LOCAL_RAPPOR)
		known[nknown++] = (Option){"max_work", OPTION_NUMBER, &query->max_work};
	if (arguments->method == LOCAL_RAPPOR && clients)
		known[nknown++] = (Option){"lifetime", OPTION_NUMBER, &arguments->lifetime};
	options_read(DatumGetJsonbP(required(fcinfo, at->options, "options")), known, nknown);
	check_local_options(query, frontier, arguments->lifetime);
	query->frontier = (int) frontier;
}

/* The arguments of a collection, wherever they stand; errors: NG005. */
void
parse_local_query(FunctionCallInfo fcinfo, const LocalPositions *at, LocalArguments *arguments)
{
	LocalQuery *query = &arguments->query;

	query->epsilon = local_epsilon_argument(fcinfo, at->epsilon);
	query->k = int_range(fcinfo, at->k, "k", 1, LOCAL_MAX_TERMS);
	arguments->method = local_method_argument(fcinfo, at->method);
	arguments->spec = text_argument(fcinfo, at->alphabet, "alphabet");
	arguments->alphabet = alphabet_parse(arguments->spec);
	query->alphabet = arguments->alphabet->size;
	query->max_length = int_range(fcinfo, at->max_length, "max_length", 1, TERM_MAX_LENGTH);
	query->consistency = at->consistency < 0 ||
						 DatumGetBool(required(fcinfo, at->consistency, "consistency"));
	parse_options(fcinfo, at, arguments);
	if (local_check(arguments->method, query) != DP_OK)
		refuse_collection(arguments->method);
}

/*
 * The alphabet as written; of a longer one, the number of its characters and the hash of
 * what was written, for a call that costs next to nothing may not fill the ledger.
 */
static void
note_alphabet(StringInfo json, const LocalArguments *arguments)
{
	const char *spec = arguments->spec;
	bytea *hash;
	char hex[2 * PG_SHA256_DIGEST_LENGTH + 1];

	if (strlen(spec) <= MAX_NOTED_ALPHABET)
	{
		json_text(json, "alphabet", spec);
		return;
	}
	hash = DatumGetByteaPP(DirectFunctionCall1(sha256_bytea,
											   PointerGetDatum(cstring_to_text(spec))));
	hex[hex_encode(VARDATA_ANY(hash), PG_SHA256_DIGEST_LENGTH, hex)] = '\0';
	json_number(json, "alphabet_size", arguments->alphabet->size);
	json_text(json, "alphabet_sha256", hex);
}

static void
note_parameters(LocalArguments *arguments)
{
	StringInfo json = &arguments->parameters;
	const LocalQuery *query = &arguments->query;

	json_begin(json);
	json_text(json, "method", method_names[arguments->method]);
	json_text(json, "term_col", arguments->target.text_col);
	json_number(json, "k", query->k);
	note_alphabet(json, arguments);
	json_number(json, "max_length", query->max_length);
	if (arguments->method <= LOCAL_BSL)
	{
		json_bool(json, "consistency", query->consistency);
		json_number(json, "eta", query->eta);
		json_number(json, "frontier", query->frontier);
	}
	if (query->max_work != 0)
		json_number(json, "max_work", query->max_work);
	(void) json_end(json);
}

/* The arguments of ldp_frequent_terms, in their order; errors: NG005. */
void
parse_local_arguments(FunctionCallInfo fcinfo, LocalArguments *arguments)
{
	static const LocalPositions at = {.epsilon = 3,
									  .k = 4,
									  .method = 5,
									  .alphabet = 6,
									  .max_length = 7,
									  .consistency = 8,
									  .options = 9};
	TextTarget *target = &arguments->target;

	memset(arguments, 0, sizeof(*arguments));
	target->relid = DatumGetObjectId(required(fcinfo, 0, "relation"));
	target->user_col = NameStr(*DatumGetName(required(fcinfo, 1, "user_col")));
	target->text_col = NameStr(*DatumGetName(required(fcinfo, 2, "term_col")));
	target->tokenizer = "term";
	parse_local_query(fcinfo, &at, arguments);
	note_parameters(arguments);
}

static LedgerPrice
one_event(LedgerEventKind kind, double amount)
{
	LedgerPrice price = {1, palloc0(sizeof(LedgerEvent))};

	price.event[0] = (LedgerEvent){kind, 1, amount, 0};
	return price;
}

/* What the ledger is asked to debit; errors: NG012. */
LedgerRequest
local_request(const LocalArguments *arguments, const LedgerTerms *terms)
{
	double epsilon = arguments->query.epsilon;
	double mu = dp_pure_to_mu(epsilon);
	LedgerRequest request = {
		.mechanism = "ldp_frequent_terms",
		.parameters = arguments->parameters.data,
		.period = arguments->target.period,
		.epsilon = epsilon};

	if (!terms->public_user_count)
		ereport(ERROR,
				(errcode(ERRCODE_DP_USER_COUNT),
				 errmsg("the number of users of the dataset \"%s\" is not public",
						terms->dataset),
				 errdetail("Under local differential privacy the number of reports is told."),
				 errhint("Its owner can declare it public by the option \"public_user_count\" "
						 "of dp_protect.")));
	request.candidates[0] = one_event(EVENT_PURE, epsilon);
	request.candidates[1] = one_event(EVENT_GAUSSIAN, mu * mu * DP_ROUND_UP);
	request.ncandidates = 2;
	return request;
}
