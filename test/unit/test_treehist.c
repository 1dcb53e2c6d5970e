/*
 * test_treehist.c
 *	  TreeHist: the law of its clients' reports, what it finds, its estimates and their
 *	  standard deviations, over users and over reports.
 */
#include "local/treehist.h"

#include "common/dp_sample.h"
#include "estimates.h"
#include "laws.h"

static DpRandom rng;

static TreeHistQuery
query_of(double epsilon, int k, int alphabet, int max_length, int rows)
{
	return (TreeHistQuery){.base = {.epsilon = epsilon,
									.k = k,
									.alphabet = alphabet,
									.max_length = max_length,
									.frontier = 2000},
						   .start = 1,
						   .step = 1,
						   .keep = 2,
						   .rows = rows};
}

static void
test_plan(void)
{
	TreeHistQuery query = query_of(2, 10, 26, 9, 5);
	TreeHistPlan plan;

	ok(treehist_plan(&query, 1000, &plan) == DP_OK && plan.width == 256, "a narrow sketch");
	ok(treehist_plan(&query, 1000000, &plan) == DP_OK && plan.width == 32768,
	   "a sketch as wide as a row has users");
	ok(treehist_plan(&query, PG_UINT32_MAX, &plan) == DP_OK && plan.width == 1 << 19,
	   "a sketch no wider than memory allows");
	query.base.max_length = TERM_MAX_LENGTH;
	query.rows = TREEHIST_MAX_ROWS;
	ok(treehist_plan(&query, PG_UINT32_MAX, &plan) == DP_OK && plan.width == 2048,
	   "nor the longest terms'");
	query.rows = TREEHIST_MAX_ROWS + 1;
	ok(treehist_plan(&query, 1000, &plan) == DP_ERR_DOMAIN, "too many rows are refused");
	query.rows = 0;
	ok(treehist_plan(&query, 1000, &plan) == DP_ERR_DOMAIN, "no rows are refused");
}

/* ---- the law of reports ---- */

#define LAW_USERS 20
#define LAW_DRAWS 20000

/*
 * The users of the last level's only row all have one term, or none.  Then the estimate
 * is how many more of their answers agree with the term than not, divided by yes - no,
 * and those that agree are binomial.  Where half of them or fewer agree nothing is found.
 */
static int
agreeing(const TreeHistPlan *plan, const LocalTerm *term)
{
	double mean = ((double) plan->oracle.yes - (double) plan->oracle.no) / (double) ORACLE_ONE;
	const LocalFound *found;
	TreeHistSketch sketch;
	LocalResult result;
	double margin = 0;

	treehist_init(&sketch, plan);
	for (int i = 0; i < LAW_USERS; i++)
	{
		LocalReport report = treehist_report(plan, plan->prefixes.levels * (i + 1) - 1, term, &rng);

		treehist_add(&sketch, &report);
	}
	treehist_decode(&sketch, 1000, &result);
	found = found_word(&result, "aba");
	if (found != NULL)
		margin = found->estimate * mean;
	free_result(&result);
	return (LAW_USERS + (int) rint(margin)) / 2;
}

static void
test_law(double epsilon, int length)
{
	uint16 symbol[] = {1, 2, 1};
	LocalTerm term = {length, symbol};
	TreeHistQuery query = query_of(epsilon, 1000, 3, 3, 1);
	TreeHistPlan plan;
	uint64 seen[LAW_USERS + 1] = {0};
	double law[LAW_USERS + 1] = {1};
	double p;

	if (treehist_plan(&query, 1000, &plan) != DP_OK)
		return;
	for (int draw = 0; draw < LAW_DRAWS; draw++)
		seen[agreeing(&plan, &term)]++;
	p = length == 0 ? 0.5 : (double) plan.oracle.yes / (double) ORACLE_ONE;
	for (int user = 0; user < LAW_USERS; user++)
		for (int i = user + 1; i >= 0; i--)
			law[i] = law[i] * (1 - p) + (i > 0 ? law[i - 1] * p : 0);
	for (int i = 0; i < LAW_USERS / 2; i++)
	{
		law[LAW_USERS / 2] += law[i];
		law[i] = 0;
	}
	ok(chi_square_p(seen, law, LAW_USERS + 1) > ALARM,
	   "answers follow their law, epsilon %g, %s", epsilon, length == 0 ? "no term" : "a term");
}

/* ---- what it finds ---- */

static const PollWord words[] = {
	{"a", 7000},
	{"abc", 6000},
	{"cab", 5500},
	{"bbca", 5000},
	{"abb", 300},
	{"bbcab", 1500},
	{"", 4500},
};
#define WORDS words, lengthof(words), 4, &rng

static DpStatus
run_on_users(const void *context, const PollEach *each, LocalResult *result)
{
	TreeHistQuery query = *(const TreeHistQuery *) context;

	query.key = dp_random_u64(&rng);
	return treehist_run(&query, &each->poll, &rng, result);
}

/* As its clients would do it; each with a ticket by lot. */
static DpStatus
run_on_reports(const void *context, const PollEach *each, LocalResult *result)
{
	TreeHistQuery query = *(const TreeHistQuery *) context;
	TreeHistPlan plan;
	TreeHistSketch sketch;
	DpStatus status;

	query.key = dp_random_u64(&rng);
	status = treehist_plan(&query, LOCAL_TICKETS, &plan);

	if (status != DP_OK)
		return status;
	plan.width = 256; /* for speed */
	treehist_init(&sketch, &plan);
	for (int64 i = 0; i < each->poll.users; i++)
	{
		LocalReport report = treehist_report(&plan, dp_uniform(&rng, plan.places), &each->term[i],
											 &rng);

		treehist_add(&sketch, &report);
	}
	treehist_decode(&sketch, query.base.k, result);
	return DP_OK;
}

static void
test_edges(void)
{
	static const PollWord none[] = {{"", 500}};
	static const PollWord one[] = {{"ab", 1}};
	static const PollWord letters[] = {{"a", 3000}, {"b", 1500}, {"ab", 500}};
	TreeHistQuery query = query_of(4, 4, 3, 4, 3);
	PollEach each;
	LocalResult result;
	bool sane = true;

	poll_each_init(&each, NULL, 0, &rng);
	ok(treehist_run(&query, &each.poll, &rng, &result) == DP_OK && result.n == 0, "no users");
	free_result(&result);
	poll_each_free(&each);

	poll_each_init(&each, one, 1, &rng);
	ok(treehist_run(&query, &each.poll, &rng, &result) == DP_OK, "one user");
	free_result(&result);
	query.first = 1;
	ok(treehist_run(&query, &each.poll, &rng, &result) == DP_OK && result.n == 0,
	   "no user left to ask");
	free_result(&result);
	poll_each_free(&each);

	query.first = 0;
	poll_each_init(&each, none, 1, &rng);
	sane &= treehist_run(&query, &each.poll, &rng, &result) == DP_OK;
	for (int i = 0; i < result.n; i++)
		sane &= result.found[i].estimate < 7 * result.found[i].stddev;
	ok(sane, "users without a term: nothing but noise");
	free_result(&result);
	poll_each_free(&each);

	query = query_of(4, 2, 3, 1, 3);
	poll_each_init(&each, letters, 3, &rng);
	poll_each_shuffle(&each);
	ok(treehist_run(&query, &each.poll, &rng, &result) == DP_OK && result.n == 2 &&
		   found_word(&result, "a") == &result.found[0] &&
		   found_word(&result, "b") == &result.found[1],
	   "terms of one symbol");
	free_result(&result);
	poll_each_free(&each);
}

static void
test_invalid_reports(void)
{
	TreeHistQuery query = query_of(2, 4, 3, 4, 1);
	static const LocalReport report[] = {
		{1, LOCAL_TICKETS - 1, 0},
		{2, LOCAL_TICKETS, 0},
		{3, 10, 1},
		{4, 10, 2},
		{5, 9, 0},
		{6, PG_UINT32_MAX, PG_UINT32_MAX}};
	TreeHistPlan plan;
	TreeHistSketch sketch;
	LocalResult result;
	int64 users = 0;

	query.first = 10;
	if (treehist_plan(&query, LOCAL_TICKETS, &plan) != DP_OK)
		return;
	treehist_init(&sketch, &plan);
	for (int i = 0; i < (int) lengthof(report); i++)
		treehist_add(&sketch, &report[i]);
	for (int cell = 0; cell < plan.prefixes.levels; cell++)
		users += sketch.users[cell];
	ok(users == 2 && sketch.invalid == 4, "reports of no place or value are left out and counted");
	treehist_decode(&sketch, 4, &result);
	free_result(&result);
}

int
main(void)
{
	TreeHistQuery query = query_of(4, 6, 3, 4, 5);
	TreeHistQuery even = query_of(3, 6, 3, 4, 4);

	even.first = 1000;
	even.step = 2;
	dp_random_seeded(&rng, 20251121, 0, 0);
	test_plan();
	test_law(0.5, 3);
	test_law(2, 3);
	test_law(2, 0);
	test_estimates("treehist", WORDS, run_on_users, &query);
	test_estimates("treehist, four rows, some not asked", WORDS, run_on_users, &even);
	test_estimates("treehist of reports", WORDS, run_on_reports, &query);
	test_edges();
	test_invalid_reports();
	return tap_done();
}
