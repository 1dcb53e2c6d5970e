/*
 * ngrams.c
 *	  The SQL function dp_ngrams().
 *
 * Arguments, units, errors and sources: COMMENT ON in src/sql/20_ngrams.sql
 * and doc/.
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "common/shortest_dec.h"

#include "api/price.h"
#include "api/progress.h"
#include "api/release.h"
#include "api/settings.h"
#include "compat.h"
#include "dpngram_errcodes.h"
#include "ledger/json.h"
#include "ngram/extract.h"
#include "ngram/pushdown.h"
#include "ngram/source_team.h"

PG_FUNCTION_INFO_V1(dpngram_dp_ngrams);

/* What the worker is told. */
typedef struct NgramTask
{
	NgramExecution execution;
	NgramPlan plans[NGRAM_MAX_PLANS];
} NgramTask;

/* A call in the caller's session. */
typedef struct NgramCall
{
	NgramArguments arguments;
	NgramTask task;
} NgramCall;

/* And in the worker. */
typedef struct NgramRelease
{
	const NgramTask *task;
	Pushdown *pushdown; /* how the rows are counted where they are; NULL: they are read */

	/* from the run on */
	const NgramPlan *plan;
	int steps_done;
	double mu2[NGRAM_MAX_LENGTH + 1];
	ReleasedGrams released;
} NgramRelease;

static LedgerRequest
ngram_release_request(void *state, const LedgerTerms *terms)
{
	NgramCall *call = state;
	int nplans = ngram_plans(terms, &call->arguments, call->task.plans);

	call->task.execution = call->arguments.execution;
	return ngram_request(&call->arguments, call->task.plans, nplans);
}

static void *
ngram_release_start(const void *plan, shm_mq_handle *queue)
{
	NgramRelease *release = palloc0(sizeof(NgramRelease));

	release->task = plan;
	return release;
}

static void
ngram_release_prepare(void *state, const ReadSpec *spec)
{
	NgramRelease *release = state;
	NgramExecution execution = release->task->execution;
	PushRefusal refusal;

	if (execution == EXECUTION_LOCAL)
		return;
	release->pushdown =
		pushdown_find(spec, spec->tokenizer_name, execution == EXECUTION_AUTO, &refusal);
	if (release->pushdown == NULL && execution == EXECUTION_PUSHDOWN)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("the relation's n-grams can't be counted where its rows are"),
				 errdetail("%s", refusal.detail),
				 refusal.hint != NULL ? errhint("%s", refusal.hint) : 0));
}

/* A run, which is begun again if parallel workers fail. */
typedef struct NgramRun
{
	NgramRelease *release;
	const ReadSpec *read;
	Noise *noise;
	CountSpec spec;
} NgramRun;

/* Count; the source is the extraction's, or its vocabulary and corpus are. */
static void
extract(NgramRun *run, Extraction *extraction)
{
	NgramRelease *release = run->release;

	extraction->plan = release->plan;
	extraction->noise = run->noise;
	extraction->progress = progress_length;
	extraction->memory_limit = extract_memory_limit();
	release->released = (ReleasedGrams){0};
	extract_ngrams(extraction, &release->released);
	release->steps_done = extraction->steps_done;
	memcpy(release->mu2, extraction->mu2, sizeof(release->mu2));
}

static void
run_alone(NgramRun *run)
{
	bool paired = run->release->plan->query.pruning == PRUNING_SINGLE;
	bool by_levels = ngram_by_levels(run->release->plan->query.method);
	/* set unions know words by their ids alone */
	Size words = by_levels ? extract_vocabulary_memory() : SIZE_MAX;
	Extraction extraction = {.vocabulary = vocabulary_create(words, run->spec.points),
							 .corpus = corpus_create(extract_memory_limit(), paired)};

	read_corpus(run->read, extraction.vocabulary, extraction.corpus);
	extract(run, &extraction);
	corpus_free(extraction.corpus);
	vocabulary_free(extraction.vocabulary);
}

/* The texts stay where they are. */
static void
run_pushed(NgramRun *run)
{
	Extraction extraction = {.source = source_pushdown_create(run->release->pushdown, &run->spec,
															  extract_memory_limit())};

	extract(run, &extraction);
	extraction.source->methods->close(extraction.source);
}

static void
run_in_team(void *state, Team *team)
{
	NgramRun *run = state;
	Extraction extraction = {.source = source_team_create(team, run->read, &run->spec)};

	extract(run, &extraction);
	extraction.source->methods->close(extraction.source);
}

/* False where there are no workers, or none that don't fail. */
static bool
run_in_parallel(NgramRun *run)
{
	int workers = Min(dpngram_max_parallel_workers, max_parallel_workers);
	TeamTask task;

	return workers > 0 && ngram_by_levels(run->release->plan->query.method) &&
		   !IsInParallelMode() && IsUnderPostmaster && team_task(run->read, &run->spec, &task) &&
		   read_worth_workers(run->read) &&
		   team_try(&task, run->read->owner, workers, run_in_team, run);
}

/*
 * An attempt that failed is as if it had never been, unless noise was drawn in it: another one
 * would be a second draw for one price, and when the first one fails may depend on
 * its noise, as in the hands of somebody who ends workers after a chosen time.
 */
static void
refuse_second_draw(const Noise *noise)
{
	if (noise->drawn)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("a parallel worker failed after noise was drawn")));
}

static void
ngram_release_run(void *state, const ReadSpec *spec, Noise *noise, int chosen)
{
	NgramRelease *release = state;
	NgramRun run = {.release = release, .read = spec, .noise = noise};

	release->plan = &release->task->plans[chosen];
	run.spec = extract_count_spec(release->plan, noise);
	if (release->pushdown != NULL)
		run_pushed(&run);
	else if (!run_in_parallel(&run))
	{
		refuse_second_draw(noise);
		run_alone(&run);
	}
}

static void
ngram_release_rows(void *state, const RowSink *sink)
{
	const NgramRelease *release = state;

	for (Size i = 0; i < release->released.n; i++)
	{
		const ReleasedGram *gram = &release->released.gram[i];
		text *ngram = cstring_to_text_with_len(gram->text, gram->text_len);
		Datum values[4] = {Int32GetDatum(gram->length), PointerGetDatum(ngram),
						   Float8GetDatum(gram->weight.value),
						   Float8GetDatum(gram->weight.stddev)};
		bool nulls[4] = {false};

		sink->put(sink->state, values, nulls);
		pfree(ngram);
	}
}

/*
 * For the log: how far it came, the share of delta that the thresholds really had and,
 * in dpne-mr, how much of the debited mu^2 the noise of each length took.
 */
static char *
ngram_release_used(void *state)
{
	const NgramRelease *release = state;
	const NgramPlan *plan = release->plan;
	StringInfoData json;
	StringInfoData spent;

	json_begin(&json);
	json_number(&json, "steps", release->steps_done);
	json_number(&json, "planned", plan->nsteps);
	json_raw(&json, "threshold_share", psprintf("%.12g", plan->delta_add / plan->query.delta));
	if (release->pushdown != NULL)
		json_text(&json, "execution", "pushdown");
	if (plan->query.method == METHOD_DPNE_MR)
	{
		initStringInfo(&spent);
		for (int k = 1; k <= release->steps_done; k++)
			appendStringInfo(&spent, "%s%s", k > 1 ? ", " : "[",
							 double_to_shortest_decimal(release->mu2[k]));
		json_raw(&json, "mu2", psprintf("%s]", spent.data));
	}
	return json_end(&json);
}

const ReleaseMethods ngram_methods = {
	.name = "dp_ngrams",
	.start = ngram_release_start,
	.prepare = ngram_release_prepare,
	.run = ngram_release_run,
	.rows = ngram_release_rows,
	.used = ngram_release_used};

/* dp_ngrams(...): n-grams that many users share (DPNE, Kim et al. 2021). */
Datum
dpngram_dp_ngrams(PG_FUNCTION_ARGS)
{
	NgramCall *call = palloc0(sizeof(NgramCall));
	ReleaseCall release = {.methods = &ngram_methods,
						   .target = &call->arguments.target,
						   .state = call,
						   .request = ngram_release_request,
						   .plan = &call->task,
						   .plan_size = sizeof(NgramTask)};

	InitMaterializedSRF(fcinfo, 0);
	parse_ngrams_arguments(fcinfo, &call->arguments);
	release_texts(fcinfo, &release);
	return (Datum) 0;
}
