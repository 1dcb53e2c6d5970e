/*
 * plan.c
 *	  From (epsilon, delta) to the noise of a distribution's releases and their price.
 *
 *	 method				main release						side release
 *	 shrinkage			clipped counts						histogram of the rows' norms
 *	 log-posterior		log features, one for each S tried	none
 *	 laplace			counts								none
 *	 laplace-public		counts less public expectation		total of the counts
 *
 * Every release is a vector of integers to which one user adds a vector of norm at most
 * the lattice's one: of l2 norm where the noise is Gaussian, of l1 norm where it is
 * Laplace, which is what is drawn where delta = 0.  The head comments of count_space.c
 * and log_space.c prove it for each.
 *
 * Private tuning.  The candidates are made of one part of the users, by a keyed hash, and
 * one of them is chosen on the other part: a user is in one part only.  The candidates
 * together are mu-GDP for users of the first part.  The choice is epsilon_2-DP for those
 * of the second, which is mu-GDP as well if dp_pure_to_mu(epsilon_2) <= mu.  So epsilon_2
 * is set as large as that allows, and the whole costs what the candidates cost.
 */
#include "postgres.h"

#include <math.h>

#include "common/dp_gaussian.h"
#include "common/dp_posterior.h"
#include "common/dp_sample.h"
#include "common/dp_zcdp.h"
#include "dist/plan.h"

/* The method that SQL calls by this name; false if there is none. */
bool
dist_method_by_name(const char *name, DistMethod *method)
{
	static const char *const names[] = {
		[DIST_SHRINKAGE] = "shrinkage",
		[DIST_LOG_POSTERIOR] = "log-posterior",
		[DIST_LAPLACE] = "laplace",
		[DIST_LAPLACE_PUBLIC] = "laplace-public",
		[DIST_LOCAL_SENSITIVITY] = "local-sensitivity",
	};

	for (int i = 0; i < (int) lengthof(names); i++)
		if (strcmp(name, names[i]) == 0)
		{
			*method = (DistMethod) i;
			return true;
		}
	return false;
}

/* S of a candidate: 1e-3, 1e-2 ... 1e4 (section 4.3), or the caller's. */
double
dist_slope(const DistQuery *query, int candidate)
{
	return query->tune ? pow(10, candidate - 3) : query->slope;
}

/* rho of a candidate.  With 0, once for each S, nothing counts but the public side. */
double
dist_weight(int candidate)
{
	static const double weights[DIST_WEIGHTS] = {0, 0.02, 0.05, 0.1, 0.2,
												 0.35, 0.5, 0.65, 0.8, 0.95};

	return weights[candidate];
}

/* What of a user's counts the method can bear. */
RowBounds
dist_row_bounds(const DistQuery *query)
{
	return (RowBounds){
		.once = query->once,
		.max_count = query->max_count,
		.max_contributions = query->max_contributions,
		.occurrences = query->method == DIST_LAPLACE || query->method == DIST_LOCAL_SENSITIVITY};
}

/* Does the method choose the bound on the rows' norms? */
static bool
has_norms(const DistQuery *query)
{
	return query->method == DIST_SHRINKAGE && query->max_norm == 0;
}

static DpStatus
plan_laplace(DistNoise *noise, double epsilon, int bits)
{
	double scale = ldexp(1.0 / epsilon, bits);

	if (!(scale < (double) (DP_MAX_SIGMA - 2)))
		return DP_ERR_RANGE;
	/*
	 * Two units above, as dp_step_sigma() does.  The quotient is rounded to nearest, so
	 * the next double is an upper bound; DP_ROUND_UP would be worth more than two units
	 * of a scale beyond 2^41.
	 */
	noise->laplace = true;
	noise->scale = (int64) floor(scale) + 2;
	noise->amount = nextafter(ldexp(1.0, bits) / (double) noise->scale, HUGE_VAL);
	return DP_OK;
}

static DpStatus
plan_pure(DistPlan *plan)
{
	const DistQuery *query = &plan->query;
	bool with_total = query->method == DIST_LAPLACE_PUBLIC;
	int bits = with_total ? DIST_PUBLIC_BITS : DP_LATTICE_BITS;
	double side = has_norms(query) || with_total ? query->norm_share : 0;
	DpStatus status = DP_OK;

	if (side > 0)
		status = plan_laplace(&plan->side, query->epsilon * side, bits);
	if (status == DP_OK)
		status = plan_laplace(&plan->main, query->epsilon * (1 - side), bits);
	return status;
}

static DpStatus
plan_gaussian_noise(DistNoise *noise, double mu)
{
	DpStatus status = dp_step_sigma(mu, &noise->scale);

	if (status == DP_OK)
		noise->amount = dp_step_mu2(noise->scale);
	return status;
}

/* The steps of the Gaussian releases: the side release first, if there is one. */
static int
describe_steps(const DistPlan *plan, DpStep *steps)
{
	double side = has_norms(&plan->query) ? plan->query.norm_share : 0;
	int n = 0;

	if (side > 0)
		steps[n++] = (DpStep){.share = sqrt(side), .keys = 1};
	for (int i = 0; i < plan->nmain; i++)
		steps[n++] = (DpStep){.share = sqrt((1 - side) / plan->nmain),
							  .keys = plan->query.max_contributions};
	return n;
}

/* The largest epsilon, in steps of 2^-20, that is mu-GDP and within the call's; 0 if none. */
static int64
selection_epsilon(double mu, double epsilon)
{
	int64 low = 0;
	int64 high = (int64) Min(ldexp(Min(mu, epsilon), DP_LATTICE_BITS), 1e15);

	while (low < high)
	{
		int64 middle = low + (high - low + 1) / 2;

		if (dp_pure_to_mu(ldexp((double) middle, -DP_LATTICE_BITS)) <= mu)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Where not even the least epsilon fits, the public distribution is taken. */
static void
plan_selection(DistPlan *plan)
{
	double mu = sqrt(plan->nmain) * DP_LATTICE_ONE / (double) plan->main.scale * (1 - 1e-12);

	if (plan->query.tune)
		plan->select_epsilon = selection_epsilon(mu, plan->query.epsilon);
}

static DpStatus
plan_gaussian(DistPlan *plan, DistSplit split)
{
	const DistQuery *query = &plan->query;
	DpStep steps[1 + DIST_SLOPES];
	int64 sigma[1 + DIST_SLOPES];
	int n = describe_steps(plan, steps);
	bool side = n > plan->nmain;
	double mu;
	DpStatus status;

	plan->delta_add = dp_steps_tail(steps, n);
	status = dp_calibrate(steps, n, query->epsilon,
						  query->delta * (1 - split.delta_share) - plan->delta_add,
						  split.division, &mu);
	if (status == DP_OK && side)
		status = plan_gaussian_noise(&plan->side, mu * steps[0].share);
	if (status == DP_OK)
		status = plan_gaussian_noise(&plan->main, mu * steps[n - 1].share);
	if (status != DP_OK)
		return status;
	for (int i = 0; i < n; i++)
		sigma[i] = side && i == 0 ? plan->side.scale : plan->main.scale;
	plan->eps_lattice = dp_steps_price(steps, sigma, n).eps_pure;
	plan_selection(plan);
	return DP_OK;
}

/* The log features' centre and sensitivity, for each S. */
static DpStatus
plan_sensitivity(DistPlan *plan)
{
	const DistQuery *query = &plan->query;
	DpStatus status = DP_OK;

	for (int i = 0; i < plan->nmain && status == DP_OK; i++)
	{
		double slope = dist_slope(query, i);

		plan->center[i] = query->center;
		if (isnan(query->center))
			status = dp_log_best_center(slope, query->max_count, &plan->center[i]);
		if (status == DP_OK)
			status = dp_log_sensitivity(slope, query->max_count, plan->center[i],
										&plan->bound[i]);
	}
	return status;
}

/*
 * Plan a query under a division of its (epsilon, delta).
 *
 * The query's numbers must be in their domains.  DP_ERR_RANGE: no noise can be found
 * for them.  A plan of local-sensitivity has no noise: the data decide it.
 */
DpStatus
dist_plan(const DistQuery *query, DistSplit split, DistPlan *plan)
{
	DpStatus status = DP_OK;

	memset(plan, 0, sizeof(*plan));
	plan->query = *query;
	plan->nmain = query->tune ? DIST_SLOPES : 1;
	if (query->method == DIST_LOG_POSTERIOR)
		status = plan_sensitivity(plan);
	if (status != DP_OK || query->method == DIST_LOCAL_SENSITIVITY)
		return status;
	return query->delta == 0 ? plan_pure(plan) : plan_gaussian(plan, split);
}
