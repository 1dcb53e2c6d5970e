/*
 * release_worker.c
 *	  The background worker of a call: it charges, reads, computes, and sends the rows.
 *
 * Nobody but the server, the database and the relation's owner has a say in its session: it
 * takes of the caller the task and a few numbers (CallSettings).  In this order:
 *
 * 1. It locks the relation until its end, and sees whether it still is the one that the caller
 *	  looked at.  What does not depend on the rows is tried: the dictionaries of a text search
 *	  configuration are loaded, the query is parsed, and all that it reads is locked, too.  A
 *	  failure costs nothing.
 * 2. It charges (debit.c).
 * 3. It reads and computes in a transaction of its own: a block, at isolation level repeatable
 *	  read, so that everything it does sees the same rows, also on other servers.  Then it
 *	  rolls back: a read is a read, whatever functions of a view write or leave open.
 * 4. It notes how the release ended, and the caller hears of it.
 *
 * After the charge no error leaves the worker but as the one message MESSAGE_FAILED, for its
 * text could hold a value of the data; the server log has its SQLSTATE.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "optimizer/paths.h"
#include "storage/ipc.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "api/progress.h"
#include "api/release.h"
#include "api/release_task.h"
#include "api/settings.h"
#include "compat.h"
#include "dpngram_errcodes.h"
#include "ledger/dataset.h"
#include "ledger/slots.h"
#include "ledger/worker.h"
#include "ngram/read_locks.h"
#include "ngram/read_query.h"

/* Longest wait for a lock of the note on how the release ended. */
#define NOTE_TIMEOUT "1s"

/*
 * And of the read, in milliseconds, unless the caller's lock_timeout is shorter.  It has an
 * end, since the caller may hold a lock that a function of a view waits for, and no deadlock
 * would be detected.
 */
#define READ_TIMEOUT 60000

/* How the run ended. */
typedef struct Outcome
{
	char *used;			 /* for the log, or NULL */
	const char *failure; /* what the method could not do, or NULL */
	const char *hint;
} Outcome;

typedef struct ReleaseWorker
{
	CallSegment *segment;
	const ReleaseTask *task;
	shm_mq_handle *in;
	shm_mq_handle *out;
	const ReleaseMethods *methods;
	void *state;
	ReadSpec spec;
	Debit debit;
	TupleDesc columns;
	Outcome outcome;
	MemoryContext context; /* as long as the worker */
} ReleaseWorker;

extern PGDLLEXPORT void dpngram_release_main(Datum main_arg);

static const ReleaseMethods *const mechanisms[] = {&ngram_methods, &union_methods, &dist_methods,
												   &terms_methods, &attack_methods};

static const ReleaseMethods *
find_methods(const char *name)
{
	for (int i = 0; i < (int) lengthof(mechanisms); i++)
		if (strcmp(mechanisms[i]->name, name) == 0)
			return mechanisms[i];
	elog(ERROR, "unknown mechanism \"%s\"", name);
}

/* ------------------------------------------------------------------------
 * before the charge
 * ------------------------------------------------------------------------ */

static void
attach_queues(ReleaseWorker *worker, dsm_segment *dsm)
{
	shm_mq *queue = call_part(worker->segment, worker->segment->queue_in);

	shm_mq_set_receiver(queue, MyProc);
	worker->in = shm_mq_attach(queue, dsm, NULL);
	queue = call_part(worker->segment, worker->segment->queue_out);
	shm_mq_set_sender(queue, MyProc);
	worker->out = shm_mq_attach(queue, dsm, NULL);
}

static void
fix_number(const char *name, double value)
{
	fix_setting(name, psprintf("%.17g", value));
}

static void
take_settings(const CallSettings *settings)
{
	fix_number("work_mem", settings->work_mem);
	fix_number("hash_mem_multiplier", settings->hash_mem_multiplier);
	fix_number("max_parallel_workers", settings->max_parallel_workers);
	fix_number("min_parallel_table_scan_size", settings->min_parallel_table_scan_size);
	fix_number("dpngram.max_parallel_workers", settings->dpngram_max_parallel_workers);
	fix_number("dpngram.charge_timeout", settings->charge_timeout);
	fix_number("dpngram.test_seed", settings->test_seed);
}

/* The session is the owner's from here on; the ledger's part changes roles by itself. */
static void
become_owner(Oid owner)
{
	if (!SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(owner)))
		ereport(ERROR,
				(errcode(ERRCODE_DP_SUSPENDED),
				 errmsg("the relation was changed meanwhile"), errhint("Try again.")));
	SetSessionAuthorization(owner, superuser_arg(owner));
}

/* Is all as the caller saw it, who had no lock since? */
static bool
unchanged(const ReleaseWorker *worker)
{
	const ReleaseTask *task = worker->task;
	Oid relid = worker->segment->relid;
	Oid owner;
	char *schema;
	char *relname;
	char *user_col;
	char *text_col;

	if (!relation_identity(relid, &owner, &schema, &relname) || owner != worker->segment->owner)
		return false;
	user_col = get_attname(relid, task->user_attnum, true);
	text_col = get_attname(relid, task->text_attnum, true);
	return user_col != NULL && strcmp(user_col, task->user_col) == 0 && text_col != NULL &&
		   strcmp(text_col, task->text_col) == 0 &&
		   get_atttype(relid, task->text_attnum) == task->text_type;
}

static ReadSpec
make_spec(const ReleaseWorker *worker)
{
	const ReleaseTask *task = worker->task;

	return (ReadSpec){.relid = worker->segment->relid,
					  .owner = worker->segment->owner,
					  .user_attnum = task->user_attnum,
					  .text_attnum = task->text_attnum,
					  .text_type = task->text_type,
					  .tokenizer_name = task->tokenizer,
					  .tokenizer = tokenizer_create_of(task->tokenizer, task->tokenizer_object,
													   task->text_type, worker->segment->owner),
					  .max_tokens = task->max_tokens};
}

static TupleDesc
make_columns(const ReleaseTask *task)
{
	TupleDesc columns = CreateTemplateTupleDesc(task->ncolumns);

	for (int i = 0; i < task->ncolumns; i++)
		TupleDescInitEntry(columns, i + 1, NULL, task->column_type[i], -1, 0);
	return columns;
}

/* Rows of one period, if there are any; what a view makes of their time is always the same. */
static void
take_period(ReleaseWorker *worker)
{
	const Debit *debit = &worker->debit;

	if (debit->zone == NULL)
		return;
	fix_setting("TimeZone", debit->zone);
	worker->spec.time_attnum = worker->segment->time_attnum;
	worker->spec.time_from = debit->time_from;
	worker->spec.time_to = debit->time_to;
}

/*
 * Under the guard of a read, as all that could call a function of the owner's: the server's
 * superuser has begun this session, and nobody is to become that again.
 */
static void
prepare(ReleaseWorker *worker)
{
	ReadGuard guard;

	MemoryContextSwitchTo(worker->context);
	become_owner(worker->segment->owner);
	guard = read_guard_begin(worker->segment->owner);
	read_locks_begin();
	read_lock(worker->segment->relid);
	AcceptInvalidationMessages();
	if (!unchanged(worker))
		ereport(ERROR,
				(errcode(ERRCODE_DP_SUSPENDED),
				 errmsg("the relation was changed meanwhile"), errhint("Try again.")));
	worker->methods = find_methods(worker->task->method);
	worker->columns = make_columns(worker->task);
	worker->spec = make_spec(worker);
	ledger_period_bounds(worker->segment, &worker->debit);
	take_period(worker);
	worker->state = worker->methods->start((const char *) worker->task + worker->task->plan,
										   worker->in);
	if (worker->methods->prepare != NULL)
		worker->methods->prepare(worker->state, &worker->spec);
	read_try(&worker->spec);
	read_locks_end();
	read_guard_end(&guard);
}

/*
 * What is wrong with the arguments is the caller's to hear, but not what the view, or a foreign
 * server's wrapper, says while the query is parsed; that is its owner's.
 */
static void
refuse(ReleaseWorker *worker, ErrorData *error)
{
	ErrorData told = *error;

	if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
	{
		told.sqlerrcode = ERRCODE_DP_CHARGE_FAILED;
		told.message = "charge could not be committed";
		told.detail = "Another transaction holds a lock on the relation, or on one that it "
					  "reads. Nothing was charged.";
		told.hint = "Try again when it is done, or raise dpngram.charge_timeout.";
	}
	else if (strncmp(unpack_sql_state(error->sqlerrcode), "NG", 2) != 0 && !worker->segment->free)
	{
		ereport(LOG,
				(errmsg("dpngram could not prepare a release: SQLSTATE %s",
						unpack_sql_state(error->sqlerrcode)),
				 errhidestmt(true), errhidecontext(true)));
		told.sqlerrcode = ERRCODE_DP_READ_FAILED;
		told.message = "the relation could not be read";
		told.detail = "Nothing was charged.";
		told.hint = "The server log has the SQLSTATE of what went wrong.";
	}
	call_refuse(worker->segment, &told);
}

static bool
prepared(ReleaseWorker *worker)
{
	volatile bool done = false;

	fix_number("lock_timeout", Max(milliseconds_left(worker->segment->deadline), 1));
	worker_transaction();
	PushActiveSnapshot(GetTransactionSnapshot());
	PG_TRY();
	{
		prepare(worker);
		PopActiveSnapshot();
		CommitTransactionCommand();
		done = true;
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(worker->context);
		error = CopyErrorData();
		FlushErrorState();
		AbortOutOfAnyTransaction();
		refuse(worker, error);
	}
	PG_END_TRY();
	return done;
}

/* ------------------------------------------------------------------------
 * the charge
 * ------------------------------------------------------------------------ */

static bool
charged(ReleaseWorker *worker)
{
	if (worker->segment->free)
	{
		call_answer(worker->segment, CALL_CHARGED);
		return true;
	}
	if (!ledger_debit(worker->segment, &worker->debit))
		return false;
	take_period(worker);
	return true;
}

/* ------------------------------------------------------------------------
 * what is sent
 * ------------------------------------------------------------------------ */

/* A message's first byte; the rest begins where a tuple may lie. */
static void
send_message(ReleaseWorker *worker, ReleaseMessage kind, const void *data, Size size, bool flush)
{
	char head[MAXIMUM_ALIGNOF] = {kind};
	shm_mq_iovec part[2] = {{.data = head, .len = sizeof(head)}, {.data = data, .len = size}};

	if (shm_mq_sendv(worker->out, part, 2, false, flush) != SHM_MQ_SUCCESS)
		proc_exit(0); /* the caller is gone */
}

static void
send_row(void *state, Datum *values, bool *nulls)
{
	ReleaseWorker *worker = state;
	MinimalTuple tuple = heap_form_minimal_tuple(worker->columns, values, nulls);

	CHECK_FOR_INTERRUPTS();
	send_message(worker, MESSAGE_ROW, tuple, tuple->t_len, false);
	pfree(tuple);
}

/* An error that may be told. */
static void
send_error(ReleaseWorker *worker, int sqlstate, const char *message, const char *hint)
{
	const char *part[3] = {unpack_sql_state(sqlstate), message, hint ? hint : ""};
	StringInfoData all;

	initStringInfo(&all);
	for (int i = 0; i < 3; i++)
		appendBinaryStringInfo(&all, part[i], strlen(part[i]) + 1);
	send_message(worker, MESSAGE_ERROR, all.data, all.len, true);
}

/* ------------------------------------------------------------------------
 * after the charge
 * ------------------------------------------------------------------------ */

/* A transaction block, as other servers' extensions want one. */
static void
begin_block(int lock_timeout)
{
	fix_setting("default_transaction_isolation", "repeatable read");
	fix_number("lock_timeout", lock_timeout > 0 ? Min(lock_timeout, READ_TIMEOUT) : READ_TIMEOUT);
	worker_transaction();
	BeginTransactionBlock();
	CommitTransactionCommand();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
}

/* Notes how it ended; without a note the log says that it was charged. */
static void
note_end(const ReleaseWorker *worker, const char *status, const char *used)
{
	fix_setting("default_transaction_isolation", "read committed");
	fix_setting("lock_timeout", NOTE_TIMEOUT);
	PG_TRY();
	{
		if (worker->segment->release_id != 0)
			ledger_release_end(worker->segment->release_id, status, used);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(worker->context);
		FlushErrorState();
		AbortOutOfAnyTransaction();
	}
	PG_END_TRY();
}

/* Read and count, with the randomness of this call, and send the rows; under the guard, too. */
static void
compute(ReleaseWorker *worker)
{
	const ReleaseMethods *methods = worker->methods;
	Outcome *outcome = &worker->outcome;
	RowSink sink = {send_row, worker};
	Noise noise;

	MemoryContextSwitchTo(worker->context);
	(void) read_guard_begin(worker->segment->owner); /* until the transaction is rolled back */
	progress_begin(worker->task->settings.progress ? worker->out : NULL);
	progress_reading();
	noise_init(&noise, dpngram_test_seed != 0, dpngram_test_seed);
	if (methods->prepare != NULL)
		methods->prepare(worker->state, &worker->spec);
	methods->run(worker->state, &worker->spec, &noise, worker->segment->chosen);
	noise_clear(&noise);
	if (methods->failure != NULL)
		outcome->failure = methods->failure(worker->state, &outcome->hint);
	if (outcome->failure != NULL)
		return;
	methods->rows(worker->state, &sink);
	if (methods->used != NULL)
		outcome->used = methods->used(worker->state);
}

/*
 * From within PG_CATCH: the log has the SQLSTATE, and the caller hears that it failed.  Who owns
 * the relation may know more.
 */
static void
fail(ReleaseWorker *worker)
{
	ErrorData *error;

	MemoryContextSwitchTo(worker->context);
	error = CopyErrorData();
	FlushErrorState();
	AbortOutOfAnyTransaction();
	if (worker->segment->free)
	{
		send_error(worker, error->sqlerrcode, error->message, error->hint);
		return;
	}
	ereport(LOG,
			(errmsg("dpngram release " INT64_FORMAT " failed with SQLSTATE %s",
					worker->segment->release_id, unpack_sql_state(error->sqlerrcode)),
			 errhidestmt(true), errhidecontext(true)));
	note_end(worker, "failed", NULL);
	send_message(worker, MESSAGE_FAILED, "", 1, true);
}

static void
read_and_send(ReleaseWorker *worker)
{
	begin_block(worker->task->settings.lock_timeout);
	PG_TRY();
	{
		compute(worker);
	}
	PG_CATCH();
	{
		fail(worker);
		proc_exit(0);
	}
	PG_END_TRY();
	AbortOutOfAnyTransaction();
	MemoryContextSwitchTo(worker->context);
	note_end(worker, worker->outcome.failure == NULL ? "done" : "failed", worker->outcome.used);
	if (worker->outcome.failure != NULL)
		send_error(worker, ERRCODE_PROGRAM_LIMIT_EXCEEDED, worker->outcome.failure,
				   worker->outcome.hint);
	else
		send_message(worker, MESSAGE_DONE, "", 0, true);
}

/* Entry point; main_arg is the segment's handle.  If that is gone, so is the caller. */
void
dpngram_release_main(Datum main_arg)
{
	dsm_segment *dsm;
	ReleaseWorker *worker;
	MemoryContext context;

	worker_begin();
	dsm = worker_segment(main_arg);
	context = AllocSetContextCreate(TopMemoryContext, "dpngram release", ALLOCSET_DEFAULT_SIZES);
	worker = MemoryContextAllocZero(context, sizeof(ReleaseWorker));
	worker->context = context;
	worker->segment = dsm_segment_address(dsm);
	worker_connect(worker->segment->database);
	MemoryContextSwitchTo(context);
	worker_settings();
	slot_occupy(worker->segment->slot);
	if (worker->segment->task_size == 0)
	{
		(void) ledger_debit(worker->segment, &worker->debit);
		proc_exit(0);
	}
	worker->task = call_part(worker->segment, worker->segment->task);
	take_settings(&worker->task->settings);
	attach_queues(worker, dsm);
	if (prepared(worker) && charged(worker))
		read_and_send(worker);
	proc_exit(0);
}
