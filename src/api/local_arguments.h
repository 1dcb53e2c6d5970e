/*
 * local_arguments.h
 *	  The arguments of ldp_frequent_terms, checked, and what a call costs.
 */
#ifndef DPNGRAM_LOCAL_ARGUMENTS_H
#define DPNGRAM_LOCAL_ARGUMENTS_H

#include "fmgr.h"

#include "api/target.h"
#include "lib/stringinfo.h"
#include "local/alphabet.h"
#include "local/local.h"
#include "nodes/execnodes.h"

/* What a call is asked to do. */
typedef struct LocalArguments
{
	TextTarget target;
	LocalMethod method;
	LocalQuery query;
	double lifetime; /* rappor: epsilon of all of a client's reports of one term; 0: of one */
	char *spec;		 /* the alphabet as written */
	Alphabet *alphabet;
	StringInfoData parameters; /* for the ledger, JSON */
} LocalArguments;

/* Where a function has the arguments of a collection, from 0; options: the last one. */
typedef struct LocalPositions
{
	int epsilon;
	int k;
	int method;
	int alphabet;
	int max_length;
	int consistency; /* -1: it is an option */
	int options;
} LocalPositions;

extern LocalMethod local_method_argument(FunctionCallInfo fcinfo, int n);
extern double local_epsilon_argument(FunctionCallInfo fcinfo, int n);
extern void refuse_collection(LocalMethod method);
extern const char *local_method_name(LocalMethod method);
extern void parse_local_query(FunctionCallInfo fcinfo, const LocalPositions *at,
							  LocalArguments *arguments);
extern void check_local_options(const LocalQuery *query, double frontier, double lifetime);
extern void parse_local_arguments(FunctionCallInfo fcinfo, LocalArguments *arguments);
extern LedgerRequest local_request(const LocalArguments *arguments, const LedgerTerms *terms);

/* frequent_terms.c */
struct RowSink;
extern void put_local_result(const struct RowSink *sink, const Alphabet *alphabet,
							 const LocalResult *result);

#endif /* DPNGRAM_LOCAL_ARGUMENTS_H */
