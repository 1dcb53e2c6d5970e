/*
 * audit_dist_canary.c
 *	  Two worlds that differ in one user, and how well releases of distributions tell them
 *	  apart: by the likelihood ratio of all that was released, which no other statistic
 *	  beats.
 *
 * The worlds take turns.  After each release the other world replays it, which shows what
 * its steps would have started from given the same outcomes; from both, the noise's scale
 * and the outcomes the likelihood ratio follows, exactly, also where a later step depends
 * on an earlier one's outcome.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "audit_dist.h"
#include "dist/attack.h"

/* Likelihood ratios of Laplace noise pile up at the largest: digits that are told apart. */
#define RATIO_DIGITS 1e5

typedef struct Canary
{
	DistPlan plan;
	const Crowd *crowd; /* the last user is the canary */
	Noise noise;
	GramRows *rows;
	DistWorld world[2]; /* without and with the canary */
	double *sample[2];	/* log likelihood ratios */
	int64 n[2];
} Canary;

/* ---- crowds ---- */

/*
 * A canary with each of "size" n-grams so many times, which others have too; the public
 * distribution has next to nothing of them where a user's own part of it would count.
 */
static Crowd *
canary_crowd(const DistQuery *query, int size, uint32 count)
{
	bool public = query->method == DIST_LAPLACE_PUBLIC;
	Crowd *crowd = crowd_create(size + public);

	if (public)
		crowd_public(crowd, size + 1, INT64CONST(1) << 40);
	for (int user = 0; user < 3; user++)
	{
		crowd_user(crowd);
		for (int number = 1; number <= size; number++)
			crowd_count(crowd, number, user == 2 ? count : (uint32) (1 + user));
	}
	return crowd;
}

/* The plan for a canary of the largest norm, and the crowd. */
static void
plan_canary(Canary *canary, DistQuery *query, int size, double max_norm)
{
	uint32 count = 1;

	switch (query->method)
	{
		case DIST_SHRINKAGE:
			/* a third more than fits: the row is clipped; if chosen, L is at most 2^16 */
			query->max_norm = max_norm;
			count = max_norm > 0 ? (uint32) ceil(max_norm * 4 / 3) : 1 << 20;
			break;
		case DIST_LOG_POSTERIOR:
			query->max_count = 2;
			query->slope = 0.3;
			query->max_contributions = size;
			break;
		default:
			query->max_contributions = size;
			break;
	}
	if (!crowd_plan(query, (DistSplit){0}, &canary->plan))
		elog(ERROR, "no plan");
	if (query->method == DIST_LOG_POSTERIOR)
		canary->crowd = worst_crowd(size, query->max_count,
									worst_case(query, canary->plan.center[query->tune ? 2 : 0]));
	else
		canary->crowd = canary_crowd(query, size, count);
}

/* ---- the likelihood ratio ---- */

static long double
gaussian_ratio(const AuditStep *without, const AuditStep *with)
{
	long double sum = 0;

	for (int i = 0; i < with->n; i++)
	{
		long double d = with->exact[i] - without->exact[i];
		long double from = with->outcome[i] - without->exact[i];

		sum += d * (from - d / 2);
	}
	return sum / with->scale / with->scale;
}

static long double
laplace_ratio(const AuditStep *without, const AuditStep *with)
{
	int64 sum = 0;

	for (int i = 0; i < with->n; i++)
		sum += llabs((long long) (with->outcome[i] - without->exact[i])) -
			   llabs((long long) (with->outcome[i] - with->exact[i]));
	return (long double) sum / with->scale;
}

/* A choice says nothing of who has no say in it. */
static double
likelihood_ratio(const AuditRelease *without, const AuditRelease *with)
{
	long double sum = 0;

	for (int i = 0; i < with->n; i++)
	{
		if (with->step[i].kind == AUDIT_GAUSSIAN)
			sum += gaussian_ratio(&without->step[i], &with->step[i]);
		else if (with->step[i].kind == AUDIT_LAPLACE)
			sum += laplace_ratio(&without->step[i], &with->step[i]);
		else if (memcmp(without->step[i].exact, with->step[i].exact,
						with->step[i].n * sizeof(int64)) != 0)
			elog(ERROR, "the canary has a say in the choice");
	}
	return (double) sum;
}

/* ---- the runs ---- */

/* The key under which the canary, in private tuning, is of those who make candidates. */
static uint64
canary_key(Canary *canary)
{
	GramRow row = {.hash = crowd_hash(canary->crowd->users - 1)};
	DistWorld world;

	do
	{
		canary->noise.sampling_key = dp_random_u64(&canary->noise.random);
		dist_world_init(&world, &canary->plan, &canary->crowd->grams, NULL, -1, &canary->noise);
	} while (!in_training(&world, &row));
	return canary->noise.sampling_key;
}

static void
run_once(Canary *canary, int present)
{
	AuditRelease release[2];

	crowd_release_world(&canary->world[present], &canary->noise, NULL, &release[present]);
	crowd_release_world(&canary->world[!present], &canary->noise, &release[present],
						&release[!present]);
	canary->sample[present][canary->n[present]++] = likelihood_ratio(&release[0], &release[1]);
	for (int i = 0; i < 2; i++)
		crowd_release_clear(&release[i]);
}

static void
run_canary(Canary *canary, int64 runs)
{
	noise_init(&canary->noise, false, 0);
	canary->rows = crowd_rows(canary->crowd, &canary->plan.query, canary_key(canary), -1);
	for (int i = 0; i < 2; i++)
	{
		dist_world_init(&canary->world[i], &canary->plan, &canary->crowd->grams, canary->rows,
						i == 1 ? -1 : (int64) canary->crowd->users - 1, &canary->noise);
		canary->sample[i] = palloc_extended((runs / 2 + 1) * sizeof(double), MCXT_ALLOC_HUGE);
	}
	crowd_answers = false;
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		run_once(canary, run % 2);
	}
	crowd_answers = true;
	noise_clear(&canary->noise);
	rows_free(canary->rows);
}

/*
 * audit_dist_gaussian(method text, tune boolean, size int, max_norm float8, share float8,
 *					   epsilon float8, delta float8, runs bigint, power float8)
 *
 * A user with "size" n-grams who moves them by all that the bounds allow; max_norm 0: L is
 * chosen, from a histogram that takes "share" of the budget.  Claim: mu is at most the root
 * of the debit; and more than power times that.
 */
AUDIT_FUNCTION(audit_dist_gaussian)
{
	DistQuery query = crowd_query(crowd_method(text_to_cstring(PG_GETARG_TEXT_PP(0))),
								  PG_GETARG_FLOAT8(5), PG_GETARG_FLOAT8(6));
	double power = PG_GETARG_FLOAT8(8);
	Canary canary = {0};
	Rejection found;
	double claim;

	verdicts_begin(fcinfo);
	query.tune = PG_GETARG_BOOL(1);
	query.norm_share = PG_GETARG_FLOAT8(4);
	plan_canary(&canary, &query, PG_GETARG_INT32(2), PG_GETARG_FLOAT8(3));
	run_canary(&canary, PG_GETARG_INT64(7));
	found = best_rejection(canary.sample[0], canary.n[0], canary.sample[1], canary.n[1]);
	claim = sqrt(plan_debit(&canary.plan));
	verdict(fcinfo, "mu of one user is at most the root of the debit", found.mu <= claim,
			found.mu, claim, canary.n[0] + canary.n[1]);
	if (power > 0)
		verdict(fcinfo, "and the audit sees nearly all of it", found.mu > power * claim, found.mu,
				power * claim, canary.n[0] + canary.n[1]);
	return (Datum) 0;
}

/*
 * audit_dist_pure(method text, size int, max_norm float8, share float8, epsilon float8,
 *				   runs bigint, power float8)
 *
 * Likewise with Laplace noise.  Claim: epsilon.
 */
AUDIT_FUNCTION(audit_dist_pure)
{
	DistQuery query = crowd_query(crowd_method(text_to_cstring(PG_GETARG_TEXT_PP(0))),
								  PG_GETARG_FLOAT8(4), 0);
	double power = PG_GETARG_FLOAT8(6);
	Canary canary = {0};
	double found;

	verdicts_begin(fcinfo);
	query.norm_share = PG_GETARG_FLOAT8(3);
	plan_canary(&canary, &query, PG_GETARG_INT32(1), PG_GETARG_FLOAT8(2));
	run_canary(&canary, PG_GETARG_INT64(5));
	for (int i = 0; i < 2; i++)
		for (int64 j = 0; j < canary.n[i]; j++)
			canary.sample[i][j] = rint(canary.sample[i][j] * RATIO_DIGITS);
	found = best_ratio(canary.sample[0], canary.n[0], canary.sample[1], canary.n[1]);
	verdict(fcinfo, "one user changes no event's probability by more than e^epsilon",
			found <= query.epsilon, found, query.epsilon, canary.n[0] + canary.n[1]);
	if (power > 0)
		verdict(fcinfo, "and the audit sees nearly all of it", found > power * query.epsilon,
				found, power * query.epsilon, canary.n[0] + canary.n[1]);
	return (Datum) 0;
}

/* What a membership attack of so many runs leaves of memory that it doesn't need any more. */
static Size
attack_memory(const Canary *canary, GramRows *rows, Noise *noise, int runs)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "audit attack",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	AttackResult result;
	Size left;

	if (!attack_run(&canary->plan, &canary->crowd->grams, rows, noise, runs, 0.95, &result))
		elog(ERROR, "nobody to attack");
	left = MemoryContextMemAllocated(context, true);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return left;
}

/*
 * audit_dist_memory(method text, tune boolean, delta float8, runs int)
 *
 * A membership attack holds no more memory after many runs than after a hundred.
 */
AUDIT_FUNCTION(audit_dist_memory)
{
	DistQuery query = crowd_query(crowd_method(text_to_cstring(PG_GETARG_TEXT_PP(0))), 1,
								  PG_GETARG_FLOAT8(2));
	int runs = PG_GETARG_INT32(3);
	Canary canary = {0};
	GramRows *rows;
	Noise noise;
	Size few;
	Size many;

	verdicts_begin(fcinfo);
	query.tune = PG_GETARG_BOOL(1);
	plan_canary(&canary, &query, 3, 0);
	noise_init(&noise, false, 0);
	rows = crowd_rows(canary.crowd, &query, noise.sampling_key, -1);
	few = attack_memory(&canary, rows, &noise, 100);
	many = attack_memory(&canary, rows, &noise, runs);
	noise_clear(&noise);
	rows_free(rows);
	/* sums for each L that is chosen are kept, of three n-grams */
	verdict(fcinfo, "an attack's memory does not grow with its runs", many <= few + 32 * 1024,
			many, few, runs);
	return (Datum) 0;
}
