/*
 * test_crowd.c
 *	  Does the crowd within the server answer as its users would, asked one by one?
 *
 * First its counts without any noise, against a count by brute force: who holds what.
 * Then with noise: counts of several nodes together, of both, against their law, which is
 * computed here user by user, and against each other.
 */
#include "local/crowd.h"

#include <math.h>
#include <gsl/gsl_cdf.h>

#include "common/dp_sample.h"
#include "laws.h"
#include "poll_each.h"
#include "tap.h"

#define MAX_NODES 400
#define MAX_LENGTH 5
#define MAX_USERS 200

/* Nodes that are asked about together, users, and cells that their counts can make. */
#define MAX_ASKED 4
#define MAX_CELLS ((MAX_USERS + 1) * (MAX_USERS + 1))

static DpRandom rng;

/* What a crowd holds; its own memory goes with the memory context in the server. */
static void
free_crowd(Crowd *crowd)
{
	pfree(crowd->start);
	pfree(crowd->arena);
	pfree(crowd->term);
	if (crowd->holder != NULL)
	{
		pfree(crowd->holder);
		pfree(crowd->sorted);
		pfree(crowd->symbol);
		pfree(crowd->holders);
	}
}

/* ---- who holds what ---- */

/* An oracle that tells the truth: its counts are the holders'. */
static const Oracle truth = {.kind = ORACLE_BITS_OF_NODES, .yes = ORACLE_ONE, .no = 0};

typedef struct Holders
{
	int users;
	uint16 symbol[MAX_USERS][MAX_LENGTH];
	int length[MAX_USERS]; /* 0: no term */
} Holders;

/* Users who share few distinct terms; many have none. */
static void
random_crowd(Crowd *crowd, int alphabet)
{
	uint32 number[20];
	int terms = 1 + (int) dp_uniform(&rng, lengthof(number));
	int users = (int) dp_uniform(&rng, MAX_USERS + 1);

	crowd_init(crowd, &rng);
	for (int i = 0; i < terms; i++)
	{
		uint16 symbol[MAX_LENGTH];
		int length = 1 + (int) dp_uniform(&rng, MAX_LENGTH);

		for (int j = 0; j < length; j++)
			symbol[j] = 1 + (uint16) dp_uniform(&rng, alphabet);
		number[i] = crowd_add_term(crowd, symbol, length);
	}
	for (int i = 0; i < users; i++)
	{
		bool none = dp_uniform(&rng, 4) == 0;

		crowd_add_user(crowd, none ? CROWD_NO_TERM : number[dp_uniform(&rng, terms)]);
	}
	crowd_shuffle(crowd);
}

static void
note_holder(void *state, int64 place, const LocalTerm *term)
{
	Holders *holders = state;

	if (place != holders->users)
		abort();
	holders->length[place] = term->length;
	memcpy(holders->symbol[place], term->symbol, term->length * sizeof(uint16));
	holders->users++;
}

/* Does the user's term, with its end, begin with the prefix? */
static bool
begins_with(const Holders *holders, int64 place, const uint16 *prefix, int depth)
{
	int length = holders->length[place];

	for (int i = 0; i < depth; i++)
		if (length == 0 || i > length ||
			prefix[i] != (i < length ? holders->symbol[place][i] : SYMBOL_END))
			return false;
	return true;
}

static int64
holders_by_force(const Holders *holders, const Trie *trie, int32 node, int64 from, int64 to)
{
	uint16 prefix[MAX_LENGTH + 2];
	int depth = trie_prefix(trie, node, prefix);
	int64 n = 0;

	for (int64 place = from; place < to; place++)
		n += begins_with(holders, place, prefix, depth);
	return n;
}

/* Expands a random node, if it may be; terms can reach every node. */
static void
grow(Trie *trie)
{
	int32 node = (int32) dp_uniform(&rng, trie->size);

	if (trie->node[node].first_child == TRIE_NONE && !trie_is_term(trie, node) &&
		trie->node[node].depth <= MAX_LENGTH && trie->size + trie_children(trie) <= MAX_NODES)
		trie_expand(trie, node);
}

/* Asks about some nodes, of some places, and compares. */
static bool
right_counts(const Poll *poll, const Holders *holders, const Trie *trie)
{
	int32 node[MAX_ASKED];
	int64 supported[MAX_ASKED];
	int n = 1 + (int) dp_uniform(&rng, MAX_ASKED);
	int64 from = (int64) dp_uniform(&rng, poll->users + 1);
	int64 to = from + (int64) dp_uniform(&rng, poll->users - from + 1);

	for (int i = 0; i < n; i++)
		node[i] = (int32) (trie->size > 1 ? 1 + dp_uniform(&rng, trie->size - 1) : TRIE_ROOT);
	if (trie->size == 1)
		return true;
	if (poll->ask(poll->state, trie, node, n, from, to, &truth, supported) != to - from)
		return false;
	for (int i = 0; i < n; i++)
		if (supported[i] != holders_by_force(holders, trie, node[i], from, to))
			return false;
	return true;
}

static bool
right_lengths(const Poll *poll, const Holders *holders)
{
	int64 supported[MAX_LENGTH + 1];
	int n = 1 + (int) dp_uniform(&rng, MAX_LENGTH + 1);
	int64 from = (int64) dp_uniform(&rng, poll->users + 1);
	int64 to = from + (int64) dp_uniform(&rng, poll->users - from + 1);

	if (poll->ask_lengths(poll->state, n, from, to, &truth, supported) != to - from)
		return false;
	for (int i = 0; i < n; i++)
	{
		for (int64 place = from; place < to; place++)
			supported[i] -= holders->length[place] == i + 1;
		if (supported[i] != 0)
			return false;
	}
	return true;
}

static void
test_holders(void)
{
	const int crowds = 300;
	int asked = 0;
	bool counts = true;
	bool lengths = true;

	for (int i = 0; i < crowds; i++)
	{
		Crowd crowd;
		Holders holders = {0};
		Poll poll;
		Trie trie[2];
		int alphabet = 1 + (int) dp_uniform(&rng, 4);

		random_crowd(&crowd, alphabet);
		poll = crowd_poll(&crowd);
		poll.visit(poll.state, 0, poll.users, note_holder, &holders);
		counts = counts && holders.users == poll.users;
		trie_init(&trie[0], alphabet);
		trie_init(&trie[1], alphabet);
		for (int step = 0; step < 60; step++)
		{
			/* the second trie only at times: each change of tries begins anew */
			int which = dp_uniform(&rng, 10) == 0;

			grow(&trie[which]);
			counts = counts && right_counts(&poll, &holders, &trie[which]);
			lengths = lengths && right_lengths(&poll, &holders);
			asked++;
		}
		trie_free(&trie[0]);
		trie_free(&trie[1]);
		free_crowd(&crowd);
	}
	ok(counts, "without noise its counts are the holders', in %d random questions", asked);
	ok(lengths, "so are its counts of lengths");
}

#define ORDERS 50000

/* All orders of four users are alike. */
static void
test_shuffle(void)
{
	uint64 seen[256] = {0};
	double p[256] = {0};
	Crowd crowd;

	crowd_init(&crowd, &rng);
	for (int i = 0; i < 4; i++)
		crowd_add_user(&crowd, crowd_add_term(&crowd, (uint16[]){i + 1}, 1));
	for (int order = 0; order < 256; order++)
	{
		int mask = 0;

		for (int i = 0; i < 4; i++)
			mask |= 1 << (order >> (2 * i) & 3);
		p[order] = mask == 15 ? 1.0 / 24 : 0;
	}
	for (int i = 0; i < ORDERS; i++)
	{
		int order = 0;

		crowd_shuffle(&crowd);
		for (int64 place = 0; place < 4; place++)
			order = order << 2 | (crowd_term(&crowd, place).symbol[0] - 1);
		seen[order]++;
	}
	ok(chi_square_p(seen, p, 256) > ALARM, "every order of its users is as likely");
	free_crowd(&crowd);
}

/* ---- the law of the counts ---- */

/* One question of a range of places: about nodes by their prefixes, "&" an end. */
typedef struct Question
{
	int n;
	const char *prefix[MAX_ASKED];
	int64 from;
	int64 to;
} Question;

#define MAX_QUESTIONS 2

typedef struct Setting
{
	const char *name;
	int64 users;
	const char *word[MAX_USERS]; /* of the user at each place; NULL: as the place before */
	int questions;
	Question question[MAX_QUESTIONS];
	int draws;
} Setting;

/*
 * Few users: siblings, and then children of one of them, of other users, as methods ask.
 * Many users: counts that are drawn in another way.
 */
static const Setting settings[] = {
	{
		.name = "few users",
		.users = 9,
		.word = {"a", "ab", "", "b", "a", "abb", "c", "a", ""},
		.questions = 2,
		.question = {{2, {"a", "b"}, 0, 5}, {2, {"a&", "ab"}, 5, 9}},
		.draws = 200000,
	},
	{
		.name = "many users",
		.users = MAX_USERS,
		.word = {[0] = "a", [90] = "b", [130] = "cc", [160] = ""},
		.questions = 1,
		.question = {{2, {"a", "b"}, 0, MAX_USERS}},
		.draws = 50000,
	},
};

/* What the user at a place has. */
static const char *
word_at(const Setting *setting, int64 place)
{
	while (setting->word[place] == NULL)
		place--;
	return setting->word[place];
}

static int32
node_of(Trie *trie, const char *prefix)
{
	int32 node = TRIE_ROOT;

	for (; *prefix != '\0'; prefix++)
	{
		if (trie->node[node].first_child == TRIE_NONE)
			trie_expand(trie, node);
		node = trie->node[node].first_child + (*prefix == '&' ? SYMBOL_END : *prefix - 'a' + 1);
	}
	return node;
}

static void
make_crowd(Crowd *crowd, const Setting *setting)
{
	crowd_init(crowd, &rng);
	for (int64 place = 0; place < setting->users; place++)
	{
		const char *word = word_at(setting, place);
		uint16 symbol[MAX_LENGTH];
		int length = strlen(word);

		for (int i = 0; i < length; i++)
			symbol[i] = word[i] - 'a' + 1;
		crowd_add_user(crowd,
					   length == 0 ? CROWD_NO_TERM : crowd_add_term(crowd, symbol, length));
	}
}

static void
make_each(PollEach *each, const Setting *setting)
{
	PollWord words[MAX_USERS];

	for (int64 place = 0; place < setting->users; place++)
		words[place] = (PollWord){word_at(setting, place), 1};
	poll_each_init(each, words, (int) setting->users, &rng);
}

static double
as_probability(uint64 units)
{
	return (double) units / (double) ORACLE_ONE;
}

/* Adds a user to the law of a count: one more with probability p. */
static void
add_trial(double *law, int n, double p)
{
	for (int i = n; i >= 0; i--)
		law[i] = law[i] * (1 - p) + (i > 0 ? law[i - 1] * p : 0);
}

/* The law of one count, user by user. */
static void
law_of_count(const Setting *setting, const Question *question, const char *prefix,
			 const Oracle *oracle, double *law)
{
	memset(law, 0, (MAX_USERS + 1) * sizeof(double));
	law[0] = 1;
	for (int64 place = question->from; place < question->to; place++)
	{
		const char *word = word_at(setting, place);
		char ended[MAX_LENGTH + 2];
		bool holds;

		snprintf(ended, sizeof(ended), "%s&", word);
		holds = word[0] != '\0' && strncmp(ended, prefix, strlen(prefix)) == 0;
		add_trial(law, (int) (place - question->from) + 1,
				  as_probability(holds ? oracle->yes : oracle->no));
	}
}

/* The joint law of all counts: they are independent.  Returns the number of cells. */
static int
joint_law(const Setting *setting, const Oracle *oracle, double *p)
{
	int cells = 1;

	p[0] = 1;
	for (int q = 0; q < setting->questions; q++)
		for (int i = 0; i < setting->question[q].n; i++)
		{
			const Question *question = &setting->question[q];
			double law[MAX_USERS + 1];
			int values = (int) (question->to - question->from) + 1;

			law_of_count(setting, question, question->prefix[i], oracle, law);
			for (int cell = cells - 1; cell >= 0; cell--)
				for (int value = values - 1; value >= 0; value--)
					p[cell * values + value] = p[cell] * law[value];
			cells *= values;
		}
	return cells;
}

/* Asks all questions once; returns the cell of the counts, or -1. */
static int
draw_cell(const Setting *setting, const Poll *poll, const Trie *trie, int32 node[][MAX_ASKED],
		  const Oracle *oracle)
{
	int cell = 0;

	for (int q = 0; q < setting->questions; q++)
	{
		const Question *question = &setting->question[q];
		int64 supported[MAX_ASKED];
		int64 users = question->to - question->from;

		if (poll->ask(poll->state, trie, node[q], question->n, question->from, question->to,
					  oracle, supported) != users)
			return -1;
		for (int i = 0; i < question->n; i++)
			cell = cell * (int) (users + 1) + (int) supported[i];
	}
	return cell;
}

/* Two samples of the same size: the p-value of their having one law, by chi-square. */
static double
two_sample_p(const uint64 *a, const uint64 *b, int cells)
{
	double statistic = 0;
	double rest_a = 0;
	double rest_b = 0;
	int used = 0;

	for (int i = 0; i < cells; i++)
	{
		rest_a += a[i];
		rest_b += b[i];
		if (rest_a + rest_b < 40)
			continue;
		statistic += (rest_a - rest_b) * (rest_a - rest_b) / (rest_a + rest_b);
		rest_a = rest_b = 0;
		used++;
	}
	return used < 2 ? 1 : gsl_cdf_chisq_Q(statistic, used - 1);
}

/* Draws from both; false: a count that cannot be. */
static bool
draw_counts(const Setting *setting, const Oracle *oracle, int cells, uint64 seen[][MAX_CELLS])
{
	int32 node[MAX_QUESTIONS][MAX_ASKED];
	bool inside = true;
	Crowd crowd;
	PollEach each;
	Poll door;
	Trie trie;

	trie_init(&trie, 3);
	for (int q = 0; q < setting->questions; q++)
		for (int i = 0; i < setting->question[q].n; i++)
			node[q][i] = node_of(&trie, setting->question[q].prefix[i]);
	make_crowd(&crowd, setting);
	make_each(&each, setting);
	door = crowd_poll(&crowd);
	for (int i = 0; i < setting->draws; i++)
		for (int which = 0; which < 2; which++)
		{
			int cell = draw_cell(setting, which == 0 ? &door : &each.poll, &trie, node, oracle);

			inside = inside && cell >= 0 && cell < cells;
			if (inside)
				seen[which][cell]++;
		}
	trie_free(&trie);
	poll_each_free(&each);
	free_crowd(&crowd);
	return inside;
}

static void
test_law(const char *what, const Setting *setting, const Oracle *oracle)
{
	static uint64 seen[2][MAX_CELLS];
	static double p[MAX_CELLS];
	int cells = joint_law(setting, oracle, p);
	bool inside;
	double crowd;
	double each;
	double both;

	memset(seen, 0, sizeof(seen));
	inside = draw_counts(setting, oracle, cells, seen);
	crowd = chi_square_p(seen[0], p, cells);
	each = chi_square_p(seen[1], p, cells);
	both = two_sample_p(seen[0], seen[1], cells);
	ok(inside && crowd > ALARM, "%s, %s: the crowd's counts have their joint law (p = %.2g)", what,
	   setting->name, crowd);
	ok(inside && each > ALARM, "%s, %s: so have those of users asked one by one (p = %.2g)", what,
	   setting->name, each);
	ok(both > ALARM, "%s, %s: the two are alike (p = %.2g)", what, setting->name, both);
}

int
main(void)
{
	dp_random_seeded(&rng, 0x63726f77, 0, 0);
	test_holders();
	test_shuffle();
	for (int i = 0; i < (int) lengthof(settings); i++)
	{
		Oracle oracle;

		if (oracle_bits(1, &oracle) == DP_OK)
			test_law("bits", &settings[i], &oracle);
		if (oracle_hash(1, &oracle) == DP_OK)
			test_law("hash values", &settings[i], &oracle);
		if (oracle_hash(3, &oracle) == DP_OK)
			test_law("hash values, less privacy", &settings[i], &oracle);
	}
	return tap_done();
}
