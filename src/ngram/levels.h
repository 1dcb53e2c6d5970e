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
	TextSource *source;
	int k; /* the level being made */
	GramSet *set[NGRAM_MAX_LENGTH + 1];
	WordText *word;	   /* the texts of S_1 */
	BucketYield yield; /* of level k - 1; dpne-mr, for k >= 3 */
} Levels;

extern void level_trace(const Levels *levels, uint64 key, int64 weight);

/* level_plain.c, level_rounds.c: make S_k; false when nothing longer can be released */
extern bool level_plain(Levels *levels);
extern bool level_rounds(Levels *levels);

#endif /* DPNGRAM_LEVELS_H */
