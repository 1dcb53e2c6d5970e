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
#include "executor/spi.h"
#include "ledger/catalog.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/pg_lsn.h"
#include "utils/syscache.h"

#if PG_VERSION_NUM >= 150000
#define current_timeline() GetWALInsertionTimeLine()
#else
#define current_timeline() ThisTimeLineID
#endif

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

/* Begins a visit: connects SPI and becomes the ledger's owner. */
void
catalog_enter(Catalog *cat)
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

void
arg_lanes(CatalogArgs *args, const LaneAmounts *amounts)
{
	for (int i = 0; i < LANES; i++)
		arg_datum(args, NUMERICOID, amounts->lane[i]);
}

static uint64
catalog_run(const char *sql, const CatalogArgs *args)
{
	CatalogArgs none = {0};
	CatalogArgs *use = unconstify(CatalogArgs *, args ? args : &none);
	int status;

	status = SPI_execute_with_args(sql, use->n, use->types, use->values, use->nulls,
								   false, 0);
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

/* Three numeric columns in the lanes' order; copies, valid within the visit. */
LaneAmounts
row_lanes(uint64 row, int first_column)
{
	LaneAmounts amounts;

	for (int i = 0; i < LANES; i++)
	{
		bool isnull;
		Datum value = row_datum(row, first_column + i, &isnull);

		amounts.lane[i] = isnull ? lane_exact(0) :
								   PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	}
	return amounts;
}

/*
 * Appends to the release log, within a visit; returns the new release's id.
 * Timeline and WAL position are the server's at this moment: they tell a
 * release from one that a restored older ledger never saw.
 */
int64
release_insert(const ReleaseEntry *entry)
{
	CatalogArgs args = {0};

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
	if (entry->asked)
	{
		arg_float8(&args, entry->epsilon);
		arg_float8(&args, entry->delta);
	}
	else
	{
		arg_null(&args, FLOAT8OID);
		arg_null(&args, FLOAT8OID);
	}
	arg_lanes(&args, &entry->price);
	arg_bool(&args, entry->seeded);
	arg_int8(&args, (int64) current_timeline());
	arg_datum(&args, PG_LSNOID, LSNGetDatum(GetXLogInsertRecPtr()));

	catalog_query("INSERT INTO dpngram.release (dataset, relation, session_role, caller_role, "
				  "grantee, mechanism, parameters, epsilon, delta, mu2, eps_pure, delta_add, "
				  "seeded, timeline, lsn) "
				  "VALUES ($1, $2, coalesce($3, ''), coalesce($4, ''), $5, $6, $7::jsonb, "
				  "$8, $9, $10, $11, $12, $13, $14, $15) RETURNING id",
				  &args);
	return row_int8(0, 1);
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
