/*
 * release_end.c
 *	  How a release ended, for the log.
 *
 * The worker that computes a release notes it: done, or failed.  Where the caller ends the
 * call, by a cancel or a timeout, the worker is ended, too, and can't; so the caller has another
 * worker note the failure, which nobody waits for.  All of it is best effort: what
 * was debited stands without.
 */
#include "postgres.h"

#include "access/xact.h"
#include "ledger/catalog.h"
#include "ledger/worker.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"

/*
 * ledger_release_end: notes in a transaction of its own, outside of any, how a release
 * ended; used is JSON on what it really spent, or NULL.  It is seen at once, but the caller
 * does not wait for the disk.
 */
void
ledger_release_end(int64 release_id, const char *status, const char *used)
{
	Catalog cat;

	worker_transaction();
	PushActiveSnapshot(GetTransactionSnapshot());
	catalog_enter(&cat);
	(void) set_config_option("synchronous_commit", "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_LOCAL, true, 0, false);
	release_end_insert(release_id, status, used);
	catalog_leave(&cat);
	PopActiveSnapshot();
	CommitTransactionCommand();
}

/* Longest wait for a lock of the worker that notes a failure. */
#define NOTE_TIMEOUT "10s"

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

/* Callbacks; at module start. */
void
release_end_init(void)
{
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
}

/* Entry point of the worker that notes a failed release; nobody waits for it. */
void
dpngram_failed_main(Datum main_arg)
{
	WorkerExtra extra;

	memcpy(&extra, MyBgworkerEntry->bgw_extra, sizeof(extra));
	worker_begin();
	worker_connect(extra.failed_database);
	worker_settings();
	fix_setting("lock_timeout", NOTE_TIMEOUT);
	ledger_release_end(extra.failed_release, "failed", NULL);
	proc_exit(0);
}
