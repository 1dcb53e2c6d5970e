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

/* What an extraction over a column is asked to do. */
typedef struct NgramArguments
{
	TextTarget target;
	NgramQuery query;
	double threshold_share;
	const char *mechanism;	   /* for the ledger */
	StringInfoData parameters; /* for the ledger, JSON */
} NgramArguments;

extern void parse_ngrams_arguments(FunctionCallInfo fcinfo, NgramArguments *arguments);
extern void parse_release_arguments(FunctionCallInfo fcinfo, const char *column,
									TextTarget *target, double *epsilon, double *delta);

#endif /* DPNGRAM_ARGUMENTS_H */
