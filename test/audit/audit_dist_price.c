/*
 * audit_dist_price.c
 *	  What a release of a distribution pays for against what it does: every scale that is
 *	  drawn with, how often, and the promise behind the price.
 */
#include "postgres.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "miscadmin.h"

#include "audit_dist.h"

/* A public bound on a user's n-grams where the query has a small one. */
#define SMALL_BOUND 10

typedef struct PriceAudit
{
	Noise noise;
	int64 plans;
	int64 wrong_draws;	  /* a step without noise on each coordinate, or with another scale */
	int64 undebited;	  /* noise drawn that the debit doesn't pay for */
	double worst_debit;	  /* largest such / debit */
	int64 broken_promise; /* price above (epsilon, delta) */
	double worst_promise;
	double least_promise;
	int64 zcdp_plans;
	int64 zcdp_broken;
	double zcdp_worst;
	double zcdp_least;
	int64 low_slack; /* lattice or tails that the price doesn't pay for */
	double worst_slack;
	int64 limited; /* plans under a limit of the lattice's lane */
	int64 above_limit;
	int64 tuned;
	int64 costly_choice; /* the choice costs more than the candidates */
	double worst_choice;
	double least_choice; /* smallest such / debit */
} PriceAudit;

static DpAuditKind
kind_of(const DistPlan *plan)
{
	return plan->main.laplace ? AUDIT_LAPLACE : AUDIT_GAUSSIAN;
}

/* ---- what is drawn ---- */

/* What the noise of one step costs: (one / scale)^2 or one / scale, from the draws. */
static long double
drawn_price(const DistPlan *plan, const AuditDraw *draw)
{
	long double amount = (long double) plan_unit(plan) / draw->scale;

	return draw->kind == AUDIT_LAPLACE ? amount : amount * amount;
}

static void
judge_draws(PriceAudit *audit, const DistPlan *plan, const AuditRelease *release)
{
	long double paid = 0;
	int ndraws = 0;
	const AuditDraw *draw;

	for (; (draw = audit_log_draw(ndraws)) != NULL; ndraws++)
	{
		const AuditStep *step = &release->step[Min(ndraws, release->n - 1)];

		paid += drawn_price(plan, draw);
		audit->wrong_draws += draw->kind != kind_of(plan) || draw->n != step->n ||
							  draw->scale != step->scale;
	}
	audit->wrong_draws += audit_log_changed() ||
						  ndraws != plan->nmain + (plan->side.scale > 0);
	audit->undebited += !(paid <= plan_debit(plan));
	audit->worst_debit = Max(audit->worst_debit, (double) paid / plan_debit(plan));
}

static void
run_plan(PriceAudit *audit, const Crowd *crowd, const DistPlan *plan)
{
	uint64 key = dp_random_u64(&audit->noise.random);
	GramRows *rows = crowd_rows(crowd, &plan->query, key, -1);
	AuditRelease release;

	audit->noise.sampling_key = key;
	audit_log_clear();
	crowd_release(crowd, plan, rows, &audit->noise, NULL, &release);
	judge_draws(audit, plan, &release);
	crowd_release_clear(&release);
	rows_free(rows);
}

/* ---- what is promised ---- */

static void
judge_promise(PriceAudit *audit, const DistPlan *plan, bool least)
{
	const DistQuery *query = &plan->query;
	double promise = plan->main.laplace ?
						 plan_debit(plan) / query->epsilon :
						 lanes_delta(plan_debit(plan), plan->eps_lattice, plan->delta_add,
									 query->epsilon) /
							 query->delta;

	audit->broken_promise += !(promise <= 1);
	audit->worst_promise = Max(audit->worst_promise, promise);
	if (least)
		audit->least_promise = Min(audit->least_promise, promise);
}

/* The lattice's slack and tails: a user has W keys in each main step, one in the side's. */
static void
judge_slack(PriceAudit *audit, const DistPlan *plan)
{
	int64 keys = plan->query.max_contributions;
	double slack = plan->nmain * lattice_slack(plan->main.scale, keys);
	double tails = plan->nmain * keys * 2 * (double) normal_tail(12);

	if (plan->side.scale > 0)
	{
		slack += lattice_slack(plan->side.scale, 1);
		tails += 2 * (double) normal_tail(12);
	}
	audit->low_slack += !(slack <= plan->eps_lattice && tails <= plan->delta_add);
	audit->worst_slack = Max(audit->worst_slack,
							 Max(slack / plan->eps_lattice, tails / plan->delta_add));
}

/* A pure choice as Gaussian as it is at most: by randomised response (Dong et al. 2019). */
static void
judge_choice(PriceAudit *audit, const DistPlan *plan)
{
	double epsilon = ldexp((double) plan->select_epsilon, -DP_LATTICE_BITS);
	double mu = 2 * gsl_cdf_ugaussian_Qinv(1 / (1 + exp(epsilon)));
	double ratio = mu * mu / plan_debit(plan);

	audit->tuned++;
	audit->costly_choice += !(ratio <= 1) || epsilon > plan->query.epsilon;
	audit->worst_choice = Max(audit->worst_choice, ratio);
	audit->least_choice = Min(audit->least_choice, ratio);
}

static void
judge_zcdp(PriceAudit *audit, const DistQuery *query)
{
	DistSplit split = {.division.zcdp = true};
	DistPlan plan;
	long double rho = 0;
	double promise;

	if (!crowd_plan(query, split, &plan))
		elog(ERROR, "no plan by zCDP for epsilon %g, delta %g", query->epsilon, query->delta);
	rho = plan.nmain * powl((long double) DP_LATTICE_ONE / plan.main.scale, 2) / 2;
	if (plan.side.scale > 0)
		rho += powl((long double) DP_LATTICE_ONE / plan.side.scale, 2) / 2;
	promise = (rho_delta(rho, query->epsilon) + plan.delta_add) / query->delta;
	audit->zcdp_plans++;
	audit->zcdp_broken += !(promise <= 1);
	audit->zcdp_worst = Max(audit->zcdp_worst, promise);
	audit->zcdp_least = Min(audit->zcdp_least, promise);
}

/* Once more where the lattice may cost half: there must be more noise, or no plan. */
static void
judge_limit(PriceAudit *audit, const DistQuery *query, double slack)
{
	DistSplit split = {.division.pure_limit = slack / 2};
	DistPlan plan;

	if (!crowd_plan(query, split, &plan))
		return;
	audit->limited++;
	audit->above_limit += !(plan.eps_lattice <= split.division.pure_limit);
	judge_promise(audit, &plan, false);
	judge_slack(audit, &plan);
}

static void
judge_query(PriceAudit *audit, const Crowd *crowd, const DistQuery *query)
{
	DistPlan plan;

	CHECK_FOR_INTERRUPTS();
	if (!crowd_plan(query, (DistSplit){0}, &plan))
		elog(ERROR, "no plan for epsilon %g, delta %g", query->epsilon, query->delta);
	audit->plans++;
	judge_promise(audit, &plan, true);
	run_plan(audit, crowd, &plan);
	if (plan.main.laplace)
		return;
	judge_slack(audit, &plan);
	judge_zcdp(audit, query);
	judge_limit(audit, query, plan.eps_lattice);
	if (query->tune)
		judge_choice(audit, &plan);
}

/* Both ways of bounding: given, and chosen or by W. */
static void
judge_method(PriceAudit *audit, const Crowd *crowd, DistMethod method, double epsilon,
			 double delta)
{
	static const double shares[] = {0.01, 0.05, 0.5};
	DistQuery query = crowd_query(method, epsilon, delta);

	if (method != DIST_SHRINKAGE)
	{
		query.max_count = 3;
		query.max_contributions = SMALL_BOUND;
	}
	for (int i = 0; i < (int) lengthof(shares); i++)
	{
		query.norm_share = shares[i];
		judge_query(audit, crowd, &query);
		query.max_contributions = i == 0 ? DP_MAX_KEYS : SMALL_BOUND;
	}
	query.max_norm = method == DIST_SHRINKAGE ? 3.7 : 0;
	judge_query(audit, crowd, &query);
	query.tune = method == DIST_LOG_POSTERIOR;
	if (query.tune)
		judge_query(audit, crowd, &query);
}

static void
judge_all(PriceAudit *audit, const Crowd *crowd)
{
	static const double epsilons[] = {0.01, 0.3, 1, 4, 12};
	static const double deltas[] = {1e-10, 1e-6, 1e-3};

	for (int e = 0; e < (int) lengthof(epsilons); e++)
	{
		judge_method(audit, crowd, DIST_SHRINKAGE, epsilons[e], 0);
		judge_method(audit, crowd, DIST_LAPLACE, epsilons[e], 0);
		judge_method(audit, crowd, DIST_LAPLACE_PUBLIC, epsilons[e], 0);
		for (int d = 0; d < (int) lengthof(deltas); d++)
		{
			judge_method(audit, crowd, DIST_SHRINKAGE, epsilons[e], deltas[d]);
			judge_method(audit, crowd, DIST_LOG_POSTERIOR, epsilons[e], deltas[d]);
		}
	}
}

static Crowd *
small_crowd(void)
{
	Crowd *crowd = crowd_create(5);

	for (uint32 user = 0; user < 20; user++)
	{
		crowd_user(crowd);
		for (uint32 number = 1; number <= 1 + user % 5; number++)
			crowd_count(crowd, number, 1 + user);
	}
	return crowd;
}

/* audit_dist_price() */
AUDIT_FUNCTION(audit_dist_price)
{
	PriceAudit audit = {.least_promise = 1, .zcdp_least = 1, .least_choice = 1};

	verdicts_begin(fcinfo);
	noise_init(&audit.noise, false, 0);
	judge_all(&audit, small_crowd());
	noise_clear(&audit.noise);
	verdict(fcinfo, "each step has noise of one scale on every coordinate, and nothing else has",
			audit.wrong_draws == 0, audit.wrong_draws, 0, audit.plans);
	verdict(fcinfo, "the noise drawn costs at most the debit", audit.undebited == 0,
			audit.worst_debit, 1, audit.plans);
	verdict(fcinfo, "the price keeps (epsilon, delta)", audit.broken_promise == 0,
			audit.worst_promise, 1, audit.plans + audit.limited);
	verdict(fcinfo, "and wastes next to nothing of it", audit.least_promise > 0.999,
			audit.least_promise, 0.999, audit.plans);
	verdict(fcinfo, "by zCDP rho and delta keep it, too", audit.zcdp_broken == 0,
			audit.zcdp_worst, 1, audit.zcdp_plans);
	verdict(fcinfo, "and waste next to nothing", audit.zcdp_least > 0.999, audit.zcdp_least,
			0.999, audit.zcdp_plans);
	verdict(fcinfo, "the price pays for the lattice and for tails", audit.low_slack == 0,
			audit.worst_slack, 1, audit.plans + audit.limited);
	verdict(fcinfo, "the lattice stays below a limit that binds",
			audit.limited >= audit.zcdp_plans / 3 && audit.above_limit == 0, audit.above_limit, 0,
			audit.limited);
	verdict(fcinfo, "a choice costs no more than its candidates", audit.costly_choice == 0,
			audit.worst_choice, 1, audit.tuned);
	verdict(fcinfo, "and as much as they do", audit.least_choice > 0.99, audit.least_choice, 0.99,
			audit.tuned);
	return (Datum) 0;
}
