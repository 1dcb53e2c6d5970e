/*
 * protect.c
 *	  dp_protect: puts a relation under a budget of its own.
 *
 * The caps are computed once, here, and stored (accounting.c): a filter whose
 * caps followed what was already seen would prove nothing.  A relation that was
 * protected before starts with what its ended dataset had spent, because what its
 * people lost by those releases is not forgotten by ending the dataset.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "fmgr.h"
#include "ledger/access.h"
#include "ledger/attach.h"
#include "ledger/budget.h"
#include "ledger/carry.h"
#include "ledger/json.h"
#include "ledger/options.h"
#include "ledger/owner.h"
#include "ledger/relation.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"

/*
 * The smallest epsilon of a call, as a share of the budget's.  Whether a call fails and how long it
 * takes is watched for free otherwise, by as many calls as one likes.
 */
#define DEFAULT_MIN_EPSILON 1e-3

/* The arguments of dp_protect after their checks. */
typedef struct Protection
{
	char *name;
	bool named; /* by the caller */
	Attachment relation;
	Budget budget;
	Renewal renewal;
	char *renews; /* the option as it was written */
	bool carry_forward;
	bool public_user_count;
	double min_epsilon;
	LaneAmounts caps;
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

/* The options: carry_forward, public_user_count, min_epsilon, and how the budget renews. */
static void
options_argument(Jsonb *options, Protection *protection)
{
	char *window = NULL;
	char *zone = NULL;
	const Option known[] = {
		{"carry_forward", OPTION_BOOL, &protection->carry_forward},
		{"public_user_count", OPTION_BOOL, &protection->public_user_count},
		{"min_epsilon", OPTION_NUMBER, &protection->min_epsilon},
		{"renews", OPTION_TEXT, &protection->renews},
		{"window", OPTION_TEXT, &window},
		{"time_col", OPTION_TEXT, &protection->relation.time_col},
		{"time_zone", OPTION_TEXT, &zone}};

	protection->carry_forward = true;
	protection->min_epsilon = protection->budget.epsilon * DEFAULT_MIN_EPSILON;
	options_read(options, known, lengthof(known));
	if (!(protection->min_epsilon >= 0 && protection->min_epsilon <= protection->budget.epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("option \"min_epsilon\" must lie between 0 and the budget's epsilon")));
	if (!protection->carry_forward && !superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only a superuser may forget what an ended dataset spent")));
	if (protection->renews != NULL)
		protection->renewal = renewal_arguments(protection->renews, window, zone);
	else if (window != NULL || zone != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("option \"%s\" needs the option \"renews\"",
						window != NULL ? "window" : "time_zone")));
}

static LedgerAccounting
accounting_argument(FunctionCallInfo fcinfo, int argument)
{
	LedgerAccounting accounting;
	char *name;

	refuse_null(fcinfo, argument, "accounting");
	name = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	if (!accounting_by_name(name, &accounting))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("unknown accounting \"%s\"", name),
				 errhint("Known are gdp, zcdp and basic.")));
	return accounting;
}

/* The shares, where the accounting has lanes for them. */
static Budget
budget_arguments(FunctionCallInfo fcinfo)
{
	Budget budget;

	refuse_null(fcinfo, 2, "epsilon");
	refuse_null(fcinfo, 3, "delta");
	budget.epsilon = PG_GETARG_FLOAT8(2);
	budget.delta = PG_GETARG_FLOAT8(3);
	budget.accounting = accounting_argument(fcinfo, 5);
	budget_check(&budget);
	budget.pure_share = share_argument(fcinfo, 6, "pure_share");
	budget.delta_share = share_argument(fcinfo, 7, "delta_share");
	if (budget.delta == 0)
		budget.delta_share = 0;
	if (budget.accounting == ACCOUNTING_GDP && budget.delta == 0)
		budget.pure_share = 1;
	return budget;
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

/* The same with its schema in front, whatever the search_path. */
static char *
qualified_name(Oid relid)
{
	char *schema = get_namespace_name(get_rel_namespace(relid));
	Datum name = DirectFunctionCall1(namein, CStringGetDatum(quote_qualified_identifier(
												 schema, get_rel_name(relid))));

	return NameStr(*DatumGetName(name));
}

/*
 * Names of the form SCHEMA.NAME belong to the relations of that schema: nobody else takes them, so
 * that every relation can have a dataset of its own name.
 */
static void
refuse_foreign_name(const char *name, Oid relid)
{
	List *parts;
	Oid schema;

	if (superuser() || !SplitIdentifierString(pstrdup(name), '.', &parts) ||
		list_length(parts) < 2)
		return;
	schema = get_namespace_oid(linitial(parts), true);
	if (OidIsValid(schema) && schema != get_rel_namespace(relid))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("a dataset of schema \"%s\" cannot be named \"%s\"",
						get_namespace_name(get_rel_namespace(relid)), name),
				 errdetail("Such names are for relations of schema \"%s\".",
						   get_namespace_name(schema))));
}

static char *
name_argument(FunctionCallInfo fcinfo, Oid relid)
{
	char *name;

	if (PG_ARGISNULL(4))
		return default_name(relid);
	name = NameStr(*PG_GETARG_NAME(4));
	if (name[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("a dataset's name must not be empty")));
	refuse_foreign_name(name, relid);
	return name;
}

/* All checks that need the relation and the arguments, but not the ledger. */
static Protection
arguments_check(FunctionCallInfo fcinfo)
{
	Protection protection = {0};
	Attachment *relation = &protection.relation;

	refuse_null(fcinfo, 0, "relation");
	refuse_null(fcinfo, 1, "user_col");
	refuse_null(fcinfo, 9, "options");
	relation->relid = PG_GETARG_OID(0);
	relation->user_col = NameStr(*PG_GETARG_NAME(1));
	protection.budget = budget_arguments(fcinfo);
	options_argument(PG_GETARG_JSONB_P(9), &protection);

	attachment_check(relation, PG_ARGISNULL(8) ? NULL : PG_GETARG_ARRAYTYPE_P(8));
	attachment_check_time(relation, &protection.renewal);
	protection.named = !PG_ARGISNULL(4);
	protection.name = name_argument(fcinfo, relation->relid);
	protection.caps = budget_caps(&protection.budget);
	return protection;
}

/* Somebody else may have taken the short name: then it is the long one, which nobody else can. */
static void
settle_name(const Catalog *cat, Protection *protection)
{
	const char *name = protection->name;

	if (!protection->named && dataset_by_name(cat, name) != NULL)
	{
		name = protection->name = qualified_name(protection->relation.relid);
		ereport(NOTICE, (errmsg("the dataset is named \"%s\"", name)));
	}
	if (dataset_by_name(cat, name) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("dataset \"%s\" already exists", name),
				 errhint("Give another name by the argument dataset.")));
}

static void
arg_renewal(CatalogArgs *args, const Renewal *renewal)
{
	if (renewal->every == NULL)
	{
		arg_null(args, INTERVALOID);
		arg_null(args, TEXTOID);
		arg_null(args, TEXTOID);
		return;
	}
	arg_datum(args, INTERVALOID, IntervalPGetDatum(renewal->every));
	arg_text(args, renewal->rolling ? "rolling" : "calendar");
	arg_text(args, renewal->zone);
}

static int32
dataset_insert(const Protection *protection, const char *owner)
{
	CatalogArgs args = {0};

	arg_text(&args, protection->name);
	arg_text(&args, owner);
	arg_float8(&args, protection->budget.epsilon);
	arg_float8(&args, protection->budget.delta);
	arg_text(&args, accounting_name(protection->budget.accounting));
	arg_float8(&args, protection->budget.pure_share);
	arg_float8(&args, protection->budget.delta_share);
	arg_lanes(&args, &protection->caps);
	arg_renewal(&args, &protection->renewal);
	arg_datum(&args, BOOLOID, BoolGetDatum(protection->public_user_count));
	arg_float8(&args, protection->min_epsilon);
	catalog_query("INSERT INTO dpngram.dataset (name, owner, epsilon, delta, accounting, "
				  "pure_share, delta_share, " CAP_COLUMNS ", renews, renewal, time_zone, "
				  "public_user_count, min_epsilon) "
				  "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, "
				  "$15, $16, $17, $18, $19) RETURNING id",
				  &args);
	return row_int4(0, 1);
}

static char *
protection_json(const Protection *protection, const Carried *carried)
{
	StringInfoData json;

	json_begin(&json);
	json_text(&json, "user_col", protection->relation.user_col);
	json_number(&json, "epsilon", protection->budget.epsilon);
	json_number(&json, "delta", protection->budget.delta);
	json_text(&json, "accounting", accounting_name(protection->budget.accounting));
	json_number(&json, "pure_share", protection->budget.pure_share);
	json_number(&json, "delta_share", protection->budget.delta_share);
	json_number(&json, "min_epsilon", protection->min_epsilon);
	if (protection->renewal.every != NULL)
	{
		json_text(&json, "renews", protection->renews);
		json_text(&json, "window", protection->renewal.rolling ? "rolling" : "calendar");
		json_text(&json, "time_col", protection->relation.time_col);
		json_text(&json, "time_zone", protection->renewal.zone);
	}
	if (protection->public_user_count)
		json_bool(&json, "public_user_count", true);
	carry_json(&json, carried);
	return json_end(&json);
}

/* Writes dataset, relation, binding and the act; the carried amounts are its price. */
static void
protect(const Catalog *cat, Protection *protection)
{
	Oid relid = protection->relation.relid;
	Carried carried;
	int32 id;
	Oid owner;
	char *schema;
	char *relname;

	relation_refuse_protected(cat, relid, 0);
	settle_name(cat, protection);
	carried = carry_sources(cat, &protection->relation, 0, &protection->renewal,
							protection->carry_forward);
	if (carried.any)
		ereport(NOTICE,
				(errmsg("dataset \"%s\" carries forward what former datasets of the relation spent",
						protection->name)));

	if (!relation_identity(relid, &owner, &schema, &relname))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	id = dataset_insert(protection, GetUserNameFromId(owner, false));
	attach(id, &protection->relation);
	carry_record(id, &carried);
	owner_act(cat, dataset_by_id(cat, id), "dp_protect", protection_json(protection, &carried),
			  &carried.spent);
	relation_warn(cat, relid);
}

PG_FUNCTION_INFO_V1(dpngram_protect);

/*
 * dp_protect(relation, user_col, epsilon, delta, dataset, accounting, pure_share,
 * delta_share, columns, options): puts a relation under a new budget.
 * doc/reference.md tells the arguments, doc/privacy.md ("The ledger") what the shares divide.
 */
Datum
dpngram_protect(PG_FUNCTION_ARGS)
{
	Protection protection;
	Catalog cat;

	owner_may_write("dp_protect()");
	protection = arguments_check(fcinfo);
	catalog_enter(&cat);
	refuse_other_ledger();
	protect(&cat, &protection);
	catalog_leave(&cat);
	PG_RETURN_VOID();
}
