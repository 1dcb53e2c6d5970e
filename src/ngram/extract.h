/*
 * extract.h
 *	  Private extraction of n-grams from a corpus.
 */
#ifndef DPNGRAM_EXTRACT_H
#define DPNGRAM_EXTRACT_H

#include "ngram/candidates.h"
#include "ngram/corpus.h"
#include "ngram/gramset.h"
#include "ngram/histogram.h"
#include "ngram/noise.h"
#include "ngram/plan.h"
#include "ngram/source.h"
#include "ngram/vocabulary.h"

/*
 * What a test sees of the inside; a release never has one.  All but plan, sets
 * and |V_k| is private data.
 *
 * histogram: one n-gram of a level's support and its exact weight in lattice
 * units, before noise.  (Set unions of several lengths don't know the words
 * at that point and call it with text NULL.)
 * level: a level's result, its |V_k| (0 for set unions), the size of its
 * support and its threshold (0 in dpne-mr, where each bucket has one).
 * bucket: in dpne-mr the same of each bucket of V_k; may be NULL.
 */
typedef struct ExtractTrace
{
	void (*histogram)(void *state, int level, const char *text, int len, int64 weight);
	void (*level)(void *state, const GramSet *set, uint64 candidates, uint64 support,
				  int64 threshold);
	void (*bucket)(void *state, int level, int bucket, uint64 members, uint64 support,
				   int64 threshold);
	void *state;
} ExtractTrace;

typedef struct Extraction
{
	const NgramPlan *plan;
	Vocabulary *vocabulary;
	Corpus *corpus;
	Noise *noise;
	TextSource *source;		   /* methods by level: of the texts, instead of the two before */
	Size memory_limit;		   /* bytes, for all that a level takes beside the corpus */
	const ExtractTrace *trace; /* NULL but in tests */

	/* a length is begun; may be NULL */
	void (*progress)(int length, int max_length);

	/* out: steps whose noise was drawn, and where it was decided on the way its mu^2 */
	int steps_done;
	double mu2[NGRAM_MAX_LENGTH + 1];
} Extraction;

/*
 * Of what hash tables may take in all the corpus has a half.  The other half: at level 1
 * one part for the words and one for what is counted; from then on, the words being gone,
 * a quarter of it for the ranks of the support and the rest for what is counted.
 */
extern Size extract_memory_limit(void);
extern Size extract_vocabulary_memory(void);
extern Size extract_sort_memory(const Extraction *extraction);
extern Size extract_count_memory(Size memory_limit, int k);
extern void extract_ngrams(Extraction *extraction, ReleasedGrams *released);

/* union.c: one set union of all n-grams of a step's lengths */
extern void extract_union(Extraction *extraction, int step, ReleasedGrams *released);

/* level_plain.c: S_1 in one round */
extern GramSet *extract_words(Extraction *extraction, TextSource *source, WordText **words);

/* levels.c: the levels of dpne and dpne-mr */
extern void extract_levels(Extraction *extraction, ReleasedGrams *released);

/* what all do to one user's n-grams */
extern CountSpec extract_count_spec(const NgramPlan *plan, const Noise *noise);
extern int64 extract_user_weight(Size s);
extern void extract_begin_user(const Extraction *extraction, int step, ItemList *items,
							   uint64 user_hash);
extern double extract_left(const Extraction *extraction);
extern void extract_spend(Extraction *extraction, int step, double mu2);
extern void extract_bound(ItemList *items);
extern void extract_contribute(const ItemList *items, Histogram *histogram);

#endif /* DPNGRAM_EXTRACT_H */
