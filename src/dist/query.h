/*
 * query.h
 *	  Queries over relations that a caller names, with the caller's own rights.
 */
#ifndef DPNGRAM_QUERY_H
#define DPNGRAM_QUERY_H

#include "executor/tuptable.h"
#include "fmgr.h"

#define QUERY_MAX_PARAMETERS 6

/* The parameters $1, $2, ... of a query, none of them NULL. */
typedef struct QueryParameters
{
	int n;
	Oid type[QUERY_MAX_PARAMETERS];
	Datum value[QUERY_MAX_PARAMETERS];
} QueryParameters;

/* Receives the rows, in a memory context that is reset after each. */
typedef void (*QueryRow)(void *state, TupleTableSlot *row);

extern const char *query_relation(Oid relid);
extern Oid query_column_type(Oid relid, const char *column);
extern const char *query_column(Oid relid, const char *alias, const char *column);
extern const char *query_text_column(Oid relid, const char *alias, const char *column);
extern const char *query_number_column(Oid relid, const char *alias, const char *column);

extern void query_parameter(QueryParameters *parameters, Oid type, Datum value);
extern void query_text_parameter(QueryParameters *parameters, const char *value);

extern void query_each(const char *sql, const QueryParameters *parameters, QueryRow row,
					   void *state);
extern void query_result(const char *sql, const QueryParameters *parameters,
						 FunctionCallInfo fcinfo);
extern void query_result_kept(const char *sql, const QueryParameters *parameters,
							  FunctionCallInfo fcinfo);

#endif /* DPNGRAM_QUERY_H */
