/*
 * distribution.c
 *	  The SQL function bayes_dp_dist().
 *
 * Arguments, units, errors and sources: COMMENT ON in src/sql/22_dist.sql and doc/.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "api/dist_price.h"
#include "api/release.h"
#include "api/settings.h"
#include "compat.h"
#include "dist/world.h"
#include "dpngram_errcodes.h"
#include "ngram/extract.h"

PG_FUNCTION_INFO_V1(dpngram_bayes_dp_dist);

/* A call in the caller's session; the worker is told the plans, and fed the vocabulary. */
typedef struct DistCall
{
	DistArguments arguments;
	PublicGrams *grams;
	DistPlan plans[DIST_MAX_PLANS];
} DistCall;

/* And in the worker. */
typedef struct DistRelease
{
	const DistPlan *plans;
	PublicGrams *grams;

	/* from the run on */
	const DistPlan *plan;
	double *theta;
	DistReport report;
} DistRelease;

static LedgerRequest
dist_release_request(void *state, const LedgerTerms *terms)
{
	DistCall *call = state;

	return dist_request(&call->arguments, terms, call->plans);
}

static void
dist_release_feed(void *state, LedgerCall *call)
{
	public_send(((DistCall *) state)->grams, call->out, call->segment->deadline);
}

static void *
dist_release_start(const void *plan, shm_mq_handle *queue)
{
	DistRelease *release = palloc0(sizeof(DistRelease));

	release->plans = plan;
	release->grams = public_receive(queue);
	return release;
}

static void
dist_release_run(void *state, const ReadSpec *spec, Noise *noise, int chosen)
{
	DistRelease *release = state;
	const DistPlan *plan = &release->plans[chosen];
	DistWorld world;
	GramRows *rows = rows_read(spec, release->grams, dist_row_bounds(&plan->query),
							   noise->sampling_key, extract_memory_limit());

	release->plan = plan;
	release->theta = zero_doubles(release->grams->size);
	dist_world_init(&world, plan, release->grams, rows, -1, noise);
	dist_world_release(&world, noise, 0, release->theta, &release->report);
	rows_free(rows);
}

static void
dist_release_rows(void *state, const RowSink *sink)
{
	const DistRelease *release = state;

	for (uint32 i = 0; i < release->grams->size; i++)
	{
		Datum values[2] = {PointerGetDatum(release->grams->gram[i]),
						   Float8GetDatum(release->theta[i])};
		bool nulls[2] = {false};

		sink->put(sink->state, values, nulls);
	}
}

/* For the log: what was chosen by looking at what was released. */
static char *
dist_release_used(void *state)
{
	const DistRelease *release = state;
	const DistReport *report = &release->report;

	switch (release->plan->query.method)
	{
		case DIST_SHRINKAGE:
			return psprintf("{\"max_norm\": %.6g, \"prior_weight\": %.6g}", report->max_norm,
							report->prior_weight);
		case DIST_LOG_POSTERIOR:
			return psprintf("{\"s\": %.6g, \"rho\": %.6g}", report->slope, report->weight);
		default:
			return NULL;
	}
}

const ReleaseMethods dist_methods = {
	.name = "bayes_dp_dist",
	.start = dist_release_start,
	.run = dist_release_run,
	.rows = dist_release_rows,
	.used = dist_release_used};

/* bayes_dp_dist(...): n-gram probabilities with a public prior (Ramadan et al. 2021). */
Datum
dpngram_bayes_dp_dist(PG_FUNCTION_ARGS)
{
	DistCall *call = palloc0(sizeof(DistCall));
	ReleaseCall release = {.methods = &dist_methods,
						   .target = &call->arguments.target,
						   .state = call,
						   .request = dist_release_request,
						   .plan = call->plans,
						   .plan_size = sizeof(call->plans),
						   .feed = dist_release_feed};

	InitMaterializedSRF(fcinfo, 0);
	parse_dist_arguments(fcinfo, &call->arguments);
	call->grams = read_public_grams(&call->arguments);
	if (call->arguments.query.method == DIST_LOCAL_SENSITIVITY)
	{
		/* as printed: for the owner of the relation, and no release of the ledger's */
		dist_owner_plan(&call->arguments, &call->plans[0]);
		release_owned(fcinfo, &release, "method local-sensitivity",
					  "Its noise is scaled to the very data that it should protect.");
	}
	else
		release_texts(fcinfo, &release);
	return (Datum) 0;
}
