/*
 * audit_null.c
 *	  The null law: a row of an n-gram that nobody wrote must look like a row of
 *	  one with next to no weight, in its rate, its weight and the weight's last
 *	  bits.  Else a row would tell whether somebody wrote it.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "audit.h"

/* Cells of the released weight's law, and of its last bits. */
#define LAW_CELLS 64
#define LOW_BITS 5
#define LOW_CELLS (1 << LOW_BITS)

typedef struct NullLaw
{
	World *world;
	int64 sigma;
	double rate;	  /* P(X > threshold), threshold as the engine set it */
	int64 weight;	  /* next to nothing, but not nothing */
	double real_rate; /* P(weight + X > threshold): many trials see the difference */

	/* by 0: nobody wrote it, 1: somebody did, with next to no weight */
	int64 rows[2];
	int64 law[2][LAW_CELLS];
	int64 low[2][LOW_CELLS];
	int64 other_sigma; /* rows that state another sigma than the plan's */
} NullLaw;

/* One user has every second bigram. */
static bool
is_written(uint64 rank)
{
	return rank % 2 == 1;
}

static void
write_every_second(World *world)
{
	world_clear(world);
	world_words_user(world);
	world_user(world);
	for (uint64 rank = 1; rank < (uint64) world->words * world->words; rank += 2)
	{
		world_word(world, (uint32) (rank / world->words) + 1);
		world_word(world, (uint32) (rank % world->words) + 1);
		world_end_document(world);
	}
}

static void
note_null_row(void *state, const ReleasedGram *gram)
{
	NullLaw *null = state;
	int64 weight = lattice_units(gram->weight.value);
	double place;
	int real;

	if (gram->length != 2)
		return;
	real = is_written(world_rank(null->world, gram->text, gram->text_len));
	/* uniform on (0, 1): P(X >= weight), half of P(X = weight) off, given X > threshold */
	place = lattice_tail(null->sigma, weight - 1) / null->rate;
	null->rows[real]++;
	null->law[real][Min((int) (place * LAW_CELLS), LAW_CELLS - 1)]++;
	null->low[real][weight & (LOW_CELLS - 1)]++;
	null->other_sigma += lattice_units(gram->weight.stddev) != null->sigma;
}

static void
note_threshold(void *state, const GramSet *set, uint64 candidates, uint64 support, int64 threshold)
{
	NullLaw *null = state;

	if (set->length != 2)
		return;
	null->rate = lattice_tail(null->sigma, threshold);
	null->real_rate = lattice_tail(null->sigma, threshold - null->weight);
}

static void
ignore_entry(void *state, int level, const char *text, int len, int64 weight)
{
}

/*
 * audit_null_law(words int, sigma float8, rate float8, runs bigint)
 *
 * One user's words^2 / 2 bigrams against as many of nobody's.  sigma must be so
 * large that the user's weight, sqrt 2 / words, is lost in the noise.
 */
AUDIT_FUNCTION(audit_null_law)
{
	NullLaw null = {.world = world_create(PG_GETARG_INT32(0)),
					.sigma = (int64) rint(PG_GETARG_FLOAT8(1) * DP_LATTICE_ONE)};
	ExtractTrace trace = {
		.histogram = ignore_entry, .level = note_threshold, .state = &null};
	NgramPlan plan = world_plan(2, PRUNING_BOTH, PG_GETARG_FLOAT8(2) * null.world->words);
	int64 runs = PG_GETARG_INT64(3);
	int64 all = (int64) null.world->words * null.world->words;
	int64 grams = all / 2;
	Noise noise;

	verdicts_begin(fcinfo);
	plan.step[2].sigma = null.sigma;
	null.weight = (int64) floor(DP_LATTICE_ONE / sqrt((double) grams));
	/* the threshold is public and the same in every run: learn it from one */
	write_every_second(null.world);
	noise_init(&noise, false, 0);
	world_run(null.world, &plan, &noise, &trace, NULL, NULL);
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		world_run(null.world, &plan, &noise, NULL, note_null_row, &null);
	}
	noise_clear(&noise);
	verdict_p(fcinfo, "rate of nobody's rows",
			  binomial_p(runs * (all - grams), null.rows[0], null.rate), null.rows[0]);
	verdict_p(fcinfo, "rate of rows of negligible weight",
			  binomial_p(runs * grams, null.rows[1], null.real_rate), null.rows[1]);
	verdict_p(fcinfo, "weights of nobody's rows have the noise's law",
			  chi_square_p(null.law[0], LAW_CELLS), null.rows[0]);
	verdict_p(fcinfo, "weights of both kinds have one law",
			  chi_square_two_p(null.law[0], null.law[1], LAW_CELLS), null.rows[0] + null.rows[1]);
	verdict_p(fcinfo, "last bits of nobody's weights are uniform",
			  chi_square_p(null.low[0], LOW_CELLS), null.rows[0]);
	verdict_p(fcinfo, "last bits of both kinds have one law",
			  chi_square_two_p(null.low[0], null.low[1], LOW_CELLS), null.rows[0] + null.rows[1]);
	verdict(fcinfo, "every row states the sigma of the plan", null.other_sigma == 0,
			null.other_sigma, 0, null.rows[0] + null.rows[1]);
	return (Datum) 0;
}
