/*
 * dp_printed.c
 *	  The noise of Ramadan, Withers and Orr, "N-grams Bayesian Differential Privacy"
 *	  (2021), as it is printed: to reproduce the paper and to be compared with.
 *
 * NOT PRIVATE.  gamma, to which the noise is scaled, is the sensitivity at the very data
 * that it should protect, by brute force (Algorithm 1) as by Claim 1.  Where all words
 * are frequent gamma is near 0; a user with one new rare word then moves a coordinate
 * by many times the noise.  What may be promised is in dp_posterior.c.
 */
#include "common/dp_base.h"

#include <math.h>

#include "common/dp_posterior.h"
#include "common/dp_printed.h"

static double
square(double x)
{
	return x * x;
}

static double
word_weight(const DpPrintedCounts *counts, uint32 word)
{
	return dp_log_weight(counts->users[word], counts->weight_slope, counts->max_count);
}

/* dp_printed_prepare - fill in mean and weights; the other members are the caller's. */
void
dp_printed_prepare(DpPrintedCounts *counts)
{
	long double logs = 0;
	long double weights = 0;

	Assert(counts->words > 0);

	for (int i = 0; i < counts->words; i++)
	{
		logs += log1p(counts->count[i]);
		weights += square(word_weight(counts, i));
	}
	counts->mean = (double) (logs / counts->words);
	counts->weights = (double) weights;
}

/*
 * dp_printed_user_norm - the term of one user in Algorithm 1's gamma,
 * || w . (xhat - xhat_-n) + S/C 1(dc^n > 0) . xhat_-n ||_2, of which gamma is the maximum.
 *
 * The user has n distinct words, the i-th of them count[i] times, clipped to C.  With
 * l_i = ln((1 + c_i) / (1 + c_i - d_i)), 0 where d_i = 0, and s = (1/|V|) sum of l_i,
 *
 *	(xhat - xhat_-n)_i = l_i - s,	(xhat_-n)_i = ln(1 + c_i - d_i) - (mean - s),
 *
 * so all words that the user hasn't got have -s w_i, and their squares are s^2 times
 * what the user's own words leave of the sum of w^2: O(n), not O(|V|), as the paper
 * says.
 */
double
dp_printed_user_norm(const DpPrintedCounts *counts, const uint32 *word, const int64 *count, int n)
{
	double drop = counts->weight_slope / counts->max_count;
	double others = counts->weights;
	double shift = 0;
	double norm = 0;

	for (int i = 0; i < n; i++)
	{
		double left = counts->count[word[i]] - (double) count[i];

		Assert(left >= 0);
		shift += log1p((double) count[i] / (1 + left));
	}
	shift /= counts->words;

	for (int i = 0; i < n; i++)
	{
		double weight = word_weight(counts, word[i]);
		double left = counts->count[word[i]] - (double) count[i];
		double moved = log1p((double) count[i] / (1 + left)) - shift;
		double without = log1p(left) - (counts->mean - shift);

		norm += square(weight * moved + drop * without);
		others -= square(weight);
	}
	return sqrt(norm + square(shift) * fmax(others, 0));
}

/*
 * dp_printed_worst_case - the bound of Claim 1 on gamma,
 *
 *	|| w . L C + S/C |xhat| . 1(N <= C/S) ||_2,
 *	L_i = (1 - 1/|V|) / N_i + sum over j != i of 1 / (|V| N_j).
 *
 * The paper doesn't say what 1/N is where nobody has a word.  Such words are left out
 * of both sums: nobody can take them away, and their weight is 0 with any user and
 * without.  |V| stays the whole vocabulary.
 */
double
dp_printed_worst_case(const DpPrintedCounts *counts)
{
	double words = counts->words;
	double drop = counts->weight_slope / counts->max_count;
	long double inverse = 0;
	long double norm = 0;

	for (int i = 0; i < counts->words; i++)
	{
		if (counts->users[i] > 0)
			inverse += 1.0 / counts->users[i];
	}
	for (int i = 0; i < counts->words; i++)
	{
		double own;
		double term;

		if (counts->users[i] <= 0)
			continue;
		own = 1.0 / counts->users[i];
		term = word_weight(counts, i) * counts->max_count *
			   ((1 - 1 / words) * own + ((double) inverse - own) / words);
		if (counts->weight_slope * counts->users[i] <= counts->max_count)
			term += drop * fabs(log1p(counts->count[i]) - counts->mean);
		norm += square(term);
	}
	return (double) sqrtl(norm);
}

/*
 * dp_printed_sigma - Corollary 1's standard deviation, rho gamma sqrt(2 ln(1.25/delta)) /
 * epsilon.  The formula is a theorem for epsilon < 1 only; the paper uses it everywhere.
 */
double
dp_printed_sigma(double rho, double gamma, double epsilon, double delta)
{
	return rho * gamma * sqrt(2 * log(1.25 / delta)) / epsilon;
}
