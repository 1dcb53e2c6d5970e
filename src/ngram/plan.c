/*
 * plan.c
 *	  From (epsilon, delta) to noise, thresholds and price.
 *
 * A call is a composition of Gaussian steps, one a histogram, of l2
 * sensitivity 1 each, so it is mu-GDP with mu^2 = sum of 1/sigma_k^2
 * (DPNE, Proposition 2.3).  The set unions among them (step 1 of dpne, every
 * step of the dpsu methods) add the probability delta_t that an n-gram of one
 * user alone passes a threshold, and drawing the noise on the integer lattice
 * adds a pure epsilon slack (doc/privacy.md, "The lattice").  Hence
 *
 *		delta(epsilon) <= exp(slack) dG(epsilon - slack, mu) + delta_t + tail,
 *
 * which is solved for mu with a given share of delta for delta_t + tail.  Where a
 * dataset is accounted by zCDP, the discrete noise has an exact price, mu^2/2, and
 * the slack shrinks to the numerical error of the spurious n-grams' probability.
 * A call for all of such a dataset can't have more noise than that allows: then
 * mu is solved for in zCDP (split.zcdp).
 *
 * The steps of a method:
 *	 dpne		 T steps, one a length; only the first is a set union; sigma_k = c sigma_{k-1}
 *	 dpsu-all	 one set union over all lengths, T Delta_0 n-grams a user
 *	 dpsu-even	 T set unions of equal sigma, which share delta_t in proportion to length
 *	 dpsu-single one set union for one length
 */
#include "postgres.h"

#include <math.h>

#include "common/dp_audit.h"
#include "common/dp_gaussian.h"
#include "common/dp_sample.h"
#include "common/dp_zcdp.h"
#include "ngram/plan.h"

/* price = computed * this: more than what rounding of doubles can have lost */
#define ROUND_UP (1.0 + 1e-12)

/* The method that SQL calls by this name; false if there is none. */
bool
ngram_method_by_name(const char *name, NgramMethod *method)
{
	static const char *const names[] = {
		[METHOD_DPNE] = "dpne",
		[METHOD_DPSU_ALL] = "dpsu-all",
		[METHOD_DPSU_EVEN] = "dpsu-even",
		[METHOD_DPSU_SINGLE] = "dpsu-single",
	};

	for (int i = 0; i < (int) lengthof(names); i++)
		if (strcmp(name, names[i]) == 0)
		{
			*method = (NgramMethod) i;
			return true;
		}
	return false;
}

/* Likewise a pruning. */
bool
ngram_pruning_by_name(const char *name, NgramPruning *pruning)
{
	*pruning = strcmp(name, "single") == 0 ? PRUNING_SINGLE : PRUNING_BOTH;
	return *pruning == PRUNING_SINGLE || strcmp(name, "both") == 0;
}

/* Which lengths each step extracts, and each step's bound. */
static void
lay_out_steps(const NgramQuery *query, NgramPlan *plan)
{
	memset(plan, 0, sizeof(*plan));
	plan->query = *query;
	if (query->method == METHOD_DPSU_ALL)
	{
		plan->nsteps = 1;
		plan->step[1].min_length = 1;
		plan->step[1].max_length = query->max_length;
		for (int k = 1; k <= query->max_length; k++)
			plan->step[1].bound += query->bound[k];
		return;
	}
	plan->nsteps = query->method == METHOD_DPSU_SINGLE ? 1 : query->max_length;
	for (int i = 1; i <= plan->nsteps; i++)
	{
		int k = query->method == METHOD_DPSU_SINGLE ? query->length : i;

		plan->step[i].min_length = plan->step[i].max_length = k;
		plan->step[i].bound = query->bound[k];
	}
}

/* The share of step i in mu: mu_i / mu, by sigma_i = c sigma_{i-1}. */
static double
mu_share(const NgramPlan *plan, int i)
{
	double c = plan->query.method == METHOD_DPNE ? plan->query.noise_ratio : 1.0;
	double log_sum = 0;
	double largest = -log(c) * (c < 1 ? plan->nsteps : 1);

	for (int j = 1; j <= plan->nsteps; j++)
		log_sum += exp(2 * (-log(c) * j - largest));
	return exp(-log(c) * i - largest) / sqrt(log_sum);
}

/* The lattice's slack if the whole call is mu-GDP. */
static double
slack(const NgramPlan *plan, double mu)
{
	double sum = 0;

	for (int i = 1; i <= plan->nsteps; i++)
		sum += dp_slack_epsilon(mu * mu_share(plan, i), plan->step[i].bound);
	return sum * ROUND_UP;
}

static double
tail(const NgramPlan *plan)
{
	double sum = 0;

	for (int i = 1; i <= plan->nsteps; i++)
		sum += dp_slack_delta(plan->step[i].bound);
	return sum * ROUND_UP;
}

/* The largest mu up to "mu" whose slack stays within the limit, to a part in 2^50; 0 if none. */
static double
mu_within(const NgramPlan *plan, double mu, double limit)
{
	double low = 0;

	if (slack(plan, mu) <= limit)
		return mu;
	for (int i = 0; i < 50; i++)
	{
		double middle = low + (mu - low) / 2;

		if (slack(plan, middle) <= limit)
			low = middle;
		else
			mu = middle;
	}
	return low;
}

/*
 * Of the slack, the error of the computed probability of spurious n-grams, which adds
 * to step i's mu.
 */
static double
tail_mu(const NgramPlan *plan, int i)
{
	bool spurious = plan->query.method == METHOD_DPNE && i > 1;

	return spurious ? dp_tail_mu(plan->step[i].bound) : 0;
}

/*
 * The largest mu whose mu^2/2-zCDP, with what the tails add, keeps (epsilon, delta_g),
 * a difference that was rounded to nearest.  Steps of mu_i + t_i make at most (mu + t)^2
 * in all, t^2 being the sum of t_i^2.
 */
static DpStatus
solve_mu_zcdp(const NgramPlan *plan, double delta_g, double *mu)
{
	double rho;
	double tail2 = 0;
	DpStatus status = dp_zcdp_rho(plan->query.epsilon, nextafter(delta_g, 0), &rho);

	for (int i = 1; i <= plan->nsteps; i++)
		tail2 += tail_mu(plan, i) * tail_mu(plan, i);
	if (status == DP_OK)
		*mu = (sqrt(2 * rho) - sqrt(tail2)) / ROUND_UP;
	return status == DP_OK && !(*mu > 0) ? DP_ERR_RANGE : status;
}

/*
 * The largest mu with exp(r) dG(epsilon - r, mu) <= delta_g, where r is the
 * larger of slack and reserve; with a limit, r stays within it.
 */
static DpStatus
solve_mu(const NgramPlan *plan, NgramSplit split, double delta_g, double *mu)
{
	double r;
	DpStatus status = dp_gaussian_mu(plan->query.epsilon, delta_g, mu);

	if (status != DP_OK)
		return status;
	r = Max(split.pure_reserve, slack(plan, *mu));
	if (split.pure_limit > 0)
		r = Min(r, split.pure_limit);
	if (r >= plan->query.epsilon)
		return DP_ERR_RANGE;
	status = dp_gaussian_mu(plan->query.epsilon - r, delta_g * exp(-r) / ROUND_UP, mu);
	if (status != DP_OK)
		return status;
	*mu = mu_within(plan, *mu, r);
	return *mu > 0 ? DP_OK : DP_ERR_RANGE;
}

/*
 * sigma of each step on the lattice.  Two units above the exact value, so that
 * the price stays clearly below that of the exact mu: a call for the whole
 * budget of a dataset must fit it to the last digit.
 */
static DpStatus
set_sigmas(NgramPlan *plan, double mu)
{
	for (int i = 1; i <= plan->nsteps; i++)
	{
		double sigma = ldexp(1.0 / (mu * mu_share(plan, i)), DP_LATTICE_BITS);

		if (!(sigma < (double) (DP_MAX_SIGMA - 2)))
			return DP_ERR_RANGE;
		plan->step[i].sigma = (int64) floor(sigma) + 2;
	}
	return DP_OK;
}

/*
 * Step i's part of the delta of the call's set unions.  dpsu-even gives it in
 * proportion to the length: there are many more long n-grams than short ones,
 * so each is rarer and nearer to the threshold.
 */
static double
delta_part(const NgramPlan *plan, int i)
{
	if (plan->query.method == METHOD_DPSU_EVEN)
		return 2.0 * i / (plan->nsteps * (plan->nsteps + 1.0));
	return 1.0;
}

static DpStatus
set_thresholds(NgramPlan *plan, double delta_t)
{
	int unions = plan->query.method == METHOD_DPNE ? 1 : plan->nsteps;

	for (int i = 1; i <= unions; i++)
	{
		double rho;
		double sigma = ldexp((double) plan->step[i].sigma, -DP_LATTICE_BITS);
		DpStatus status = dp_union_threshold(sigma, delta_t * delta_part(plan, i),
											 plan->step[i].bound, &rho);

		if (status != DP_OK)
			return status;
		rho += fabs(rho) * (ROUND_UP - 1); /* rho < 0 where delta is near 1 */
		plan->step[i].threshold = (int64) ceil(ldexp(rho, DP_LATTICE_BITS));
	}
	return DP_OK;
}

/* The price of the noise that will really be drawn. */
static void
set_price(NgramPlan *plan, double delta_add)
{
	for (int i = 1; i <= plan->nsteps; i++)
	{
		double mu = DP_LATTICE_ONE / (double) plan->step[i].sigma;

		if (DP_SABOTAGED(SABOTAGE_UNDEBITED) && i == plan->nsteps)
			break;
		plan->step[i].mu2 = mu * mu * ROUND_UP;
		plan->mu2 += mu * mu;
		plan->eps_pure += dp_slack_epsilon(mu, plan->step[i].bound);
		plan->tail_rho += tail_mu(plan, i) * (mu + tail_mu(plan, i) / 2);
	}
	plan->mu2 *= ROUND_UP;
	plan->eps_pure *= ROUND_UP;
	plan->tail_rho *= ROUND_UP;
	plan->delta_add = delta_add;
}

/*
 * Plan a query under a division of its (epsilon, delta).
 *
 * The query's numbers must be in their domains.  DP_ERR_RANGE: epsilon or
 * delta is too small for the query.
 */
DpStatus
ngram_plan(const NgramQuery *query, NgramSplit split, NgramPlan *plan)
{
	double delta_add = query->delta * split.threshold_share;
	double delta_t;
	double mu;
	DpStatus status;

	lay_out_steps(query, plan);
	delta_t = delta_add - tail(plan);
	if (!(delta_t > 0))
		return DP_ERR_RANGE;
	status = split.zcdp ? solve_mu_zcdp(plan, query->delta - delta_add, &mu) :
						  solve_mu(plan, split, query->delta - delta_add, &mu);
	if (status == DP_OK)
		status = set_sigmas(plan, mu);
	if (status == DP_OK)
		status = set_thresholds(plan, delta_t * (1 - 1e-12));
	if (status == DP_OK)
		set_price(plan, delta_add);
	return status;
}
