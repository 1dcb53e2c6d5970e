/*
 * source_local.c
 *	  Texts in this process: a vocabulary and a corpus.
 *
 * One pass over the users makes a level: at k = 2 it first turns ids of words into their
 * numbers in S_1, at k >= 3 pairs of numbers into numbers of S_{k-1} (walk.h).  Positions
 * that are not there become 0 for good, runs that can bear nothing any more are dropped, and
 * users without any leave the corpus, so each level has less to do.  Then each user's
 * k-grams are bounded and go where they are counted.
 *
 * Where few k-grams are possible, because the vocabulary or V_k is small, they have slots:
 * the word's id, the rank in V_k.  Finding repetitions, summing and numbering are then a
 * place in an array each, several times faster than a hash table.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "common/dp_weights.h"
#include "ngram/extract.h"
#include "ngram/fingerprint.h"
#include "ngram/prefetch.h"
#include "ngram/source_local.h"
#include "ngram/walk.h"

/* Users with up to so many n-grams have their weight in a table. */
#define KNOWN_WEIGHTS 128

/* A word that was released, by its key. */
typedef struct WordEntry
{
	uint64 key;
	uint32 number; /* in S_1 */
	char status;
} WordEntry;

#define SH_PREFIX word_table
#define SH_ELEMENT_TYPE WordEntry
#define SH_KEY_TYPE uint64
#define SH_KEY key
#define SH_HASH_KEY(tb, k) ((uint32) dp_splitmix_finish(k))
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct LocalSource
{
	TextSource base;
	MemoryContext context;
	const CountSpec *spec;
	Vocabulary *vocabulary;
	Corpus *corpus;
	Size memory_limit;

	/* words; those without ids stand in the corpus as escapes */
	bool escapes;
	uint32 *word_number;		   /* by id, in S_1; until level 2 is counted */
	word_table_hash *word_numbers; /* the same by key, where there are escapes */

	uint32 words;							  /* |S_1| */
	int rewritten;							  /* S_k whose numbers the corpus has; 0: words' ids */
	Pairs *numbers;							  /* of S_{k-1} */
	Candidates *members_before;				  /* V_{k-1}, k >= 3 */
	Candidates *members;					  /* V_k, k >= 2 */
	const GramSet *set[NGRAM_MAX_LENGTH + 1]; /* from S_2 on */
	RoundLists *lists;
	int64 weight[KNOWN_WEIGHTS];
} LocalSource;

/* Takes one user's distinct k-grams, bounded in number, at least one. */
typedef void (*LocalSink)(void *state, const UserGrams *grams);

/* ------------------------------------------------------------------------
 * a pass over the users
 * ------------------------------------------------------------------------ */

/* The word of an escape. */
static inline ItemKey
escaped_item(const uint32 *id)
{
	return (ItemKey){(uint64) id[2] << 32 | id[1], (uint64) id[4] << 32 | id[3]};
}

/* ids and escapes become numbers of S_1, one a position */
static void
rewrite_words(const LocalSource *source, CorpusUser *user)
{
	uint32 out = 0;

	for (uint32 p = 0; p < user->n; p++)
	{
		uint32 id = user->id[p];
		uint32 number;

		if (source->escapes && id == CORPUS_WIDE)
		{
			WordEntry *entry = word_table_lookup(source->word_numbers,
												 escaped_item(user->id + p).key);

			number = entry == NULL ? 0 : entry->number;
			p += CORPUS_WIDE_WORDS - 1;
		}
		else
			number = source->word_number[id];
		if (user->token)
			user->token[out] = number;
		user->id[out++] = number;
	}
	user->n = out;
}

static void
take_words(const LocalSource *source, const CorpusUser *user, UserGrams *grams)
{
	/* of id at [id], which is not 0 */
	const VocabularyWord *word = vocabulary_words(source->vocabulary) - 1;

	for (uint32 p = 0; p < user->n; p++)
	{
		uint32 id = user->id[p];

		if (id == 0)
			continue;
		if (grams->slots > 0)
			user_grams_add_slot(grams, id, word[id].item);
		else if (source->escapes && id == CORPUS_WIDE)
		{
			ItemKey item = escaped_item(user->id + p);

			item_list_add(&grams->items, item.key, item.content);
			p += CORPUS_WIDE_WORDS - 1;
		}
		else
			item_list_add(&grams->items, word[id].item.key, word[id].item.content);
	}
}

static void
take_pairs(const LocalSource *source, const CorpusUser *user, int k, UserGrams *grams)
{
	NgramPruning pruning = source->spec->pruning;

	if (grams->slots == 0)
	{
		walk_items(user, k, pruning, &grams->items);
		return;
	}
	for (uint32 p = 0; p < user->n; p++)
	{
		uint64 key = walk_key(user, p, k, pruning);

		if (key != 0)
			user_grams_add_slot(grams, (uint32) pair_rank(source->members, key),
								(ItemKey){key, 0});
	}
}

/* What of a user is left at level k >= 2; false if that is nothing. */
static bool
narrow_user(const LocalSource *source, int k, CorpusUser *user)
{
	NgramPruning pruning = source->spec->pruning;

	if (source->rewritten < k - 1)
	{
		if (k == 2)
			rewrite_words(source, user);
		else
			walk_rewrite(user, k - 1, pruning, source->numbers);
		walk_drop_dead(user, pruning);
	}
	return user->n > 0;
}

/* How many slots the n-grams of level k have, 0 if they are too many. */
static uint32
slots_of(const LocalSource *source, int k)
{
	uint64 slots = k == 1 ? (uint64) vocabulary_size(source->vocabulary) + 1 :
							source->members->total;

	if (k == 1 && source->escapes)
		return 0;
	/* a slot may take a mark, a sum, a number, an item and its place */
	if (slots > PAIRS_DENSE || slots * 64 > source->memory_limit)
		return 0;
	return (uint32) slots;
}

/* The pass of level k; "draw" tells apart choices of those of a user's n-grams that count. */
static void
scan_users(LocalSource *source, int k, int draw, LocalSink sink, void *state)
{
	uint64 step_key = source->spec->sampling_key ^ NOISE_ROUND(k, draw);
	bool rewrite = k > 1;
	CorpusScan scan;
	CorpusUser user;
	UserGrams grams;

	user_grams_init(&grams, k, slots_of(source, k));
	corpus_scan_begin(&scan, source->corpus, rewrite);
	while (corpus_scan_next(&scan, &user))
	{
		user_grams_begin(&grams, source->spec->bound[k], dp_mix64(step_key, user.hash));
		if (k == 1)
			take_words(source, &user, &grams);
		else if (!narrow_user(source, k, &user))
			continue;
		else
			take_pairs(source, &user, k, &grams);
		user_grams_finish(&grams);
		if (grams.items.n > 0)
			sink(state, &grams);
		if (rewrite)
			corpus_scan_keep(&scan, &user);
	}
	corpus_scan_end(&scan);
	user_grams_free(&grams);
	source->rewritten = k - 1;
}

/* ------------------------------------------------------------------------
 * levels
 * ------------------------------------------------------------------------ */

/* V_{j+1}, from S_j. */
static Candidates *
members_after(const LocalSource *source, int j)
{
	GramSet words = {.length = 1, .n = source->words};
	uint32 middles = j == 1 ? 0 : j == 2 ? source->words :
										   source->set[j - 1]->n;

	return candidates_create(j == 1 ? &words : source->set[j], source->words, middles,
							 source->spec->pruning);
}

/* Prepare what level k is found by. */
static void
begin_level(LocalSource *source, int k)
{
	MemoryContext old = MemoryContextSwitchTo(source->context);

	if (k > 1 && source->rewritten < k - 1)
	{
		if (source->members_before != NULL)
			candidates_free(source->members_before);
		source->members_before = source->members;
		if (source->numbers != NULL)
			pairs_free(source->numbers);
		source->numbers = k == 2 ? NULL : pairs_create(source->set[k - 1], source->members_before);
		source->members = members_after(source, k - 1);
	}
	MemoryContextSwitchTo(old);
}

/* The corpus has been rewritten: what its ids were is not needed any more. */
static void
forget_words(LocalSource *source)
{
	if (source->word_number == NULL)
		return;
	pfree(source->word_number);
	source->word_number = NULL;
	if (source->word_numbers != NULL)
		word_table_destroy(source->word_numbers);
	source->word_numbers = NULL;
}

/* ------------------------------------------------------------------------
 * one histogram
 * ------------------------------------------------------------------------ */

typedef struct LocalHistogram
{
	const LocalSource *source;
	Histogram *histogram; /* where n-grams have no slots */
	int64 *sum;			  /* else, by slot */
} LocalHistogram;

static inline int64
weight_of(const LocalSource *source, Size n)
{
	return n < KNOWN_WEIGHTS ? source->weight[n] : extract_user_weight(n);
}

static void
add_user(void *state, const UserGrams *grams)
{
	LocalHistogram *local = state;
	const ItemList *items = &grams->items;
	int64 weight = weight_of(local->source, items->n);

	if (grams->slots == 0)
		for (Size i = 0; i < items->n; i++)
		{
			if (i + PREFETCH_DISTANCE < items->n)
				histogram_prefetch(local->histogram, items->item[i + PREFETCH_DISTANCE]);
			histogram_add(local->histogram, items->item[i], weight);
		}
	else
		for (Size i = 0; i < items->n; i++)
			local->sum[grams->slot[i]] += weight;
}

/* The n-gram of level k that has this slot. */
static ItemKey
item_of_slot(const LocalSource *source, int k, uint32 slot)
{
	return k == 1 ? vocabulary_item(source->vocabulary, slot) :
					level_item(candidate_key(source->members, slot), k);
}

/*
 * The pass that counts level k.  The sums of n-grams that have slots are visited in the
 * end; others are added to the histogram.
 */
static void
count_level(LocalSource *source, int k, Histogram *histogram, HistogramVisitor visit, void *arg)
{
	uint32 slots = slots_of(source, k);
	LocalHistogram local = {.source = source, .histogram = histogram};

	if (slots > 0)
		local.sum = palloc0(slots * sizeof(int64));
	scan_users(source, k, 0, add_user, &local);
	if (k == 2)
		forget_words(source);
	for (uint32 slot = 0; slot < slots; slot++)
	{
		HistogramEntry entry = {.weight = local.sum[slot]};

		CHECK_FOR_INTERRUPTS();
		if (local.sum[slot] == 0)
			continue;
		entry.key = item_of_slot(source, k, slot);
		visit(arg, &entry);
	}
	if (slots > 0)
		pfree(local.sum);
}

static void
local_histogram(TextSource *base, int k, HistogramVisitor visit, void *arg)
{
	LocalSource *source = (LocalSource *) base;
	Histogram *histogram;

	begin_level(source, k);
	if (slots_of(source, k) > 0)
	{
		count_level(source, k, NULL, visit, arg);
		return;
	}
	histogram = histogram_create(extract_count_memory(source->memory_limit, k));
	count_level(source, k, histogram, NULL, NULL);
	histogram_consume(histogram, visit, arg);
}

static void
add_entry(void *histogram, const HistogramEntry *entry)
{
	histogram_add(histogram, entry->key, entry->weight);
}

/* Level k's sums, added to what others have counted. */
void
source_local_add(TextSource *base, int k, Histogram *histogram)
{
	LocalSource *source = (LocalSource *) base;

	begin_level(source, k);
	count_level(source, k, histogram, add_entry, histogram);
}

/* ------------------------------------------------------------------------
 * rounds
 * ------------------------------------------------------------------------ */

static void
list_user(void *state, const UserGrams *grams)
{
	round_lists_add_user(state, grams);
}

static void
local_rounds_begin(TextSource *base, int k, int draw)
{
	LocalSource *source = (LocalSource *) base;

	begin_level(source, k);
	source->lists = round_lists_create(extract_count_memory(source->memory_limit, k), k,
									   slots_of(source, k));
	scan_users(source, k, draw, list_user, source->lists);
	if (k == 2)
		forget_words(source);
	round_lists_finish(source->lists);
}

static void
local_rounds_visit(TextSource *base, RoundVisitor visit, void *arg)
{
	round_lists_visit(((LocalSource *) base)->lists, visit, arg);
}

static void
local_rounds_count(TextSource *base, RoundJudge judge, void *arg)
{
	round_lists_count(((LocalSource *) base)->lists, judge, arg);
}

/* Between begin and end: the users' lists. */
RoundLists *
source_local_lists(TextSource *base)
{
	return ((LocalSource *) base)->lists;
}

static void
local_rounds_end(TextSource *base)
{
	LocalSource *source = (LocalSource *) base;

	round_lists_free(source->lists);
	source->lists = NULL;
}

/* ------------------------------------------------------------------------
 * what was released
 * ------------------------------------------------------------------------ */

static void
local_spell(TextSource *base, const ItemKey *word, uint32 n, WordText *text)
{
	vocabulary_spell(((LocalSource *) base)->vocabulary, word, n, text);
}

/* The words' numbers by key, until level 2 is counted. */
static word_table_hash *
index_words(LocalSource *source, const uint64 *key, uint32 n)
{
	word_table_hash *table = word_table_create(source->context, n, NULL);

	for (uint32 i = 0; i < n; i++)
	{
		bool found;

		word_table_insert(table, key[i], &found)->number = i + 1;
	}
	return table;
}

static void
local_words_released(TextSource *base, const uint64 *key, uint32 n)
{
	LocalSource *source = (LocalSource *) base;
	uint32 size = vocabulary_size(source->vocabulary);
	word_table_hash *table = index_words(source, key, n);

	source->words = n;
	source->word_number = MemoryContextAllocExtended(source->context,
													 ((Size) size + 1) * sizeof(uint32),
													 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 id = 1; id <= size; id++)
	{
		WordEntry *entry = word_table_lookup(table, vocabulary_item(source->vocabulary, id).key);

		CHECK_FOR_INTERRUPTS();
		if (entry != NULL)
			source->word_number[id] = entry->number;
	}
	if (source->escapes)
		source->word_numbers = table;
	else
		word_table_destroy(table);
	vocabulary_forget(source->vocabulary);
}

static void
local_grams_released(TextSource *base, const GramSet *set)
{
	((LocalSource *) base)->set[set->length] = set;
}

static void
local_close(TextSource *base)
{
	LocalSource *source = (LocalSource *) base;

	vocabulary_forget(source->vocabulary);
	MemoryContextDelete(source->context);
}

static const SourceMethods local_methods = {
	.histogram = local_histogram,
	.rounds_begin = local_rounds_begin,
	.rounds_visit = local_rounds_visit,
	.rounds_count = local_rounds_count,
	.rounds_end = local_rounds_end,
	.spell = local_spell,
	.words_released = local_words_released,
	.grams_released = local_grams_released,
	.close = local_close};

TextSource *
source_local_create(const CountSpec *spec, Vocabulary *vocabulary, Corpus *corpus,
					Size memory_limit)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "dpngram texts",
												  ALLOCSET_DEFAULT_SIZES);
	LocalSource *source = MemoryContextAllocZero(context, sizeof(LocalSource));

	source->base.methods = &local_methods;
	source->context = context;
	source->spec = spec;
	source->vocabulary = vocabulary;
	source->escapes = !vocabulary_complete(vocabulary);
	source->corpus = corpus;
	source->memory_limit = memory_limit;
	for (Size n = 1; n < KNOWN_WEIGHTS; n++)
		source->weight[n] = extract_user_weight(n);
	return &source->base;
}
