/*
 * round.h
 *	  One round of questions to clients about nodes of a trie, and their answers.
 */
#ifndef DPNGRAM_LOCAL_ROUND_H
#define DPNGRAM_LOCAL_ROUND_H

#include "local/oracle.h"
#include "local/term.h"

/* In the place of the bit about a node that a client must not be asked about. */
#define ROUND_NO_ANSWER '-'

/* A prefix; with SYMBOL_END behind it, a whole term. */
typedef struct RoundNode
{
	const uint16 *symbol;
	int depth;
} RoundNode;

/* Clients at a place from .. to - 1 are asked whose prefix their term has. */
typedef struct Round
{
	int64 from;
	int64 to;
	int n;
	RoundNode *node;
} Round;

/* the client's half */
extern void round_answer(const Round *round, const Oracle *oracle, const LocalTerm *term,
						 DpRandom *rng, char *bits);

/* the server's half */
extern bool round_tally(const Round *round, int64 place, const char *bits, int length,
						int64 *supported);

#endif /* DPNGRAM_LOCAL_ROUND_H */
