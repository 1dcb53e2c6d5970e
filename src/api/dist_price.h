/*
 * dist_price.h
 *	  What a release of a distribution costs, in the ledger's terms.
 */
#ifndef DPNGRAM_DIST_PRICE_H
#define DPNGRAM_DIST_PRICE_H

#include "api/dist_arguments.h"

#define DIST_MAX_PLANS 2

/* The request has a candidate price for each plan, in this order. */
extern LedgerRequest dist_request(const DistArguments *arguments, const LedgerTerms *terms,
								  DistPlan *plans);
extern void dist_owner_plan(const DistArguments *arguments, DistPlan *plan);

#endif /* DPNGRAM_DIST_PRICE_H */
