/*
 * charge_worker.c
 *	  The background worker that decides about a charge and commits it; the
 *	  protocol is described in charge.c.
 *
 * The worker connects as the bootstrap superuser and acts as the ledger's owner.
 * Nothing of the caller's session applies to it, but settings of the database or
 * of that role would: those that matter are fixed in worker_settings() (worker.c).
 *
 * Errors: what the ledger itself decides (class NG) is handed to the caller as it
 * is; it holds names, amounts and limits, all of them public.  Anything else
 * becomes one fixed message, and the server log has the truth.
 */
#include "postgres.h"

#include "access/xact.h"
#include "dpngram_errcodes.h"
#include "ledger/afford.h"
#include "ledger/binding.h"
#include "ledger/charge.h"
#include "ledger/worker.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* Waiting for a lock ends early enough for the answer to come before the deadline. */
static long
lock_timeout_until(TimestampTz deadline)
{
	long left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);

	return left - left / 8;
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
price_of(ChargeSegment *segment, int candidate)
{
	LedgerPrice price = {segment->nevents[candidate],
						 &segment->event[charge_first_event(segment, candidate)]};

	return accounting_price(&price, segment->epsilon, segment->delta);
}

/* The first candidate, and the first right, that holds it; else an error. */
static const Grant *
choose(const Catalog *cat, const Dataset *dataset, const List *grants, ChargeSegment *segment,
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
	  ChargeSegment *segment, int chosen)
{
	LedgerPrice price = {segment->nevents[chosen],
						 &segment->event[charge_first_event(segment, chosen)]};
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
	entry.parameters = charge_parameters(segment);
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
as_opened(const DatasetRelation *relation, const ChargeSegment *segment)
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
relation_recheck(const Dataset *dataset, const ChargeSegment *segment)
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
		const ChargeSegment *segment)
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

/* Decides under the row lock and debits; the answer stands when this returns. */
static void
charge_commit(ChargeSegment *segment, int64 *release_id, int *chosen)
{
	Catalog cat;
	Dataset *dataset;
	const DatasetRelation *relation;
	List *grants;
	const Grant *grant;

	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	catalog_enter(&cat);

	dataset = dataset_for_update(&cat, segment->dataset);
	relation = relation_recheck(dataset, segment);
	grants = recheck(&cat, dataset, relation, segment);
	grant = choose(&cat, dataset, grants, segment, chosen);
	*release_id = debit(dataset, relation, grant, segment, *chosen);

	catalog_leave(&cat);
	PopActiveSnapshot();
	CommitTransactionCommand();
}

static bool
is_own_error(int sqlstate)
{
	const char *code = unpack_sql_state(sqlstate);

	return code[0] == 'N' && code[1] == 'G';
}

/* Writes the error into the segment; one that is not ours goes to the log only. */
static void
answer_error(ChargeSegment *segment, const ErrorData *error)
{
	const char *detail = "The server log has the background worker's error.";

	if (is_own_error(error->sqlerrcode))
	{
		segment->sqlstate = error->sqlerrcode;
		strlcpy(segment->message, error->message, sizeof(segment->message));
		strlcpy(segment->detail, error->detail ? error->detail : "", sizeof(segment->detail));
		strlcpy(segment->hint, error->hint ? error->hint : "", sizeof(segment->hint));
		return;
	}
	segment->sqlstate = ERRCODE_DP_CHARGE_FAILED;
	strlcpy(segment->message, "charge could not be committed", sizeof(segment->message));
	if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
		detail = "Another transaction holds the dataset's row.";
	strlcpy(segment->detail, detail, sizeof(segment->detail));
}

/* The answer is in place: says so, and wakes the caller. */
static void
answer(ChargeSegment *segment, ChargeState state)
{
	pg_write_barrier();
	pg_atomic_write_u32(&segment->state, state);
	SetLatch(&segment->asker->procLatch);
}

/* From within PG_CATCH: ends the transaction, then answers with the error. */
static void
answer_failure(ChargeSegment *segment)
{
	ErrorData *error;

	MemoryContextSwitchTo(TopMemoryContext);
	error = CopyErrorData();
	if (!is_own_error(error->sqlerrcode))
		EmitErrorReport();
	FlushErrorState();
	AbortOutOfAnyTransaction();
	answer_error(segment, error);
	answer(segment, CHARGE_REFUSED);
}

/*
 * Entry point of the charge worker; main_arg is the segment's handle.  If the
 * segment is gone, so is its caller, and nothing is charged.
 */
void
dpngram_charge_main(Datum main_arg)
{
	dsm_segment *dsm;
	ChargeSegment *segment;

	worker_begin();
	dsm = worker_segment(main_arg);
	segment = dsm_segment_address(dsm);
	worker_connect(segment->database);

	PG_TRY();
	{
		int64 release_id;
		int chosen;

		worker_settings(lock_timeout_until(segment->deadline));
		charge_commit(segment, &release_id, &chosen);
		segment->release_id = release_id;
		segment->chosen = chosen;
		answer(segment, CHARGE_COMMITTED);
	}
	PG_CATCH();
	{
		answer_failure(segment);
	}
	PG_END_TRY();
	proc_exit(0);
}
