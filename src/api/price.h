/*
 * price.h
 *	  What a plan costs, in the ledger's terms.
 */
#ifndef DPNGRAM_PRICE_H
#define DPNGRAM_PRICE_H

#include "ledger/ledger.h"
#include "ngram/plan.h"

extern LedgerPrice plan_price(const NgramPlan *plan);

#endif /* DPNGRAM_PRICE_H */
