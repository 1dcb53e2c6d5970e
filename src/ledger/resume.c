/*
 * resume.c
 *	  dp_unprotect ends a dataset, dp_resume binds a suspended one again.
 *
 * dp_resume is the owner's word that this copy of relation and ledger is the one
 * that goes on spending: the software can't know whether another copy does so
 * too.  Hence it is never done by itself, and it is logged.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "dpngram_errcodes.h"
#include "fmgr.h"
#include "ledger/binding.h"
#include "ledger/carry.h"
#include "ledger/json.h"
#include "ledger/owner.h"
#include "ledger/relation.h"
#include "ledger/replica.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

static char *
dataset_argument(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("dataset must not be null")));
	return NameStr(*PG_GETARG_NAME(0));
}

PG_FUNCTION_INFO_V1(dpngram_unprotect);

/*
 * dp_unprotect(dataset): ends it for good.  Its releases stay in the log, and
 * what it spent is carried forward if its relation is protected again.
 */
Datum
dpngram_unprotect(PG_FUNCTION_ARGS)
{
	CatalogArgs args = {0};
	Catalog cat;
	Dataset *dataset;
	char *name;

	owner_may_write("dp_unprotect()");
	name = dataset_argument(fcinfo);
	catalog_enter(&cat);
	dataset = owner_dataset(&cat, name);
	owner_act(&cat, dataset, "dp_unprotect", "{}", NULL);
	arg_int4(&args, dataset->id);
	catalog_change("UPDATE dpngram.dataset SET ended = pg_catalog.clock_timestamp() "
				   "WHERE id = $1",
				   &args);
	catalog_leave(&cat);
	PG_RETURN_VOID();
}

/* The relation to bind to; an error if there is none. */
static Oid
relation_to_bind(const Catalog *cat, const Dataset *dataset, const DatasetRelation *relation)
{
	Oid relid = relation_of(relation);

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation %s of dataset \"%s\" does not exist",
						quote_qualified_identifier(relation->schema, relation->relname),
						dataset->name),
				 list_length(dataset->relations) > 1 ?
					 errhint("Restore it, give it that name until dp_resume is done, or take it "
							 "out by dp_detach.") :
					 errhint("Restore it, give it that name until dp_resume is done, or end the "
							 "dataset by dp_unprotect.")));
	relation_lock_owned(relid, cat->caller);
	relation_check_kind(relid);
	relation_refuse_protected(cat, relid, dataset->id);
	return relid;
}

/*
 * A column's number: in the relation that was bound before, the bound column under
 * whatever name it has now, unless it was dropped; else the column of the recorded
 * name.
 */
static const char *
column_to_bind(const DatasetRelation *relation, Oid relid, AttrNumber bound, const char *recorded)
{
	char *name = NULL;

	if (relation->bound && relation->binding.relid == relid &&
		OidIsValid(get_atttype(relid, bound)))
		name = get_attname(relid, bound, true);
	return name ? name : recorded;
}

/*
 * Grants are bound to the roles of their names; those of no role are revoked.  Where
 * several are of one name, all but the last were given to roles that had been dropped,
 * or renamed after nothing refreshed their names.
 */
static void
bind_grantees(const Catalog *cat, int32 dataset)
{
	CatalogArgs args = {0};
	uint64 rows;

	arg_int4(&args, dataset);
	catalog_change("INSERT INTO dpngram.grantee_binding "
				   "SELECT DISTINCT ON (a.oid) g.id, a.oid FROM dpngram.grantee g "
				   "JOIN pg_catalog.pg_roles a ON a.rolname = g.role "
				   "WHERE g.dataset = $1 AND NOT EXISTS (SELECT FROM dpngram.grantee_binding b "
				   "JOIN dpngram.grantee h ON h.id = b.grantee "
				   "WHERE h.dataset = $1 AND (b.grantee = g.id OR b.role = a.oid)) "
				   "ORDER BY a.oid, g.id DESC",
				   &args);
	rows = catalog_query("UPDATE dpngram.grantee g SET revoked = pg_catalog.clock_timestamp() "
						 "WHERE g.dataset = $1 AND g.revoked IS NULL AND NOT EXISTS ("
						 "SELECT 1 FROM dpngram.grantee_binding b "
						 "JOIN pg_catalog.pg_roles a ON a.oid = b.role WHERE b.grantee = g.id) "
						 "RETURNING g.role",
						 &args);
	for (uint64 row = 0; row < rows; row++)
		ereport(WARNING,
				(errmsg("the grant of role \"%s\" is revoked: that role is gone",
						row_text(cat, row, 1))));
}

static void
bind_relation(const Catalog *cat, const Dataset *dataset, const DatasetRelation *relation)
{
	const Binding *before = &relation->binding;
	Oid relid = relation_to_bind(cat, dataset, relation);
	const char *user_col = column_to_bind(relation, relid, before->user_attnum,
										  relation->user_col);
	AttrNumber time_attnum = InvalidAttrNumber;
	Binding binding;
	CatalogArgs args = {0};
	Oid owner;
	char *schema;
	char *relname;

	if (relation->time_col != NULL)
	{
		time_attnum = relation_time_attnum(relid, column_to_bind(relation, relid,
																 before->time_attnum,
																 relation->time_col));
		renewal_check_column(&dataset->renewal, relid, time_attnum);
	}
	binding = binding_make(relid, relation_user_attnum(relid, user_col), time_attnum);
	binding_insert(relation->id, &binding);

	if (!relation_identity(relid, &owner, &schema, &relname))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	arg_int4(&args, dataset->id);
	arg_text(&args, GetUserNameFromId(owner, false));
	catalog_change("UPDATE dpngram.dataset SET owner = $2 WHERE id = $1", &args);
}

static char *
resume_json(const char *defect, const Carried *carried)
{
	StringInfoData json;

	json_begin(&json);
	if (defect != NULL)
		json_text(&json, "reason", defect);
	carry_json(&json, carried);
	return json_end(&json);
}

static void
bind_anew(const Catalog *cat, const Dataset *dataset)
{
	ListCell *cell;

	refuse_subscribed();
	foreach (cell, dataset->relations)
	{
		if (binding_defect(lfirst(cell)) != NULL)
			bind_relation(cat, dataset, lfirst(cell));
	}
	bind_grantees(cat, dataset->id);
}

PG_FUNCTION_INFO_V1(dpngram_resume);

/*
 * dp_resume(dataset): binds the suspended relations of a dataset to what they are
 * now, and its grants to the roles of their names; what was spent on rows that have
 * come meanwhile is carried forward.
 */
Datum
dpngram_resume(PG_FUNCTION_ARGS)
{
	Catalog cat;
	Dataset *dataset;
	Carried carried;
	const char *defect;
	char *name;

	owner_may_write("dp_resume()");
	name = dataset_argument(fcinfo);
	catalog_enter(&cat);
	dataset = owner_dataset(&cat, name);
	defect = dataset_defect(dataset);
	if (defect != NULL)
		bind_anew(&cat, dataset);
	dataset = dataset_by_id(&cat, dataset->id);
	carried = carry_catch_up(&cat, dataset);
	if (defect == NULL && !carried.any)
		ereport(NOTICE, (errmsg("dataset \"%s\" is not suspended", name)));
	else
		owner_act(&cat, dataset, "dp_resume", resume_json(defect, &carried), &carried.spent);
	catalog_leave(&cat);
	PG_RETURN_VOID();
}
