/*
 * read_query.c
 *	  The query that reads a relation, and the protection that it runs under.
 *
 * Rows are read by SPI and not by a table scan of our own, so that views,
 * partitions, foreign tables, privileges and row-level security all work as
 * they do for everyone.  A DestReceiver takes them one by one: nothing is
 * collected, and no cursor is paid for.
 *
 * What protects whom:
 *
 * - The owner from the analyst.  The query runs under the owner's rights, in a worker's session
 *	 that the analyst has no hand in (api/release_worker.c).
 * - The server from the owner: the operation is security-restricted, as REFRESH
 *	 MATERIALIZED VIEW is.
 * - The users: whoever takes the rows sees to it that all rows of one user are
 *	 counted as one user's (read.c, documents.c).  Functions of the users' type that
 *	 tell users apart see private values, so what calls them after the query stands
 *	 under the same protection.
 *
 * Errors are not caught here: the worker masks them (their text may hold data), and
 * aborting the transaction or subtransaction restores the role.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "ngram/read_locks.h"
#include "ngram/read_query.h"
#include "nodes/params.h"
#include "optimizer/clauses.h"
#include "optimizer/paths.h"
#include "parser/parse_node.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* Parameters of the query, from 1. */
#define TIME_FROM 1
#define TIME_TO 2

/*
 * read_user_type: how users are told apart.
 *
 * For a deterministic collation, where equal is equal bytes, that is by the order of
 * bytes: several times faster than the locale's, and independent of its version and
 * of indexes built under another.
 */
UserType
read_user_type(const ReadSpec *spec)
{
	Oid type;
	int32 typmod;
	Oid collation;

	get_atttypetypmodcoll(spec->relid, spec->user_attnum, &type, &typmod, &collation);
	if (OidIsValid(collation) && get_collation_isdeterministic(collation))
		collation = C_COLLATION_OID;
	return user_type(type, collation);
}

/*
 * The query's text.  "IS DISTINCT FROM NULL", because IS NOT NULL is false for
 * a row value with one NULL field.
 *
 * Any order will do that brings equal users together; users are compared as
 * read_user_type() says.
 *
 * A row whose time is NULL is in no period.  The bounds of time are parameters of the
 * column's own type, compared as they are, so that an index on it or partitions by it
 * are of use.
 */
static char *
query_text(const ReadSpec *spec, bool ordered)
{
	const char *user = quote_identifier(get_attname(spec->relid, spec->user_attnum, false));
	const char *text = quote_identifier(get_attname(spec->relid, spec->text_attnum, false));
	char *schema = get_namespace_name(get_rel_namespace(spec->relid));
	char *relation = get_rel_name(spec->relid);
	StringInfoData query;

	if (schema == NULL || relation == NULL)
		elog(ERROR, "cache lookup failed for relation %u", spec->relid);

	initStringInfo(&query);
	appendStringInfo(&query, "SELECT r.%s", user);
	if (read_user_type(spec).collation == C_COLLATION_OID)
		appendStringInfoString(&query, " COLLATE pg_catalog.\"C\"");
	appendStringInfo(&query,
					 ", r.%s FROM %s r WHERE r.%s IS DISTINCT FROM NULL",
					 text, quote_qualified_identifier(schema, relation), user);
	if (!spec->every_user)
		appendStringInfo(&query, " AND r.%s IS DISTINCT FROM NULL", text);
	if (spec->time_attnum != 0)
	{
		const char *time = quote_identifier(get_attname(spec->relid, spec->time_attnum, false));

		appendStringInfo(&query,
						 " AND r.%s OPERATOR(pg_catalog.>=) $%d"
						 " AND r.%s OPERATOR(pg_catalog.<) $%d",
						 time, TIME_FROM, time, TIME_TO);
	}
	if (ordered)
		appendStringInfoString(&query, " ORDER BY 1");
	return query.data;
}

/*
 * Called for each column that the parser has found: is it one of ours?  The
 * relation is locked, but not its schema, which could have been renamed, and
 * another one given its name, after query_text() asked for it.  And the lock is the
 * session's own: functions that it calls could have altered the column's type.
 */
static Node *
check_column(ParseState *pstate, ColumnRef *reference, Node *found)
{
	const ReadSpec *spec = pstate->p_ref_hook_state;

	if (found != NULL && IsA(found, Var))
	{
		Var *var = (Var *) found;
		RangeTblEntry *rte = rt_fetch(var->varno, pstate->p_rtable);

		if (var->varlevelsup == 0 && rte->rtekind == RTE_RELATION &&
			rte->relid == spec->relid &&
			(var->varattno == spec->user_attnum ||
			 (var->varattno == spec->text_attnum && var->vartype == spec->text_type) ||
			 (spec->time_attnum != 0 && var->varattno == spec->time_attnum)))
			return NULL;
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the relation was changed while it was being read")));
}

static Oid
time_type(const ReadSpec *spec)
{
	return getBaseType(get_atttype(spec->relid, spec->time_attnum));
}

/* Called for $1 and $2, the bounds of time. */
static Node *
make_parameter(ParseState *pstate, ParamRef *reference)
{
	Param *parameter = makeNode(Param);

	parameter->paramkind = PARAM_EXTERN;
	parameter->paramid = reference->number;
	parameter->paramtype = time_type(pstate->p_ref_hook_state);
	parameter->paramtypmod = -1;
	parameter->paramcollid = InvalidOid;
	parameter->location = reference->location;
	return (Node *) parameter;
}

static ParamListInfo
parameters(const ReadSpec *spec)
{
	ParamListInfo list;

	if (spec->time_attnum == 0)
		return NULL;
	list = makeParamList(2);
	for (int i = 0; i < 2; i++)
	{
		list->params[i].isnull = false;
		list->params[i].pflags = PARAM_FLAG_CONST;
		list->params[i].ptype = time_type(spec);
	}
	list->params[TIME_FROM - 1].value = spec->time_from;
	list->params[TIME_TO - 1].value = spec->time_to;
	return list;
}

static void
setup_parser(ParseState *pstate, void *spec)
{
	pstate->p_post_columnref_hook = check_column;
	pstate->p_paramref_hook = make_parameter;
	pstate->p_ref_hook_state = spec;
}

/*
 * Within SPI.  The query is not itself parallel: whether PostgreSQL would find that cheaper
 * depends on what it knows of the data, and workers can be seen.
 */
static SPIPlanPtr
prepare_query(const ReadSpec *spec, bool ordered)
{
	SPIPrepareOptions options = {0};
	SPIPlanPtr plan;

	options.parserSetup = setup_parser;
	options.parserSetupArg = unconstify(ReadSpec *, spec);
	options.parseMode = RAW_PARSE_DEFAULT;
	plan = SPI_prepare_extended(query_text(spec, ordered), &options);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare_extended failed: %s", SPI_result_code_string(SPI_result));
	return plan;
}

static void
connect_spi(void)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

static void
finish_spi(void)
{
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

/* Runs the query under the transaction's snapshot. */
static void
run_query(const ReadSpec *spec, bool ordered, DestReceiver *receiver)
{
	SPIExecuteOptions execute = {0};
	SPIPlanPtr plan;
	int result;

	connect_spi();
	plan = prepare_query(spec, ordered);
	execute.params = parameters(spec);
	execute.read_only = true;
	execute.dest = receiver;
	result = SPI_execute_plan_extended(plan, &execute);
	if (result != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_plan_extended failed: %s", SPI_result_code_string(result));
	finish_spi();
}

/* read_guard_begin: from here on the session acts as the owner, restricted. */
ReadGuard
read_guard_begin(Oid owner)
{
	ReadGuard guard;

	GetUserIdAndSecContext(&guard.user, &guard.context);
	SetUserIdAndSecContext(owner, guard.context | SECURITY_RESTRICTED_OPERATION);
	return guard;
}

/* read_guard_end: all is as it was; an error does without. */
void
read_guard_end(const ReadGuard *guard)
{
	SetUserIdAndSecContext(guard->user, guard->context);
}

/*
 * read_try: parses the query and locks all that it names, but does not plan it: a plan
 * may depend on samples of the data.
 */
void
read_try(const ReadSpec *spec)
{
	ReadGuard guard = read_guard_begin(spec->owner);
	CachedPlanSource *source;
	ListCell *cell;

	connect_spi();
	source = linitial(SPI_plan_get_plan_sources(prepare_query(spec, false)));
	foreach (cell, source->relationOids)
	{
		if (lfirst_oid(cell) != spec->relid)
			read_lock(lfirst_oid(cell));
	}
	finish_spi();
	read_guard_end(&guard);
}

/*
 * read_query: runs the query, with or without the order of users, and hands its rows
 * (user, text) to the receiver.
 */
void
read_query(const ReadSpec *spec, bool ordered, DestReceiver *receiver)
{
	ReadGuard guard = read_guard_begin(spec->owner);

	run_query(spec, ordered, receiver);
	read_guard_end(&guard);
}

/* May the query run in parallel mode?  A view may have functions that write. */
static bool
query_is_safe(const CachedPlanSource *source)
{
	ListCell *cell;

	foreach (cell, source->query_list)
		if (max_parallel_hazard(lfirst_node(Query, cell)) == PROPARALLEL_UNSAFE)
			return false;
	return true;
}

/* The bytes of a relation, which every role may ask for; of a foreign one as ANALYZE found it. */
static double
relation_size(Oid relid)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;
	double size;

	if (!HeapTupleIsValid(tuple))
		return 0;
	form = (Form_pg_class) GETSTRUCT(tuple);
	if (RELKIND_HAS_STORAGE(form->relkind))
		size = (double) DatumGetInt64(
			DirectFunctionCall1(pg_table_size, ObjectIdGetDatum(relid)));
	else
		size = (double) form->relpages * BLCKSZ;
	ReleaseSysCache(tuple);
	return size;
}

/* The bytes of the relations that the plan is about. */
static double
relations_size(SPIPlanPtr plan)
{
	CachedPlan *cached = SPI_plan_get_cached_plan(plan);
	double size = 0;
	ListCell *cell;

	if (cached == NULL)
		return 0;
	foreach (cell, cached->stmt_list)
	{
		const PlannedStmt *statement = lfirst_node(PlannedStmt, cell);
		ListCell *relation;

		foreach (relation, statement->relationOids)
			size += relation_size(lfirst_oid(relation));
	}
	ReleaseCachedPlan(cached, NULL);
	return size;
}

/*
 * read_worth_workers: can parallel workers take part in what becomes of the rows, and is
 * it worth their start?  As for the server's own parallel plans both are decided
 * before any row is read, by what the query is made of and by min_parallel_table_scan_size.
 * Not by how many rows the planner expects, nor how long: that comes of samples of the
 * data, and the caller sets the limit and can see whether there are workers.
 */
bool
read_worth_workers(const ReadSpec *spec)
{
	ReadGuard guard = read_guard_begin(spec->owner);
	SPIPlanPtr plan;
	bool worth;

	connect_spi();
	plan = prepare_query(spec, false);
	worth = query_is_safe(linitial(SPI_plan_get_plan_sources(plan))) &&
			relations_size(plan) >= (double) min_parallel_table_scan_size * BLCKSZ;
	finish_spi();
	read_guard_end(&guard);
	return worth;
}

/* report_disorder: a user came after one that is greater */
void
report_disorder(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("rows did not arrive in the order of their users"),
			 errhint("An index may be corrupt, or a foreign server may sort differently.")));
}
