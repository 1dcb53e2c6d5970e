/*
 * arguments.h
 *	  The arguments of the analyst's functions, checked.
 */
#ifndef DPNGRAM_ARGUMENTS_H
#define DPNGRAM_ARGUMENTS_H

#include "postgres.h"

#include "fmgr.h"
#include "api/target.h"
#include "lib/stringinfo.h"
#include "ngram/plan.h"

/* Where n-grams are counted. */
typedef enum NgramExecution
{
	EXECUTION_AUTO,	   /* where the rows are, if they are elsewhere and that can be */
	EXECUTION_LOCAL,   /* here */
	EXECUTION_PUSHDOWN /* where the rows are, else it is an error */
} NgramExecution;

/* What an extraction over a column is asked to do. */
typedef struct NgramArguments
{
	TextTarget target;
	NgramQuery query;
	NgramExecution execution;
	double threshold_share;
	const char *mechanism;	   /* for the ledger */
	StringInfoData parameters; /* for the ledger, JSON */
} NgramArguments;

extern void parse_ngrams_arguments(FunctionCallInfo fcinfo, NgramArguments *arguments);
extern void parse_release_arguments(FunctionCallInfo fcinfo, const char *column,
									TextTarget *target, double *epsilon, double *delta);

#endif /* DPNGRAM_ARGUMENTS_H */
