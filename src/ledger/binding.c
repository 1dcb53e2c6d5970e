/*
 * binding.c
 *	  Ties a dataset to the very relation it was made for.
 *
 * The dumped tables name a relation by schema and name, as plain text.  What
 * identifies it is a row of dpngram.relation_binding, which is not dumped: the
 * cluster's system identifier and the OIDs of database, relation, owner and the
 * user column's type, with that column's number.  So
 *
 *	- a rename changes nothing, since OIDs decide;
 *	- a new table of an old name inherits nothing;
 *	- a restored dump has no binding, and a copy by CREATE DATABASE ... TEMPLATE
 *	  or pg_upgrade a different one: the dataset is suspended until its owner
 *	  says, by dp_resume(), that this copy shall spend the budget.
 *
 * A dataset is locked by a lock-manager lock named (dpngram.dataset, id): see
 * charge.c.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "ledger/binding.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* The columns that dataset_fetch() reads, of live datasets only. */
static const char *const dataset_select =
	"SELECT d.id, d.name, d.owner, d.epsilon, d.delta, d.pure_share, d.delta_share, "
	"d.mu2_cap::float8, d.eps_pure_cap::float8, d.delta_add_cap::float8, "
	"r.id, r.schema, r.name, r.user_col, r.columns, "
	"b.system_identifier, b.database, b.relid, b.user_attnum, b.user_type, b.owner, "
	"d.xmin, r.xmin, b.xmin "
	"FROM dpngram.dataset d "
	"JOIN dpngram.relation r ON r.dataset = d.id "
	"LEFT JOIN dpngram.relation_binding b ON b.relation = r.id "
	"WHERE d.ended IS NULL AND ";

static List *
text_list(const Catalog *cat, uint64 row, int column)
{
	MemoryContext old = MemoryContextSwitchTo(cat->outer);
	List *result = NIL;
	bool isnull;
	Datum value = row_datum(row, column, &isnull);

	if (!isnull)
	{
		Datum *elements;
		int n;

		deconstruct_array(DatumGetArrayTypeP(value), TEXTOID, -1, false, TYPALIGN_INT, &elements,
						  NULL, &n);
		for (int i = 0; i < n; i++)
			result = lappend(result, TextDatumGetCString(elements[i]));
	}
	MemoryContextSwitchTo(old);
	return result;
}

/* The first live dataset for which the condition holds; NULL if there is none. */
static Dataset *
dataset_fetch(const Catalog *cat, const char *condition, const CatalogArgs *args)
{
	Dataset *dataset;

	if (catalog_query(psprintf("%s%s LIMIT 1", dataset_select, condition), args) == 0)
		return NULL;

	dataset = MemoryContextAllocZero(cat->outer, sizeof(Dataset));
	dataset->id = row_int4(0, 1);
	dataset->name = row_text(cat, 0, 2);
	dataset->owner = row_text(cat, 0, 3);
	dataset->epsilon = row_float8(0, 4);
	dataset->delta = row_float8(0, 5);
	dataset->pure_share = row_float8(0, 6);
	dataset->delta_share = row_float8(0, 7);
	dataset->caps.mu2 = row_float8(0, 8); /* exact: caps are doubles */
	dataset->caps.eps_pure = row_float8(0, 9);
	dataset->caps.delta_add = row_float8(0, 10);
	dataset->relation_id = row_int4(0, 11);
	dataset->schema = row_text(cat, 0, 12);
	dataset->relname = row_text(cat, 0, 13);
	dataset->user_col = row_text(cat, 0, 14);
	dataset->columns = text_list(cat, 0, 15);
	dataset->bound = !row_isnull(0, 16);
	if (dataset->bound)
	{
		dataset->binding.system_identifier = (uint64) row_int8(0, 16);
		dataset->binding.database = row_oid(0, 17);
		dataset->binding.relid = row_oid(0, 18);
		dataset->binding.user_attnum = (AttrNumber) row_int4(0, 19);
		dataset->binding.user_type = row_oid(0, 20);
		dataset->binding.owner = row_oid(0, 21);
	}
	dataset->own_change = row_own_change(0, 22) || row_own_change(0, 23) ||
						  row_own_change(0, 24);
	return dataset;
}

/*
 * The live dataset of a relation: the one bound to its OID, else an unbound one
 * that names it.  NULL if there is none.
 */
Dataset *
dataset_of_relation(const Catalog *cat, Oid relid)
{
	CatalogArgs args = {0};
	Oid owner;
	char *schema;
	char *relname;

	if (!relation_identity(relid, &owner, &schema, &relname))
		return NULL;
	arg_oid(&args, relid);
	arg_text(&args, schema);
	arg_text(&args, relname);
	return dataset_fetch(cat,
						 "(b.relid = $1 OR "
						 "(b.relation IS NULL AND r.schema = $2 AND r.name = $3)) "
						 "ORDER BY b.relation IS NULL, d.id",
						 &args);
}

Dataset *
dataset_by_name(const Catalog *cat, const char *name)
{
	CatalogArgs args = {0};

	arg_text(&args, name);
	return dataset_fetch(cat, "d.name = $1 ORDER BY r.id", &args);
}

Dataset *
dataset_by_id(const Catalog *cat, int32 id)
{
	CatalogArgs args = {0};

	arg_int4(&args, id);
	return dataset_fetch(cat, "d.id = $1 ORDER BY r.id", &args);
}

/* The lock of charge.c's protocol, until dataset_unlock() or the transaction's end. */
void
dataset_lock(int32 id)
{
	LockDatabaseObject(catalog_class(), (Oid) id, 0, ExclusiveLock);
}

void
dataset_unlock(int32 id)
{
	UnlockDatabaseObject(catalog_class(), (Oid) id, 0, ExclusiveLock);
}

/*
 * A relation's owner and names (palloc'd); false if there is no such relation.
 */
bool
relation_identity(Oid relid, Oid *owner, char **schema, char **relname)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	*owner = form->relowner;
	*relname = pstrdup(NameStr(form->relname));
	*schema = get_namespace_name(form->relnamespace);
	ReleaseSysCache(tuple);
	return *schema != NULL;
}

/* The name of the dataset's relation for the log: the present one, else the recorded. */
char *
dataset_relation_text(const Dataset *dataset)
{
	Oid owner;
	char *schema;
	char *relname;

	if (binding_defect(dataset) == NULL &&
		relation_identity(dataset->binding.relid, &owner, &schema, &relname))
		return quote_qualified_identifier(schema, relname);
	return quote_qualified_identifier(dataset->schema, dataset->relname);
}

/* The binding of a relation as it is now, in this database and cluster. */
Binding
binding_make(Oid relid, AttrNumber user_attnum)
{
	Binding binding;
	char *schema;
	char *relname;

	binding.system_identifier = GetSystemIdentifier();
	binding.database = MyDatabaseId;
	binding.relid = relid;
	binding.user_attnum = user_attnum;
	binding.user_type = get_atttype(relid, user_attnum);
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
	arg_oid(&args, binding->database);
	arg_oid(&args, binding->relid);
	arg_int4(&args, binding->user_attnum);
	arg_oid(&args, binding->user_type);
	arg_oid(&args, binding->owner);
	catalog_change("INSERT INTO dpngram.relation_binding "
				   "VALUES ($1, $2, $3, $4, $5, $6, $7) "
				   "ON CONFLICT (relation) DO UPDATE SET "
				   "system_identifier = $2, database = $3, relid = $4, user_attnum = $5, "
				   "user_type = $6, owner = $7",
				   &args);
}

static bool
binding_is_local(const Binding *binding)
{
	return binding->system_identifier == GetSystemIdentifier() &&
		   binding->database == MyDatabaseId;
}

static const char *
binding_compare(const Binding *binding)
{
	Oid owner;
	char *schema;
	char *relname;

	if (!binding_is_local(binding))
		return "The ledger was copied from another database.";
	if (!relation_identity(binding->relid, &owner, &schema, &relname))
		return "The relation it was made for does not exist any more.";
	if (owner != binding->owner)
		return "The relation has another owner than when it was protected.";
	if (get_attname(binding->relid, binding->user_attnum, true) == NULL ||
		get_atttype(binding->relid, binding->user_attnum) != binding->user_type)
		return "The privacy unit's column was dropped or changed its type.";
	return NULL;
}

/* Why the dataset is suspended, as a sentence; NULL if it is not. */
const char *
binding_defect(const Dataset *dataset)
{
	if (!dataset->bound)
		return "The ledger was restored from a dump.";
	return binding_compare(&dataset->binding);
}

/* Refuses a suspended dataset. */
void
binding_check(const Dataset *dataset)
{
	const char *defect = binding_defect(dataset);

	if (defect != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_SUSPENDED),
				 errmsg("dataset \"%s\" is suspended", dataset->name),
				 errdetail_internal("%s", defect),
				 errhint("Its owner resumes it by dp_resume(%s).",
						 quote_literal_cstr(dataset->name))));
}

/*
 * The relation that the dataset means now: the one it is bound to, else the one
 * of its recorded name; InvalidOid if neither exists.
 */
Oid
dataset_relation(const Dataset *dataset)
{
	Oid schema;

	if (dataset->bound && binding_is_local(&dataset->binding) &&
		SearchSysCacheExists1(RELOID, ObjectIdGetDatum(dataset->binding.relid)))
		return dataset->binding.relid;
	schema = get_namespace_oid(dataset->schema, true);
	return OidIsValid(schema) ? get_relname_relid(dataset->relname, schema) : InvalidOid;
}

/*
 * The role that may change the dataset.  While the relation it is bound to
 * exists, that is the relation's owner; a dataset whose relation was dropped
 * stays with the owner it was bound to, so that whoever makes a new table of that
 * name does not get it.  In a copy it is the role of the recorded name, unless
 * a relation of the recorded name is another's: then nobody but a superuser can
 * tell which of the two is meant.
 */
Oid
dataset_owner(const Dataset *dataset)
{
	Oid relid = dataset_relation(dataset);
	Oid owner = InvalidOid;
	Oid recorded;
	char *schema;
	char *relname;

	if (OidIsValid(relid))
		(void) relation_identity(relid, &owner, &schema, &relname);
	if (dataset->bound && binding_is_local(&dataset->binding))
		return relid == dataset->binding.relid ? owner : dataset->binding.owner;
	recorded = get_role_oid(dataset->owner, true);
	return OidIsValid(relid) && owner != recorded ? InvalidOid : recorded;
}

/* Takes over the relation's present names, so that a dump carries them. */
void
dataset_refresh_names(const Dataset *dataset)
{
	CatalogArgs args = {0};
	Oid owner;
	char *schema;
	char *relname;
	char *user_col;

	if (binding_defect(dataset) != NULL ||
		!relation_identity(dataset->binding.relid, &owner, &schema, &relname))
		return;
	user_col = get_attname(dataset->binding.relid, dataset->binding.user_attnum, false);
	if (strcmp(schema, dataset->schema) == 0 && strcmp(relname, dataset->relname) == 0 &&
		strcmp(user_col, dataset->user_col) == 0)
		return;
	arg_int4(&args, dataset->relation_id);
	arg_text(&args, schema);
	arg_text(&args, relname);
	arg_text(&args, user_col);
	catalog_change("UPDATE dpngram.relation SET schema = $2, name = $3, user_col = $4 "
				   "WHERE id = $1",
				   &args);
}

PG_FUNCTION_INFO_V1(dpngram_binding_matches);

/*
 * binding_matches(system_identifier, database, relid, user_attnum, user_type,
 * owner): is what a binding says still true here?  For the views.
 */
Datum
dpngram_binding_matches(PG_FUNCTION_ARGS)
{
	Binding binding;

	binding.system_identifier = (uint64) PG_GETARG_INT64(0);
	binding.database = PG_GETARG_OID(1);
	binding.relid = PG_GETARG_OID(2);
	binding.user_attnum = (AttrNumber) PG_GETARG_INT32(3);
	binding.user_type = PG_GETARG_OID(4);
	binding.owner = PG_GETARG_OID(5);
	PG_RETURN_BOOL(binding_compare(&binding) == NULL);
}
