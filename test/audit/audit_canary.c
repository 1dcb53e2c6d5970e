/*
 * audit_canary.c
 *	  Two worlds that differ in one user, and how well the released rows tell
 *	  them apart: canaries for the Gaussian part, novel words for the threshold.
 *
 * Several canaries with n-grams of their own live in one corpus; the noise of
 * different n-grams is independent, so each is a trial of its own.  Which of
 * them are there alternates from run to run.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "audit.h"

/* One experiment over canaries 0 .. groups - 1. */
typedef struct Canaries
{
	World *world;
	int level;
	uint64 groups;
	uint64 size;  /* n-grams of a canary */
	double floor; /* statistic of a row that isn't released */
	double *sum;  /* statistic of each canary in the current run */
	double *sample[2];
	int64 n[2];
} Canaries;

/* The n-gram of this rank: its words as a document of the current user. */
static void
write_gram(World *world, int level, uint64 rank)
{
	uint64 divisor = 1;

	for (int i = 1; i < level; i++)
		divisor *= world->words;
	for (; divisor > 0; divisor /= world->words)
		world_word(world, (uint32) (rank / divisor % world->words) + 1);
	world_end_document(world);
}

/* Canary g has the n-grams whose rank is g modulo the number of canaries. */
static void
write_canary(const Canaries *canaries, uint64 group)
{
	world_user(canaries->world);
	for (uint64 i = 0; i < canaries->size; i++)
		write_gram(canaries->world, canaries->level, group + i * canaries->groups);
}

static bool
is_present(uint64 group, int64 run)
{
	return (group + run) % 2 == 1;
}

static void
note_row(void *state, const ReleasedGram *gram)
{
	Canaries *canaries = state;
	uint64 group;

	if (gram->length != canaries->level)
		return;
	group = world_rank(canaries->world, gram->text, gram->text_len) % canaries->groups;
	canaries->sum[group] += lattice_units(gram->weight.value) - canaries->floor;
}

static void
build_canaries(Canaries *canaries, bool others, int64 run)
{
	world_clear(canaries->world);
	if (canaries->level > 1)
		world_words_user(canaries->world);
	for (uint64 group = 0; group < canaries->groups; group++)
	{
		if (others)
			write_canary(canaries, group);
		if (is_present(group, run))
			write_canary(canaries, group);
	}
}

static void
run_canaries(Canaries *canaries, const NgramPlan *plan, bool others, int64 runs)
{
	Noise noise;
	int64 most = (runs / 2 + 1) * (int64) canaries->groups;

	canaries->sum = palloc(canaries->groups * sizeof(double));
	for (int world = 0; world < 2; world++)
		canaries->sample[world] = palloc_extended(most * sizeof(double), MCXT_ALLOC_HUGE);
	noise_init(&noise, false, 0);
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		memset(canaries->sum, 0, canaries->groups * sizeof(double));
		build_canaries(canaries, others, run);
		world_run(canaries->world, plan, &noise, NULL, note_row, canaries);
		for (uint64 group = 0; group < canaries->groups; group++)
		{
			int world = is_present(group, run);

			canaries->sample[world][canaries->n[world]++] = canaries->sum[group];
		}
	}
	noise_clear(&noise);
}

/*
 * The plan of a canary audit: S_1 is every word, and at the level in question
 * nearly everything is released, so that the released weights tell all that
 * the noise leaves.  At level 1 a threshold far below the others' weight does
 * that, above it the rate of spurious n-grams, which must be near 1 (rate).
 */
static NgramPlan
canary_plan(const Canaries *canaries, int64 sigma, double rate)
{
	NgramPlan plan = world_plan(canaries->level, PRUNING_BOTH, rate * canaries->world->words);

	plan.step[canaries->level].sigma = sigma;
	if (canaries->level == 1)
		plan.step[1].threshold = -4 * sigma;
	return plan;
}

/*
 * audit_canary(level int, words int, size int, sigma float8, others bool,
 *				rate float8, runs bigint, power float8)
 *
 * What one user with "size" n-grams changes at a level (1 or 2), from the
 * released weights; with "others" a second user has the same n-grams in both
 * worlds.  Claim: mu <= 1/sigma.  Where power > 0 also mu > power/sigma, which
 * shows that the audit sees what there is to see.
 */
AUDIT_FUNCTION(audit_canary)
{
	Canaries canaries = {.level = PG_GETARG_INT32(0),
						 .world = world_create(PG_GETARG_INT32(1)),
						 .size = PG_GETARG_INT32(2)};
	int64 sigma = (int64) rint(PG_GETARG_FLOAT8(3) * DP_LATTICE_ONE);
	bool others = PG_GETARG_BOOL(4);
	double power = PG_GETARG_FLOAT8(7);
	double claim = DP_LATTICE_ONE / (double) sigma;
	NgramPlan plan = canary_plan(&canaries, sigma, PG_GETARG_FLOAT8(5));
	Rejection found;

	verdicts_begin(fcinfo);
	canaries.groups = (uint64) pow(canaries.world->words, canaries.level) / canaries.size;
	canaries.floor = -4.0 * sigma;
	run_canaries(&canaries, &plan, others, PG_GETARG_INT64(6));
	found = best_rejection(canaries.sample[0], canaries.n[0], canaries.sample[1], canaries.n[1]);
	verdict(fcinfo, "mu of one user is at most 1/sigma", found.mu <= claim, found.mu, claim,
			canaries.n[0] + canaries.n[1]);
	if (power > 0)
		verdict(fcinfo, "and the audit sees nearly all of it", found.mu > power * claim, found.mu,
				power * claim, canaries.n[0] + canaries.n[1]);
	return (Datum) 0;
}

/* ------------------------------------------------------------------------
 * the whole of a call
 * ------------------------------------------------------------------------ */

/* Each word has this many users of its own: S_1 is full whatever the noise. */
#define WORD_USERS 80

/* The log likelihood ratio of a whole call: levels count by 1/sigma^2. */
typedef struct Call
{
	World *world;
	const NgramPlan *plan;
	double *sum;
	uint32 released_words;
} Call;

/* Canary c, if it is there, wrote "w(2c+1) w(2c+2)". */
static void
note_call_row(void *state, const ReleasedGram *gram)
{
	Call *call = state;
	uint32 word[2];
	int n = world_gram(gram->text, gram->text_len, word);
	double sigma = gram->weight.stddev;
	double weight = gram->weight.value;
	uint32 canary = (word[0] - 1) / 2;

	call->released_words += n == 1;
	if (n == 1)
		call->sum[canary] += (weight - WORD_USERS) / sqrt(2) / (sigma * sigma);
	else if (word[0] % 2 == 1 && word[1] == word[0] + 1)
		call->sum[canary] += (weight + 4 * sigma) / (sigma * sigma);
}

static void
build_call(World *world, int64 run)
{
	world_clear(world);
	for (uint32 word = 1; word <= world->words; word++)
		for (int i = 0; i < WORD_USERS; i++)
		{
			world_user(world);
			world_word(world, word);
		}
	for (uint32 canary = 0; canary < world->words / 2; canary++)
		if (is_present(canary, run))
		{
			world_user(world);
			write_gram(world, 2, (uint64) (2 * canary) * world->words + 2 * canary + 1);
		}
}

/*
 * audit_call(words int, epsilon float8, delta float8, runs bigint, power float8)
 *
 * A whole call of dpne with T = 2, as planned: what a user who wrote two words
 * changes at both levels together.  Claim: mu <= the root of the price in the
 * Gaussian lane; power as in audit_canary().
 */
AUDIT_FUNCTION(audit_call)
{
	World *world = world_create(PG_GETARG_INT32(0));
	NgramQuery query = {.method = METHOD_DPNE,
						.max_length = 2,
						.bound = {0, 2, 2},
						.noise_ratio = 1,
						.epsilon = PG_GETARG_FLOAT8(1),
						.delta = PG_GETARG_FLOAT8(2),
						.spurious = 0.9 * world->words};
	int64 runs = PG_GETARG_INT64(3);
	double power = PG_GETARG_FLOAT8(4);
	double claim;
	NgramPlan plan;
	Call call = {world, &plan, palloc(world->words * sizeof(double)), 0};
	double *sample[2];
	int64 n[2] = {0, 0};
	Noise noise;
	Rejection found;

	verdicts_begin(fcinfo);
	if (ngram_plan(&query, (NgramSplit){.threshold_share = 0.1}, &plan) != DP_OK)
		elog(ERROR, "no plan");
	for (int i = 0; i < 2; i++)
		sample[i] = palloc_extended(runs * world->words * sizeof(double), MCXT_ALLOC_HUGE);
	noise_init(&noise, false, 0);
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		memset(call.sum, 0, world->words * sizeof(double));
		build_call(world, run);
		world_run(world, &plan, &noise, NULL, note_call_row, &call);
		for (uint32 canary = 0; canary < world->words / 2; canary++)
		{
			int present = is_present(canary, run);

			sample[present][n[present]++] = call.sum[canary];
		}
	}
	noise_clear(&noise);
	found = best_rejection(sample[0], n[0], sample[1], n[1]);
	claim = sqrt(plan.mu2);
	verdict(fcinfo, "mu of one user in a whole call is at most its price", found.mu <= claim,
			found.mu, claim, n[0] + n[1]);
	verdict(fcinfo, "and the audit sees most of it", found.mu > power * claim, found.mu,
			power * claim, n[0] + n[1]);
	verdict(fcinfo, "every word was released in every run",
			call.released_words == runs * world->words, call.released_words,
			(double) (runs * world->words), runs);
	return (Datum) 0;
}

/* ------------------------------------------------------------------------
 * the regression of an undercounted V_k
 * ------------------------------------------------------------------------ */

static void
count_row(void *state, const ReleasedGram *gram)
{
	if (gram->length == 2 && memcmp(gram->text, "0001 0002", gram->text_len) == 0)
		++*(int64 *) state;
}

/* In how many of the runs the bigram of two words is released. */
static int64
count_released(World *world, const NgramPlan *plan, bool present, int64 runs)
{
	Noise noise;
	int64 released = 0;

	world_clear(world);
	world_words_user(world);
	if (present)
	{
		world_user(world);
		write_gram(world, 2, 1);
	}
	noise_init(&noise, false, 0);
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		world_run(world, plan, &noise, NULL, count_row, &released);
	}
	noise_clear(&noise);
	return released;
}

/*
 * audit_undercount(sigma float8, p float8, runs bigint)
 *
 * One user alone has a bigram that others' words allow.  Event: it is released.
 * If spurious bigrams are drawn at the right rate p, that says no more than
 * mu = 1/sigma; if too few are, it is proof.
 */
AUDIT_FUNCTION(audit_undercount)
{
	World *world = world_create(2);
	int64 sigma = (int64) rint(PG_GETARG_FLOAT8(0) * DP_LATTICE_ONE);
	NgramPlan plan = world_plan(2, PRUNING_BOTH, 2 * PG_GETARG_FLOAT8(1));
	int64 runs = PG_GETARG_INT64(2);
	double claim = DP_LATTICE_ONE / (double) sigma;
	int64 absent;
	int64 present;
	Rejection found;

	verdicts_begin(fcinfo);
	plan.step[2].sigma = sigma;
	absent = count_released(world, &plan, false, runs);
	present = count_released(world, &plan, true, runs);
	found = gaussian_rejection(runs, absent, runs, present);
	verdict(fcinfo, "mu of a bigram of one user is at most 1/sigma", found.mu <= claim, found.mu,
			claim, 2 * runs);
	verdict_p(fcinfo, "nobody's bigram is released at the rate p",
			  binomial_p(runs, absent, PG_GETARG_FLOAT8(1)), runs);
	return (Datum) 0;
}

/* ------------------------------------------------------------------------
 * novel words
 * ------------------------------------------------------------------------ */

typedef struct Novel
{
	int words_each;
	bool *seen; /* was any n-gram of this user released? */
} Novel;

static void
note_novel(void *state, const ReleasedGram *gram)
{
	Novel *novel = state;
	uint32 word[NGRAM_MAX_LENGTH];

	world_gram(gram->text, gram->text_len, word);
	novel->seen[(word[0] - 1) / novel->words_each] = true;
}

/* How many of the users' n-grams were released at all, over all runs. */
static int64
count_novel(const NgramPlan *plan, int users, int words_each, int64 runs)
{
	World *world = world_create(users * words_each);
	Novel novel = {words_each, palloc(users * sizeof(bool))};
	int64 released = 0;
	Noise noise;

	for (int i = 0; i < users * words_each; i++)
	{
		if (i % words_each == 0)
			world_user(world);
		world_word(world, i + 1);
	}
	noise_init(&noise, false, 0);
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		memset(novel.seen, 0, users * sizeof(bool));
		world_run(world, plan, &noise, NULL, note_novel, &novel);
		for (int i = 0; i < users; i++)
			released += novel.seen[i];
	}
	noise_clear(&noise);
	return released;
}

/*
 * audit_novel(method text, max_length int, bound int, words int, users int,
 *			   runs bigint, at_least float8)
 *
 * Users who wrote a text of so many words that nobody else has, at an
 * exaggerated delta: delta_t = 0.05 for the thresholds of all set unions of the
 * call together.  Claim: any n-gram of such a user is released with probability
 * at most delta_t.  at_least: the rate that the thresholds should reach where
 * the user is their worst case, so that they are not merely too high; 0: none.
 */
AUDIT_FUNCTION(audit_novel)
{
	int bound = PG_GETARG_INT32(2);
	double delta_t = 0.05;
	NgramQuery query = {.method = audit_method(text_to_cstring(PG_GETARG_TEXT_PP(0))),
						.max_length = PG_GETARG_INT32(1),
						.noise_ratio = 1,
						.spurious = 1e-9,
						.epsilon = 1,
						.delta = 2 * delta_t};
	int64 trials = PG_GETARG_INT32(4) * PG_GETARG_INT64(5);
	double at_least = PG_GETARG_FLOAT8(6);
	NgramPlan plan;
	int64 released;
	double low;

	verdicts_begin(fcinfo);
	query.length = query.max_length;
	for (int k = 1; k <= query.max_length; k++)
		query.bound[k] = bound;
	if (ngram_plan(&query, (NgramSplit){.threshold_share = 0.5}, &plan) != DP_OK)
		elog(ERROR, "no plan");
	released = count_novel(&plan, PG_GETARG_INT32(4), PG_GETARG_INT32(3), PG_GETARG_INT64(5));
	low = proportion_low(trials, released, AUDIT_P);
	verdict(fcinfo, "what one user alone wrote appears with probability at most delta_t",
			low <= delta_t, (double) released / trials, delta_t, trials);
	if (at_least > 0)
		verdict(fcinfo, "and the threshold is not higher than that needs",
				released >= at_least * trials, (double) released / trials, at_least, trials);
	return (Datum) 0;
}
