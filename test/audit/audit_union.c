/*
 * audit_union.c
 *	  Set unions by all methods: what one user alone has, what one user changes, the
 *	  noise that is drawn beside the debit, and the law of method single.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "audit.h"
#include "common/dp_gaussian.h"

static SetUnionMethod
union_method(const char *name)
{
	SetUnionMethod method;

	if (!set_union_method_by_name(name, &method))
		elog(ERROR, "unknown method \"%s\"", name);
	return method;
}

/* A plan as a call's, but for its share of delta. */
static SetUnionPlan
union_plan(const char *method, int64 bound, double epsilon, double delta, double share)
{
	SetUnionQuery query = {.method = union_method(method),
						   .bound = bound,
						   .alpha = 3,
						   .epsilon = epsilon,
						   .delta = delta};
	NgramSplit split = {.threshold_share = set_union_is_gaussian(query.method) ? share : 1};
	SetUnionPlan plan;

	if (set_union_plan(&query, split, &plan) != DP_OK)
		elog(ERROR, "no plan");
	return plan;
}

/* ------------------------------------------------------------------------
 * novel words
 * ------------------------------------------------------------------------ */

typedef struct NovelUsers
{
	int words_each;
	bool *seen; /* was any word of this user released? */
} NovelUsers;

static void
note_novel(void *state, const ReleasedGram *gram)
{
	NovelUsers *novel = state;
	uint32 word;

	world_gram(gram->text, gram->text_len, &word);
	novel->seen[(word - 1) / novel->words_each] = true;
}

/* Users who wrote so many words that nobody else has. */
static World *
novel_world(int users, int words_each)
{
	World *world = world_create(users * words_each);

	for (int i = 0; i < users * words_each; i++)
	{
		if (i % words_each == 0)
			world_user(world);
		world_word(world, i + 1);
	}
	return world;
}

/*
 * audit_union_novel(method text, bound int, words int, users int, epsilon float8,
 *					 runs bigint, at_least float8)
 *
 * As audit_novel(): users of so many words that nobody else has, at delta_t = 0.05.
 * Claim: any of a user's words is released, in whatever round, with probability at
 * most delta_t.
 */
AUDIT_FUNCTION(audit_union_novel)
{
	const double delta_t = 0.05;
	char *method = text_to_cstring(PG_GETARG_TEXT_PP(0));
	bool gaussian = set_union_is_gaussian(union_method(method));
	SetUnionPlan plan = union_plan(method, PG_GETARG_INT32(1), PG_GETARG_FLOAT8(4),
								   gaussian ? 2 * delta_t : delta_t, 0.5);
	NovelUsers novel = {.words_each = PG_GETARG_INT32(2)};
	int users = PG_GETARG_INT32(3);
	int64 runs = PG_GETARG_INT64(5);
	double at_least = PG_GETARG_FLOAT8(6);
	World *world = novel_world(users, novel.words_each);
	int64 trials = users * runs;
	int64 released = 0;
	double low;
	Noise noise;

	verdicts_begin(fcinfo);
	novel.seen = palloc(users * sizeof(bool));
	noise_init(&noise, false, 0);
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		memset(novel.seen, 0, users * sizeof(bool));
		world_run_union(world, &plan, &noise, NULL, note_novel, &novel);
		for (int i = 0; i < users; i++)
			released += novel.seen[i];
	}
	noise_clear(&noise);
	low = proportion_low(trials, released, AUDIT_P);
	verdict(fcinfo, "what one user alone has appears with probability at most delta_t",
			low <= delta_t, (double) released / trials, delta_t, trials);
	if (at_least > 0)
		verdict(fcinfo, "and the threshold is not much higher than that needs",
				released >= at_least * trials, (double) released / trials, at_least, trials);
	return (Datum) 0;
}

/* ------------------------------------------------------------------------
 * canaries
 * ------------------------------------------------------------------------ */

/* Canary c has the words that are c modulo the number of canaries; so has somebody else. */
typedef struct WordCanaries
{
	World *world;
	uint32 canaries;
	double middle; /* between the weights of one user and of two */
	double *sum;
} WordCanaries;

static bool
is_present(uint32 canary, int64 run)
{
	return (canary + run) % 2 == 1;
}

static void
note_weight(void *state, const ReleasedGram *gram)
{
	WordCanaries *canaries = state;
	uint32 word;

	world_gram(gram->text, gram->text_len, &word);
	canaries->sum[(word - 1) % canaries->canaries] +=
		(gram->weight.value - canaries->middle) / (gram->weight.stddev * gram->weight.stddev);
}

static void
build_word_canaries(WordCanaries *canaries, int64 run)
{
	world_clear(canaries->world);
	for (uint32 canary = 0; canary < canaries->canaries; canary++)
		for (int copy = 0; copy < 1 + is_present(canary, run); copy++)
		{
			world_user(canaries->world);
			for (uint32 word = canary + 1; word <= canaries->world->words;
				 word += canaries->canaries)
				world_word(canaries->world, word);
		}
}

/*
 * The thresholds of a canary audit: nothing is released before the last round, and
 * then everything; or each round releases about as many as it leaves, so that lists
 * shrink.
 */
static void
open_rounds(WordRounds *rounds, bool dropping, int64 weight)
{
	for (int i = 0; i < rounds->n; i++)
	{
		WordRound *round = &rounds->round[i];

		if (i == rounds->n - 1)
			round->threshold = -(int64) (10 * round->stddev);
		else
			round->threshold = dropping ? weight * round->divisor : PG_INT64_MAX;
	}
}

/*
 * audit_union_canary(method text, words int, size int, epsilon float8, dropping bool,
 *					  runs bigint, power float8)
 *
 * What a user of "size" words changes in all rounds together, from the released
 * weights; another user has the same words.  Claim: mu is at most the root of the
 * debit; power as in audit_canary().
 */
AUDIT_FUNCTION(audit_union_canary)
{
	int size = PG_GETARG_INT32(2);
	SetUnionPlan plan = union_plan(text_to_cstring(PG_GETARG_TEXT_PP(0)), 100,
								   PG_GETARG_FLOAT8(3), 1e-6, 0.1);
	WordCanaries canaries = {.world = world_create(PG_GETARG_INT32(1))};
	int64 runs = PG_GETARG_INT64(5);
	double power = PG_GETARG_FLOAT8(6);
	int64 n[2] = {0, 0};
	double mu2 = 0;
	double *sample[2];
	Rejection found;
	Noise noise;

	verdicts_begin(fcinfo);
	canaries.canaries = canaries.world->words / size;
	canaries.middle = 1.5 * dp_lattice_weight(size) / DP_LATTICE_ONE;
	canaries.sum = palloc(canaries.canaries * sizeof(double));
	for (int i = 0; i < 2; i++)
		sample[i] = palloc_extended(runs * canaries.canaries * sizeof(double), MCXT_ALLOC_HUGE);
	for (int i = 0; i < plan.rounds.n; i++)
		mu2 += plan.rounds.round[i].mu2;
	open_rounds(&plan.rounds, PG_GETARG_BOOL(4), dp_lattice_weight(size) * 3 / 2);
	noise_init(&noise, false, 0);
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		memset(canaries.sum, 0, canaries.canaries * sizeof(double));
		build_word_canaries(&canaries, run);
		world_run_union(canaries.world, &plan, &noise, NULL, note_weight, &canaries);
		for (uint32 canary = 0; canary < canaries.canaries; canary++)
		{
			int present = is_present(canary, run);

			sample[present][n[present]++] = canaries.sum[canary];
		}
	}
	noise_clear(&noise);
	found = best_rejection(sample[0], n[0], sample[1], n[1]);
	verdict(fcinfo, "mu of one user is at most the root of the debit", found.mu <= sqrt(mu2),
			found.mu, sqrt(mu2), n[0] + n[1]);
	if (power > 0)
		verdict(fcinfo, "and the audit sees nearly all of it", found.mu > power * sqrt(mu2),
				found.mu, power * sqrt(mu2), n[0] + n[1]);
	return (Datum) 0;
}

/* ------------------------------------------------------------------------
 * the debit
 * ------------------------------------------------------------------------ */

/* What the noise drawn is worth: sum of (2^bits / scale)^2, or 2^bits / scale. */
static long double
drawn_amount(const SetUnionPlan *plan, int *draws)
{
	int bits = set_union_has_rounds(plan->query.method) ? DP_LATTICE_BITS : plan->bits;
	long double sum = 0;
	const AuditDraw *draw;

	for (*draws = 0; (draw = audit_log_draw(*draws)) != NULL; ++*draws)
	{
		long double one = ldexpl(1, bits) / draw->scale;

		sum += draw->kind == AUDIT_LAPLACE ? one : one * one;
	}
	return sum;
}

static void
check_debit(FunctionCallInfo fcinfo, World *world, Noise *noise, const char *method,
			double epsilon)
{
	SetUnionPlan plan = union_plan(method, 10, epsilon, 1e-6, 0.1);
	bool gaussian = set_union_is_gaussian(plan.query.method);
	double debit = gaussian ? plan.mu2 : plan.eps_pure;
	long double drawn;
	int draws;

	for (int i = 0; i < plan.rounds.n; i++)
		debit += plan.rounds.round[i].mu2;
	audit_log_clear();
	world_run_union(world, &plan, noise, NULL, NULL, NULL);
	drawn = drawn_amount(&plan, &draws);
	verdict(fcinfo,
			psprintf("%s, epsilon %g: the noise drawn costs at most the debit", method, epsilon),
			drawn <= debit && draws == Max(plan.rounds.n, 1) && !audit_log_changed(),
			(double) drawn, debit, draws);
}

/* audit_union_price(): every scale that noise is drawn with, beside what is debited. */
AUDIT_FUNCTION(audit_union_price)
{
	static const char *const methods[] = {"cumulative", "sips", "weighted_gaussian",
										  "policy_gaussian", "policy_laplace",
										  "weighted_laplace"};
	World *world = novel_world(20, 10);
	Noise noise;

	verdicts_begin(fcinfo);
	noise_init(&noise, false, 0);
	for (int i = 0; i < (int) lengthof(methods); i++)
		for (double epsilon = 0.01; epsilon < 100; epsilon *= 10)
			check_debit(fcinfo, world, &noise, methods[i], epsilon);
	noise_clear(&noise);
	return (Datum) 0;
}

/* ------------------------------------------------------------------------
 * method single
 * ------------------------------------------------------------------------ */

static void
count_word(void *state, const ReleasedGram *gram)
{
	int64 *kept = state;
	uint32 word;

	world_gram(gram->text, gram->text_len, &word);
	kept[word]++;
}

/*
 * audit_single(epsilon float8, delta float8, words int, runs bigint)
 *
 * Word n has n users, who have no other.  Claim: it is kept at the rate pi(n) of the
 * definition (dp_keep.c), computed here by itself.
 */
AUDIT_FUNCTION(audit_single)
{
	double epsilon = PG_GETARG_FLOAT8(0);
	double delta = PG_GETARG_FLOAT8(1);
	int words = PG_GETARG_INT32(2);
	int64 runs = PG_GETARG_INT64(3);
	SetUnionPlan plan = union_plan("single", 1, epsilon, delta, 1);
	World *world = world_create(words);
	int64 *kept = palloc0((words + 1) * sizeof(int64));
	double pi = 0;
	double least = 1;
	Noise noise;

	verdicts_begin(fcinfo);
	for (int word = 1; word <= words; word++)
		for (int i = 0; i < word; i++)
		{
			world_user(world);
			world_word(world, word);
		}
	noise_init(&noise, false, 0);
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		world_run_union(world, &plan, &noise, NULL, count_word, kept);
	}
	noise_clear(&noise);
	for (int word = 1; word <= words; word++)
	{
		pi = Min(Min(exp(epsilon) * pi + delta, 1 - exp(-epsilon) * (1 - pi - delta)), 1);
		if (pi < 1 - 1e-12)
			least = Min(least, binomial_p(runs, kept[word], pi));
		else if (kept[word] != runs)
			least = 0;
	}
	verdict_p(fcinfo, "an item of n users is kept at the rate pi(n)", Min(1, least * words), runs);
	return (Datum) 0;
}
