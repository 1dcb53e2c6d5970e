/*
 * local_decode.c
 *	  The SQL functions ldp_round() and ldp_decode(): the server's half of a collection
 *	  under local differential privacy.
 *
 * The server keeps no state: what privtrie asks next is a function of the rounds that it
 * has published and of the answers, so it is computed from them each time, and whoever
 * has both can check it.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "api/checks.h"
#include "api/local_reports.h"
#include "api/release.h"
#include "compat.h"
#include "dpngram_errcodes.h"
#include "local/privtrie.h"
#include "local/reports.h"

PG_FUNCTION_INFO_V1(dpngram_ldp_begin);
PG_FUNCTION_INFO_V1(dpngram_ldp_round);
PG_FUNCTION_INFO_V1(dpngram_ldp_decode);

static void
require_status(DpStatus status)
{
	if (status == DP_OK)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the method would take more work than its limits allow"),
			 errhint("A smaller max_length, or for rappor a larger option \"max_work\", may do.")));
}

/* ---- privtrie, round by round ---- */

/* What privtrie asks next, to be published as this round. */
static void
publish_nodes(PublishedRound *round, const Privtrie *state, const PrivtrieRound *next)
{
	round->asks.from = next->from;
	round->asks.to = next->to;
	round->asks.n = next->n;
	round->asks.node = palloc(Max(next->n, 1) * sizeof(RoundNode));
	for (int i = 0; i < next->n; i++)
	{
		uint16 *symbol = palloc((state->trie.node[next->nodes[i]].depth + 1) * sizeof(uint16));

		round->asks.node[i].depth = trie_prefix(&state->trie, next->nodes[i], symbol);
		round->asks.node[i].symbol = symbol;
	}
}

/* Is a round that was published the one that its predecessors lead to? */
static bool
same_nodes(const Round *published, const Privtrie *state, const PrivtrieRound *next)
{
	uint16 symbol[TERM_MAX_LENGTH + 1];

	if (published->from != next->from || published->to != next->to || published->n != next->n)
		return false;
	for (int i = 0; i < next->n; i++)
	{
		const RoundNode *node = &published->node[i];

		if (trie_prefix(&state->trie, next->nodes[i], symbol) != node->depth ||
			memcmp(symbol, node->symbol, node->depth * sizeof(uint16)) != 0)
			return false;
	}
	return true;
}

/* The state after all rounds so far; errors: NG005 where they don't follow from each other. */
static void
replay(Privtrie *state, const Collection *collection)
{
	require_status(privtrie_begin(state, &collection->round[0]->query, LOCAL_TICKETS));
	for (int i = 0; i < collection->n; i++)
	{
		PrivtrieRound next;

		CHECK_FOR_INTERRUPTS();
		if (!privtrie_round(state, &next) ||
			!same_nodes(&collection->round[i]->asks, state, &next))
			ereport(ERROR,
					(errcode(ERRCODE_DP_ARGUMENT),
					 errmsg("round %d does not follow from those before it and their reports",
							i + 1),
					 errhint("Reports of a round must not come, go or change once the next has "
							 "been published.")));
		privtrie_answers(state, collection->supported[i], collection->answered[i]);
	}
}

/* The round that a collection begins with. */
static PublishedRound *
first_round(const LocalArguments *arguments)
{
	PublishedRound *round = round_begin(arguments);

	(void) client_plan(round);
	if (round->method == LOCAL_PRIVTRIE)
	{
		Privtrie state;
		PrivtrieRound next;

		require_status(privtrie_begin(&state, &round->query, LOCAL_TICKETS));
		if (privtrie_round(&state, &next))
			publish_nodes(round, &state, &next);
	}
	return round;
}

/*
 * ldp_round(method, epsilon, k, alphabet, max_length, options): the first round of a
 * collection, as JSON; all methods but privtrie have no other.  Errors: NG005.
 */
Datum
dpngram_ldp_begin(PG_FUNCTION_ARGS)
{
	static const LocalPositions at = {.method = 0,
									  .epsilon = 1,
									  .k = 2,
									  .alphabet = 3,
									  .max_length = 4,
									  .consistency = -1,
									  .options = 5};
	LocalArguments arguments = {0};

	parse_local_query(fcinfo, &at, &arguments);
	PG_RETURN_JSONB_P(round_publish(first_round(&arguments)));
}

static Collection *
collection_arguments(FunctionCallInfo fcinfo)
{
	Datum rounds = required(fcinfo, 0, "rounds");
	Datum reports = required(fcinfo, 1, "reports");
	Datum column = required(fcinfo, 2, "report_col");

	return collection_read(DatumGetArrayTypeP(rounds), DatumGetObjectId(reports),
						   NameStr(*DatumGetName(column)));
}

/*
 * ldp_round(rounds, reports, report_col): the next round of a collection, or NULL if all
 * was asked.  Errors: NG005, NG010.
 */
Datum
dpngram_ldp_round(PG_FUNCTION_ARGS)
{
	Collection *collection = collection_arguments(fcinfo);
	PublishedRound round = *collection->round[0];
	Privtrie state;
	PrivtrieRound next;

	if (round.method != LOCAL_PRIVTRIE)
		PG_RETURN_NULL();
	replay(&state, collection);
	collection_tell(collection);
	if (!privtrie_round(&state, &next))
		PG_RETURN_NULL();
	round.number = collection->n + 1;
	publish_nodes(&round, &state, &next);
	PG_RETURN_JSONB_P(round_publish(&round));
}

/* ---- results ---- */

/* A result before the end is unbiased, but of few answers: the caller may not be aware of it. */
static void
tell_unfinished(Privtrie *state, const Collection *collection)
{
	PrivtrieRound next;

	if (privtrie_round(state, &next))
		ereport(NOTICE,
				(errmsg("the collection goes on after round %d", collection->n),
				 errhint("ldp_round computes what is asked next.")));
}

static void
decode_privtrie(const Collection *collection, LocalResult *result)
{
	Privtrie state;

	replay(&state, collection);
	tell_unfinished(&state, collection);
	privtrie_finish(&state, result);
}

static void
decode_pem(Collection *collection, LocalResult *result)
{
	Reports reports;
	Poll poll;

	reports_init(&reports, &collection->plan->pem, collection->report, collection->reports);
	poll = reports_poll(&reports);
	require_status(pem_run(&collection->plan->pem_query, &poll, result));
	collection->invalid += reports.invalid;
}

static void
decode_treehist(Collection *collection, LocalResult *result)
{
	TreeHistSketch sketch;

	treehist_init(&sketch, &collection->plan->treehist);
	for (int64 i = 0; i < collection->reports; i++)
		treehist_add(&sketch, &collection->report[i]);
	collection->invalid += sketch.invalid;
	treehist_decode(&sketch, collection->round[0]->query.k, result);
}

static void
decode(Collection *collection, LocalResult *result)
{
	int64 invalid = 0;

	switch (collection->round[0]->method)
	{
		case LOCAL_PRIVTRIE:
			decode_privtrie(collection, result);
			break;
		case LOCAL_PEM:
			decode_pem(collection, result);
			break;
		case LOCAL_TREEHIST:
			decode_treehist(collection, result);
			break;
		default:
			require_status(rappor_decode(&collection->plan->rappor, collection->filters,
										 collection->reports, &invalid, result));
			collection->invalid += invalid;
			break;
	}
}

/*
 * ldp_decode(rounds, reports, report_col): the terms that most of the clients have that
 * reported.  Errors: NG005, NG010, 54000.
 */
Datum
dpngram_ldp_decode(PG_FUNCTION_ARGS)
{
	Collection *collection;
	LocalResult result = {0};
	RowSink sink;

	InitMaterializedSRF(fcinfo, 0);
	sink = result_sink((ReturnSetInfo *) fcinfo->resultinfo);
	collection = collection_arguments(fcinfo);
	decode(collection, &result);
	collection_tell(collection);
	put_local_result(&sink, collection->round[0]->alphabet, &result);
	return (Datum) 0;
}
