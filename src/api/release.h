/*
 * release.h
 *	  The way of every private release over a relation.
 */
#ifndef DPNGRAM_RELEASE_H
#define DPNGRAM_RELEASE_H

#include "fmgr.h"

#include "api/target.h"
#include "ngram/noise.h"
#include "nodes/execnodes.h"

/*
 * A mechanism.  "state" is its own: the checked arguments, and from run on the
 * result, which lies in a memory context that lives until rows has returned.
 */
typedef struct ReleaseMethods
{
	/* first: what depends on the relation, not on its rows; errors cost nothing; may be NULL */
	void (*prepare)(void *state, const ReadSpec *spec);
	/* what the ledger is asked to debit; errors cost nothing */
	LedgerRequest (*request)(void *state, const LedgerTerms *terms);
	/* after the charge: read the texts and make the result, with the candidate debited */
	void (*run)(void *state, const ReadSpec *spec, Noise *noise, int chosen);
	/* put the result into the function's tuplestore */
	void (*rows)(void *state, ReturnSetInfo *rsinfo);
	/* for the log, JSON or NULL: of what was released alone */
	char *(*used)(void *state);
	/* after the run: what it could not do, told by public numbers alone; or NULL.  May be NULL. */
	const char *(*failure)(void *state, const char **hint);
} ReleaseMethods;

extern void release_texts(FunctionCallInfo fcinfo, const TextTarget *target,
						  const ReleaseMethods *methods, void *state);

#endif /* DPNGRAM_RELEASE_H */
