/*
 * dp_clopper.c
 *	  What counts of an event prove: Clopper and Pearson's bounds on its rate, and the
 *	  lower bound on epsilon of an audit, which must not be too large by chance more
 *	  often than it says.
 *
 * The bounds are C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial
 * limits illustrated in the case of the binomial" (Biometrika, 1934): after k hits in n
 * trials, the rates p at which k or more, or k or fewer, hits have the probability beta.
 * With I_p(a, b) the regularised incomplete beta function these are
 *
 *	P(X >= k) = I_p(k, n-k+1) = beta	and		P(X <= k) = 1 - I_p(k+1, n-k) = beta.
 *
 * They hold for every n and p, not only where a binomial looks normal.
 *
 * GSL's inverse of I_p has no answer for many ordinary arguments (k = 5,000 of 10,000,
 * for one); I_p itself has.  So I_p is inverted here, by bisection, which never leaves
 * the side on which I_p was seen to be small enough: whatever I_p gives on the way, the
 * bound errs outwards.  GSL is under the GPL: only this file and dp_normal.c include
 * it.
 */
#include "common/dp_base.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "common/dp_clopper.h"

/*
 * Up to a million trials and down to a probability of 2.5e-9, I_p was compared with 40
 * digits at 5,000 random places: the relative error stays below 1e-7.
 */
#define BETA_ERROR 1e-6

/* The rate at which k or more hits of n have the probability beta, or a little less. */
static double
lower_bound(double k, double n, double beta)
{
	double low = 0;
	double high = k / n;

	if (k == 0)
		return 0;
	if (k == n)
		return nextafter(pow(beta, 1 / n), 0);

	for (;;)
	{
		double middle = (low + high) / 2;

		if (middle <= low || middle >= high)
			return low;
		if (gsl_cdf_beta_P(middle, k, n - k + 1) <= beta * (1 - BETA_ERROR))
			low = middle;
		else
			high = middle;
	}
}

/* The rate at which k or fewer hits of n have the probability beta, or a little more. */
static double
upper_bound(double k, double n, double beta)
{
	double low = k / n;
	double high = 1;

	if (k == n)
		return 1;
	if (k == 0)
		return nextafter(-expm1(log(beta) / n), 1);

	for (;;)
	{
		double middle = (low + high) / 2;

		if (middle <= low || middle >= high)
			return high;
		if (gsl_cdf_beta_Q(middle, k + 1, n - k) <= beta * (1 - BETA_ERROR))
			high = middle;
		else
			low = middle;
	}
}

/*
 * dp_clopper_pearson - the rate lies below "low" with a probability of at most alpha/2,
 * and above "high" likewise.
 *
 * DP_ERR_DOMAIN unless 0 <= hits <= trials, 1 <= trials <= DP_CLOPPER_MAX_TRIALS and
 * DP_CLOPPER_MIN_ALPHA <= alpha < 1.
 */
DpStatus
dp_clopper_pearson(DpTrials seen, double alpha, double *low, double *high)
{
	if (seen.trials < 1 || seen.trials > DP_CLOPPER_MAX_TRIALS ||
		seen.hits < 0 || seen.hits > seen.trials ||
		!(alpha >= DP_CLOPPER_MIN_ALPHA && alpha < 1))
		return DP_ERR_DOMAIN;

	/* its own handler would abort() a whole database cluster */
	gsl_set_error_handler_off();

	*low = lower_bound((double) seen.hits, (double) seen.trials, alpha / 2);
	*high = upper_bound((double) seen.hits, (double) seen.trials, alpha / 2);
	return DP_OK;
}

/* The epsilon that p <= e^epsilon q + delta asks for if p >= low and q <= high. */
static double
least_epsilon(double low, double high, double delta)
{
	return low > delta ? log((low - delta) / high) : 0;
}

/*
 * dp_audit_epsilon - an epsilon that the mechanism's true one is below with a
 * probability of at most alpha; never less than 0, which says nothing.
 *
 * The trials are of one event, in a world with a user and in one without.  An (epsilon,
 * delta) that holds satisfies p <= e^epsilon q + delta for the event and for its
 * contrary, in both directions.  Which of these four will say most is not known before,
 * so all four bounds, a lower and an upper one for either world, must hold together:
 * each is made at alpha/4.  They serve all four inequalities.
 *
 * The event must have been chosen without these trials, or the probability is another.
 *
 * DP_ERR_DOMAIN as dp_clopper_pearson() for alpha/2, and unless 0 <= delta < 1.
 */
DpStatus
dp_audit_epsilon(DpTrials with, DpTrials without, double delta, double alpha, double *epsilon)
{
	double low[2];
	double high[2];

	if (!(delta >= 0 && delta < 1) ||
		dp_clopper_pearson(with, alpha / 2, &low[0], &high[0]) != DP_OK ||
		dp_clopper_pearson(without, alpha / 2, &low[1], &high[1]) != DP_OK)
		return DP_ERR_DOMAIN;

	*epsilon = 0;
	for (int i = 0; i < 2; i++)
	{
		double event = least_epsilon(low[i], high[1 - i], delta);
		double contrary = least_epsilon(1 - high[i], 1 - low[1 - i], delta);

		*epsilon = fmax(*epsilon, fmax(event, contrary));
	}
	return DP_OK;
}
