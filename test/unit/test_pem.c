/*
 * test_pem.c
 *	  PEM: its plan, the law of its clients' reports, what it finds, its estimates and
 *	  their standard deviations, over users and over reports; the bounds of its work.
 */
#include "local/reports.h"

#include "common/dp_sample.h"
#include "estimates.h"
#include "laws.h"

static DpRandom rng;

static PemQuery
query_of(double epsilon, int k, int alphabet, int max_length)
{
	return (PemQuery){.base = {.epsilon = epsilon,
							   .k = k,
							   .alphabet = alphabet,
							   .max_length = max_length,
							   .frontier = 2000},
					  .start = 2,
					  .step = 1,
					  .keep = 2};
}

/* ---- the plan ---- */

static bool
has_depths(int max_length, int start, int step, const char *depths)
{
	PemQuery query = query_of(1, 10, 26, max_length);
	PrefixPlan plan;
	char seen[200] = "";

	if (prefix_plan(&query.base, start, step, 2, &plan) != DP_OK)
		return false;
	for (int i = 0; i < plan.levels; i++)
		snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), " %d", plan.depth[i]);
	return strcmp(seen, depths) == 0;
}

static void
test_depths(void)
{
	ok(has_depths(1, 1, 1, " 1 2"), "depths of terms of one symbol");
	ok(has_depths(1, 3, 1, " 2"), "a start beyond the end is the end");
	ok(has_depths(5, 3, 1, " 3 4 5 6"), "depths by steps of one symbol");
	ok(has_depths(6, 1, 3, " 1 4 7"), "steps that end with the term");
	ok(has_depths(5, 2, 3, " 2 5 6"), "steps that end before");
	ok(prefix_start(26) == 3 && prefix_start(2) == 9 && prefix_start(1) == 14 &&
		   prefix_start(141) == 1 && prefix_start(140) == 2 &&
		   prefix_start(ALPHABET_MAX_SIZE) == 1,
	   "the first level's symbols by the size of the alphabet");
}

/* Every place belongs to the group whose range it is in, and no other. */
static bool
groups_divide(int64 first, int64 places)
{
	PemQuery query = query_of(1, 10, 3, 6);
	PemPlan plan;
	int64 place = first;

	query.first = first;
	if (pem_plan(&query, places, &plan) != DP_OK)
		return false;
	for (int level = 0; level < plan.prefixes.levels; level++)
		for (int64 end = pem_group_start(&plan, level + 1); place < end; place++)
			if (pem_group(&plan, place) != level || pem_group_start(&plan, level) > place)
				return false;
	return place == places && pem_group(&plan, first - 1) == -1 &&
		   pem_group(&plan, places) == -1;
}

static void
test_groups(void)
{
	bool divide = true;

	for (int64 first = 0; first < 9; first++)
		for (int64 places = first; places < 60; places++)
			divide &= groups_divide(first, places);
	ok(divide, "groups divide the places");
	ok(groups_divide(0, LOCAL_TICKETS), "groups divide the tickets");
}

static void
test_domain(void)
{
	PemQuery good = query_of(1, 10, 26, 5);
	PemQuery bad;
	PemPlan plan;
	int refused = 0;

#define TRY(change) \
	bad = good;     \
	bad.change;     \
	refused += pem_plan(&bad, 100, &plan) == DP_ERR_DOMAIN
	TRY(base.epsilon = 0);
	TRY(base.epsilon = NAN);
	TRY(base.k = 0);
	TRY(base.alphabet = 0);
	TRY(base.max_length = 0);
	TRY(base.max_length = TERM_MAX_LENGTH + 1);
	TRY(base.frontier = 0);
	TRY(start = 0);
	TRY(step = 0);
	TRY(keep = NAN);
	TRY(keep = 0.5);
	TRY(first = 101);
	TRY(first = -1);
#undef TRY
	ok(pem_plan(&good, 100, &plan) == DP_OK && refused == 13, "queries out of domain are refused");
}

/* The nodes of a search whose candidates are all as good as the others. */
static int64
searched_nodes(const PrefixPlan *plan, int *most)
{
	PrefixSearch search;
	LocalResult result;
	int64 nodes;

	*most = 0;
	prefix_search_begin(&search, plan);
	while (search.level < plan->levels)
	{
		double *holders;

		prefix_search_extend(&search);
		*most = Max(*most, search.n);
		holders = palloc(search.n * sizeof(double));
		for (int i = 0; i < search.n; i++)
			holders[i] = (double) dp_uniform(&rng, 1000);
		prefix_search_keep(&search, holders, 1);
		pfree(holders);
	}
	nodes = search.trie.size;
	prefix_search_finish(&search, 10, 10, &(PrefixNoise){1, 0, 1}, &result);
	free_result(&result);
	return nodes;
}

static void
test_caps(void)
{
	PemQuery query = query_of(1, 50, 26, 20);
	PrefixPlan plan;
	int most = 0;
	bool bounded;

	bounded = prefix_plan(&query.base, 3, 1, 2, &plan) == DP_OK && plan.depth[0] == 3 &&
			  plan.keep == 100 && searched_nodes(&plan, &most) <= 27 * (28 * 27 + 20 * 100) &&
			  most <= 27 * 27 * 27;
	ok(bounded, "letters: %d candidates at most", most);

	query.base.frontier = 30;
	ok(prefix_plan(&query.base, 3, 1, 2, &plan) == DP_OK && plan.keep == 30 &&
		   searched_nodes(&plan, &most) <= 27 * (28 * 27 + 20 * 30),
	   "the frontier bounds what is kept");

	query.base.frontier = 2000;
	query.base.alphabet = ALPHABET_MAX_SIZE;
	bounded = prefix_plan(&query.base, 3, 2, 2, &plan) == DP_OK && plan.depth[0] == 1 &&
			  plan.depth[1] == 2 && searched_nodes(&plan, &most) <= PREFIX_MAX_NODES;
	ok(bounded, "the largest alphabet: %d kept, %d candidates at most", plan.keep, most);

	query.base.max_length = TERM_MAX_LENGTH;
	ok(prefix_plan(&query.base, 3, 1, 2, &plan) == DP_ERR_RANGE,
	   "the largest alphabet and the longest terms are refused");
	query.base.alphabet = 1;
	ok(prefix_plan(&query.base, 3, 1, 2, &plan) == DP_OK && plan.depth[0] == 3 &&
		   plan.levels == TERM_MAX_LENGTH - 1 && searched_nodes(&plan, &most) <= 3000,
	   "one character, the longest terms");
}

/* ---- the law of reports ---- */

#define LAW_USERS 5
#define LAW_DRAWS 200000

/* P(so many of the users support an item that so many of them hold), hashes being ideal. */
static double
support_law(const Oracle *oracle, int holders, int users, int supported)
{
	double law[LAW_USERS + 1] = {1};

	for (int user = 0; user < users; user++)
	{
		double p = (double) (user < holders ? oracle->yes : oracle->no) / (double) ORACLE_ONE;

		for (int i = user + 1; i >= 0; i--)
			law[i] = law[i] * (1 - p) + (i > 0 ? law[i - 1] * p : 0);
	}
	return law[supported];
}

static LocalTerm
term_of(const char *word, uint16 *symbol)
{
	int length = strlen(word);

	for (int i = 0; i < length; i++)
		symbol[i] = word[i] - 'a' + 1;
	return (LocalTerm){length, symbol};
}

/*
 * Two prefixes: "ab", which two users have, one of them as a longer term, and "c" with its
 * end, which one has; one has another term, and one none.
 */
static void
test_law(double epsilon)
{
	static const char *word[LAW_USERS] = {"ab", "abb", "c", "ba", ""};
	PemQuery query = query_of(epsilon, 1, 3, 3);
	PemPlan plan;
	Trie trie;
	int32 nodes[2];
	uint64 seen[(LAW_USERS + 1) * (LAW_USERS + 1)] = {0};
	double law[(LAW_USERS + 1) * (LAW_USERS + 1)];
	bool sane = pem_plan(&query, LAW_USERS * 3, &plan) == DP_OK && plan.prefixes.levels == 3;

	trie_init(&trie, 3);
	trie_expand(&trie, TRIE_ROOT);
	nodes[0] = trie_expand(&trie, trie.node[TRIE_ROOT].first_child + 1) + 2;
	nodes[1] = trie_expand(&trie, trie.node[TRIE_ROOT].first_child + 3);
	for (int draw = 0; draw < LAW_DRAWS; draw++)
	{
		LocalReport report[LAW_USERS];
		Reports reports;
		Poll poll;
		int64 supported[2];
		uint16 symbol[3];

		for (int i = 0; i < LAW_USERS; i++)
		{
			LocalTerm term = term_of(word[i], symbol);

			report[i] = pem_report(&plan, i, &term, &rng);
		}
		reports_init(&reports, &plan, report, LAW_USERS);
		poll = reports_poll(&reports);
		sane &= poll.ask(poll.state, &trie, nodes, 2, 0, LAW_USERS, &plan.oracle, supported) ==
				LAW_USERS;
		seen[supported[0] * (LAW_USERS + 1) + supported[1]]++;
	}
	for (int i = 0; i <= LAW_USERS; i++)
		for (int j = 0; j <= LAW_USERS; j++)
			law[i * (LAW_USERS + 1) + j] = support_law(&plan.oracle, 2, LAW_USERS, i) *
										   support_law(&plan.oracle, 1, LAW_USERS, j);
	ok(sane && chi_square_p(seen, law, (LAW_USERS + 1) * (LAW_USERS + 1)) > ALARM,
	   "reports support two prefixes by the law of ideal hashes, epsilon %g", epsilon);
	trie_free(&trie);
}

/* The inner loop of reports.c against the hash as the clients compute it. */
static void
test_counting(double epsilon)
{
	PemQuery query = query_of(epsilon, 1, 3, 3);
	PemPlan plan;
	Trie trie;
	int32 nodes[3] = {1, 2, 3};
	bool equal;

	equal = pem_plan(&query, 3000, &plan) == DP_OK;
	trie_init(&trie, 3);
	trie_expand(&trie, TRIE_ROOT);
	for (int round = 0; round < 20; round++)
	{
		LocalReport report[1000];
		Reports reports;
		Poll poll;
		int64 supported[3];
		int64 expected[3] = {0};

		for (int i = 0; i < 1000; i++)
			report[i] = (LocalReport){dp_random_u64(&rng), dp_uniform(&rng, 1000),
									  dp_uniform(&rng, plan.oracle.values)};
		for (int i = 0; i < 3000; i++)
			expected[i % 3] += oracle_hash_value(&plan.oracle, report[i / 3].seed,
												 prefix_item_of_node(&trie, nodes[i % 3],
																	 plan.prefixes.depth[0])) ==
							   report[i / 3].value;
		reports_init(&reports, &plan, report, 1000);
		poll = reports_poll(&reports);
		poll.ask(poll.state, &trie, nodes, 3, 0, 1000, &plan.oracle, supported);
		equal &= memcmp(supported, expected, sizeof(expected)) == 0;
	}
	ok(equal, "reports are counted as their clients hash, epsilon %g", epsilon);
	trie_free(&trie);
}

/* ---- what it finds ---- */

/* The first four are sought; all others are rare, too long, or no term. */
static const PollWord words[] = {
	{"a", 1400},
	{"abc", 1200},
	{"cab", 1100},
	{"bbca", 1000},
	{"abb", 60},
	{"bbcab", 300},
	{"", 900},
};
#define WORDS words, lengthof(words), 4, &rng

/* Turns a population into reports, as its clients would; each with a ticket by lot. */
static LocalReport *
reports_of(const PollEach *each, const PemPlan *plan)
{
	LocalReport *report = palloc(Max(each->poll.users, 1) * sizeof(LocalReport));

	for (int64 i = 0; i < each->poll.users; i++)
		report[i] = pem_report(plan, dp_uniform(&rng, plan->places), &each->term[i], &rng);
	return report;
}

static DpStatus
run_on_users(const void *query, const PollEach *each, LocalResult *result)
{
	return pem_run(query, &each->poll, result);
}

static DpStatus
run_on_reports(const void *query, const PollEach *each, LocalResult *result)
{
	PemPlan plan;
	Reports reports;
	LocalReport *report;
	Poll poll;
	DpStatus status = pem_plan(query, LOCAL_TICKETS, &plan);

	if (status != DP_OK)
		return status;
	report = reports_of(each, &plan);
	reports_init(&reports, &plan, report, each->poll.users);
	poll = reports_poll(&reports);
	status = pem_run(query, &poll, result);
	pfree(report);
	return status;
}

static void
test_edges(void)
{
	static const PollWord none[] = {{"", 500}};
	static const PollWord one[] = {{"ab", 1}};
	static const PollWord letters[] = {{"a", 3000}, {"b", 1500}, {"ab", 500}};
	PemQuery query = query_of(4, 4, 3, 4);
	PollEach each;
	LocalResult result;
	bool sane = true;

	poll_each_init(&each, NULL, 0, &rng);
	ok(pem_run(&query, &each.poll, &result) == DP_OK && result.n == 0, "no users");
	free_result(&result);
	ok(run_on_reports(&query, &each, &result) == DP_OK && result.n == 0, "no reports");
	free_result(&result);
	poll_each_free(&each);

	poll_each_init(&each, one, 1, &rng);
	ok(pem_run(&query, &each.poll, &result) == DP_OK, "one user");
	free_result(&result);
	query.first = 1;
	ok(pem_run(&query, &each.poll, &result) == DP_OK && result.n == 0, "no user left to ask");
	free_result(&result);
	poll_each_free(&each);

	query.first = 0;
	poll_each_init(&each, none, 1, &rng);
	sane &= pem_run(&query, &each.poll, &result) == DP_OK;
	for (int i = 0; i < result.n; i++)
		sane &= result.found[i].estimate < 7 * result.found[i].stddev;
	ok(sane, "users without a term: nothing but noise");
	free_result(&result);
	poll_each_free(&each);

	query = query_of(4, 2, 3, 1);
	poll_each_init(&each, letters, 3, &rng);
	poll_each_shuffle(&each);
	ok(pem_run(&query, &each.poll, &result) == DP_OK && result.n == 2 &&
		   found_word(&result, "a") == &result.found[0] &&
		   found_word(&result, "b") == &result.found[1],
	   "terms of one symbol");
	free_result(&result);
	poll_each_free(&each);
}

static void
test_invalid_reports(void)
{
	PemQuery query = query_of(2, 4, 3, 4);
	PemPlan plan;
	Reports reports;
	LocalReport report[6];
	bool sane;

	query.first = 10;
	sane = pem_plan(&query, LOCAL_TICKETS, &plan) == DP_OK;
	report[0] = (LocalReport){1, LOCAL_TICKETS - 1, 0};
	report[1] = (LocalReport){2, LOCAL_TICKETS, 0};
	report[2] = (LocalReport){3, 10, plan.oracle.values - 1};
	report[3] = (LocalReport){4, 10, plan.oracle.values};
	report[4] = (LocalReport){5, 9, 0};
	report[5] = (LocalReport){6, PG_UINT32_MAX, PG_UINT32_MAX};
	reports_init(&reports, &plan, report, 6);
	ok(sane && reports.n == 2 && reports.invalid == 4 && reports.report[0].seed == 3 &&
		   reports.report[1].seed == 1,
	   "reports of no place or value are left out and counted");
}

int
main(void)
{
	PemQuery query = query_of(4, 6, 3, 4);
	PemQuery late = query;

	dp_random_seeded(&rng, 20251121, 0, 0);
	test_depths();
	test_groups();
	test_domain();
	test_caps();
	test_law(0.5);
	test_law(2);
	test_counting(0.01);
	test_counting(3);
	test_counting(32);
	test_estimates("pem", WORDS, run_on_users, &query);
	late.first = 400;
	late.step = 2;
	test_estimates("pem, some not asked, steps of two", WORDS, run_on_users, &late);
	test_estimates("pem of reports", WORDS, run_on_reports, &query);
	test_edges();
	test_invalid_reports();
	return tap_done();
}
