/*
 * checks.c
 *	  The checks of arguments that the SQL functions have in common.
 *
 * Each names the argument, and says what it must be; no message repeats a value.  And a
 * way to call what must not show its arguments in the log.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "api/checks.h"
#include "dpngram_errcodes.h"

/* The ledger keeps the name: three quoted identifiers, but not any number of blanks. */
#define MAX_TOKENIZER (8 * NAMEDATALEN)

void
bad_argument(const char *name, const char *must)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_ARGUMENT), errmsg("argument \"%s\" is out of its domain", name),
			 errdetail("\"%s\" must be %s.", name, must)));
}

/* An argument that must not be null. */
Datum
required(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT), errmsg("argument \"%s\" must not be null", name)));
	return PG_GETARG_DATUM(n);
}

/* A number strictly between low and high; both NaN and infinity fail. */
double
open_interval(FunctionCallInfo fcinfo, int n, const char *name, double low, double high,
			  const char *must)
{
	double value = DatumGetFloat8(required(fcinfo, n, name));

	if (!(value > low && value < high))
		bad_argument(name, must);
	return value;
}

int
int_range(FunctionCallInfo fcinfo, int n, const char *name, int low, int high)
{
	int value = DatumGetInt32(required(fcinfo, n, name));

	if (value < low || value > high)
		bad_argument(name, psprintf("between %d and %d", low, high));
	return value;
}

char *
text_argument(FunctionCallInfo fcinfo, int n, const char *name)
{
	return TextDatumGetCString(required(fcinfo, n, name));
}

/* The name of a tokenizer, which tokenizer_create() will resolve. */
char *
tokenizer_argument(FunctionCallInfo fcinfo, int n)
{
	char *name = text_argument(fcinfo, n, "tokenizer");

	if (strlen(name) > MAX_TOKENIZER)
		bad_argument("tokenizer", psprintf("of at most %d bytes", MAX_TOKENIZER));
	return name;
}

static void
hide_call(void *arg)
{
	errhidestmt(true);
	errhidecontext(true);
}

/*
 * Calls a function whose arguments nobody else may learn.  An error's statement may hold
 * them, and so may its context, where COPY names the line: the server log gets neither.
 */
Datum
call_discreetly(PGFunction function, FunctionCallInfo fcinfo)
{
	ErrorContextCallback hiding = {.previous = error_context_stack, .callback = hide_call};
	Datum result;

	error_context_stack = &hiding;
	result = function(fcinfo);
	error_context_stack = hiding.previous;
	return result;
}
