/*
 * candidates.h
 *	  V_k, the n-grams of length k that S_{k-1} admits, without building it.
 */
#ifndef DPNGRAM_CANDIDATES_H
#define DPNGRAM_CANDIDATES_H

#include "ngram/gramset.h"
#include "ngram/plan.h"

/*
 * The members of V_k are the pairs (a, b) of a gram number a of S_{k-1} and
 * one of a run of right partners of a: gram numbers of S_{k-1} whose prefix is
 * a's suffix (both-side), or all of S_1 (single-side).  They are ranked from 0
 * in the order of (a, b).
 */
typedef struct Candidates
{
	uint32 n;		/* |S_{k-1}| */
	uint64 total;	/* |V_k|, exactly */
	uint64 *before; /* members with a smaller left partner, n + 1 entries */
	uint32 *first;	/* first right partner of each left one */
} Candidates;

extern Candidates *candidates_create(const GramSet *previous, uint32 words,
									 uint32 previous_numbers, NgramPruning pruning);
extern uint64 candidate_rank(const Candidates *candidates, uint64 key);
extern uint64 candidate_key(const Candidates *candidates, uint64 rank);
extern void candidates_free(Candidates *candidates);

#endif /* DPNGRAM_CANDIDATES_H */
