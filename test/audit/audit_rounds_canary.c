/*
 * audit_rounds_canary.c
 *	  What one user changes in a level of dpne-mr, from the released weights and standard
 *	  deviations: with one n-gram, and with several whose weights depend on one another,
 *	  because some have won, some have lost and some stand at their threshold.
 *
 * Many canaries with n-grams of their own live in one world; which of them are there
 * alternates.  At level 3 a canary's n-grams of length 2 are there in both worlds, so
 * that they differ at level 3 alone.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "audit_rounds.h"

/* At level 3, level 2 has so many times less noise: all that is written is released. */
#define LEVEL_RATIO 20

/* What a row that was not released counts for, in standard deviations. */
#define UNRELEASED (-0.5)

typedef struct RoundsCanaries
{
	World *world;
	int level;
	uint64 groups;
	uint64 size; /* n-grams of a canary */
	int push;	 /* users whose n-grams are just released; 0: canaries are alone */
	double mu;	 /* of the level */
	double *sum; /* statistic of each canary in the current run */
	double *sample[2];
	int64 n[2];
	int64 biased; /* rows that left weight to others */
	int64 rows;
	LevelNoise noise;
} RoundsCanaries;

/* How many other users have a canary's i-th n-gram: winners, losers, and some between. */
static int
others_of(const RoundsCanaries *canaries, uint64 i)
{
	switch (i % 4)
	{
		case 0:
			return 4 * canaries->push;
		case 1:
			return canaries->push;
		case 2:
			return canaries->push / 2;
	}
	return 0;
}

/* The words from..to of the n-gram of this rank, as a document. */
static void
write_part(RoundsCanaries *canaries, uint64 rank, int from, int to)
{
	uint32 word[NGRAM_MAX_LENGTH];

	for (int i = canaries->level - 1; i >= 0; i--, rank /= canaries->world->words)
		word[i] = (uint32) (rank % canaries->world->words) + 1;
	for (int i = from; i <= to; i++)
		world_word(canaries->world, word[i]);
	world_end_document(canaries->world);
}

/* A canary's n-grams, or at level 3 what they are made of. */
static void
write_canary(RoundsCanaries *canaries, uint64 group, bool present)
{
	world_user(canaries->world);
	for (uint64 i = 0; i < canaries->size; i++)
	{
		uint64 rank = group + i * canaries->groups;

		if (present)
			write_part(canaries, rank, 0, canaries->level - 1);
		else
		{
			write_part(canaries, rank, 0, canaries->level - 2);
			write_part(canaries, rank, 1, canaries->level - 1);
		}
	}
}

static bool
is_present(uint64 group, int64 run)
{
	return (group + run) % 2 == 1;
}

static void
build(RoundsCanaries *canaries, int64 run)
{
	world_clear(canaries->world);
	world_words_user(canaries->world);
	for (uint64 group = 0; group < canaries->groups; group++)
	{
		for (uint64 i = 0; canaries->push > 0 && i < canaries->size; i++)
			for (int other = others_of(canaries, i); other > 0; other--)
			{
				world_user(canaries->world);
				write_part(canaries, group + i * canaries->groups, 0, canaries->level - 1);
			}
		write_canary(canaries, group, is_present(group, run));
	}
}

/*
 * A row's part in the likelihood ratio: how far it is from what the others make, by how
 * much of its weight the canary still gives to it.
 */
static void
note_row(void *state, const ReleasedGram *gram)
{
	RoundsCanaries *canaries = state;
	uint64 rank;
	double z = gram->weight.value / gram->weight.stddev;
	double spent;

	if (gram->length != canaries->level)
		return;
	rank = world_rank(canaries->world, gram->text, gram->text_len);
	if (rank >= canaries->groups * canaries->size)
		return;
	z -= others_of(canaries, rank / canaries->groups) * canaries->mu;
	spent = 1 / (gram->weight.stddev * canaries->mu);
	/* of a single n-gram no weight is left to others */
	canaries->sum[rank % canaries->groups] +=
		(canaries->size == 1 ? 1 : spent) * z - UNRELEASED;
	canaries->biased += spent < 0.999;
	canaries->rows++;
}

static void
run_canaries(RoundsCanaries *canaries, const NgramPlan *plan, int64 runs)
{
	int64 most = (runs / 2 + 1) * (int64) canaries->groups;
	Noise noise;

	canaries->sum = palloc(canaries->groups * sizeof(double));
	for (int world = 0; world < 2; world++)
		canaries->sample[world] = palloc_extended(most * sizeof(double), MCXT_ALLOC_HUGE);
	noise_init(&noise, false, 0);
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		memset(canaries->sum, 0, canaries->groups * sizeof(double));
		build(canaries, run);
		audit_log_clear();
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
 * audit_rounds_canary(level int, words int, size int, push int, rounds int, mu float8,
 *					   eta float8, runs bigint, power float8)
 *
 * What one user with "size" n-grams changes at level 2 or 3.  Claim: at most the mu that
 * the level's rounds drew for.  Where power > 0 also more than power times that.
 */
AUDIT_FUNCTION(audit_rounds_canary)
{
	RoundsCanaries canaries = {.level = PG_GETARG_INT32(0),
							   .world = world_create(PG_GETARG_INT32(1)),
							   .size = PG_GETARG_INT32(2),
							   .push = PG_GETARG_INT32(3),
							   .mu = PG_GETARG_FLOAT8(5)};
	int rounds = PG_GETARG_INT32(4);
	double power = PG_GETARG_FLOAT8(8);
	double mu2 = canaries.mu * canaries.mu;
	double claim = 0;
	NgramPlan plan;
	Rejection found;

	verdicts_begin(fcinfo);
	if (canaries.level == 3)
		mu2 *= 1 + LEVEL_RATIO * LEVEL_RATIO;
	plan = rounds_plan(canaries.level, PRUNING_BOTH, rounds, mu2, PG_GETARG_FLOAT8(6));
	plan.query.noise_ratio = LEVEL_RATIO;
	canaries.groups = (uint64) pow(canaries.world->words, canaries.level) / canaries.size;
	run_canaries(&canaries, &plan, PG_GETARG_INT64(7));
	if (!level_noise(&canaries.noise, canaries.level, rounds))
		elog(ERROR, "no noise");
	for (int j = 0; j < rounds; j++)
		claim += pow(DP_LATTICE_ONE / (double) canaries.noise.sigma[j], 2);
	claim = sqrt(claim);
	found = best_rejection(canaries.sample[0], canaries.n[0], canaries.sample[1], canaries.n[1]);
	verdict(fcinfo, "mu of one user is at most that of the rounds", found.mu <= claim, found.mu,
			claim, canaries.n[0] + canaries.n[1]);
	if (power > 0)
		verdict(fcinfo, "and the audit sees most of it", found.mu > power * claim, found.mu,
				power * claim, canaries.n[0] + canaries.n[1]);
	if (canaries.push > 0)
		verdict(fcinfo, "winners left their weight to others", canaries.biased > canaries.rows / 10,
				canaries.biased, (double) canaries.rows / 10, canaries.rows);
	return (Datum) 0;
}
