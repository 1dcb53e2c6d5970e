/*
 * test_tries.c
 *	  PrivTrie, BSL and IBSL on users asked one by one: what they find, whether estimates
 *	  are unbiased and their standard deviations true, whom they ask, and what bounds them.
 *
 * Tests of chance hold with probability 1 - 1e-6 at the draws of a fixed seed, and would
 * for others.
 */
#include "local/bsl.h"
#include "local/candidates.h"
#include "local/length.h"
#include "local/privtrie.h"

#include <math.h>

#include "poll_each.h"
#include "tap.h"

#define RUNS 1000
#define BIAS 0.1	/* of least squares, in standard deviations, at most */
#define FAR_OUT 4.9 /* standard deviations, p = 1e-6 on two sides */

typedef DpStatus (*Method)(const LocalQuery *query, const Poll *poll, LocalResult *result);

static DpRandom rng;

/* Lengths are such that Estimate_l does not cut off a frequent word. */
static const PollWord words[] = {
	{"a", 900},
	{"bead", 700},
	{"cabbed", 900},
	{"dab", 650},
	{"bee", 600},
	{"", 300},
	{"ea", 1},
	{"decade", 1},
};

#define FREQUENT 5

static const LocalQuery usual = {
	.epsilon = 4, .k = 10, .alphabet = 5, .max_length = 8, .frontier = 2000};

/* Each method with an epsilon at which it finds the frequent words. */
static const struct
{
	const char *name;
	Method run;
	double epsilon;
} methods[] = {{"privtrie", privtrie_run, 4}, {"ibsl", ibsl_run, 6}, {"bsl", bsl_run, 32}};

static void
free_result(LocalResult *result)
{
	for (int i = 0; i < result->n; i++)
		pfree(result->found[i].symbol);
	pfree(result->found);
}

static bool
is_word(const LocalFound *found, const char *word)
{
	if (found->length != (int) strlen(word))
		return false;
	for (int i = 0; i < found->length; i++)
		if (found->symbol[i] != word[i] - 'a' + 1)
			return false;
	return true;
}

static const LocalFound *
find_word(const LocalResult *result, const char *word)
{
	for (int i = 0; i < result->n; i++)
		if (is_word(&result->found[i], word))
			return &result->found[i];
	return NULL;
}

/* ---- what is found ---- */

static void
test_finds(int m, bool consistency, double eta)
{
	PollEach each;
	LocalQuery query = usual;
	LocalResult result;
	bool all = true;
	bool sorted = true;

	query.epsilon = methods[m].epsilon;
	query.consistency = consistency;
	query.eta = eta;
	query.k = FREQUENT;
	poll_each_init(&each, words, lengthof(words), &rng);
	poll_each_shuffle(&each);
	all &= methods[m].run(&query, &each.poll, &result) == DP_OK;
	for (int i = 0; i < FREQUENT; i++)
		all &= find_word(&result, words[i].word) != NULL;
	for (int i = 1; i < result.n; i++)
		sorted &= result.found[i - 1].estimate >= result.found[i].estimate;
	ok(all && result.n == FREQUENT && sorted, "%s finds the frequent words%s%s", methods[m].name,
	   consistency ? ", with consistency" : "", eta > 0 ? ", with the paper's threshold" : "");
	free_result(&result);
	poll_each_free(&each);
}

/* The most that a user spends is epsilon; not much less, or answers were wasted. */
static void
test_spends(int m)
{
	PollEach each;
	LocalQuery query = usual;
	LocalResult result;
	double spent;

	poll_each_init(&each, words, lengthof(words), &rng);
	poll_each_shuffle(&each);
	each.recording = true;
	(void) methods[m].run(&query, &each.poll, &result);
	spent = poll_each_epsilon(&each);
	ok(spent <= query.epsilon && spent > 0.3 * query.epsilon,
	   "%s: no user spends more than epsilon = %g (%.15g)", methods[m].name, query.epsilon, spent);
	free_result(&result);
	poll_each_free(&each);
}

/* ---- what is not there ---- */

/* Runs a method on so many users with a word, and others without; says what it found. */
static DpStatus
run_on(int m, const LocalQuery *query, const char *word, int64 with, int64 without,
	   LocalResult *result)
{
	PollWord users[2] = {{word, with}, {"", without}};
	PollEach each;
	DpStatus status;

	poll_each_init(&each, users, 2, &rng);
	poll_each_shuffle(&each);
	status = methods[m].run(query, &each.poll, result);
	poll_each_free(&each);
	return status;
}

static bool
runs_on(int m, const LocalQuery *query, const char *word, int64 with, int64 without)
{
	LocalResult result;
	bool sound = run_on(m, query, word, with, without, &result) == DP_OK && result.n <= query->k;

	for (int i = 0; i < result.n; i++)
	{
		sound &= result.found[i].length >= 1 && result.found[i].length <= query->max_length;
		sound &= isfinite(result.found[i].estimate) && result.found[i].stddev >= 0;
	}
	free_result(&result);
	return sound;
}

static bool
finds_only(int m, const LocalQuery *query, const char *word, int64 with, int64 without)
{
	LocalResult result;
	bool found = run_on(m, query, word, with, without, &result) == DP_OK && result.n >= 1 &&
				 is_word(&result.found[0], word) &&
				 fabs(result.found[0].estimate - with) < FAR_OUT * result.found[0].stddev;

	free_result(&result);
	return found;
}

static void
test_edges(int m)
{
	const char *name = methods[m].name;
	LocalQuery query = usual;
	LocalResult result;

	for (int consistency = 0; consistency < 2; consistency++)
	{
		query.consistency = consistency;
		ok(runs_on(m, &query, "a", 0, 0), "%s: nobody", name);
		ok(runs_on(m, &query, "a", 1, 0), "%s: one user", name);
		ok(runs_on(m, &query, "a", 7, 3), "%s: ten users", name);
		ok(runs_on(m, &query, "a", 0, 500), "%s: nobody has a term", name);
		ok(runs_on(m, &query, "abcdeabcdeabcde", 500, 0), "%s: a term that is too long", name);
	}
	query.epsilon = methods[m].epsilon;
	query.k = 100000;
	ok(finds_only(m, &query, "bad", 2000, 1000), "%s: more is wanted than there is", name);
	query.max_length = 1;
	ok(finds_only(m, &query, "c", 2000, 1000), "%s: terms of one character", name);
	query.max_length = 8;
	query.alphabet = 1;
	ok(finds_only(m, &query, "aaa", 2000, 1000), "%s: an alphabet of one character", name);
	query.frontier = 1;
	query.alphabet = 26;
	ok(finds_only(m, &query, "xyz", 2000, 1000), "%s: a frontier of one node", name);
	query.epsilon = 0;
	ok(run_on(m, &query, "a", 10, 0, &result) == DP_ERR_DOMAIN, "%s: epsilon must be positive",
	   name);
}

/* Whole terms beyond the first character of a large alphabet: the public caps hold. */
static void
test_large_alphabet(int m)
{
	LocalQuery query = usual;

	query.alphabet = ALPHABET_MAX_SIZE;
	query.max_length = 2;
	query.epsilon = 30;
	ok(runs_on(m, &query, "za", 100, 0), "%s: the largest alphabet", methods[m].name);
}

/* ---- estimates ---- */

typedef struct Sums
{
	int found;
	int within1; /* standard deviations that were printed */
	int within2;
	double sum; /* of errors in users */
	double squares;
	double scaled; /* of errors in printed standard deviations */
} Sums;

static void
add_error(Sums *sums, const LocalFound *found, double truth)
{
	double error = found->estimate - truth;

	sums->found++;
	sums->sum += error;
	sums->squares += error * error;
	sums->scaled += error / found->stddev;
	sums->within1 += fabs(error) <= found->stddev;
	sums->within2 += fabs(error) <= 1.959964 * found->stddev;
}

/* Does a share of n agree with its probability? */
static bool
agrees(int seen, int n, double p)
{
	return fabs(seen - n * p) <= FAR_OUT * sqrt(n * p * (1 - p));
}

static void
collect(Method method, const LocalQuery *query, Sums *sums)
{
	PollEach each;

	memset(sums, 0, FREQUENT * sizeof(Sums));
	poll_each_init(&each, words, lengthof(words), &rng);
	for (int run = 0; run < RUNS; run++)
	{
		LocalResult result;

		poll_each_shuffle(&each);
		(void) method(query, &each.poll, &result);
		for (int i = 0; i < FREQUENT; i++)
		{
			const LocalFound *found = find_word(&result, words[i].word);

			if (found != NULL)
				add_error(&sums[i], found, words[i].users);
		}
		free_result(&result);
	}
	poll_each_free(&each);
}

/*
 * Estimates are unbiased and cover as they say.  BSL's and IBSL's fits are a little biased
 * (see candidates.c), and cover at least as often.
 */
static void
test_estimates(int m, bool consistency)
{
	const char *name = methods[m].name;
	const char *with = consistency ? " with consistency" : "";
	LocalQuery query = usual;
	Sums sums[FREQUENT];
	bool fits = consistency && methods[m].run != privtrie_run;

	query.epsilon = methods[m].epsilon;
	query.k = 1000;
	query.consistency = consistency;
	collect(methods[m].run, &query, sums);
	for (int i = 0; i < FREQUENT; i++)
	{
		double mean = sums[i].sum / RUNS;
		double deviation = sqrt(sums[i].squares / RUNS - mean * mean);
		double allowed = (fits ? BIAS : 0) + 4 / sqrt(RUNS);

		ok(sums[i].found == RUNS && fabs(mean) <= allowed * deviation,
		   "%s%s, '%s': found in %d runs, mean error %.2f of deviation %.2f", name, with,
		   words[i].word, sums[i].found, mean, deviation);
		ok((sums[i].within1 > 0.683 * RUNS || agrees(sums[i].within1, RUNS, 0.682689)) &&
			   (sums[i].within2 > 0.95 * RUNS || agrees(sums[i].within2, RUNS, 0.95)) &&
			   (fits || agrees(sums[i].within1, RUNS, 0.682689)),
		   "%s%s, '%s': standard deviations cover %d and %d of %d", name, with, words[i].word,
		   sums[i].within1, sums[i].within2, RUNS);
	}
}

/* ---- Estimate_l ---- */

static void
test_length(void)
{
	PollWord lengths[] = {{"a", 100}, {"aa", 400}, {"aaaa", 380}, {"aaaaaaa", 120}};
	PollEach each;
	int length;

	poll_each_init(&each, lengths, lengthof(lengths), &rng);
	ok(local_length(&each.poll, 0, 1000, 32, 10, &length) == DP_OK && length == 4,
	   "Estimate_l: 88 %% are covered by length 4");
	ok(local_length(&each.poll, 0, 500, 32, 10, &length) == DP_OK && length == 2,
	   "Estimate_l asks those it was told to");
	ok(local_length(&each.poll, 0, 1000, 32, 3, &length) == DP_OK && length == 2,
	   "Estimate_l: longer terms than the longest do not count");
	ok(local_length(&each.poll, 0, 0, 32, 10, &length) == DP_OK && length == 10,
	   "Estimate_l: the longest, if nobody answers");
	ok(local_length(&each.poll, 0, 1000, 0, 10, &length) == DP_ERR_DOMAIN,
	   "Estimate_l: epsilon must be positive");
	poll_each_free(&each);
}

int
main(void)
{
	dp_random_seeded(&rng, 5, 2, 1);
	test_length();
	for (int m = 0; m < (int) lengthof(methods); m++)
	{
		test_finds(m, false, 0);
		test_finds(m, true, 0);
		test_finds(m, false, 4);
		test_spends(m);
		test_edges(m);
		test_large_alphabet(m);
		test_estimates(m, false);
		test_estimates(m, true);
	}
	dp_random_clear(&rng);
	return tap_done();
}
