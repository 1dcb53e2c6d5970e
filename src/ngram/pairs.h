/*
 * pairs.h
 *	  The numbers of released n-grams by the pairs that they are.
 */
#ifndef DPNGRAM_PAIRS_H
#define DPNGRAM_PAIRS_H

#include "ngram/candidates.h"

/* A released n-gram in the hash table. */
typedef struct PairEntry
{
	uint64 key;
	uint32 number;
	char status; /* of the hash table */
} PairEntry;

/*
 * S_k by key.  While V_k is small the numbers stand in an array by rank in V_k, which
 * costs an addition and one place in memory that the processor's caches have; else in a
 * hash table.
 */
typedef struct Pairs
{
	const Candidates *members;	   /* V_k, if the numbers are by rank */
	uint32 *number;				   /* likewise; 0: not released */
	struct pair_table_hash *table; /* else */
} Pairs;

/* So many members V_k may have to be treated by rank: what the second-level cache holds. */
#define PAIRS_DENSE (UINT64CONST(1) << 18)

/* The rank of a member of V_k, as candidate_rank() has it; inline for the hottest loops. */
static inline uint64
pair_rank(const Candidates *members, uint64 key)
{
	uint32 a = (uint32) (key >> 32) - 1;

	return members->before[a] + ((uint32) key - members->first[a]);
}

extern Pairs *pairs_create(const GramSet *set, const Candidates *members);
extern const void *pairs_entry(const Pairs *pairs, uint64 key);
extern uint32 pairs_look_up(const Pairs *pairs, uint64 key);
extern void pairs_free(Pairs *pairs);

/* The number in S_k of a member of V_k, or 0. */
static inline uint32
pair_number(const Pairs *pairs, uint64 key)
{
	if (pairs->number != NULL)
		return pairs->number[pair_rank(pairs->members, key)];
	return pairs_look_up(pairs, key);
}

#endif /* DPNGRAM_PAIRS_H */
