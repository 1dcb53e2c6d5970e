/*
 * named_call.h
 *	  The arguments of a call to one of the extension's functions, from JSON.
 */
#ifndef DPNGRAM_NAMED_CALL_H
#define DPNGRAM_NAMED_CALL_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/jsonb.h"

/* An argument that the caller has as a datum. */
typedef struct GivenArgument
{
	const char *name;
	Datum value;
	bool isnull;
} GivenArgument;

extern Oid find_sibling(Oid function, const char *name);
extern void fill_named_call(FunctionCallInfo call, Oid function, Jsonb *arguments,
							const GivenArgument *given, int ngiven);

#endif /* DPNGRAM_NAMED_CALL_H */
