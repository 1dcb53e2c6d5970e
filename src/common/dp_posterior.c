/*
 * dp_posterior.c
 *	  The log-space mechanism for counts with a public prior: Ramadan, Withers and
 *	  Orr, "N-grams Bayesian Differential Privacy" (2021), with a sensitivity that
 *	  holds for every data set and not only for the one that it protects.
 *
 * Of an n-gram that N users have c times in all, each of them 1 to C times, the
 * mechanism publishes with Gaussian noise
 *
 *	f(N, c) = w(N) (ln(1 + c) - m0),	w(N) = min(1, a N),	a = S/C,
 *
 * where w is the paper's equation (5) and m0 a public constant.  The paper puts the
 * mean of ln(1 + c_i) over all n-grams in the place of m0; that moves every coordinate
 * when one user comes or goes, and by how much is bounded by nothing.
 *
 * Sensitivity.  One more user who has the n-gram d times, 1 <= d <= C, changes f by
 *
 *	g(N, c, d) = w1 (ln(1 + c + d) - m0) - w0 (ln(1 + c) - m0),
 *	N <= c <= C N,	w0 = w(N),	w1 = w(N + 1).
 *
 * A is the maximum of |g| over all N >= 0 and all such c and d.
 *
 * Downwards: g = w0 (ln(1+c+d) - ln(1+c)) + (w1 - w0)(ln(1+c+d) - m0), of which the
 * first term is not negative, and in the second 0 <= w1 - w0 <= min(1, a) and
 * ln(1+c+d) >= ln 2.  Hence -g <= max(0, min(1, a) (m0 - ln 2)), with equality at
 * N = c = 0, d = 1 where that is positive.
 *
 * Upwards: g increases in d, so d = C.  Its derivative by c has the sign of
 * (w1 - w0)(1 + c) - w0 C, which increases in c: g falls and then rises, and has its
 * maximum at an end, c = N or c = C N.  Over N there are three cases.
 *
 *	(i)	  N + 1 <= C/S, both weights below the bend:
 *		  g = a ((N+1) ln(1+c+C) - N ln(1+c) - m0).  At c = N its derivative by N,
 *		  over a, is ln(1+x) - x/(1+x) + 1/(1+N) with x = C/(1+N), which is positive
 *		  since ln(1+x) >= x/(1+x).  At c = C N it is a (F(N+1) - F(N) - m0) with
 *		  F(N) = N ln(1 + C N), which is convex.  Both increase with N: the largest N
 *		  of this case has the maximum, floor(C/S) - 1.
 *	(ii)  N < C/S < N + 1: only N = floor(C/S), if at all.
 *	(iii) N >= C/S: both weights are 1, g = ln(1 + C/(1+c)) falls with c, and c >= N:
 *		  the smallest such N has the maximum, ceil(C/S), at c = N.
 *
 * With F = floor(C/S) that leaves N in {F - 1, F, F + 1} and c in {N, C N}.  Computed
 * in doubles, C/S may round up to an integer that it doesn't reach, so that F is one
 * too large, but never one too small (rounding is monotone and F is a double); F - 2
 * is therefore looked at too.  Whatever is looked at does occur, so it can't make the
 * maximum larger than it is.
 */
#include "common/dp_base.h"

#include <float.h>
#include <math.h>

#include "common/dp_audit.h"
#include "common/dp_posterior.h"

#define LN_2 0.693147180559945309417232121458176568

/* N and C are told from their neighbours in doubles up to here, with room to spare. */
#define MAX_INTEGER 0x1p52

/* ln(1 + c) of every count, rounded up. */
#define MAX_LOG 44.0

/* g = rise - m0 step: what one more user changes, as a line in m0. */
typedef struct Change
{
	double rise;
	double step; /* of the weight; never negative */
} Change;

/* N from floor(C/S) - 2 to floor(C/S) + 1, each with two counts. */
#define MAX_CHANGES 8

/* dp_log_weight - w(N) = min(1, S N / C): equation (5). */
double
dp_log_weight(int64 users, double weight_slope, int64 max_count)
{
	return fmin(1.0, weight_slope * (double) users / (double) max_count);
}

/*
 * dp_log_feature - f = w(N) (ln(1 + c) - m0), for 0 <= N <= c.
 *
 * Off by no more than 8 2^-53 (44 + |m0|): two roundings in w, one in the logarithm's
 * argument, at most two in the logarithm, one each in difference and product.
 */
double
dp_log_feature(int64 users, int64 count, double weight_slope, int64 max_count, double center)
{
	return dp_log_weight(users, weight_slope, max_count) * (log1p((double) count) - center);
}

/* S and C that the functions below take. */
static bool
valid_weights(double weight_slope, int64 max_count)
{
	return weight_slope > 0 && isfinite(weight_slope) &&
		   max_count >= 1 && max_count <= (int64) MAX_INTEGER &&
		   max_count / weight_slope <= MAX_INTEGER;
}

/* The changes upwards that can be the largest; see the head of this file. */
static int
largest_changes(double weight_slope, int64 max_count, Change *changes)
{
	int64 bend = (int64) floor(max_count / weight_slope);
	int64 last = bend + 1;
	double d = (double) max_count;
	int n = 0;

	if (DP_SABOTAGED(SABOTAGE_TWO_LINES))
		last = (int64) ceil(max_count / weight_slope) - 1;
	for (int64 users = Max(bend - 2, 0); users <= last; users++)
	{
		double before = dp_log_weight(users, weight_slope, max_count);
		double step = dp_log_weight(users + 1, weight_slope, max_count) - before;
		double counts[2] = {(double) users, d * (double) users};

		for (int i = 0; i < 2; i++)
		{
			changes[n].rise = before * log1p(d / (1 + counts[i])) + step * log1p(counts[i] + d);
			changes[n++].step = step;
		}
	}
	return n;
}

/*
 * dp_log_sensitivity - A(S, C, m0): one user moves f of an n-gram by at most that.
 *
 * It holds for f as dp_log_feature() computes it, not only as it is defined: two
 * values that are each off by 8 2^-53 (44 + |m0|), and the error of the maximum
 * itself, which is no larger, lie within the margin that is added.  A margin relative
 * to A would not do, since A may be small where ln(1 + c) is large.  A caller who
 * rounds f onto a lattice adds one step of it.
 *
 * DP_ERR_DOMAIN unless S > 0 and m0 are finite, 1 <= C <= 2^52 and C/S <= 2^52.
 */
DpStatus
dp_log_sensitivity(double weight_slope, int64 max_count, double center, double *sensitivity)
{
	Change changes[MAX_CHANGES];
	double largest;
	int n;

	if (!valid_weights(weight_slope, max_count) || !isfinite(center))
		return DP_ERR_DOMAIN;

	/* downwards, at N = 0 */
	largest = dp_log_weight(1, weight_slope, max_count) * (center - LN_2);

	n = largest_changes(weight_slope, max_count, changes);
	for (int i = 0; i < n; i++)
		largest = fmax(largest, changes[i].rise - center * changes[i].step);

	*sensitivity = largest + 0x1p-48 * (MAX_LOG + fabs(center));
	return isfinite(*sensitivity) ? DP_OK : DP_ERR_RANGE;
}

/*
 * dp_log_best_center - the m0 with the smallest A(S, C, m0).
 *
 * Downwards A is a line that rises with m0, upwards a maximum of lines that fall or,
 * from the bend on, are level.  The rising line meets each of them at
 * m0 = (rise + w(1) ln 2) / (w(1) + step), and the last meeting has the smallest A.
 * Where A is level before it, the smallest m0 that still has this A is taken: a large
 * m0 would put the n-grams that few users have above those that many have.
 *
 * It depends on S and C alone, so it is as public as they are.  Domain as of
 * dp_log_sensitivity().
 */
DpStatus
dp_log_best_center(double weight_slope, int64 max_count, double *center)
{
	Change changes[MAX_CHANGES];
	double first_weight;
	double meeting = -HUGE_VAL;
	double smallest;
	int n;

	if (!valid_weights(weight_slope, max_count))
		return DP_ERR_DOMAIN;

	first_weight = dp_log_weight(1, weight_slope, max_count);
	n = largest_changes(weight_slope, max_count, changes);
	for (int i = 0; i < n; i++)
		meeting = fmax(meeting, (changes[i].rise + first_weight * LN_2) /
									(first_weight + changes[i].step));
	smallest = first_weight * (meeting - LN_2);

	*center = -HUGE_VAL;
	for (int i = 0; i < n; i++)
	{
		if (changes[i].step > 0)
			*center = fmax(*center, (changes[i].rise - smallest) / changes[i].step);
	}
	return isfinite(*center) ? DP_OK : DP_ERR_RANGE;
}

/*
 * dp_center_log - ln(1 + count) less its mean over all n entries, the paper's equation
 * (1) for public counts and (2) for private ones; the value is the mean.  n > 0; in
 * place if both arrays are one.
 */
double
dp_center_log(const double *count, int n, double *centered)
{
	long double sum = 0;
	double mean;

	Assert(n > 0);

	for (int i = 0; i < n; i++)
	{
		centered[i] = log1p(count[i]);
		sum += centered[i];
	}
	mean = (double) (sum / n);
	for (int i = 0; i < n; i++)
		centered[i] -= mean;
	return mean;
}

/*
 * dp_softmax - exp(h_i) / sum of exp(h_j), in place: the paper's equation (4).
 *
 * The largest h is subtracted first, so nothing overflows.  What would underflow
 * becomes the smallest normal double: every probability is positive, as a KL divergence
 * and a perplexity need it, and the sum stays 1 within the rounding of n terms.  Every h
 * is finite, n > 0.
 */
void
dp_softmax(double *h, int n)
{
	double largest = -HUGE_VAL;
	long double sum = 0;

	Assert(n > 0);

	for (int i = 0; i < n; i++)
		largest = fmax(largest, h[i]);
	for (int i = 0; i < n; i++)
	{
		h[i] = exp(h[i] - largest);
		sum += h[i];
	}
	for (int i = 0; i < n; i++)
		h[i] = fmax((double) (h[i] / sum), DBL_MIN);
}
