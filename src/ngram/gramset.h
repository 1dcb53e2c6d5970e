/*
 * gramset.h
 *	  Released n-grams of one length, numbered.
 */
#ifndef DPNGRAM_GRAMSET_H
#define DPNGRAM_GRAMSET_H

#include "postgres.h"

#include "ngram/gram_weight.h"
#include "ngram/vocabulary.h"

/*
 * S_k.  Gram number i (1..n) stands at index i - 1, in an order that depends
 * on the released sets alone: S_1 by the bytes of its words, longer ones by
 * key.  For k >= 2 the key is (number of the prefix in S_{k-1}) << 32 |
 * (number of the last token in S_1 under single-side pruning, else number of
 * the suffix in S_{k-1}).
 */
typedef struct GramSet
{
	int length; /* k */
	uint32 n;
	uint32 capacity;
	uint64 *key;
	GramWeight *weight;
} GramSet;

extern GramSet *gramset_create(int length);
extern void gramset_add(GramSet *set, uint64 key, GramWeight weight);
extern void gramset_sort(GramSet *set);

/* What is returned to the caller in the end. */
typedef struct ReleasedGram
{
	int length;
	GramWeight weight;
	char *text; /* tokens joined by one blank */
	int text_len;
} ReleasedGram;

typedef struct ReleasedGrams
{
	ReleasedGram *gram;
	Size n;
	Size capacity;
} ReleasedGrams;

extern void released_add(ReleasedGrams *grams, const WordText *word, int length,
						 GramWeight weight);
extern void released_add_ids(ReleasedGrams *grams, const Vocabulary *vocabulary,
							 const uint32 *ids, int length, GramWeight weight);
extern void released_sort(ReleasedGrams *grams, Size from);

#endif /* DPNGRAM_GRAMSET_H */
