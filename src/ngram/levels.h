/*
 * levels.h
 *	  What the methods that go level by level share.
 */
#ifndef DPNGRAM_LEVELS_H
#define DPNGRAM_LEVELS_H

#include "ngram/bucket_budget.h"
#include "ngram/extract.h"

/* The released sets while levels grow. */
typedef struct Levels
{
	Extraction *extraction;
	int k; /* the level being made */
	GramSet *set[NGRAM_MAX_LENGTH + 1];
	uint32 *word_ids;	  /* of S_1 in the vocabulary */
	uint32 *word_numbers; /* in S_1 by vocabulary id; freed after level 2 */
	Histogram *numbers;	  /* of S_{k-1}, by key; for k >= 3 */
	BucketYield yield;	  /* of level k - 1; dpne-mr, for k >= 3 */
} Levels;

/* Takes one user's distinct k-grams, bounded in number. */
typedef void (*LevelSink)(void *state, const ItemList *items);

static inline ItemKey
level_item(uint64 key, int k)
{
	return (ItemKey){key, dp_mix64(key, k)};
}

extern void level_scan(Levels *levels, LevelSink sink, void *state);
extern void level_trace(const Levels *levels, uint64 key, int64 weight);

/* level_plain.c, level_rounds.c: make S_k; false when nothing longer can be released */
extern bool level_plain(Levels *levels);
extern bool level_rounds(Levels *levels);

#endif /* DPNGRAM_LEVELS_H */
