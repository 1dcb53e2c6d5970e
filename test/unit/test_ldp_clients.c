/*
 * test_ldp_clients.c
 *	  Are the clients' halves epsilon-private?  The law of what they send is read off the
 *	  code itself, word by word of its randomness, and compared between all terms.
 *
 * Besides: what the methods do within the server with the users' terms is what they would
 * do with reports of clients, and no user is asked twice.
 */
#include "local/local.h"

#include "common/dp_sample.h"
#include "exact_exp.h"
#include "local/pem.h"
#include "local/round.h"
#include "local/treehist.h"
#include "poll_each.h"
#include "results.h"
#include "script_rng.h"
#include "tap.h"

#define LETTERS 2
#define LONGEST 3

/* What a user may have: nothing, all terms of one and two letters, some longer ones. */
static const struct
{
	int length;
	uint16 symbol[LONGEST + 1];
} possible[] = {
	{0, {0}},
	{1, {1}},
	{1, {2}},
	{2, {1, 1}},
	{2, {1, 2}},
	{2, {2, 1}},
	{2, {2, 2}},
	{3, {1, 1, 1}},
	{3, {1, 1, 2}},
	{3, {2, 1, 2}},
	{4, {1}},
	{4, {2, 1, 2, 2}},
};

#define TERMS ((int) lengthof(possible))

static const double epsilons[] = {1e-3, 1, 4, 10};

static LocalTerm
term_of(int i)
{
	return (LocalTerm){possible[i].length, possible[i].symbol};
}

static LocalQuery
query_of(double epsilon)
{
	return (LocalQuery){
		.epsilon = epsilon,
		.k = 3,
		.alphabet = LETTERS,
		.max_length = LONGEST,
		.frontier = LOCAL_FRONTIER,
	};
}

/* How near to e^epsilon the worst quotient must come. */
#define TIGHT 1e-9

/* ---- TreeHist: a bit ---- */

/* The report that comes of two words: the column, and the coin. */
static LocalReport
treehist_of(const TreeHistPlan *plan, int64 place, const LocalTerm *term, uint64 seed, uint64 coin)
{
	DpRandom rng;

	script_words(&rng, (const uint64[]){seed, coin}, 2);
	return treehist_report(plan, place, term, &rng);
}

/* So many coins there are. */
#define COINS ((dp_uint128) 1 << 64)

/*
 * The number of coins that make the value 1.  The value changes once on the way
 * from the smallest to the largest coin; bisection finds where.  0 or nearly 2^64 where it
 * does not change.
 */
static uint64
coins_for_one(const TreeHistPlan *plan, int64 place, const LocalTerm *term, uint64 seed)
{
	uint32 first = treehist_of(plan, place, term, seed, 0).value;
	uint64 low = 0;
	uint64 high = ~UINT64CONST(0);

	if (treehist_of(plan, place, term, seed, high).value == first)
		return first == 0 ? 0 : high;
	while (high - low > 1)
	{
		uint64 middle = low + (high - low) / 2;

		if (treehist_of(plan, place, term, seed, middle).value == first)
			low = middle;
		else
			high = middle;
	}
	return first == 0 ? (uint64) (COINS - high) : high;
}

/* Column and place say nothing of the term. */
static bool
same_besides_value(const TreeHistPlan *plan, int64 place, const LocalTerm *term, uint64 seed)
{
	LocalReport report = treehist_of(plan, place, term, seed, 0);

	return report.place == place && report.seed == seed && report.value < 2;
}

typedef struct Verdict
{
	bool bounded;
	bool reached;
	bool blind; /* what is not randomised is the same for all terms */
} Verdict;

/* One place and column: all terms against each other, for both values. */
static void
judge_treehist(const TreeHistPlan *plan, int64 place, uint64 seed, double epsilon, Verdict *v)
{
	uint64 one[TERMS];

	for (int t = 0; t < TERMS; t++)
	{
		LocalTerm term = term_of(t);

		v->blind = v->blind && same_besides_value(plan, place, &term, seed);
		one[t] = coins_for_one(plan, place, &term, seed);
	}
	for (int s = 0; s < TERMS; s++)
		for (int t = 0; t < TERMS; t++)
			for (int value = 0; value < 2; value++)
			{
				dp_uint128 p = value == 1 ? one[s] : COINS - one[s];
				dp_uint128 q = value == 1 ? one[t] : COINS - one[t];
				Quotient quotient = {1, {p}, {q}};

				v->bounded = v->bounded && quotient_at_most_exp(&quotient, epsilon);
				v->reached = v->reached || quotient_near_exp(&quotient, epsilon, TIGHT);
			}
}

static void
test_treehist(double epsilon)
{
	LocalQuery base = query_of(epsilon);
	TreeHistQuery query = treehist_defaults(&base);
	Verdict v = {true, false, true};
	TreeHistPlan plan;
	const int seeds = 3;

	query.rows = 2;
	query.first = 5;
	query.key = 0x7468;
	if (treehist_plan(&query, 100, &plan) != DP_OK)
		v.bounded = false;
	/* every level and row */
	for (int64 place = plan.first; place < plan.first + plan.prefixes.levels * plan.rows; place++)
		for (int seed = 0; seed < seeds; seed++)
			judge_treehist(&plan, place, dp_mix64(place, seed), epsilon, &v);
	ok(v.blind, "treehist, epsilon %g: place and column do not depend on the term", epsilon);
	ok(v.bounded && v.reached, "treehist, epsilon %g: the bit's law differs by e^epsilon", epsilon);
}

/* ---- PEM: a hash value ---- */

static uint32
pem_value(const PemPlan *plan, int64 place, const LocalTerm *term, uint64 seed, uint64 coin,
		  uint64 lie)
{
	DpRandom rng;

	script_words(&rng, (const uint64[]){seed, coin, lie}, 3);
	return pem_report(plan, place, term, &rng).value;
}

/* The j-th of n words that dp_uniform(n) makes different values of, far from its redraws. */
static uint64
spread(uint32 j, uint32 n)
{
	return (uint64) ((((dp_uint128) j << 64) + ((dp_uint128) 1 << 63)) / n);
}

/*
 * Is one value reported for as many coins as the oracle keeps, and for all others each
 * other value, by a uniform choice?  Of a user without a term, all values by one choice?
 */
static bool
has_law(const PemPlan *plan, int64 place, const LocalTerm *term, uint64 seed)
{
	const Oracle *oracle = &plan->oracle;
	uint32 g = oracle->values;
	uint64 kept = oracle->keep << (64 - ORACLE_BITS);
	uint32 truth = pem_value(plan, place, term, seed, 0, 0);
	bool *seen = palloc0(g * sizeof(bool));
	bool right = true;
	uint32 choices = term->length > 0 ? g - 1 : g;

	for (uint32 j = 0; j < choices; j++)
	{
		uint64 word = spread(j, choices);
		uint64 coin = term->length > 0 ? kept : word;
		uint32 value = pem_value(plan, place, term, seed, coin, word);

		right = right && value < g && !seen[value];
		if (right)
			seen[value] = true;
	}
	if (term->length > 0)
		right = right && !seen[truth] &&
				pem_value(plan, place, term, seed, kept - 1, 0) == truth;
	pfree(seen);
	return right;
}

static void
test_pem(double epsilon)
{
	LocalQuery base = query_of(epsilon);
	PemQuery query = pem_defaults(&base);
	PemPlan plan;
	bool right = true;
	bool blind = true;

	query.start = 1;
	query.first = 3;
	if (pem_plan(&query, 20, &plan) != DP_OK || plan.oracle.values > 100000)
		right = false;
	for (int64 place = plan.first; place < plan.places; place++)
		for (int t = 0; right && t < TERMS; t++)
		{
			LocalTerm term = term_of(t);
			uint64 seed = dp_mix64(0x70656d, place);
			DpRandom rng;
			LocalReport report;

			script_word(&rng, seed);
			report = pem_report(&plan, place, &term, &rng);
			blind = blind && report.place == place && report.seed == seed;
			right = right && has_law(&plan, place, &term, seed);
		}
	ok(blind, "pem, epsilon %g: place and seed do not depend on the term", epsilon);
	ok(right, "pem, epsilon %g: the value has the law of the oracle that was audited", epsilon);
}

/* ---- rounds: bits about whatever a server asks ---- */

#define MAX_ROUND 12

/* A round that a careless or curious server might publish: paths, the same node twice. */
static void
random_round(DpRandom *rng, Round *round, RoundNode *node, uint16 symbol[][LONGEST + 2])
{
	*round = (Round){10, 20, 1 + (int) dp_uniform(rng, MAX_ROUND), node};
	for (int i = 0; i < round->n; i++)
	{
		node[i] = (RoundNode){symbol[i], (int) dp_uniform(rng, LONGEST + 2)};
		for (int j = 0; j < node[i].depth; j++)
			symbol[i][j] = (uint16) dp_uniform(rng, LETTERS + 1);
	}
}

/*
 * The client's true bits: with every coin at the probability of a false one, true bits
 * answer 1 and false ones 0.  False if the answers do not use one coin for each bit.
 */
static bool
true_bits(const Round *round, const Oracle *oracle, const LocalTerm *term, char *bits)
{
	uint64 coin[MAX_ROUND];
	DpRandom rng;
	int answers = 0;

	for (int i = 0; i < MAX_ROUND; i++)
		coin[i] = oracle->no << (64 - ORACLE_BITS);
	script_words(&rng, coin, MAX_ROUND);
	round_answer(round, oracle, term, &rng, bits);
	for (int i = 0; i < round->n; i++)
		answers += bits[i] != ROUND_NO_ANSWER;
	return rng.left == (MAX_ROUND - answers) * sizeof(uint64);
}

/* The worst quotient of the likelihoods of any answers: every bit that differs adds to it. */
static bool
differs_within(const Oracle *oracle, double epsilon, const char *a, const char *b, bool *most)
{
	Quotient q = {0};

	for (; *a != '\0'; a++, b++)
	{
		if ((*a == ROUND_NO_ANSWER) != (*b == ROUND_NO_ANSWER))
			return false;
		if (*a == *b)
			continue;
		if (q.factors == QUOTIENT_FACTORS)
			return false;
		q.num[q.factors] = *a == '1' ? oracle->yes : ORACLE_ONE - oracle->no;
		q.den[q.factors] = *a == '1' ? oracle->no : ORACLE_ONE - oracle->yes;
		q.factors++;
	}
	*most = *most || quotient_near_exp(&q, epsilon, TIGHT);
	return quotient_at_most_exp(&q, epsilon);
}

static void
test_rounds(double epsilon)
{
	const int rounds = 300;
	Oracle oracle;
	DpRandom rng;
	bool bounded = oracle_bits(epsilon, &oracle) == DP_OK;
	bool reached = false;
	bool alone = true;

	dp_random_seeded(&rng, 0x726f756e, 0, 0);
	for (int i = 0; i < rounds; i++)
	{
		Round round;
		RoundNode node[MAX_ROUND];
		uint16 symbol[MAX_ROUND][LONGEST + 2];
		char bits[TERMS][MAX_ROUND + 1];

		random_round(&rng, &round, node, symbol);
		for (int t = 0; t < TERMS; t++)
		{
			LocalTerm term = term_of(t);

			alone = true_bits(&round, &oracle, &term, bits[t]) && alone;
		}
		for (int s = 0; s < TERMS; s++)
			for (int t = 0; t < TERMS; t++)
				bounded = bounded && differs_within(&oracle, epsilon, bits[s], bits[t], &reached);
	}
	ok(alone, "rounds, epsilon %g: a coin for each bit, none for silence", epsilon);
	ok(bounded && reached, "rounds, epsilon %g: whatever is asked, answers differ by e^epsilon",
	   epsilon);
}

/* ---- the methods within the server ---- */

static const PollWord population[] = {
	{"a", 300},
	{"ab", 200},
	{"", 150},
	{"bba", 120},
	{"ba", 80},
	{"aabab", 50},
	{"bb", 3},
};

/* A door that counts how often the user at each place is asked. */
typedef struct Counter
{
	Poll poll;
	PollEach each;
	int times[1000];
	Quotient spent; /* by who is asked each time: the parts' worst ratios, multiplied */
} Counter;

static void
count_range(Counter *counter, int64 from, int64 to)
{
	for (int64 place = from; place < to; place++)
		counter->times[place]++;
}

static void
count_epsilon(Counter *counter, const Oracle *oracle)
{
	Quotient *spent = &counter->spent;

	if (spent->factors + 2 > QUOTIENT_FACTORS)
		return;
	spent->num[spent->factors] = oracle->yes;
	spent->den[spent->factors++] = oracle->no;
	spent->num[spent->factors] = ORACLE_ONE - oracle->no;
	spent->den[spent->factors++] = ORACLE_ONE - oracle->yes;
}

static int64
counted_ask(void *state, const Trie *trie, const int32 *nodes, int n, int64 from, int64 to,
			const Oracle *oracle, int64 *supported)
{
	Counter *counter = state;

	count_range(counter, from, to);
	count_epsilon(counter, oracle);
	return counter->each.poll.ask(&counter->each, trie, nodes, n, from, to, oracle, supported);
}

static int64
counted_lengths(void *state, int n, int64 from, int64 to, const Oracle *oracle, int64 *supported)
{
	Counter *counter = state;

	count_range(counter, from, to);
	count_epsilon(counter, oracle);
	return counter->each.poll.ask_lengths(&counter->each, n, from, to, oracle, supported);
}

static void
counted_visit(void *state, int64 from, int64 to, PollClient client, void *client_state)
{
	Counter *counter = state;

	count_range(counter, from, to);
	counter->each.poll.visit(&counter->each, from, to, client, client_state);
}

static void
counter_init(Counter *counter, DpRandom *rng)
{
	memset(counter->times, 0, sizeof(counter->times));
	counter->spent = (Quotient){0};
	poll_each_init(&counter->each, population, lengthof(population), rng);
	poll_each_shuffle(&counter->each);
	if (counter->each.poll.users > (int64) lengthof(counter->times))
		abort();
	counter->poll = (Poll){counter->each.poll.users, counter, counted_ask, counted_lengths,
						   counted_visit};
}

/* No user twice, and few never, with a term to report or without. */
static void
test_once(const char *name, LocalMethod method, int may_be_missed)
{
	LocalQuery query = query_of(2);
	Counter counter;
	DpRandom rng;
	LocalResult result;
	int most = 0;
	int never = 0;

	dp_random_seeded(&rng, 0x6f6e6365, 0, 0);
	counter_init(&counter, &rng);
	if (local_run(method, &query, &counter.poll, &rng, &result) == DP_OK)
		results_free(&result);
	else
		most = -1;
	for (int64 place = 0; place < counter.poll.users; place++)
	{
		most = Max(most, counter.times[place]);
		never += counter.times[place] == 0;
	}
	ok(most == 1 && never <= may_be_missed, "%s: nobody is asked twice, %d never", name, never);
	poll_each_free(&counter.each);
}

/*
 * BSL asks everyone each time: the parts of epsilon must not add up to more than it, by
 * the probabilities that are used.  Epsilon is large, so that every depth is reached.
 */
static void
test_parts(double epsilon)
{
	LocalQuery query = query_of(epsilon);
	Counter counter;
	DpRandom rng;
	LocalResult result;
	bool within = false;

	dp_random_seeded(&rng, 0x70617274, 0, 0);
	counter_init(&counter, &rng);
	if (local_run(LOCAL_BSL, &query, &counter.poll, &rng, &result) == DP_OK)
	{
		within = quotient_at_most_exp(&counter.spent, epsilon) &&
				 quotient_near_exp(&counter.spent, epsilon, TIGHT);
		results_free(&result);
	}
	ok(within, "bsl: the parts of epsilon %g, %d of them, are all of it and no more", epsilon,
	   counter.spent.factors / 2);
	poll_each_free(&counter.each);
}

/* TreeHist of terms is TreeHist of the reports that the same randomness makes of them. */
static void
test_treehist_run(void)
{
	LocalQuery base = query_of(4);
	TreeHistQuery query = treehist_defaults(&base);
	TreeHistPlan plan;
	TreeHistSketch sketch;
	PollEach each;
	DpRandom rng;
	LocalResult run;
	LocalResult decoded;
	bool done;

	query.key = 0x7468;
	query.first = 50;
	dp_random_seeded(&rng, 0x7468, 0, 0);
	poll_each_init(&each, population, lengthof(population), &rng);
	poll_each_shuffle(&each);
	dp_random_seeded(&rng, 0x7468, 1, 0);
	done = treehist_run(&query, &each.poll, &rng, &run) == DP_OK &&
		   treehist_plan(&query, each.poll.users, &plan) == DP_OK;
	dp_random_seeded(&rng, 0x7468, 1, 0);
	treehist_init(&sketch, &plan);
	for (int64 place = plan.first; place < plan.places; place++)
	{
		LocalReport report = treehist_report(&plan, place, &each.term[place], &rng);

		treehist_add(&sketch, &report);
	}
	treehist_decode(&sketch, base.k, &decoded);
	ok(done && run.n > 0 && results_equal(&run, &decoded),
	   "treehist: within the server nothing but the users' reports is used");
	results_free(&run);
	results_free(&decoded);
	poll_each_free(&each);
}

int
main(void)
{
	for (int i = 0; i < (int) lengthof(epsilons); i++)
	{
		test_treehist(epsilons[i]);
		test_pem(epsilons[i]);
		test_rounds(epsilons[i]);
	}
	test_once("privtrie", LOCAL_PRIVTRIE, 0);
	/* the groups of two depths, which are not asked where nothing is left to ask about */
	test_once("ibsl", LOCAL_IBSL, 2 * 160);
	test_once("pem", LOCAL_PEM, 0);
	test_once("treehist", LOCAL_TREEHIST, 0);
	test_once("rappor", LOCAL_RAPPOR, 0);
	test_parts(20);
	test_parts(16);
	test_treehist_run();
	return tap_done();
}
