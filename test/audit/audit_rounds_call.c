/*
 * audit_rounds_call.c
 *	  What one user changes in a whole call of dpne-mr, levels, rounds, budgets and all,
 *	  against what the call was debited; and what becomes of words that only one user has.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "audit_rounds.h"

#define LENGTH 3

/* ------------------------------------------------------------------------
 * a user who may steer the budget
 * ------------------------------------------------------------------------ */

/*
 * The user in question wrote "0001 0002 0003".  Others have each of the words, and some
 * each of the two bigrams; nobody else has the trigram.
 */
typedef struct RoundsCall
{
	World *world;
	const NgramPlan *plan;
	int word_users;
	int gram_users;
	int rows[LENGTH + 1]; /* of the run, of the user's n-grams */
	double sum[LENGTH + 1];
	double least_part; /* of level 2 in mu^2 */
	double most_part;
} RoundsCall;

static void
build_call(RoundsCall *call, bool present)
{
	World *world = call->world;

	world_clear(world);
	for (uint32 word = 1; word <= LENGTH; word++)
		for (int i = 0; i < call->word_users; i++)
		{
			world_user(world);
			world_word(world, word);
		}
	for (uint32 word = 1; word < LENGTH; word++)
		for (int i = 0; i < call->gram_users; i++)
		{
			world_user(world);
			world_word(world, word);
			world_word(world, word + 1);
		}
	if (!present)
		return;
	world_user(world);
	for (uint32 word = 1; word <= LENGTH; word++)
		world_word(world, word);
}

/* What others make of an n-gram. */
static double
weight_of_others(const RoundsCall *call, int level, uint32 first)
{
	if (level == 1)
		return call->word_users + call->gram_users * (first == 2 ? 2 : 1) / sqrt(2);
	return level == 2 ? call->gram_users : 0;
}

static void
note_row(void *state, const ReleasedGram *gram)
{
	RoundsCall *call = state;
	uint32 word[NGRAM_MAX_LENGTH];
	int level = world_gram(gram->text, gram->text_len, word);

	for (int i = 1; i < level; i++)
		if (word[i] != word[0] + i)
			return;
	call->rows[level]++;
	/* of its standard deviation, so of no less than that without biases */
	call->sum[level] +=
		(gram->weight.value - weight_of_others(call, level, word[0])) / gram->weight.stddev;
}

/*
 * The rows' log likelihood ratio, but for constants: at each level the user's n-grams are
 * moved by mu_k / sqrt n standard deviations, mu_k being that of its rounds.
 */
static double
likelihood(RoundsCall *call, const WorldRun *run)
{
	double statistic = 0;

	for (int level = 1; level <= LENGTH; level++)
	{
		int n = LENGTH + 1 - level;
		double shift = sqrt(run->mu2[level] / n);

		/* what is not released counts as something below the mean */
		statistic += shift * (call->sum[level] - 0.5 * (n - call->rows[level]));
		statistic -= shift * shift * n / 2;
	}
	return statistic;
}

static double
run_call(RoundsCall *call, bool present, Noise *noise)
{
	WorldRun run = {.memory = WORLD_MEMORY};

	memset(call->rows, 0, sizeof(call->rows));
	memset(call->sum, 0, sizeof(call->sum));
	build_call(call, present);
	world_run_within(call->world, call->plan, noise, NULL, note_row, call, &run);
	if (run.mu2[2] > 0)
	{
		call->least_part = Min(call->least_part, run.mu2[2] / call->plan->mu2);
		call->most_part = Max(call->most_part, run.mu2[2] / call->plan->mu2);
	}
	return likelihood(call, &run);
}

static NgramPlan
make_plan(const NgramQuery *query, double share)
{
	NgramPlan plan;

	if (ngram_plan(query, (NgramSplit){.threshold_share = share}, &plan) != DP_OK)
		elog(ERROR, "no plan");
	return plan;
}

/*
 * audit_rounds_call(schedule text, word_users int, gram_users int, epsilon float8,
 *					 delta float8, runs bigint, power float8)
 *
 * Claim: the user changes the call by at most the root of what it is debited, whatever the
 * user's presence does to the words that are released, and so to the budgets of levels 2
 * and 3.  Where power > 0 also more than power times that, and not always the
 * same budgets.
 */
AUDIT_FUNCTION(audit_rounds_call)
{
	RoundsCall call = {.world = world_create(LENGTH),
					   .word_users = PG_GETARG_INT32(1),
					   .gram_users = PG_GETARG_INT32(2),
					   .least_part = 1};
	NgramQuery query = {.method = METHOD_DPNE_MR,
						.max_length = LENGTH,
						.bound = {0, LENGTH, DP_MAX_KEYS, DP_MAX_KEYS},
						.rounds = 10,
						.epsilon = PG_GETARG_FLOAT8(3),
						.delta = PG_GETARG_FLOAT8(4),
						.spurious = 1000};
	int64 runs = PG_GETARG_INT64(5);
	double power = PG_GETARG_FLOAT8(6);
	double *sample[2];
	int64 n[2] = {0, 0};
	double claim;
	NgramPlan plan;
	Noise noise;
	Rejection found;

	verdicts_begin(fcinfo);
	query.schedule = audit_schedule(text_to_cstring(PG_GETARG_TEXT_PP(0)), &query.noise_ratio);
	plan = make_plan(&query, 0.1);
	call.plan = &plan;
	claim = sqrt(plan.mu2);
	for (int world = 0; world < 2; world++)
		sample[world] = palloc_extended((runs / 2 + 1) * sizeof(double), MCXT_ALLOC_HUGE);
	noise_init(&noise, false, 0);
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		sample[run % 2][n[run % 2]++] = run_call(&call, run % 2 == 1, &noise);
	}
	noise_clear(&noise);
	found = best_rejection(sample[0], n[0], sample[1], n[1]);
	verdict(fcinfo, "mu of one user in a whole call is at most its debit", found.mu <= claim,
			found.mu, claim, runs);
	if (power > 0)
	{
		verdict(fcinfo, "and the audit sees most of it", found.mu > power * claim, found.mu,
				power * claim, runs);
		verdict(fcinfo, "the part of level 2 was decided by what level 1 released",
				call.most_part > call.least_part, call.most_part, call.least_part, runs);
	}
	return (Datum) 0;
}

/* ------------------------------------------------------------------------
 * novel words
 * ------------------------------------------------------------------------ */

/*
 * Users with words that nobody else has, and words that all of them share, which are
 * released soon and leave their weight to the others.
 */
typedef struct NovelWords
{
	int each; /* novel words of a user */
	bool *seen;
	int64 *rows; /* novel words of a user that were released, in one run */
	uint32 novel;
} NovelWords;

static void
note_novel(void *state, const ReleasedGram *gram)
{
	NovelWords *novel = state;
	uint32 word[NGRAM_MAX_LENGTH];
	int n = world_gram(gram->text, gram->text_len, word);

	for (int i = 0; i < n; i++)
		if (word[i] <= novel->novel)
			novel->seen[(word[i] - 1) / novel->each] = true;
	if (n == 1 && word[0] <= novel->novel)
		novel->rows[(word[0] - 1) / novel->each]++;
}

static World *
novel_world(const NovelWords *novel, int users, int shared)
{
	World *world = world_create(novel->novel + shared);

	for (int user = 0; user < users; user++)
	{
		world_user(world);
		for (int i = 0; i < novel->each; i++)
			world_word(world, user * novel->each + i + 1);
		for (int i = 0; i < shared; i++)
			world_word(world, novel->novel + i + 1);
	}
	return world;
}

/* As if delta_t were 1: whatever noise says, all words of the lists are released. */
static void
open_thresholds(NgramPlan *plan)
{
	for (int j = 0; j < plan->words.n; j++)
		plan->words.round[j].threshold = -(INT64CONST(1) << 60);
}

/*
 * audit_rounds_novel(max_length int, bound int, words int, shared int, users int,
 *					  delta_t float8, runs bigint, at_least float8)
 *
 * Users with so many words of their own beside shared ones, at an exaggerated delta_t.
 * delta_t = 1 is no threshold.  Claims: any word of such a user appears with probability
 * at most delta_t, over all rounds and levels; and never more of them than the bound, which
 * is how many the thresholds are made for.  at_least: the rate that these should reach
 * where the user is their worst case; 0: none.
 */
AUDIT_FUNCTION(audit_rounds_novel)
{
	int max_length = PG_GETARG_INT32(0);
	int bound = PG_GETARG_INT32(1);
	int users = PG_GETARG_INT32(4);
	double delta_t = PG_GETARG_FLOAT8(5);
	int64 runs = PG_GETARG_INT64(6);
	double at_least = PG_GETARG_FLOAT8(7);
	NovelWords novel = {.each = PG_GETARG_INT32(2),
						.seen = palloc(users * sizeof(bool)),
						.rows = palloc(users * sizeof(int64)),
						.novel = users * PG_GETARG_INT32(2)};
	World *world = novel_world(&novel, users, PG_GETARG_INT32(3));
	NgramQuery query = {.method = METHOD_DPNE_MR,
						.max_length = max_length,
						.rounds = 2,
						.spurious = 1e-9,
						.noise_ratio = 1,
						.epsilon = 1,
						.delta = delta_t == 1 ? 0.1 : 2 * delta_t};
	int64 released = 0;
	int64 most = 0;
	NgramPlan plan;
	Noise noise;
	double low;

	verdicts_begin(fcinfo);
	for (int k = 1; k <= max_length; k++)
		query.bound[k] = bound;
	plan = make_plan(&query, 0.5);
	if (delta_t == 1)
		open_thresholds(&plan);
	noise_init(&noise, false, 0);
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		memset(novel.seen, 0, users * sizeof(bool));
		memset(novel.rows, 0, users * sizeof(int64));
		world_run(world, &plan, &noise, NULL, note_novel, &novel);
		for (int i = 0; i < users; i++)
		{
			released += novel.seen[i];
			most = Max(most, novel.rows[i]);
		}
	}
	noise_clear(&noise);
	low = proportion_low(users * runs, released, AUDIT_P);
	verdict(fcinfo, "what one user alone wrote appears with probability at most delta_t",
			low <= delta_t, (double) released / (users * runs), delta_t, users * runs);
	verdict(fcinfo, "and never more words of one user than count", most <= bound, most, bound,
			users * runs);
	if (at_least > 0)
		verdict(fcinfo, "and the thresholds are not higher than that needs",
				released >= at_least * users * runs, (double) released / (users * runs), at_least,
				users * runs);
	return (Datum) 0;
}
