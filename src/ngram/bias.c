/*
 * bias.c
 *	  Which n-grams of a level leave their weight to others in the next round.
 *
 * A user's weights have l2 norm 1 whatever the biases are, so what one n-gram does
 * not ask for the user's others get.  After each round an n-gram with bias b is
 *
 *	winner	if even a careful guess of its weight carries it over its threshold with
 *			less than the full bias: then it asks for what it still needs;
 *	loser	if even a hopeful guess of its weight does not: then it asks for the less the
 *			more hopeless it is;
 *	neither	else, and asks for all.
 *
 * The guess of its weight under the full bias is sum / spent with standard deviation
 * s sqrt(F) / spent, where s is the deviation of the whole statistic and F the rounds' share
 * in it so far; what noise still to come adds has deviation s sqrt(1 - F).  (Up to the
 * rounding of the sigmas: these are rules of thumb, and nothing of the proof rests on them.)
 *
 * Privacy.  A bias depends on noisy sums and public numbers alone, and members of
 * V_k that nobody has go through the same rules (level_rounds.c), so any rules are
 * private.  These were chosen by the number of n-grams they release on two sets of real
 * data; most numbers below can be changed by a third without losing one n-gram in a hundred.
 */
#include "postgres.h"

#include <math.h>

#include "common/dp_weights.h"
#include "ngram/bias.h"

#define WIN_DOUBT 0.3	/* standard deviations of the guess */
#define WIN_MARGIN 1.25 /* standard deviations of the noise to come */
#define WIN_LEAST 0.02	/* the least bias of a winner */
#define LOSE_DOUBT 1.3
#define LOSE_HOPE 0.5
#define LOSE_LEAST 0.03

/*
 * How much of a level's budget a round gets: less in the first ones, which learn what the
 * others put to use, rising over two fifths of the rounds.  In hundredths, without a
 * common divisor: 5 7 8 10 12 12 12 12 12 12 for ten.
 */
#define FIRST_PART 0.33
#define PART_SLOPE 1.5
#define PARTS 100

static int64
greatest_common_divisor(int64 a, int64 b)
{
	return b == 0 ? a : greatest_common_divisor(b, a % b);
}

void
bias_coefficients(int rounds, int64 *coefficient)
{
	double part[NGRAM_MAX_ROUNDS];
	double sum = 0;
	int64 divisor = 0;

	Assert(rounds >= 1 && rounds <= NGRAM_MAX_ROUNDS);
	for (int j = 0; j < rounds; j++)
		sum += part[j] = Min(1, FIRST_PART + PART_SLOPE * (j + 0.5) / rounds);
	for (int j = 0; j < rounds; j++)
	{
		coefficient[j] = (int64) rint(PARTS * part[j] / sum);
		divisor = greatest_common_divisor(coefficient[j], divisor);
	}
	for (int j = 0; j < rounds; j++)
		coefficient[j] /= divisor;
}

/* "deviation" is the statistic's, sum of coefficient times noise, in lattice units. */
void
bias_prepare(BiasRules *rules, const int64 *coefficient, int rounds, double deviation)
{
	double total = 0;
	double done = 0;

	rules->rounds = rounds;
	for (int j = 0; j < rounds; j++)
		total += (double) coefficient[j];
	for (int j = 0; j < rounds; j++)
	{
		double so_far;
		double to_come;

		done += (double) coefficient[j];
		so_far = deviation * sqrt(done / total);
		to_come = deviation * sqrt((total - done) / total);
		rules->after[j] = (BiasRound){.win_doubt = WIN_DOUBT * so_far,
									  .win_margin = WIN_MARGIN * to_come,
									  .lose_doubt = LOSE_DOUBT * so_far,
									  .lose_hope = LOSE_HOPE * to_come,
									  .rest = total - done};
	}
}

static inline int
bias_integer(double share, double least)
{
	return (int) rint(Max(share, least) * DP_BIAS_ONE);
}

/*
 * The bias after a round (from 0) in the next: sum is that of coefficient times noisy
 * weight, spent of coefficient times bias, over the rounds so far.
 */
int
bias_next(const BiasRules *rules, int round, int64 sum, int32 spent, int64 threshold)
{
	const BiasRound *after = &rules->after[round];
	/* rounds to come at full bias, in terms of what the n-gram has had so far */
	double times = after->rest * DP_BIAS_ONE / spent;
	double missing = (double) (threshold - sum);
	double guess = ((double) sum - after->win_doubt) * times;
	double need = Max(0, missing + after->win_margin);

	if (round + 1 >= rules->rounds)
		return DP_BIAS_ONE;
	if (guess > 0 && need < guess)
		return bias_integer(need / guess, WIN_LEAST);
	guess = ((double) sum + after->lose_doubt) * times;
	need = Max(1, missing - after->lose_hope);
	if (guess < need)
	{
		double part = Max(guess, 0) / need;

		part *= part;
		return bias_integer(part * part, LOSE_LEAST);
	}
	return DP_BIAS_ONE;
}
