/*
 * audit_world.c
 *	  Small worlds: a list of users and their documents from which a corpus is
 *	  built, and the engine run, many thousand times, with no SQL between.
 *
 * Words are called by their numbers, four digits each, so that a released
 * n-gram's words can be read off its text.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "audit.h"

#define WORLD_MAX_WORDS 9999

World *
world_create(uint32 words)
{
	World *world = palloc0(sizeof(World));
	char name[WORLD_DIGITS + 1];

	if (words > WORLD_MAX_WORDS)
		elog(ERROR, "a world has at most %d words", WORLD_MAX_WORDS);
	world->vocabulary = vocabulary_create(SIZE_MAX, AUDIT_WORD_POINTS);
	world->words = words;
	world->capacity = 1024;
	world->script = palloc(world->capacity * sizeof(int32));
	for (uint32 i = 1; i <= words; i++)
	{
		snprintf(name, sizeof(name), "%04u", i);
		if (vocabulary_intern(world->vocabulary, name, WORLD_DIGITS) != i)
			elog(ERROR, "word %u has another id", i);
	}
	return world;
}

/* Nobody is left; the words stay. */
void
world_clear(World *world)
{
	world->n = 0;
}

static void
append(World *world, int32 step)
{
	if (world->n == world->capacity)
	{
		world->capacity *= 2;
		world->script = repalloc_huge(world->script, world->capacity * sizeof(int32));
	}
	world->script[world->n++] = step;
}

void
world_user(World *world)
{
	append(world, WORLD_USER);
}

/* word: 1 .. words */
void
world_word(World *world, uint32 word)
{
	Assert(word >= 1 && word <= world->words);
	append(world, (int32) word);
}

void
world_end_document(World *world)
{
	append(world, WORLD_DOCUMENT);
}

/* A user who writes every word, each by itself. */
void
world_words_user(World *world)
{
	world_user(world);
	for (uint32 i = 1; i <= world->words; i++)
	{
		world_word(world, i);
		world_end_document(world);
	}
}

/* What keyed choices know the user by; users are counted from 0. */
uint64
world_user_hash(uint64 user)
{
	return dp_mix64(user, 1);
}

static Corpus *
build_corpus(const World *world, bool paired, Size memory)
{
	Corpus *corpus = corpus_create(memory, paired);
	uint64 users = 0;

	for (Size i = 0; i < world->n; i++)
	{
		int32 step = world->script[i];

		if (step == WORLD_USER)
		{
			if (users > 0)
				corpus_end_user(corpus);
			corpus_begin_user(corpus, world_user_hash(users++));
		}
		else if (step == WORLD_DOCUMENT)
			corpus_end_document(corpus);
		else
			corpus_add_token(corpus, step);
	}
	if (users > 0)
		corpus_end_user(corpus);
	return corpus;
}

/* A release of either kind. */
typedef struct WorldRelease
{
	const NgramPlan *ngrams;
	const SetUnionPlan *set_union;
} WorldRelease;

static void
run_release(const World *world, WorldRelease release, Noise *noise, const ExtractTrace *trace,
			WorldVisitor visit, void *state, WorldRun *run)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "audit run",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	ReleasedGrams released = {0};
	bool paired = release.ngrams && release.ngrams->query.pruning == PRUNING_SINGLE;
	Extraction extraction = {.plan = release.ngrams,
							 .vocabulary = world->vocabulary,
							 .corpus = build_corpus(world, paired, run->memory),
							 .noise = noise,
							 .memory_limit = run->memory,
							 .trace = trace};

	noise->sampling_key = dp_random_u64(&noise->random);
	if (release.ngrams)
	{
		extract_ngrams(&extraction, &released);
		corpus_free(extraction.corpus);
	}
	else
		set_union_run(&extraction, release.set_union, &released);
	run->steps_done = extraction.steps_done;
	memcpy(run->mu2, extraction.mu2, sizeof(run->mu2));
	MemoryContextSwitchTo(old);
	for (Size i = 0; visit != NULL && i < released.n; i++)
		visit(state, &released.gram[i]);
	MemoryContextDelete(context);
}

/*
 * One release: a new corpus, a new sampling key, the noise that comes next.
 * "visit" sees each released row.
 */
void
world_run_within(const World *world, const NgramPlan *plan, Noise *noise,
				 const ExtractTrace *trace, WorldVisitor visit, void *state, WorldRun *run)
{
	run_release(world, (WorldRelease){.ngrams = plan}, noise, trace, visit, state, run);
}

void
world_run(const World *world, const NgramPlan *plan, Noise *noise, const ExtractTrace *trace,
		  WorldVisitor visit, void *state)
{
	WorldRun run = {.memory = WORLD_MEMORY};

	world_run_within(world, plan, noise, trace, visit, state, &run);
}

/* Likewise of a set union; each word that a user wrote is an item. */
void
world_run_union(const World *world, const SetUnionPlan *plan, Noise *noise,
				const ExtractTrace *trace, WorldVisitor visit, void *state)
{
	WorldRun run = {.memory = WORLD_MEMORY};

	run_release(world, (WorldRelease){.set_union = plan}, noise, trace, visit, state, &run);
}

/* The words of an n-gram's text, counted from 1; returns how many. */
int
world_gram(const char *text, int len, uint32 *word)
{
	int n = 0;

	for (int at = 0; at + WORLD_DIGITS <= len; at += WORLD_DIGITS + 1)
	{
		uint32 value = 0;

		for (int i = 0; i < WORLD_DIGITS; i++)
			value = value * 10 + (text[at + i] - '0');
		word[n++] = value;
	}
	return n;
}

/* An n-gram of length k as a number below words^k: its words as digits. */
uint64
world_rank(const World *world, const char *text, int len)
{
	uint32 word[NGRAM_MAX_LENGTH];
	int n = world_gram(text, len, word);
	uint64 rank = 0;

	for (int i = 0; i < n; i++)
		rank = rank * world->words + word[i] - 1;
	return rank;
}

/*
 * A plan of dpne by hand.  Level 1 has next to no noise and no threshold, so
 * that S_1 is every word that somebody wrote; levels above get their sigma from
 * the caller, and no bound.
 */
NgramPlan
world_plan(int max_length, NgramPruning pruning, double spurious)
{
	NgramPlan plan = {.query = {.method = METHOD_DPNE,
								.pruning = pruning,
								.max_length = max_length,
								.spurious = spurious,
								.noise_ratio = 1},
					  .nsteps = max_length};

	for (int k = 1; k <= max_length; k++)
	{
		plan.query.bound[k] = DP_MAX_KEYS;
		plan.step[k] = (NgramStep){k, k, .bound = DP_MAX_KEYS, .sigma = 1};
	}
	return plan;
}
