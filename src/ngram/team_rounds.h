/*
 * team_rounds.h
 *	  Rounds over users who are divided among processes: the n-grams of all, with the
 *	  sums of each process added up.
 */
#ifndef DPNGRAM_TEAM_ROUNDS_H
#define DPNGRAM_TEAM_ROUNDS_H

#include "ngram/rounds.h"

typedef struct TeamRounds TeamRounds;

/* Building: each member's n-grams, in an order of its own that stays the same. */
extern TeamRounds *team_rounds_create(int members, const uint64 *size, Size memory_limit);
extern void team_rounds_add(TeamRounds *rounds, int member, const ItemKey *item, Size n);
extern void team_rounds_finish(TeamRounds *rounds);

/*
 * A round: all members' weights, each in its order, then the judgement, and then each
 * member's biases, in its order.
 */
extern void team_rounds_weights(TeamRounds *rounds, int member, const int64 *weight, Size n);
extern void team_rounds_judge(TeamRounds *rounds, RoundJudge judge, void *state);
extern void team_rounds_biases(TeamRounds *rounds, int member, uint16 *bias, Size n);

extern uint64 team_rounds_size(const TeamRounds *rounds, int member);
extern void team_rounds_visit(TeamRounds *rounds, RoundVisitor visit, void *state);
extern void team_rounds_free(TeamRounds *rounds);

#endif /* DPNGRAM_TEAM_ROUNDS_H */
