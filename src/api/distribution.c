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

/* A call on its way. */
typedef struct DistRelease
{
	DistArguments arguments;
	PublicGrams *grams;
	DistPlan plans[DIST_MAX_PLANS];

	/* from the run on */
	double *theta;
	DistReport report;
} DistRelease;

static LedgerRequest
dist_release_request(void *state, const LedgerTerms *terms)
{
	DistRelease *release = state;

	return dist_request(&release->arguments, terms, release->plans);
}

static void
dist_release_run(void *state, const ReadSpec *spec, Noise *noise, int chosen)
{
	DistRelease *release = state;
	const DistPlan *plan = &release->plans[chosen];
	DistWorld world;
	GramRows *rows = rows_read(spec, release->grams, dist_row_bounds(&plan->query),
							   noise->sampling_key, extract_memory_limit());

	release->theta = zero_doubles(release->grams->size);
	dist_world_init(&world, plan, release->grams, rows, -1, noise);
	dist_world_release(&world, noise, 0, release->theta, &release->report);
	rows_free(rows);
}

static void
dist_release_rows(void *state, ReturnSetInfo *rsinfo)
{
	const DistRelease *release = state;

	for (uint32 i = 0; i < release->grams->size; i++)
	{
		Datum values[2] = {PointerGetDatum(release->grams->gram[i]),
						   Float8GetDatum(release->theta[i])};
		bool nulls[2] = {false};

		CHECK_FOR_INTERRUPTS();
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

/* For the log: what was chosen by looking at what was released. */
static char *
dist_release_used(void *state)
{
	const DistRelease *release = state;
	const DistReport *report = &release->report;

	switch (release->arguments.query.method)
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

static const ReleaseMethods dist_methods = {
	.request = dist_release_request,
	.run = dist_release_run,
	.rows = dist_release_rows,
	.used = dist_release_used};

/* The printed mechanism: for the owner of the relation, and no release of the ledger's. */
static void
release_not_private(ReturnSetInfo *rsinfo, DistRelease *release)
{
	ReadSpec spec = target_owner_spec(&release->arguments.target, "method local-sensitivity");
	Noise noise;

	ereport(WARNING,
			(errmsg("the result of method local-sensitivity is not differentially private"),
			 errdetail("Its noise is scaled to the very data that it should protect.")));
	dist_owner_plan(&release->arguments, &release->plans[0]);
	noise_init(&noise, dpngram_test_seed != 0, dpngram_test_seed);
	dist_release_run(release, &spec, &noise, 0);
	noise_clear(&noise);
	dist_release_rows(release, rsinfo);
}

/* bayes_dp_dist(...): n-gram probabilities with a public prior (Ramadan et al. 2021). */
Datum
dpngram_bayes_dp_dist(PG_FUNCTION_ARGS)
{
	DistRelease release = {0};

	InitMaterializedSRF(fcinfo, 0);
	parse_dist_arguments(fcinfo, &release.arguments);
	release.grams = read_public_grams(&release.arguments);
	if (release.arguments.query.method == DIST_LOCAL_SENSITIVITY)
		release_not_private((ReturnSetInfo *) fcinfo->resultinfo, &release);
	else
		release_texts(fcinfo, &release.arguments.target, &dist_methods, &release);
	return (Datum) 0;
}
