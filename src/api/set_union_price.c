/*
 * set_union_price.c
 *	  What a call of dp_set_union costs, in the ledger's terms.
 *
 * Gaussian methods: as for n-grams, one candidate with the call's own division and one
 * with the dataset's, by which a call for all of a fresh dataset fits.
 *
 * The others promise a pure epsilon but for an event of probability delta.  Each plan has
 * two prices: the pure epsilon as such, and for what it also is, Gaussian differential
 * privacy with mu = dp_pure_to_mu(epsilon), so that a dataset with next to nothing in the
 * lane of pure epsilon can pay for it, too.  (Method single is (epsilon, delta)-DP by its
 * own formula.  Any such pair of laws is made of a delta-part and an epsilon-DP part:
 * Kairouz, Oh, Viswanath, "The composition theorem for differential privacy", ICML 2015.)
 * And a plan with the dataset's share of delta follows.
 */
#include "postgres.h"

#include "common/dp_calibrate.h"
#include "common/dp_zcdp.h"

#include "api/price.h"
#include "api/set_union.h"
#include "dpngram_errcodes.h"

static void
add_event(LedgerPrice *price, LedgerEventKind kind, double amount)
{
	price->event[price->nevents++] = (LedgerEvent){kind, 1, amount, 0};
}

static LedgerPrice
gaussian_price(const SetUnionPlan *plan)
{
	LedgerPrice price = {0, palloc(sizeof(LedgerEvent) * (WORD_ROUNDS_MAX + 2))};

	for (int i = 0; i < plan->rounds.n; i++)
		add_event(&price, EVENT_GAUSSIAN, plan->rounds.round[i].mu2);
	if (plan->query.method == SET_UNION_POLICY_GAUSSIAN)
		add_event(&price, EVENT_GAUSSIAN, plan->mu2);
	add_event(&price, EVENT_LATTICE, plan->eps_pure);
	add_event(&price, EVENT_DELTA, plan->delta_add);
	return price;
}

static LedgerPrice
pure_price(const SetUnionPlan *plan, bool as_gaussian)
{
	LedgerPrice price = {0, palloc(sizeof(LedgerEvent) * 2)};

	if (as_gaussian)
	{
		double mu = dp_pure_to_mu(plan->eps_pure);

		add_event(&price, EVENT_GAUSSIAN, mu * mu * DP_ROUND_UP);
	}
	else
		add_event(&price, plan->query.method == SET_UNION_SINGLE ? EVENT_PURE : EVENT_LAPLACE,
				  plan->eps_pure);
	add_event(&price, EVENT_DELTA, plan->delta_add);
	return price;
}

/* A plan with its prices; false if there is none. */
static bool
add_candidates(const SetUnionQuery *query, NgramSplit split, SetUnionPlan *plans,
			   LedgerRequest *request)
{
	int n = request->ncandidates;

	if (set_union_plan(query, split, &plans[n]) != DP_OK)
		return false;
	if (set_union_is_gaussian(query->method))
	{
		request->candidates[n] = gaussian_price(&plans[n]);
		n++;
	}
	else
	{
		plans[n + 1] = plans[n];
		request->candidates[n] = pure_price(&plans[n], false);
		request->candidates[n + 1] = pure_price(&plans[n], true);
		n += 2;
	}
	request->ncandidates = n;
	return true;
}

/* A dataset without delta has none for a threshold, either. */
static void
require_delta(const LedgerTerms *terms, const SetUnionQuery *query)
{
	if (set_union_is_gaussian(query->method))
		require_gaussian_budget(terms);
	else if (terms->delta == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BUDGET_EXHAUSTED),
				 errmsg("dataset \"%s\" has no budget for a threshold", terms->dataset),
				 errhint("It was made with delta 0. Its owner can make one with more.")));
}

/* What the ledger is asked to debit: one of the plans' prices. */
LedgerRequest
set_union_request(const SetUnionArguments *arguments, const LedgerTerms *terms,
				  SetUnionPlan *plans)
{
	const SetUnionQuery *query = &arguments->query;
	bool gaussian = set_union_is_gaussian(query->method);
	NgramSplit callers = {.threshold_share = gaussian ? arguments->threshold_share : 1};
	NgramSplit datasets;
	LedgerRequest request = {.mechanism = "dp_set_union",
							 .parameters = arguments->parameters.data,
							 .period = arguments->target.period,
							 .epsilon = query->epsilon,
							 .delta = query->delta};

	require_delta(terms, query);
	if (!add_candidates(query, callers, plans, &request))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("no noise can be found for this epsilon and delta"),
				 errhint("They may be too small for max_contributions, or too large for any "
						 "noise.")));
	if (dataset_division(terms, query->epsilon, &datasets.threshold_share, &datasets.division))
		(void) add_candidates(query, datasets, plans, &request);
	return request;
}
