/*
 * poll.h
 *	  The one door between a method and the users' terms.
 *
 * A method never sees a term, nor a count of them: it asks, and gets answers that each
 * user has randomised.  Who answers is behind the door: the terms of a relation, from
 * which the answers' counts are drawn by their exact law (crowd.c), or reports that
 * clients have sent (reports.c), or in tests users asked one by one, or every possible
 * answer in turn.  So each method exists once, and what an audit proves of it holds for
 * all of them.
 *
 * Users stand in an order that does not depend on what they have, at places 0 .. users - 1.
 */
#ifndef DPNGRAM_LOCAL_POLL_H
#define DPNGRAM_LOCAL_POLL_H

#include "local/oracle.h"
#include "local/trie.h"

/* Takes one user's term, as the client's half of a protocol does. */
typedef void (*PollClient)(void *state, int64 place, const LocalTerm *term);

typedef struct Poll
{
	int64 users; /* places; public */
	void *state; /* the first argument of each */

	/*
	 * Each user at a place from .. to - 1 is asked about the nodes, none of which lies
	 * below another: by bits one for each node, by a hash once for all of them.
	 * supported[i]: how many answers support nodes[i].  Returns how many answered, which
	 * is to - from unless places may be empty.
	 */
	int64 (*ask)(void *state, const Trie *trie, const int32 *nodes, int n, int64 from, int64 to,
				 const Oracle *oracle, int64 *supported);

	/*
	 * Likewise about the length of their terms: supported[i] for length i + 1, i < n.
	 * Longer terms, and users without one, have none of them.
	 */
	int64 (*ask_lengths)(void *state, int n, int64 from, int64 to, const Oracle *oracle,
						 int64 *supported);

	/* Each of them goes through a client's half; reports.c and rounds have no terms: NULL. */
	void (*visit)(void *state, int64 from, int64 to, PollClient client, void *client_state);
} Poll;

#endif /* DPNGRAM_LOCAL_POLL_H */
