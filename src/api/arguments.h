/*
 * arguments.h
 *	  The arguments of the analyst's functions, checked.
 */
#ifndef DPNGRAM_ARGUMENTS_H
#define DPNGRAM_ARGUMENTS_H

#include "postgres.h"

#include "fmgr.h"
#include "ledger/ledger.h"
#include "lib/stringinfo.h"
#include "ngram/plan.h"

/* What an extraction over a column is asked to do. */
typedef struct NgramArguments
{
	Oid relid;
	char *user_col;
	char *text_col;
	NgramQuery query;
	char *tokenizer;
	int max_tokens; /* 0: no limit */
	double threshold_share;
	char *period;			   /* a moment in it; NULL: the dataset's present one */
	const char *mechanism;	   /* for the ledger */
	StringInfoData parameters; /* for the ledger, JSON */
} NgramArguments;

extern void parse_ngrams_arguments(FunctionCallInfo fcinfo, NgramArguments *arguments);
extern void parse_set_union_arguments(FunctionCallInfo fcinfo, NgramArguments *arguments);

#endif /* DPNGRAM_ARGUMENTS_H */
