/*
 * text_ngrams.c
 *	  The SQL function ngrams(): the n-grams of one text or array.
 *
 * It returns a row a call and not a tuplestore: in a select list nothing is stored at
 * all, and in FROM the executor stores the rows just as we would.  What fn_extra
 * keeps for the next row of the outer query (the tokenizer, above all) would not
 * survive the SRF_* macros, so the function follows the protocol by itself.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "ngram/plan.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "api/checks.h"
#include "dist/grams.h"

/* What is kept between calls. */
typedef struct NgramsCall
{
	MemoryContext context; /* of all of it */
	text *name;			   /* the tokenizer's; NULL: none is needed */
	GramCutter *cutter;
	bool active; /* in the midst of a value */
	Size next;
} NgramsCall;

PG_FUNCTION_INFO_V1(dpngram_ngrams);

static ReturnSetInfo *
set_context(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	if (rsinfo == NULL || !IsA(rsinfo, ReturnSetInfo) ||
		(rsinfo->allowedModes & SFRM_ValuePerCall) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));
	return rsinfo;
}

/* The rest of the rows is not wanted, or there are no more. */
static void
leave_value(Datum call)
{
	((NgramsCall *) DatumGetPointer(call))->active = false;
}

static bool
same_text(const text *a, const text *b)
{
	return VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) &&
		   memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(a)) == 0;
}

/* A new state; "name" is the tokenizer's, or NULL for arrays, which need none. */
static NgramsCall *
create(FmgrInfo *flinfo, const text *name)
{
	MemoryContext context = AllocSetContextCreate(flinfo->fn_mcxt, "dpngram ngrams",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	NgramsCall *call = palloc0(sizeof(NgramsCall));
	Tokenizer *tokenizer = tokenizer_create(name ? text_to_cstring(name) : "whitespace",
											get_fn_expr_argtype(flinfo, 0));

	call->context = context;
	call->cutter = gram_cutter_create(tokenizer, 1, 0);
	if (name != NULL)
		call->name = cstring_to_text_with_len(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
	MemoryContextSwitchTo(old);
	return call;
}

/* The state of the call before, or a new one if another tokenizer is asked for. */
static NgramsCall *
prepare(FunctionCallInfo fcinfo)
{
	NgramsCall *call = fcinfo->flinfo->fn_extra;
	const text *name = PG_NARGS() > 2 ? PG_GETARG_TEXT_PP(2) : NULL;

	if (call != NULL && (name == NULL || same_text(name, call->name)))
		return call;
	fcinfo->flinfo->fn_extra = NULL;
	if (call != NULL)
		MemoryContextDelete(call->context);
	call = create(fcinfo->flinfo, name);
	fcinfo->flinfo->fn_extra = call;
	return call;
}

/*
 * ngrams(value, n [, tokenizer [, max_tokens]]): the n-grams of a value, with repeats
 * and in order.  An array has no tokenizer.  max_tokens 0: no limit.
 */
Datum
dpngram_ngrams(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = set_context(fcinfo);
	NgramsCall *call = fcinfo->flinfo->fn_extra;
	GramCutter *cutter;

	if (call == NULL || !call->active)
	{
		int n = int_range(fcinfo, 1, "n", 1, NGRAM_MAX_LENGTH);

		call = prepare(fcinfo);
		call->cutter->n = n;
		call->cutter->max_tokens = PG_NARGS() > 3 ? PG_GETARG_INT32(3) : 0;
		gram_cut(call->cutter, PG_GETARG_DATUM(0));
		call->next = 0;
		call->active = true;
		RegisterExprContextCallback(rsinfo->econtext, leave_value, PointerGetDatum(call));
	}
	cutter = call->cutter;
	if (call->next < cutter->ngrams)
	{
		const Gram *gram = &cutter->gram[call->next++];

		rsinfo->isDone = ExprMultipleResult;
		PG_RETURN_TEXT_P(cstring_to_text_with_len(cutter->text.data + gram->start, gram->len));
	}
	leave_value(PointerGetDatum(call));
	UnregisterExprContextCallback(rsinfo->econtext, leave_value, PointerGetDatum(call));
	rsinfo->isDone = ExprEndResult;
	PG_RETURN_NULL();
}
