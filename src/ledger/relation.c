/*
 * relation.c
 *	  Judges a relation before it is bound to a dataset: who owns it, what kind
 *	  it is, what its privacy unit is, and what else holds the same rows.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "ledger/relation.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

static void
refuse_unless_owner(Oid relid, Oid caller)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	form = (Form_pg_class) GETSTRUCT(tuple);
	if (!has_privs_of_role(caller, form->relowner))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(form->relkind),
					   NameStr(form->relname));
	ReleaseSysCache(tuple);
}

/*
 * Locks the relation against other owners' functions and changes of its shape,
 * until the transaction's end.  Only its owner may; that is checked before the
 * lock too, so that nobody else can get in others' way.
 */
void
relation_lock_owned(Oid relid, Oid caller)
{
	refuse_unless_owner(relid, caller);
	LockRelationOid(relid, ShareUpdateExclusiveLock);
	refuse_unless_owner(relid, caller);
}

static bool
is_protectable_kind(char relkind)
{
	return relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE ||
		   relkind == RELKIND_VIEW || relkind == RELKIND_MATVIEW ||
		   relkind == RELKIND_FOREIGN_TABLE;
}

/* Refuses what is no relation of users' rows, or is visible to one session only. */
void
relation_check_kind(Oid relid)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	form = (Form_pg_class) GETSTRUCT(tuple);
	if (!is_protectable_kind(form->relkind))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot protect relation \"%s\"", NameStr(form->relname)),
				 errdetail("Tables, partitioned tables, views, materialized views and "
						   "foreign tables can be protected.")));
	if (relid < FirstNormalObjectId ||
		form->relnamespace == get_namespace_oid("dpngram", true))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot protect system relation \"%s\"", NameStr(form->relname))));
	if (form->relpersistence == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot protect temporary relation \"%s\"", NameStr(form->relname)),
				 errdetail("No other session could ask for it.")));
	ReleaseSysCache(tuple);
}

void
relation_check_column(Oid relid, const char *column)
{
	if (get_attnum(relid, column) <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, get_rel_name(relid))));
}

/*
 * The number of the column that names the person.  Users are told apart by its
 * type's own equality and gathered by its order, so it must have both.
 */
AttrNumber
relation_user_attnum(Oid relid, const char *user_col)
{
	AttrNumber attnum = get_attnum(relid, user_col);
	TypeCacheEntry *type;

	relation_check_column(relid, user_col);
	type = lookup_type_cache(get_atttype(relid, attnum),
							 TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR | TYPECACHE_CMP_PROC);
	if (!OidIsValid(type->eq_opr) || !OidIsValid(type->lt_opr) ||
		!OidIsValid(type->cmp_proc))
		ereport(ERROR,
				(errcode(ERRCODE_DP_COLUMN),
				 errmsg("column \"%s\" cannot be the privacy unit", user_col),
				 errdetail("Type %s has no default ordering and equality.",
						   format_type_be(type->type_id))));
	return attnum;
}

/* The number of the column that tells a row's time, which its dataset's periods go by. */
AttrNumber
relation_time_attnum(Oid relid, const char *time_col)
{
	AttrNumber attnum = get_attnum(relid, time_col);
	Oid type;

	relation_check_column(relid, time_col);
	type = getBaseType(get_atttype(relid, attnum));
	if (type != TIMESTAMPTZOID && type != TIMESTAMPOID && type != DATEOID)
		ereport(ERROR,
				(errcode(ERRCODE_DP_COLUMN),
				 errmsg("column \"%s\" cannot tell the rows' time", time_col),
				 errdetail("Its type must be timestamp with or without time zone, or date.")));
	return attnum;
}

/* Can other relations hold the relation's rows, by inheritance or partitioning? */
bool
relation_has_kin(Oid relid)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	bool has_kin;

	if (!HeapTupleIsValid(tuple))
		return false;
	has_kin = ((Form_pg_class) GETSTRUCT(tuple))->relhassubclass ||
			  has_superclass(relid);
	ReleaseSysCache(tuple);
	return has_kin;
}

/*
 * Refuses a relation that a live dataset other than "except" holds already:
 * itself, or a table whose rows are its rows by inheritance or partitioning.
 */
void
relation_refuse_protected(const Catalog *cat, Oid relid, int32 except)
{
	CatalogArgs args = {0};

	arg_oid(&args, relid);
	arg_int4(&args, except);
	if (catalog_query("WITH RECURSIVE " KIN_CTE
					  "SELECT d.name, c.oid = $1, c.oid::pg_catalog.regclass::text "
					  "FROM dpngram.dataset d "
					  "JOIN dpngram.relation r ON r.dataset = d.id AND r.detached IS NULL "
					  "LEFT JOIN dpngram.relation_binding b ON b.relation = r.id "
					  "JOIN pg_catalog.pg_class c ON c.oid IN (SELECT relid FROM kin) "
					  "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
					  "WHERE d.ended IS NULL AND d.id <> $2 AND (b.relid = c.oid OR "
					  "(b.relation IS NULL AND r.schema = n.nspname AND r.name = c.relname)) "
					  "ORDER BY c.oid = $1 DESC, d.id LIMIT 1",
					  &args) > 0)
	{
		char *dataset = row_text(cat, 0, 1);
		bool itself = row_bool(0, 2);
		char *relative = row_text(cat, 0, 3);

		if (itself)
			ereport(ERROR,
					(errcode(ERRCODE_DP_ALREADY_PROTECTED),
					 errmsg("relation \"%s\" is already protected", get_rel_name(relid)),
					 errdetail("It belongs to dataset \"%s\".", dataset)));
		ereport(ERROR,
				(errcode(ERRCODE_DP_ALREADY_PROTECTED),
				 errmsg("relation \"%s\" shares rows with a protected relation",
						get_rel_name(relid)),
				 errdetail("\"%s\", related to it by inheritance, belongs to dataset \"%s\".",
						   relative, dataset)));
	}
}

/*
 * Relations that read $1 or are read by it, through views, and belong to a dataset or
 * belonged to one that spent something; as (reader, relation read, does it still?).
 */
static const char *const overlap_select =
	"WITH RECURSIVE held AS ("
	"SELECT b.relid, bool_or(r.detached IS NULL AND d.ended IS NULL) AS still "
	"FROM dpngram.relation_binding b JOIN dpngram.relation r ON r.id = b.relation "
	"JOIN dpngram.dataset d ON d.id = r.dataset WHERE (r.detached IS NULL AND d.ended IS NULL) "
	"OR EXISTS (SELECT FROM dpngram.release l WHERE l.dataset = d.id AND l.epsilon IS NOT NULL) "
	"GROUP BY b.relid), "
	"reads (reader, relid) AS ("
	"SELECT $1, $1 UNION SELECT h.relid, h.relid FROM held h UNION "
	"SELECT reads.reader, d.refobjid FROM reads "
	"JOIN pg_catalog.pg_rewrite w ON w.ev_class = reads.relid "
	"JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass "
	"AND d.objid = w.oid AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass) "
	"SELECT DISTINCT s.reader::pg_catalog.regclass::text COLLATE \"C\", "
	"s.relid::pg_catalog.regclass::text COLLATE \"C\", h.still FROM reads s JOIN held h "
	"ON h.relid IN (s.reader, s.relid) AND h.relid <> $1 "
	"WHERE $1 IN (s.reader, s.relid) AND s.reader <> s.relid ORDER BY 1, 2";

/* Views through which the same rows are under two budgets: legal, but each counts alone. */
static void
warn_of_overlap(const Catalog *cat, Oid relid)
{
	CatalogArgs args = {0};
	uint64 rows;

	arg_oid(&args, relid);
	rows = catalog_query(overlap_select, &args);
	for (uint64 row = 0; row < rows; row++)
	{
		const char *view = row_text(cat, row, 1);
		const char *base = row_text(cat, row, 2);

		if (row_bool(row, 3))
			ereport(WARNING,
					(errmsg("view \"%s\" reads the protected relation \"%s\"", view, base),
					 errdetail("The two budgets do not know of each other: what the same "
							   "people's rows lose in all is the sum of both.")));
		else
			ereport(WARNING,
					(errmsg("view \"%s\" reads relation \"%s\", and one of the two was "
							"protected before",
							view, base),
					 errdetail("The two budgets do not know of each other: what was spent then "
							   "is not carried forward.")));
	}
}

/* Character classes are the C library's, whoever provides lower(); these know ASCII only. */
static void
notice_of_ascii(const Catalog *cat)
{
	if (GetDatabaseEncoding() != PG_SQL_ASCII &&
		catalog_query("SELECT 1 FROM pg_catalog.pg_database d "
					  "WHERE d.datname = pg_catalog.current_database() "
					  "AND d.datctype IN ('C', 'POSIX')",
					  NULL) == 0)
		return;
	ereport(NOTICE,
			(errmsg("words are told apart by ASCII letters and digits only"),
			 errdetail("The database's character type is C or its encoding is SQL_ASCII.")));
}

/* What the owner should know of the relation, none of it a reason to refuse. */
void
relation_warn(const Catalog *cat, Oid relid)
{
	if (get_rel_relkind(relid) == RELKIND_VIEW)
		ereport(NOTICE,
				(errmsg("the privacy promise for view \"%s\" holds only if each of its rows "
						"depends on the rows of one user",
						get_rel_name(relid))));
	warn_of_overlap(cat, relid);
	notice_of_ascii(cat);
}
