/*
 * pushdown_query.c
 *	  The statements that count n-grams where the rows are.
 *
 * By nodes, one arm for each part, so that an Append can wait for all servers at once:
 *
 *		SELECT 1, dpngram.exact_counts(spec, r.person, r.document) FROM part1 r WHERE bounds
 *		UNION ALL ...
 *
 * By sums, which is for what pushes down subqueries that group by users, and for this
 * server's own workers:
 *
 *		SELECT g.key, g.content, sum(g.weight)
 *		FROM (SELECT r.person, dpngram.exact_user_counts(spec, r.person, r.document) c
 *			  FROM relation r GROUP BY r.person) u, dpngram.unpacked_counts(u.c) g
 *		GROUP BY g.key, g.content
 *
 * They run like the query that reads a relation (read_query.c), as its owner, under the
 * same protection; their results are few values, or one row for each n-gram, which a
 * receiver takes as they come.  An index is not asked for the order of users: nobody
 * would notice if it were corrupt.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "ngram/pushdown.h"
#include "ngram/read_query.h"
#include "nodes/params.h"
#include "nodes/plannodes.h"
#include "parser/parse_node.h"
#include "parser/parsetree.h"
#include "tcop/dest.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"

/* Parameters of a statement, from 1; the specifications follow. */
#define TIME_FROM 1
#define TIME_TO 2

/* ------------------------------------------------------------------------
 * text
 * ------------------------------------------------------------------------ */

static int
first_spec(const Pushdown *pushdown)
{
	return pushdown->read.time_attnum == 0 ? 1 : TIME_TO + 1;
}

static int
count_specs(const Pushdown *pushdown)
{
	return pushdown->by_nodes ? pushdown->nparts : 1;
}

static const char *
column(const PushPart *part, AttrNumber attnum)
{
	return quote_identifier(get_attname(part->relid, attnum, false));
}

/* FROM and WHERE */
static void
append_source(StringInfo query, const PushPart *part)
{
	char *schema = get_namespace_name(get_rel_namespace(part->relid));
	char *relation = get_rel_name(part->relid);
	const char *glue = " WHERE ";

	if (schema == NULL || relation == NULL)
		elog(ERROR, "cache lookup failed for relation %u", part->relid);
	appendStringInfo(query, " FROM %s r", quote_qualified_identifier(schema, relation));
	if (part->bounds != NULL)
	{
		appendStringInfo(query, "%s(%s)", glue, part->bounds);
		glue = " AND ";
	}
	if (part->time_attnum != 0)
		appendStringInfo(query,
						 "%sr.%s OPERATOR(pg_catalog.>=) $%d"
						 " AND r.%s OPERATOR(pg_catalog.<) $%d",
						 glue, column(part, part->time_attnum), TIME_FROM,
						 column(part, part->time_attnum), TIME_TO);
}

/* One arm for each part. */
static void
append_arms(StringInfo query, const Pushdown *pushdown, const char *function, bool grouped)
{
	for (int i = 0; i < pushdown->nparts; i++)
	{
		const PushPart *part = &pushdown->part[i];
		const char *user = column(part, part->user_attnum);

		appendStringInfoString(query, i == 0 ? "SELECT " : " UNION ALL SELECT ");
		if (pushdown->by_nodes)
			appendStringInfo(query, "%d, ", i);
		if (grouped)
			appendStringInfo(query, "r.%s AS person, ", user);
		appendStringInfo(query, "dpngram.%s($%d, r.%s, r.%s) AS c", function,
						 first_spec(pushdown) + (pushdown->by_nodes ? i : 0), user,
						 column(part, part->text_attnum));
		append_source(query, part);
		if (grouped)
			appendStringInfo(query, " GROUP BY r.%s", user);
	}
}

static char *
count_text(const Pushdown *pushdown)
{
	StringInfoData query;

	initStringInfo(&query);
	if (pushdown->by_nodes)
		append_arms(&query, pushdown, "exact_counts", false);
	else
	{
		appendStringInfoString(&query, "SELECT g.key, g.content,"
									   " pg_catalog.sum(g.weight)::pg_catalog.int8 FROM (");
		append_arms(&query, pushdown, "exact_user_counts", true);
		appendStringInfoString(&query, ") u, dpngram.unpacked_counts(u.c) g"
									   " GROUP BY g.key, g.content");
	}
	return query.data;
}

static char *
words_text(const Pushdown *pushdown)
{
	StringInfoData query;

	initStringInfo(&query);
	if (pushdown->by_nodes)
		append_arms(&query, pushdown, "exact_words", false);
	else
	{
		appendStringInfoString(&query, "SELECT DISTINCT pg_catalog.unnest(w.c) FROM (");
		append_arms(&query, pushdown, "exact_row_words", false);
		appendStringInfoString(&query, ") w");
	}
	return query.data;
}

/* ------------------------------------------------------------------------
 * what the parser asks
 * ------------------------------------------------------------------------ */

/*
 * Is this a column of a part?  As in read_query.c: names may have got another meaning
 * since the text was written.  Columns of subqueries are ours.
 */
static Node *
check_column(ParseState *pstate, ColumnRef *reference, Node *found)
{
	const Pushdown *pushdown = pstate->p_ref_hook_state;
	Var *var = (Var *) found;
	RangeTblEntry *rte;

	if (found == NULL || !IsA(found, Var))
		return NULL;
	rte = rt_fetch(var->varno, pstate->p_rtable);
	if (var->varlevelsup == 0 && rte->rtekind != RTE_RELATION)
		return NULL;
	for (int i = 0; i < pushdown->nparts; i++)
	{
		const PushPart *part = &pushdown->part[i];

		if (var->varlevelsup == 0 && rte->relid == part->relid &&
			(var->varattno == part->user_attnum ||
			 (var->varattno == part->text_attnum && var->vartype == pushdown->read.text_type) ||
			 (part->time_attnum != 0 && var->varattno == part->time_attnum)))
			return NULL;
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the relation was changed while it was being read")));
}

static Oid
parameter_type(const Pushdown *pushdown, int number)
{
	const ReadSpec *read = &pushdown->read;

	if (number < first_spec(pushdown))
		return getBaseType(get_atttype(read->relid, read->time_attnum));
	return BYTEAOID;
}

static Node *
make_parameter(ParseState *pstate, ParamRef *reference)
{
	Param *parameter = makeNode(Param);

	parameter->paramkind = PARAM_EXTERN;
	parameter->paramid = reference->number;
	parameter->paramtype = parameter_type(pstate->p_ref_hook_state, reference->number);
	parameter->paramtypmod = -1;
	parameter->paramcollid = InvalidOid;
	parameter->location = reference->location;
	return (Node *) parameter;
}

static void
setup_parser(ParseState *pstate, void *pushdown)
{
	pstate->p_post_columnref_hook = check_column;
	pstate->p_paramref_hook = make_parameter;
	pstate->p_ref_hook_state = pushdown;
}

static SPIPlanPtr
prepare_statement(const Pushdown *pushdown, const char *query)
{
	SPIPrepareOptions options = {.parserSetup = setup_parser,
								 .parserSetupArg = unconstify(Pushdown *, pushdown),
								 .parseMode = RAW_PARSE_DEFAULT,
								 .cursorOptions = CURSOR_OPT_PARALLEL_OK};
	SPIPlanPtr plan = SPI_prepare_extended(query, &options);

	if (plan == NULL)
		elog(ERROR, "SPI_prepare_extended failed: %s", SPI_result_code_string(SPI_result));
	return plan;
}

/* ------------------------------------------------------------------------
 * will the servers count?
 * ------------------------------------------------------------------------ */

/*
 * The planner's choice between counting there and here is told before anything is charged,
 * and goes by how many rows it expects, which comes of samples of the data.  With costs of
 * the caller's making that could be asked for, a bit at a time.
 */
static void
set_planner(void)
{
	static const char *const settings[][2] = {{"enable_indexscan", "off"},
											  {"enable_indexonlyscan", "off"},
											  {"enable_hashagg", "on"},
											  {"enable_sort", "on"},
											  {DEBUG_PARALLEL_SETTING, "off"},
											  {"seq_page_cost", "1"},
											  {"random_page_cost", "4"},
											  {"cpu_tuple_cost", "0.01"},
											  {"cpu_operator_cost", "0.0025"}};

	for (int i = 0; i < (int) lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
}

static bool all_ship(const List *plans);

/*
 * No rows of foreign tables come here, but what their servers made of them: a scan of a
 * foreign table has a number, a scan of a remote aggregate has none.
 */
static bool
ships(const Plan *plan)
{
	if (plan == NULL)
		return true;
	if (IsA(plan, ForeignScan))
		return ((const ForeignScan *) plan)->scan.scanrelid == 0;
	if (IsA(plan, Append))
		return all_ship(((const Append *) plan)->appendplans);
	if (IsA(plan, SubqueryScan))
		return ships(((const SubqueryScan *) plan)->subplan);
	return ships(plan->lefttree) && ships(plan->righttree);
}

static bool
all_ship(const List *plans)
{
	ListCell *cell;

	foreach (cell, plans)
		if (!ships(lfirst(cell)))
			return false;
	return true;
}

static bool
statement_ships(const Pushdown *pushdown, const char *query)
{
	CachedPlan *plan = SPI_plan_get_cached_plan(prepare_statement(pushdown, query));
	bool good = true;
	ListCell *cell;

	if (plan == NULL)
		return false;
	foreach (cell, plan->stmt_list)
		good = good && ships(lfirst_node(PlannedStmt, cell)->planTree);
	ReleaseCachedPlan(plan, NULL);
	return good;
}

/* Do both statements leave the counting to the servers?  The caller has made itself the owner. */
bool
pushdown_ships(const Pushdown *pushdown)
{
	bool good;

	set_planner();
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	good = statement_ships(pushdown, count_text(pushdown)) &&
		   statement_ships(pushdown, words_text(pushdown));
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	return good;
}

/* ------------------------------------------------------------------------
 * running
 * ------------------------------------------------------------------------ */

typedef struct PushReceiver
{
	DestReceiver pub;
	const Pushdown *pushdown;
	PushWeights weights; /* or */
	PushWord word;
	void *state;
	MemoryContext row_context;
} PushReceiver;

static void
receive_startup(DestReceiver *self, int operation, TupleDesc descriptor)
{
}

/* What one part's server has counted, in one value. */
static void
take_packed(PushReceiver *receiver, int part, Datum value)
{
	bytea *counts = DatumGetByteaPP(value);
	PackedWeights packed;
	WeightedItem next;

	packed_weights_begin(&packed, VARDATA_ANY(counts), VARSIZE_ANY_EXHDR(counts));
	while (packed_weights_next(&packed, &next))
	{
		CHECK_FOR_INTERRUPTS();
		receiver->weights(receiver->state, part, &next);
	}
}

static void
take_text(PushReceiver *receiver, Datum value)
{
	text *word = DatumGetTextPP(value);

	receiver->word(receiver->state, VARDATA_ANY(word), (int) VARSIZE_ANY_EXHDR(word));
}

static void
take_texts(PushReceiver *receiver, Datum value)
{
	Datum *word;
	int n;

	deconstruct_array(DatumGetArrayTypeP(value), TEXTOID, -1, false, TYPALIGN_INT, &word, NULL,
					  &n);
	for (int i = 0; i < n; i++)
		take_text(receiver, word[i]);
}

/* A part that has no rows has no value. */
static void
take_node(PushReceiver *receiver, TupleTableSlot *slot)
{
	bool isnull;
	int part = DatumGetInt32(slot_getattr(slot, 1, &isnull));
	Datum value = slot_getattr(slot, 2, &isnull);

	if (isnull)
		return;
	if (receiver->word != NULL)
		take_texts(receiver, value);
	else
		take_packed(receiver, part, value);
}

static void
take_sum(PushReceiver *receiver, TupleTableSlot *slot)
{
	bool isnull;
	WeightedItem sum;

	if (receiver->word != NULL)
	{
		take_text(receiver, slot_getattr(slot, 1, &isnull));
		return;
	}
	sum.item.key = (uint64) DatumGetInt64(slot_getattr(slot, 1, &isnull));
	sum.item.content = (uint64) DatumGetInt64(slot_getattr(slot, 2, &isnull));
	sum.weight = DatumGetInt64(slot_getattr(slot, 3, &isnull));
	receiver->weights(receiver->state, 0, &sum);
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	PushReceiver *receiver = (PushReceiver *) self;
	MemoryContext old = MemoryContextSwitchTo(receiver->row_context);

	CHECK_FOR_INTERRUPTS();
	if (receiver->pushdown->by_nodes)
		take_node(receiver, slot);
	else
		take_sum(receiver, slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->row_context);
	return true;
}

static void
receive_end(DestReceiver *self)
{
}

static ParamListInfo
parameters(const Pushdown *pushdown, bytea **spec)
{
	int first = first_spec(pushdown);
	int n = first - 1 + count_specs(pushdown);
	ParamListInfo list = makeParamList(n);

	for (int i = 1; i <= n; i++)
		list->params[i - 1] =
			(ParamExternData){.value = i < first ? (i == TIME_FROM ? pushdown->read.time_from :
																	 pushdown->read.time_to) :
												   PointerGetDatum(spec[i - first]),
							  .pflags = PARAM_FLAG_CONST,
							  .ptype = parameter_type(pushdown, i)};
	return list;
}

static void
run_statement(PushReceiver *receiver, const char *query, bytea **spec)
{
	const Pushdown *pushdown = receiver->pushdown;
	SPIExecuteOptions options = {.read_only = true, .dest = &receiver->pub};
	int result;

	options.params = parameters(pushdown, spec);
	result = SPI_execute_plan_extended(prepare_statement(pushdown, query), &options);
	if (result != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_plan_extended failed: %s", SPI_result_code_string(result));
}

static void
run(PushReceiver *receiver, char *(*text)(const Pushdown *pushdown), bytea **spec)
{
	ReadGuard guard = read_guard_begin(receiver->pushdown->read.owner);

	receiver->pub.receiveSlot = receive_row;
	receiver->pub.rStartup = receive_startup;
	receiver->pub.rShutdown = receive_end;
	receiver->pub.rDestroy = receive_end;
	receiver->pub.mydest = DestTuplestore; /* as in read.c */
	receiver->row_context = AllocSetContextCreate(CurrentMemoryContext, "dpngram row",
												  ALLOCSET_DEFAULT_SIZES);
	set_planner();
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	run_statement(receiver, text(receiver->pushdown), spec);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	MemoryContextDelete(receiver->row_context);
	read_guard_end(&guard);
}

/* Hands each n-gram that a part has, and its exact weight there, to the sink. */
void
pushdown_count(const Pushdown *pushdown, bytea **spec, PushWeights sink, void *state)
{
	PushReceiver receiver = {.pushdown = pushdown, .weights = sink, .state = state};

	run(&receiver, count_text, spec);
}

/* Hands the words that are asked for to the sink. */
void
pushdown_words(const Pushdown *pushdown, bytea **spec, PushWord sink, void *state)
{
	PushReceiver receiver = {.pushdown = pushdown, .word = sink, .state = state};

	run(&receiver, words_text, spec);
}
