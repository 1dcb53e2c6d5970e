/*
 * catalog.c
 *	  How the ledger's C code reads and writes the ledger's tables: by SPI, as
 *	  the tables' owner, whoever calls.
 *
 * Nobody but the extension's owner has a privilege on the tables in schema
 * dpngram, so catalog_enter() switches to that role for the visit and
 * catalog_leave() switches back; after an error the abort of the transaction
 * restores both role and settings.  Within a visit search_path is fixed and
 * every name of ours is qualified, so that nothing of the caller's can be
 * called by mistake.  Nothing is built into a statement's text: all values are
 * parameters.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "executor/spi.h"
#include "ledger/catalog.h"
#include "ledger/version.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_lsn.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/* OID of dpngram.dataset: its owner owns the ledger, and locks are named by it. */
Oid
catalog_class(void)
{
	Oid schema = get_namespace_oid("dpngram", true);
	Oid class = OidIsValid(schema) ? get_relname_relid("dataset", schema) : InvalidOid;

	if (!OidIsValid(class))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("the privacy ledger's tables do not exist"),
				 errhint("Create extension dpngram in this database.")));
	return class;
}

/* The timeline on which this server writes; not to be asked during recovery. */
int64
catalog_timeline(void)
{
#if PG_VERSION_NUM >= 150000
	return (int64) GetWALInsertionTimeLine();
#else
	return (int64) ThisTimeLineID;
#endif
}

static Oid
class_owner(Oid class)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(class));
	Oid owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", class);
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/*
 * Begins a visit: connects SPI and becomes the ledger's owner.  The tables may be of
 * another version than the library, and have other columns.
 */
void
catalog_enter_any_version(Catalog *cat)
{
	Oid owner = class_owner(catalog_class());

	cat->outer = CurrentMemoryContext;
	GetUserIdAndSecContext(&cat->caller, &cat->security_context);
	SetUserIdAndSecContext(owner, cat->security_context | SECURITY_LOCAL_USERID_CHANGE);
	cat->nestlevel = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

/* The same for tables of the library's version; others are refused. */
void
catalog_enter(Catalog *cat)
{
	version_check();
	catalog_enter_any_version(cat);
}

/* Ends a visit; what SPI returned is gone after it. */
void
catalog_leave(Catalog *cat)
{
	SPI_finish();
	AtEOXact_GUC(false, cat->nestlevel);
	SetUserIdAndSecContext(cat->caller, cat->security_context);
}

/* Arguments of a statement, in the order of $1, $2, ... */

void
arg_datum(CatalogArgs *args, Oid type, Datum value)
{
	Assert(args->n < CATALOG_MAX_ARGS);
	args->types[args->n] = type;
	args->values[args->n] = value;
	args->nulls[args->n] = ' ';
	args->n++;
}

void
arg_null(CatalogArgs *args, Oid type)
{
	arg_datum(args, type, (Datum) 0);
	args->nulls[args->n - 1] = 'n';
}

void
arg_bool(CatalogArgs *args, bool value)
{
	arg_datum(args, BOOLOID, BoolGetDatum(value));
}

void
arg_int4(CatalogArgs *args, int32 value)
{
	arg_datum(args, INT4OID, Int32GetDatum(value));
}

void
arg_int8(CatalogArgs *args, int64 value)
{
	arg_datum(args, INT8OID, Int64GetDatum(value));
}

void
arg_oid(CatalogArgs *args, Oid value)
{
	arg_datum(args, OIDOID, ObjectIdGetDatum(value));
}

void
arg_time(CatalogArgs *args, TimestampTz value)
{
	arg_datum(args, TIMESTAMPTZOID, TimestampTzGetDatum(value));
}

void
arg_float8(CatalogArgs *args, double value)
{
	arg_datum(args, FLOAT8OID, Float8GetDatum(value));
}

/* NULL if value is. */
void
arg_text(CatalogArgs *args, const char *value)
{
	if (value == NULL)
		arg_null(args, TEXTOID);
	else
		arg_datum(args, TEXTOID, CStringGetTextDatum(value));
}

/* LANES arguments; NULL where there is no amount. */
void
arg_lanes(CatalogArgs *args, const LaneAmounts *amounts)
{
	for (int i = 0; i < LANES; i++)
	{
		if (lane_is_none(amounts->lane[i]))
			arg_null(args, NUMERICOID);
		else
			arg_datum(args, NUMERICOID, amounts->lane[i]);
	}
}

/*
 * A session's statements are planned once and kept, as those of a function in PL/pgSQL
 * are.  A background worker runs each of its few once.
 */
#define MAX_KEPT_PLANS 64

static SPIPlanPtr
catalog_plan(const char *sql, CatalogArgs *args)
{
	static struct
	{
		const char *sql;
		SPIPlanPtr plan;
	} kept[MAX_KEPT_PLANS];
	static int nkept = 0;
	SPIPlanPtr plan;

	for (int i = 0; i < nkept; i++)
		if (strcmp(kept[i].sql, sql) == 0)
			return kept[i].plan;
	plan = SPI_prepare_cursor(sql, args->n, args->types, CURSOR_OPT_GENERIC_PLAN);
	if (plan == NULL)
		elog(ERROR, "ledger statement failed: %s", SPI_result_code_string(SPI_result));
	if (MyBackendType != B_BG_WORKER && nkept < MAX_KEPT_PLANS)
	{
		char *copy = MemoryContextStrdup(TopMemoryContext, sql);

		SPI_keepplan(plan);
		kept[nkept].sql = copy;
		kept[nkept++].plan = plan;
	}
	return plan;
}

/*
 * Every statement sees what is committed now, also where the caller's transaction
 * (REPEATABLE READ, SERIALIZABLE) keeps an older snapshot: under that a dataset that
 * another session made since could not be seen, and what it spent would be forgotten.
 */
static uint64
catalog_run(const char *sql, const CatalogArgs *args)
{
	CatalogArgs none = {0};
	CatalogArgs *use = unconstify(CatalogArgs *, args ? args : &none);
	int status;

	status = SPI_execute_snapshot(catalog_plan(sql, use), use->values, use->nulls,
								  GetLatestSnapshot(), InvalidSnapshot, false, true, 0);
	if (status < 0)
		elog(ERROR, "ledger statement failed: %s", SPI_result_code_string(status));
	return SPI_processed;
}

/* Runs a statement that returns rows; how many, to be read by row_*(). */
uint64
catalog_query(const char *sql, const CatalogArgs *args)
{
	uint64 rows = catalog_run(sql, args);

	if (SPI_tuptable == NULL)
		elog(ERROR, "ledger statement returned no rows");
	return rows;
}

/* Runs a statement that changes rows; how many. */
uint64
catalog_change(const char *sql, const CatalogArgs *args)
{
	return catalog_run(sql, args);
}

/* Columns of the last query's rows, counted from 0 (row) and 1 (column). */

Datum
row_datum(uint64 row, int column, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, isnull);
}

bool
row_isnull(uint64 row, int column)
{
	bool isnull;

	(void) row_datum(row, column, &isnull);
	return isnull;
}

static Datum
row_value(uint64 row, int column)
{
	bool isnull;
	Datum value = row_datum(row, column, &isnull);

	return isnull ? (Datum) 0 : value;
}

bool
row_bool(uint64 row, int column)
{
	return DatumGetBool(row_value(row, column));
}

int32
row_int4(uint64 row, int column)
{
	return DatumGetInt32(row_value(row, column));
}

int64
row_int8(uint64 row, int column)
{
	bool isnull;
	Datum value = row_datum(row, column, &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}

Oid
row_oid(uint64 row, int column)
{
	return DatumGetObjectId(row_value(row, column));
}

double
row_float8(uint64 row, int column)
{
	bool isnull;
	Datum value = row_datum(row, column, &isnull);

	return isnull ? 0 : DatumGetFloat8(value);
}

/* Is this xmin of the caller's own, uncommitted transaction? */
bool
row_own_change(uint64 row, int column)
{
	TransactionId xmin = DatumGetTransactionId(row_value(row, column));

	return TransactionIdIsNormal(xmin) && TransactionIdIsCurrentTransactionId(xmin);
}

/* NULL if the column is; else a copy that outlives the visit. */
char *
row_text(const Catalog *cat, uint64 row, int column)
{
	char *value = SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);

	return value ? MemoryContextStrdup(cat->outer, value) : NULL;
}

/* LANES numeric columns in the lanes' order, as copies that outlive the visit. */
LaneAmounts
row_lanes(const Catalog *cat, uint64 row, int first_column)
{
	MemoryContext old = MemoryContextSwitchTo(cat->outer);
	LaneAmounts amounts;

	for (int i = 0; i < LANES; i++)
	{
		bool isnull;
		Datum value = row_datum(row, first_column + i, &isnull);

		amounts.lane[i] = isnull ? LANE_NONE : PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	}
	MemoryContextSwitchTo(old);
	return amounts;
}

/*
 * The debit, then the row.  The entry's values are what the digest covers, in this
 * order (src/sql/11_chain.sql, dpngram.broken_chain).  The digest is made by the
 * UPDATE, from the row that it locked, so that the chain holds whatever came in
 * between.
 */
#define ENTRY_VALUES                                                                              \
	"$1, $2, coalesce($3, ''), coalesce($4, ''), $5, $6, $7::jsonb, $8, $9, $10, $11, $12, $13, " \
	"$14, $15, $16, $17, $18, $19, coalesce($20, '[]')::jsonb, $21, $22"

static const char *const debit_statement =
	"UPDATE dpngram.dataset d SET "
	"chain = dpngram.row_digest(d.chain, ROW($24, $25, " ENTRY_VALUES ")), "
	"releases = d.releases + 1, changed = CASE WHEN $23 THEN $25 ELSE d.changed END, "
	"mu2_spent = d.mu2_spent + $10, eps_pure_spent = d.eps_pure_spent + $11, "
	"delta_add_spent = d.delta_add_spent + $12, rho_spent = d.rho_spent + $13, "
	"rho_delta_spent = d.rho_delta_spent + $14, "
	"basic_epsilon_spent = d.basic_epsilon_spent + $15, "
	"basic_delta_spent = d.basic_delta_spent + $16 "
	"WHERE d.id = $1 RETURNING d.releases, d.chain";

static const char *const log_statement =
	"INSERT INTO dpngram.release (id, at, dataset, relation, session_role, caller_role, "
	"grantee, mechanism, parameters, epsilon, delta, mu2, eps_pure, delta_add, rho, rho_delta, "
	"basic_epsilon, basic_delta, seeded, timeline, lsn, events, period_from, period_to, "
	"number, digest) VALUES ($24, $25, " ENTRY_VALUES ", $26, $27)";

static void
arg_asked(CatalogArgs *args, bool given, double value)
{
	if (given)
		arg_float8(args, value);
	else
		arg_null(args, FLOAT8OID);
}

static void
arg_period(CatalogArgs *args, const LedgerPeriod *period)
{
	if (period->any)
	{
		arg_time(args, period->from);
		arg_time(args, period->to);
	}
	else
	{
		arg_null(args, TIMESTAMPTZOID);
		arg_null(args, TIMESTAMPTZOID);
	}
}

/*
 * Debits a dataset and appends to the release log, within a visit; returns the
 * new release's id.  Timeline and WAL position are the server's at this moment:
 * they tell a release from one that a restored older ledger never saw.
 */
int64
release_insert(const ReleaseEntry *entry)
{
	CatalogArgs args = {0};
	int64 id;
	int64 number;
	bool isnull;
	Datum chain;

	arg_int4(&args, entry->dataset);
	arg_text(&args, entry->relation);
	arg_text(&args, GetUserNameFromId(entry->session_role, true));
	arg_text(&args, GetUserNameFromId(entry->caller, true));
	if (entry->grantee == 0)
		arg_null(&args, INT4OID);
	else
		arg_int4(&args, entry->grantee);
	arg_text(&args, entry->mechanism);
	arg_text(&args, entry->parameters ? entry->parameters : "{}");
	arg_asked(&args, entry->asked, entry->epsilon);
	arg_asked(&args, entry->asked, entry->delta);
	arg_lanes(&args, &entry->price);
	arg_bool(&args, entry->seeded);
	arg_int8(&args, catalog_timeline());
	arg_datum(&args, PG_LSNOID, LSNGetDatum(GetXLogInsertRecPtr()));
	arg_text(&args, entry->events);
	arg_period(&args, &entry->period);
	arg_bool(&args, entry->owners_act);

	id = nextval_internal(get_relname_relid("release_id_seq", get_namespace_oid("dpngram", false)),
						  false);
	arg_int8(&args, id);
	arg_time(&args, GetCurrentTimestamp());
	if (catalog_query(debit_statement, &args) != 1)
		elog(ERROR, "dataset %d vanished", entry->dataset);
	number = row_int8(0, 1);
	chain = PointerGetDatum(PG_DETOAST_DATUM_COPY(row_datum(0, 2, &isnull)));
	arg_int8(&args, number);
	arg_datum(&args, BYTEAOID, chain);
	if (catalog_change(log_statement, &args) != 1)
		elog(ERROR, "release " INT64_FORMAT " was not logged", id);
	return id;
}

/* Notes how a release ended; the first note stays. */
void
release_end_insert(int64 release, const char *status, const char *used)
{
	CatalogArgs args = {0};

	arg_int8(&args, release);
	arg_text(&args, status);
	arg_text(&args, used);
	catalog_change("INSERT INTO dpngram.release_end (release, status, used) "
				   "VALUES ($1, $2, $3::jsonb) ON CONFLICT (release) DO NOTHING",
				   &args);
}
