/*
 * audit_rounds_law.c
 *	  The n-grams that nobody wrote in dpne-mr: how many come up in each bucket, which, and
 *	  whether anything in their rows tells them from n-grams of next to no weight.
 *
 * One user has half of all n-grams, each with a weight that is lost in the noise; nobody
 * has the others.  V_k is built member by member and put into buckets by a prediction of
 * the audit's own, in each run anew: level 1 is nothing but noise, so that the released
 * weights, and by them the buckets, are others each time.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "audit_rounds.h"
#include "common/dp_sample.h"

#define LEVELS 3

/* The noise of level 1, in units of a user's weight: predictions of all sizes. */
#define WORD_NOISE 800

/* Cells of a count, a place in the bucket, and a row: its statistic and its history. */
#define COUNT_CELLS 20
#define PLACE_CELLS 20
#define LAW_CELLS 4
#define HISTORY_CELLS 4
#define ROW_CELLS (LAW_CELLS * HISTORY_CELLS)
#define LOW_CELLS 32

/* Cells that hold less than this, of both samples, are thrown together. */
#define FULL_CELL 25

typedef struct Member
{
	uint64 rank;
	int bucket;
	double predicted;
} Member;

typedef struct Law
{
	World *world;
	int level; /* the one that is judged */
	NgramPruning pruning;
	double eta;
	int rounds;
	uint64 size[LEVELS + 1];

	/* one run */
	GramWeight *row[LEVELS + 1]; /* by rank; stddev 0: not released */
	Member *member;				 /* those that nobody has */
	uint64 outside[BUCKETS];
	uint64 members[BUCKETS];
	uint64 support[BUCKETS];
	uint64 traced[BUCKETS];
	uint64 traced_support[BUCKETS];
	int64 threshold[BUCKETS];
	double rate[BUCKETS];
	double words; /* what S_1 weighs */
	bool reached;
	LevelNoise noise;

	/* all runs; of two kinds: 0 nobody has it, 1 somebody, with next to no weight */
	int64 runs; /* that came to the level */
	int64 wrong_buckets;
	int64 high_rates; /* of more than 1/4, or too many expected */
	int64 outside_rows;
	int64 off_lattice;
	int64 rows[2][BUCKETS];
	double expected[2][BUCKETS];
	double variance[2][BUCKETS];
	int64 count_cells[COUNT_CELLS];
	int64 by_rank[PLACE_CELLS];
	int64 by_prediction[PLACE_CELLS];
	int64 place[2][PLACE_CELLS];
	int64 law[2][BUCKETS][ROW_CELLS];
	int64 low[2][LOW_CELLS];
} Law;

/* ------------------------------------------------------------------------
 * the world
 * ------------------------------------------------------------------------ */

/* Half of all n-grams, in no order. */
static bool
is_written(uint64 rank)
{
	return dp_mix64(rank, 3) % 2 == 1;
}

static void
write_half(Law *law)
{
	world_words_user(law->world);
	world_user(law->world);
	for (uint64 rank = 0; rank < law->size[law->level]; rank++)
	{
		if (!is_written(rank))
			continue;
		for (int k = law->level - 1; k >= 0; k--)
			world_word(law->world, (uint32) (rank / law->size[k] % law->world->words) + 1);
		world_end_document(law->world);
	}
}

static void
keep_row(void *state, const ReleasedGram *gram)
{
	Law *law = state;

	law->row[gram->length][world_rank(law->world, gram->text, gram->text_len)] = gram->weight;
}

static void
keep_bucket(void *state, int level, int bucket, uint64 members, uint64 support, int64 threshold)
{
	Law *law = state;

	if (level != law->level)
		return;
	law->traced[bucket] = members;
	law->traced_support[bucket] = support;
	law->threshold[bucket] = threshold;
	law->reached = true;
}

static void
ignore_level(void *state, const GramSet *set, uint64 candidates, uint64 support, int64 threshold)
{
}

static void
ignore_entry(void *state, int level, const char *text, int len, int64 weight)
{
}

/* ------------------------------------------------------------------------
 * V_k, member by member
 * ------------------------------------------------------------------------ */

static bool
is_released(const Law *law, int level, uint64 rank)
{
	return law->row[level][rank].stddev > 0;
}

static bool
is_valid(const Law *law, uint64 rank)
{
	uint64 prefix = rank / law->world->words;

	if (!is_released(law, law->level - 1, prefix) ||
		!is_released(law, 1, rank % law->world->words))
		return false;
	return law->pruning == PRUNING_SINGLE ||
		   (is_released(law, 1, rank / law->size[law->level - 1]) &&
			is_released(law, law->level - 1, rank % law->size[law->level - 1]));
}

static double
sum_of_words(const Law *law)
{
	double sum = 0;

	for (uint64 i = 0; i < law->size[1]; i++)
		if (is_released(law, 1, i))
			sum += Max(0, law->row[1][i].value);
	return sum;
}

/* As the definition has it: h(xy) h(yz) / h(y). */
static double
prediction_of(const Law *law, uint64 rank)
{
	bool single = law->pruning == PRUNING_SINGLE;
	double left = law->row[law->level - 1][rank / law->world->words].value;
	double right = single ? law->row[1][rank % law->world->words].value :
							law->row[law->level - 1][rank % law->size[law->level - 1]].value;
	double middle = law->words;

	if (law->level > 2 && !single)
		middle = law->row[law->level - 2]
						 [rank / law->world->words % law->size[law->level - 2]]
							 .value;
	return left <= 0 || right <= 0 || middle <= 0 ? 0 : left * right / middle;
}

static uint64
count_rows(const Law *law, int level)
{
	uint64 n = 0;

	for (uint64 i = 0; i < law->size[level]; i++)
		n += is_released(law, level, i);
	return n;
}

/* Find all members, and the buckets; returns how many nobody has. */
static Size
find_members(Law *law)
{
	double expected = 0;
	uint64 all = 0;
	double bound;
	Size n = 0;

	law->words = sum_of_words(law);
	memset(law->outside, 0, sizeof(law->outside));
	memset(law->members, 0, sizeof(law->members));
	memset(law->support, 0, sizeof(law->support));
	for (uint64 rank = 0; rank < law->size[law->level]; rank++)
		all += is_valid(law, rank);
	bound = law->eta * Min(all, count_rows(law, law->level - 1));
	for (uint64 rank = 0; rank < law->size[law->level]; rank++)
	{
		Member member = {.rank = rank};

		if (!is_valid(law, rank))
			continue;
		member.predicted = prediction_of(law, rank);
		member.bucket = bucket_of_prediction(&law->noise, member.predicted);
		law->members[member.bucket]++;
		if (is_written(rank))
			law->support[member.bucket]++;
		else
		{
			law->outside[member.bucket]++;
			law->member[n++] = member;
		}
	}
	for (int b = 0; b < BUCKETS; b++)
	{
		law->wrong_buckets += law->members[b] != law->traced[b];
		law->wrong_buckets += law->support[b] != law->traced_support[b];
		law->rate[b] = law->members[b] == 0 ? 0 :
											  (double) combined_tail(&law->noise,
																	 law->threshold[b]);
		expected += law->rate[b] * law->members[b];
		law->high_rates += law->rate[b] > 0.25;
	}
	law->high_rates += expected > bound * (1 + 1e-9);
	return n;
}

/* ------------------------------------------------------------------------
 * one run
 * ------------------------------------------------------------------------ */

static int
compare_members(const void *a, const void *b)
{
	const Member *x = a;
	const Member *y = b;

	if (x->bucket != y->bucket)
		return x->bucket - y->bucket;
	if (x->predicted != y->predicted)
		return x->predicted < y->predicted ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static double
draw_uniform(DpRandom *random)
{
	return (double) (dp_random_u64(random) >> 11) * 0x1p-53;
}

/* Where in their buckets the members stand that came up, in the order of the array. */
static void
note_places(Law *law, Size n, DpRandom *random, int64 *cells, uint64 *rows)
{
	uint64 at[BUCKETS] = {0};

	for (Size i = 0; i < n; i++)
	{
		const Member *member = &law->member[i];
		double place = at[member->bucket]++;

		if (!is_released(law, law->level, member->rank))
			continue;
		rows[member->bucket]++;
		place = (place + draw_uniform(random)) / law->outside[member->bucket];
		cells[Min((int) (place * PLACE_CELLS), PLACE_CELLS - 1)]++;
	}
}

static void
note_counts(Law *law, const uint64 *rows, DpRandom *random)
{
	for (int b = 0; b < BUCKETS; b++)
	{
		double p = law->rate[b];
		double u;

		if (law->members[b] == 0)
			continue;
		law->rows[0][b] += rows[b];
		law->expected[0][b] += p * law->outside[b];
		law->variance[0][b] += p * (1 - p) * law->outside[b];
		law->expected[1][b] += p * law->support[b];
		law->variance[1][b] += p * (1 - p) * law->support[b];
		u = binomial_uniform(law->outside[b], rows[b], p, draw_uniform(random));
		law->count_cells[Min((int) (u * COUNT_CELLS), COUNT_CELLS - 1)]++;
	}
}

/* A row's biases: none below 1, few, some, many. */
static int
history_cell(const LevelNoise *noise, const RowHistory *row)
{
	double spent = row->spent / (double) (noise->total * DP_BIAS_ONE);

	return spent == 1 ? 0 : spent > 0.8 ? 1 :
						spent > 0.5		? 2 :
										  3;
}

static void
note_row(Law *law, uint64 rank)
{
	RowHistory row = row_history(&law->noise, law->row[law->level][rank]);
	int real = is_written(rank);
	int bucket = bucket_of_prediction(&law->noise, prediction_of(law, rank));
	double place;

	if (!is_valid(law, rank) || row.statistic <= law->threshold[bucket])
	{
		law->outside_rows++;
		return;
	}
	law->off_lattice += !row.on_lattice;
	law->rows[1][bucket] += real;
	/* uniform on (0, 1): P(S >= statistic) given that S > threshold */
	place = (double) (combined_tail(&law->noise, row.statistic - 1) / law->rate[bucket]);
	law->place[real][Min((int) (place * PLACE_CELLS), PLACE_CELLS - 1)]++;
	law->law[real][bucket][Min((int) (place * LAW_CELLS), LAW_CELLS - 1) * HISTORY_CELLS +
						   history_cell(&law->noise, &row)]++;
	law->low[real][row.statistic & (LOW_CELLS - 1)]++;
}

static void
run_once(Law *law, const NgramPlan *plan, Noise *noise)
{
	ExtractTrace trace = {.histogram = ignore_entry,
						  .level = ignore_level,
						  .bucket = keep_bucket,
						  .state = law};
	uint64 rows[BUCKETS] = {0};
	uint64 again[BUCKETS] = {0};
	Size n;

	for (int k = 1; k <= law->level; k++)
		memset(law->row[k], 0, law->size[k] * sizeof(GramWeight));
	law->reached = false;
	audit_log_clear();
	world_run(law->world, plan, noise, &trace, keep_row, law);
	if (!law->reached || !level_noise(&law->noise, law->level, law->rounds))
		return;
	law->runs++;
	n = find_members(law);
	note_places(law, n, &noise->random, law->by_rank, rows);
	note_counts(law, rows, &noise->random);
	qsort(law->member, n, sizeof(Member), compare_members);
	note_places(law, n, &noise->random, law->by_prediction, again);
	for (uint64 rank = 0; rank < law->size[law->level]; rank++)
		if (is_released(law, law->level, rank))
			note_row(law, rank);
}

/* ------------------------------------------------------------------------
 * verdicts
 * ------------------------------------------------------------------------ */

/* How far the buckets' numbers of rows are from what they should be, all together. */
static double
rates_p(const Law *law, int kind)
{
	double statistic = 0;
	int cells = 0;

	for (int b = 0; b < BUCKETS; b++)
	{
		double off = law->rows[kind][b] - law->expected[kind][b];

		if (law->variance[kind][b] < FULL_CELL)
			continue;
		statistic += off * off / law->variance[kind][b];
		cells++;
	}
	return cells == 0 ? 0 : chi_square_tail(statistic, cells);
}

/* Have rows of both kinds one law, bucket by bucket? */
static double
two_kinds_p(const Law *law)
{
	double least = 1;
	int buckets = 0;

	for (int b = 0; b < BUCKETS; b++)
	{
		int64 cell[2][ROW_CELLS + 1] = {{0}};
		int cells = 1; /* the first has what is thrown together */

		for (int i = 0; i < ROW_CELLS; i++)
		{
			int64 both = law->law[0][b][i] + law->law[1][b][i];
			int at = both < FULL_CELL ? 0 : cells++;

			for (int kind = 0; kind < 2; kind++)
				cell[kind][at] += law->law[kind][b][i];
		}
		if (cells < 3)
			continue;
		buckets++;
		if (cell[0][0] + cell[1][0] < FULL_CELL)
			least = Min(least, chi_square_two_p(cell[0] + 1, cell[1] + 1, cells - 1));
		else
			least = Min(least, chi_square_two_p(cell[0], cell[1], cells));
	}
	return buckets == 0 ? 0 : Min(1, least * buckets);
}

static int64
all_rows(const Law *law, int kind)
{
	int64 n = 0;

	for (int b = 0; b < BUCKETS; b++)
		n += law->rows[kind][b];
	return n;
}

static void
report(FunctionCallInfo fcinfo, const Law *law)
{
	int64 nobodys = all_rows(law, 0);
	int64 both = nobodys + all_rows(law, 1);

	verdict(fcinfo, "|V_k| and the support of each bucket equal the count of their members",
			law->runs > 0 && law->wrong_buckets == 0, law->wrong_buckets, 0, law->runs);
	verdict(fcinfo, "at most eta min(|S_k-1|, |V_k|) of nobody's are expected, no rate above 1/4",
			law->high_rates == 0, law->high_rates, 0, law->runs);
	verdict(fcinfo, "all rows are in V_k, and above their bucket's threshold",
			law->outside_rows == 0, law->outside_rows, 0, both);
	verdict(fcinfo, "weights and deviations of both kinds are on the lattice",
			law->off_lattice == 0, law->off_lattice, 0, both);
	verdict_p(fcinfo, "numbers of nobody's rows, bucket by bucket", rates_p(law, 0), nobodys);
	verdict_p(fcinfo, "in each run it is Binomial(|V_k^b| - |supp_b|, p_b)",
			  chi_square_p(law->count_cells, COUNT_CELLS), law->runs);
	verdict_p(fcinfo, "nobody's members of a bucket are as likely, from first to last",
			  chi_square_p(law->by_rank, PLACE_CELLS), nobodys);
	verdict_p(fcinfo, "and from the least predicted to the most",
			  chi_square_p(law->by_prediction, PLACE_CELLS), nobodys);
	verdict_p(fcinfo, "numbers of rows of negligible weight, bucket by bucket", rates_p(law, 1),
			  both - nobodys);
	verdict_p(fcinfo, "nobody's statistics have the noise's law",
			  chi_square_p(law->place[0], PLACE_CELLS), nobodys);
	verdict_p(fcinfo, "weights and deviations of both kinds have one law", two_kinds_p(law), both);
	verdict_p(fcinfo, "last bits of nobody's statistics are uniform",
			  chi_square_p(law->low[0], LOW_CELLS), nobodys);
	verdict_p(fcinfo, "last bits of both kinds have one law",
			  chi_square_two_p(law->low[0], law->low[1], LOW_CELLS), both);
}

/*
 * audit_rounds_law(level int, pruning text, words int, rounds int, sigma float8, eta float8,
 *					runs bigint)
 *
 * sigma: of a level's statistic, in units of a user's weight; so large that one user's
 * weight is lost in it.
 */
AUDIT_FUNCTION(audit_rounds_law)
{
	Law law = {.level = PG_GETARG_INT32(0),
			   .pruning = audit_pruning(text_to_cstring(PG_GETARG_TEXT_PP(1))),
			   .world = world_create(PG_GETARG_INT32(2)),
			   .rounds = PG_GETARG_INT32(3),
			   .eta = PG_GETARG_FLOAT8(5)};
	double sigma = PG_GETARG_FLOAT8(4);
	int64 runs = PG_GETARG_INT64(6);
	NgramPlan plan;
	Noise noise;

	verdicts_begin(fcinfo);
	if (law.level < 2 || law.level > LEVELS)
		elog(ERROR, "level out of range");
	plan = rounds_plan(law.level, law.pruning, law.rounds, (law.level - 1) / (sigma * sigma),
					   law.eta);
	plan.words.round[0].sigma = WORD_NOISE * DP_LATTICE_ONE;
	plan.words.round[0].stddev = WORD_NOISE * DP_LATTICE_ONE;
	plan.words.round[0].threshold = -(INT64CONST(1) << 60);
	law.size[0] = 1;
	for (int k = 1; k <= law.level; k++)
	{
		law.size[k] = law.size[k - 1] * law.world->words;
		law.row[k] = palloc(law.size[k] * sizeof(GramWeight));
	}
	law.member = palloc(law.size[law.level] * sizeof(Member));
	write_half(&law);
	noise_init(&noise, false, 0);
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		run_once(&law, &plan, &noise);
	}
	noise_clear(&noise);
	report(fcinfo, &law);
	return (Datum) 0;
}
