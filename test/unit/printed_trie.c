/*
 * printed_trie.c
 *	  Algorithm 4 of the PrivTrie paper as it is printed, which asks some users twice.
 *
 * Wang et al., "PrivTrie: Effective frequent term discovery under local differential
 * privacy", ICDE 2018.  Lines 14 to 16 leave the loop before line 17 removes the batch, so
 * the users whose answers made a node pass stay available to its children, and are asked
 * about two nodes of one path, each time with the whole of epsilon: Lemma IV.3 does not
 * apply to them.  It stands here so that the audit can be seen to find that.
 *
 * The sampled batches are the available users in the order of their places: U(v) is the
 * places from a pointer on, as in the paper's footnote 2.
 */
#include "printed_trie.h"

#include <math.h>

/* Nodes of the small tries that are audited. */
#define PRINTED_NODES 64

typedef struct PrintedTrie
{
	const PrintedQuery *query;
	const Poll *poll;
	Oracle oracle;
	Trie trie;
	int64 available[PRINTED_NODES]; /* U(v): the places from here on */
	bool unvisited[PRINTED_NODES];
} PrintedTrie;

/* Lines 10 to 17, for one node; a node that may grow is left when it passes. */
static void
ask_batches(PrintedTrie *printed, int32 node, bool may_grow)
{
	const PrintedQuery *query = printed->query;
	double users = printed->poll->users;
	int64 at = printed->available[node];
	int64 supported = 0;
	int64 answered = 0;

	while (at < printed->poll->users)
	{
		int64 end = Min(at + query->batch, printed->poll->users);
		int64 more;
		double count;

		answered += printed->poll->ask(printed->poll->state, &printed->trie, &node, 1, at, end,
									   &printed->oracle, &more);
		supported += more;
		count = 0;
		if (answered > 0)
			count = users / answered * oracle_estimate(&printed->oracle, supported, answered);
		if (query->remove_first)
			at = end;
		if (may_grow && answered > 0 &&
			count >= query->eta * users / (query->epsilon * sqrt(answered)))
		{
			printed->unvisited[node] = true;
			break;
		}
		at = end;
	}
	printed->available[node] = at;
}

/* Lines 4 to 19: the children of a node.  The empty term is not asked about. */
static void
visit(PrintedTrie *printed, int32 node)
{
	int depth = printed->trie.node[node].depth;
	int32 first = trie_expand(&printed->trie, node);
	int children = depth == printed->query->max_length ? 1 : trie_children(&printed->trie);

	if (printed->trie.size > PRINTED_NODES)
		abort();
	for (int i = node == TRIE_ROOT ? SYMBOL_END + 1 : 0; i < children; i++)
	{
		printed->available[first + i] = printed->available[node];
		ask_batches(printed, first + i, i != SYMBOL_END);
	}
}

/* A ScriptMethod; the query is a PrintedQuery. */
bool
printed_trie_run(const void *query, const Poll *poll)
{
	PrintedTrie printed = {.query = query, .poll = poll};

	if (oracle_bits(printed.query->epsilon, &printed.oracle) != DP_OK)
		return false;
	trie_init(&printed.trie, printed.query->alphabet);
	printed.unvisited[TRIE_ROOT] = true;
	for (int32 node = 0; node < printed.trie.size; node++)
		if (printed.unvisited[node])
			visit(&printed, node);
	trie_free(&printed.trie);
	return true;
}
