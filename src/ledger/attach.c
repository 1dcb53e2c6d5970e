/*
 * attach.c
 *	  dp_attach and dp_detach: the relations of a dataset.
 *
 * One dataset may hold several relations of the same people: a call on any of them
 * spends the one budget, so that a person's loss by all of them together keeps it.
 * Taking a relation out frees nothing.  The dataset keeps what was spent, and
 * whatever takes the relation next carries that forward (carry.c).
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "fmgr.h"
#include "ledger/attach.h"
#include "ledger/binding.h"
#include "ledger/carry.h"
#include "ledger/json.h"
#include "ledger/options.h"
#include "ledger/owner.h"
#include "ledger/relation.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/varlena.h"

/* The columns that analysts may name; errors for those that the relation lacks. */
static List *
columns_argument(ArrayType *array, Oid relid)
{
	List *columns = NIL;
	Datum *elements;
	bool *nulls;
	int n;

	deconstruct_array(array, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &elements, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_DP_ARGUMENT),
					 errmsg("columns must not hold nulls")));
		relation_check_column(relid, NameStr(*DatumGetName(elements[i])));
		columns = lappend(columns, pstrdup(NameStr(*DatumGetName(elements[i]))));
	}
	if (columns == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("columns must name at least one column"),
				 errhint("Leave it out to allow all.")));
	return columns;
}

/* Locks the relation, which the caller must own, and looks its columns up. */
void
attachment_check(Attachment *relation, ArrayType *columns)
{
	relation_lock_owned(relation->relid, GetUserId());
	relation_check_kind(relation->relid);
	relation->user_attnum = relation_user_attnum(relation->relid, relation->user_col);
	if (columns != NULL)
		relation->columns = columns_argument(columns, relation->relid);
}

/*
 * Looks the column of time up, which a relation of a dataset with periods must have,
 * and no other may.
 */
void
attachment_check_time(Attachment *relation, const Renewal *renewal)
{
	if (renewal->every == NULL && relation->time_col == NULL)
		return;
	if (renewal->every == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("option \"%s\" is for datasets whose budget renews", "time_col")));
	if (relation->time_col == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("the budget renews, so the option \"%s\" is needed", "time_col"),
				 errhint("It names the column that tells a row's time.")));
	relation->time_attnum = relation_time_attnum(relation->relid, relation->time_col);
	renewal_check_column(renewal, relation->relid, relation->time_attnum);
}

static Datum
text_array(const List *strings)
{
	Datum *elements = palloc(sizeof(Datum) * list_length(strings));
	ListCell *cell;
	int n = 0;

	foreach (cell, strings)
		elements[n++] = CStringGetTextDatum((char *) lfirst(cell));
	return PointerGetDatum(construct_array(elements, n, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Writes a relation and its binding, within a visit. */
void
attach(int32 dataset, const Attachment *relation)
{
	Binding binding = binding_make(relation->relid, relation->user_attnum,
								   relation->time_attnum);
	CatalogArgs args = {0};
	Oid owner;
	char *schema;
	char *relname;

	if (!relation_identity(relation->relid, &owner, &schema, &relname))
		elog(ERROR, "cache lookup failed for relation %u", relation->relid);
	arg_int4(&args, dataset);
	arg_text(&args, schema);
	arg_text(&args, relname);
	arg_text(&args, relation->user_col);
	if (relation->columns == NIL)
		arg_null(&args, TEXTARRAYOID);
	else
		arg_datum(&args, TEXTARRAYOID, text_array(relation->columns));
	arg_text(&args, relation->time_col);
	catalog_query("INSERT INTO dpngram.relation (dataset, schema, name, user_col, columns, "
				  "time_col) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
				  &args);
	binding_insert(row_int4(0, 1), &binding);
}

static char *
attach_json(const char *relation, const Attachment *attachment, const Carried *carried)
{
	StringInfoData json;

	json_begin(&json);
	json_text(&json, "relation", relation);
	json_text(&json, "user_col", attachment->user_col);
	if (attachment->time_col != NULL)
		json_text(&json, "time_col", attachment->time_col);
	carry_json(&json, carried);
	return json_end(&json);
}

static char *
detach_json(const char *relation)
{
	StringInfoData json;

	json_begin(&json);
	json_text(&json, "relation", relation);
	return json_end(&json);
}

static void
refuse_null_arguments(FunctionCallInfo fcinfo, int n)
{
	for (int i = 0; i < n; i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_DP_ARGUMENT),
					 n == 2 ? errmsg("dataset and relation must not be null") :
							  errmsg("dataset, relation and user_col must not be null")));
}

PG_FUNCTION_INFO_V1(dpngram_attach);

/* The arguments of dp_attach that need no ledger, checked. */
static Attachment
attach_arguments(FunctionCallInfo fcinfo)
{
	Attachment relation = {0};
	const Option known[] = {{"time_col", OPTION_TEXT, &relation.time_col}};

	refuse_null_arguments(fcinfo, 3);
	if (PG_ARGISNULL(4))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("options must not be null")));
	relation.relid = PG_GETARG_OID(1);
	relation.user_col = NameStr(*PG_GETARG_NAME(2));
	options_read(PG_GETARG_JSONB_P(4), known, lengthof(known));
	attachment_check(&relation, PG_ARGISNULL(3) ? NULL : PG_GETARG_ARRAYTYPE_P(3));
	return relation;
}

/*
 * dp_attach(dataset, relation, user_col, columns, options): puts a further relation of
 * the same people under the dataset's budget.  The caller must own both.
 */
Datum
dpngram_attach(PG_FUNCTION_ARGS)
{
	Attachment relation;
	Catalog cat;
	Dataset *dataset;
	Carried carried;
	const char *relname;

	owner_may_write("dp_attach()");
	relation = attach_arguments(fcinfo);

	catalog_enter(&cat);
	dataset = owner_dataset(&cat, NameStr(*PG_GETARG_NAME(0)));
	attachment_check_time(&relation, &dataset->renewal);
	relation_refuse_protected(&cat, relation.relid, 0);
	carry_refuse_other_time(dataset, &relation);
	carried = carry_sources(&cat, &relation, dataset->id, &dataset->renewal, true);
	attach(dataset->id, &relation);
	carry_record(dataset->id, &carried);
	relname = quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation.relid)),
										 get_rel_name(relation.relid));
	owner_act(&cat, dataset, "dp_attach", attach_json(relname, &relation, &carried),
			  &carried.spent);
	carry_refuse_overdraft(&cat, dataset, &carried);
	relation_warn(&cat, relation.relid);
	catalog_leave(&cat);
	PG_RETURN_VOID();
}

/*
 * The dataset's relation that a text names: by its OID if there is such a relation,
 * else by the recorded names, for one that was dropped.
 */
static DatasetRelation *
relation_argument(const Dataset *dataset, const char *text, Oid relid)
{
	ListCell *cell;

	foreach (cell, dataset->relations)
	{
		DatasetRelation *relation = lfirst(cell);
		Oid meant = relation_of(relation);

		char *recorded = quote_qualified_identifier(relation->schema, relation->relname);

		if (OidIsValid(meant) ? meant == relid :
								strcmp(text, relation->relname) == 0 ||
									strcmp(text, recorded) == 0)
			return relation;
	}
	ereport(ERROR,
			(errcode(ERRCODE_DP_NOT_PROTECTED),
			 errmsg("relation \"%s\" does not belong to dataset \"%s\"", text, dataset->name)));
	return NULL; /* not reached */
}

static Oid
find_relid(text *name)
{
	return RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(name)),
							NoLock, true);
}

PG_FUNCTION_INFO_V1(dpngram_detach);

/*
 * dp_detach(dataset, relation): takes a relation out of a dataset.  It can't be
 * asked for any more; what was spent stays spent.
 */
Datum
dpngram_detach(PG_FUNCTION_ARGS)
{
	CatalogArgs args = {0};
	Catalog cat;
	Dataset *dataset;
	DatasetRelation *relation;
	char *name;
	Oid relid;

	owner_may_write("dp_detach()");
	refuse_null_arguments(fcinfo, 2);
	name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	relid = find_relid(PG_GETARG_TEXT_PP(1));

	catalog_enter(&cat);
	dataset = owner_dataset(&cat, NameStr(*PG_GETARG_NAME(0)));
	relation = relation_argument(dataset, name, relid);
	if (list_length(dataset->relations) == 1)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("cannot detach the only relation of dataset \"%s\"", dataset->name),
				 errhint("End the dataset by dp_unprotect.")));
	owner_act(&cat, dataset, "dp_detach", detach_json(relation_text(relation)), NULL);
	arg_int4(&args, relation->id);
	catalog_change("UPDATE dpngram.relation r SET detached = pg_catalog.clock_timestamp(), "
				   "detached_after = d.releases "
				   "FROM dpngram.dataset d WHERE r.id = $1 AND d.id = r.dataset",
				   &args);
	catalog_leave(&cat);
	PG_RETURN_VOID();
}
