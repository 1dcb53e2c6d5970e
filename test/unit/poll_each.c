/*
 * poll_each.c
 *	  A poll that asks its users one by one, and writes down what it asked.
 */
#include "poll_each.h"

#include <math.h>

#include "common/dp_sample.h"

#define MARK_NONE (-1)

static uint16 *
symbols_of(const char *word)
{
	int length = strlen(word);
	uint16 *symbol = palloc(Max(length, 1) * sizeof(uint16));

	for (int i = 0; i < length; i++)
		symbol[i] = word[i] - 'a' + 1;
	return symbol;
}

/* By how much two truths can move the likelihood of an answer. */
static double
epsilon_of(const Oracle *oracle)
{
	double one = (double) ORACLE_ONE;
	double yes = (double) oracle->yes / one;
	double no = (double) oracle->no / one;

	if (oracle->kind == ORACLE_CHOICE || oracle->kind == ORACLE_HASH)
		return log(yes * (oracle->values - 1) / (1 - yes));
	return oracle->kind == ORACLE_SIGN ? log(yes / no) : log(yes / no * (1 - no) / (1 - yes));
}

static void
record(PollEach *each, int32 node, int64 from, int64 to, const Oracle *oracle)
{
	if (!each->recording)
		return;
	if (each->asked == NULL)
	{
		each->capacity = 1024;
		each->asked = palloc(each->capacity * sizeof(PollAsked));
	}
	if (each->n_asked == each->capacity)
	{
		each->capacity *= 2;
		each->asked = repalloc(each->asked, each->capacity * sizeof(PollAsked));
	}
	each->asked[each->n_asked++] = (PollAsked){node, from, to, epsilon_of(oracle)};
}

static void
record_trie(PollEach *each, const Trie *trie)
{
	if (!each->recording)
		return;
	if (each->parent != NULL)
		pfree(each->parent);
	each->n_nodes = trie->size;
	each->parent = palloc(trie->size * sizeof(int32));
	for (int32 node = 0; node < trie->size; node++)
		each->parent[node] = trie->node[node].parent;
}

/* The place of the one node asked about that holds the term, or MARK_NONE. */
static int
node_held(const Trie *trie, const int32 *mark, const LocalTerm *term)
{
	int32 node = TRIE_ROOT;

	for (int at = 0; term->length > 0 && at <= term->length; at++)
	{
		if (trie->node[node].first_child == TRIE_NONE)
			break;
		node = trie->node[node].first_child +
			   (at < term->length ? term->symbol[at] : SYMBOL_END);
		if (mark[node] != MARK_NONE)
			return mark[node];
	}
	return MARK_NONE;
}

/* What a user hashes: the prefix as deep as what is asked about, or the whole term. */
static uint64
item_of(const LocalTerm *term, int depth)
{
	uint16 symbol[TERM_MAX_LENGTH + 1];
	int n = Min(depth, term->length + 1);

	for (int i = 0; i < n; i++)
		symbol[i] = i < term->length ? term->symbol[i] : SYMBOL_END;
	return oracle_item(symbol, n);
}

/* One user's answer by a hash: which of the nodes it supports. */
static void
ask_by_hash(PollEach *each, const LocalTerm *term, const Oracle *oracle, const uint64 *item,
			int n, uint64 own, int64 *supported)
{
	uint64 seed = dp_random_u64(each->rng);
	uint32 truth = term->length == 0 ? oracle->values : oracle_hash_value(oracle, seed, own);
	uint32 value = oracle_answer_value(oracle, each->rng, truth);

	for (int i = 0; i < n; i++)
		supported[i] += oracle_hash_value(oracle, seed, item[i]) == value;
}

static bool
absent(const PollEach *each, int64 place)
{
	return each->present != NULL && !each->present[place];
}

static int64
ask(void *state, const Trie *trie, const int32 *nodes, int n, int64 from, int64 to,
	const Oracle *oracle, int64 *supported)
{
	PollEach *each = state;
	int32 *mark = palloc(trie->size * sizeof(int32));
	uint64 *item = palloc(Max(n, 1) * sizeof(uint64));
	uint16 symbol[TERM_MAX_LENGTH + 1];
	int depth = 0;
	int64 answered = 0;

	for (int i = 0; i < trie->size; i++)
		mark[i] = MARK_NONE;
	for (int i = 0; i < n; i++)
	{
		supported[i] = 0;
		mark[nodes[i]] = i;
		item[i] = oracle_item(symbol, trie_prefix(trie, nodes[i], symbol));
		depth = Max(depth, trie->node[nodes[i]].depth);
		record(each, nodes[i], from, to, oracle);
	}
	record_trie(each, trie);
	for (int64 place = from; place < to; place++)
	{
		const LocalTerm *term = &each->term[place];
		int held = node_held(trie, mark, term);

		if (absent(each, place))
			continue;
		answered++;
		if (oracle->kind == ORACLE_HASH)
			ask_by_hash(each, term, oracle, item, n,
						held == MARK_NONE ? item_of(term, depth) : item[held], supported);
		else
			for (int i = 0; i < n; i++)
				supported[i] += oracle_answer_bit(oracle, each->rng, i == held);
	}
	pfree(mark);
	pfree(item);
	return answered;
}

static int64
ask_lengths(void *state, int n, int64 from, int64 to, const Oracle *oracle, int64 *supported)
{
	PollEach *each = state;
	int64 answered = 0;

	record(each, POLL_LENGTHS, from, to, oracle);
	for (int i = 0; i < n; i++)
		supported[i] = 0;
	for (int64 place = from; place < to; place++)
	{
		if (absent(each, place))
			continue;
		answered++;
		for (int i = 0; i < n; i++)
			supported[i] += oracle_answer_bit(oracle, each->rng,
											  each->term[place].length == i + 1);
	}
	return answered;
}

static void
visit(void *state, int64 from, int64 to, PollClient client, void *client_state)
{
	PollEach *each = state;

	for (int64 place = from; place < to; place++)
		if (!absent(each, place))
			client(client_state, place, &each->term[place]);
}

/* Users with the words, in the order given; n may be 0. */
void
poll_each_init(PollEach *each, const PollWord *words, int n, DpRandom *rng)
{
	int64 users = 0;
	int64 place = 0;

	for (int i = 0; i < n; i++)
		users += words[i].users;
	*each = (PollEach){
		.poll = {users, each, ask, ask_lengths, visit},
		.rng = rng,
		.term = palloc(Max(users, 1) * sizeof(LocalTerm)),
		.symbol = palloc(Max(n, 1) * sizeof(uint16 *)),
		.n_words = n};
	for (int i = 0; i < n; i++)
	{
		LocalTerm term;

		each->symbol[i] = symbols_of(words[i].word);
		term = (LocalTerm){strlen(words[i].word), each->symbol[i]};
		for (int64 u = 0; u < words[i].users; u++)
			each->term[place++] = term;
	}
}

/* A new order of the users; what was written down is forgotten. */
void
poll_each_shuffle(PollEach *each)
{
	for (int64 i = each->poll.users - 1; i > 0; i--)
	{
		int64 j = dp_uniform(each->rng, i + 1);
		LocalTerm term = each->term[i];

		each->term[i] = each->term[j];
		each->term[j] = term;
	}
	each->n_asked = 0;
}

void
poll_each_free(PollEach *each)
{
	for (int i = 0; i < each->n_words; i++)
		pfree(each->symbol[i]);
	pfree(each->symbol);
	pfree(each->term);
	if (each->asked != NULL)
		pfree(each->asked);
	if (each->parent != NULL)
		pfree(each->parent);
}

/* What the user at a place has spent: on lengths, and on the dearest path of the trie. */
static double
epsilon_at(const PollEach *each, int64 place, double *along)
{
	double lengths = 0;
	double dearest = 0;

	for (int32 node = 0; node < each->n_nodes; node++)
		along[node] = 0;
	for (int i = 0; i < each->n_asked; i++)
	{
		const PollAsked *asked = &each->asked[i];

		if (asked->from > place || asked->to <= place)
			continue;
		if (asked->node == POLL_LENGTHS)
			lengths += asked->epsilon;
		else
			along[asked->node] += asked->epsilon;
	}
	for (int32 node = 1; node < each->n_nodes; node++)
	{
		along[node] += along[each->parent[node]];
		dearest = Max(dearest, along[node]);
	}
	return lengths + dearest;
}

/*
 * The most that any user has spent, from what was written down: answers about nodes of
 * one path add up, those about others are of one vector (Lemma IV.3).
 */
double
poll_each_epsilon(const PollEach *each)
{
	double *along = palloc(Max(each->n_nodes, 1) * sizeof(double));
	double most = 0;

	for (int i = 0; i < each->n_asked; i++)
		if (i == 0 || each->asked[i].from != each->asked[i - 1].from)
			most = Max(most, epsilon_at(each, each->asked[i].from, along));
	pfree(along);
	return most;
}
