/*
 * skips.h
 *	  Independent trials on all ranks outside a sorted support, in time
 *	  proportional to the successes and the support.
 */
#ifndef DPNGRAM_SKIPS_H
#define DPNGRAM_SKIPS_H

#include "common/dp_sample.h"

typedef struct Skips Skips;

/* The ranks first .. end - 1, of which so many are the support's. */
typedef struct RankRange
{
	uint64 first;
	uint64 end;
	uint64 support;
} RankRange;

typedef void (*SkipVisitor)(void *state, uint64 rank);

extern Skips *skips_create(Size memory_limit);
extern void skips_add(Skips *skips, uint64 rank);
extern void skips_walk(Skips *skips, RankRange range, DpRandom *random, DpRate rate,
					   SkipVisitor visit, void *state);
extern void skips_free(Skips *skips);

#endif /* DPNGRAM_SKIPS_H */
