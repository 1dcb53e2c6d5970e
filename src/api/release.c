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
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "api/price.h"
#include "api/release.h"
#include "api/settings.h"
#include "api/shadow.h"
#include "compat.h"
#include "dpngram_errcodes.h"
#include "ngram/extract.h"
#include "ngram/read.h"

/* The number of a column that the caller may name as text. */
static AttrNumber
check_columns(const LedgerAccess *access, const NgramArguments *arguments)
{
	AttrNumber attnum;
	ListCell *cell;
	bool allowed = access->text_columns == NIL;

	if (strcmp(arguments->user_col, access->user_col) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_WRONG_PRIVACY_UNIT),
				 errmsg("\"%s\" is not the privacy unit of the dataset \"%s\"",
						arguments->user_col, access->terms.dataset),
				 errdetail("The dataset protects the persons named by its column \"%s\".",
						   access->user_col)));
	attnum = get_attnum(access->relid, arguments->text_col);
	foreach (cell, access->text_columns)
		allowed = allowed || strcmp(lfirst(cell), arguments->text_col) == 0;
	if (attnum <= 0 || !allowed)
		ereport(ERROR,
				(errcode(ERRCODE_DP_COLUMN),
				 errmsg("column \"%s\" does not exist or may not be queried",
						arguments->text_col)));
	return attnum;
}

static LedgerReceipt
charge_plans(const LedgerAccess *access, const NgramArguments *arguments, const NgramPlan *plans,
			 int nplans)
{
	LedgerRequest request = ngram_request(arguments, plans, nplans);

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

/* What is to be read, settled before the charge. */
static ReadSpec
read_spec(const LedgerAccess *access, const NgramArguments *arguments)
{
	AttrNumber text_attnum = check_columns(access, arguments);
	ReadSpec spec = {
		.relid = access->relid,
		.owner = access->owner,
		.user_attnum = access->user_attnum,
		.text_attnum = text_attnum,
		.tokenizer = tokenizer_create(arguments->tokenizer,
									  get_atttype(access->relid, text_attnum)),
		.max_tokens = arguments->max_tokens};

	if (access->period.any)
	{
		spec.time_attnum = access->time_attnum;
		spec.time_from = ledger_time_bound(access, access->period.from);
		spec.time_to = ledger_time_bound(access, access->period.to);
	}
	return spec;
}

/* Read and extract, in memory of its own. */
static int
run(const ReadSpec *spec, const NgramPlan *plan, ReleasedGrams *released)
{
	int nestlevel;
	Noise noise;
	Extraction extraction = {
		.plan = plan,
		.vocabulary = vocabulary_create(),
		.corpus = corpus_create(extract_memory_limit(), plan->query.pruning == PRUNING_SINGLE),
		.noise = &noise,
		.memory_limit = extract_memory_limit()};

	nestlevel = quiet_settings();
	read_corpus(spec, extraction.vocabulary, extraction.corpus);
	noise_init(&noise, dpngram_test_seed != 0, dpngram_test_seed);
	extract_ngrams(&extraction, released);
	noise_clear(&noise);
	corpus_free(extraction.corpus);
	AtEOXact_GUC(false, nestlevel);
	return extraction.steps_done;
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

/* Whatever went wrong, the caller learns that something did, and no more. */
static void
mask_error(const LedgerReceipt *receipt, MemoryContext context)
{
	ErrorData *error;

	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
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

/* For the log: how far it came, and the share of delta that the thresholds really had. */
static char *
what_was_used(const NgramPlan *plan, int steps)
{
	return psprintf("{\"steps\": %d, \"planned\": %d, \"threshold_share\": %.12g}", steps,
					plan->nsteps, plan->delta_add / plan->query.delta);
}

static void
return_rows(ReturnSetInfo *rsinfo, const ReleasedGrams *released, bool with_length)
{
	for (Size i = 0; i < released->n; i++)
	{
		const ReleasedGram *gram = &released->gram[i];
		Datum values[4] = {Int32GetDatum(gram->length),
						   PointerGetDatum(cstring_to_text_with_len(gram->text, gram->text_len)),
						   Float8GetDatum(gram->weight / (double) DP_LATTICE_ONE),
						   Float8GetDatum(gram->sigma / (double) DP_LATTICE_ONE)};
		bool nulls[4] = {false};
		int first = with_length ? 0 : 1;

		CHECK_FOR_INTERRUPTS();
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values + first, nulls + first);
	}
}

/*
 * Release the n-grams that the arguments ask for into the function's result:
 * rows (n, text, weight, stddev), or without n.
 */
void
release_ngrams(FunctionCallInfo fcinfo, const NgramArguments *arguments, bool with_length)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	NgramPlan plans[NGRAM_MAX_PLANS];
	ReleasedGrams released = {0};
	volatile int steps = 0;
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context;
	BufferUsage usage = pgBufferUsage;
	WalUsage wal = pgWalUsage;
	LedgerAccess *access = ledger_open(arguments->relid);
	ReadSpec spec;
	int nplans;
	LedgerReceipt receipt;
	CommandDest client = whereToSendOutput;

	if (arguments->period != NULL)
		ledger_choose_period(access, arguments->period);
	spec = read_spec(access, arguments);
	nplans = ngram_plans(&access->terms, arguments, plans);
	refuse_shadows(access->relid, access->owner);
	receipt = charge_plans(access, arguments, plans, nplans);

	context = AllocSetContextCreate(caller, "dpngram release", ALLOCSET_DEFAULT_SIZES);
	PG_TRY();
	{
		MemoryContextSwitchTo(context);
		whereToSendOutput = DestNone;
		steps = run(&spec, &plans[receipt.chosen], &released);
		return_rows(rsinfo, &released, with_length);
	}
	PG_CATCH();
	{
		whereToSendOutput = client;
		mask_error(&receipt, caller);
	}
	PG_END_TRY();
	whereToSendOutput = client;
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	pgBufferUsage = usage;
	pgWalUsage = wal;
	ledger_release_done(receipt.release_id, what_was_used(&plans[receipt.chosen], steps));
}
