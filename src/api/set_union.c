/*
 * set_union.c
 *	  The SQL function dp_set_union(): values of a column that many users share.
 *
 * Arguments, units, errors and sources: COMMENT ON in src/sql/20_ngrams.sql and doc/.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "api/release.h"
#include "api/set_union.h"
#include "compat.h"

PG_FUNCTION_INFO_V1(dpngram_dp_set_union);

/* A call in the caller's session; the worker is told the plans. */
typedef struct UnionCall
{
	SetUnionArguments arguments;
	SetUnionPlan plans[SET_UNION_MAX_PLANS];
} UnionCall;

/* And in the worker. */
typedef struct UnionRelease
{
	const SetUnionPlan *plans;

	/* from the run on */
	const SetUnionPlan *plan;
	int steps_done;
	ReleasedGrams released;
} UnionRelease;

static LedgerRequest
union_request(void *state, const LedgerTerms *terms)
{
	UnionCall *call = state;

	return set_union_request(&call->arguments, terms, call->plans);
}

static void *
union_start(const void *plan, shm_mq_handle *queue)
{
	UnionRelease *release = palloc0(sizeof(UnionRelease));

	release->plans = plan;
	return release;
}

static void
union_run(void *state, const ReadSpec *spec, Noise *noise, int chosen)
{
	UnionRelease *release = state;
	Extraction extraction = {.vocabulary = vocabulary_create(SIZE_MAX, noise->points),
							 .corpus = corpus_create(extract_memory_limit(), false),
							 .noise = noise,
							 .memory_limit = extract_memory_limit()};

	release->plan = &release->plans[chosen];
	/* policies let users add one after the other: where hashes are equal, in this order */
	(set_union_is_policy(release->plan->query.method) ? read_corpus_in_order : read_corpus)(
		spec, extraction.vocabulary, extraction.corpus);
	set_union_run(&extraction, release->plan, &release->released);
	release->steps_done = extraction.steps_done;
}

static void
union_rows(void *state, const RowSink *sink)
{
	const UnionRelease *release = state;
	bool weightless = release->plan->query.method == SET_UNION_SINGLE;

	for (Size i = 0; i < release->released.n; i++)
	{
		const ReleasedGram *released = &release->released.gram[i];
		text *item = cstring_to_text_with_len(released->text, released->text_len);
		Datum values[3] = {PointerGetDatum(item), Float8GetDatum(released->weight.value),
						   Float8GetDatum(released->weight.stddev)};
		bool nulls[3] = {false, weightless, weightless};

		sink->put(sink->state, values, nulls);
		pfree(item);
	}
}

/* For the log: the rounds, and the share of delta that the threshold really had. */
static char *
union_used(void *state)
{
	const UnionRelease *release = state;
	const SetUnionPlan *plan = release->plan;

	return psprintf("{\"steps\": %d, \"planned\": %d, \"threshold_share\": %.12g}",
					release->steps_done, Max(plan->rounds.n, 1),
					plan->delta_add / plan->query.delta);
}

const ReleaseMethods union_methods = {
	.name = "dp_set_union",
	.start = union_start,
	.run = union_run,
	.rows = union_rows,
	.used = union_used};

/* dp_set_union(...): Gopi et al. 2020, and what came after; see set_union.h. */
Datum
dpngram_dp_set_union(PG_FUNCTION_ARGS)
{
	UnionCall *call = palloc0(sizeof(UnionCall));
	ReleaseCall release = {.methods = &union_methods,
						   .target = &call->arguments.target,
						   .state = call,
						   .request = union_request,
						   .plan = call->plans,
						   .plan_size = sizeof(call->plans)};

	InitMaterializedSRF(fcinfo, 0);
	parse_set_union_arguments(fcinfo, &call->arguments);
	release_texts(fcinfo, &release);
	return (Datum) 0;
}
