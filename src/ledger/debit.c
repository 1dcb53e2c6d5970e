/*
 * debit.c
 *	  Decides about a charge and commits it, in the background worker; the protocol is
 *	  described in call.c.
 *
 * The worker acts as the ledger's owner.  Errors: what the ledger itself decides (class NG) is
 * handed to the caller as it is; it holds names, amounts and limits, all of them public.
 * Anything else becomes one fixed message, and the server log has the truth.
 */
#include "postgres.h"

#include "access/xact.h"
#include "dpngram_errcodes.h"
#include "ledger/afford.h"
#include "ledger/binding.h"
#include "ledger/slots.h"
#include "ledger/worker.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/*
 * Longest wait for an owner who came between the caller's look at the dataset's lock and
 * ours, in milliseconds.
 */
#define OWNER_TIMEOUT 250

/* What the worker waits for; it decides what a lock that is not had means. */
typedef enum DebitStage
{
	STAGE_DATASET,
	STAGE_ROW
} DebitStage;

/* A setting until the visit's end. */
static void
set_local(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
}

/* Waiting for a lock ends early enough for the answer to come before the deadline. */
static void
set_lock_timeout(long milliseconds)
{
	set_local("lock_timeout", psprintf("%ld", Max(milliseconds, 1)));
}

/* A few rows by an index, whatever the statistics of the ledger's tables are. */
static void
set_simple_plans(void)
{
	set_local("jit", "off");
	set_local("enable_seqscan", "off");
	set_local("enable_hashjoin", "off");
	set_local("enable_mergejoin", "off");
	set_local("max_parallel_workers_per_gather", "0");
}

/* The row lock of the protocol; refuses a dataset that has ended meanwhile. */
static Dataset *
dataset_for_update(const Catalog *cat, int32 id)
{
	Dataset *dataset = dataset_lock_row(id) ? dataset_by_id(cat, id) : NULL;

	if (dataset == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_PROTECTED),
				 errmsg("the dataset has been ended by its owner")));
	return dataset;
}

/* The lane that is short, and what can be done. */
static void
refuse_exhausted(const Dataset *dataset, const Shortage *shortage)
{
	const char *lane = lane_names[shortage->lane];
	const char *asked = lane_text(shortage->asked);
	const char *remaining = lane_text(shortage->remaining);
	const char *period = dataset->renewal.every != NULL ? " for its period" : "";

	if (shortage->role != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BUDGET_EXHAUSTED),
				 errmsg("privacy budget of role \"%s\" in dataset \"%s\" is exhausted",
						shortage->role, dataset->name),
				 errdetail("The call needs %s of lane %s, of which %s remains in the grant%s.",
						   asked, lane, remaining, period),
				 errhint("Ask for less. The dataset's owner can grant more by dp_grant.")));
	ereport(ERROR,
			(errcode(ERRCODE_DP_BUDGET_EXHAUSTED),
			 errmsg("privacy budget of dataset \"%s\" is exhausted", dataset->name),
			 shortage->overdrawn && period[0] == '\0' ?
				 errdetail("The relation's former dataset spent more of lane %s than this one "
						   "has.",
						   lane) :
				 errdetail("The call needs %s of lane %s, of which %s remains%s.", asked, lane,
						   remaining, period),
			 errhint("Ask for less. Its owner can raise the budget by dp_set_budget.")));
}

static LaneAmounts
price_of(CallSegment *segment, int candidate)
{
	LedgerPrice price = {segment->nevents[candidate],
						 &segment->event[call_first_event(segment, candidate)]};

	return accounting_price(&price, segment->epsilon, segment->delta);
}

/* The first candidate, and the first right, that holds it; else an error. */
static const Grant *
choose(const Catalog *cat, const Dataset *dataset, const List *grants, CallSegment *segment,
	   int *chosen)
{
	LaneAmounts prices[LEDGER_MAX_CANDIDATES];
	Shortage shortage = {0};
	const Grant *grant;

	for (int i = 0; i < segment->ncandidates; i++)
		prices[i] = price_of(segment, i);
	grant = afford(cat, dataset, grants, &segment->period, prices, segment->ncandidates, chosen,
				   &shortage);
	if (grant == NULL)
		refuse_exhausted(dataset, &shortage);
	return grant;
}

/* Its role's present name is taken over as well, so that a dump carries it. */
static void
debit_grantee(int32 id, const LaneAmounts *price)
{
	CatalogArgs args = {0};

	arg_int4(&args, id);
	arg_lanes(&args, price);
	if (catalog_change("UPDATE dpngram.grantee SET mu2_spent = mu2_spent + $2, "
					   "eps_pure_spent = eps_pure_spent + $3, "
					   "delta_add_spent = delta_add_spent + $4, rho_spent = rho_spent + $5, "
					   "rho_delta_spent = rho_delta_spent + $6, "
					   "basic_epsilon_spent = basic_epsilon_spent + $7, "
					   "basic_delta_spent = basic_delta_spent + $8, "
					   "role = coalesce((SELECT a.rolname FROM dpngram.grantee_binding b "
					   "JOIN pg_catalog.pg_roles a ON a.oid = b.role WHERE b.grantee = id), role) "
					   "WHERE id = $1",
					   &args) != 1)
		elog(ERROR, "grant %d vanished", id);
}

/* The debit and its row in the log, in the worker's open transaction. */
static int64
debit(const Dataset *dataset, const DatasetRelation *relation, const Grant *grant,
	  CallSegment *segment, int chosen)
{
	LedgerPrice price = {segment->nevents[chosen],
						 &segment->event[call_first_event(segment, chosen)]};
	ReleaseEntry entry = {0};

	entry.price = price_of(segment, chosen);
	if (grant->id != 0)
		debit_grantee(grant->id, &entry.price);
	dataset_refresh_names(dataset);
	binding_note_children(relation);

	entry.dataset = dataset->id;
	entry.relation = relation_text(relation);
	entry.session_role = segment->session_role;
	entry.caller = segment->caller;
	entry.grantee = grant->id;
	entry.mechanism = segment->mechanism;
	entry.parameters = call_part(segment, segment->parameters);
	entry.asked = true;
	entry.epsilon = segment->epsilon;
	entry.delta = segment->delta;
	entry.events = accounting_events_json(&price);
	entry.period = segment->period;
	entry.seeded = segment->seeded;
	return release_insert(&entry);
}

/* Is the binding the one by which the caller is going to read? */
static bool
as_opened(const DatasetRelation *relation, const CallSegment *segment)
{
	const Binding *binding = &relation->binding;

	return relation->bound && relation->id == segment->relation &&
		   binding->relid == segment->relid && binding->owner == segment->owner &&
		   binding->user_attnum == segment->user_attnum &&
		   binding->time_attnum == segment->time_attnum;
}

/*
 * The relation that the caller opened, if it is in the dataset as it was then: taken
 * out and in again it may have another privacy unit, or other columns to be named.
 */
static const DatasetRelation *
relation_recheck(const Dataset *dataset, const CallSegment *segment)
{
	ListCell *cell;

	foreach (cell, dataset->relations)
	{
		if (as_opened(lfirst(cell), segment))
			return lfirst(cell);
	}
	ereport(ERROR,
			(errcode(ERRCODE_DP_SUSPENDED),
			 errmsg("dataset \"%s\" was bound anew meanwhile", dataset->name),
			 errhint("Try again.")));
	return NULL; /* not reached */
}

/* Refuses what changed since ledger_open() looked; the caller's rights else. */
static List *
recheck(const Catalog *cat, const Dataset *dataset, const DatasetRelation *relation,
		const CallSegment *segment)
{
	List *grants = grants_usable(cat, dataset, relation, segment->caller);

	if (grants == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_GRANTED),
				 errmsg("the grant has been revoked")));
	binding_check(dataset, relation);
	if (segment->period.any != (dataset->renewal.every != NULL))
		elog(ERROR, "dataset %d and its caller disagree about periods", dataset->id);
	return grants;
}

/* The bounds of the rows' time, which the read will need. */
static void
note_period(Debit *debit_made, const Dataset *dataset, const CallSegment *segment)
{
	const Renewal *renewal = &dataset->renewal;
	MemoryContext old;

	if (!segment->period.any)
		return;
	old = MemoryContextSwitchTo(TopMemoryContext);
	debit_made->zone = pstrdup(renewal->zone);
	debit_made->time_from =
		renewal_time_bound(renewal, segment->relid, segment->time_attnum, segment->period.from);
	debit_made->time_to =
		renewal_time_bound(renewal, segment->relid, segment->time_attnum, segment->period.to);
	MemoryContextSwitchTo(old);
}

/*
 * ledger_period_bounds: the same before the charge, without a lock of the ledger, for the query
 * to be tried with.
 */
void
ledger_period_bounds(const CallSegment *segment, Debit *debit_made)
{
	Catalog cat;
	const Dataset *dataset;

	if (!segment->period.any)
		return;
	catalog_enter(&cat);
	dataset = dataset_by_id(&cat, segment->dataset);
	if (dataset != NULL && dataset->renewal.every != NULL)
		note_period(debit_made, dataset, segment);
	catalog_leave(&cat);
}

/* Within a visit: the second look at what the caller found, and the debit. */
static int64
decide(const Catalog *cat, CallSegment *segment, Debit *debit_made, int *chosen)
{
	Dataset *dataset = dataset_for_update(cat, segment->dataset);
	const DatasetRelation *relation = relation_recheck(dataset, segment);
	List *grants = recheck(cat, dataset, relation, segment);
	const Grant *grant = choose(cat, dataset, grants, segment, chosen);

	note_period(debit_made, dataset, segment);
	return debit(dataset, relation, grant, segment, *chosen);
}

/* From here on the caller can't give up any more; if it has, all is as it was. */
static void
commit(CallSegment *segment)
{
	uint32 pending = CALL_PENDING;

	if (!pg_atomic_compare_exchange_u32(&segment->state, &pending, CALL_COMMITTING))
		proc_exit(0);
	CommitTransactionCommand();
}

/* Decides under the row lock and debits; the answer stands when this returns. */
static void
charge_commit(CallSegment *segment, Debit *debit_made, volatile DebitStage *stage)
{
	Catalog cat;
	int64 release_id;
	int chosen;
	long left;

	worker_transaction();
	PushActiveSnapshot(GetTransactionSnapshot());
	catalog_enter(&cat);
	set_simple_plans();

	set_lock_timeout(OWNER_TIMEOUT);
	*stage = STAGE_DATASET;
	dataset_lock(segment->dataset);
	*stage = STAGE_ROW;
	left = milliseconds_left(segment->deadline);
	set_lock_timeout(left - left / 8);
	release_id = decide(&cat, segment, debit_made, &chosen);

	catalog_leave(&cat);
	PopActiveSnapshot();
	commit(segment);
	segment->release_id = release_id;
	segment->chosen = chosen;
}

static bool
is_own_error(int sqlstate)
{
	const char *code = unpack_sql_state(sqlstate);

	return code[0] == 'N' && code[1] == 'G';
}

/* The answer is in place: says so, and wakes the caller. */
void
call_answer(CallSegment *segment, CallState state)
{
	pg_write_barrier();
	pg_atomic_write_u32(&segment->state, state);
	SetLatch(&segment->asker->procLatch);
}

/* What fits, in whole characters. */
static void
copy_text(char *to, const char *from)
{
	int len = from == NULL ? 0 : pg_mbcliplen(from, strlen(from), CALL_TEXT - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

/* call_refuse: answers with an error, as it is, after the transaction's end. */
void
call_refuse(CallSegment *segment, const ErrorData *error)
{
	segment->sqlstate = error->sqlerrcode;
	copy_text(segment->message, error->message);
	copy_text(segment->detail, error->detail);
	copy_text(segment->hint, error->hint);
	call_answer(segment, CALL_REFUSED);
}

/* Writes the error of a debit into the segment; one that is not ours goes to the log only. */
static void
answer_error(CallSegment *segment, const ErrorData *error)
{
	const char *detail = "The server log has the background worker's error. Nothing was charged.";
	const char *hint = "";

	if (is_own_error(error->sqlerrcode))
	{
		call_refuse(segment, error);
		return;
	}
	segment->sqlstate = ERRCODE_DP_CHARGE_FAILED;
	strlcpy(segment->message, "charge could not be committed", sizeof(segment->message));
	if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
	{
		detail = "Another transaction holds the dataset's row, or a table of the ledger. "
				 "Nothing was charged.";
		hint = "Try again when it is done, or raise dpngram.charge_timeout.";
	}
	strlcpy(segment->detail, detail, sizeof(segment->detail));
	strlcpy(segment->hint, hint, sizeof(segment->hint));
	call_answer(segment, CALL_REFUSED);
}

/*
 * ledger_debit: debits what the segment asks for, committed and flushed when this returns
 * true; false: it was refused.  The answer stands in either case.
 */
bool
ledger_debit(CallSegment *segment, Debit *debit_made)
{
	volatile bool charged = false;
	volatile DebitStage stage = STAGE_DATASET;

	PG_TRY();
	{
		charge_commit(segment, debit_made, &stage);
		call_answer(segment, CALL_CHARGED);
		charged = true;
	}
	PG_CATCH();
	{
		ErrorData *error;
		bool busy;

		MemoryContextSwitchTo(TopMemoryContext);
		error = CopyErrorData();
		busy = error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE && stage == STAGE_DATASET;
		if (!busy && !is_own_error(error->sqlerrcode))
			EmitErrorReport();
		FlushErrorState();
		AbortOutOfAnyTransaction();
		if (busy)
			call_answer(segment, CALL_BUSY);
		else
			answer_error(segment, error);
	}
	PG_END_TRY();
	return charged;
}
