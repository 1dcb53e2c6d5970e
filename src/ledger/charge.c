/*
 * charge.c
 *	  Debits a dataset for good, before any of its rows is read.
 *
 * A row that the caller's transaction writes is no budget: the caller sees the
 * result and rolls back.  So the debit is made and committed by a dynamic
 * background worker in a transaction of its own (charge_worker.c), and
 * ledger_charge() returns only after that commit was flushed to disk.  It is
 * never taken back: not by ROLLBACK, not by an error, a cancel, a terminated
 * session or a crash.
 *
 * Locking protocol
 *
 * 1. A lock-manager lock "object (dpngram.dataset, id)", ExclusiveLock.
 *	  ledger_charge() holds it from before it starts its worker until the answer;
 *	  the owner's functions take it and hold it to the end of their transaction.
 *	  So a charge waits for an owner's uncommitted change, the wait shows in
 *	  pg_locks, and a deadlock with anything else the two sessions hold is found
 *	  by the deadlock detector.  It also makes chargers of one dataset queue up
 *	  here, where waiting costs no worker slot.
 * 2. The row lock of dpngram.dataset (FOR UPDATE), taken by the worker, and by
 *	  the owner's functions through the update that each of them makes.  It
 *	  decides: caps are compared and the sums raised under it.  It is needed
 *	  besides the first because a cancelled caller's worker may outlive the
 *	  caller's lock, and because a superuser's own SQL knows no protocol.
 *
 * The worker never takes the first lock, nor any lock on the relation, so the
 * caller, who holds those, never waits for its own worker to get them.  A caller
 * whose own transaction holds the row lock would: ledger_open() refuses datasets
 * that this transaction changed, and for a bare SELECT FOR UPDATE the worker's
 * lock_timeout ends the wait.  Every wait ends at dpngram.charge_timeout.
 *
 * Why the caller never reads unpaid rows
 *
 * The caller goes on only when it sees CHARGE_COMMITTED, which the worker writes
 * after CommitTransactionCommand() returned with synchronous_commit on: the
 * debit is on disk (and on the synchronous standbys, if there are any).  All
 * else - a worker that could not start, died, was refused, or is late - raises
 * an error, and the caller reads nothing.  The converse is not promised: the
 * worker may have committed although the caller was cancelled, timed out or
 * died.  Then a debit stands for which nothing was read, the safe direction.
 * A worker that finds the segment gone, because its caller is, does nothing.
 *
 * The segment is dynamic shared memory, which lives while anyone is attached:
 * the caller may leave at any time without invalidating what the worker holds.
 * It also holds the address of the caller's PGPROC, whose latch the worker sets;
 * PGPROCs are never freed, so if the caller left, some other session wakes up
 * once for nothing.
 */
#include "postgres.h"

#include <limits.h>

#include "access/xact.h"
#include "dpngram_errcodes.h"
#include "ledger/access.h"
#include "ledger/charge.h"
#include "ledger/running.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

int dpngram_charge_timeout = 10000;

/* Pause between two attempts to get a worker slot, in milliseconds. */
#define BACKOFF_FIRST 1
#define BACKOFF_LAST 50

long
milliseconds_left(TimestampTz deadline)
{
	return TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
}

static void
charge_failed(const char *detail, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_CHARGE_FAILED),
			 errmsg("charge could not be committed"),
			 errdetail_internal("%s", detail),
			 errhint("%s", hint)));
}

/* Waits on our latch; lets a cancel or a termination through. */
void
pause_for(long milliseconds)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 milliseconds, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/*
 * The first lock of the protocol, with an end to the waiting: lock_timeout is
 * set for as long as the deadline leaves, unless the user's own is shorter.
 */
static void
lock_until(int32 dataset, TimestampTz deadline)
{
	MemoryContext context = CurrentMemoryContext;
	int nestlevel = NewGUCNestLevel();
	long left = Max(milliseconds_left(deadline), 1);

	if (LockTimeout == 0 || LockTimeout > left)
		(void) set_config_option("lock_timeout", psprintf("%ld", left),
								 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	PG_TRY();
	{
		dataset_lock(dataset);
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
			PG_RE_THROW();
		FlushErrorState();
		charge_failed("Another transaction holds the dataset's lock.",
					  "Try again when the owner's change or the other calls are done, "
					  "or raise dpngram.charge_timeout.");
	}
	PG_END_TRY();
	AtEOXact_GUC(false, nestlevel);
}

static int
count_events(const LedgerRequest *request)
{
	int n = 0;

	for (int i = 0; i < request->ncandidates; i++)
		n += request->candidates[i].nevents;
	return n;
}

static dsm_segment *
segment_create(const LedgerAccess *access, const LedgerRequest *request,
			   TimestampTz deadline)
{
	const char *parameters = request->parameters ? request->parameters : "{}";
	Size size = offsetof(ChargeSegment, event) +
				count_events(request) * sizeof(LedgerEvent) + strlen(parameters) + 1;
	dsm_segment *dsm = dsm_create(size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
	ChargeSegment *segment;

	if (dsm == NULL)
		charge_failed("There is no free dynamic shared memory segment.",
					  "Raise max_connections, which their number follows.");
	segment = dsm_segment_address(dsm);
	memset(segment, 0, size);
	pg_atomic_init_u32(&segment->state, CHARGE_PENDING);
	segment->asker = MyProc;
	segment->database = MyDatabaseId;
	segment->caller = access->caller;
	segment->session_role = GetSessionUserId();
	segment->dataset = access->dataset_id;
	segment->relation = access->relation_id;
	segment->relid = access->relid;
	segment->owner = access->owner;
	segment->user_attnum = access->user_attnum;
	segment->time_attnum = access->time_attnum;
	segment->deadline = deadline;
	segment->epsilon = request->epsilon;
	segment->delta = request->delta;
	segment->seeded = request->seeded;
	segment->period = access->period;
	segment->ncandidates = request->ncandidates;
	for (int i = 0; i < request->ncandidates; i++)
	{
		const LedgerPrice *price = &request->candidates[i];

		segment->nevents[i] = price->nevents;
		memcpy(&segment->event[charge_first_event(segment, i)], price->event,
			   price->nevents * sizeof(LedgerEvent));
	}
	strlcpy(segment->mechanism, request->mechanism, NAMEDATALEN);
	strcpy(charge_parameters(segment), parameters);
	return dsm;
}

void
worker_describe(BackgroundWorker *worker, const char *function, const char *name)
{
	memset(worker, 0, sizeof(*worker));
	version_stamp(worker->bgw_extra);
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker->bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker->bgw_library_name, "dpngram_worker", sizeof(worker->bgw_library_name));
	strlcpy(worker->bgw_function_name, function, sizeof(worker->bgw_function_name));
	strlcpy(worker->bgw_name, name, sizeof(worker->bgw_name));
	strlcpy(worker->bgw_type, name, sizeof(worker->bgw_type));
}

/*
 * Starts the worker, trying again while all slots are taken: other people's
 * charges free theirs within milliseconds.  The dataset's lock is let go
 * between attempts: whoever keeps the slots busy with queries of their own must
 * not keep the owner from dp_revoke.
 */
static BackgroundWorkerHandle *
worker_start(dsm_segment *dsm, int32 dataset, TimestampTz deadline)
{
	BackgroundWorker worker;
	BackgroundWorkerHandle *handle;
	long pause = BACKOFF_FIRST;

	worker_describe(&worker, "dpngram_charge_main", "dpngram charge");
	worker.bgw_main_arg = UInt32GetDatum(dsm_segment_handle(dsm));
	worker.bgw_notify_pid = MyProcPid;

	while (!RegisterDynamicBackgroundWorker(&worker, &handle))
	{
		long left = milliseconds_left(deadline);

		if (left <= 0)
			charge_failed("There was no free background worker within dpngram.charge_timeout.",
						  "Raise max_worker_processes.");
		dataset_unlock(dataset);
		pause_for(Min(pause, left));
		lock_until(dataset, deadline);
		pause = Min(pause * 2, BACKOFF_LAST);
	}
	return handle;
}

/*
 * Waits for the worker's answer.  The state is looked at after the worker's
 * status, for a worker that answers and ends has done both.
 */
static ChargeState
worker_wait(ChargeSegment *segment, BackgroundWorkerHandle *handle, TimestampTz deadline)
{
	for (;;)
	{
		pid_t pid;
		BgwHandleStatus status = GetBackgroundWorkerPid(handle, &pid);
		ChargeState state = pg_atomic_read_u32(&segment->state);
		long left;

		if (state != CHARGE_PENDING)
		{
			pg_read_barrier();
			return state;
		}
		if (status == BGWH_STOPPED || status == BGWH_POSTMASTER_DIED)
			charge_failed("The background worker ended without an answer.",
						  "The server log may tell why; the budget may have been debited.");
		left = milliseconds_left(deadline);
		if (left <= 0)
		{
			TerminateBackgroundWorker(handle);
			charge_failed("The background worker did not answer within dpngram.charge_timeout.",
						  "Raise dpngram.charge_timeout; the budget may have been debited.");
		}
		pause_for(left);
	}
}

/* Raises, in the caller's session, what the worker found. */
static void
report_refusal(const ChargeSegment *segment)
{
	ereport(ERROR,
			(errcode(segment->sqlstate),
			 errmsg_internal("%s", segment->message),
			 segment->detail[0] ? errdetail_internal("%s", segment->detail) : 0,
			 segment->hint[0] ? errhint("%s", segment->hint) : 0));
}

static void
request_check(const LedgerRequest *request)
{
	if (request->ncandidates < 1 || request->ncandidates > LEDGER_MAX_CANDIDATES)
		elog(ERROR, "a charge needs 1 to %d prices", LEDGER_MAX_CANDIDATES);
	if (!accounting_valid_call(request->epsilon, request->delta))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("a call must be private for some finite epsilon and delta")));
	for (int i = 0; i < request->ncandidates; i++)
	{
		if (request->candidates[i].nevents < 1 ||
			request->candidates[i].nevents > LEDGER_MAX_EVENTS)
			elog(ERROR, "a price has 1 to %d events", LEDGER_MAX_EVENTS);
		if (!accounting_valid_events(&request->candidates[i]))
			ereport(ERROR,
					(errcode(ERRCODE_DP_ARGUMENT),
					 errmsg("a price must be finite and not negative")));
	}
	/* the worker shall not be the first to find that this is no JSON */
	if (request->parameters != NULL)
		(void) DirectFunctionCall1(jsonb_in, CStringGetDatum(request->parameters));
}

/*
 * ledger_charge: debits the first candidate price that fits every lane of the
 * dataset and of the caller's grant, committed when this returns.
 *
 * Prices are events with upper bounds as amounts.  Errors:
 * NG001 no candidate fits; NG002, NG003, NG007 if the dataset ended, the grant was
 * revoked or the binding broke since ledger_open(); NG006 the charge could not
 * be committed in time.  After an error nothing may be read.
 */
LedgerReceipt
ledger_charge(const LedgerAccess *access, const LedgerRequest *request)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													   dpngram_charge_timeout);
	LedgerReceipt receipt;
	dsm_segment *dsm;
	ChargeSegment *segment;
	BackgroundWorkerHandle *handle;

	refuse_unwritable();
	request_check(request);
	lock_until(access->dataset_id, deadline);

	dsm = segment_create(access, request, deadline);
	segment = dsm_segment_address(dsm);
	handle = worker_start(dsm, access->dataset_id, deadline);
	if (worker_wait(segment, handle, deadline) != CHARGE_COMMITTED)
		report_refusal(segment);
	receipt.release_id = segment->release_id;
	receipt.chosen = segment->chosen;

	pfree(handle);
	dsm_detach(dsm);
	dataset_unlock(access->dataset_id);
	running_mark(receipt.release_id);
	return receipt;
}

/*
 * Notes, as part of the caller's transaction, that a release is done; used is
 * JSON on what it really spent, or NULL.
 */
void
ledger_release_done(int64 release_id, const char *used)
{
	Catalog cat;

	catalog_enter(&cat);
	release_end_insert(release_id, "done", used);
	catalog_leave(&cat);
	running_unmark(release_id);
}

/*
 * Releases whose failure is to be noted once the transaction that failed has let
 * go of its locks.  A note that finds no room is lost: it is best effort.
 */
#define MAX_FAILED 8

static int64 failed_releases[MAX_FAILED];
static int nfailed = 0;

/* Starts a worker for each, without waiting for it or for a free slot. */
static void
send_failed(void)
{
	while (nfailed > 0)
	{
		BackgroundWorker worker;
		WorkerExtra extra;

		worker_describe(&worker, "dpngram_failed_main", "dpngram release");
		memcpy(&extra, worker.bgw_extra, sizeof(extra));
		extra.failed_database = MyDatabaseId;
		extra.failed_release = failed_releases[--nfailed];
		memcpy(worker.bgw_extra, &extra, sizeof(extra));
		(void) RegisterDynamicBackgroundWorker(&worker, NULL);
	}
}

static void
at_transaction_end(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT)
		send_failed();
}

static void
at_subtransaction_end(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
					  void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		send_failed();
}

/*
 * Notes that a release failed, from within PG_CATCH: nothing is allocated and no
 * lock is taken here, where the failed code's locks may still be held.  The
 * abort that follows sends the note.
 */
void
ledger_release_failed(int64 release_id)
{
	if (nfailed < MAX_FAILED)
		failed_releases[nfailed++] = release_id;
}

/* Settings and callbacks of the ledger; at module start. */
void
ledger_init(void)
{
	DefineCustomIntVariable("dpngram.charge_timeout",
							"Longest wait for a privacy charge to be committed.",
							NULL, &dpngram_charge_timeout, 10000, 100, INT_MAX,
							PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
}
