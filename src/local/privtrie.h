/*
 * privtrie.h
 *	  PrivTrie, as a machine of rounds: each asks some users about some nodes.
 */
#ifndef DPNGRAM_LOCAL_PRIVTRIE_H
#define DPNGRAM_LOCAL_PRIVTRIE_H

#include "local/survey.h"

/*
 * What is asked next: the users at places from .. to - 1, each of them about all of the
 * nodes, by bits.
 */
typedef struct PrivtrieRound
{
	int number; /* 1, 2, ... */
	int64 from;
	int64 to;
	int n;
	const int32 *nodes; /* of the machine's trie; until the answers are taken */
} PrivtrieRound;

/* A function of the query, the number of places, and the answers so far; nothing else. */
typedef struct Privtrie
{
	LocalQuery query;
	int64 places;
	int64 asked;	/* places before this one were asked, the others were not */
	int64 answered; /* users who answered */
	int round;		/* rounds whose answers were taken, or that had no places */
	Trie trie;
	Survey survey; /* while the trie grew; with the oracle by which users answer */
	Survey refinement;
	int n_open;
	int open_capacity;
	int32 *open; /* nodes that are asked about; none lies below another */
} Privtrie;

extern DpStatus privtrie_begin(Privtrie *state, const LocalQuery *query, int64 places);
extern bool privtrie_round(Privtrie *state, PrivtrieRound *round);
extern void privtrie_answers(Privtrie *state, const int64 *supported, int64 answered);
extern void privtrie_finish(const Privtrie *state, LocalResult *result);
extern void privtrie_free(Privtrie *state);

extern DpStatus privtrie_run(const LocalQuery *query, const Poll *poll, LocalResult *result);

#endif /* DPNGRAM_LOCAL_PRIVTRIE_H */
