/*
 * release.c
 *	  The way of every private release over a relation, in one place and one
 *	  order: check, price, charge (committed), run, return rows.
 *
 * Before the charge everything that the caller wrote is checked, so that a
 * mistake costs nothing.  After it nothing is refunded, and whatever goes
 * wrong while the relation is read becomes one fixed error: the original
 * message could carry a value of the data.  Cancel and shutdown pass,
 * without their context, which could, too.  During the run nothing is sent to
 * the client: functions of a view may RAISE what they like (INFO passes any
 * client_min_messages), and settings that any user may change (trace_sort,
 * debug_print_plan) would report counts of the data.  Buffer and WAL counters are
 * put back afterwards, so that EXPLAIN (ANALYZE, BUFFERS, WAL) shows nothing of
 * the read.
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "api/progress.h"
#include "api/release.h"
#include "api/settings.h"
#include "api/shadow.h"
#include "compat.h"
#include "dpngram_errcodes.h"

static LedgerReceipt
charge(const LedgerAccess *access, LedgerRequest request)
{
	request.seeded = dpngram_test_seed != 0;
	if (request.seeded)
		ereport(WARNING,
				(errmsg("dpngram.test_seed is set: this release has predictable noise and "
						"protects nobody")));
	return ledger_charge(access, &request);
}

/*
 * From here on the session's statistics say nothing of the run, which any role
 * may read: how many rows of which table it met (pg_stat_xact_all_tables), how
 * often it called which function, what it wrote to temporary files
 * (pg_stat_database), how many rows its query had (pg_stat_statements).  And an
 * error does not end the session, which would write it to the server log as it is.
 */
static int
quiet_settings(void)
{
	static const char *const settings[][2] = {{"track_counts", "off"},
											  {"track_functions", "none"},
											  {"compute_query_id", "off"},
											  {"exit_on_error", "off"}};
	int nestlevel = NewGUCNestLevel();

	for (int i = 0; i < (int) lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_SUSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	return nestlevel;
}

/* Read and count, with the randomness of this call. */
static void
run(const ReleaseMethods *methods, void *state, const ReadSpec *spec, int chosen)
{
	int nestlevel = quiet_settings();
	Noise noise;

	noise_init(&noise, dpngram_test_seed != 0, dpngram_test_seed);
	methods->run(state, spec, &noise, chosen);
	noise_clear(&noise);
	AtEOXact_GUC(false, nestlevel);
}

/*
 * Cancel, timeout or shutdown of this very session.  A view's function or a
 * foreign server may use the same SQLSTATEs with a text of its own.
 */
static bool
is_interrupt(const ErrorData *error)
{
	return ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION &&
		   error->funcname != NULL && strcmp(error->funcname, "ProcessInterrupts") == 0;
}

/*
 * Whatever a method wants to know of the relation before the charge.  It is the caller's to
 * hear what is wrong with the arguments, but not what a foreign server's wrapper says of
 * that server while it plans.
 */
static void
prepare(const ReleaseMethods *methods, void *state, const ReadSpec *spec)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		methods->prepare(state, spec);
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (is_interrupt(error) || error->sqlerrcode == ERRCODE_DP_ARGUMENT)
			PG_RE_THROW();
		FlushErrorState();
		ereport(LOG_SERVER_ONLY,
				(errmsg("dpngram could not prepare a release: SQLSTATE %s",
						unpack_sql_state(error->sqlerrcode)),
				 errhidestmt(true), errhidecontext(true)));
		ereport(ERROR,
				(errcode(ERRCODE_DP_READ_FAILED), errmsg("the relation could not be read"),
				 errdetail("Nothing was charged."),
				 errhint("The server log has the SQLSTATE of what went wrong.")));
	}
	PG_END_TRY();
}

/*
 * Temporary files that the failed run left are closed at the transaction's abort, when
 * messages go to the client again: under log_temp_files, with their sizes.  So these are
 * logged no more, until the abort is done and puts the setting back.
 */
static void
hush_abort(void)
{
	(void) set_config_option("log_temp_files", "-1", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
}

/* Whatever went wrong, the caller learns that something did, and no more. */
static void
mask_error(const LedgerReceipt *receipt, MemoryContext context)
{
	ErrorData *error;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
	hush_abort();
	ledger_release_failed(receipt->release_id);
	/* without its context, where a function of the owner's may stand with its data */
	if (is_interrupt(error))
		ereport(ERROR,
				(errcode(error->sqlerrcode), errmsg_internal("%s", error->message)));
	ereport(LOG_SERVER_ONLY,
			(errmsg("dpngram release " INT64_FORMAT " failed with SQLSTATE %s",
					receipt->release_id, unpack_sql_state(error->sqlerrcode)),
			 errhidestmt(true), errhidecontext(true)));
	ereport(ERROR,
			(errcode(ERRCODE_DP_READ_FAILED),
			 errmsg("the relation could not be read"),
			 errdetail("The release stays charged. What went wrong is not told, because it may "
					   "depend on the data."),
			 errhint("The relation's owner can look into it with the number of the "
					 "release, " INT64_FORMAT ", in the server log.",
					 receipt->release_id)));
}

/* What could not be done, which is no secret, is told. */
static void
tell_failure(const LedgerReceipt *receipt, const ReleaseMethods *methods, void *state)
{
	const char *hint = "";
	const char *failure = methods->failure ? methods->failure(state, &hint) : NULL;

	if (failure == NULL)
		return;
	ledger_release_failed(receipt->release_id);
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("%s", failure),
			 errdetail("The release stays charged."), errhint("%s", hint)));
}

/*
 * Release what the methods make of the target's texts into the function's result.
 */
void
release_texts(FunctionCallInfo fcinfo, const TextTarget *target, const ReleaseMethods *methods,
			  void *state)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context;
	BufferUsage usage = pgBufferUsage;
	WalUsage wal = pgWalUsage;
	LedgerAccess *access = ledger_open(target->relid);
	ReadSpec spec = target_spec(access, target);
	LedgerRequest request;
	LedgerReceipt receipt;
	CommandDest client = whereToSendOutput;
	Progress outer;

	if (methods->prepare)
		prepare(methods, state, &spec);
	request = methods->request(state, &access->terms);
	refuse_shadows(access->relid, access->owner);
	receipt = charge(access, request);

	context = AllocSetContextCreate(caller, "dpngram release", ALLOCSET_DEFAULT_SIZES);
	outer = progress_begin(client);
	PG_TRY();
	{
		MemoryContextSwitchTo(context);
		whereToSendOutput = DestNone;
		progress_reading();
		run(methods, state, &spec, receipt.chosen);
		methods->rows(state, rsinfo);
	}
	PG_CATCH();
	{
		whereToSendOutput = client;
		progress_end(outer);
		mask_error(&receipt, caller);
	}
	PG_END_TRY();
	whereToSendOutput = client;
	progress_end(outer);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	pgBufferUsage = usage;
	pgWalUsage = wal;
	tell_failure(&receipt, methods, state);
	ledger_release_done(receipt.release_id, methods->used(state));
}
