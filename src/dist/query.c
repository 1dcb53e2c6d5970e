/*
 * query.c
 *	  Queries over relations that a caller names, run with the caller's own rights
 *	  and under the snapshot of the calling statement.
 *
 * A query is text that its maker puts together of quoted names.  Every function,
 * operator and collation in it is named with its schema, so that no search_path leads
 * to another's; values are parameters.  What the caller may not read is refused by
 * PostgreSQL itself.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/params.h"
#include "parser/parse_coerce.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "dist/query.h"

/* ---- names ---- */

/*
 * query_relation: locks a relation until the transaction's end, so that its names
 * are those of the query that follows, and returns its qualified name, quoted.
 */
const char *
query_relation(Oid relid)
{
	char *name;

	LockRelationOid(relid, AccessShareLock);
	name = get_rel_name(relid);
	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), name);
}

/* query_column_type: a column's type; ERRCODE_DP_COLUMN where there is no such column. */
Oid
query_column_type(Oid relid, const char *column)
{
	AttrNumber attnum = get_attnum(relid, column);

	if (attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, get_rel_name(relid))));
	return get_atttype(relid, attnum);
}

/* query_column: a column as a query names it, "alias" being its relation's there. */
const char *
query_column(Oid relid, const char *alias, const char *column)
{
	(void) query_column_type(relid, column);
	return psprintf("%s.%s", alias, quote_identifier(column));
}

static void
refuse_type(Oid relid, const char *column, const char *must)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" must be %s", column,
					get_rel_name(relid), must)));
}

/* query_text_column: the same for a column whose values are texts. */
const char *
query_text_column(Oid relid, const char *alias, const char *column)
{
	Oid type = getBaseType(query_column_type(relid, column));

	if (!IsBinaryCoercible(type, TEXTOID))
		refuse_type(relid, column, "of a text type");
	return query_column(relid, alias, column);
}

/*
 * query_number_column: the same for one of numbers, as double precision.  Without a
 * cast where it needs none, so that an index on the column can be used.
 */
const char *
query_number_column(Oid relid, const char *alias, const char *column)
{
	Oid type = getBaseType(query_column_type(relid, column));
	Oid target = FLOAT8OID;
	const char *name = query_column(relid, alias, column);

	if (type == FLOAT8OID)
		return name;
	if (!can_coerce_type(1, &type, &target, COERCION_IMPLICIT))
		refuse_type(relid, column, "of a numeric type");
	return psprintf("%s::pg_catalog.float8", name);
}

/* ---- parameters ---- */

void
query_parameter(QueryParameters *parameters, Oid type, Datum value)
{
	Assert(parameters->n < QUERY_MAX_PARAMETERS);
	parameters->type[parameters->n] = type;
	parameters->value[parameters->n++] = value;
}

void
query_text_parameter(QueryParameters *parameters, const char *value)
{
	query_parameter(parameters, TEXTOID, CStringGetTextDatum(value));
}

/* NULL for none: an empty list is no parameter list for everybody's planner. */
static ParamListInfo
parameter_list(const QueryParameters *parameters)
{
	ParamListInfo list;

	if (parameters->n == 0)
		return NULL;
	list = makeParamList(parameters->n);
	for (int i = 0; i < parameters->n; i++)
	{
		list->params[i].value = parameters->value[i];
		list->params[i].isnull = false;
		list->params[i].pflags = PARAM_FLAG_CONST;
		list->params[i].ptype = parameters->type[i];
	}
	return list;
}

/* ---- rows ---- */

typedef struct RowReceiver
{
	DestReceiver pub;
	QueryRow row;
	void *state;
	MemoryContext context; /* reset after each row */
} RowReceiver;

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	RowReceiver *receiver = (RowReceiver *) self;
	MemoryContext old = MemoryContextSwitchTo(receiver->context);

	CHECK_FOR_INTERRUPTS();
	receiver->row(receiver->state, slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->context);
	return true;
}

static void
receive_startup(DestReceiver *self, int operation, TupleDesc descriptor)
{
}

static void
receive_nothing(DestReceiver *self)
{
}

static RowReceiver *
receiver_create(QueryRow row, void *state)
{
	RowReceiver *receiver = palloc0(sizeof(RowReceiver));

	receiver->pub.receiveSlot = receive_row;
	receiver->pub.rStartup = receive_startup;
	receiver->pub.rShutdown = receive_nothing;
	receiver->pub.rDestroy = receive_nothing;
	/* what it says doesn't matter, but for DestNone SPI reports no SELECT */
	receiver->pub.mydest = DestTuplestore;
	receiver->row = row;
	receiver->state = state;
	receiver->context = AllocSetContextCreate(CurrentMemoryContext, "dpngram query row",
											  ALLOCSET_DEFAULT_SIZES);
	return receiver;
}

static void
store_row(void *state, TupleTableSlot *row)
{
	ReturnSetInfo *rsinfo = state;

	tuplestore_puttupleslot(rsinfo->setResult, row);
}

/* ---- running ---- */

static void
begin(void)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

static void
end(int result)
{
	if (result != SPI_OK_SELECT)
		elog(ERROR, "query failed: %s", SPI_result_code_string(result));
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

/*
 * query_each: hands the rows of a query, which may run in parallel workers, to a
 * function.
 */
void
query_each(const char *sql, const QueryParameters *parameters, QueryRow row, void *state)
{
	SPIExecuteOptions options = {0};

	begin();
	options.params = parameter_list(parameters);
	options.read_only = true;
	options.dest = &receiver_create(row, state)->pub;
	end(SPI_execute_extended(sql, &options));
}

/* query_result: a query's rows become those of a function, after InitMaterializedSRF(). */
void
query_result(const char *sql, const QueryParameters *parameters, FunctionCallInfo fcinfo)
{
	query_each(sql, parameters, store_row, fcinfo->resultinfo);
}

/* The plans that a session keeps, each under the text of its query. */
#define MAX_KEPT_PLANS 16

static struct
{
	char *sql;
	SPIPlanPtr plan;
} kept_plans[MAX_KEPT_PLANS];

/* Calls of query_result_kept() within each other: a view may have a function that does. */
static int kept_depth = 0;

/* Keeps a plan in the place of the oldest, unless that could be running just now. */
static void
keep_plan(const char *sql, SPIPlanPtr plan)
{
	static int next = 0;
	char *copy;

	if (kept_plans[next].sql != NULL && kept_depth > 1)
		return;
	copy = MemoryContextStrdup(TopMemoryContext, sql);
	SPI_keepplan(plan);
	if (kept_plans[next].sql != NULL)
	{
		pfree(kept_plans[next].sql);
		SPI_freeplan(kept_plans[next].plan);
	}
	kept_plans[next].sql = copy;
	kept_plans[next].plan = plan;
	next = (next + 1) % MAX_KEPT_PLANS;
}

/* A plan for any values of the parameters. */
static SPIPlanPtr
generic_plan(const char *sql, const QueryParameters *parameters)
{
	SPIPlanPtr plan;

	for (int i = 0; i < MAX_KEPT_PLANS; i++)
		if (kept_plans[i].sql != NULL && strcmp(kept_plans[i].sql, sql) == 0)
			return kept_plans[i].plan;
	plan = SPI_prepare_cursor(sql, parameters->n, unconstify(QueryParameters *, parameters)->type,
							  CURSOR_OPT_GENERIC_PLAN);
	if (plan == NULL)
		elog(ERROR, "query failed: %s", SPI_result_code_string(SPI_result));
	keep_plan(sql, plan);
	return plan;
}

/*
 * query_result_kept: as query_result(), for a query of few rows that a session asks
 * again and again: planning it would take longer than running it.
 */
void
query_result_kept(const char *sql, const QueryParameters *parameters, FunctionCallInfo fcinfo)
{
	SPIExecuteOptions options = {0};

	begin();
	options.params = parameter_list(parameters);
	options.read_only = true;
	options.dest = &receiver_create(store_row, fcinfo->resultinfo)->pub;
	kept_depth++;
	PG_TRY();
	{
		end(SPI_execute_plan_extended(generic_plan(sql, parameters), &options));
	}
	PG_FINALLY();
	{
		kept_depth--;
	}
	PG_END_TRY();
}
