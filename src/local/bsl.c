/*
 * bsl.c
 *	  BSL and IBSL (Wang et al., "PrivTrie", ICDE 2018, Algorithms 2 and 3): a trie that
 *	  grows one depth after the other.
 *
 * Both first ask how long terms are (length.c), then grow the trie to that length, asking
 * about the children of every prefix that seemed frequent, and last ask about the whole
 * terms that were found.
 *
 * Privacy.  BSL asks every user in each step and splits epsilon: a share for the length,
 * one for refinement, and of the rest an equal part for each of length + 1 depths.  One
 * depth's nodes are a vector of which a term holds one at most, so its answer costs what
 * one bit does (Lemma III.1; oracle.c), and the parts add up to epsilon at most.  IBSL
 * splits the users instead: each is asked in one step only, with all of epsilon (Lemma
 * IV.1; footnote 1).  Which step that is depends on the user's place alone.
 */
#include "common/dp_base.h"

#include "local/bsl.h"
#include "local/candidates.h"
#include "local/length.h"

/* The paper's shares (section V): of epsilon for BSL, of the users for IBSL. */
#define SHARE_GROWTH 0.7
#define SHARE_REFINEMENT 0.2
#define SHARE_LENGTH 0.1

/* Epsilon's parts are smaller by this, so that they never add up to more than it. */
#define ROUNDING (1 - 1e-12)

typedef struct Growth
{
	const LocalQuery *query;
	const Poll *poll;
	int longest;  /* the estimated length */
	int64 start;  /* the places that are asked about depth d: start + d * step */
	int64 step;	  /* 0: all the same */
	int64 places; /* asked about one depth */
	Survey survey;
	Survey refinement;
	Trie trie;
} Growth;

/* Nodes that may be expanded next. */
static int
room_for(const Growth *growth)
{
	int left = (TRIE_MAX_SIZE - growth->trie.size) / trie_children(&growth->trie);

	return Min(growth->query->frontier, left);
}

/* Expands the nodes, asks about their children, and puts those that pass in their place. */
static int32 *
grow_depth(Growth *growth, int32 *nodes, int *n, int depth)
{
	int children = trie_children(&growth->trie);
	int32 *asked = palloc(Max(1, *n * children) * sizeof(int32));
	int64 from = growth->start + depth * growth->step;
	int n_asked = 0;
	int passed = 0;
	double z = survey_threshold(growth->query, 1);

	for (int i = 0; i < *n; i++)
	{
		trie_expand(&growth->trie, nodes[i]);
		n_asked += candidates_below(&growth->trie, nodes[i], growth->longest, asked + n_asked);
	}
	survey_ask(&growth->survey, growth->poll, &growth->trie, asked, n_asked, from,
			   from + growth->places);
	for (int i = 0; i < n_asked; i++)
		if (!trie_is_term(&growth->trie, asked[i]) &&
			survey_passes(&growth->survey, asked[i], growth->query->eta, z))
			asked[passed++] = asked[i];
	*n = candidates_best(&growth->survey, asked, passed, room_for(growth));
	pfree(nodes);
	return asked;
}

/* The trie, from the root to the length. */
static void
grow(Growth *growth)
{
	int32 *nodes = palloc(sizeof(int32));
	int n = 1;

	nodes[0] = TRIE_ROOT;
	for (int depth = 0; depth <= growth->longest && n > 0; depth++)
		nodes = grow_depth(growth, nodes, &n, depth);
	pfree(nodes);
}

/*
 * Grows the trie, asks the users at places from .. to - 1 about all whole terms, and
 * ranks; the growth knows whom else to ask and with which epsilons.
 */
static void
find_terms(Growth *growth, int64 from, int64 to, bool everyone, LocalResult *result)
{
	Evidence evidence = {.query = growth->query,
						 .trie = &growth->trie,
						 .users = growth->poll->users,
						 .growth = &growth->survey,
						 .refinement = &growth->refinement,
						 .everyone = everyone};
	int32 *terms;

	trie_init(&growth->trie, growth->query->alphabet);
	grow(growth);
	terms = palloc(growth->trie.size * sizeof(int32));
	evidence.n_candidates = candidates_terms(&growth->trie, terms);
	evidence.candidates = terms;
	survey_ask(&growth->refinement, growth->poll, &growth->trie, terms, evidence.n_candidates,
			   from, to);
	candidates_rank(&evidence, result);
	pfree(terms);
	trie_free(&growth->trie);
}

static DpStatus
init_surveys(Growth *growth, double epsilon, double refinement)
{
	DpStatus status = survey_init(&growth->survey, epsilon);

	if (status != DP_OK)
		return status;
	status = survey_init(&growth->refinement, refinement);
	if (status != DP_OK)
		survey_free(&growth->survey);
	return status;
}

/* The epsilon of one depth's answers. */
static double
depth_epsilon(double epsilon, int longest)
{
	return epsilon * SHARE_GROWTH / (longest + 1);
}

/* Whether epsilon has parts for terms as long as allowed; errors: DP_ERR_DOMAIN. */
DpStatus
bsl_check(const LocalQuery *query)
{
	double epsilon = query->epsilon * ROUNDING;
	Oracle oracle;
	DpStatus status = oracle_bits(depth_epsilon(epsilon, query->max_length), &oracle);

	return status == DP_OK ? oracle_bits(epsilon * SHARE_LENGTH, &oracle) : status;
}

/* Algorithm 2; errors: as bsl_check(). */
DpStatus
bsl_run(const LocalQuery *query, const Poll *poll, LocalResult *result)
{
	double epsilon = query->epsilon * ROUNDING;
	Growth growth = {.query = query, .poll = poll, .places = poll->users};
	DpStatus status = local_length(poll, 0, poll->users, epsilon * SHARE_LENGTH,
								   query->max_length, &growth.longest);

	if (status == DP_OK)
		status = init_surveys(&growth, depth_epsilon(epsilon, growth.longest),
							  epsilon * SHARE_REFINEMENT);
	if (status != DP_OK)
		return status;
	find_terms(&growth, 0, poll->users, true, result);
	survey_free(&growth.survey);
	survey_free(&growth.refinement);
	return DP_OK;
}

/* Algorithm 3; errors: DP_ERR_DOMAIN. */
DpStatus
ibsl_run(const LocalQuery *query, const Poll *poll, LocalResult *result)
{
	int64 start = (int64) (SHARE_LENGTH * (double) poll->users);
	int64 refined = (int64) ((SHARE_LENGTH + SHARE_GROWTH) * (double) poll->users);
	Growth growth = {.query = query, .poll = poll, .start = start};
	DpStatus status = local_length(poll, 0, start, query->epsilon, query->max_length,
								   &growth.longest);

	if (status == DP_OK)
		status = init_surveys(&growth, query->epsilon, query->epsilon);
	if (status != DP_OK)
		return status;
	growth.places = growth.step = (refined - start) / (growth.longest + 1);
	find_terms(&growth, refined, poll->users, false, result);
	survey_free(&growth.survey);
	survey_free(&growth.refinement);
	return DP_OK;
}
