/*
 * local_round.c
 *	  What is published of a collection from clients, as JSON.
 *
 * A round is all that a client needs: the method with its public parameters and, for
 * privtrie, the nodes that are asked about.  It names epsilon, too, but a client gives its
 * own to ldp_encode() and answers no round that wants more.  A node's name is the prefix
 * that it stands for, after "^" if it is only the beginning of terms, after "=" if it is
 * the whole of one.
 */
#include "postgres.h"

#include <math.h>

#include "api/checks.h"
#include "api/local_round.h"
#include "dpngram_errcodes.h"
#include "ledger/json.h"
#include "ledger/options.h"
#include "miscadmin.h"
#include "ngram/noise.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/numeric.h"

#define BEGINS '^'
#define WHOLE '='

static void
bad_round(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_ARGUMENT),
			 errmsg("the round is not one that ldp_round has published"),
			 errdetail("%s", detail)));
}

/* ---- nodes ---- */

/* A node by its name; errors: NG005. */
static void
parse_node(const PublishedRound *round, const char *name, int len, RoundNode *node)
{
	uint16 symbol[TERM_MAX_LENGTH + 1];
	uint16 *copy;
	int depth = 0;

	if (len < 1 || (name[0] != BEGINS && name[0] != WHOLE))
		bad_round("A node's name begins with \"^\" or \"=\".");
	if (len > 1)
	{
		depth = alphabet_encode(round->alphabet, name + 1, len - 1, symbol);
		if (depth == 0)
			bad_round("A node's name has a character that is not in the alphabet.");
	}
	if (depth > round->query.max_length)
		bad_round("A node's name is longer than the terms.");
	if (name[0] == WHOLE)
		symbol[depth++] = SYMBOL_END;
	copy = palloc(Max(depth, 1) * sizeof(uint16));
	memcpy(copy, symbol, depth * sizeof(uint16));
	node->symbol = copy;
	node->depth = depth;
}

/* The name of a node, palloc'd. */
static char *
node_name(const PublishedRound *round, const RoundNode *node)
{
	bool whole = node->depth > 0 && node->symbol[node->depth - 1] == SYMBOL_END;
	char *prefix = alphabet_text(round->alphabet, node->symbol, node->depth - (whole ? 1 : 0));

	return psprintf("%c%s", whole ? WHOLE : BEGINS, prefix);
}

/* ---- from JSON ---- */

/* The nodes, which a client has no need of that is not asked; errors: NG005. */
void
round_read_nodes(PublishedRound *round)
{
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue name;

	if (round->unread == NULL)
		return;
	round->asks.node = palloc(Max(JsonContainerSize(round->unread), 1) * sizeof(RoundNode));
	iterator = JsonbIteratorInit(round->unread);
	while ((token = JsonbIteratorNext(&iterator, &name, true)) != WJB_DONE)
	{
		CHECK_FOR_INTERRUPTS();
		if (token != WJB_ELEM)
			continue;
		if (name.type != jbvString)
			bad_round("A node has no name.");
		parse_node(round, name.val.string.val, name.val.string.len,
				   &round->asks.node[round->asks.n++]);
	}
	round->unread = NULL;
}

static LocalMethod
method_by_name(const char *name)
{
	for (int i = 0; i <= LOCAL_RAPPOR; i++)
		if (name != NULL && strcmp(name, local_method_name(i)) == 0)
			return (LocalMethod) i;
	bad_round("It names no method.");
	return LOCAL_PRIVTRIE; /* not reached */
}

static int64
bounded(double value, int64 low, int64 high, const char *detail)
{
	if (!(value >= low && value <= high && value == floor(value)))
		bad_round(detail);
	return (int64) value;
}

/* All members but the nodes. */
static void
parse_parameters(PublishedRound *round, Jsonb *json)
{
	LocalQuery *query = &round->query;
	char *method = NULL;
	double k = NAN;
	double max_length = NAN;
	double frontier = LOCAL_FRONTIER;
	double number = NAN;
	double key = 0;
	double from = 0;
	double to = LOCAL_TICKETS;
	const Option known[] = {
		{"method", OPTION_TEXT, &method},
		{"epsilon", OPTION_NUMBER, &query->epsilon},
		{"k", OPTION_NUMBER, &k},
		{"alphabet", OPTION_TEXT, &round->spec},
		{"max_length", OPTION_NUMBER, &max_length},
		{"consistency", OPTION_BOOL, &query->consistency},
		{"eta", OPTION_NUMBER, &query->eta},
		{"frontier", OPTION_NUMBER, &frontier},
		{"lifetime", OPTION_NUMBER, &round->lifetime},
		{"max_work", OPTION_NUMBER, &query->max_work},
		{"key", OPTION_NUMBER, &key},
		{"round", OPTION_NUMBER, &number},
		{"from", OPTION_NUMBER, &from},
		{"to", OPTION_NUMBER, &to}};

	options_read(json, known, lengthof(known));
	round->method = method_by_name(method);
	if (round->spec == NULL)
		bad_round("It has no alphabet.");
	if (!(query->epsilon >= ORACLE_MIN_EPSILON && query->epsilon <= ORACLE_MAX_EPSILON))
		bad_round("Its epsilon is out of range.");
	query->k = (int) bounded(k, 1, LOCAL_MAX_TERMS, "It has no k that is allowed.");
	query->max_length = (int) bounded(max_length, 1, TERM_MAX_LENGTH, "Its length is not allowed.");
	round->number = (int) bounded(number, 1, PG_INT32_MAX, "It has no number.");
	round->asks.from = bounded(from, 0, LOCAL_TICKETS, "Its places are out of range.");
	round->asks.to = bounded(to, 0, LOCAL_TICKETS, "Its places are out of range.");
	round->key = (uint32) bounded(key, 0, PG_UINT32_MAX, "Its key is out of range.");
	check_local_options(query, frontier, round->lifetime);
	query->frontier = (int) frontier;
}

/* A round as published, which must live as long, but for its nodes; errors: NG005. */
PublishedRound *
round_parse(Jsonb *json)
{
	PublishedRound *round = palloc0(sizeof(PublishedRound));
	JsonbValue key = {.type = jbvString, .val.string = {5, "nodes"}};
	JsonbValue *nodes;
	Datum rest;

	if (!JB_ROOT_IS_OBJECT(json))
		bad_round("It is not a JSON object.");
	nodes = findJsonbValueFromContainer(&json->root, JB_FOBJECT, &key);
	rest = DirectFunctionCall2(jsonb_delete, JsonbPGetDatum(json), CStringGetTextDatum("nodes"));
	round->query.consistency = true;
	parse_parameters(round, DatumGetJsonbP(rest));
	round->alphabet = alphabet_parse(round->spec);
	round->query.alphabet = round->alphabet->size;
	if (nodes != NULL && nodes->type == jbvBinary &&
		JsonContainerIsArray(nodes->val.binary.data))
		round->unread = nodes->val.binary.data;
	else if (nodes != NULL || round->method == LOCAL_PRIVTRIE)
		bad_round("It has no array of nodes.");
	return round;
}

/* ---- to JSON ---- */

/* The first round, without its nodes. */
PublishedRound *
round_begin(const LocalArguments *arguments)
{
	PublishedRound *round = palloc0(sizeof(PublishedRound));

	round->method = arguments->method;
	round->query = arguments->query;
	round->lifetime = arguments->lifetime;
	round->spec = arguments->spec;
	round->alphabet = arguments->alphabet;
	round->number = 1;
	/* hashes that are the same for ever would let the same terms meet for ever */
	if (round->method == LOCAL_TREEHIST &&
		!pg_strong_random(&round->key, sizeof(round->key)))
		noise_failure();
	return round;
}

static char *
nodes_json(const PublishedRound *round)
{
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfoChar(&json, '[');
	for (int i = 0; i < round->asks.n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		appendStringInfoString(&json, i == 0 ? "" : ", ");
		escape_json(&json, node_name(round, &round->asks.node[i]));
	}
	appendStringInfoChar(&json, ']');
	return json.data;
}

/* A round as it is to be published. */
Jsonb *
round_publish(const PublishedRound *round)
{
	const LocalQuery *query = &round->query;
	StringInfoData json;

	json_begin(&json);
	json_text(&json, "method", local_method_name(round->method));
	json_number(&json, "epsilon", query->epsilon);
	json_number(&json, "k", query->k);
	json_text(&json, "alphabet", round->spec);
	json_number(&json, "max_length", query->max_length);
	if (round->lifetime != 0)
		json_number(&json, "lifetime", round->lifetime);
	if (query->max_work != 0)
		json_number(&json, "max_work", query->max_work);
	if (round->method == LOCAL_TREEHIST)
		json_number(&json, "key", round->key);
	json_number(&json, "round", round->number);
	if (round->method == LOCAL_PRIVTRIE)
	{
		json_bool(&json, "consistency", query->consistency);
		json_number(&json, "eta", query->eta);
		json_number(&json, "frontier", query->frontier);
		json_number(&json, "from", round->asks.from);
		json_number(&json, "to", round->asks.to);
		json_raw(&json, "nodes", nodes_json(round));
	}
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json_end(&json))));
}
