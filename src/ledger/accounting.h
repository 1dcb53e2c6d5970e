/*
 * accounting.h
 *	  How releases add up: which lanes an accounting has, what a budget's caps
 *	  are, and what events cost.
 */
#ifndef DPNGRAM_ACCOUNTING_H
#define DPNGRAM_ACCOUNTING_H

#include "ledger/lanes.h"
#include "lib/stringinfo.h"

/* The lanes of an accounting: "count" of them from "first" on, in the order of enum Lane. */
typedef struct AccountingLanes
{
	Lane first;
	int count;
} AccountingLanes;

/* The budget of a dataset or of a grant, as its owner gives it. */
typedef struct Budget
{
	double epsilon;
	double delta;
	LedgerAccounting accounting;
	double pure_share; /* 0 where the accounting has no such lane */
	double delta_share;
} Budget;

extern bool accounting_by_name(const char *name, LedgerAccounting *accounting);
extern const char *accounting_name(LedgerAccounting accounting);
extern AccountingLanes accounting_lanes(LedgerAccounting accounting);

extern bool accounting_caps(const Budget *budget, LaneAmounts *caps);
extern bool accounting_valid_call(double epsilon, double delta);
extern bool accounting_valid_events(const LedgerPrice *price);
extern LaneAmounts accounting_price(const LedgerPrice *price, double epsilon, double delta);
extern int accounting_short(LedgerAccounting accounting, const LaneAmounts *price,
							const LaneAmounts *spent, const LaneAmounts *cap);
extern char *accounting_events_json(const LedgerPrice *price);

#endif /* DPNGRAM_ACCOUNTING_H */
