/*
 * prefixes.c
 *	  The search that PEM and TreeHist share: frequent prefixes of so many symbols, then
 *	  of more, until they are whole terms.
 *
 * Each level belongs to a group of users of its own.  They report the first so many
 * symbols of their term, its end included and padded with ends.  The level's candidates
 * are all extensions of the prefixes that the level before kept; the group's answers
 * estimate how many users have each; the best `keep` go on.  On the last level everything
 * is a term.
 *
 * A term shorter than the prefixes is a candidate as soon as its end is within reach, and
 * padding leaves it a candidate of each level after.  Once kept it is never dropped, and
 * takes no place from others.  Later levels have other users, so what is counted of it
 * there does not depend on why it was kept: its estimate is their sum, without the answers
 * that it was chosen by, and unbiased given that it was chosen (but for this: where more of
 * a term's users were in the group that chose it than on average, fewer are left for the
 * others).  Which k of the terms are returned is decided by these estimates, so the last
 * ranks are too high on the average, as with every choice of the largest.
 *
 * The work is bounded by public numbers: a level has at most keep (alphabet + 1)^step
 * new candidates, the first (alphabet + 1)^start, and at most keep levels terms found
 * before.  The plan lessens start, step and keep until all levels fit into
 * PREFIX_MAX_NODES nodes, so a large alphabet costs accuracy rather than memory.
 *
 * What is kept is a number of prefixes, not those above a threshold, and estimates are
 * not fitted to a trie: the query's eta and consistency mean nothing here.
 */
#include "common/dp_base.h"

#include <math.h>

#include "local/memory.h"
#include "local/oracle.h"
#include "local/prefixes.h"

#define INITIAL_CAPACITY 1024

/* Prefixes of the first level, where that leaves a choice. */
#define MAX_FIRST 20000

/* ---- the plan ---- */

/*
 * Nodes that come of extending so many by so many symbols, or more than the limit.  All
 * nodes between count, too.
 */
static int64
nodes_of(int64 prefixes, int alphabet, int symbols, int64 limit)
{
	int64 newest = prefixes;
	int64 nodes = 0;

	for (int i = 0; i < symbols && nodes <= limit; i++)
	{
		newest *= alphabet + 1;
		nodes += newest;
	}
	return nodes;
}

/* The number of symbols, as near to the one wanted as the limit of nodes allows, or 0. */
static int
fitting_symbols(int64 prefixes, int alphabet, int wanted, int64 limit)
{
	while (wanted > 0 && nodes_of(prefixes, alphabet, wanted, limit) > limit)
		wanted--;
	return wanted;
}

/*
 * The symbols that the first level has by default: as many as few candidates allow, for
 * each symbol spares a group of users; of letters 3.
 */
int
prefix_start(int alphabet)
{
	int64 candidates = alphabet + 1;
	int start = 1;

	for (; candidates * (alphabet + 1) <= MAX_FIRST; candidates *= alphabet + 1)
		start++;
	return start;
}

/*
 * The levels: prefixes of start symbols, then of step more each time, at last of a whole
 * term and its end.  keep: prefixes kept, by k.  Errors: DP_ERR_DOMAIN; DP_ERR_RANGE when
 * alphabet and length are too large together.
 */
DpStatus
prefix_plan(const LocalQuery *query, int start, int step, double keep, PrefixPlan *plan)
{
	int64 limit = PREFIX_MAX_NODES / ((int64) query->max_length + 1);
	int depth;

	if (query->alphabet < 1 || query->alphabet > ALPHABET_MAX_SIZE || query->max_length < 1 ||
		query->max_length > TERM_MAX_LENGTH || query->k < 1 || query->frontier < 1 ||
		start < 1 || step < 1 || !(keep >= 1))
		return DP_ERR_DOMAIN;
	if (query->alphabet + 1 > limit)
		return DP_ERR_RANGE;
	plan->alphabet = query->alphabet;
	plan->length = query->max_length;
	plan->keep = (int) Min(ceil(keep * query->k),
						   Min(query->frontier, limit / (query->alphabet + 1)));
	start = fitting_symbols(1, query->alphabet, start, limit);
	step = fitting_symbols(plan->keep, query->alphabet, step, limit);

	plan->levels = 0;
	for (depth = start; depth <= query->max_length; depth += step)
		plan->depth[plan->levels++] = depth;
	plan->depth[plan->levels++] = query->max_length + 1;
	return DP_OK;
}

/* The number of what a user with the term reports: so many symbols, padded with ends. */
uint64
prefix_item_of_term(const LocalTerm *term, int depth)
{
	uint16 symbol[TERM_MAX_LENGTH + 1];

	for (int i = 0; i < depth; i++)
		symbol[i] = i < term->length ? term->symbol[i] : SYMBOL_END;
	return oracle_item(symbol, depth);
}

/* Likewise of who holds the node. */
uint64
prefix_item_of_node(const Trie *trie, int32 node, int depth)
{
	uint16 symbol[TERM_MAX_LENGTH + 1];

	for (int i = trie_prefix(trie, node, symbol); i < depth; i++)
		symbol[i] = SYMBOL_END;
	return oracle_item(symbol, depth);
}

/* ---- the search ---- */

void
prefix_search_begin(PrefixSearch *search, const PrefixPlan *plan)
{
	*search = (PrefixSearch){.plan = plan,
							 .kept = palloc(plan->keep * sizeof(int32)),
							 .n_kept = 1,
							 .term = palloc(INITIAL_CAPACITY * sizeof(PrefixTerm)),
							 .term_capacity = INITIAL_CAPACITY,
							 .node = palloc(INITIAL_CAPACITY * sizeof(int32)),
							 .capacity = INITIAL_CAPACITY};
	trie_init(&search->trie, plan->alphabet);
	search->kept[0] = TRIE_ROOT;
}

static void
add_candidate(PrefixSearch *search, int32 node)
{
	if (search->n == search->capacity)
	{
		search->capacity *= 2;
		search->node = repalloc(search->node, search->capacity * sizeof(int32));
	}
	search->node[search->n++] = node;
}

static void
add_term(PrefixSearch *search, PrefixTerm term)
{
	if (search->n_terms == search->term_capacity)
	{
		search->term_capacity *= 2;
		search->term = repalloc(search->term, search->term_capacity * sizeof(PrefixTerm));
	}
	search->term[search->n_terms++] = term;
}

/*
 * All extensions of a node to the depth, and the terms on the way; calls itself as often
 * as the level adds symbols.  Neither the empty term is sought, nor longer ones than the
 * plan's.
 */
static void
extend(PrefixSearch *search, int32 node, int depth)
{
	int32 first;
	int children;

	CHECK_FOR_INTERRUPTS();
	if (trie_is_term(&search->trie, node) || search->trie.node[node].depth == depth)
	{
		add_candidate(search, node);
		return;
	}
	first = trie_expand(&search->trie, node);
	children = trie_children(&search->trie);
	if (search->trie.node[node].depth == search->plan->length)
		children = SYMBOL_END + 1;
	for (int i = node == TRIE_ROOT ? SYMBOL_END + 1 : 0; i < children; i++)
		extend(search, first + i, depth);
}

/* The candidates of the next level, in node. */
void
prefix_search_extend(PrefixSearch *search)
{
	search->n = 0;
	for (int i = 0; i < search->n_terms; i++)
		add_candidate(search, search->term[i].node);
	for (int i = 0; i < search->n_kept; i++)
		extend(search, search->kept[i], search->plan->depth[search->level]);
}

typedef struct RankedNode
{
	double holders;
	int32 node;
} RankedNode;

/* The largest first; of equals the one that was made first. */
static int
compare_ranked(const void *a, const void *b)
{
	const RankedNode *x = a;
	const RankedNode *y = b;

	if (x->holders != y->holders)
		return x->holders > y->holders ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Of the new candidates the best are kept; the answers that chose them count no more. */
static void
keep_best(PrefixSearch *search, const double *holders, int found_before)
{
	int n = search->n - found_before;
	RankedNode *ranked = palloc(Max(n, 1) * sizeof(RankedNode));

	for (int i = 0; i < n; i++)
		ranked[i] = (RankedNode){holders[found_before + i], search->node[found_before + i]};
	qsort(ranked, n, sizeof(RankedNode), compare_ranked);

	search->n_kept = 0;
	for (int i = 0; i < Min(n, search->plan->keep); i++)
	{
		if (trie_is_term(&search->trie, ranked[i].node))
			add_term(search, (PrefixTerm){.node = ranked[i].node});
		else
			search->kept[search->n_kept++] = ranked[i].node;
	}
	pfree(ranked);
}

/* Takes the level's estimates, of how many of its users hold each node. */
void
prefix_search_keep(PrefixSearch *search, const double *holders, int64 users)
{
	int found_before = search->n_terms;

	for (int i = 0; i < found_before; i++)
	{
		search->term[i].users += users;
		search->term[i].holders += holders[i];
	}
	search->users += users;
	if (++search->level < search->plan->levels)
		keep_best(search, holders, found_before);
	else
		for (int i = found_before; i < search->n; i++)
			add_term(search, (PrefixTerm){search->node[i], users, holders[i]});
}

/* ---- the result ---- */

/*
 * How many users there are, where those at the places from first on were asked: as many
 * as answered, and as many in proportion at the places before.
 */
double
prefix_population(const PrefixSearch *search, int64 first, int64 places)
{
	if (first == places)
		return 0;
	return (double) search->users * (double) places / (double) (places - first);
}

/*
 * The variance of the share of holders among all, estimated from those of them who were
 * asked: the noise of their answers, and that they are a sample without replacement.
 */
static double
variance_of_share(const PrefixTerm *term, double population, const PrefixNoise *noise)
{
	double users = (double) term->users;
	double share = Max(0, Min(1, term->holders / users));
	double answers = (noise->user + noise->holder * share) / users;
	double sample = population > 1 ? (population - users) / (population - 1) : 0;

	return Max(0, answers) +
		   noise->sampling * share * (1 - share) / users * Max(0, sample);
}

static LocalFound
found_term(const Trie *trie, const PrefixTerm *term, double population, const PrefixNoise *noise)
{
	int depth = trie->node[term->node].depth;
	LocalFound found;

	found.symbol = palloc(depth * sizeof(uint16));
	trie_prefix(trie, term->node, found.symbol);
	found.length = depth - 1;
	found.estimate = population * term->holders / (double) term->users;
	found.stddev = population * sqrt(variance_of_share(term, population, noise));
	return found;
}

static int
compare_found(const void *a, const void *b)
{
	const LocalFound *x = a;
	const LocalFound *y = b;

	if (x->estimate != y->estimate)
		return x->estimate > y->estimate ? -1 : 1;
	for (int i = 0; i < Min(x->length, y->length); i++)
		if (x->symbol[i] != y->symbol[i])
			return x->symbol[i] < y->symbol[i] ? -1 : 1;
	return (x->length > y->length) - (x->length < y->length);
}

/*
 * The k terms with the largest estimates, scaled to the population; none that nobody
 * seems to have.
 */
void
prefix_search_finish(PrefixSearch *search, int k, double population, const PrefixNoise *noise,
					 LocalResult *result)
{
	result->n = 0;
	result->found = palloc(Max(search->n_terms, 1) * sizeof(LocalFound));
	for (int i = 0; i < search->n_terms; i++)
	{
		const PrefixTerm *term = &search->term[i];

		if (term->users > 0 && term->holders > 0)
			result->found[result->n++] = found_term(&search->trie, term, population, noise);
	}
	qsort(result->found, result->n, sizeof(LocalFound), compare_found);
	for (int i = k; i < result->n; i++)
		pfree(result->found[i].symbol);
	result->n = Min(result->n, k);

	trie_free(&search->trie);
	pfree(search->kept);
	pfree(search->term);
	pfree(search->node);
}
