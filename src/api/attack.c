/*
 * attack.c
 *	  The SQL function dp_membership_attack(): a privacy audit by the owner of a relation.
 *
 * It makes many releases and asks the ledger for none of them: what it returns is about
 * one real user, and no release.  So only who may read the relation anyway may call it.
 */
#include "postgres.h"

#include "funcapi.h"

#include "api/checks.h"
#include "api/dist_price.h"
#include "api/release.h"
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

/* What the worker is told; it is fed the vocabulary. */
typedef struct AttackTask
{
	DistPlan plan;
	int runs;
	double confidence;
} AttackTask;

/* The call in the worker. */
typedef struct Attack
{
	const AttackTask *task;
	PublicGrams *grams;

	/* from the run on */
	AttackResult result;
} Attack;

static void
attack_feed(void *state, LedgerCall *call)
{
	public_send(state, call->out, call->segment->deadline);
}

static void *
attack_start(const void *plan, shm_mq_handle *queue)
{
	Attack *attack = palloc0(sizeof(Attack));

	attack->task = plan;
	attack->grams = public_receive(queue);
	return attack;
}

static void
attack_users(void *state, const ReadSpec *spec, Noise *noise, int chosen)
{
	Attack *attack = state;
	const AttackTask *task = attack->task;
	GramRows *rows = rows_read(spec, attack->grams, dist_row_bounds(&task->plan.query),
							   noise->sampling_key, extract_memory_limit());

	if (!attack_run(&task->plan, attack->grams, rows, noise, task->runs, task->confidence,
					&attack->result))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("no user has any n-gram of public_ngrams"),
				 errhint("Its n-grams must be of tokens as the tokenizer makes them.")));
	rows_free(rows);
}

static void
attack_row(void *state, const RowSink *sink)
{
	const Attack *attack = state;
	Datum values[5] = {Int32GetDatum(attack->task->runs), Int32GetDatum(attack->result.wins),
					   Float8GetDatum(attack->result.probability),
					   Float8GetDatum(attack->result.epsilon),
					   Float8GetDatum(attack->task->confidence)};
	bool nulls[5] = {false};

	sink->put(sink->state, values, nulls);
}

const ReleaseMethods attack_methods = {
	.name = "dp_membership_attack",
	.start = attack_start,
	.run = attack_users,
	.rows = attack_row};

/* dp_membership_attack(...): can releases tell whether a user was there? (section 5) */
Datum
dpngram_membership_attack(PG_FUNCTION_ARGS)
{
	DistArguments arguments;
	AttackTask *task = palloc0(sizeof(AttackTask));
	ReleaseCall release = {.methods = &attack_methods,
						   .target = &arguments.target,
						   .plan = task,
						   .plan_size = sizeof(AttackTask),
						   .feed = attack_feed};

	InitMaterializedSRF(fcinfo, 0);
	parse_dist_arguments(fcinfo, &arguments);
	task->runs = int_range(fcinfo, ARGUMENT_RUNS, "runs", ATTACK_MIN_RUNS, ATTACK_MAX_RUNS);
	task->confidence = parse_confidence(fcinfo);
	/* first: what a view of the public side calls may change whatever was checked before */
	release.state = read_public_grams(&arguments);
	dist_owner_plan(&arguments, &task->plan);
	release_owned(fcinfo, &release, "dp_membership_attack",
				  "It tells about the data of the user who contributes most.");
	return (Datum) 0;
}
