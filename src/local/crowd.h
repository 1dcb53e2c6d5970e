/*
 * crowd.h
 *	  The users of a relation, who are asked within the server.
 */
#ifndef DPNGRAM_LOCAL_CROWD_H
#define DPNGRAM_LOCAL_CROWD_H

#include "local/poll.h"

/* The number of "no term". */
#define CROWD_NO_TERM 0

/* A node's prefix: which terms begin with it, and a part of Crowd.holder, by place. */
typedef struct CrowdHolders
{
	bool known;
	uint32 first_term;
	uint32 end_term; /* the first behind them */
	uint32 from;
	uint32 to;
} CrowdHolders;

typedef struct Crowd
{
	DpRandom *rng;

	/* distinct terms, by number; CROWD_NO_TERM is one of length 0 */
	uint32 terms;
	uint32 terms_capacity;
	size_t *start; /* of the term's symbols in the arena; one more than there are terms */
	uint16 *arena;
	size_t arena_capacity;
	bool ordered;	/* numbers are in the order of the terms' symbols */
	uint16 *symbol; /* work space, by term: the one behind a prefix */

	/* users, by place once they are shuffled: the number of their term */
	int64 users;
	int64 users_capacity;
	uint32 *term;

	/* who holds the prefixes of the trie that is asked about */
	const Trie *trie;
	uint32 *holder; /* places */
	uint32 *sorted; /* work space of a node's expansion */
	CrowdHolders *holders;
	int32 holders_capacity;
} Crowd;

extern void crowd_init(Crowd *crowd, DpRandom *rng);
extern uint32 crowd_add_term(Crowd *crowd, const uint16 *symbol, int length);
extern void crowd_add_user(Crowd *crowd, uint32 term);
extern void crowd_shuffle(Crowd *crowd);
extern LocalTerm crowd_term(const Crowd *crowd, int64 place);
extern Poll crowd_poll(Crowd *crowd);

#endif /* DPNGRAM_LOCAL_CROWD_H */
