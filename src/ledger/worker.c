/*
 * worker.c
 *	  How the background workers are described and begin, and the small one that dp_doctor
 *	  tries.
 *
 * A worker connects as the bootstrap superuser; whoever it acts as later, nothing of
 * the session that asked for it applies to it, but settings of the database or of that role
 * would.  Those that matter are fixed.
 */
#include "postgres.h"

#include <signal.h>

#include "access/xact.h"
#include "ledger/worker.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "storage/pmsignal.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

/* How often a worker looks whether there still is a postmaster, in milliseconds. */
#define POSTMASTER_CHECK 1000

void
worker_describe(BackgroundWorker *worker, const char *function, const char *name)
{
	memset(worker, 0, sizeof(*worker));
	version_stamp(worker->bgw_extra);
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker->bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker->bgw_library_name, "dpngram", sizeof(worker->bgw_library_name));
	strlcpy(worker->bgw_function_name, function, sizeof(worker->bgw_function_name));
	strlcpy(worker->bgw_name, name, sizeof(worker->bgw_name));
	strlcpy(worker->bgw_type, name, sizeof(worker->bgw_type));
}

static bool is_worker = false;

/* Is this process a worker of ours? */
bool
worker_is_this(void)
{
	return is_worker;
}

/* Last of all, after the rollback: session locks else end with a transaction that fails only. */
static void
unlock_all(int code, Datum arg)
{
	if (MyProc != NULL)
		LockReleaseAll(DEFAULT_LOCKMETHOD, true);
}

/* Begins a transaction, whose time is now, not when the worker began. */
void
worker_transaction(void)
{
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
}

/* First of all: a worker can be ended, and is of the version that asked for it. */
void
worker_begin(void)
{
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	version_check_worker();
	is_worker = true;
	before_shmem_exit(unlock_all, 0);
}

/* The request; if it is gone, so is who asked, and the worker ends. */
dsm_segment *
worker_segment(Datum main_arg)
{
	dsm_segment *dsm = dsm_attach(DatumGetUInt32(main_arg));

	if (dsm == NULL)
		proc_exit(0);
	return dsm;
}

static TimeoutId postmaster_timeout;

/* In a signal handler: a worker that computes waits for nothing that would tell it. */
static void
check_postmaster(void)
{
	if (PostmasterIsAlive())
	{
#if PG_VERSION_NUM < 150000
		enable_timeout_after(postmaster_timeout, POSTMASTER_CHECK);
#endif
		return;
	}
	ProcDiePending = true;
	InterruptPending = true;
}

static void
watch_postmaster(void)
{
	postmaster_timeout = RegisterTimeout(USER_TIMEOUT, check_postmaster);
#if PG_VERSION_NUM >= 150000
	enable_timeout_every(postmaster_timeout,
						 TimestampTzPlusMilliseconds(GetCurrentTimestamp(), POSTMASTER_CHECK),
						 POSTMASTER_CHECK);
#else
	enable_timeout_after(postmaster_timeout, POSTMASTER_CHECK);
#endif
}

/* As the bootstrap superuser. */
void
worker_connect(Oid database)
{
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
	watch_postmaster();
}

void
fix_setting(const char *name, const char *value)
{
	SetConfigOption(name, value, PGC_SUSET, PGC_S_OVERRIDE);
}

/*
 * The settings under which a worker charges and reads.
 *
 * A debit must be on disk before it counts: synchronous_commit is at least on, and
 * remote_apply where that is configured.  The search_path would choose the functions of an
 * owner's views.  With row_security off, FORCE ROW LEVEL SECURITY would be an error instead of a
 * filter.  Statistics that any role may read would tell of the rows; and an error does not end the
 * session, which would write it to the log as it is.
 */
void
worker_settings(void)
{
	fix_setting("search_path", "pg_catalog, pg_temp");
	fix_setting("row_security", "on");
	fix_setting("default_transaction_isolation", "read committed");
	fix_setting("default_transaction_read_only", "off");
	fix_setting("default_transaction_deferrable", "off");
	fix_setting("statement_timeout", "0");
	fix_setting("idle_in_transaction_session_timeout", "0");
#if PG_VERSION_NUM >= 170000
	fix_setting("transaction_timeout", "0");
#endif
	fix_setting("session_replication_role", "origin");
	if (synchronous_commit < SYNCHRONOUS_COMMIT_REMOTE_FLUSH)
		fix_setting("synchronous_commit", "on");
	fix_setting("track_counts", "off");
	fix_setting("track_functions", "none");
	fix_setting("compute_query_id", "off");
	fix_setting("exit_on_error", "off");
}

/* Entry point of the worker that dp_doctor tries; main_arg is the segment's handle. */
void
dpngram_probe_main(Datum main_arg)
{
	dsm_segment *dsm;
	ProbeSegment *segment;

	worker_begin();
	dsm = worker_segment(main_arg);
	segment = dsm_segment_address(dsm);
	worker_connect(segment->database);
	pg_atomic_write_u32(&segment->reached, 1);
	SetLatch(&segment->asker->procLatch);
	proc_exit(0);
}
