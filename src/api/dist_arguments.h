/*
 * dist_arguments.h
 *	  The arguments of the functions that release distributions, checked.
 */
#ifndef DPNGRAM_DIST_ARGUMENTS_H
#define DPNGRAM_DIST_ARGUMENTS_H

#include "fmgr.h"

#include "api/target.h"
#include "dist/plan.h"
#include "dist/public.h"
#include "lib/stringinfo.h"

/* What a release of a distribution is asked to do. */
typedef struct DistArguments
{
	TextTarget target;
	Oid public_relid;
	int n; /* tokens of an n-gram */
	DistQuery query;
	char *method;			   /* as written */
	StringInfoData parameters; /* for the ledger, JSON */
} DistArguments;

extern void parse_dist_arguments(FunctionCallInfo fcinfo, DistArguments *arguments);
extern PublicGrams *read_public_grams(const DistArguments *arguments);

#endif /* DPNGRAM_DIST_ARGUMENTS_H */
