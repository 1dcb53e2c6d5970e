/*
 * budget.h
 *	  The numbers of a budget, shared by dp_protect, dp_grant and dp_set_budget.
 */
#ifndef DPNGRAM_BUDGET_H
#define DPNGRAM_BUDGET_H

#include "ledger/accounting.h"

extern void budget_check(const Budget *budget);
extern LaneAmounts budget_caps(const Budget *budget);

#endif /* DPNGRAM_BUDGET_H */
