/*
 * privtrie.c
 *	  PrivTrie (Wang et al., ICDE 2018, Algorithm 4, corrected), as a machine of rounds.
 *
 * A round asks the users at the next places about all open nodes.  Then an open node that
 * passes the threshold is expanded: its children are open from the next round on, and it
 * is not.  A whole term stays open to the end, so everyone who comes after it was made is
 * asked about it.  The last round's users refine: only whole terms are open.
 *
 * This asks what Algorithm 4 asks.  There each node takes batches of users, from those
 * whom no node above it has taken; with the users in one order, a node's users begin where
 * its parent's end.  Sweeping over the users once, with all nodes that are open at a
 * place, gives every node the same users, and lets each user answer once.
 *
 * Privacy.  A user is asked in one round, the one that holds the user's place, and answers
 * with a bit for each open node.  Open nodes are an antichain: none lies below another,
 * because a node is closed when its children open.  So a term holds one open node's prefix
 * at most, two terms' bits differ in two places at most, and the likelihoods of any answer
 * differ by e^epsilon at most (oracle.c; Lemma IV.3).  Which nodes are open depends on the
 * answers of users at other places only, so the bound holds for the protocol as a whole.
 * As printed, Algorithm 4 leaves its loop (line 16) before it removes the users just asked
 * (line 17), and asks them again about the children: two users' answers may then differ by
 * e^(depth epsilon).  Here "asked" moves before anything is decided.
 *
 * Estimates.  A whole term is asked about from its first round to the end.  When it was
 * made depends on earlier answers; but among the users not yet asked the share that holds
 * a term is a martingale, whatever the rule by which one stops, so the share of those who
 * were asked is an unbiased estimate of the share of all, and so is that in refinement.
 * A term that was closed because it looked rare is not returned.  Prefixes are closed when
 * they look frequent: their estimates are too large, and are not used (candidates.c).
 */
#include "common/dp_base.h"

#include <math.h>

#include "local/candidates.h"
#include "local/privtrie.h"

/*
 * Rounds in which the trie may grow; one more refines.  Early rounds are shorter, by the
 * power 3/2 of their number: prefixes that are frequent show soon.
 */
#define GROWING_ROUNDS 25

/*
 * The users of the growing rounds.  The paper has .8 (section V); but whole terms are
 * asked about in all rounds here, and .9 found more in simulations.
 */
#define SHARE_GROWTH 0.9

/* Nodes that are open from the first round on: as many whole depths as this allows. */
#define FIRST_OPEN 1000

/*
 * A node is closed for good if what it has, and so many standard deviations more, is less
 * than what could be told apart from nothing if all users were asked, in their standard
 * deviations.  It would not be found in the end, and makes room.
 */
#define HOPE 2.0
#define WORTH 4.0

/* ---- open nodes ---- */

/* Nodes that may be open at once: room for two nodes' children, whatever the alphabet. */
static int
open_limit(const Privtrie *state)
{
	return Max(state->query.frontier, 2 * trie_children(&state->trie));
}

/* Opens the children of an expanded node, which must have been closed. */
static void
open_children(Privtrie *state, int32 node)
{
	int children = trie_children(&state->trie);

	if (state->n_open + children > state->open_capacity)
	{
		state->open_capacity = 2 * (state->n_open + children);
		state->open = repalloc(state->open, state->open_capacity * sizeof(int32));
	}
	state->n_open += candidates_below(&state->trie, node, state->query.max_length,
									  state->open + state->n_open);
}

/* Closes the nodes, all of them open, and opens their children. */
static void
expand(Privtrie *state, const int32 *nodes, int n)
{
	int kept = 0;

	for (int i = 0; i < n; i++)
		trie_expand(&state->trie, nodes[i]);
	survey_make_room(&state->survey, &state->trie);
	for (int i = 0; i < state->n_open; i++)
		if (state->trie.node[state->open[i]].first_child == TRIE_NONE)
			state->open[kept++] = state->open[i];
	state->n_open = kept;
	for (int i = 0; i < n; i++)
		open_children(state, nodes[i]);
}

/* Copies the open nodes that are no whole terms; returns their number. */
static int
open_prefixes(const Privtrie *state, int32 *nodes)
{
	int n = 0;

	for (int i = 0; i < state->n_open; i++)
		if (!trie_is_term(&state->trie, state->open[i]))
			nodes[n++] = state->open[i];
	return n;
}

/*
 * Opens the first depths.  To ask whether prefixes of one character are frequent would
 * only take users from what is below them: some are, for certain.
 */
static void
open_first(Privtrie *state)
{
	int children = trie_children(&state->trie);
	double limit = Min(FIRST_OPEN, open_limit(state));
	double n = children;

	state->open[state->n_open++] = TRIE_ROOT;
	expand(state, &(int32){TRIE_ROOT}, 1);
	for (int depth = 1; depth <= state->query.max_length && n * children <= limit; depth++)
	{
		int32 *prefixes = palloc(state->n_open * sizeof(int32));

		expand(state, prefixes, open_prefixes(state, prefixes));
		pfree(prefixes);
		n *= children;
	}
}

#ifdef USE_ASSERT_CHECKING

/* Does no open node lie below another? */
static bool
is_antichain(const Privtrie *state)
{
	bool *open = palloc0(state->trie.size * sizeof(bool));
	bool result = true;

	for (int i = 0; i < state->n_open; i++)
	{
		result &= !open[state->open[i]];
		open[state->open[i]] = true;
	}
	for (int i = 0; i < state->n_open; i++)
		for (int32 above = state->trie.node[state->open[i]].parent; above != TRIE_NONE;
			 above = state->trie.node[above].parent)
			result &= !open[above];
	pfree(open);
	return result;
}

#endif

/* ---- rounds ---- */

/* The first place behind a round's; rounds are numbered from 1. */
static int64
round_end(const Privtrie *state, int round)
{
	double part = (double) round / GROWING_ROUNDS;

	if (round > GROWING_ROUNDS)
		return state->places;
	return (int64) (SHARE_GROWTH * (double) state->places * part * sqrt(part));
}

/* The trie of the root, and its first open nodes; errors: DP_ERR_DOMAIN. */
DpStatus
privtrie_begin(Privtrie *state, const LocalQuery *query, int64 places)
{
	*state = (Privtrie){.query = *query, .places = places, .open_capacity = FIRST_OPEN};
	if (survey_init(&state->survey, query->epsilon) != DP_OK)
		return DP_ERR_DOMAIN;
	(void) survey_init(&state->refinement, query->epsilon);
	state->open = palloc(state->open_capacity * sizeof(int32));
	trie_init(&state->trie, query->alphabet);
	open_first(state);
	return DP_OK;
}

/* What is asked next; false: nothing, and privtrie_finish() has the result. */
bool
privtrie_round(Privtrie *state, PrivtrieRound *round)
{
	int next = state->round + 1;

	while (next <= GROWING_ROUNDS && round_end(state, next) == state->asked)
		next++;
	if (next > GROWING_ROUNDS + 1 || state->asked == state->places || state->n_open == 0)
		return false;
	*round = (PrivtrieRound){next, state->asked, round_end(state, next),
							 state->n_open, state->open};
	Assert(is_antichain(state));
	return true;
}

/* Closes what is not a whole term. */
static void
keep_terms(Privtrie *state)
{
	int n = 0;

	for (int i = 0; i < state->n_open; i++)
		if (trie_is_term(&state->trie, state->open[i]))
			state->open[n++] = state->open[i];
	state->n_open = n;
}

/* Closes what could not be found in the end. */
static void
close_hopeless(Privtrie *state)
{
	double everyone = (double) state->answered * state->places / state->asked;
	double worth = WORTH * survey_null_deviation(&state->survey, everyone);
	int n = 0;

	for (int i = 0; i < state->n_open; i++)
	{
		int32 node = state->open[i];
		double answered = state->survey.answers[node].answered;

		if (answered == 0 ||
			survey_share(&state->survey, node) +
					HOPE * survey_null_deviation(&state->survey, answered) >=
				worth)
			state->open[n++] = node;
	}
	state->n_open = n;
}

/* The prefixes that are expanded now: those that pass, the best if there are too many. */
static int
passing_prefixes(const Privtrie *state, int32 *nodes)
{
	int children = trie_children(&state->trie);
	int room = Min((open_limit(state) - state->n_open) / (children - 1),
				   (TRIE_MAX_SIZE - state->trie.size) / children);
	double z = survey_threshold(&state->query, GROWING_ROUNDS);
	int n = open_prefixes(state, nodes);
	int passing = 0;

	for (int i = 0; i < n; i++)
		if (survey_passes(&state->survey, nodes[i], state->query.eta, z))
			nodes[passing++] = nodes[i];
	return candidates_best(&state->survey, nodes, passing, room);
}

/* Closes what is hopeless, and expands what passes. */
static void
grow(Privtrie *state)
{
	int32 *prefixes = palloc(Max(state->n_open, 1) * sizeof(int32));

	close_hopeless(state);
	expand(state, prefixes, passing_prefixes(state, prefixes));
	pfree(prefixes);
}

/*
 * Takes the answers to what privtrie_round() asked: supported[i] for nodes[i], of so many
 * who answered, which may be fewer than there are places.
 */
void
privtrie_answers(Privtrie *state, const int64 *supported, int64 answered)
{
	PrivtrieRound round;
	Survey *survey;

	if (!privtrie_round(state, &round))
		return;
	state->asked = round.to;
	state->round = round.number;
	state->answered += answered;
	survey = round.number > GROWING_ROUNDS ? &state->refinement : &state->survey;
	survey_make_room(survey, &state->trie);
	survey_add(survey, state->open, state->n_open, supported, answered);
	if (round.number < GROWING_ROUNDS)
		grow(state);
	else
		keep_terms(state);
}

/*
 * The most frequent terms.  Each user was asked once, so those who answered are the users
 * whose numbers are estimated.  A collection may end before the last round: then the terms
 * that are open have what was answered so far.
 */
void
privtrie_finish(const Privtrie *state, LocalResult *result)
{
	int32 *terms = palloc(Max(state->n_open, 1) * sizeof(int32));
	Evidence evidence = {.query = &state->query,
						 .trie = &state->trie,
						 .users = state->answered,
						 .growth = &state->survey,
						 .refinement = &state->refinement,
						 .candidates = terms,
						 .stopping = true};

	for (int i = 0; i < state->n_open; i++)
		if (trie_is_term(&state->trie, state->open[i]))
			terms[evidence.n_candidates++] = state->open[i];
	candidates_rank(&evidence, result);
	pfree(terms);
}

void
privtrie_free(Privtrie *state)
{
	survey_free(&state->survey);
	survey_free(&state->refinement);
	trie_free(&state->trie);
	pfree(state->open);
}

/* All rounds, of a poll; errors: DP_ERR_DOMAIN. */
DpStatus
privtrie_run(const LocalQuery *query, const Poll *poll, LocalResult *result)
{
	Privtrie state;
	PrivtrieRound round;
	DpStatus status = privtrie_begin(&state, query, poll->users);

	if (status != DP_OK)
		return status;
	while (privtrie_round(&state, &round))
	{
		int64 *supported = palloc(round.n * sizeof(int64));
		int64 answered = poll->ask(poll->state, &state.trie, round.nodes, round.n, round.from,
								   round.to, &state.survey.oracle, supported);

		privtrie_answers(&state, supported, answered);
		pfree(supported);
	}
	privtrie_finish(&state, result);
	privtrie_free(&state);
	return DP_OK;
}
