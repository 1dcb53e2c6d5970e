/*
 * call.h
 *	  A call and its background worker: what the session that asks and the worker
 *	  that charges and reads have in common.
 *
 * The protocol is told in call.c.
 */
#ifndef DPNGRAM_CALL_H
#define DPNGRAM_CALL_H

#include "datatype/timestamp.h"
#include "ledger/ledger.h"
#include "port/atomics.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/proc.h"
#include "storage/shm_mq.h"

/*
 * How far a call is.  The worker alone goes from pending to committing, and the caller alone
 * from pending to abandoned, each by an atomic exchange: so one of the two happens, and
 * a caller that gave up in time knows that nothing was charged.
 */
typedef enum CallState
{
	CALL_PENDING,	 /* nothing is charged, and nobody gave up */
	CALL_ABANDONED,	 /* the caller gave up: nothing will be charged */
	CALL_COMMITTING, /* the debit is being committed */
	CALL_CHARGED,	 /* committed and flushed: release_id, chosen; the relation may be read */
	CALL_REFUSED,	 /* not charged: sqlstate, message, detail, hint */
	CALL_BUSY		 /* not charged: an owner's change is in the way; ask again */
} CallState;

/* Bytes of an error's message, detail and hint, each with its end. */
#define CALL_TEXT 512

/*
 * A request and its answer, in dynamic shared memory.  The caller writes the request before
 * it starts the worker and nothing after; the worker writes the answer and then, once, the
 * state.
 */
typedef struct CallSegment
{
	pg_atomic_uint32 state;
	PGPROC *asker; /* its latch is set when the state changes */

	Oid database;
	Oid caller;
	Oid session_role;
	Oid relid;
	Oid owner; /* the relation is read as this role */
	TimestampTz deadline;
	int slot; /* slots.h */

	/* what is to be charged */
	bool free; /* nothing: the owner's own functions, which ask no ledger */
	int32 dataset;
	int32 relation;
	AttrNumber user_attnum;
	AttrNumber time_attnum;
	double epsilon;
	double delta;
	bool seeded;
	LedgerPeriod period;
	int ncandidates;
	int nevents[LEDGER_MAX_CANDIDATES];
	char mechanism[NAMEDATALEN];

	/* the answer */
	int64 release_id;
	int chosen;
	int sqlstate;
	char message[CALL_TEXT];
	char detail[CALL_TEXT];
	char hint[CALL_TEXT];

	/* where the parts of the segment that have no fixed size begin */
	Size parameters; /* JSON, a string */
	Size task;		 /* what the worker is to do with the rows; 0 bytes: nothing */
	Size task_size;
	Size queue_in;	/* from the caller */
	Size queue_out; /* to the caller */

	/* the candidates' events, one list after the other */
	LedgerEvent event[FLEXIBLE_ARRAY_MEMBER];
} CallSegment;

static inline void *
call_part(CallSegment *segment, Size offset)
{
	return (char *) segment + offset;
}

/* How many events of the segment come before those of a candidate. */
static inline int
call_first_event(const CallSegment *segment, int candidate)
{
	int n = 0;

	for (int i = 0; i < candidate; i++)
		n += segment->nevents[i];
	return n;
}

/* A call, as its caller sees it.  Ends with its shared memory, whatever ends that. */
typedef struct LedgerCall
{
	CallSegment *segment;
	shm_mq_handle *in;	/* from the worker */
	shm_mq_handle *out; /* to the worker */

	/* call.c's own */
	dsm_segment *dsm;
	BackgroundWorkerHandle *handle;
	MemoryContext context;
	bool ended; /* by the caller: the worker is done */
} LedgerCall;

/* What the caller wants done with the rows, for a worker of ours to read. */
typedef struct LedgerTask
{
	const void *bytes;
	Size size;
	/* sends what is too large for that through call->out; may be NULL */
	void (*feed)(void *state, LedgerCall *call);
	void *state;
} LedgerTask;

extern PGDLLEXPORT LedgerCall *ledger_call(const LedgerAccess *access,
										   const LedgerRequest *request, const LedgerTask *task);
extern LedgerCall *ledger_call_free(Oid relid, Oid owner, const LedgerTask *task);
extern PGDLLEXPORT void ledger_call_end(LedgerCall *call);

#endif /* DPNGRAM_CALL_H */
