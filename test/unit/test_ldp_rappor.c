/*
 * test_ldp_rappor.c
 *	  Is A-RAPPOR epsilon-private?  The probabilities of all bits that a report can have are
 *	  compared in integers; which bits they are, and with which probabilities they are
 *	  drawn, is read off the code.
 */
#include "local/rappor.h"

#include "exact_exp.h"
#include "poll_each.h"
#include "results.h"
#include "script_rng.h"
#include "tap.h"

/* How near to e^epsilon the worst quotient must come, relative; and with permanent bits. */
#define TIGHT 1e-9
#define TIGHT_REPEATED 1e-6

/* Places that are looked at: pairs of positions in cohorts, several times. */
#define PLACES 25

#define LETTERS 2
#define LONGEST 5

static const char *const possible[] = {
	"", "a", "b", "ab", "ba", "bb", "aab", "abab", "babab", "bbbbb", "aabbab"};

#define TERMS ((int) lengthof(possible))

static LocalTerm
term_of(int i, uint16 *symbol)
{
	int length = strlen(possible[i]);

	for (int j = 0; j < length; j++)
		symbol[j] = possible[i][j] - 'a' + 1;
	return (LocalTerm){length, symbol};
}

/* ---- probabilities ---- */

/* P(1 is reported | the true bit), in 2^-(2 ORACLE_BITS): through a permanent bit, if any. */
static dp_uint128
one_reported(const Bloom *bloom, bool truth)
{
	uint64 right = truth ? bloom->yes : bloom->no;
	uint64 wrong = truth ? bloom->no : bloom->yes;

	return (dp_uint128) (ORACLE_ONE - bloom->flip) * right + (dp_uint128) bloom->flip * wrong;
}

#define SQUARE ((dp_uint128) ORACLE_ONE << ORACLE_BITS)

static void
add_factor(Quotient *q, dp_uint128 num, dp_uint128 den)
{
	if (q->factors == QUOTIENT_FACTORS)
		abort();
	q->num[q->factors] = num;
	q->den[q->factors++] = den;
}

/*
 * The answer that is likeliest under one value as compared with another, if the one sets
 * so many bits that the other does not, and the other so many that the one does not.
 */
static void
add_bits(Quotient *q, const Bloom *bloom, int set, int unset)
{
	dp_uint128 yes = one_reported(bloom, true);
	dp_uint128 no = one_reported(bloom, false);

	for (int i = 0; i < set; i++)
		add_factor(q, yes, no);
	for (int i = 0; i < unset; i++)
		add_factor(q, SQUARE - no, SQUARE - yes);
}

/* One report: of any two values, or one and none. */
static bool
report_private(const Bloom *bloom, double epsilon, double tolerance)
{
	Quotient worst = {0};
	bool bounded = true;

	for (int set = 0; set <= bloom->hashes; set++)
		for (int unset = 0; unset <= bloom->hashes; unset++)
		{
			Quotient q = {0};

			add_bits(&q, bloom, set, unset);
			bounded = bounded && quotient_at_most_exp(&q, epsilon);
		}
	add_bits(&worst, bloom, bloom->hashes, bloom->hashes);
	return bounded && quotient_near_exp(&worst, epsilon, tolerance);
}

/* All reports of a value: what they tell is told by its permanent bits. */
static bool
lifetime_private(const Bloom *bloom, double lifetime, double tolerance)
{
	Quotient q = {0};

	for (int bit = 0; bit < 2 * bloom->hashes; bit++)
		add_factor(&q, ORACLE_ONE - bloom->flip, bloom->flip);
	return quotient_at_most_exp(&q, lifetime) && quotient_near_exp(&q, lifetime, tolerance);
}

/* What multiples of 2^-62 allow, where the rarest of so many bits has this probability. */
static double
granular(uint64 rare, int bits)
{
	return 2.0 * bits / (double) rare;
}

static void
test_probabilities(void)
{
	static const double epsilons[] = {1e-4, 1e-3, 0.1, 0.5, 1, 2, 3, 5, 8, 12, 16, 24, 32};
	static const int hashes[] = {1, 2, 3, 8};
	int n = 0;
	bool once = true;
	bool report = true;
	bool lifetime = true;

	for (int h = 0; h < (int) lengthof(hashes); h++)
		for (int i = 0; i < (int) lengthof(epsilons); i++)
		{
			double epsilon = epsilons[i];
			Bloom bloom;

			once = once && bloom_once(epsilon, 64, hashes[h], &bloom) == DP_OK &&
				   bloom.flip == 0 &&
				   report_private(&bloom, epsilon, TIGHT + granular(bloom.no, hashes[h]));
			for (int j = i; j < (int) lengthof(epsilons) && epsilon / hashes[h] < 16; j++)
			{
				double tolerance = TIGHT_REPEATED * (1 + epsilons[j]);

				if (bloom_repeated(epsilon, epsilons[j], 64, hashes[h], &bloom) != DP_OK)
					report = false;
				tolerance += granular(bloom.flip, 2 * hashes[h]);
				report = report && report_private(&bloom, epsilon, tolerance);
				lifetime = lifetime && lifetime_private(&bloom, epsilons[j], tolerance);
				n++;
			}
		}
	ok(once, "a report without permanent bits tells epsilon");
	ok(report, "a report of permanent bits tells epsilon, in %d settings", n);
	ok(lifetime, "the permanent bits tell lifetime");
}

/* ---- trials ---- */

/* The words that make the numbers in 64 lanes: a digit of each in every word. */
static void
words_of_lanes(const uint64 *number, uint64 *word)
{
	for (int i = 0; i < ORACLE_BITS; i++)
	{
		word[i] = 0;
		for (int lane = 0; lane < 64; lane++)
			word[i] |= (number[lane] >> (ORACLE_BITS - 1 - i) & 1) << lane;
	}
}

/* A probability: with all its digits, or few of them. */
static uint64
random_probability(DpRandom *rng)
{
	uint64 p = dp_random_u64(rng) >> (64 - ORACLE_BITS);
	int zeros = (int) (dp_random_u64(rng) % ORACLE_BITS);

	return Max(p >> zeros << zeros, 1);
}

/* Is each lane's trial true if, and only if, its number is below the probability? */
static bool
exact_lanes(DpRandom *rng, uint64 p)
{
	uint64 number[64];
	uint64 word[ORACLE_BITS];
	DpRandom script;
	uint64 success;
	bool exact = true;

	for (int lane = 0; lane < 64; lane++)
		switch (lane % 8)
		{
			case 0:
				number[lane] = p - 1;
				break;
			case 1:
				number[lane] = p;
				break;
			case 2:
				number[lane] = 0;
				break;
			case 3:
				number[lane] = ORACLE_ONE - 1;
				break;
			case 4:
				/* as the probability down to some digit, then at random */
				number[lane] = p ^ (dp_random_u64(rng) >> (3 + lane % 60));
				break;
			default:
				number[lane] = dp_random_u64(rng) >> (64 - ORACLE_BITS);
		}
	words_of_lanes(number, word);
	script_words(&script, word, ORACLE_BITS);
	success = bloom_trials(&script, p);
	for (int lane = 0; lane < 64; lane++)
		exact = exact && (success >> lane & 1) == (number[lane] < p);
	return exact;
}

static void
test_trials(void)
{
	const int probabilities = 2000;
	DpRandom rng;
	bool exact = true;

	dp_random_seeded(&rng, 0x747269, 0, 0);
	for (int i = 0; i < probabilities; i++)
		exact = exact_lanes(&rng, random_probability(&rng)) && exact;
	ok(exact, "64 trials at once, each exact: %d probabilities", probabilities);
}

/* ---- the client's half ---- */

static RapporQuery
query_of(double epsilon, int hashes)
{
	LocalQuery base = {
		.epsilon = epsilon,
		.k = 3,
		.alphabet = LETTERS,
		.max_length = LONGEST,
		.frontier = LOCAL_FRONTIER,
	};
	RapporQuery query = rappor_defaults(&base);

	query.bits = 32;
	query.hashes = hashes;
	query.cohorts = 5;
	return query;
}

/* Sets a generator so that a bit is reported as it is: true ones succeed, false ones do not. */
static void
script_truth(DpRandom *rng)
{
	uint64 word[2 * RAPPOR_PARTS];

	for (int part = 0; part < RAPPOR_PARTS; part++)
	{
		word[2 * part] = 0;
		word[2 * part + 1] = ~UINT64CONST(0);
	}
	script_words(rng, word, 2 * RAPPOR_PARTS);
}

/* A report's true bits; false if it takes other randomness than that of its own bits. */
static bool
true_report(const RapporPlan *plan, int64 place, int term, RapporReport *report)
{
	uint16 symbol[LONGEST + 1];
	LocalTerm local = term_of(term, symbol);
	DpRandom rng;

	script_truth(&rng);
	return rappor_client(plan, place, &local, NULL, 0, &rng, report) == DP_OK &&
		   report->place == place && script_used_up(&rng);
}

/* The reports of all terms at a place, against each other. */
static void
judge_place(const RapporPlan *plan, int64 place, double epsilon, bool *bounded, bool *reached)
{
	RapporReport report[TERMS];

	for (int t = 0; t < TERMS; t++)
		*bounded = true_report(plan, place, t, &report[t]) && *bounded;
	for (int s = 0; s < TERMS; s++)
		for (int t = 0; t < TERMS; t++)
		{
			Quotient q = {0};

			for (int part = 0; part < RAPPOR_PARTS; part++)
			{
				uint64 a = report[s].bits[part];
				uint64 b = report[t].bits[part];

				add_bits(&q, &plan->bloom, __builtin_popcountll(a & ~b),
						 __builtin_popcountll(b & ~a));
			}
			*bounded = *bounded && quotient_at_most_exp(&q, epsilon);
			*reached = *reached ||
					   quotient_near_exp(&q, epsilon,
										 TIGHT + granular(plan->bloom.no, q.factors));
		}
}

static void
test_client(double epsilon, int hashes)
{
	RapporQuery query = query_of(epsilon, hashes);
	RapporPlan plan;
	bool bounded = rappor_plan(&query, &plan) == DP_OK && plan.pairs == 3;
	bool reached = false;

	for (int64 place = 0; bounded && place < PLACES; place++)
		judge_place(&plan, place, epsilon, &bounded, &reached);
	ok(bounded && reached,
	   "%d hash functions: all three filters together tell epsilon %g", hashes, epsilon);
}

/* ---- within the server ---- */

static const PollWord population[] = {
	{"a", 1500},
	{"abab", 1200},
	{"", 700},
	{"bba", 900},
	{"babab", 800},
	{"aabbab", 100},
};

/* What is found among terms is what is found in the reports that are made of them. */
static void
test_run(void)
{
	RapporQuery query = query_of(20, 1);
	RapporPlan plan;
	RapporReport *reports;
	PollEach each;
	DpRandom rng;
	LocalResult run;
	LocalResult decoded;
	int64 invalid;
	bool done;

	dp_random_seeded(&rng, 0x72617070, 0, 0);
	poll_each_init(&each, population, lengthof(population), &rng);
	poll_each_shuffle(&each);
	dp_random_seeded(&rng, 0x72617070, 1, 0);
	done = rappor_run(&query, &each.poll, &rng, &run) == DP_OK &&
		   rappor_plan(&query, &plan) == DP_OK;
	dp_random_seeded(&rng, 0x72617070, 1, 0);
	reports = palloc(each.poll.users * sizeof(RapporReport));
	for (int64 place = 0; place < each.poll.users; place++)
		done = done && rappor_client(&plan, place, &each.term[place], NULL, 0, &rng,
									 &reports[place]) == DP_OK;
	done = done && rappor_decode(&plan, reports, each.poll.users, &invalid, &decoded) == DP_OK;
	ok(done && run.n > 0 && results_equal(&run, &decoded),
	   "within the server nothing but the users' reports is used");
	results_free(&run);
	results_free(&decoded);
	pfree(reports);
	poll_each_free(&each);
}

int
main(void)
{
	test_probabilities();
	test_trials();
	test_client(1, 1);
	test_client(6, 1);
	test_client(3, 2);
	test_client(0.01, 2);
	test_run();
	return tap_done();
}
