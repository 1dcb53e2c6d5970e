/*
 * price.c
 *	  What a plan costs, in the ledger's terms: its steps, slack and thresholds as
 *	  events.
 */
#include "postgres.h"

#include "api/price.h"

static void
add_event(LedgerPrice *price, LedgerEventKind kind, double amount, double tail)
{
	LedgerEvent *last = price->nevents > 0 ? &price->event[price->nevents - 1] : NULL;

	if (last != NULL && last->kind == kind && last->amount == amount && last->tail == tail)
		last->count++;
	else
		price->event[price->nevents++] = (LedgerEvent){kind, 1, amount, tail};
}

/* The events of an extraction; steps of equal noise are one event with a count. */
LedgerPrice
plan_price(const NgramPlan *plan)
{
	LedgerPrice price = {0, palloc(sizeof(LedgerEvent) * (plan->nsteps + 2))};

	for (int i = 1; i <= plan->nsteps; i++)
		add_event(&price, EVENT_GAUSSIAN, plan->step[i].mu2, 0);
	add_event(&price, EVENT_LATTICE, plan->eps_pure, plan->tail_delta);
	add_event(&price, EVENT_DELTA, plan->delta_add, 0);
	return price;
}
