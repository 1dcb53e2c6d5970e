/*
 * test_rappor.c
 *	  A-RAPPOR: the law of its clients' reports against the promised epsilon, what it
 *	  finds, its estimates and their standard deviations, and where it refuses.
 */
#include "local/rappor.h"

#include "common/dp_sample.h"
#include "estimates.h"
#include "laws.h"
#include "local/rappor_parts.h"

#define LETTERS 26

static DpRandom rng;

static RapporQuery
query_of(double epsilon, int k, int alphabet, int max_length)
{
	LocalQuery query = {.epsilon = epsilon, .k = k, .alphabet = alphabet, .max_length = max_length};

	return rappor_defaults(&query);
}

/* ---- the plan ---- */

static DpStatus
plan_status(const RapporQuery *query)
{
	RapporPlan plan;

	return rappor_plan(query, &plan);
}

static void
test_refused(void)
{
	RapporQuery query = query_of(4, 10, LETTERS, 8);

	query.base.alphabet = 0;
	ok(plan_status(&query) == DP_ERR_DOMAIN, "no alphabet");
	query.base.alphabet = 1023;
	ok(plan_status(&query) == DP_OK, "as many n-grams as are allowed");
	query.base.alphabet = 1024;
	ok(plan_status(&query) == DP_ERR_RANGE, "too many n-grams are refused beforehand");
	query.gram = 1;
	ok(plan_status(&query) == DP_OK, "... not if they are shorter");
	query = query_of(4, 10, LETTERS, 2 * RAPPOR_MAX_POSITIONS + 1);
	ok(plan_status(&query) == DP_ERR_RANGE, "too many positions are refused");
	query = query_of(4, 10, LETTERS, 8);
	query.lifetime = 3.9;
	ok(plan_status(&query) == DP_ERR_DOMAIN, "a lifetime below one report's epsilon");
	query.lifetime = 0;
	query.candidates = RAPPOR_MAX_CANDIDATES + 1;
	ok(plan_status(&query) == DP_ERR_DOMAIN, "too many candidates");
	query = query_of(0, 10, LETTERS, 8);
	ok(plan_status(&query) == DP_ERR_DOMAIN, "no epsilon");
}

static void
test_plan(void)
{
	for (int length = 1; length <= 2 * RAPPOR_MAX_POSITIONS; length++)
	{
		RapporQuery query = query_of(4, 10, LETTERS, length);
		RapporPlan plan;
		int pair = 0;
		bool right = rappor_plan(&query, &plan) == DP_OK;

		right &= plan.positions == Max(2, (length + 1) / 2) && plan.grams == 27 * 27;
		for (int i = 0; i < plan.positions; i++)
			for (int j = i + 1; j < plan.positions; j++, pair++)
			{
				int first;
				int second;

				rappor_pair_positions(&plan, pair, &first, &second);
				right &= first == i && second == j && rappor_pair_of(&plan, i, j) == pair;
			}
		ok(right && pair == plan.pairs, "pairs of positions up to length %d", length);
	}
}

/* Pairs and cohorts get the same number of places, and independently. */
static void
test_places(void)
{
	RapporQuery query = query_of(4, 10, LETTERS, 8);
	RapporPlan plan;
	uint64 seen[24] = {0};
	double p[24];

	query.cohorts = 4;
	ok(rappor_plan(&query, &plan) == DP_OK && plan.pairs == 6, "six pairs, four cohorts");
	for (int64 place = 0; place < 240000; place++)
		seen[rappor_pair(&plan, place) * 4 + rappor_cohort(&plan, place)]++;
	for (int i = 0; i < 24; i++)
		p[i] = 1 / 24.0;
	ok(chi_square_p(seen, p, 24) > ALARM, "places are spread over both");
}

/* ---- the law of a report ---- */

/* All terms of two letters up to length 3, one that is too long, and none. */
#define TERMS 16
#define TOO_LONG 4

static uint16 law_symbols[TERMS][TOO_LONG];
static LocalTerm law_term[TERMS];

static void
make_terms(void)
{
	int n = 0;

	for (int length = 0; length <= TOO_LONG; length++)
		for (int code = 0; code < (length == TOO_LONG ? 1 : 1 << length); code++, n++)
		{
			for (int i = 0; i < length; i++)
				law_symbols[n][i] = 1 + (code >> i & 1);
			law_term[n] = (LocalTerm){length, law_symbols[n]};
		}
	Assert(n <= TERMS);
	for (; n < TERMS; n++)
		law_term[n] = (LocalTerm){0, law_symbols[n]};
}

/* The true bits of a part, from the definition: n-grams of one symbol, padded by 0. */
static uint64
true_bits(const RapporPlan *plan, int64 place, int part, const LocalTerm *term)
{
	int cohort = rappor_cohort(plan, place);
	int position[2];
	uint16 gram = SYMBOL_END;

	if (term->length == 0 || term->length > plan->query.base.max_length)
		return 0;
	if (part == 2)
		return bloom_item_bits(&plan->bloom, cohort, 0, oracle_item(term->symbol, term->length));
	rappor_pair_positions(plan, rappor_pair(plan, place), &position[0], &position[1]);
	if (position[part] < term->length)
		gram = term->symbol[position[part]];
	return bloom_item_bits(&plan->bloom, cohort, position[part] + 1, oracle_item(&gram, 1));
}

/* P(report | term) at a place; a report is its three parts' bits one after the other. */
static long double
report_law(const RapporPlan *plan, int64 place, const LocalTerm *term, int report)
{
	long double flip = (long double) plan->bloom.flip / ORACLE_ONE;
	long double yes = (long double) plan->bloom.yes / ORACLE_ONE;
	long double no = (long double) plan->bloom.no / ORACLE_ONE;
	long double p = 1;
	int bits = plan->query.bits;

	for (int i = 0; i < RAPPOR_PARTS * bits; i++)
	{
		bool truth = (true_bits(plan, place, i / bits, term) >> (i % bits) & 1) != 0;
		long double one = truth ? (1 - flip) * yes + flip * no : (1 - flip) * no + flip * yes;

		p *= (report >> i & 1) != 0 ? one : 1 - one;
	}
	return p;
}

static int
draw_report(const RapporPlan *plan, int64 place, const LocalTerm *term, uint32 secret)
{
	RapporReport report;
	int bits = plan->query.bits;
	int all = 0;

	if (rappor_client(plan, place, term, (const uint8 *) &secret, sizeof(secret), &rng,
					  &report) != DP_OK)
		return -1;
	for (int part = RAPPOR_PARTS - 1; part >= 0; part--)
		all = all << bits | (int) report.bits[part];
	return all;
}

#define REPORTS 512 /* of three parts of three bits */
#define REPORT_DRAWS 40000

/* What clients send follows the law, at some places and for some terms. */
static void
check_reports(const RapporPlan *plan, const char *name)
{
	for (int i = 0; i < TERMS; i += 3)
	{
		int64 place = 7 * i + 1;
		uint64 seen[REPORTS] = {0};
		double law[REPORTS];
		bool sent = true;

		for (uint32 draw = 0; draw < REPORT_DRAWS; draw++)
		{
			int report = draw_report(plan, place, &law_term[i], draw);

			sent &= report >= 0 && report < REPORTS;
			seen[report & (REPORTS - 1)]++;
		}
		for (int report = 0; report < REPORTS; report++)
			law[report] = (double) report_law(plan, place, &law_term[i], report);
		ok(sent && chi_square_p(seen, law, REPORTS) > ALARM, "%s: reports of term %d", name, i);
	}
}

/* The largest ratio over places, terms and reports: at most e^epsilon, and reached. */
static void
check_epsilon(const RapporPlan *plan, const char *name)
{
	long double most = 1;
	double epsilon = plan->query.base.epsilon;

	for (int64 place = 0; place < 30; place++)
		for (int report = 0; report < REPORTS; report++)
		{
			long double low = 1;
			long double high = 0;

			for (int i = 0; i < TERMS; i++)
			{
				long double p = report_law(plan, place, &law_term[i], report);

				low = fminl(low, p);
				high = fmaxl(high, p);
			}
			most = fmaxl(most, high / low);
		}
	ok(logl(most) <= epsilon * (1 + 1e-15L) && logl(most) >= epsilon * (1 - 1e-6),
	   "%s: the largest ratio is e^%.9f of e^%g", name, (double) logl(most), epsilon);
}

static void
test_law(void)
{
	RapporQuery query = query_of(3, 10, 2, 3);
	RapporPlan plan;

	make_terms();
	query.gram = 1;
	query.bits = 3;
	query.cohorts = 5;
	ok(rappor_plan(&query, &plan) == DP_OK && plan.positions == 3, "one collection");
	check_reports(&plan, "one collection");
	check_epsilon(&plan, "one collection");
	query.lifetime = 5;
	ok(rappor_plan(&query, &plan) == DP_OK && plan.bloom.flip > 0, "repeated collections");
	check_reports(&plan, "repeated collections");
	check_epsilon(&plan, "repeated collections");
}

/* ---- what is found ---- */

static const PollWord words[] = {
	{"reddit", 5000},
	{"google", 4000},
	{"kinda", 3000},
	{"uk", 2500},
	{"website", 2000},
	{"lol", 300},
	{"waytoolong", 1500},
	{"", 1700},
};
#define FREQUENT 5

static DpStatus
run_rappor(const void *context, const PollEach *each, LocalResult *result)
{
	return rappor_run(context, &each->poll, &rng, result);
}

static void
test_found(void)
{
	RapporQuery query = query_of(12, 10, LETTERS, 8);
	PollEach each;
	LocalResult result;
	bool all = true;

	poll_each_init(&each, words, lengthof(words), &rng);
	poll_each_shuffle(&each);
	ok(rappor_run(&query, &each.poll, &rng, &result) == DP_OK, "20,000 users");
	for (int i = 0; i < FREQUENT; i++)
	{
		const LocalFound *found = found_word(&result, words[i].word);

		all &= found != NULL && fabs(found->estimate - words[i].users) < 6 * found->stddev;
	}
	ok(all, "the frequent terms are found");
	ok(result.n <= FREQUENT + 1, "nothing else is, but the rare one (%d)", result.n);
	free_result(&result);
	query.base.k = 2;
	ok(rappor_run(&query, &each.poll, &rng, &result) == DP_OK && result.n == 2 &&
		   found_word(&result, "reddit") == &result.found[0] &&
		   found_word(&result, "google") == &result.found[1],
	   "k of them, the most frequent first");
	free_result(&result);
	poll_each_free(&each);
}

/* Clients with secrets report three times; each collection finds the terms. */
static void
test_memoised(void)
{
	RapporQuery query = query_of(14, 10, LETTERS, 8);
	RapporPlan plan;
	PollEach each;
	RapporReport *reports;
	bool found = true;

	query.lifetime = 20;
	ok(rappor_plan(&query, &plan) == DP_OK, "permanent bits");
	poll_each_init(&each, words, lengthof(words), &rng);
	poll_each_shuffle(&each);
	reports = palloc(each.poll.users * sizeof(RapporReport));
	for (int collection = 0; collection < 3; collection++)
	{
		LocalResult result;
		int64 invalid;

		for (int64 i = 0; i < each.poll.users; i++)
			(void) rappor_client(&plan, i, &each.term[i], (const uint8 *) &i, sizeof(i), &rng,
								 &reports[i]);
		found &= rappor_decode(&plan, reports, each.poll.users, &invalid, &result) == DP_OK;
		found &= found_word(&result, "reddit") != NULL && found_word(&result, "google") != NULL;
		found &= invalid == 0;
		free_result(&result);
	}
	ok(found, "the most frequent terms are found in three collections");
	ok(rappor_client(&plan, 0, &each.term[0], NULL, 0, &rng, reports) == DP_ERR_DOMAIN,
	   "no report without a secret");
	ok(rappor_run(&query, &each.poll, &rng, &(LocalResult){0}) == DP_ERR_DOMAIN,
	   "a poll has no secrets");
	pfree(reports);
	poll_each_free(&each);
}

/* ---- estimates ---- */

static const PollWord few[] = {{"a", 400}, {"ba", 300}, {"ab", 200}, {"aaaaa", 60}, {"", 140}};

static void
test_unbiased(void)
{
	RapporQuery query = query_of(18, 10, 2, 3);

	query.gram = 2;
	query.bits = 16;
	query.cohorts = 8;
	test_estimates("rappor", few, lengthof(few), 3, &rng, run_rappor, &query);
	query.first = 150;
	test_estimates("rappor of some users", few, lengthof(few), 3, &rng, run_rappor, &query);
	query.hashes = 2;
	query.base.epsilon = 24;
	test_estimates("rappor of two hashes", few, lengthof(few), 3, &rng, run_rappor, &query);
}

/* Marginal estimates are unbiased over the hashes, which the role is the seed of. */
static void
test_counts(void)
{
	RapporQuery query = query_of(6, 10, LETTERS, 8);
	RapporPlan plan;
	Estimates estimates = {0};

	query.cohorts = 4;
	query.bits = 8;
	ok(rappor_plan(&query, &plan) == DP_OK, "few bits, so that values collide");
	for (uint32 role = 1; role <= RUNS; role++)
	{
		RapporCounts counts;
		LocalFound found = {.length = 1, .symbol = &(uint16){1}};
		LocalResult result = {1, &found};

		rappor_counts_init(&plan, &counts);
		for (int i = 0; i < 1000; i++)
		{
			uint64 item = i < 300 ? 1 : i < 500 ? 2 :
												  i;
			int cohort = dp_uniform(&rng, query.cohorts);
			uint64 bits = i < 900 ? bloom_item_bits(&plan.bloom, cohort, role, item) : 0;

			rappor_counts_add(&plan, &counts, cohort, bloom_answer(&plan.bloom, &rng, bits));
		}
		rappor_counts_finish(&plan, &counts);
		found.estimate = rappor_counts_estimate(&plan, &counts, role, 1, &found.stddev);
		add_estimate(&estimates, &result, &(PollWord){"a", 300});
		rappor_counts_free(&counts);
	}
	ok(fabs(estimates.sum / RUNS) <=
		   BIAS_STANDARD_ERRORS * sqrt(estimates.squares / RUNS) / sqrt(RUNS),
	   "counts of bits are unbiased (%.2f)", estimates.sum / RUNS);
	ok(estimates.within_2 > 0.5 * RUNS, "their standard deviation is of the right size");
}

/* ---- limits ---- */

static void
test_limits(void)
{
	RapporQuery query = query_of(12, 10, LETTERS, 8);
	PollEach each;
	LocalResult result;

	poll_each_init(&each, words, lengthof(words), &rng);
	poll_each_shuffle(&each);
	query.max_work = 1e5;
	ok(rappor_run(&query, &each.poll, &rng, &result) == DP_ERR_RANGE && result.n == 0,
	   "too much work is refused");
	query = query_of(12, 10, LETTERS, 8);
	query.cliques = 3;
	ok(rappor_run(&query, &each.poll, &rng, &result) == DP_ERR_RANGE && result.n == 0,
	   "too many partial terms are refused");
	query = query_of(12, 10, LETTERS, 8);
	query.first = each.poll.users + 1;
	ok(rappor_run(&query, &each.poll, &rng, &result) == DP_ERR_DOMAIN, "a first place too far");
	query.first = each.poll.users;
	ok(rappor_run(&query, &each.poll, &rng, &result) == DP_OK && result.n == 0,
	   "nobody left to ask");
	free_result(&result);
	poll_each_free(&each);
}

static void
test_nobody(void)
{
	RapporQuery query = query_of(12, 10, LETTERS, 8);
	PollEach each;
	LocalResult result;

	poll_each_init(&each, NULL, 0, &rng);
	ok(rappor_run(&query, &each.poll, &rng, &result) == DP_OK && result.n == 0, "no users");
	free_result(&result);
	poll_each_free(&each);
	poll_each_init(&each, &(PollWord){"", 5000}, 1, &rng);
	ok(rappor_run(&query, &each.poll, &rng, &result) == DP_OK && result.n == 0,
	   "users without terms (%d)", result.n);
	free_result(&result);
	poll_each_free(&each);
	poll_each_init(&each, &(PollWord){"reddit", 1}, 1, &rng);
	ok(rappor_run(&query, &each.poll, &rng, &result) == DP_OK, "one user");
	free_result(&result);
	poll_each_free(&each);
}

/* Reports with bits that the plan has not, and of places that nobody has. */
static void
test_invalid(void)
{
	RapporQuery query = query_of(12, 10, LETTERS, 8);
	RapporReport reports[] = {
		{0, {0, 0, 0}},
		{1, {UINT64CONST(1) << 40, 0, 0}},
		{2, {0, 0, ~UINT64CONST(0)}},
		{PG_INT64_MAX, {1, 2, 3}},
		{-1, {1, 2, 3}},
	};
	RapporPlan plan;
	LocalResult result;
	int64 invalid;

	query.bits = 40;
	ok(rappor_plan(&query, &plan) == DP_OK &&
		   rappor_decode(&plan, reports, lengthof(reports), &invalid, &result) == DP_OK &&
		   invalid == 2,
	   "reports that are not of the plan are left out");
	free_result(&result);
}

int
main(void)
{
	dp_random_seeded(&rng, 5, 20160302, 0);
	test_refused();
	test_plan();
	test_places();
	test_law();
	test_found();
	test_memoised();
	test_unbiased();
	test_counts();
	test_limits();
	test_nobody();
	test_invalid();
	return tap_done();
}
