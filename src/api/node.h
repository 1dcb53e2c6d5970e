/*
 * node.h
 *	  What the SQL functions that count on a node have in common.
 */
#ifndef DPNGRAM_NODE_H
#define DPNGRAM_NODE_H

#include "postgres.h"

#include "fmgr.h"
#include "ngram/node_count.h"

/* Arguments of their transition functions. */
enum
{
	ARG_STATE,
	ARG_SPEC,
	ARG_USER,
	ARG_TEXT
};

/* The state of an aggregate, NULL before its first row. */
static inline void *
node_aggregate_state(FunctionCallInfo fcinfo)
{
	return PG_ARGISNULL(ARG_STATE) ? NULL : PG_GETARG_POINTER(ARG_STATE);
}

extern NodeCounter *node_counter_of(FunctionCallInfo fcinfo, int first);
extern MemoryContext node_aggregate_context(FunctionCallInfo fcinfo);

#endif /* DPNGRAM_NODE_H */
