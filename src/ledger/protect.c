/*
 * protect.c
 *	  dp_protect: puts a relation under a budget of its own.
 *
 * The three caps are computed once, here, and stored (lanes.c): a filter whose
 * caps followed what was already seen would prove nothing.  A relation that was
 * protected before starts with what its ended dataset had spent, because what its
 * people lost by those releases is not forgotten by ending the dataset.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "fmgr.h"
#include "ledger/budget.h"
#include "ledger/owner.h"
#include "ledger/relation.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

/* The arguments of dp_protect after their checks. */
typedef struct Protection
{
	Oid relid;
	char *user_col;
	AttrNumber user_attnum;
	double epsilon;
	double delta;
	char *name;
	double pure_share;
	double delta_share;
	List *columns; /* of char * */
	bool carry_forward;
	LedgerPrice caps;
} Protection;

static void
refuse_null(FunctionCallInfo fcinfo, int argument, const char *name)
{
	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("%s must not be null", name)));
}

static double
share_argument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	double share;

	refuse_null(fcinfo, argument, name);
	share = PG_GETARG_FLOAT8(argument);
	if (!(share > 0 && share < 1))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("%s must lie between 0 and 1, without both", name)));
	return share;
}

/* epsilon and delta of a budget; also those of a grant. */
void
budget_check(double epsilon, double delta)
{
	if (!(epsilon > 0) || isinf(epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("epsilon must be positive and finite")));
	if (!(delta >= 0 && delta < 1))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("delta must be at least 0 and less than 1")));
}

/* The caps of a budget, or an error. */
LedgerPrice
budget_caps(double epsilon, double delta, double pure_share, double delta_share)
{
	LedgerPrice caps;

	if (!lanes_caps(epsilon, delta, pure_share, delta_share, &caps))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("no budget can be computed from this epsilon and delta")));
	return caps;
}

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

/*
 * Reads the one option there is, "carry_forward"; unknown keys are errors, so
 * that a misspelt option is not taken for a granted wish.
 */
static void
options_argument(Jsonb *options, Protection *protection)
{
	JsonbIterator *iterator;
	JsonbValue value;
	JsonbIteratorToken token;

	protection->carry_forward = true;
	if (!JB_ROOT_IS_OBJECT(options))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("options must be a JSON object")));

	iterator = JsonbIteratorInit(&options->root);
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token != WJB_KEY)
			continue;
		if (value.val.string.len != (int) strlen("carry_forward") ||
			memcmp(value.val.string.val, "carry_forward", value.val.string.len) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_DP_ARGUMENT),
					 errmsg("unknown option \"%s\"",
							pnstrdup(value.val.string.val, value.val.string.len)),
					 errhint("The option is carry_forward.")));
		(void) JsonbIteratorNext(&iterator, &value, true);
		if (value.type != jbvBool)
			ereport(ERROR,
					(errcode(ERRCODE_DP_ARGUMENT),
					 errmsg("option \"%s\" must be true or false", "carry_forward")));
		protection->carry_forward = value.val.boolean;
	}
	if (!protection->carry_forward && !superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only a superuser may forget what an ended dataset spent")));
}

static void
accounting_argument(FunctionCallInfo fcinfo, int argument)
{
	char *accounting;

	refuse_null(fcinfo, argument, "accounting");
	accounting = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	if (strcmp(accounting, "gdp") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("unknown accounting \"%s\"", accounting),
				 errhint("Known is: gdp.")));
}

/*
 * A dataset is named like its relation, as the owner would write it under the
 * present search_path, clipped like any name.
 */
static char *
default_name(Oid relid)
{
	Datum text = DirectFunctionCall1(regclassout, ObjectIdGetDatum(relid));
	Datum name = DirectFunctionCall1(namein, text);

	return NameStr(*DatumGetName(name));
}

/* All checks that need the relation and the arguments, but not the ledger. */
static Protection
arguments_check(FunctionCallInfo fcinfo)
{
	Protection protection = {0};

	refuse_null(fcinfo, 0, "relation");
	refuse_null(fcinfo, 1, "user_col");
	refuse_null(fcinfo, 2, "epsilon");
	refuse_null(fcinfo, 3, "delta");
	refuse_null(fcinfo, 9, "options");
	protection.relid = PG_GETARG_OID(0);
	protection.user_col = NameStr(*PG_GETARG_NAME(1));
	protection.epsilon = PG_GETARG_FLOAT8(2);
	protection.delta = PG_GETARG_FLOAT8(3);
	budget_check(protection.epsilon, protection.delta);
	accounting_argument(fcinfo, 5);
	protection.pure_share = share_argument(fcinfo, 6, "pure_share");
	protection.delta_share = share_argument(fcinfo, 7, "delta_share");
	options_argument(PG_GETARG_JSONB_P(9), &protection);

	relation_lock_owned(protection.relid, GetUserId());
	relation_check_kind(protection.relid);
	protection.user_attnum = relation_user_attnum(protection.relid, protection.user_col);
	if (!PG_ARGISNULL(8))
		protection.columns = columns_argument(PG_GETARG_ARRAYTYPE_P(8), protection.relid);
	protection.name = PG_ARGISNULL(4) ? default_name(protection.relid) :
										NameStr(*PG_GETARG_NAME(4));
	if (protection.name[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("a dataset's name must not be empty")));
	if (protection.delta == 0)
	{
		protection.pure_share = 1;
		protection.delta_share = 0;
	}
	protection.caps = budget_caps(protection.epsilon, protection.delta,
								  protection.pure_share, protection.delta_share);
	return protection;
}

/*
 * What the relation's last ended dataset spent: the one bound to the same OID,
 * or, where a restore took the bindings away, the one of the same name.  Both
 * stay as they are if there was none.
 */
static void
spent_before(const Catalog *cat, Oid relid, LaneAmounts *spent, int32 *from)
{
	CatalogArgs args = {0};
	Oid owner;
	char *schema;
	char *relname;

	if (!relation_identity(relid, &owner, &schema, &relname))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	arg_oid(&args, relid);
	arg_text(&args, schema);
	arg_text(&args, relname);
	if (catalog_query("SELECT d.id, d.mu2_spent, d.eps_pure_spent, d.delta_add_spent "
					  "FROM dpngram.dataset d "
					  "JOIN dpngram.relation r ON r.dataset = d.id "
					  "LEFT JOIN dpngram.relation_binding b ON b.relation = r.id "
					  "WHERE d.ended IS NOT NULL AND (b.relid = $1 OR "
					  "(b.relation IS NULL AND r.schema = $2 AND r.name = $3)) "
					  "ORDER BY d.id DESC LIMIT 1",
					  &args) == 0)
		return;
	*from = row_int4(0, 1);
	*spent = row_lanes(0, 2);
}

static void
refuse_taken_name(const Catalog *cat, const char *name)
{
	if (dataset_by_name(cat, name) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("dataset \"%s\" already exists", name),
				 errhint("Give another name by the argument dataset.")));
}

static int32
dataset_insert(const Protection *protection, const char *owner, const LaneAmounts *spent)
{
	CatalogArgs args = {0};
	LaneAmounts caps = lanes_exact(&protection->caps);

	arg_text(&args, protection->name);
	arg_text(&args, owner);
	arg_float8(&args, protection->epsilon);
	arg_float8(&args, protection->delta);
	arg_float8(&args, protection->pure_share);
	arg_float8(&args, protection->delta_share);
	arg_lanes(&args, &caps);
	arg_lanes(&args, spent);
	catalog_query("INSERT INTO dpngram.dataset (name, owner, epsilon, delta, accounting, "
				  "pure_share, delta_share, mu2_cap, eps_pure_cap, delta_add_cap, "
				  "mu2_spent, eps_pure_spent, delta_add_spent) "
				  "VALUES ($1, $2, $3, $4, 'gdp', $5, $6, $7, $8, $9, $10, $11, $12) "
				  "RETURNING id",
				  &args);
	return row_int4(0, 1);
}

static void
relation_insert(const Protection *protection, int32 dataset, const char *schema,
				const char *relname, const Binding *binding)
{
	CatalogArgs args = {0};
	ArrayType *columns = NULL;

	if (protection->columns != NIL)
	{
		Datum *names = palloc(sizeof(Datum) * list_length(protection->columns));
		ListCell *cell;
		int n = 0;

		foreach (cell, protection->columns)
			names[n++] = CStringGetTextDatum((char *) lfirst(cell));
		columns = construct_array(names, n, TEXTOID, -1, false, TYPALIGN_INT);
	}
	arg_int4(&args, dataset);
	arg_text(&args, schema);
	arg_text(&args, relname);
	arg_text(&args, protection->user_col);
	if (columns == NULL)
		arg_null(&args, TEXTARRAYOID);
	else
		arg_datum(&args, TEXTARRAYOID, PointerGetDatum(columns));
	catalog_query("INSERT INTO dpngram.relation (dataset, schema, name, user_col, columns) "
				  "VALUES ($1, $2, $3, $4, $5) RETURNING id",
				  &args);
	binding_insert(row_int4(0, 1), binding);
}

static char *
protection_json(const Protection *protection, int32 carried_from)
{
	StringInfoData json;

	json_begin(&json);
	json_text(&json, "user_col", protection->user_col);
	json_number(&json, "epsilon", protection->epsilon);
	json_number(&json, "delta", protection->delta);
	json_text(&json, "accounting", "gdp");
	json_number(&json, "pure_share", protection->pure_share);
	json_number(&json, "delta_share", protection->delta_share);
	if (carried_from != 0)
		json_number(&json, "carried_from", carried_from);
	return json_end(&json);
}

/* Writes dataset, relation, binding and the act; the carried amounts are its price. */
static void
protect(const Catalog *cat, const Protection *protection)
{
	Binding binding = binding_make(protection->relid, protection->user_attnum);
	LaneAmounts spent = lanes_zero();
	int32 carried_from = 0;
	int32 id;
	Oid owner;
	char *schema;
	char *relname;

	relation_refuse_protected(cat, protection->relid, 0);
	refuse_taken_name(cat, protection->name);
	if (protection->carry_forward)
		spent_before(cat, protection->relid, &spent, &carried_from);
	if (lanes_any(&spent))
		ereport(NOTICE,
				(errmsg("dataset \"%s\" carries forward what the relation's ended dataset spent",
						protection->name)));

	if (!relation_identity(protection->relid, &owner, &schema, &relname))
		elog(ERROR, "cache lookup failed for relation %u", protection->relid);
	id = dataset_insert(protection, GetUserNameFromId(owner, false), &spent);
	relation_insert(protection, id, schema, relname, &binding);
	owner_act(cat, dataset_by_id(cat, id), "dp_protect",
			  protection_json(protection, carried_from), &spent);
	relation_warn(cat, protection->relid);
}

PG_FUNCTION_INFO_V1(dpngram_protect);

/*
 * dp_protect(relation, user_col, epsilon, delta, dataset, accounting, pure_share,
 * delta_share, columns, options): puts a relation under a new budget.  README.md
 * tells the arguments, doc/privacy.md ("The ledger") what the shares divide.
 */
Datum
dpngram_protect(PG_FUNCTION_ARGS)
{
	Protection protection;
	Catalog cat;

	owner_may_write("dp_protect()");
	protection = arguments_check(fcinfo);
	catalog_enter(&cat);
	protect(&cat, &protection);
	catalog_leave(&cat);
	PG_RETURN_VOID();
}
