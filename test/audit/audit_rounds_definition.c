/*
 * audit_rounds_definition.c
 *	  dpne-mr against its definition (doc/privacy.md, "Rounds: dpne-mr"): a second
 *	  implementation, with plain loops over every string of k words, must release the same
 *	  rows, to the last bit of weight and standard deviation.
 *
 * Both draw the same noise, and take what is free to choose from the engine
 * (audit_rounds_reference.c).  So do they the members of V_k that nobody has and that came
 * up, once they are seen to be such.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "audit_rounds_reference.h"
#include "common/dp_sample.h"

typedef struct Definition
{
	Reference ref;
	uint64 seed;

	/* of the engine */
	ReleasedGram *row;
	Size rows;
	Size capacity;
	bool traced[MOST_LEVELS + 1];
	WorldRun run;

	/* verdicts */
	int64 runs;
	int64 compared;	   /* rows */
	int64 different;   /* rows that are not the same */
	int64 levels;	   /* of length 2 and more */
	int64 other_noise; /* levels with sigmas that the released rows don't explain */
	int64 spurious;
	int64 bad_spurious; /* rows of nobody's outside V_k, below the threshold, or off the lattice */
	int64 spilled;
} Definition;

/* ------------------------------------------------------------------------
 * what the engine did
 * ------------------------------------------------------------------------ */

static void
keep_row(void *state, const ReleasedGram *gram)
{
	Definition *def = state;

	if (def->rows == def->capacity)
	{
		def->capacity = Max(1024, 2 * def->capacity);
		def->row = def->row == NULL ?
					   palloc(def->capacity * sizeof(ReleasedGram)) :
					   repalloc_huge(def->row, def->capacity * sizeof(ReleasedGram));
	}
	def->row[def->rows] = *gram;
	def->row[def->rows++].text = pnstrdup(gram->text, gram->text_len);
}

static void
keep_bucket(void *state, int level, int bucket, uint64 members, uint64 support, int64 threshold)
{
	Definition *def = state;

	def->ref.bucket[level][bucket] = (BucketTrace){members, support, threshold};
	def->traced[level] = true;
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
 * comparison
 * ------------------------------------------------------------------------ */

/* A row of nobody's: it must be in V_k, and have passed its bucket's threshold. */
static void
take_spurious(Definition *def, Gram *gram, uint64 rank, const ReleasedGram *row)
{
	RowHistory history = row_history(&def->ref.noise, row->weight);

	gram->number = 1;
	gram->released = row->weight;
	def->spurious++;
	def->bad_spurious += !reference_valid(&def->ref, rank) || !history.on_lattice ||
						 history.statistic <= def->ref.bucket[def->ref.k][gram->bucket].threshold;
}

static void
compare_rows(Definition *def)
{
	uint64 missing = reference_released(&def->ref, def->ref.k);

	for (Size i = 0; i < def->rows; i++)
	{
		const ReleasedGram *row = &def->row[i];
		uint64 rank = world_rank(def->ref.world, row->text, row->text_len);
		Gram *gram = &def->ref.gram[def->ref.k][rank];

		if (row->length != def->ref.k)
			continue;
		if (!gram->supported && def->ref.k > 1)
		{
			take_spurious(def, gram, rank, row);
			continue;
		}
		def->compared++;
		if (gram->number == 0)
			def->different++;
		else
		{
			missing--;
			def->different += memcmp(&gram->released, &row->weight, sizeof(GramWeight)) != 0;
		}
	}
	def->different += missing;
}

static void
run_engine(Definition *def, Size memory)
{
	ExtractTrace trace = {.histogram = ignore_entry,
						  .level = ignore_level,
						  .bucket = keep_bucket,
						  .state = def};
	Noise noise;

	def->run.memory = memory;
	audit_log_clear();
	def->rows = 0;
	memset(def->traced, 0, sizeof(def->traced));
	noise_init(&noise, true, def->seed);
	world_run_within(def->ref.world, def->ref.plan, &noise, &trace, keep_row, def, &def->run);
	noise_init(&def->ref.draws, true, def->seed);
	def->ref.draws.sampling_key = noise.sampling_key;
	def->spilled += audit_log_spilled();
	def->runs++;
}

/* Are the level's sigmas what the schedule makes of the rows before it? */
static bool
is_scheduled(const Definition *def)
{
	const Reference *ref = &def->ref;
	double left = ref->plan->mu2;
	double mu2;

	for (int k = 1; k < ref->k; k++)
		left -= def->run.mu2[k];
	/* of a unit in 10^9 less than all may be spent */
	mu2 = reference_budget(ref, left * (1 - 1e-9));
	for (int j = 0; j < ref->noise.rounds; j++)
	{
		double share = (double) ref->noise.coefficient[j] / (double) ref->noise.total;
		double sigma = DP_LATTICE_ONE / sqrt(mu2 * share);

		if (fabs((double) ref->noise.sigma[j] - sigma) > 3 + 1e-9 * sigma)
			return false;
	}
	return true;
}

/* One run of the engine, and the definition of it, as far as the engine came. */
static void
run_and_compare(Definition *def, Size memory)
{
	Reference *ref = &def->ref;

	run_engine(def, memory);
	for (int k = 1; k <= ref->plan->nsteps; k++)
	{
		CHECK_FOR_INTERRUPTS();
		ref->k = k;
		memset(ref->gram[k], 0, ref->size[k] * sizeof(Gram));
		if (k == 1)
			reference_words(ref);
		else if (def->traced[k] && level_noise(&ref->noise, k, ref->plan->query.rounds))
		{
			def->other_noise += !is_scheduled(def);
			reference_level(ref);
			def->levels++;
		}
		else
			break;
		compare_rows(def);
		reference_number(ref);
	}
}

/* A random world, in which few words are frequent and n-grams repeat. */
static void
fill_world(World *world, int users, int tokens, DpRandom *random)
{
	world_clear(world);
	for (int user = 0; user < users; user++)
	{
		world_user(world);
		for (uint64 left = dp_uniform(random, 2 * tokens); left > 0; left--)
		{
			uint64 most = 1 + dp_uniform(random, world->words);

			world_word(world, (uint32) dp_uniform(random, most) + 1);
			if (dp_uniform(random, 8) == 0)
				world_end_document(world);
		}
	}
}

static void
report(FunctionCallInfo fcinfo, const Definition *def)
{
	verdict(fcinfo, "rows equal the definition's, weights and deviations to the last bit",
			def->compared > 0 && def->different == 0, def->different, 0, def->compared);
	verdict(fcinfo, "each bucket has the members and the support that it should",
			def->levels > 0 && def->ref.wrong_buckets == 0, def->ref.wrong_buckets, 0, def->levels);
	verdict(fcinfo, "each level's noise is what the schedule makes of the rows before it",
			def->other_noise == 0, def->other_noise, 0, def->levels);
	verdict(fcinfo, "nobody's rows are in V_k, passed their threshold, and are on the lattice",
			def->bad_spurious == 0, def->bad_spurious, 0, def->spurious);
	verdict(fcinfo, "at most eta min(|S_k-1|, |V_k|) of nobody's are expected",
			def->ref.most_expected <= 1 + 1e-9, def->ref.most_expected, 1, def->levels);
	verdict(fcinfo, "rounds left their mark on the rows, and all levels came",
			(def->ref.biased >= def->compared / 100 || def->ref.plan->query.rounds == 1) &&
				def->levels >= def->runs * (def->ref.plan->nsteps - 1),
			def->ref.biased, (double) def->compared / 100, def->levels);
}

/*
 * audit_rounds_definition(words int, users int, tokens int, max_length int, rounds int,
 *						   bound int, schedule text, pruning text, mu float8, eta float8,
 *						   memory bigint, runs int, seed bigint, cap int)
 *
 * tokens: of a user, on average; bound: D_1; cap: of a user's n-grams of a longer length;
 * memory: in bytes, so little that files are needed, or 2^28.
 */
AUDIT_FUNCTION(audit_rounds_definition)
{
	Definition def = {.ref.world = world_create(PG_GETARG_INT32(0))};
	int max_length = PG_GETARG_INT32(3);
	double mu2 = PG_GETARG_FLOAT8(8) * PG_GETARG_FLOAT8(8);
	Size memory = PG_GETARG_INT64(10);
	NgramPlan plan =
		rounds_plan(max_length, audit_pruning(text_to_cstring(PG_GETARG_TEXT_PP(7))),
					PG_GETARG_INT32(4), mu2, PG_GETARG_FLOAT8(9));
	int cap = PG_GETARG_INT32(13);
	DpRandom random;

	verdicts_begin(fcinfo);
	if (max_length > MOST_LEVELS)
		elog(ERROR, "too long");
	plan.query.schedule = audit_schedule(text_to_cstring(PG_GETARG_TEXT_PP(6)),
										 &plan.query.noise_ratio);
	if (word_rounds_plan(WORD_ROUNDS_CUMULATIVE, mu2 / 5, 0.5, PG_GETARG_INT32(5), 0.02,
						 &plan.words) != DP_OK)
		elog(ERROR, "no plan");
	for (int k = 2; k <= max_length; k++)
		plan.step[k].bound = cap;
	def.ref.plan = &plan;
	def.ref.size[0] = 1;
	for (int k = 1; k <= max_length; k++)
	{
		def.ref.size[k] = def.ref.size[k - 1] * def.ref.world->words;
		def.ref.gram[k] = palloc_extended(def.ref.size[k] * sizeof(Gram), MCXT_ALLOC_HUGE);
	}
	dp_random_seeded(&random, PG_GETARG_INT64(12), 0, 0);
	for (int run = 0; run < PG_GETARG_INT32(11); run++)
	{
		def.seed = dp_random_u64(&random);
		fill_world(def.ref.world, PG_GETARG_INT32(1), PG_GETARG_INT32(2), &random);
		run_and_compare(&def, memory);
	}
	report(fcinfo, &def);
	verdict(fcinfo, "what found no room in memory was in files, and only that",
			(memory < WORLD_MEMORY) == (def.spilled > 0), def.spilled, memory < WORLD_MEMORY,
			def.runs);
	return (Datum) 0;
}
