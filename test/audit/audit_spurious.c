/*
 * audit_spurious.c
 *	  The n-grams that nobody wrote: their number and their choice, against a V_k
 *	  that is built here member by member.
 *
 * In each run V_k, the support and the threshold are known, so that each
 * member of V_k outside the support should be released by a trial of its own
 * with probability p = P(X > threshold).
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "audit.h"
#include "common/dp_sample.h"

#define LEVELS 4
#define COUNT_CELLS 20

typedef struct Spurious
{
	World *world;
	int level; /* the one that is judged */
	NgramPruning pruning;
	double eta;
	uint64 size[LEVELS + 1]; /* words^k */

	/* one run, by rank */
	bool *released[LEVELS + 1];
	bool *support;
	bool *valid;
	uint64 candidates; /* |V_k| as the engine has it */
	int64 threshold;
	int64 sigma;
	bool traced;

	/* all runs */
	int64 runs;
	int64 skipped;		 /* runs that didn't come as far as the level */
	int64 wrong_count;	 /* runs in which |V_k| was wrong */
	int64 outside_valid; /* rows and support outside V_k */
	int64 wrong_rule;	 /* thresholds that don't follow the rule for eta */
	double expected;	 /* spurious rows, and what they should be */
	double variance;
	int64 rows;
	int64 count_cells[COUNT_CELLS];
	double *gram_expected; /* the same by n-gram */
	double *gram_variance;
	double *gram_rows;
} Spurious;

static void
note_support(void *state, int level, const char *text, int len, int64 weight)
{
	Spurious *spurious = state;

	if (level == spurious->level)
		spurious->support[world_rank(spurious->world, text, len)] = true;
}

static void
note_level(void *state, const GramSet *set, uint64 candidates, uint64 support, int64 threshold)
{
	Spurious *spurious = state;

	if (set->length != spurious->level)
		return;
	spurious->candidates = candidates;
	spurious->threshold = threshold;
	spurious->traced = true;
}

static void
note_gram(void *state, const ReleasedGram *gram)
{
	Spurious *spurious = state;

	uint64 rank = world_rank(spurious->world, gram->text, gram->text_len);

	spurious->released[gram->length][rank] = true;
}

/*
 * V_k by the definition: (S_1 x S_{k-1}) n (S_{k-1} x S_1), or S_{k-1} x S_1.
 * Returns |V_k|; *previous gets |S_{k-1}|.
 */
static uint64
build_valid(Spurious *spurious, uint64 *previous)
{
	const bool *words = spurious->released[1];
	const bool *shorter = spurious->released[spurious->level - 1];
	uint64 n = spurious->world->words;
	uint64 total = 0;

	*previous = 0;
	for (uint64 i = 0; i < spurious->size[spurious->level - 1]; i++)
		*previous += shorter[i];
	for (uint64 rank = 0; rank < spurious->size[spurious->level]; rank++)
	{
		uint64 first = rank / spurious->size[spurious->level - 1];
		bool valid = shorter[rank / n] && words[rank % n];

		if (spurious->pruning == PRUNING_BOTH)
			valid = valid && words[first] &&
					shorter[rank % spurious->size[spurious->level - 1]];
		spurious->valid[rank] = valid;
		total += valid;
	}
	return total;
}

/* The lowest threshold with P(X > threshold) <= eta min(1, |S_{k-1}|/|V_k|). */
static bool
threshold_follows_rule(const Spurious *spurious, uint64 previous, uint64 total)
{
	double p = spurious->eta * Min(1.0, (double) previous / (double) total);

	return lattice_tail(spurious->sigma, spurious->threshold) <= p * (1 + 1e-9) &&
		   lattice_tail(spurious->sigma, spurious->threshold - 1) >= p * (1 - 1e-9);
}

static void
judge_run(Spurious *spurious, Noise *noise)
{
	double p = lattice_tail(spurious->sigma, spurious->threshold);
	uint64 previous;
	uint64 total = build_valid(spurious, &previous);
	int64 outside = 0;
	int64 rows = 0;
	double u;

	for (uint64 rank = 0; rank < spurious->size[spurious->level]; rank++)
	{
		bool released = spurious->released[spurious->level][rank];

		if (!spurious->valid[rank])
		{
			spurious->outside_valid += released + spurious->support[rank];
			continue;
		}
		if (spurious->support[rank])
			continue;
		outside++;
		rows += released;
		spurious->gram_expected[rank] += p;
		spurious->gram_variance[rank] += p * (1 - p);
		spurious->gram_rows[rank] += released;
	}
	spurious->wrong_count += spurious->candidates != total;
	spurious->wrong_rule += !threshold_follows_rule(spurious, previous, total);
	spurious->rows += rows;
	spurious->expected += outside * p;
	spurious->variance += outside * p * (1 - p);
	u = binomial_uniform(outside, rows, p, ldexp(dp_uniform(&noise->random, 1 << 30), -30));
	spurious->count_cells[Max(0, Min((int) (u * COUNT_CELLS), COUNT_CELLS - 1))]++;
}

static void
run_once(Spurious *spurious, const NgramPlan *plan, Noise *noise)
{
	ExtractTrace trace = {
		.histogram = note_support, .level = note_level, .state = spurious};

	for (int k = 1; k <= LEVELS; k++)
		memset(spurious->released[k], 0, spurious->size[k]);
	memset(spurious->support, 0, spurious->size[spurious->level]);
	spurious->traced = false;
	spurious->sigma = plan->step[spurious->level].sigma;
	world_run(spurious->world, plan, noise, &trace, note_gram, spurious);
	if (spurious->traced)
		judge_run(spurious, noise);
	else
		spurious->skipped++;
	spurious->runs++;
}

/*
 * How far the n-grams' numbers of releases are from what they should be, all
 * together: a sum of squares of independent, nearly normal numbers.
 */
static double
gram_p(const Spurious *spurious)
{
	double statistic = 0;
	int cells = 0;

	for (uint64 rank = 0; rank < spurious->size[spurious->level]; rank++)
	{
		double off = spurious->gram_rows[rank] - spurious->gram_expected[rank];

		if (spurious->gram_expected[rank] < 10)
			continue;
		statistic += off * off / spurious->gram_variance[rank];
		cells++;
	}
	return cells == 0 ? 0 : chi_square_tail(statistic, cells);
}

/* Two-sided, for a sum of so many trials that it is normal. */
static double
normal_p(double off, double variance)
{
	return erfc(fabs(off) / sqrt(2 * variance));
}

static void
report(FunctionCallInfo fcinfo, const Spurious *spurious)
{
	int64 judged = spurious->runs - spurious->skipped;

	verdict(fcinfo, "|V_k| equals the count of its members in every run",
			judged > 0 && spurious->wrong_count == 0, spurious->wrong_count, 0, judged);
	verdict(fcinfo, "support and rows lie in V_k", spurious->outside_valid == 0,
			spurious->outside_valid, 0, judged);
	verdict(fcinfo, "the threshold is that of eta min(1, |S_k-1| / |V_k|)",
			spurious->wrong_rule == 0, spurious->wrong_rule, 0, judged);
	verdict_p(fcinfo, "number of spurious rows over all runs",
			  normal_p(spurious->rows - spurious->expected, spurious->variance), spurious->rows);
	verdict_p(fcinfo, "number of spurious rows in a run is Binomial(|V_k| - |supp|, p)",
			  chi_square_p(spurious->count_cells, COUNT_CELLS), judged);
	verdict_p(fcinfo, "all members of V_k outside the support are as likely", gram_p(spurious),
			  spurious->rows);
}

/*
 * A text of "level" words for a share of all texts of that length, ten a user.
 * Which ones is random, how many is not, and at least one is left out: with all
 * of V_k written there would be nothing to judge.
 */
static void
write_share(Spurious *spurious, double share, Noise *noise)
{
	uint32 words = spurious->world->words;
	uint64 total = spurious->size[spurious->level];
	uint64 wanted = Min((uint64) (share * total), total - 1);
	uint64 written = 0;

	world_words_user(spurious->world);
	for (uint64 rank = 0; rank < total; rank++)
	{
		if (dp_uniform(&noise->random, total - rank) >= wanted - written)
			continue;
		if (written++ % 10 == 0)
			world_user(spurious->world);
		for (int k = spurious->level - 1; k >= 0; k--)
			world_word(spurious->world, (uint32) (rank / spurious->size[k] % words) + 1);
		world_end_document(spurious->world);
	}
}

static void
allocate(Spurious *spurious)
{
	uint64 n;

	spurious->size[0] = 1;
	for (int k = 1; k <= LEVELS; k++)
	{
		spurious->size[k] = spurious->size[k - 1] * spurious->world->words;
		spurious->released[k] = palloc0(spurious->size[k]);
	}
	n = spurious->size[spurious->level];
	spurious->support = palloc0(n);
	spurious->valid = palloc0(n);
	spurious->gram_expected = palloc0(n * sizeof(double));
	spurious->gram_variance = palloc0(n * sizeof(double));
	spurious->gram_rows = palloc0(n * sizeof(double));
}

/*
 * audit_spurious(level int, pruning text, words int, share float8, eta float8,
 *				  sigma float8, runs bigint)
 *
 * share: of all texts of "level" words, how many somebody wrote: near 0 V_k is
 * nearly all spurious, near 1 nearly exhausted by the support.  Levels below are
 * as noisy as the one judged, so that V_k is another in every run.
 */
AUDIT_FUNCTION(audit_spurious)
{
	Spurious spurious = {.level = PG_GETARG_INT32(0),
						 .pruning = audit_pruning(text_to_cstring(PG_GETARG_TEXT_PP(1))),
						 .world = world_create(PG_GETARG_INT32(2)),
						 .eta = PG_GETARG_FLOAT8(4)};
	NgramPlan plan = world_plan(spurious.level, spurious.pruning, spurious.eta);
	int64 runs = PG_GETARG_INT64(6);
	Noise noise;

	verdicts_begin(fcinfo);
	if (spurious.level < 2 || spurious.level > LEVELS)
		elog(ERROR, "level out of range");
	for (int k = 2; k <= spurious.level; k++)
		plan.step[k].sigma = (int64) rint(PG_GETARG_FLOAT8(5) * DP_LATTICE_ONE);
	allocate(&spurious);
	noise_init(&noise, false, 0);
	write_share(&spurious, PG_GETARG_FLOAT8(3), &noise);
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		run_once(&spurious, &plan, &noise);
	}
	noise_clear(&noise);
	report(fcinfo, &spurious);
	return (Datum) 0;
}
