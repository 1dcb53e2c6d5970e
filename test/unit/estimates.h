/*
 * estimates.h
 *	  Whether estimates of terms are unbiased, and whether their printed standard
 *	  deviations cover: what every method is held to.
 */
#ifndef ESTIMATES_H
#define ESTIMATES_H

#include <math.h>

#include "local/local.h"
#include "poll_each.h"
#include "tap.h"

#define RUNS 1000

/* How far a mean may be off, and a share that has a known law: 1 in 16,000 and in 10^6. */
#define BIAS_STANDARD_ERRORS 4
#define SHARE_STANDARD_ERRORS 4.9

/* One run of a method on a population; context as the method likes it. */
typedef DpStatus (*MethodRun)(const void *context, const PollEach *each, LocalResult *result);

/* One term over many runs of a method. */
typedef struct Estimates
{
	int runs;
	int missed; /* runs that did not find it */
	double sum; /* of errors */
	double squares;
	int within_1; /* of so many standard deviations of the truth */
	int within_2;
} Estimates;

static void test_estimates(const char *method, const PollWord *words, int n, int sought,
						   DpRandom *rng, MethodRun run, const void *context)
	pg_attribute_unused();

/* The term in a result, or NULL. */
static const LocalFound *
found_word(const LocalResult *result, const char *word)
{
	for (int i = 0; i < result->n; i++)
	{
		const LocalFound *found = &result->found[i];
		bool equal = found->length == (int) strlen(word);

		for (int at = 0; equal && at < found->length; at++)
			equal = found->symbol[at] == word[at] - 'a' + 1;
		if (equal)
			return found;
	}
	return NULL;
}

static void
free_result(LocalResult *result)
{
	for (int i = 0; i < result->n; i++)
		pfree(result->found[i].symbol);
	pfree(result->found);
}

/* One run. */
static void
add_estimate(Estimates *estimates, const LocalResult *result, const PollWord *word)
{
	const LocalFound *found = found_word(result, word->word);
	double error;

	estimates->runs++;
	if (found == NULL)
	{
		estimates->missed++;
		return;
	}
	error = found->estimate - word->users;
	estimates->sum += error;
	estimates->squares += error * error;
	estimates->within_1 += fabs(error) <= found->stddev;
	estimates->within_2 += fabs(error) <= 1.959964 * found->stddev;
}

static bool
covers(int within, int runs, double p)
{
	return fabs(within - runs * p) <= SHARE_STANDARD_ERRORS * sqrt(runs * p * (1 - p));
}

/* The terms must be so frequent that they are found in every run. */
static void
check_estimates(const char *method, const Estimates *estimates, const PollWord *word)
{
	int runs = estimates->runs;
	double mean = estimates->sum / runs;
	double sd = sqrt((estimates->squares - runs * mean * mean) / (runs - 1));

	ok(estimates->missed == 0, "%s: \"%s\" is found in %d runs (not in %d)", method, word->word,
	   runs, estimates->missed);
	ok(fabs(mean) <= BIAS_STANDARD_ERRORS * sd / sqrt(runs),
	   "%s: \"%s\" is estimated without bias (%.2f of %d, standard error %.2f)", method,
	   word->word, mean, (int) word->users, sd / sqrt(runs));
	ok(covers(estimates->within_1, runs, 0.6826895) && covers(estimates->within_2, runs, 0.95),
	   "%s: \"%s\" lies within 1 sd in %.1f %%, 1.96 sd in %.1f %%", method, word->word,
	   100.0 * estimates->within_1 / runs, 100.0 * estimates->within_2 / runs);
}

/*
 * Many runs of a method, each on another order of the users.  The first words are sought;
 * no run may find the last but one.
 */
static void
test_estimates(const char *method, const PollWord *words, int n, int sought, DpRandom *rng,
			   MethodRun run, const void *context)
{
	Estimates *estimates = palloc0(sought * sizeof(Estimates));
	PollEach each;
	int within_1 = 0;
	int within_2 = 0;
	bool sane = true;

	poll_each_init(&each, words, n, rng);
	for (int i = 0; i < RUNS; i++)
	{
		LocalResult result;

		poll_each_shuffle(&each);
		sane &= run(context, &each, &result) == DP_OK;
		sane &= found_word(&result, words[n - 2].word) == NULL;
		for (int at = 1; at < result.n; at++)
			sane &= result.found[at - 1].estimate >= result.found[at].estimate;
		for (int at = 0; at < sought; at++)
			add_estimate(&estimates[at], &result, &words[at]);
		free_result(&result);
	}
	ok(sane, "%s: results are in order, and hold no term that is too long", method);
	for (int i = 0; i < sought; i++)
	{
		check_estimates(method, &estimates[i], &words[i]);
		within_1 += estimates[i].within_1;
		within_2 += estimates[i].within_2;
	}
	ok(covers(within_1, sought * RUNS, 0.6826895) && covers(within_2, sought * RUNS, 0.95),
	   "%s: the terms together lie within 1 sd in %.1f %%, 1.96 sd in %.1f %%", method,
	   100.0 * within_1 / (sought * RUNS), 100.0 * within_2 / (sought * RUNS));
	poll_each_free(&each);
	pfree(estimates);
}

#endif /* ESTIMATES_H */
