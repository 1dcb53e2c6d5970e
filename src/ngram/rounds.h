/*
 * rounds.h
 *	  The n-grams of one level, added up round after round with weights that
 *	  earlier rounds decide.
 */
#ifndef DPNGRAM_ROUNDS_H
#define DPNGRAM_ROUNDS_H

#include "ngram/user_grams.h"

/* What is known of an n-gram of the support between rounds: public but for which there are. */
typedef struct RoundGram
{
	uint64 key;
	uint64 content;
	int64 sum;	   /* of coefficient times noisy weight, over the rounds so far, lattice units */
	int32 spent;   /* of coefficient times bias */
	uint8 bucket;  /* of its predicted weight */
	uint16 before; /* the last round's bias, for SABOTAGE_STALE_NORM alone */
} RoundGram;

/*
 * An n-gram's bias in a round and its exact weight, in lattice units, before noise:
 * private.  Returns the bias in the next round, 0 .. DP_BIAS_ONE; an n-gram with bias 0
 * asks for nothing.
 */
typedef int (*RoundJudge)(void *state, RoundGram *gram, int bias, int64 weight);
typedef void (*RoundVisitor)(void *state, RoundGram *gram);
typedef void (*RoundSumVisitor)(void *state, const RoundGram *gram, int64 weight);

typedef struct RoundLists RoundLists;

/* Building, user after user; a user's items are distinct. */
extern RoundLists *round_lists_create(Size memory_limit, int k, uint32 slots);
extern void round_lists_add_user(RoundLists *lists, const UserGrams *grams);
extern void round_lists_finish(RoundLists *lists);

/* A round, in one go or in two halves. */
extern void round_lists_count(RoundLists *lists, RoundJudge judge, void *state);
extern void round_lists_sum(RoundLists *lists, RoundSumVisitor visit, void *state);
extern void round_lists_judge(RoundLists *lists, RoundJudge judge, void *state);

extern void round_lists_visit(RoundLists *lists, RoundVisitor visit, void *state);
extern int round_lists_parts(const RoundLists *lists);
extern uint64 round_lists_size(const RoundLists *lists);
extern void round_lists_free(RoundLists *lists);

#endif /* DPNGRAM_ROUNDS_H */
