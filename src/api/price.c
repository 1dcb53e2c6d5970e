/*
 * price.c
 *	  What a call costs, in the ledger's terms: its plans, and of each plan the
 *	  steps, slack and thresholds as events.
 *
 * The release (release.c) and the forecast of its price (planning.c) ask here, so
 * that they can't differ.
 */
#include "postgres.h"

#include "api/price.h"
#include "dpngram_errcodes.h"

/* A hair below the dataset's share, so that the lane's rounding can't refuse it. */
#define SHARE_OF_DATASET(share) ((share) * (1 - 1e-12))

/*
 * The division by which a call for all of a fresh dataset fits: the share of delta that
 * is not Gaussian, and how epsilon is divided.  False if any division does, or none is
 * known.
 */
bool
dataset_division(const LedgerTerms *terms, double epsilon, double *delta_share,
				 DpDivision *division)
{
	double pure = terms->pure_share * epsilon;

	*delta_share = SHARE_OF_DATASET(terms->delta_share);
	*division = (DpDivision){0};
	switch (terms->accounting)
	{
		case ACCOUNTING_GDP:
			division->pure_reserve = pure;
			division->pure_limit = SHARE_OF_DATASET(pure);
			break;
		case ACCOUNTING_ZCDP:
			division->zcdp = true;
			break;
		case ACCOUNTING_BASIC:
			return false;
	}
	return terms->delta_share > 0;
}

/* A dataset without delta holds no Gaussian noise, whatever is asked for. */
void
require_gaussian_budget(const LedgerTerms *terms)
{
	if (terms->delta == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BUDGET_EXHAUSTED),
				 errmsg("dataset \"%s\" has no budget for Gaussian noise", terms->dataset),
				 errhint("It was made with delta 0. Its owner can make one with more.")));
}

/*
 * One plan a candidate price: the caller's own split first, then the dataset's, if
 * its shares are known and it makes a plan.  Returns how many; an error if none.
 */
int
ngram_plans(const LedgerTerms *terms, const NgramArguments *arguments, NgramPlan *plans)
{
	NgramSplit callers = {.threshold_share = arguments->threshold_share};
	NgramSplit datasets;
	int n = 1;

	require_gaussian_budget(terms);
	if (ngram_plan(&arguments->query, callers, &plans[0]) != DP_OK)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("no noise can be found for this epsilon and delta"),
				 errhint("They may be too small for max_length and max_contributions, or too "
						 "large for any noise.")));
	if (dataset_division(terms, arguments->query.epsilon, &datasets.threshold_share,
						 &datasets.division) &&
		ngram_plan(&arguments->query, datasets, &plans[n]) == DP_OK)
		n++;
	return n;
}

static void
add_event(LedgerPrice *price, LedgerEventKind kind, double amount, double tail)
{
	LedgerEvent *last = price->nevents > 0 ? &price->event[price->nevents - 1] : NULL;

	if (last != NULL && last->kind == kind && last->amount == amount && last->tail == tail)
		last->count++;
	else
		price->event[price->nevents++] = (LedgerEvent){kind, 1, amount, tail};
}

/*
 * The events of an extraction; steps of equal noise are one event with a count.  The
 * rounds of dpne-mr, whose noise is decided on the way, are one of all that they may spend.
 */
static LedgerPrice
plan_price(const NgramPlan *plan)
{
	LedgerPrice price = {0, palloc(sizeof(LedgerEvent) * (plan->nsteps + 2))};

	if (plan->query.method == METHOD_DPNE_MR)
		add_event(&price, EVENT_GAUSSIAN, plan->mu2, 0);
	else
		for (int i = 1; i <= plan->nsteps; i++)
			add_event(&price, EVENT_GAUSSIAN, plan->step[i].mu2, 0);
	add_event(&price, EVENT_LATTICE, plan->eps_pure, plan->tail_rho);
	add_event(&price, EVENT_DELTA, plan->delta_add, 0);
	return price;
}

/* What the ledger is asked to debit: one of the plans' prices. */
LedgerRequest
ngram_request(const NgramArguments *arguments, const NgramPlan *plans, int nplans)
{
	LedgerRequest request = {
		.mechanism = arguments->mechanism,
		.parameters = arguments->parameters.data,
		.period = arguments->target.period,
		.epsilon = arguments->query.epsilon,
		.delta = arguments->query.delta,
		.ncandidates = nplans};

	for (int i = 0; i < nplans; i++)
		request.candidates[i] = plan_price(&plans[i]);
	return request;
}
