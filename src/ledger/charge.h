/*
 * charge.h
 *	  What the session that asks and the worker that commits have in common.
 */
#ifndef DPNGRAM_CHARGE_H
#define DPNGRAM_CHARGE_H

#include "datatype/timestamp.h"
#include "ledger/ledger.h"
#include "ledger/version.h"
#include "port/atomics.h"
#include "postmaster/bgworker.h"
#include "storage/proc.h"

typedef enum ChargeState
{
	CHARGE_PENDING,	  /* not decided, as far as the caller may know */
	CHARGE_COMMITTED, /* committed and flushed: release_id, chosen */
	CHARGE_REFUSED	  /* not charged: sqlstate, message, detail, hint */
} ChargeState;

/*
 * A request and its answer, in dynamic shared memory.  The caller writes the
 * request before it starts the worker and nothing after; the worker writes the
 * answer and then, once, the state.
 */
typedef struct ChargeSegment
{
	pg_atomic_uint32 state;
	PGPROC *asker; /* its latch is set when the answer stands */

	Oid database;
	Oid caller;
	Oid session_role;
	int32 dataset;
	int32 relation;
	Oid relid;
	Oid owner;
	AttrNumber user_attnum;
	AttrNumber time_attnum;
	TimestampTz deadline;
	double epsilon;
	double delta;
	bool seeded;
	LedgerPeriod period;
	int ncandidates;
	int nevents[LEDGER_MAX_CANDIDATES];
	char mechanism[NAMEDATALEN];

	int64 release_id;
	int chosen;
	int sqlstate;
	char message[512];
	char detail[512];
	char hint[512];

	/* the candidates' events, one list after the other; then the parameters, a string */
	LedgerEvent event[FLEXIBLE_ARRAY_MEMBER];
} ChargeSegment;

/* How many events of the segment come before those of a candidate. */
static inline int
charge_first_event(const ChargeSegment *segment, int candidate)
{
	int n = 0;

	for (int i = 0; i < candidate; i++)
		n += segment->nevents[i];
	return n;
}

static inline char *
charge_parameters(ChargeSegment *segment)
{
	return (char *) &segment->event[charge_first_event(segment, segment->ncandidates)];
}

/* What a worker gets in bgw_extra. */
typedef struct WorkerExtra
{
	char version[VERSION_LENGTH]; /* always first: the version that laid out all the rest */
	Oid failed_database;		  /* for the worker that notes a failed release */
	int64 failed_release;
} WorkerExtra;

/* What dp_doctor's trial of a worker gets, and where it answers; as in a charge. */
typedef struct ProbeSegment
{
	pg_atomic_uint32 reached; /* 1: it is connected to the database */
	PGPROC *asker;
	Oid database;
} ProbeSegment;

/* what dp_doctor's trial of a worker shares with a charge */
extern long milliseconds_left(TimestampTz deadline);
extern void pause_for(long milliseconds);
extern PGDLLEXPORT void worker_describe(BackgroundWorker *worker, const char *function,
										const char *name);

extern PGDLLEXPORT void dpngram_charge_main(Datum main_arg);
extern PGDLLEXPORT void dpngram_failed_main(Datum main_arg);
extern PGDLLEXPORT void dpngram_probe_main(Datum main_arg);

#endif /* DPNGRAM_CHARGE_H */
