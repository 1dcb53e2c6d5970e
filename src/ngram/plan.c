/*
 * plan.c
 *	  From (epsilon, delta) to noise, thresholds and price.
 *
 * A call is a composition of Gaussian steps, one a histogram, of l2
 * sensitivity 1 each (DPNE, Proposition 2.3), calibrated together
 * (dp_calibrate.c).  The set unions among them (step 1 of dpne, every step of the
 * dpsu methods) add the probability delta_t that an n-gram of one user alone passes
 * a threshold, so a given share of delta is set apart for delta_t and the tail.
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
#include "common/dp_calibrate.h"
#include "common/dp_gaussian.h"
#include "ngram/plan.h"

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

/* The steps as the calibration sees them. */
static void
describe_steps(const NgramPlan *plan, DpStep *steps)
{
	for (int i = 1; i <= plan->nsteps; i++)
		steps[i - 1] = (DpStep){
			.share = mu_share(plan, i),
			.keys = plan->step[i].bound,
			.decided = plan->query.method == METHOD_DPNE && i > 1};
}

static DpStatus
set_sigmas(NgramPlan *plan, const DpStep *steps, double mu)
{
	DpStatus status = DP_OK;

	for (int i = 1; i <= plan->nsteps && status == DP_OK; i++)
		status = dp_step_sigma(mu * steps[i - 1].share, &plan->step[i].sigma);
	return status;
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
		rho += fabs(rho) * (DP_ROUND_UP - 1); /* rho < 0 where delta is near 1 */
		plan->step[i].threshold = (int64) ceil(ldexp(rho, DP_LATTICE_BITS));
	}
	return DP_OK;
}

/* The price of the noise that will really be drawn. */
static void
set_price(NgramPlan *plan, const DpStep *steps, double delta_add)
{
	int64 sigma[NGRAM_MAX_LENGTH];
	int priced = DP_SABOTAGED(SABOTAGE_UNDEBITED) ? plan->nsteps - 1 : plan->nsteps;
	DpStepsPrice price;

	for (int i = 1; i <= priced; i++)
	{
		sigma[i - 1] = plan->step[i].sigma;
		plan->step[i].mu2 = dp_step_mu2(plan->step[i].sigma);
	}
	price = dp_steps_price(steps, sigma, priced);
	plan->mu2 = price.mu2;
	plan->eps_pure = price.eps_pure;
	plan->tail_rho = price.tail_rho;
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
	DpStep steps[NGRAM_MAX_LENGTH];
	double delta_add = query->delta * split.threshold_share;
	double delta_t;
	double mu;
	DpStatus status;

	lay_out_steps(query, plan);
	describe_steps(plan, steps);
	delta_t = delta_add - dp_steps_tail(steps, plan->nsteps);
	if (!(delta_t > 0))
		return DP_ERR_RANGE;
	status = dp_calibrate(steps, plan->nsteps, query->epsilon, query->delta - delta_add,
						  split.division, &mu);
	if (status == DP_OK)
		status = set_sigmas(plan, steps, mu);
	if (status == DP_OK)
		status = set_thresholds(plan, delta_t * (1 - 1e-12));
	if (status == DP_OK)
		set_price(plan, steps, delta_add);
	return status;
}
