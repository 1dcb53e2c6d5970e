/*
 * ledger_test.c
 *	  Lets SQL charge the privacy ledger with prices of its own choice, so that
 *	  the ledger can be tested without a mechanism.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "ledger/call.h"
#include "ledger/period.h"
#include "ledger/worker.h"
#include "miscadmin.h"
#include "storage/dsm.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(ledger_test_charge);
PG_FUNCTION_INFO_V1(ledger_test_charge_in);
PG_FUNCTION_INFO_V1(ledger_test_events);
PG_FUNCTION_INFO_V1(ledger_test_open);
PG_FUNCTION_INFO_V1(ledger_test_period);
PG_FUNCTION_INFO_V1(ledger_test_ask);

static void *
ledger_symbol(const char *name)
{
	return (void *) load_external_function("$libdir/dpngram", name, true, NULL);
}

/* The extension's function of that name, from its loaded library. */
#define LEDGER(name) ((__typeof__(&(name))) ledger_symbol(#name))

static void
read_prices(ArrayType *array, LedgerRequest *request)
{
	Datum *elements;
	int n;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &elements, NULL, &n);
	request->ncandidates = n / 3;
	if (request->ncandidates > LEDGER_MAX_CANDIDATES)
		elog(ERROR, "too many prices");
	for (int i = 0; i < request->ncandidates; i++)
	{
		static const LedgerEventKind kind[3] = {EVENT_GAUSSIAN, EVENT_PURE, EVENT_DELTA};
		LedgerPrice *price = &request->candidates[i];

		price->nevents = 3;
		price->event = palloc0(sizeof(LedgerEvent) * 3);
		for (int j = 0; j < 3; j++)
		{
			price->event[j].kind = kind[j];
			price->event[j].count = 1;
			price->event[j].amount = DatumGetFloat8(elements[3 * i + j]);
		}
	}
}

/* A charge, and nothing read; which of the prices was debited, from 0, and the release. */
static int
charge_only(const LedgerAccess *access, const LedgerRequest *request, int64 *release_id)
{
	const LedgerTask nothing = {0};
	LedgerCall *call = LEDGER(ledger_call)(access, request, &nothing);
	int chosen = call->segment->chosen;

	*release_id = call->segment->release_id;
	LEDGER(ledger_call_end)
	(call);
	return chosen;
}

/* What becomes of a release, as far as the ledger sees it. */
static void
work(int64 release_id, float8 seconds, const char *outcome)
{
	PG_TRY();
	{
		DirectFunctionCall1(pg_sleep, Float8GetDatum(seconds));
		if (strcmp(outcome, "error") == 0)
			elog(ERROR, "the mechanism failed");
	}
	PG_CATCH();
	{
		LEDGER(ledger_release_failed)
		(release_id);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

Datum
ledger_test_charge(PG_FUNCTION_ARGS)
{
	char *outcome = text_to_cstring(PG_GETARG_TEXT_PP(3));
	LedgerAccess *access = LEDGER(ledger_open)(PG_GETARG_OID(0));
	LedgerRequest request = {
		.mechanism = "ledger_test",
		.parameters = text_to_cstring(PG_GETARG_TEXT_PP(4)),
		/* what accounting basic debits; declarations with fewer arguments leave it at (1, 0) */
		.epsilon = PG_NARGS() > 5 ? PG_GETARG_FLOAT8(5) : 1,
		.delta = PG_NARGS() > 5 ? PG_GETARG_FLOAT8(6) : 0};
	int64 release_id;
	int chosen;

	(void) LEDGER(ledger_release_failed); /* so that nothing is loaded in PG_CATCH */
	read_prices(PG_GETARG_ARRAYTYPE_P(1), &request);
	chosen = charge_only(access, &request, &release_id);
	work(release_id, PG_GETARG_FLOAT8(2), outcome);
	PG_RETURN_INT32(chosen + 1);
}

/* A charge for the period that a moment is in. */
Datum
ledger_test_charge_in(PG_FUNCTION_ARGS)
{
	LedgerAccess *access = LEDGER(ledger_open)(PG_GETARG_OID(0));
	LedgerRequest request = {.mechanism = "ledger_test", .epsilon = 1};
	int64 release_id;

	read_prices(PG_GETARG_ARRAYTYPE_P(1), &request);
	LEDGER(ledger_choose_period)
	(access, text_to_cstring(PG_GETARG_TEXT_PP(2)));
	PG_RETURN_INT32(charge_only(access, &request, &release_id) + 1);
}

/* The calendar period that a moment is in, or the rolling window that ends with it. */
Datum
ledger_test_period(PG_FUNCTION_ARGS)
{
	Renewal renewal = LEDGER(renewal_arguments)(text_to_cstring(PG_GETARG_TEXT_PP(0)),
												text_to_cstring(PG_GETARG_TEXT_PP(1)),
												text_to_cstring(PG_GETARG_TEXT_PP(2)));
	LedgerPeriod period = LEDGER(period_at)(&renewal, PG_GETARG_TIMESTAMPTZ(3));
	Datum values[2] = {TimestampTzGetDatum(period.from), TimestampTzGetDatum(period.to)};
	bool nulls[2] = {false};
	TupleDesc descriptor;

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls)));
}

static LedgerEventKind
event_kind(const char *name)
{
	static const char *const names[] = {
		[EVENT_GAUSSIAN] = "gaussian",
		[EVENT_LAPLACE] = "laplace",
		[EVENT_EXPONENTIAL] = "exponential",
		[EVENT_PURE] = "pure",
		[EVENT_LATTICE] = "lattice",
		[EVENT_DELTA] = "delta",
	};

	for (int i = 0; i < (int) lengthof(names); i++)
		if (strcmp(names[i], name) == 0)
			return (LedgerEventKind) i;
	elog(ERROR, "no event is called %s", name);
}

/* Charges one event of a kind, several times; the call asks for epsilon and delta. */
Datum
ledger_test_events(PG_FUNCTION_ARGS)
{
	LedgerAccess *access = LEDGER(ledger_open)(PG_GETARG_OID(0));
	LedgerEvent event = {
		.kind = event_kind(text_to_cstring(PG_GETARG_TEXT_PP(1))),
		.count = PG_GETARG_INT32(3),
		.amount = PG_GETARG_FLOAT8(2)};
	LedgerRequest request = {
		.mechanism = "ledger_test",
		.epsilon = PG_GETARG_FLOAT8(4),
		.delta = PG_GETARG_FLOAT8(5),
		.ncandidates = 1,
		.candidates = {{1, &event}}};
	int64 release_id;

	(void) charge_only(access, &request, &release_id);
	PG_RETURN_INT64(release_id);
}

static Datum
text_array(List *strings)
{
	Datum *elements = palloc(sizeof(Datum) * (list_length(strings) + 1));
	int n = 0;
	ListCell *cell;

	foreach (cell, strings)
		elements[n++] = CStringGetTextDatum((char *) lfirst(cell));
	return PointerGetDatum(construct_array(elements, n, TEXTOID, -1, false, TYPALIGN_INT));
}

Datum
ledger_test_open(PG_FUNCTION_ARGS)
{
	LedgerAccess *access = LEDGER(ledger_open)(PG_GETARG_OID(0));
	Datum values[5];
	bool nulls[5] = {false};
	TupleDesc descriptor;

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[0] = CStringGetTextDatum(access->terms.dataset);
	values[1] = CStringGetTextDatum(access->user_col);
	values[2] = CStringGetTextDatum(GetUserNameFromId(access->owner, false));
	values[3] = CStringGetTextDatum(GetUserNameFromId(access->caller, false));
	values[4] = text_array(access->text_columns);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls)));
}

/* A request for a pure epsilon of 1, as the ledger's own. */
static dsm_segment *
segment_make(const LedgerAccess *access)
{
	Size parameters = MAXALIGN(offsetof(CallSegment, event) + sizeof(LedgerEvent));
	dsm_segment *dsm = dsm_create(parameters + sizeof("{}"), 0);
	CallSegment *segment = dsm_segment_address(dsm);

	memset(segment, 0, sizeof(CallSegment));
	pg_atomic_init_u32(&segment->state, CALL_PENDING);
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
	segment->deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), 10000);
	segment->epsilon = 1;
	segment->ncandidates = 1;
	segment->nevents[0] = 1;
	segment->event[0] = (LedgerEvent){EVENT_PURE, 1, 1, 0};
	segment->parameters = parameters;
	strcpy(segment->mechanism, "ledger_test");
	strcpy(call_part(segment, parameters), "{}");
	return dsm;
}

/*
 * Asks a worker for a debit, as a session does whose library has our version,
 * or else has 0.1.0, which doesn't say so; was it made?
 */
Datum
ledger_test_ask(PG_FUNCTION_ARGS)
{
	LedgerAccess *access = LEDGER(ledger_open)(PG_GETARG_OID(0));
	bool ours = PG_GETARG_BOOL(1);
	dsm_segment *dsm = segment_make(access);
	CallSegment *segment = dsm_segment_address(dsm);
	BackgroundWorker worker;
	BackgroundWorkerHandle *handle;
	CallState state;

	LEDGER(worker_describe)
	(&worker, "dpngram_release_main", "dpngram release");
	if (!ours)
		memset(worker.bgw_extra, 0, sizeof(worker.bgw_extra));
	worker.bgw_main_arg = UInt32GetDatum(dsm_segment_handle(dsm));
	worker.bgw_notify_pid = MyProcPid;
	if (!RegisterDynamicBackgroundWorker(&worker, &handle))
		elog(ERROR, "no free background worker");
	if (WaitForBackgroundWorkerShutdown(handle) != BGWH_STOPPED)
		elog(ERROR, "the postmaster died");
	state = pg_atomic_read_u32(&segment->state);
	dsm_detach(dsm);
	PG_RETURN_BOOL(state == CALL_CHARGED);
}
