/*
 * prefixes.h
 *	  The search that PEM and TreeHist share: frequent prefixes of so many symbols, then
 *	  of more, until they are whole terms.
 */
#ifndef DPNGRAM_LOCAL_PREFIXES_H
#define DPNGRAM_LOCAL_PREFIXES_H

#include "local/local.h"

/* The nodes of a search's trie, at most, whatever the alphabet: 12 bytes each. */
#define PREFIX_MAX_NODES (1 << 22)

/*
 * What the methods do by default, chosen by simulation on the Reddit terms, for epsilon 1
 * to 4, one and 7.6 million users, k 10 to 100.  Steps of two symbols gain .02 in F-score
 * at most and cost ten times the work; to keep twice k loses up to .1 with many users,
 * four times gains nothing.  The start: prefix_start().
 */
#define PREFIX_STEP 1
#define PREFIX_KEEP 3.0

/* How deep the groups of users look; public, and known to the clients. */
typedef struct PrefixPlan
{
	int alphabet;
	int length; /* of a term; with its end, it has a symbol more */
	int keep;	/* prefixes that go on to the next level, at most */
	int levels;
	uint16 depth[TERM_MAX_LENGTH + 1]; /* symbols that each level's users report */
} PrefixPlan;

/* A term found, and what was counted since. */
typedef struct PrefixTerm
{
	int32 node;
	int64 users;	/* asked about it */
	double holders; /* estimate of those of them who have it */
} PrefixTerm;

typedef struct PrefixSearch
{
	const PrefixPlan *plan;
	Trie trie;
	int level;
	int64 users; /* asked on all levels */
	int32 *kept; /* prefixes to be extended */
	int n_kept;
	PrefixTerm *term;
	int n_terms;
	int term_capacity;
	int32 *node; /* asked about on this level: terms found before, then the new */
	int n;
	int capacity;
} PrefixSearch;

/*
 * The variance of an estimated number of holders is linear in users and holders.  A
 * median of samples also widens, by the factor sampling, what comes from asking some of
 * the users only.
 */
typedef struct PrefixNoise
{
	double user;
	double holder;
	double sampling;
} PrefixNoise;

extern int prefix_start(int alphabet);
extern DpStatus prefix_plan(const LocalQuery *query, int start, int step, double keep,
							PrefixPlan *plan);
extern uint64 prefix_item_of_term(const LocalTerm *term, int depth);
extern uint64 prefix_item_of_node(const Trie *trie, int32 node, int depth);

extern void prefix_search_begin(PrefixSearch *search, const PrefixPlan *plan);
extern void prefix_search_extend(PrefixSearch *search);
extern void prefix_search_keep(PrefixSearch *search, const double *holders, int64 users);
extern double prefix_population(const PrefixSearch *search, int64 first, int64 places);
extern void prefix_search_finish(PrefixSearch *search, int k, double population,
								 const PrefixNoise *noise, LocalResult *result);

#endif /* DPNGRAM_LOCAL_PREFIXES_H */
