/*
 * dp_calibrate.c
 *	  From (epsilon, delta) to the noise of several Gaussian steps on the lattice,
 *	  and from the noise to its price.
 *
 * Steps of l2 sensitivity 1 and standard deviation sigma_i together are mu-GDP with
 * mu^2 = sum of 1/sigma_i^2 (Dong, Roth, Su 2019, corollary 2).  Drawing the noise on
 * the integer lattice adds a pure epsilon slack (dp_gaussian.c), so that
 *
 *		delta(epsilon) <= exp(slack) dG(epsilon - slack, mu) + tail,
 *
 * which is solved for mu.  Where a dataset is accounted by zCDP the discrete noise has
 * an exact price, mu^2/2, and the slack shrinks to the numerical error of the
 * probability by which coordinates of nobody are decided, if there are such.
 */
#include "common/dp_base.h"

#include <math.h>

#include "common/dp_calibrate.h"
#include "common/dp_gaussian.h"
#include "common/dp_sample.h"
#include "common/dp_zcdp.h"

/* The lattice's slack of a step that is mu-GDP. */
static double
step_slack(const DpStep *step, double mu)
{
	if (step->rounds <= 1)
		return dp_slack_epsilon(mu, step->keys);
	return dp_slack_rounds(mu, step->keys, step->decided);
}

/* Likewise of all steps, if the whole is mu-GDP. */
static double
slack(const DpStep *steps, int n, double mu)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += step_slack(&steps[i], mu * steps[i].share);
	return sum * DP_ROUND_UP;
}

/*
 * dp_steps_tail - the probability of outputs that the slack does not vouch for, an
 * additive delta.  Rounded up.
 */
double
dp_steps_tail(const DpStep *steps, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += dp_slack_delta(steps[i].keys * Max(steps[i].rounds, 1));
	return sum * DP_ROUND_UP;
}

/* The largest mu up to "mu" whose slack stays within the limit, to a part in 2^50; 0 if none. */
static double
mu_within(const DpStep *steps, int n, double mu, double limit)
{
	double low = 0;

	if (slack(steps, n, mu) <= limit)
		return mu;
	for (int i = 0; i < 50; i++)
	{
		double middle = low + (mu - low) / 2;

		if (slack(steps, n, middle) <= limit)
			low = middle;
		else
			mu = middle;
	}
	return low;
}

/*
 * Of the slack, the error of computed probabilities, which adds to the step's mu.
 *
 * Where they decide about several levels, level k adds t to its own mu_k, and by
 * Minkowski's inequality the sum of (mu_k + t)^2 is at most (mu + t sqrt(decided))^2.
 */
static double
tail_mu(const DpStep *step)
{
	return step->decided > 0 ? dp_tail_mu(step->keys) * sqrt(step->decided) : 0;
}

/*
 * The largest mu whose mu^2/2-zCDP, with what the tails add, keeps (epsilon, delta),
 * a delta that was rounded to nearest.  Steps of mu_i + t_i make at most (mu + t)^2 in
 * all, t^2 being the sum of t_i^2.
 */
static DpStatus
solve_zcdp(const DpStep *steps, int n, double epsilon, double delta, double *mu)
{
	double rho;
	double tail2 = 0;
	DpStatus status = dp_zcdp_rho(epsilon, nextafter(delta, 0), &rho);

	for (int i = 0; i < n; i++)
		tail2 += tail_mu(&steps[i]) * tail_mu(&steps[i]);
	if (status == DP_OK)
		*mu = (sqrt(2 * rho) - sqrt(tail2)) / DP_ROUND_UP;
	return status == DP_OK && !(*mu > 0) ? DP_ERR_RANGE : status;
}

/*
 * dp_calibrate - the largest mu whose steps keep (epsilon, delta) on the lattice:
 * exp(r) dG(epsilon - r, mu) <= delta, where r is the larger of slack and reserve;
 * with a limit, r stays within it.
 *
 * delta: without the tail, dp_steps_tail().  DP_ERR_DOMAIN unless epsilon > 0 is
 * finite and 0 < delta < 1; DP_ERR_RANGE if no mu will do.
 */
DpStatus
dp_calibrate(const DpStep *steps, int n, double epsilon, double delta, DpDivision division,
			 double *mu)
{
	double r;
	DpStatus status;

	if (division.zcdp)
		return solve_zcdp(steps, n, epsilon, delta, mu);
	status = dp_gaussian_mu(epsilon, delta, mu);
	if (status != DP_OK)
		return status;
	r = Max(division.pure_reserve, slack(steps, n, *mu));
	if (division.pure_limit > 0)
		r = Min(r, division.pure_limit);
	if (r >= epsilon)
		return DP_ERR_RANGE;
	status = dp_gaussian_mu(epsilon - r, delta * exp(-r) / DP_ROUND_UP, mu);
	if (status != DP_OK)
		return status;
	*mu = mu_within(steps, n, *mu, r);
	return *mu > 0 ? DP_OK : DP_ERR_RANGE;
}

/*
 * dp_step_sigma - a step's sigma in lattice units for its own mu.
 *
 * Two units above the exact value, so that the price stays clearly below that of the
 * exact mu: a call for the whole budget of a dataset must fit it to the last digit.
 * DP_ERR_RANGE if the samplers don't take it.
 */
DpStatus
dp_step_sigma(double mu, int64 *sigma)
{
	double exact = ldexp(1.0 / mu, DP_LATTICE_BITS);

	if (!(exact < (double) (DP_MAX_SIGMA - 2)))
		return DP_ERR_RANGE;
	*sigma = (int64) floor(exact) + 2;
	return DP_OK;
}

/* dp_step_mu2 - mu^2 of noise with this sigma, in lattice units.  Rounded up. */
double
dp_step_mu2(int64 sigma)
{
	double mu = DP_LATTICE_ONE / (double) sigma;

	return mu * mu * DP_ROUND_UP;
}

/* dp_steps_price - the price of steps with the noise that will really be drawn. */
DpStepsPrice
dp_steps_price(const DpStep *steps, const int64 *sigma, int n)
{
	DpStepsPrice price = {0};

	for (int i = 0; i < n; i++)
	{
		double mu = DP_LATTICE_ONE / (double) sigma[i];

		price.mu2 += mu * mu;
		price.eps_pure += step_slack(&steps[i], mu);
		price.tail_rho += tail_mu(&steps[i]) * (mu + tail_mu(&steps[i]) / 2);
	}
	price.mu2 *= DP_ROUND_UP;
	price.eps_pure *= DP_ROUND_UP;
	price.tail_rho *= DP_ROUND_UP;
	return price;
}

/*
 * dp_step_threshold - the threshold, in lattice units, that hides which items one user
 * alone has, where the step is a set union (dp_union_threshold).
 *
 * Rounded up.  Statuses as dp_union_threshold's; DP_ERR_RANGE also beyond 2^62.
 */
DpStatus
dp_step_threshold(int64 sigma, double delta, int64 max_items, int64 *threshold)
{
	double rho;
	DpStatus status = dp_union_threshold(ldexp((double) sigma, -DP_LATTICE_BITS), delta,
										 max_items, &rho);

	if (status != DP_OK)
		return status;
	rho += fabs(rho) * (DP_ROUND_UP - 1); /* rho < 0 where delta is near 1 */
	rho = ceil(ldexp(rho, DP_LATTICE_BITS));
	if (!(rho < ldexp(1, 62)))
		return DP_ERR_RANGE;
	*threshold = (int64) rho;
	return DP_OK;
}
