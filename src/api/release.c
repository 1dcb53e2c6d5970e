/*
 * release.c
 *	  The way of every release over a relation, in the caller's session: check, price, ask a
 *	  background worker, take its rows.
 *
 * Before the charge everything that the caller wrote is checked, so that a mistake costs
 * nothing.  The worker charges, reads and computes (ledger/call.c, release_worker.c); no
 * row of the relation is met in this session, and nothing that can be set, locked, created
 * or looked at in it bears on the read.  What comes back is the result, or one fixed error,
 * because the original message could carry a value of the data.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "optimizer/paths.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "api/release.h"
#include "api/release_task.h"
#include "api/settings.h"
#include "compat.h"
#include "dpngram_errcodes.h"

/* ------------------------------------------------------------------------
 * what the worker is told
 * ------------------------------------------------------------------------ */

static CallSettings
present_settings(void)
{
	return (CallSettings){.work_mem = work_mem,
						  .hash_mem_multiplier = hash_mem_multiplier,
						  .max_parallel_workers = max_parallel_workers,
						  .min_parallel_table_scan_size = min_parallel_table_scan_size,
						  .dpngram_max_parallel_workers = dpngram_max_parallel_workers,
						  .charge_timeout = dpngram_charge_timeout,
						  .lock_timeout = LockTimeout,
						  .test_seed = dpngram_test_seed,
						  .progress = dpngram_progress};
}

static LedgerTask
make_task(const ReleaseCall *call, const ReadSpec *spec, TupleDesc columns)
{
	const char *tokenizer = call->target->tokenizer;
	Size plan = MAXALIGN(offsetof(ReleaseTask, tokenizer) + strlen(tokenizer) + 1);
	ReleaseTask *task = palloc0(plan + call->plan_size);

	strlcpy(task->method, call->methods->name, NAMEDATALEN);
	task->settings = present_settings();
	Assert(columns->natts <= RELEASE_MAX_COLUMNS);
	task->ncolumns = columns->natts;
	for (int i = 0; i < columns->natts; i++)
		task->column_type[i] = TupleDescAttr(columns, i)->atttypid;
	task->user_attnum = spec->user_attnum;
	task->text_attnum = spec->text_attnum;
	task->text_type = spec->text_type;
	strlcpy(task->user_col, call->target->user_col, NAMEDATALEN);
	strlcpy(task->text_col, call->target->text_col, NAMEDATALEN);
	task->tokenizer_object = tokenizer_object(spec->tokenizer);
	task->max_tokens = spec->max_tokens;
	task->plan = plan;
	strcpy(task->tokenizer, tokenizer);
	memcpy((char *) task + plan, call->plan, call->plan_size);
	return (LedgerTask){task, plan + call->plan_size, call->feed, call->state};
}

/* ------------------------------------------------------------------------
 * what the worker sends
 * ------------------------------------------------------------------------ */

static void
put_result(void *state, Datum *values, bool *nulls)
{
	ReturnSetInfo *rsinfo = state;

	CHECK_FOR_INTERRUPTS();
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* A sink into a function's own result, after InitMaterializedSRF(). */
RowSink
result_sink(ReturnSetInfo *rsinfo)
{
	return (RowSink){put_result, rsinfo};
}

/* Whatever went wrong, the caller learns that something did, and no more. */
pg_noreturn static void
read_failed(int64 release_id)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_READ_FAILED),
			 errmsg("the relation could not be read"),
			 release_id == 0 ?
				 errdetail("What went wrong is not told, because it may depend on the data.") :
				 errdetail("The release stays charged. What went wrong is not told, because it "
						   "may depend on the data."),
			 release_id == 0 ?
				 errhint("The server log has the SQLSTATE of what went wrong.") :
				 errhint("The relation's owner can look into it with the number of the "
						 "release, " INT64_FORMAT ", in the server log.",
						 release_id)));
}

/* What is no secret is told. */
pg_noreturn static void
tell_error(int64 release_id, const char *sqlstate)
{
	const char *message = sqlstate + strlen(sqlstate) + 1;
	const char *hint = message + strlen(message) + 1;

	ereport(ERROR,
			(errcode(MAKE_SQLSTATE(sqlstate[0], sqlstate[1], sqlstate[2], sqlstate[3],
								   sqlstate[4])),
			 errmsg_internal("%s", message),
			 release_id == 0 ? 0 : errdetail("The release stays charged."),
			 hint[0] != '\0' ? errhint("%s", hint) : 0));
}

/* The next message; waits for it, and can be cancelled meanwhile.  Its first byte aside. */
static ReleaseMessage
next_message(LedgerCall *call, Size *size, char **data)
{
	void *message;

	CHECK_FOR_INTERRUPTS();
	if (shm_mq_receive(call->in, size, &message, false) != SHM_MQ_SUCCESS)
	{
		*size = 0;
		return MESSAGE_FAILED;
	}
	*data = (char *) message + MAXIMUM_ALIGNOF;
	*size -= MAXIMUM_ALIGNOF;
	return (ReleaseMessage) * (char *) message;
}

/* Takes all that the worker sends; after a failure that it told, it has noted that itself. */
static void
take_rows(LedgerCall *call, ReturnSetInfo *rsinfo, volatile bool *noted)
{
	int64 release_id = call->segment->release_id;
	TupleTableSlot *slot = MakeSingleTupleTableSlot(rsinfo->setDesc, &TTSOpsMinimalTuple);
	char *data;
	Size size;

	for (;;)
	{
		switch (next_message(call, &size, &data))
		{
			case MESSAGE_ROW:
				ExecStoreMinimalTuple((MinimalTuple) data, slot, false);
				tuplestore_puttupleslot(rsinfo->setResult, slot);
				break;
			case MESSAGE_PROGRESS:
				ereport(NOTICE,
						(errmsg_internal("%s", data), errhidestmt(true), errhidecontext(true)));
				break;
			case MESSAGE_DONE:
				ExecDropSingleTupleTableSlot(slot);
				return;
			case MESSAGE_ERROR:
				*noted = true;
				tell_error(release_id, data);
			case MESSAGE_FAILED:
				*noted = size > 0;
				read_failed(release_id);
		}
	}
}

/* A failure, a cancel above all, ends the worker; someone else has to note it for the log. */
static void
receive(LedgerCall *call, ReturnSetInfo *rsinfo)
{
	volatile bool noted = false;

	PG_TRY();
	{
		take_rows(call, rsinfo, &noted);
	}
	PG_CATCH();
	{
		if (!noted && call->segment->release_id != 0)
			ledger_release_failed(call->segment->release_id);
		PG_RE_THROW();
	}
	PG_END_TRY();
	ledger_call_end(call);
}

/* ------------------------------------------------------------------------
 * the way of a call
 * ------------------------------------------------------------------------ */

static void
warn_of_seed(void)
{
	if (dpngram_test_seed != 0)
		ereport(WARNING,
				(errmsg("dpngram.test_seed is set: this release has predictable noise and "
						"protects nobody")));
}

/*
 * release_texts: a private release of the target's texts, debited, into the function's
 * result.
 */
void
release_texts(FunctionCallInfo fcinfo, const ReleaseCall *call)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	LedgerAccess *access = ledger_open(call->target->relid);
	ReadSpec spec = target_spec(access, call->target);
	LedgerRequest request = call->request(call->state, &access->terms);
	LedgerTask task;

	request.seeded = dpngram_test_seed != 0;
	warn_of_seed();
	task = make_task(call, &spec, rsinfo->setDesc);
	UnlockRelationOid(access->relid, AccessShareLock);
	receive(ledger_call(access, &request, &task), rsinfo);
}

/*
 * release_owned: the same for who owns the relation, and without a debit.  The function's
 * name is for the error where another calls, and for the warning to the owner, whom it tells
 * what the result tells.
 */
void
release_owned(FunctionCallInfo fcinfo, const ReleaseCall *call, const char *function,
			  const char *told)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ReadSpec spec = target_owner_spec(call->target, function, true);
	LedgerTask task = make_task(call, &spec, rsinfo->setDesc);

	ereport(WARNING,
			(errmsg("the result of %s is not differentially private", function),
			 errdetail("%s", told)));
	UnlockRelationOid(spec.relid, AccessShareLock);
	receive(ledger_call_free(spec.relid, spec.owner, &task), rsinfo);
}
