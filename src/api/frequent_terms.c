/*
 * frequent_terms.c
 *	  The SQL function ldp_frequent_terms().
 *
 * Arguments, units, errors and sources: COMMENT ON in src/sql/27_local.sql and doc/.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "api/local_arguments.h"
#include "api/release.h"
#include "compat.h"
#include "local/crowd_read.h"
#include "ngram/noise.h"

/* The stream of a seeded call, beside those of other mechanisms. */
#define STREAM_LOCAL 3000

PG_FUNCTION_INFO_V1(dpngram_frequent_terms);

/* What the worker is told; the alphabet as it was written follows. */
typedef struct TermsTask
{
	LocalMethod method;
	LocalQuery query;
	char alphabet[FLEXIBLE_ARRAY_MEMBER];
} TermsTask;

/* A call in the worker. */
typedef struct TermsRelease
{
	const TermsTask *task;
	Alphabet *alphabet;

	/* from the run on */
	DpStatus status;
	int64 users;
	LocalResult result;
} TermsRelease;

static LedgerRequest
terms_request(void *state, const LedgerTerms *terms)
{
	return local_request(state, terms);
}

static void *
terms_start(const void *plan, shm_mq_handle *queue)
{
	TermsRelease *release = palloc0(sizeof(TermsRelease));

	release->task = plan;
	release->alphabet = alphabet_parse(release->task->alphabet);
	return release;
}

static void
terms_run(void *state, const ReadSpec *spec, Noise *noise, int chosen)
{
	TermsRelease *release = state;
	DpRandom *rng = noise_stream(noise, STREAM_LOCAL);
	Crowd crowd;
	Poll poll;

	crowd_init(&crowd, rng);
	crowd_read(&crowd, spec, release->alphabet, noise->sampling_key);
	crowd_shuffle(&crowd);
	poll = crowd_poll(&crowd);
	release->users = poll.users;
	release->status = local_run(release->task->method, &release->task->query, &poll, rng,
								&release->result);
}

/* Hands out the terms that were found. */
void
put_local_result(const RowSink *sink, const Alphabet *alphabet, const LocalResult *result)
{
	for (int i = 0; i < result->n; i++)
	{
		const LocalFound *found = &result->found[i];
		char *term = alphabet_text(alphabet, found->symbol, found->length);
		Datum values[3] = {CStringGetTextDatum(term), Float8GetDatum(found->estimate),
						   Float8GetDatum(found->stddev)};
		bool nulls[3] = {false};

		sink->put(sink->state, values, nulls);
	}
}

static void
terms_rows(void *state, const RowSink *sink)
{
	const TermsRelease *release = state;

	put_local_result(sink, release->alphabet, &release->result);
}

/* For the log: the number of reports, which the owner declared public. */
static char *
terms_used(void *state)
{
	return psprintf("{\"reports\": " INT64_FORMAT "}", ((TermsRelease *) state)->users);
}

/* Decided by what users answered, so it may be told. */
static const char *
terms_failure(void *state, const char **hint)
{
	const TermsRelease *release = state;

	if (release->status == DP_OK)
		return NULL;
	*hint = "A smaller max_length, or for rappor a larger option \"max_work\", may do.";
	return psprintf("method %s would take more work than its limits allow",
					local_method_name(release->task->method));
}

const ReleaseMethods terms_methods = {
	.name = "ldp_frequent_terms",
	.start = terms_start,
	.run = terms_run,
	.rows = terms_rows,
	.used = terms_used,
	.failure = terms_failure};

/*
 * ldp_frequent_terms(relation, user_col, term_col, epsilon, k, method, alphabet,
 * max_length, consistency, options): the terms that most users have, each user's answers
 * being epsilon-differentially private on their own.
 */
Datum
dpngram_frequent_terms(PG_FUNCTION_ARGS)
{
	LocalArguments arguments = {0};
	ReleaseCall release = {.methods = &terms_methods,
						   .target = &arguments.target,
						   .state = &arguments,
						   .request = terms_request};
	TermsTask *task;

	InitMaterializedSRF(fcinfo, 0);
	parse_local_arguments(fcinfo, &arguments);
	release.plan_size = offsetof(TermsTask, alphabet) + strlen(arguments.spec) + 1;
	release.plan = task = palloc0(release.plan_size);
	task->method = arguments.method;
	task->query = arguments.query;
	strcpy(task->alphabet, arguments.spec);
	release_texts(fcinfo, &release);
	return (Datum) 0;
}
