/*
 * worker.h
 *	  The background workers: how they are described, begin and end.
 */
#ifndef DPNGRAM_WORKER_H
#define DPNGRAM_WORKER_H

#include "ledger/call.h"
#include "ledger/version.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"

/* What a worker gets in bgw_extra. */
typedef struct WorkerExtra
{
	char version[VERSION_LENGTH]; /* always first: the version that laid out all the rest */
	Oid failed_database;		  /* for the worker that notes a failed release */
	int64 failed_release;
} WorkerExtra;

/* What dp_doctor's trial of a worker gets, and where it answers; as in a call. */
typedef struct ProbeSegment
{
	pg_atomic_uint32 reached; /* 1: it is connected to the database */
	PGPROC *asker;
	Oid database;
} ProbeSegment;

extern PGDLLEXPORT void worker_describe(BackgroundWorker *worker, const char *function,
										const char *name);

/* in the worker */
extern void worker_begin(void);
extern bool worker_is_this(void);
extern void worker_transaction(void);
extern dsm_segment *worker_segment(Datum main_arg);
extern void worker_connect(Oid database);
extern void worker_settings(void);
extern void fix_setting(const char *name, const char *value);

/* debit.c: decides and commits; false: refused, and the answer stands */
typedef struct Debit
{
	char *zone; /* of the dataset's periods; NULL: it has none */
	Datum time_from;
	Datum time_to;
} Debit;

extern bool ledger_debit(CallSegment *segment, Debit *debit);
extern void ledger_period_bounds(const CallSegment *segment, Debit *debit);
extern void call_answer(CallSegment *segment, CallState state);
extern void call_refuse(CallSegment *segment, const ErrorData *error);

/* release_end.c */
extern void release_end_init(void);
extern void ledger_release_end(int64 release_id, const char *status, const char *used);

extern PGDLLEXPORT void dpngram_failed_main(Datum main_arg);
extern PGDLLEXPORT void dpngram_probe_main(Datum main_arg);

#endif /* DPNGRAM_WORKER_H */
