/*
 * budget.h
 *	  Checks of a budget's two numbers, shared by dp_protect and dp_grant.
 */
#ifndef DPNGRAM_BUDGET_H
#define DPNGRAM_BUDGET_H

#include "ledger/ledger.h"

extern void budget_check(double epsilon, double delta);
extern LedgerPrice budget_caps(double epsilon, double delta,
							   double pure_share, double delta_share);

#endif /* DPNGRAM_BUDGET_H */
