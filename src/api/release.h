/*
 * release.h
 *	  The way of every release over a relation: what the caller's session does of it, and what
 *	  its background worker does.
 */
#ifndef DPNGRAM_RELEASE_H
#define DPNGRAM_RELEASE_H

#include "fmgr.h"

#include "api/target.h"
#include "ledger/call.h"
#include "ngram/noise.h"
#include "nodes/execnodes.h"

/* Takes the rows of a result, one by one. */
typedef struct RowSink
{
	void (*put)(void *state, Datum *values, bool *nulls);
	void *state;
} RowSink;

/*
 * What a mechanism does in the worker.  "state" is its own, made by start, and lives as long as
 * the worker.
 */
typedef struct ReleaseMethods
{
	const char *name; /* by which the worker finds it */

	/* the state of the plan that the caller sent, and of what it feeds through the queue */
	void *(*start)(const void *plan, shm_mq_handle *queue);

	/*
	 * What depends on the relation, not on its rows; errors cost nothing.  Called once more
	 * just before the run, in the transaction of the read.  May be NULL.
	 */
	void (*prepare)(void *state, const ReadSpec *spec);

	/* after the charge: read the texts and make the result, with the candidate debited */
	void (*run)(void *state, const ReadSpec *spec, Noise *noise, int chosen);

	/* hand out the result, in an order that does not depend on the data */
	void (*rows)(void *state, const RowSink *sink);

	/* for the log, JSON or NULL: of what was released alone; may be NULL */
	char *(*used)(void *state);

	/* after the run: what it could not do, told by public numbers alone; or NULL.  May be NULL. */
	const char *(*failure)(void *state, const char **hint);
} ReleaseMethods;

/* A call, as the caller's session has parsed it. */
typedef struct ReleaseCall
{
	const ReleaseMethods *methods;
	const TextTarget *target;
	void *state; /* the first argument of what follows */

	/* what the ledger is asked to debit; errors cost nothing.  Fills in the plan. */
	LedgerRequest (*request)(void *state, const LedgerTerms *terms);

	/* what the worker is told: bytes without pointers */
	const void *plan;
	Size plan_size;

	/* what is too large for that; may be NULL */
	void (*feed)(void *state, LedgerCall *call);
} ReleaseCall;

extern void release_texts(FunctionCallInfo fcinfo, const ReleaseCall *call);
extern void release_owned(FunctionCallInfo fcinfo, const ReleaseCall *call, const char *function,
						  const char *told);
extern RowSink result_sink(ReturnSetInfo *rsinfo);

/* the mechanisms, each in its function's file */
extern const ReleaseMethods ngram_methods;
extern const ReleaseMethods union_methods;
extern const ReleaseMethods dist_methods;
extern const ReleaseMethods terms_methods;
extern const ReleaseMethods attack_methods;

#endif /* DPNGRAM_RELEASE_H */
