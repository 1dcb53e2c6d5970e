/*
 * price.h
 *	  What a call costs, in the ledger's terms.
 */
#ifndef DPNGRAM_PRICE_H
#define DPNGRAM_PRICE_H

#include "api/arguments.h"

/* The ways to divide a call's (epsilon, delta): the caller's, then the dataset's. */
#define NGRAM_MAX_PLANS 2

extern bool dataset_division(const LedgerTerms *terms, double epsilon, double *delta_share,
							 DpDivision *division);
extern void require_gaussian_budget(const LedgerTerms *terms);
extern int ngram_plans(const LedgerTerms *terms, const NgramArguments *arguments,
					   NgramPlan *plans);
extern LedgerRequest ngram_request(const NgramArguments *arguments, const NgramPlan *plans,
								   int nplans);

#endif /* DPNGRAM_PRICE_H */
