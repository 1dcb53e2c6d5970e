/*
 * candidates.h
 *	  From the answers about a trie's nodes to the most frequent terms.
 */
#ifndef DPNGRAM_LOCAL_CANDIDATES_H
#define DPNGRAM_LOCAL_CANDIDATES_H

#include "local/survey.h"

/*
 * Nodes of a trie, at most.  Public, so what it cuts off depends on answers alone; the
 * largest alphabet fits with room below the root.
 */
#define TRIE_MAX_SIZE (1 << 20)

typedef struct Evidence
{
	const LocalQuery *query;
	const Trie *trie;
	double users;			  /* to whom estimates are scaled */
	const Survey *growth;	  /* what made the trie grow */
	const Survey *refinement; /* about whole terms only */
	const int32 *candidates;  /* whole terms that were asked about to the end */
	int n_candidates;
	bool everyone; /* each survey asked all users, not each a part of them */
	bool stopping; /* prefixes were asked about until they looked frequent, or rare */
} Evidence;

extern int candidates_below(const Trie *trie, int32 node, int longest, int32 *nodes);
extern int candidates_terms(const Trie *trie, int32 *nodes);
extern int candidates_best(const Survey *survey, int32 *nodes, int n, int room);
extern void candidates_rank(const Evidence *evidence, LocalResult *result);

#endif /* DPNGRAM_LOCAL_CANDIDATES_H */
