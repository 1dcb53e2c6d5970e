/*
 * binding.c
 *	  Ties a dataset's relations to the very relations it was made for.
 *
 * The dumped tables name a relation by schema and name, as plain text.  What
 * identifies it is a row of dpngram.relation_binding, which is not dumped: the
 * cluster's system identifier and the OIDs of database, relation, owner and the
 * types of the columns that the dataset is about, with those columns' numbers.  So
 *
 *	- a rename changes nothing, since OIDs decide;
 *	- a new table of an old name inherits nothing;
 *	- a restored dump has no binding, and a copy by CREATE DATABASE ... TEMPLATE
 *	  or pg_upgrade a different one: the dataset is suspended until its owner
 *	  says, by dp_resume(), that this copy shall spend the budget.
 *
 * The binding also knows the timeline on which it was made.  A server that was
 * promoted, or recovered to an earlier point, is on a later one, and debits may
 * be lost: suspended as well.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "dpngram_errcodes.h"
#include "ledger/binding.h"
#include "ledger/relation.h"
#include "ledger/version.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* The binding of a relation as it is now, in this database and cluster. */
Binding
binding_make(Oid relid, AttrNumber user_attnum, AttrNumber time_attnum)
{
	Binding binding;
	char *schema;
	char *relname;

	binding.system_identifier = GetSystemIdentifier();
	binding.timeline = catalog_timeline();
	binding.database = MyDatabaseId;
	binding.relid = relid;
	binding.user_attnum = user_attnum;
	binding.user_type = get_atttype(relid, user_attnum);
	binding.time_attnum = time_attnum;
	binding.time_type = time_attnum == 0 ? InvalidOid : get_atttype(relid, time_attnum);
	if (!relation_identity(relid, &binding.owner, &schema, &relname))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	return binding;
}

/* Binds, replacing what the relation was bound to before. */
void
binding_insert(int32 relation_id, const Binding *binding)
{
	CatalogArgs args = {0};

	arg_int4(&args, relation_id);
	arg_int8(&args, (int64) binding->system_identifier);
	arg_int8(&args, binding->timeline);
	arg_oid(&args, binding->database);
	arg_oid(&args, binding->relid);
	arg_int4(&args, binding->user_attnum);
	arg_oid(&args, binding->user_type);
	arg_oid(&args, binding->owner);
	arg_int4(&args, binding->time_attnum);
	arg_oid(&args, binding->time_type);
	catalog_change("INSERT INTO dpngram.relation_binding (relation, system_identifier, timeline, "
				   "database, relid, user_attnum, user_type, owner, time_attnum, time_type) "
				   "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) "
				   "ON CONFLICT (relation) DO UPDATE SET "
				   "system_identifier = $2, timeline = $3, database = $4, relid = $5, "
				   "user_attnum = $6, user_type = $7, owner = $8, time_attnum = $9, "
				   "time_type = $10",
				   &args);
}

/*
 * Notes which partitions and children a relation has whose rows are about to be read,
 * and which it had and has not any more: taken out of it, they have lost what its
 * dataset spent until then (carry.c).  Before the release's own row is written.
 */
void
binding_note_children(const DatasetRelation *relation)
{
	CatalogArgs args = {0};

	if (!relation_has_kin(relation->binding.relid))
		return;
	arg_oid(&args, relation->binding.relid);
	arg_int4(&args, relation->id);
	catalog_change("WITH RECURSIVE " DOWN_CTE ", "
				   "child AS (SELECT relid, 0::int8 AS until FROM down WHERE relid <> $1), "
				   "gone AS (SELECT c.relid, CASE c.until WHEN 0 THEN d.releases ELSE c.until END "
				   "FROM dpngram.relation_binding b JOIN dpngram.relation r ON r.id = b.relation "
				   "JOIN dpngram.dataset d ON d.id = r.dataset "
				   "CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(b.children), "
				   "pg_catalog.unnest(b.children_until)) c (relid, until) "
				   "WHERE b.relation = $2 AND c.relid NOT IN (SELECT relid FROM child)), "
				   "now AS (SELECT pg_catalog.array_agg(n.relid ORDER BY n.relid) AS children, "
				   "pg_catalog.array_agg(n.until ORDER BY n.relid) AS until "
				   "FROM (SELECT * FROM child UNION ALL SELECT * FROM gone) n) "
				   "UPDATE dpngram.relation_binding b SET children = now.children, "
				   "children_until = now.until FROM now WHERE b.relation = $2 "
				   "AND now.children IS NOT NULL AND (b.children <> now.children "
				   "OR b.children_until <> now.until)",
				   &args);
}

static bool
binding_is_local(const Binding *binding)
{
	return binding->system_identifier == GetSystemIdentifier() &&
		   binding->database == MyDatabaseId;
}

static bool
column_differs(Oid relid, AttrNumber attnum, Oid type)
{
	return get_attname(relid, attnum, true) == NULL || get_atttype(relid, attnum) != type;
}

static const char *
binding_compare(const Binding *binding)
{
	Oid owner;
	char *schema;
	char *relname;

	if (!binding_is_local(binding))
		return "The ledger was copied from another database.";
	/* a standby is on its primary's timeline, and charges nothing */
	if (!RecoveryInProgress() && binding->timeline != catalog_timeline())
		return "The server was promoted, or recovered to an earlier point: debits may be lost.";
	if (!relation_identity(binding->relid, &owner, &schema, &relname))
		return "The relation it was made for does not exist any more.";
	if (owner != binding->owner)
		return "The relation has another owner than when it was protected.";
	if (column_differs(binding->relid, binding->user_attnum, binding->user_type))
		return "The privacy unit's column was dropped or changed its type.";
	if (binding->time_attnum != 0 &&
		column_differs(binding->relid, binding->time_attnum, binding->time_type))
		return "The column with the rows' time was dropped or changed its type.";
	return NULL;
}

/* Why a relation is suspended, as a sentence; NULL if it is not. */
const char *
binding_defect(const DatasetRelation *relation)
{
	if (!relation->bound)
		return "The ledger was restored from a dump.";
	return binding_compare(&relation->binding);
}

/* The first defect of any of the dataset's relations; NULL if there is none. */
const char *
dataset_defect(const Dataset *dataset)
{
	const char *defect = NULL;
	ListCell *cell;

	foreach (cell, dataset->relations)
	{
		if (defect == NULL)
			defect = binding_defect(lfirst(cell));
	}
	return defect;
}

/* Says that a dataset is suspended, and why. */
void
binding_refuse(const Dataset *dataset, const char *defect)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_SUSPENDED),
			 errmsg("dataset \"%s\" is suspended", dataset->name),
			 errdetail_internal("%s", defect),
			 errhint("Its owner resumes it by dp_resume(%s).",
					 quote_literal_cstr(dataset->name))));
}

/* Refuses a suspended relation. */
void
binding_check(const Dataset *dataset, const DatasetRelation *relation)
{
	const char *defect = binding_defect(relation);

	if (defect != NULL)
		binding_refuse(dataset, defect);
}

/*
 * The relation that is meant now: the one it is bound to, else the one of its
 * recorded name; InvalidOid if neither exists.
 */
Oid
relation_of(const DatasetRelation *relation)
{
	Oid schema;

	if (relation->bound && binding_is_local(&relation->binding) &&
		SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation->binding.relid)))
		return relation->binding.relid;
	schema = get_namespace_oid(relation->schema, true);
	return OidIsValid(schema) ? get_relname_relid(relation->relname, schema) : InvalidOid;
}

/*
 * The role that speaks for a relation of a dataset.  While the relation it is
 * bound to exists, that is its owner; for one that was dropped it stays the owner
 * it was bound to, so that whoever makes a new table of that name does not get
 * it.  In a copy it is the role of the recorded name, unless a relation of the
 * recorded name is another's: then nobody but a superuser can tell which of the
 * two is meant.
 */
Oid
relation_owner(const Dataset *dataset, const DatasetRelation *relation)
{
	Oid relid = relation_of(relation);
	Oid owner = InvalidOid;
	Oid recorded;
	char *schema;
	char *relname;

	if (OidIsValid(relid))
		(void) relation_identity(relid, &owner, &schema, &relname);
	if (relation->bound && binding_is_local(&relation->binding))
		return relid == relation->binding.relid ? owner : relation->binding.owner;
	recorded = get_role_oid(dataset->owner, true);
	return OidIsValid(relid) && owner != recorded ? InvalidOid : recorded;
}

/* May the role change the dataset?  It must speak for all of its relations. */
bool
dataset_owned_by(const Dataset *dataset, Oid role)
{
	ListCell *cell;

	if (superuser_arg(role))
		return true;
	foreach (cell, dataset->relations)
	{
		Oid owner = relation_owner(dataset, lfirst(cell));

		if (!OidIsValid(owner) || !has_privs_of_role(role, owner))
			return false;
	}
	return true;
}

/* The relation's name for the log: the present one, else the recorded. */
char *
relation_text(const DatasetRelation *relation)
{
	Oid owner;
	char *schema;
	char *relname;

	if (binding_defect(relation) == NULL &&
		relation_identity(relation->binding.relid, &owner, &schema, &relname))
		return quote_qualified_identifier(schema, relname);
	return quote_qualified_identifier(relation->schema, relation->relname);
}

static bool
same_name(const char *a, const char *b)
{
	return (a == NULL || b == NULL) ? a == b : strcmp(a, b) == 0;
}

static void
refresh_names(const DatasetRelation *relation)
{
	const Binding *binding = &relation->binding;
	CatalogArgs args = {0};
	Oid owner;
	char *schema;
	char *relname;
	char *user_col;
	char *time_col = NULL;

	if (binding_defect(relation) != NULL ||
		!relation_identity(binding->relid, &owner, &schema, &relname))
		return;
	user_col = get_attname(binding->relid, binding->user_attnum, false);
	if (binding->time_attnum != 0)
		time_col = get_attname(binding->relid, binding->time_attnum, false);
	if (same_name(schema, relation->schema) && same_name(relname, relation->relname) &&
		same_name(user_col, relation->user_col) && same_name(time_col, relation->time_col))
		return;
	arg_int4(&args, relation->id);
	arg_text(&args, schema);
	arg_text(&args, relname);
	arg_text(&args, user_col);
	arg_text(&args, time_col);
	catalog_change("UPDATE dpngram.relation SET schema = $2, name = $3, user_col = $4, "
				   "time_col = $5 WHERE id = $1",
				   &args);
}

/* Takes over the relations' present names, so that a dump carries them. */
void
dataset_refresh_names(const Dataset *dataset)
{
	ListCell *cell;

	foreach (cell, dataset->relations)
		refresh_names(lfirst(cell));
}

PG_FUNCTION_INFO_V1(dpngram_binding_matches);

/*
 * binding_matches(system_identifier, database, relid, user_attnum, user_type,
 * owner, timeline, time_attnum, time_type): is what a binding says still true
 * here?  For the views.
 */
Datum
dpngram_binding_matches(PG_FUNCTION_ARGS)
{
	Binding binding;

	if (PG_NARGS() != 9) /* 0.1.0's had 6 */
		version_refuse();
	binding.system_identifier = (uint64) PG_GETARG_INT64(0);
	binding.database = PG_GETARG_OID(1);
	binding.relid = PG_GETARG_OID(2);
	binding.user_attnum = (AttrNumber) PG_GETARG_INT32(3);
	binding.user_type = PG_GETARG_OID(4);
	binding.owner = PG_GETARG_OID(5);
	binding.timeline = PG_GETARG_INT64(6);
	binding.time_attnum = (AttrNumber) PG_GETARG_INT32(7);
	binding.time_type = PG_GETARG_OID(8);
	PG_RETURN_BOOL(binding_compare(&binding) == NULL);
}
