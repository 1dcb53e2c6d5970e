/*
 * test_privtrie.c
 *	  PrivTrie's machine of rounds: what it asks is a function of what was answered, nobody
 *	  is asked twice, and places may be empty.
 */
#include "local/candidates.h"
#include "local/privtrie.h"

#include <math.h>

#include "poll_each.h"
#include "tap.h"

#define MAX_ROUNDS 200
#define FAR_OUT 4.9 /* standard deviations, p = 1e-6 on two sides */

static DpRandom rng;

static const PollWord words[] = {
	{"a", 5000}, {"bead", 4000}, {"cabbed", 3000}, {"", 1000}, {"ee", 2}};

static const LocalQuery usual = {
	.epsilon = 4, .k = 3, .consistency = true, .alphabet = 5, .max_length = 8, .frontier = 100};

/* What was asked and answered in each round. */
typedef struct Transcript
{
	int rounds;
	PrivtrieRound round[MAX_ROUNDS]; /* with a copy of the nodes */
	int64 *supported[MAX_ROUNDS];
	int64 answered[MAX_ROUNDS];
} Transcript;

static Transcript transcript;

static void
free_transcript(void)
{
	for (int i = 0; i < transcript.rounds; i++)
	{
		pfree((void *) transcript.round[i].nodes);
		pfree(transcript.supported[i]);
	}
	transcript.rounds = 0;
}

static void
free_result(LocalResult *result)
{
	for (int i = 0; i < result->n; i++)
		pfree(result->found[i].symbol);
	pfree(result->found);
}

/* Drives the machine over a poll, and writes down all of it. */
static void
drive(Privtrie *state, const Poll *poll)
{
	PrivtrieRound round;

	while (privtrie_round(state, &round) && transcript.rounds < MAX_ROUNDS)
	{
		int at = transcript.rounds++;
		int32 *nodes = palloc(round.n * sizeof(int32));

		memcpy(nodes, round.nodes, round.n * sizeof(int32));
		transcript.round[at] = round;
		transcript.round[at].nodes = nodes;
		transcript.supported[at] = palloc(round.n * sizeof(int64));
		transcript.answered[at] = poll->ask(poll->state, &state->trie, nodes, round.n, round.from,
											round.to, &state->survey.oracle,
											transcript.supported[at]);
		privtrie_answers(state, transcript.supported[at], transcript.answered[at]);
	}
}

/* Does a machine that is given the same answers ask the same? */
static bool
replays(const LocalQuery *query, int64 places)
{
	Privtrie state;
	PrivtrieRound round;
	bool same = privtrie_begin(&state, query, places) == DP_OK;

	for (int i = 0; i < transcript.rounds; i++)
	{
		const PrivtrieRound *before = &transcript.round[i];

		same &= privtrie_round(&state, &round) && round.number == before->number &&
				round.from == before->from && round.to == before->to && round.n == before->n &&
				memcmp(round.nodes, before->nodes, round.n * sizeof(int32)) == 0;
		if (!same)
			break;
		privtrie_answers(&state, transcript.supported[i], transcript.answered[i]);
	}
	same &= !privtrie_round(&state, &round);
	privtrie_free(&state);
	return same;
}

/* ---- what the rounds are ---- */

static bool
lies_below(const Trie *trie, int32 node, int32 other)
{
	while (node != TRIE_NONE && node != other)
		node = trie->node[node].parent;
	return node == other;
}

static bool
antichains(const Trie *trie)
{
	for (int r = 0; r < transcript.rounds; r++)
		for (int i = 0; i < transcript.round[r].n; i++)
			for (int j = 0; j < transcript.round[r].n; j++)
				if (i != j && lies_below(trie, transcript.round[r].nodes[i],
										 transcript.round[r].nodes[j]))
					return false;
	return true;
}

/* Rounds follow each other over the places; a node's come after all of its parent's. */
static bool
in_order(const Trie *trie, int64 places)
{
	int64 at = 0;
	int *last = palloc0(trie->size * sizeof(int));
	bool result = true;

	for (int r = 0; r < transcript.rounds; r++)
	{
		const PrivtrieRound *round = &transcript.round[r];

		result &= round->from == at && round->to > at && round->to <= places;
		at = round->to;
		for (int i = 0; i < round->n; i++)
			last[round->nodes[i]] = r + 1;
	}
	for (int r = 0; r < transcript.rounds; r++)
		for (int i = 0; i < transcript.round[r].n; i++)
			result &= last[trie->node[transcript.round[r].nodes[i]].parent] <= r;
	pfree(last);
	return result && at == places;
}

static bool
bounded(int limit)
{
	for (int r = 0; r < transcript.rounds; r++)
		if (transcript.round[r].n > limit)
			return false;
	return true;
}

static void
test_rounds(void)
{
	PollEach each;
	Privtrie state;

	poll_each_init(&each, words, lengthof(words), &rng);
	poll_each_shuffle(&each);
	each.recording = true;
	(void) privtrie_begin(&state, &usual, each.poll.users);
	drive(&state, &each.poll);
	ok(antichains(&state.trie), "no round asks about two nodes of one path");
	ok(in_order(&state.trie, each.poll.users), "every place is asked in one round, parents first");
	ok(bounded(usual.frontier), "no more nodes are open than the frontier allows");
	ok(fabs(poll_each_epsilon(&each) - usual.epsilon) < 1e-9, "a user spends epsilon");
	ok(replays(&usual, each.poll.users), "the same answers lead to the same questions");
	ok(state.answered == each.poll.users, "everyone answered");
	privtrie_free(&state);
	poll_each_free(&each);
	free_transcript();
}

/* Two nodes of one path asked of the same users would be seen. */
static void
test_watch(void)
{
	PollEach each;
	Trie trie;
	Oracle oracle;
	int64 supported;

	poll_each_init(&each, words, lengthof(words), &rng);
	each.recording = true;
	trie_init(&trie, 5);
	trie_expand(&trie, trie_expand(&trie, TRIE_ROOT) + 1);
	(void) oracle_bits(1, &oracle);
	each.poll.ask(each.poll.state, &trie, &(int32){1}, 1, 0, 100, &oracle, &supported);
	each.poll.ask(each.poll.state, &trie, &(int32){7}, 1, 0, 100, &oracle, &supported);
	ok(fabs(poll_each_epsilon(&each) - 1) < 1e-9, "two vectors' parts cost epsilon once");
	each.poll.ask(each.poll.state, &trie, &(int32){2}, 1, 50, 150, &oracle, &supported);
	ok(fabs(poll_each_epsilon(&each) - 2) < 1e-9, "parent and child cost epsilon twice");
	trie_free(&trie);
	poll_each_free(&each);
}

/* ---- empty places ---- */

static const LocalFound *
find_a(const LocalResult *result)
{
	for (int i = 0; i < result->n; i++)
		if (result->found[i].length == 1 && result->found[i].symbol[0] == 1)
			return &result->found[i];
	return NULL;
}

/* Some places are empty: what is estimated is the number among those who answered. */
static void
test_tickets(void)
{
	PollEach each;
	Privtrie state;
	LocalResult result;
	bool *present;
	int64 with_a = 0;
	int64 there = 0;
	const LocalFound *found;

	poll_each_init(&each, words, lengthof(words), &rng);
	poll_each_shuffle(&each);
	present = palloc(each.poll.users * sizeof(bool));
	for (int64 place = 0; place < each.poll.users; place++)
	{
		present[place] = dp_random_u64(&rng) % 4 == 0;
		there += present[place];
		with_a += present[place] && each.term[place].length == 1;
	}
	each.present = present;
	(void) privtrie_begin(&state, &usual, each.poll.users);
	drive(&state, &each.poll);
	privtrie_finish(&state, &result);
	found = find_a(&result);
	ok(state.answered == there, "one place in four answers: %d did", (int) there);
	ok(found != NULL && fabs(found->estimate - with_a) < FAR_OUT * found->stddev &&
		   found->stddev < with_a / 10.0,
	   "'a' is counted among them: %g for %d", found != NULL ? found->estimate : 0, (int) with_a);
	free_result(&result);
	privtrie_free(&state);
	poll_each_free(&each);
	pfree(present);
	free_transcript();
}

static void
test_nobody_answers(void)
{
	PollEach each;
	Privtrie state;
	LocalResult result;

	poll_each_init(&each, words, lengthof(words), &rng);
	each.present = palloc0(each.poll.users * sizeof(bool));
	(void) privtrie_begin(&state, &usual, each.poll.users);
	drive(&state, &each.poll);
	privtrie_finish(&state, &result);
	ok(transcript.rounds > 0 && result.n == 0, "nobody answers: nothing is found");
	free_result(&result);
	privtrie_free(&state);
	pfree((void *) each.present);
	poll_each_free(&each);
	free_transcript();
}

/* With an alphabet that has no room beside itself, the trie ends at its public size. */
static void
test_size(void)
{
	PollEach each;
	Privtrie state;
	LocalQuery query = usual;

	query.alphabet = ALPHABET_MAX_SIZE / 8;
	query.epsilon = 20;
	poll_each_init(&each, words, lengthof(words), &rng);
	poll_each_shuffle(&each);
	each.poll.users = 400;
	(void) privtrie_begin(&state, &query, each.poll.users);
	drive(&state, &each.poll);
	ok(state.trie.size <= TRIE_MAX_SIZE && state.trie.size > 3 * query.alphabet &&
		   bounded(2 * (query.alphabet + 1)),
	   "a large alphabet: the trie has %d nodes", state.trie.size);
	privtrie_free(&state);
	poll_each_free(&each);
	free_transcript();
}

int
main(void)
{
	dp_random_seeded(&rng, 5, 3, 1);
	test_rounds();
	test_watch();
	test_tickets();
	test_nobody_answers();
	test_size();
	dp_random_clear(&rng);
	return tap_done();
}
