/*
 * words.c
 *	  S_1: words found by their keys, and numbered by their texts.
 *
 * Level 1 counts words by the keys that a source gives them (fingerprint.h), whose
 * order is random.  Only of those that are released are the texts asked for; by their
 * bytes the words get their numbers, so that these depend on what is released alone.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "ngram/words.h"

void
found_words_init(FoundWords *found, const Extraction *extraction)
{
	memset(found, 0, sizeof(*found));
	found->capacity = 256;
	found->word = palloc(found->capacity * sizeof(FoundWord));
	if (extraction->trace)
		found->traced = histogram_create(SIZE_MAX / 4);
}

/* A word is released. */
void
found_words_add(FoundWords *found, ItemKey item, GramWeight weight)
{
	if (found->n == found->capacity)
	{
		found->capacity *= 2;
		found->word = repalloc_huge(found->word, found->capacity * sizeof(FoundWord));
	}
	found->word[found->n++] = (FoundWord){item, weight};
}

/* For a test: a word of the support and its exact weight. */
void
found_words_trace(FoundWords *found, ItemKey key, int64 weight)
{
	if (found->traced != NULL)
		histogram_add(found->traced, key, weight);
}

/* ------------------------------------------------------------------------ */

typedef struct Traced
{
	ItemKey *item;
	int64 *weight;
	uint32 n;
	uint32 capacity;
} Traced;

static void
note_traced(void *state, const HistogramEntry *entry)
{
	Traced *traced = state;

	if (traced->n == traced->capacity)
	{
		traced->capacity = Max(2 * traced->capacity, 256);
		traced->item = traced->item == NULL ?
						   palloc(traced->capacity * sizeof(ItemKey)) :
						   repalloc_huge(traced->item, traced->capacity * sizeof(ItemKey));
		traced->weight = traced->weight == NULL ?
							 palloc(traced->capacity * sizeof(int64)) :
							 repalloc_huge(traced->weight, traced->capacity * sizeof(int64));
	}
	traced->item[traced->n] = entry->key;
	traced->weight[traced->n++] = entry->weight;
}

/* Tell a test of level 1's support, all at once since texts come so. */
static void
trace_support(FoundWords *found, const Extraction *extraction, TextSource *source)
{
	Traced traced = {0};
	WordText *text;

	histogram_consume(found->traced, note_traced, &traced);
	text = MemoryContextAllocHuge(CurrentMemoryContext, (traced.n + 1) * sizeof(WordText));
	source->methods->spell(source, traced.item, traced.n, text);
	for (uint32 i = 0; i < traced.n; i++)
		extraction->trace->histogram(extraction->trace->state, 1, text[i].bytes, text[i].len,
									 traced.weight[i]);
}

/* ------------------------------------------------------------------------ */

/* A released word with its text, to be sorted. */
typedef struct SpelledWord
{
	FoundWord word;
	WordText text;
} SpelledWord;

static int
compare_spelled(const void *pa, const void *pb)
{
	const WordText *a = &((const SpelledWord *) pa)->text;
	const WordText *b = &((const SpelledWord *) pb)->text;
	int order = memcmp(a->bytes, b->bytes, Min(a->len, b->len));

	return order != 0 ? order : a->len - b->len;
}

/* The released words with their texts, in the order of their bytes. */
static SpelledWord *
spell_found(const FoundWords *found, TextSource *source)
{
	MemoryContext context = CurrentMemoryContext;
	SpelledWord *spelled = MemoryContextAllocHuge(context, (found->n + 1) * sizeof(SpelledWord));
	ItemKey *item = MemoryContextAllocHuge(context, (found->n + 1) * sizeof(ItemKey));
	WordText *text = MemoryContextAllocHuge(context, (found->n + 1) * sizeof(WordText));

	for (Size i = 0; i < found->n; i++)
		item[i] = found->word[i].item;
	source->methods->spell(source, item, (uint32) found->n, text);
	for (Size i = 0; i < found->n; i++)
	{
		/* words are looked up by their keys: nothing is found where another has the same */
		if (text[i].bytes == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR), errmsg("two words share a fingerprint")));
		spelled[i] = (SpelledWord){found->word[i], text[i]};
	}
	qsort(spelled, found->n, sizeof(SpelledWord), compare_spelled);
	pfree(item);
	pfree(text);
	return spelled;
}

/*
 * S_1 of the words found, numbered by their bytes; text gets their texts, at index
 * number - 1.  The source is told.  What was found is freed.
 */
GramSet *
found_words_number(FoundWords *found, const Extraction *extraction, TextSource *source,
				   WordText **text)
{
	GramSet *words = gramset_create(1);
	SpelledWord *spelled;
	uint64 *key;

	if (found->traced != NULL)
		trace_support(found, extraction, source);
	spelled = spell_found(found, source);
	key = MemoryContextAllocHuge(CurrentMemoryContext, (found->n + 1) * sizeof(uint64));
	*text = MemoryContextAllocHuge(CurrentMemoryContext, (found->n + 1) * sizeof(WordText));
	for (Size i = 0; i < found->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		gramset_add(words, i + 1, spelled[i].word.weight);
		key[i] = spelled[i].word.item.key;
		(*text)[i] = spelled[i].text;
	}
	source->methods->words_released(source, key, words->n);
	pfree(spelled);
	pfree(key);
	pfree(found->word);
	return words;
}
