/*
 * dist_price.c
 *	  What a release of a distribution costs, in the ledger's terms.
 *
 * Gaussian noise: as for n-grams, one candidate with the call's own division and one with
 * the dataset's, by which a call for all of a fresh dataset fits.
 *
 * Laplace noise: one plan with two prices.  The first is its pure epsilon.  The second
 * takes it for what it also is, a mechanism of Gaussian differential privacy with mu =
 * dp_pure_to_mu(epsilon): so a dataset whose budget is Gaussian, with next to nothing in
 * the lane of pure epsilon, can pay for it too.
 */
#include "postgres.h"

#include "common/dp_zcdp.h"

#include "api/dist_price.h"
#include "api/price.h"
#include "dpngram_errcodes.h"

static void
require_plan(DpStatus status)
{
	if (status != DP_OK)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("no noise can be found for this epsilon and delta"),
				 errhint("They may be too small for the bounds on what a user contributes, or "
						 "too large for any noise.")));
}

/* A noise's price, of so many releases with it. */
static void
add_noise_event(LedgerPrice *price, const DistNoise *noise, int count, bool as_gaussian)
{
	LedgerEvent event = {noise->laplace ? EVENT_LAPLACE : EVENT_GAUSSIAN, count, noise->amount, 0};

	if (noise->scale == 0)
		return;
	if (noise->laplace && as_gaussian)
	{
		double mu = dp_pure_to_mu(noise->amount);

		event.kind = EVENT_GAUSSIAN;
		event.amount = mu * mu * DP_ROUND_UP;
	}
	price->event[price->nevents++] = event;
}

static LedgerPrice
plan_price(const DistPlan *plan, bool as_gaussian)
{
	LedgerPrice price = {0, palloc(sizeof(LedgerEvent) * 4)};

	add_noise_event(&price, &plan->side, 1, as_gaussian);
	add_noise_event(&price, &plan->main, plan->nmain, as_gaussian);
	if (plan->main.laplace)
		return price;
	price.event[price.nevents++] = (LedgerEvent){EVENT_LATTICE, 1, plan->eps_lattice, 0};
	price.event[price.nevents++] = (LedgerEvent){EVENT_DELTA, 1, plan->delta_add, 0};
	return price;
}

static void
pure_candidates(const DistArguments *arguments, DistPlan *plans, LedgerRequest *request)
{
	require_plan(dist_plan(&arguments->query, (DistSplit){0}, &plans[0]));
	plans[1] = plans[0];
	for (int i = 0; i < 2; i++)
		request->candidates[i] = plan_price(&plans[i], i == 1);
	request->ncandidates = 2;
}

static void
gaussian_candidates(const DistArguments *arguments, const LedgerTerms *terms, DistPlan *plans,
					LedgerRequest *request)
{
	DistSplit split;

	require_gaussian_budget(terms);
	require_plan(dist_plan(&arguments->query, (DistSplit){0}, &plans[0]));
	request->candidates[0] = plan_price(&plans[0], false);
	request->ncandidates = 1;
	if (dataset_division(terms, arguments->query.epsilon, &split.delta_share, &split.division) &&
		dist_plan(&arguments->query, split, &plans[1]) == DP_OK)
		request->candidates[request->ncandidates++] = plan_price(&plans[1], false);
}

/* What the ledger is asked to debit: one of the plans' prices. */
LedgerRequest
dist_request(const DistArguments *arguments, const LedgerTerms *terms, DistPlan *plans)
{
	LedgerRequest request = {
		.mechanism = "bayes_dp_dist",
		.parameters = arguments->parameters.data,
		.period = arguments->target.period,
		.epsilon = arguments->query.epsilon,
		.delta = arguments->query.delta};

	if (arguments->query.delta == 0)
		pure_candidates(arguments, plans, &request);
	else
		gaussian_candidates(arguments, terms, plans, &request);
	return request;
}

/* The plan of a call by the relation's owner, of which the ledger is told nothing. */
void
dist_owner_plan(const DistArguments *arguments, DistPlan *plan)
{
	require_plan(dist_plan(&arguments->query, (DistSplit){0}, plan));
}
