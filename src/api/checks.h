/*
 * checks.h
 *	  The checks of arguments that the SQL functions have in common.
 */
#ifndef DPNGRAM_CHECKS_H
#define DPNGRAM_CHECKS_H

#include "postgres.h"

#include "fmgr.h"

/* n: the argument's number in the call, from 0; name: its name in SQL */
extern void bad_argument(const char *name, const char *must);
extern Datum required(FunctionCallInfo fcinfo, int n, const char *name);
extern double open_interval(FunctionCallInfo fcinfo, int n, const char *name, double low,
							double high, const char *must);
extern int int_range(FunctionCallInfo fcinfo, int n, const char *name, int low, int high);
extern char *text_argument(FunctionCallInfo fcinfo, int n, const char *name);
extern char *tokenizer_argument(FunctionCallInfo fcinfo, int n);
extern Datum call_discreetly(PGFunction function, FunctionCallInfo fcinfo);

#endif /* DPNGRAM_CHECKS_H */
