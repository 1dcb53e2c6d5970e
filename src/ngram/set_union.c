/*
 * set_union.c
 *	  From (epsilon, delta) to noise, thresholds and price of a set union, in each of
 *	  its methods.
 *
 * Of Gaussian methods a share of delta is set apart, for the threshold and the
 * lattice's tail; the noise gets the rest (dp_calibrate.c).  Laplace noise and
 * method single are purely private but for the threshold, which gets all of delta.
 *
 * The Gaussian policy pays for its rounding (policy.c): its lattice is as fine as
 * 128 bits allow, units of 2^-bits, 48 at most, and its l2 sensitivity is taken to be
 *
 *	1 + N (sqrt(D) + 2) 2^-bits,		N = SET_UNION_MAX_USERS,
 *
 * for any number of users up to N; more are refused.  With the default D = 100 and
 * epsilon = 1 it is 1.00003.  A user changes what others add, and so touches any
 * number of items, not only D.  But on so fine a lattice the slack of discrete noise
 * (dp_gaussian.c) is next to nothing even for all of the N D items there can be:
 * for each at most (12 + mu)^2 / (12 sigma^2), sigma some 2^49 units.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "common/dp_calibrate.h"
#include "common/dp_gaussian.h"
#include "common/dp_laplace.h"
#include "common/dp_sample.h"
#include "ngram/policy.h"
#include "ngram/set_union.h"

/* The finest lattice of the Gaussian policy. */
#define POLICY_LATTICE_BITS 48

/* Beyond this sensitivity rounding has eaten the noise. */
#define POLICY_MOST_SENSITIVITY 2.0

/* Beyond so many standard deviations the slack vouches for nothing, as in dp_gaussian.c. */
#define SLACK_RANGE 12.0

/* The method that SQL calls by this name; false if there is none. */
bool
set_union_method_by_name(const char *name, SetUnionMethod *method)
{
	static const char *const names[] = {
		[SET_UNION_CUMULATIVE] = "cumulative",
		[SET_UNION_SIPS] = "sips",
		[SET_UNION_WEIGHTED_GAUSSIAN] = "weighted_gaussian",
		[SET_UNION_POLICY_GAUSSIAN] = "policy_gaussian",
		[SET_UNION_POLICY_LAPLACE] = "policy_laplace",
		[SET_UNION_WEIGHTED_LAPLACE] = "weighted_laplace",
		[SET_UNION_SINGLE] = "single",
	};

	for (int i = 0; i < (int) lengthof(names); i++)
		if (strcmp(name, names[i]) == 0)
		{
			*method = (SetUnionMethod) i;
			return true;
		}
	return false;
}

bool
set_union_has_rounds(SetUnionMethod method)
{
	return method <= SET_UNION_WEIGHTED_GAUSSIAN;
}

bool
set_union_is_gaussian(SetUnionMethod method)
{
	return set_union_has_rounds(method) || method == SET_UNION_POLICY_GAUSSIAN;
}

bool
set_union_is_policy(SetUnionMethod method)
{
	return method == SET_UNION_POLICY_GAUSSIAN || method == SET_UNION_POLICY_LAPLACE;
}

static WordRoundsKind
rounds_kind(SetUnionMethod method)
{
	switch (method)
	{
		case SET_UNION_CUMULATIVE:
			return WORD_ROUNDS_CUMULATIVE;
		case SET_UNION_SIPS:
			return WORD_ROUNDS_SIPS;
		default:
			return WORD_ROUNDS_ONE;
	}
}

/* ------------------------------------------------------------------------
 * rounds
 * ------------------------------------------------------------------------ */

/*
 * Rounds are steps of their own.  No early stop: what would be left is of no use to a
 * set union.
 */
static DpStatus
plan_rounds(SetUnionPlan *plan, NgramSplit split)
{
	const SetUnionQuery *query = &plan->query;
	WordRoundsKind kind = rounds_kind(query->method);
	DpStep steps[WORD_ROUNDS_MAX];
	int64 sigma[WORD_ROUNDS_MAX];
	int n = word_rounds_count(kind);
	double delta_t;
	double mu;
	DpStatus status;

	for (int i = 0; i < n; i++)
		steps[i] = (DpStep){.share = sqrt(word_rounds_share(kind, i)), .keys = query->bound};
	plan->delta_add = query->delta * split.threshold_share;
	delta_t = plan->delta_add - dp_steps_tail(steps, n);
	if (!(delta_t > 0))
		return DP_ERR_RANGE;
	status = dp_calibrate(steps, n, query->epsilon, query->delta - plan->delta_add,
						  split.division, &mu);
	if (status == DP_OK)
		status = word_rounds_plan(kind, mu * mu, delta_t, query->bound, 0, &plan->rounds);
	if (status != DP_OK)
		return status;
	for (int i = 0; i < n; i++)
		sigma[i] = plan->rounds.round[i].sigma;
	plan->eps_pure = dp_steps_price(steps, sigma, n).eps_pure;
	return DP_OK;
}

/* ------------------------------------------------------------------------
 * the Gaussian policy
 * ------------------------------------------------------------------------ */

static double
policy_sensitivity(const SetUnionPlan *plan)
{
	double a_user = (sqrt((double) plan->query.bound) + 2) * DP_ROUND_UP;

	return 1 + SET_UNION_MAX_USERS * ldexp(a_user, -plan->bits);
}

/* The slack of the discrete noise over all items there can be; see the head comment. */
static double
policy_slack(const SetUnionPlan *plan, double mu)
{
	double far = (SLACK_RANGE + mu) / plan->scale * DP_ROUND_UP;

	return far * far / 12 * SET_UNION_MAX_USERS * plan->query.bound;
}

/* Noise, threshold and Gamma on a lattice of so many bits; DP_ERR_RANGE if it is too fine. */
static DpStatus
policy_on_lattice(SetUnionPlan *plan, int bits, double mu, double delta_t)
{
	double scale;
	double rho;
	double cutoff;
	DpStatus status;

	plan->bits = bits;
	/* so far above that the price, rounded up, stays clearly below that of mu */
	scale = ceil(ldexp(policy_sensitivity(plan) / mu, bits) * DP_ROUND_UP * DP_ROUND_UP);
	if (!(scale < (double) DP_MAX_SIGMA))
		return DP_ERR_RANGE;
	status = dp_union_threshold(ldexp(scale, -bits), delta_t, plan->query.bound, &rho);
	if (status != DP_OK)
		return status;
	rho = ceil(ldexp(rho + fabs(rho) * (DP_ROUND_UP - 1), bits));
	cutoff = rho + plan->query.alpha * scale;
	if (!(cutoff < ldexp(1, POLICY_BITS)))
		return DP_ERR_RANGE;
	plan->scale = (int64) scale;
	plan->threshold = (int64) rho;
	plan->cutoff = (int64) cutoff;
	return DP_OK;
}

/* The finest lattice that 128 bits allow. */
static DpStatus
policy_lattice(SetUnionPlan *plan, double mu, double delta_t)
{
	int bits = Min(POLICY_LATTICE_BITS, POLICY_BITS - ilogb(1 + 1 / mu));
	DpStatus status;

	do
		status = policy_on_lattice(plan, bits, mu, delta_t);
	while (status == DP_ERR_RANGE && --bits >= DP_LATTICE_BITS);
	if (status == DP_OK && policy_sensitivity(plan) > POLICY_MOST_SENSITIVITY)
		return DP_ERR_RANGE;
	return status;
}

/*
 * The slack depends on the lattice, and the lattice on mu.  What is reserved for it is
 * more than it can become: a smaller mu has more noise, on a lattice one bit coarser at
 * most.
 */
static DpStatus
plan_policy_gaussian(SetUnionPlan *plan, NgramSplit split)
{
	const SetUnionQuery *query = &plan->query;
	const DpStep step = {.share = 1};
	double items = (double) SET_UNION_MAX_USERS * query->bound;
	double slack = 0;
	double delta_t;
	double mu;
	DpStatus status;

	plan->delta_add = query->delta * split.threshold_share;
	delta_t = plan->delta_add - dp_slack_delta(1) * items * DP_ROUND_UP;
	if (!(delta_t > 0))
		return DP_ERR_RANGE;
	delta_t /= DP_ROUND_UP;
	for (int i = 0; i < 2; i++)
	{
		status = dp_calibrate(&step, 1, query->epsilon, query->delta - plan->delta_add,
							  split.division, &mu);
		if (status == DP_OK)
			status = policy_lattice(plan, mu, delta_t);
		if (status != DP_OK)
			return status;
		if (i == 0)
			slack = 8 * policy_slack(plan, mu);
		if (split.division.pure_limit > 0 && slack > split.division.pure_limit)
			return DP_ERR_RANGE;
		split.division.pure_reserve = Max(split.division.pure_reserve, slack);
	}
	mu = ldexp(policy_sensitivity(plan), plan->bits) / plan->scale;
	plan->mu2 = mu * mu * DP_ROUND_UP;
	plan->eps_pure = policy_slack(plan, mu);
	return split.division.zcdp || plan->eps_pure <= slack ? DP_OK : DP_ERR_RANGE;
}

/* ------------------------------------------------------------------------
 * Laplace noise, and none
 * ------------------------------------------------------------------------ */

static DpStatus
plan_laplace(SetUnionPlan *plan)
{
	const SetUnionQuery *query = &plan->query;
	DpStatus status = dp_step_sigma(query->epsilon, &plan->scale);

	if (status != DP_OK)
		return status;
	plan->bits = DP_LATTICE_BITS;
	plan->eps_pure = nextafter(DP_LATTICE_ONE / (double) plan->scale, HUGE_VAL);
	status = dp_laplace_union_threshold(plan->scale, plan->delta_add, query->bound,
										&plan->threshold);
	if (status == DP_OK &&
		!(plan->threshold + query->alpha * plan->scale < ldexp(1, 62)))
		status = DP_ERR_RANGE;
	if (status == DP_OK)
		plan->cutoff = plan->threshold + (int64) (query->alpha * plan->scale);
	return status;
}

/*
 * Plan a query under a division of its (epsilon, delta).
 *
 * The query's numbers must be in their domains, and its bound 1 for method single.
 * DP_ERR_RANGE: epsilon or delta is too small for the query, or epsilon too large.
 */
DpStatus
set_union_plan(const SetUnionQuery *query, NgramSplit split, SetUnionPlan *plan)
{
	memset(plan, 0, sizeof(*plan));
	plan->query = *query;
	if (set_union_has_rounds(query->method))
		return plan_rounds(plan, split);
	if (query->method == SET_UNION_POLICY_GAUSSIAN)
		return plan_policy_gaussian(plan, split);
	plan->delta_add = query->delta * split.threshold_share;
	if (query->method != SET_UNION_SINGLE)
		return plan_laplace(plan);
	plan->eps_pure = query->epsilon;
	return dp_keep_prepare(query->epsilon, plan->delta_add, &plan->keep);
}
