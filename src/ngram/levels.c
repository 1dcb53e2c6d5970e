/*
 * levels.c
 *	  The way from S_{k-1} to S_k of the methods that go level by level (Kim et
 *	  al. 2021, Algorithm 1, in the implicit form of Algorithm 2 without its errors).
 *
 * A k-gram is a pair of (k-1)-grams, so a source of texts (source.h) that knows S_1 .. S_{k-1}
 * can count level k by pairs of numbers; only the words of S_1 are ever spelled out.
 *
 * What is made of the k-grams, and why that is private: level_plain.c (dpne) and
 * level_rounds.c (dpne-mr).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "ngram/levels.h"
#include "ngram/source_local.h"
#include "ngram/word_rounds.h"

/* The words of the gram of length k with this key. */
static void
spell(const Levels *levels, int k, uint64 key, WordText *word)
{
	bool single = levels->extraction->plan->query.pruning == PRUNING_SINGLE;

	/* the last word is the suffix's suffix's ..., then go on with the prefix */
	for (; k > 1; k--)
	{
		uint32 last = (uint32) key;

		for (int j = k - 1; !single && j > 1; j--)
			last = (uint32) levels->set[j]->key[last - 1];
		word[k - 1] = levels->word[last - 1];
		key = levels->set[k - 1]->key[(key >> 32) - 1];
	}
	word[0] = levels->word[key - 1];
}

/* Tell a test of a k-gram of the support and its exact weight. */
void
level_trace(const Levels *levels, uint64 key, int64 weight)
{
	Extraction *extraction = levels->extraction;
	ReleasedGrams one = {0};
	WordText word[NGRAM_MAX_LENGTH];

	spell(levels, levels->k, key, word);
	released_add(&one, word, levels->k, (GramWeight){0});
	extraction->trace->histogram(extraction->trace->state, levels->k, one.gram->text,
								 one.gram->text_len, weight);
}

/* Make S_k from S_{k-1}; false when nothing longer can be released. */
static bool
extract_level(Levels *levels)
{
	bool more = levels->extraction->plan->query.method == METHOD_DPNE ? level_plain(levels) :
																		level_rounds(levels);
	GramSet *set = levels->set[levels->k];

	gramset_sort(set);
	levels->source->methods->grams_released(levels->source, set);
	return more && set->n > 0;
}

/* S_1 of dpne-mr, in rounds. */
static GramSet *
extract_first_rounds(Levels *levels)
{
	Extraction *extraction = levels->extraction;
	double spent;
	GramSet *words = extract_word_rounds(extraction, levels->source, &extraction->plan->words,
										 &levels->word, &spent);

	extract_spend(extraction, 1, spent);
	return words;
}

/* The rows of S_k. */
static void
append_rows(const Levels *levels, int k, ReleasedGrams *released)
{
	const GramSet *set = levels->set[k];
	WordText word[NGRAM_MAX_LENGTH];

	for (uint32 number = 1; number <= set->n; number++)
	{
		CHECK_FOR_INTERRUPTS();
		spell(levels, k, set->key[number - 1], word);
		released_add(released, word, k, set->weight[number - 1]);
	}
}

static void
tell_length(const Extraction *extraction, int k)
{
	if (extraction->progress != NULL)
		extraction->progress(k, extraction->plan->nsteps);
}

/* Level by level, from whatever source the texts have: by default this process's own. */
void
extract_levels(Extraction *extraction, ReleasedGrams *released)
{
	Levels levels = {.extraction = extraction, .source = extraction->source};
	CountSpec spec;
	bool more;

	if (levels.source == NULL)
	{
		spec = extract_count_spec(extraction->plan, extraction->noise);
		levels.source = source_local_create(&spec, extraction->vocabulary, extraction->corpus,
											extraction->memory_limit);
	}
	tell_length(extraction, 1);
	levels.set[1] = extraction->plan->query.method == METHOD_DPNE ?
						extract_words(extraction, levels.source, &levels.word) :
						extract_first_rounds(&levels);
	more = levels.set[1]->n > 0;
	for (levels.k = 2; more && levels.k <= extraction->plan->nsteps; levels.k++)
	{
		tell_length(extraction, levels.k);
		more = extract_level(&levels);
	}
	for (int k = 1; k <= extraction->plan->nsteps && levels.set[k] != NULL; k++)
		append_rows(&levels, k, released);
	if (extraction->source == NULL)
		levels.source->methods->close(levels.source);
}
