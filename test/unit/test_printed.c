/*
 * test_printed.c
 *	  The printed mechanism's noise: on four words computed by hand, against its
 *	  definition, and that it is indeed what no promise could rest on.
 */
#include "common/dp_printed.h"

#include <math.h>

#include "common/dp_posterior.h"
#include "common/dp_random.h"
#include "common/dp_sample.h"
#include "tap.h"

#define NEAR(value, expected) (fabs((value) - (expected)) < 1e-12)

#define MAX_WORDS 12
#define MAX_USERS 9

/*
 * The vocabulary of test_posterior.c: counts 0, 1, 3, 7 of 0, 1, 2, 4 users, C = 4 and
 * S = 2, weights 0, 1/2, 1, 1, mean 3/2 ln 2.
 */
static void
test_four_words(void)
{
	const double count[4] = {0, 1, 3, 7};
	const int64 users[4] = {0, 1, 2, 4};
	const uint32 words[3] = {1, 2, 3};
	const int64 own[3] = {1, 2, 4};
	const double ln_2 = log(2);
	DpPrintedCounts counts = {4, count, users, 2, 4, 0, 0};

	dp_printed_prepare(&counts);
	ok(NEAR(counts.mean, 1.5 * ln_2) && NEAR(counts.weights, 2.25), "mean and weights");

	/*
	 * Of a user with 0, 1, 2, 4.  In units of ln 2: l = 0, 1, 1, 1, their mean 3/4,
	 * xhat - xhat_-n = -3/4, 1/4, 1/4, 1/4, weighted 0, 1/8, 1/4, 1/4; xhat_-n of the
	 * user's words -3/4, 1/4, 5/4, times S/C -3/8, 1/8, 5/8.  Sums -1/4, 3/8, 7/8, whose
	 * squares are 4, 9 and 49 over 64.
	 */
	ok(NEAR(dp_printed_user_norm(&counts, words, own, 3), sqrt(62.0 / 64) * ln_2),
	   "brute force on four words: sqrt 62/64 ln 2");

	/*
	 * Of a user with the last word only, 4 times: l = 1, mean 1/4, weighted 0, -1/8,
	 * -1/4, 3/4; xhat_-n of the word 2 - 5/4 = 3/4, times S/C 3/8.  Squares 1/64, 4/64,
	 * 81/64.
	 */
	ok(NEAR(dp_printed_user_norm(&counts, words + 2, own + 2, 1), sqrt(86.0 / 64) * ln_2),
	   "brute force where others' words move with the mean: sqrt 86/64 ln 2");
	ok(dp_printed_user_norm(&counts, words, own, 0) == 0, "a user without words moves nothing");

	/*
	 * 1/N = 1, 1/2, 1/4, sum 7/4.  L = 3/4 + 3/16 = 15/16, 3/8 + 5/16 = 11/16, 3/16 + 3/8
	 * = 9/16; w L C = 15/8, 11/4, 9/4.  N <= C/S = 2 for the first two, where S/C |xhat|
	 * is 1/4 ln 2 each.
	 */
	ok(NEAR(dp_printed_worst_case(&counts),
			sqrt(pow(15.0 / 8 + ln_2 / 4, 2) + pow(11.0 / 4 + ln_2 / 4, 2) + 81.0 / 16)),
	   "Claim 1 on four words");
	ok(NEAR(dp_printed_sigma(0.5, 3, 0.25, 1.25 * exp(-8)), 24),
	   "Corollary 1: 1/2 3 sqrt 16 / (1/4) = 24");
}

/* A few users with a few words. */
typedef struct World
{
	int words;
	int users;
	int64 own[MAX_USERS][MAX_WORDS];
	double count[MAX_WORDS];
	int64 holders[MAX_WORDS];
} World;

static void
make_world(World *world, int64 max_count, DpRandom *rng)
{
	memset(world, 0, sizeof(*world));
	world->words = 1 + (int) dp_uniform(rng, MAX_WORDS);
	world->users = 1 + (int) dp_uniform(rng, MAX_USERS);
	for (int n = 0; n < world->users; n++)
	{
		for (int i = 0; i < world->words; i++)
		{
			if (dp_uniform(rng, 3) == 0)
				continue;
			world->own[n][i] = 1 + (int64) dp_uniform(rng, max_count);
			world->count[i] += world->own[n][i];
			world->holders[i]++;
		}
	}
}

/* The user's term of Algorithm 1 by definition, over the whole vocabulary. */
static double
defined_norm(const World *world, const DpPrintedCounts *counts, int user)
{
	double with[MAX_WORDS];
	double without[MAX_WORDS];
	double sum = 0;

	for (int i = 0; i < world->words; i++)
		without[i] = world->count[i] - world->own[user][i];
	(void) dp_center_log(world->count, world->words, with);
	(void) dp_center_log(without, world->words, without);
	for (int i = 0; i < world->words; i++)
	{
		double term = dp_log_weight(world->holders[i], counts->weight_slope, counts->max_count) *
					  (with[i] - without[i]);

		if (world->own[user][i] > 0)
			term += counts->weight_slope / counts->max_count * without[i];
		sum += term * term;
	}
	return sqrt(sum);
}

static double
user_norm(const World *world, const DpPrintedCounts *counts, int user)
{
	uint32 words[MAX_WORDS];
	int64 own[MAX_WORDS];
	int n = 0;

	for (int i = 0; i < world->words; i++)
	{
		if (world->own[user][i] == 0)
			continue;
		words[n] = i;
		own[n++] = world->own[user][i];
	}
	return dp_printed_user_norm(counts, words, own, n);
}

/*
 * Claim 1 does bound the change of w . xhat where no weight has reached 1, as its
 * own proof has it; beyond, Algorithm 1's gamma is another quantity.
 */
static void
test_random_worlds(void)
{
	static DpRandom rng;
	double worst = 0;
	bool bounded = true;
	int unbent = 0;

	dp_random_seeded(&rng, 4, 3, 1);
	for (int round = 0; round < 20000; round++)
	{
		int64 max_count = 1 + (int64) dp_uniform(&rng, 5);
		double slope = (1 + dp_uniform(&rng, 1000)) / (round % 2 == 0 ? 100.0 : 1e4);
		World world;
		DpPrintedCounts counts = {0, world.count, world.holders, slope, max_count, 0, 0};
		double claim;

		make_world(&world, max_count, &rng);
		counts.words = world.words;
		dp_printed_prepare(&counts);
		claim = dp_printed_worst_case(&counts);
		for (int n = 0; n < world.users; n++)
		{
			double norm = user_norm(&world, &counts, n);
			double defined = defined_norm(&world, &counts, n);

			/* squares: a norm of 0 is the root of what rounding leaves */
			worst = fmax(worst, fabs(norm * norm - defined * defined) / (1 + defined * defined));
			if (slope * world.users > max_count)
				continue;
			unbent++;
			bounded &= norm <= claim * (1 + 1e-12) + 1e-7;
		}
	}
	ok(worst < 1e-12, "the user's term is what its definition says, within %g", worst);
	ok(bounded && unbent > 10000, "Claim 1 bounds it in %d cases below the bend", unbent);
}

/*
 * Why it is not private.  A million users have 999 frequent words, ten each; nobody has
 * the last word until somebody comes who has only that.  Its coordinate moves by more
 * than 50 of the standard deviations that Corollary 1 takes at epsilon 1 and delta 1e-6,
 * where .2 would be hidden; before, its feature is 0.  A, which knows no data, covers it.
 */
static void
test_not_private(void)
{
	double count[1000];
	int64 users[1000];
	uint32 words[10];
	int64 own[10];
	DpPrintedCounts counts = {1000, count, users, 1, 1, 0, 0};
	double change;
	double sigma;
	double a = 0;

	for (int i = 0; i < 1000; i++)
	{
		users[i] = i < 999 ? 10010 : 0;
		count[i] = (double) users[i];
	}
	for (int i = 0; i < 10; i++)
	{
		words[i] = 7 * i;
		own[i] = 1;
	}
	dp_printed_prepare(&counts);
	sigma = dp_printed_sigma(1, dp_printed_user_norm(&counts, words, own, 10), 1, 1e-6);
	change = fabs(dp_log_feature(1, 1, 1, 1, counts.mean));
	ok(change > 50 * sigma, "one new rare word shows by %.0f standard deviations", change / sigma);
	ok(dp_log_sensitivity(1, 1, counts.mean, &a) == DP_OK && change <= a,
	   "the global sensitivity covers it");
}

int
main(void)
{
	test_four_words();
	test_random_worlds();
	test_not_private();
	return tap_done();
}
