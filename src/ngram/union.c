/*
 * union.c
 *	  Differentially private set union (DPSU) of n-grams with the weighted
 *	  Gaussian policy (Gopi et al. 2020; DPNE paper, Algorithm 6).
 *
 * Sensitivity: see extract.c.  On the n-grams that some other user has too,
 * the step is a Gaussian mechanism of l2 sensitivity 1.  An n-gram that one
 * user alone has must not appear because of that user: with t such n-grams
 * each weighs at most 1/sqrt(t), and the threshold is so high that any of them
 * passes with probability at most the step's share of delta, for every t up to
 * the bound (dp_union_threshold).
 *
 * All lengths of a step are in one histogram.  An n-gram of several words is
 * identified by two polynomials modulo the prime 2^61 - 1 at secret random points:
 * one in its token ids, and one in fingerprints of its words, which are polynomials
 * in their bytes.  Two given n-grams of words of up to B bytes agree in both with
 * probability at most 31 (B + 31) / 2^122, whoever wrote them: no text can be made
 * to collide, as it could under a hash that is known beforehand.  The second knows
 * nothing of other users' words, as ids do, and so is the n-gram's content too.
 * Two passes surround it: the first counts, the second finds the words of the few
 * released n-grams and verifies that no two n-grams share a fingerprint, so a
 * wrong n-gram can't be returned.  A single word is its own id.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "ngram/extract.h"
#include "ngram/fingerprint.h"

/* How a step tells n-grams of several words apart; all zero where it has none. */
typedef struct Fingerprints
{
	uint64 id_point; /* of the polynomials; secret, random */
	uint64 word_point;
	uint64 *word; /* fingerprints of the vocabulary's words, by id; NULL: single words only */
} Fingerprints;

/* The n-grams of a step's lengths, position by position. */
typedef struct GramWalk
{
	const Vocabulary *vocabulary;
	const CorpusUser *user;
	const Fingerprints *fingerprints;
	uint32 start; /* position of the first token */
	int length;
	int min_length;
	int max_length;
	uint64 words; /* the polynomial in the words' fingerprints */
	ItemKey key;
} GramWalk;

/* One more token of the n-gram that the walk is at. */
static inline void
walk_append(GramWalk *walk, uint32 id)
{
	const Fingerprints *prints = walk->fingerprints;

	walk->length++;
	walk->key.key = fingerprint_step(walk->key.key, prints->id_point, id);
	if (prints->word == NULL)
	{
		walk->key.content = vocabulary_item(walk->vocabulary, id).content;
		return;
	}
	walk->words = fingerprint_step(walk->words, prints->word_point, prints->word[id]);
	walk->key.content = dp_splitmix_finish(walk->words); /* all 64 bits are used */
}

/* Advance to the next n-gram of the user; false after the last. */
static bool
walk_next(GramWalk *walk)
{
	const CorpusUser *user = walk->user;

	for (;;)
	{
		uint32 at = walk->start + walk->length;

		if (walk->length == walk->max_length || at >= user->n || user->id[at] == 0)
		{
			if (++walk->start >= user->n)
				return false;
			CHECK_FOR_INTERRUPTS();
			walk->length = 0;
			walk->words = 0;
			walk->key = (ItemKey){0, 0};
			continue;
		}
		walk_append(walk, user->id[at]);
		if (walk->length >= walk->min_length)
			return true;
	}
}

static void
walk_user(GramWalk *walk, const CorpusUser *user)
{
	walk->user = user;
	walk->start = UINT32_MAX; /* the first step leads to position 0 */
	walk->length = walk->max_length;
}

/* A released n-gram while its words are being found. */
typedef struct Found
{
	ItemKey key;
	int64 weight;
	int length; /* 0: not found yet */
	uint32 token[NGRAM_MAX_LENGTH];
} Found;

typedef struct UnionState
{
	Extraction *extraction;
	int step;
	uint64 support;
	Found *found;
	Size nfound;
	Size capacity;
} UnionState;

static void
remember(UnionState *state, ItemKey key, int64 weight)
{
	if (state->nfound == state->capacity)
	{
		state->capacity = Max(2 * state->capacity, 64);
		if (state->found == NULL)
			state->found = palloc(state->capacity * sizeof(Found));
		else
			state->found = repalloc_huge(state->found, state->capacity * sizeof(Found));
	}
	state->found[state->nfound++] = (Found){.key = key, .weight = weight};
}

static void
trace_entry(const Extraction *extraction, const NgramStep *step, const HistogramEntry *entry)
{
	const char *text = NULL;
	int len = 0;

	if (step->max_length == 1)
		text = vocabulary_string(extraction->vocabulary, (uint32) entry->key.key, &len);
	extraction->trace->histogram(extraction->trace->state, step->max_length, text, len,
								 entry->weight);
}

/* Noise and threshold for one n-gram of the histogram. */
static void
judge(void *arg, const HistogramEntry *entry)
{
	UnionState *state = arg;
	Extraction *extraction = state->extraction;
	const NgramStep *step = &extraction->plan->step[state->step];
	int64 noisy = entry->weight + noise_gaussian(extraction->noise, step->sigma,
												 state->step, entry->key.content);

	state->support++;
	if (extraction->trace)
		trace_entry(extraction, step, entry);
	if (noisy > step->threshold)
		remember(state, entry->key, noisy);
}

static GramWalk
start_walk(Extraction *extraction, int step, const Fingerprints *fingerprints)
{
	GramWalk walk = {
		.vocabulary = extraction->vocabulary,
		.fingerprints = fingerprints,
		.min_length = extraction->plan->step[step].min_length,
		.max_length = extraction->plan->step[step].max_length};

	return walk;
}

static Histogram *
count(Extraction *extraction, int step, const Fingerprints *fingerprints)
{
	Histogram *histogram = histogram_create(extraction->memory_limit);
	GramWalk walk = start_walk(extraction, step, fingerprints);
	CorpusScan scan;
	CorpusUser user;
	ItemList items;

	item_list_init(&items);
	corpus_scan_begin(&scan, extraction->corpus, false);
	while (corpus_scan_next(&scan, &user))
	{
		walk_user(&walk, &user);
		extract_begin_user(extraction, step, &items, user.hash);
		while (walk_next(&walk))
			item_list_add(&items, walk.key.key, walk.key.content);
		extract_bound(&items);
		extract_contribute(&items, histogram);
	}
	corpus_scan_end(&scan);
	item_list_free(&items);
	return histogram;
}

/* Count, draw noise, and leave in state what passed the threshold. */
static void
union_release(UnionState *state, const Fingerprints *fingerprints)
{
	Histogram *histogram = count(state->extraction, state->step, fingerprints);

	histogram_consume(histogram, judge, state);
	state->extraction->steps_done++;
}

static void
note_words(Found *found, const GramWalk *walk)
{
	const uint32 *token = walk->user->id + walk->start;

	if (found->length == 0)
	{
		found->length = walk->length;
		memcpy(found->token, token, walk->length * sizeof(uint32));
	}
	else if (found->length != walk->length ||
			 memcmp(found->token, token, walk->length * sizeof(uint32)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR), errmsg("two n-grams share a fingerprint")));
}

/* The second pass: find the words of what was released. */
static void
find_words(UnionState *state, const Fingerprints *fingerprints)
{
	Extraction *extraction = state->extraction;
	Histogram *index = histogram_create(SIZE_MAX / 4);
	GramWalk walk = start_walk(extraction, state->step, fingerprints);
	CorpusScan scan;
	CorpusUser user;

	for (Size i = 0; i < state->nfound; i++)
		histogram_add(index, state->found[i].key, i);
	corpus_scan_begin(&scan, extraction->corpus, false);
	while (corpus_scan_next(&scan, &user))
	{
		walk_user(&walk, &user);
		while (walk_next(&walk))
		{
			HistogramEntry *entry = histogram_find(index, walk.key);

			if (entry != NULL)
				note_words(&state->found[entry->weight], &walk);
		}
	}
	corpus_scan_end(&scan);
	histogram_free(index);
}

/* The polynomial in a word's bytes; begins with 1, so that the length counts too. */
static uint64
word_fingerprint(const Vocabulary *vocabulary, uint32 id, uint64 point)
{
	int len;
	const char *bytes = vocabulary_string(vocabulary, id, &len);
	uint64 print = 1;

	for (int i = 0; i < len; i++)
		print = fingerprint_step(print, point, (unsigned char) bytes[i]);
	return print;
}

static Fingerprints
fingerprints_create(Extraction *extraction, int step)
{
	DpRandom *random = noise_stream(extraction->noise, step);
	Fingerprints prints = {0};
	uint32 words = vocabulary_size(extraction->vocabulary);
	uint64 byte_point;

	prints.id_point = fingerprint_point(random);
	prints.word_point = fingerprint_point(random);
	byte_point = fingerprint_point(random);
	if (extraction->plan->step[step].max_length == 1)
		return prints;
	prints.word = MemoryContextAllocHuge(CurrentMemoryContext,
										 ((Size) words + 1) * sizeof(uint64));
	for (uint32 id = 1; id <= words; id++)
	{
		CHECK_FOR_INTERRUPTS();
		prints.word[id] = word_fingerprint(extraction->vocabulary, id, byte_point);
	}
	return prints;
}

/* One set union: release the n-grams of the step's lengths. */
void
extract_union(Extraction *extraction, int step, ReleasedGrams *released)
{
	UnionState state = {.extraction = extraction, .step = step};
	Fingerprints fingerprints = fingerprints_create(extraction, step);

	union_release(&state, &fingerprints);
	if (state.nfound > 0)
		find_words(&state, &fingerprints);
	for (Size i = 0; i < state.nfound; i++)
	{
		const Found *found = &state.found[i];

		released_add_ids(released, extraction->vocabulary, found->token, found->length,
						 gram_weight(found->weight, extraction->plan->step[step].sigma));
	}
	if (extraction->trace)
	{
		GramSet set = {.length = extraction->plan->step[step].max_length,
					   .n = (uint32) state.nfound};

		extraction->trace->level(extraction->trace->state, &set, 0, state.support,
								 extraction->plan->step[step].threshold);
	}
	if (fingerprints.word)
		pfree(fingerprints.word);
	if (state.found)
		pfree(state.found);
}
