/*
 * worker.c
 *	  How the ledger's background workers begin, and the two small ones: the note of
 *	  a failed release, and the one that dp_doctor tries.
 *
 * This file, charge_worker.c and chain.c belong to the library dpngram_worker, which
 * a worker loads in a fraction of the time that dpngram takes with the GNU Scientific
 * Library; so they, and what they call, must do without that library and without the
 * settings of module.c.
 */
#include "postgres.h"

#include <signal.h>

#include "access/xact.h"
#include "ledger/catalog.h"
#include "ledger/charge.h"
#include "ledger/worker.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"

/* Longest wait of the worker that notes a failure, in milliseconds. */
#define NOTE_TIMEOUT 10000

PG_MODULE_MAGIC;

/* First of all: a worker can be ended, and is of the version that asked for it. */
void
worker_begin(void)
{
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	version_check_worker();
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

/* As the bootstrap superuser. */
void
worker_connect(Oid database)
{
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
}

static void
fix_setting(const char *name, const char *value)
{
	SetConfigOption(name, value, PGC_SUSET, PGC_S_OVERRIDE);
}

/*
 * The settings under which a debit is made.  A debit must be on disk before it
 * counts: synchronous_commit is at least on, and remote_apply where that is
 * configured.
 */
void
worker_settings(long lock_timeout)
{
	fix_setting("search_path", "pg_catalog, pg_temp");
	fix_setting("default_transaction_isolation", "read committed");
	fix_setting("default_transaction_read_only", "off");
	fix_setting("default_transaction_deferrable", "off");
	fix_setting("statement_timeout", "0");
	fix_setting("idle_in_transaction_session_timeout", "0");
#if PG_VERSION_NUM >= 170000
	fix_setting("transaction_timeout", "0");
#endif
	fix_setting("session_replication_role", "origin");
	/* a few rows by an index, whatever the statistics of the ledger's tables are */
	fix_setting("jit", "off");
	fix_setting("enable_seqscan", "off");
	fix_setting("enable_hashjoin", "off");
	fix_setting("enable_mergejoin", "off");
	fix_setting("max_parallel_workers_per_gather", "0");
	if (synchronous_commit < SYNCHRONOUS_COMMIT_REMOTE_FLUSH)
		fix_setting("synchronous_commit", "on");
	fix_setting("lock_timeout", psprintf("%ld", Max(lock_timeout, 1)));
}

/* Entry point of the worker that notes a failed release; nobody waits for it. */
void
dpngram_failed_main(Datum main_arg)
{
	WorkerExtra extra;
	Catalog cat;

	memcpy(&extra, MyBgworkerEntry->bgw_extra, sizeof(extra));
	worker_begin();
	worker_connect(extra.failed_database);
	worker_settings(NOTE_TIMEOUT);
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	catalog_enter(&cat);
	release_end_insert(extra.failed_release, "failed", NULL);
	catalog_leave(&cat);
	PopActiveSnapshot();
	CommitTransactionCommand();
	proc_exit(0);
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
