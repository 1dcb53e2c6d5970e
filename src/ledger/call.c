/*
 * call.c
 *	  A call, from the side of the session that asks: debits a dataset for good, before any
 *	  of its rows is read, and has the rows read by another session than the caller's.
 *
 * A row that the caller's transaction writes is no budget: the caller sees the
 * result and rolls back.  And what the caller's session reads is not private: its settings,
 * isolation level, temporary objects, cursors, locks and counters are the
 * caller's to choose and to look at.  So a dynamic background worker does both.  It debits, in
 * a transaction of its own (debit.c), and after that commit was flushed to disk it reads the
 * relation, in another (api/release_worker.c), and hands back rows.  The debit is
 * never taken back: not by ROLLBACK, not by an error, a cancel, a terminated
 * session or a crash.
 *
 * Locking protocol
 *
 * 1. A lock-manager lock "object (dpngram.dataset, id)", ExclusiveLock.  The caller takes it
 *	  and lets it go again before it asks for anything else, so that it waits here for an
 *	  owner's uncommitted change: in a queue that pg_locks shows, where a deadlock
 *	  is found by the deadlock detector, and where waiting costs no worker.
 * 2. One of the slots for calls, in the order of asking (slots.c), for the whole call.
 * 3. The worker locks the relation, in AccessShareLock, until it ends.  The caller holds no
 *	  lock on it meanwhile: between two that wait for one worker, one of them by a lock and the
 *	  other on its latch, no detector would find the deadlock.  So what the caller found
 *	  out about the relation may be out of date, and the worker looks again.
 * 4. The worker takes the first lock, for a moment at most; if an owner has come in between,
 *	  nothing is charged, and the caller begins again at 1.
 * 5. The row lock of dpngram.dataset (FOR UPDATE), taken by the worker, and by the owner's
 *	  functions through the update that each of them makes.  It decides: caps are
 *	  compared and the sums raised under it.  It is needed besides the first because a
 *	  superuser's own SQL knows no protocol.
 *
 * A caller whose own transaction holds what the worker waits for would wait in vain:
 * ledger_open() refuses datasets and relations that this transaction changed, and for the rest
 * every wait ends at dpngram.charge_timeout.
 *
 * Why the caller never gets unpaid rows
 *
 * The worker reads only after CommitTransactionCommand() returned with synchronous_commit on:
 * the debit is on disk (and on the synchronous standbys, if there are any).  Just before that
 * commit it exchanges CALL_PENDING for CALL_COMMITTING; a caller that gives up (a timeout, a
 * cancel, its end) exchanges it for CALL_ABANDONED.  One of them comes first: if it is
 * the caller, the worker's transaction is rolled back and nothing was charged.  Else the
 * debit stands although nobody may be left to read, the safe direction.
 *
 * The segment is dynamic shared memory, which lives while anyone is attached.  When the
 * caller's transaction, subtransaction or process ends before the call does, the segment is
 * detached and the worker ended by that (call_detached).  It also holds the address of
 * the caller's PGPROC, whose latch the worker sets; PGPROCs are never freed, so if the caller
 * left, some other session wakes up once for nothing.
 */
#include "postgres.h"

#include <limits.h>

#include "access/xlog.h"
#include "compat.h"
#include "dpngram_errcodes.h"
#include "ledger/access.h"
#include "ledger/call.h"
#include "ledger/running.h"
#include "ledger/slots.h"
#include "ledger/worker.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

int dpngram_charge_timeout = 10000;

/* The worker is waited for a little longer than it waits for locks itself. */
#define GRACE 500

/* Pause between two attempts to get a background worker, in milliseconds. */
#define WORKER_PAUSE 2

/* Bytes of each queue. */
#define QUEUE_SIZE ((Size) 64 * 1024)

pg_noreturn static void
call_failed(const char *detail, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_CHARGE_FAILED),
			 errmsg("charge could not be committed"),
			 errdetail_internal("%s", detail),
			 errhint("%s", hint)));
}

/* ------------------------------------------------------------------------
 * the request
 * ------------------------------------------------------------------------ */

static int
count_events(const LedgerRequest *request)
{
	int n = 0;

	for (int i = 0; i < request->ncandidates; i++)
		n += request->candidates[i].nevents;
	return n;
}

static Size
add_part(Size *size, Size part)
{
	Size offset = *size;

	*size = add_size(offset, MAXALIGN(part));
	return offset;
}

/* A segment with room for all parts, and who asks for what to be done. */
static dsm_segment *
segment_create(int nevents, const char *parameters, const LedgerTask *task)
{
	CallSegment head = {0};
	Size size = MAXALIGN(offsetof(CallSegment, event) + nevents * sizeof(LedgerEvent));
	dsm_segment *dsm;
	CallSegment *segment;

	head.parameters = add_part(&size, strlen(parameters) + 1);
	head.task = add_part(&size, task->size);
	head.task_size = task->size;
	head.queue_in = add_part(&size, QUEUE_SIZE);
	head.queue_out = add_part(&size, QUEUE_SIZE);
	dsm = dsm_create(size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
	if (dsm == NULL)
		call_failed("There is no free dynamic shared memory segment. Nothing was charged.",
					"Raise max_connections, which their number follows.");

	segment = dsm_segment_address(dsm);
	memcpy(segment, &head, offsetof(CallSegment, event));
	pg_atomic_init_u32(&segment->state, CALL_PENDING);
	segment->asker = MyProc;
	segment->database = MyDatabaseId;
	segment->caller = GetUserId();
	segment->session_role = GetSessionUserId();
	strcpy(call_part(segment, segment->parameters), parameters);
	if (task->size > 0)
		memcpy(call_part(segment, segment->task), task->bytes, task->size);
	return dsm;
}

static dsm_segment *
charged_segment(const LedgerAccess *access, const LedgerRequest *request, const LedgerTask *task)
{
	dsm_segment *dsm = segment_create(count_events(request),
									  request->parameters ? request->parameters : "{}", task);
	CallSegment *segment = dsm_segment_address(dsm);

	segment->caller = access->caller;
	segment->relid = access->relid;
	segment->owner = access->owner;
	segment->dataset = access->dataset_id;
	segment->relation = access->relation_id;
	segment->user_attnum = access->user_attnum;
	segment->time_attnum = access->time_attnum;
	segment->epsilon = request->epsilon;
	segment->delta = request->delta;
	segment->seeded = request->seeded;
	segment->period = access->period;
	segment->ncandidates = request->ncandidates;
	for (int i = 0; i < request->ncandidates; i++)
	{
		const LedgerPrice *price = &request->candidates[i];

		segment->nevents[i] = price->nevents;
		memcpy(&segment->event[call_first_event(segment, i)], price->event,
			   price->nevents * sizeof(LedgerEvent));
	}
	strlcpy(segment->mechanism, request->mechanism, NAMEDATALEN);
	return dsm;
}

/* ------------------------------------------------------------------------
 * the worker's life
 * ------------------------------------------------------------------------ */

/* Nobody waits for the worker any longer; true: nothing is charged, nor will be. */
static bool
give_up(CallSegment *segment)
{
	uint32 pending = CALL_PENDING;

	return pg_atomic_compare_exchange_u32(&segment->state, &pending, CALL_ABANDONED) ||
		   pending == CALL_ABANDONED || pending == CALL_REFUSED || pending == CALL_BUSY;
}

/* The segment goes: normally at the call's end, else because the caller fails or dies. */
static void
call_detached(dsm_segment *dsm, Datum arg)
{
	LedgerCall *call = (LedgerCall *) DatumGetPointer(arg);

	if (!call->ended && call->handle != NULL)
	{
		(void) give_up(call->segment);
		TerminateBackgroundWorker(call->handle);
	}
	MemoryContextDelete(call->context);
}

/* In memory of its own: what a failed subtransaction detaches is gone before its segments. */
static LedgerCall *
call_create(dsm_segment *dsm)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "dpngram call",
												  ALLOCSET_SMALL_SIZES);
	LedgerCall *call = MemoryContextAllocZero(context, sizeof(LedgerCall));
	MemoryContext old = MemoryContextSwitchTo(context);
	shm_mq *queue;

	call->context = context;
	call->dsm = dsm;
	call->segment = dsm_segment_address(dsm);
	on_dsm_detach(dsm, call_detached, PointerGetDatum(call));
	queue = shm_mq_create(call_part(call->segment, call->segment->queue_in), QUEUE_SIZE);
	shm_mq_set_sender(queue, MyProc);
	call->out = shm_mq_attach(queue, dsm, NULL);
	queue = shm_mq_create(call_part(call->segment, call->segment->queue_out), QUEUE_SIZE);
	shm_mq_set_receiver(queue, MyProc);
	call->in = shm_mq_attach(queue, dsm, NULL);
	MemoryContextSwitchTo(old);
	return call;
}

/* Our slot is ours, but others may have taken the server's; so this may take a few attempts. */
static void
start_worker(LedgerCall *call, TimestampTz deadline)
{
	MemoryContext old = MemoryContextSwitchTo(call->context);
	BackgroundWorker worker;

	worker_describe(&worker, "dpngram_release_main", "dpngram release");
	worker.bgw_main_arg = UInt32GetDatum(dsm_segment_handle(call->dsm));
	worker.bgw_notify_pid = MyProcPid;
	while (!RegisterDynamicBackgroundWorker(&worker, &call->handle))
	{
		call->handle = NULL;
		if (milliseconds_left(deadline) <= 0)
			call_failed("There was no free background worker within dpngram.charge_timeout. "
						"Nothing was charged.",
						"Raise max_worker_processes.");
		pause_for(WORKER_PAUSE);
	}
	shm_mq_set_handle(call->out, call->handle);
	shm_mq_set_handle(call->in, call->handle);
	MemoryContextSwitchTo(old);
}

/* The worker is gone, or late: says whether it may have charged. */
pg_noreturn static void
no_answer(CallSegment *segment, const char *what, const char *hint)
{
	call_failed(psprintf("%s %s", what,
						 give_up(segment) ? "Nothing was charged." :
											"The budget may have been debited."),
				hint);
}

static bool
answered(uint32 state)
{
	return state == CALL_CHARGED || state == CALL_REFUSED || state == CALL_BUSY;
}

/*
 * Waits for the worker's decision.  The state is looked at after the worker's
 * status, for a worker that answers and ends has done both.  One that is just committing when
 * time is over is given as long again: it depends on the disk alone, or on a standby.
 */
static CallState
await(LedgerCall *call)
{
	CallSegment *segment = call->segment;
	TimestampTz deadline = TimestampTzPlusMilliseconds(segment->deadline, GRACE);
	bool late = false;

	for (;;)
	{
		pid_t pid;
		BgwHandleStatus status = GetBackgroundWorkerPid(call->handle, &pid);
		uint32 state = pg_atomic_read_u32(&segment->state);
		long left;

		if (answered(state))
		{
			pg_read_barrier();
			return state;
		}
		if (status == BGWH_STOPPED || status == BGWH_POSTMASTER_DIED)
			no_answer(segment, "The background worker ended without an answer.",
					  "The server log may tell why.");
		left = milliseconds_left(deadline);
		if (left <= 0)
		{
			if (late || give_up(segment))
				no_answer(segment,
						  "The background worker did not answer within dpngram.charge_timeout.",
						  "Raise dpngram.charge_timeout.");
			late = true;
			deadline = TimestampTzPlusMilliseconds(deadline, dpngram_charge_timeout);
			continue;
		}
		pause_for(left);
	}
}

/* Raises, in the caller's session, what the worker found. */
static void
report_refusal(const CallSegment *segment)
{
	ereport(ERROR,
			(errcode(segment->sqlstate),
			 errmsg_internal("%s", segment->message),
			 segment->detail[0] ? errdetail_internal("%s", segment->detail) : 0,
			 segment->hint[0] ? errhint("%s", segment->hint) : 0));
}

/* Refuses a call that asks for less than its dataset sells; with a hair for what rounding does. */
void
request_check_least(const LedgerTerms *terms, const LedgerRequest *request)
{
	if (request->epsilon < terms->min_epsilon * (1 - 1e-9))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("epsilon is smaller than dataset \"%s\" allows for a call",
						terms->dataset),
				 errhint("It must be at least %g.", terms->min_epsilon)));
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

/* The worker has done its part: lets go of it. */
void
ledger_call_end(LedgerCall *call)
{
	int64 release_id = call->segment->release_id;
	int slot = call->segment->slot;

	call->ended = true;
	dsm_detach(call->dsm);
	if (release_id != 0)
		running_unmark(release_id);
	slot_free(slot);
}

/*
 * Here no call can be made: on a standby nobody can take a turn; and a worker's call, which a
 * function of its view makes, would wait for the turn of its own caller.
 */
static void
refuse_here(void)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot start a background worker for a call during recovery"),
				 errhint("Run the query on the primary server.")));
	if (worker_is_this())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a call cannot be made while another one reads for it")));
}

/* One attempt: a worker is started, told all, and asked. */
static LedgerCall *
attempt(dsm_segment *dsm, int slot, const LedgerTask *task, TimestampTz deadline,
		CallState *state)
{
	LedgerCall *call = call_create(dsm);

	call->segment->deadline = deadline;
	call->segment->slot = slot;
	start_worker(call, deadline);
	if (task->feed != NULL)
		task->feed(task->state, call);
	*state = await(call);
	if (*state == CALL_REFUSED)
		report_refusal(call->segment);
	return call;
}

/* The first lock of the protocol, let go at once. */
static void
await_owner(int32 dataset, TimestampTz deadline)
{
	LOCKTAG tag = dataset_locktag(dataset);

	if (!lock_until(&tag, deadline))
		call_failed("Another transaction holds the dataset's lock. Nothing was charged.",
					"Try again when the owner's change is done, or raise "
					"dpngram.charge_timeout.");
	LockRelease(&tag, ExclusiveLock, false);
}

/*
 * ledger_call: debits the first candidate price that fits every lane of the dataset and of
 * the caller's grant, committed when this returns; the worker goes on with the task, and
 * ledger_call_end() ends it.  The receipt is in the segment.
 *
 * Prices are events with upper bounds as amounts.  Errors:
 * NG001 no candidate fits; NG002, NG003, NG007 if the dataset ended, the grant was
 * revoked or the binding broke since ledger_open(); NG006 the charge could not
 * be committed in time.  After an error nothing is read.
 */
LedgerCall *
ledger_call(const LedgerAccess *access, const LedgerRequest *request, const LedgerTask *task)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													   dpngram_charge_timeout);
	LedgerCall *call;
	CallState state;

	refuse_unwritable();
	refuse_here();
	request_check(request);
	request_check_least(&access->terms, request);
	for (;;)
	{
		int slot;

		await_owner(access->dataset_id, deadline);
		slot = slot_take(deadline);
		call = attempt(charged_segment(access, request, task), slot, task, deadline, &state);
		if (state == CALL_CHARGED)
			break;
		ledger_call_end(call);
	}
	running_mark(call->segment->release_id);
	return call;
}

/*
 * ledger_call_free: the same for who owns the relation, and asks no ledger for leave.
 */
LedgerCall *
ledger_call_free(Oid relid, Oid owner, const LedgerTask *task)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													   dpngram_charge_timeout);
	dsm_segment *dsm;
	CallSegment *segment;
	CallState state;
	int slot;

	refuse_here();
	slot = slot_take(deadline);
	dsm = segment_create(0, "{}", task);
	segment = dsm_segment_address(dsm);
	segment->relid = relid;
	segment->owner = owner;
	segment->free = true;
	return attempt(dsm, slot, task, deadline, &state);
}

/* Settings of the ledger; at module start. */
void
ledger_init(void)
{
	DefineCustomIntVariable("dpngram.charge_timeout",
							"Longest wait for a privacy charge to be committed.",
							NULL, &dpngram_charge_timeout, 10000, 100, INT_MAX,
							PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("dpngram.max_calls",
							"Sets how many calls may have a background worker at a time.",
							"Further ones wait for their turn, up to dpngram.charge_timeout. "
							"Zero means half of max_worker_processes.",
							&dpngram_max_calls, 0, 0, PG_INT16_MAX, PGC_SUSET, 0, NULL, NULL,
							NULL);
	release_end_init();
}
