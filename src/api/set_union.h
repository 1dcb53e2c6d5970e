/*
 * set_union.h
 *	  A call of dp_set_union: its arguments, checked, and what it costs.
 */
#ifndef DPNGRAM_API_SET_UNION_H
#define DPNGRAM_API_SET_UNION_H

#include "fmgr.h"

#include "api/target.h"
#include "lib/stringinfo.h"
#include "ngram/set_union.h"

typedef struct SetUnionArguments
{
	TextTarget target;
	SetUnionQuery query;
	double threshold_share;	   /* Gaussian methods only */
	StringInfoData parameters; /* for the ledger, JSON */
} SetUnionArguments;

/* Two divisions of (epsilon, delta), and two prices for each where noise is not Gaussian. */
#define SET_UNION_MAX_PLANS 4

extern void parse_set_union_arguments(FunctionCallInfo fcinfo, SetUnionArguments *arguments);

/* The request has a candidate price for each plan, in this order. */
extern LedgerRequest set_union_request(const SetUnionArguments *arguments,
									   const LedgerTerms *terms, SetUnionPlan *plans);

#endif /* DPNGRAM_API_SET_UNION_H */
