/*
 * attack.c
 *	  The SQL function dp_membership_attack(): a privacy audit by the owner of a relation.
 *
 * It makes many releases and asks the ledger for none of them: what it returns is about
 * one real user, and no release.  So only who may read the relation anyway may call it.
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/memutils.h"

#include "api/checks.h"
#include "api/dist_price.h"
#include "api/settings.h"
#include "compat.h"
#include "dist/attack.h"
#include "dpngram_errcodes.h"
#include "ngram/extract.h"

/* The arguments that bayes_dp_dist() doesn't have. */
#define ARGUMENT_RUNS 16
#define ARGUMENT_CONFIDENCE 17

PG_FUNCTION_INFO_V1(dpngram_membership_attack);

static double
parse_confidence(FunctionCallInfo fcinfo)
{
	double confidence = DatumGetFloat8(required(fcinfo, ARGUMENT_CONFIDENCE, "confidence"));

	if (!(confidence >= ATTACK_MIN_CONFIDENCE && confidence <= ATTACK_MAX_CONFIDENCE))
		bad_argument("confidence", psprintf("between %g and %.6f", ATTACK_MIN_CONFIDENCE,
											ATTACK_MAX_CONFIDENCE));
	return confidence;
}

static AttackResult
attack(const DistArguments *arguments, const ReadSpec *spec, PublicGrams *grams, int runs,
	   double confidence)
{
	DistPlan plan;
	AttackResult result;
	GramRows *rows;
	Noise noise;
	bool attacked;

	dist_owner_plan(arguments, &plan);
	noise_init(&noise, dpngram_test_seed != 0, dpngram_test_seed);
	rows = rows_read(spec, grams, dist_row_bounds(&plan.query), noise.sampling_key,
					 extract_memory_limit());
	attacked = attack_run(&plan, grams, rows, &noise, runs, confidence, &result);
	noise_clear(&noise);
	rows_free(rows);
	if (!attacked)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("no user has any n-gram of public_ngrams"),
				 errhint("Its n-grams must be of tokens as the tokenizer makes them.")));
	return result;
}

/* dp_membership_attack(...): can releases tell whether a user was there? (section 5) */
Datum
dpngram_membership_attack(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "dpngram attack",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	DistArguments arguments;
	PublicGrams *grams;
	ReadSpec spec;
	AttackResult result;
	Datum values[5];
	bool nulls[5] = {false};
	double confidence;
	int runs;

	parse_dist_arguments(fcinfo, &arguments);
	runs = int_range(fcinfo, ARGUMENT_RUNS, "runs", ATTACK_MIN_RUNS, ATTACK_MAX_RUNS);
	confidence = parse_confidence(fcinfo);
	/* first: what a view of the public side calls may change whatever was checked before */
	grams = read_public_grams(&arguments);
	spec = target_owner_spec(&arguments.target, "dp_membership_attack");
	ereport(WARNING,
			(errmsg("the result of dp_membership_attack is not differentially private"),
			 errdetail("It tells about the data of the user who contributes most.")));
	result = attack(&arguments, &spec, grams, runs, confidence);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);

	InitMaterializedSRF(fcinfo, 0);
	values[0] = Int32GetDatum(runs);
	values[1] = Int32GetDatum(result.wins);
	values[2] = Float8GetDatum(result.probability);
	values[3] = Float8GetDatum(result.epsilon);
	values[4] = Float8GetDatum(confidence);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	return (Datum) 0;
}
