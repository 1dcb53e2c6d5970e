/*
 * access.c
 *	  Decides whether the caller may spend a relation's budget, before anything
 *	  is charged or read.
 *
 * The order of the checks is part of the interface: what can't be charged at all
 * (standby, read-only transaction, parallel worker) comes first; then who asks;
 * and only one who has a right to the dataset learns that it is suspended or not
 * yet committed.  The worker repeats the decisive checks under lock
 * (debit.c): what is read here may be out of date by then.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/extension.h"
#include "compat.h"
#include "dpngram_errcodes.h"
#include "ledger/access.h"
#include "ledger/binding.h"
#include "ledger/carry.h"
#include "ledger/relation.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* A charge is a committed change: refuse where there can be none. */
void
refuse_unwritable(void)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot charge a privacy budget during recovery"),
				 errhint("Run the query on the primary server.")));
	if (XactReadOnly)
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot charge a privacy budget in a read-only transaction"),
				 errhint("Begin it as READ WRITE; default_transaction_read_only may be on.")));
	if (IsInParallelMode())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("cannot charge a privacy budget during a parallel operation")));
}

/*
 * Within a visit: a Citus cluster has one ledger, the coordinator's.  On its other nodes, which
 * have all tables too, nothing can be protected or charged.
 */
void
refuse_other_ledger(void)
{
	const CatalogArgs none = {0};

	if (OidIsValid(get_extension_oid("citus", true)) &&
		catalog_query("SELECT FROM pg_catalog.pg_dist_local_group WHERE groupid <> 0", &none) >
			0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("this server is not the coordinator of its Citus cluster"),
				 errhint("Call it on the coordinator, which has the privacy ledger.")));
}

/* The caller has no right to the relation, or nobody has. */
static void
refuse_access(Oid relid, const Dataset *dataset, Oid caller)
{
	char *relname = get_rel_name(relid);

	if (dataset == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_PROTECTED),
				 errmsg("relation \"%s\" is not protected by a privacy budget",
						relname ? relname : "?"),
				 errhint("Its owner puts it under one by dp_protect.")));
	ereport(ERROR,
			(errcode(ERRCODE_DP_NOT_GRANTED),
			 errmsg("relation \"%s\" is not granted to role \"%s\"",
					relname ? relname : "?", GetUserNameFromId(caller, false)),
			 errhint("Its owner grants it by dp_grant.")));
}

/*
 * The role of a grant's row: by its binding.  In a suspended dataset a grant
 * without one is taken by name; nothing can be spent then, but who has a right
 * learns why.
 */
static Oid
grant_role(uint64 row, int oid_column, const char *name, bool suspended)
{
	if (!row_isnull(row, oid_column))
		return row_oid(row, oid_column);
	return suspended ? get_role_oid(name, true) : InvalidOid;
}

/* What grant_fetch() reads: the live grants of a dataset. */
static const char *const grants_select =
	"SELECT g.id, g.role, b.role, g.epsilon, g.xmin, " CAP_AND_SPENT_COLUMNS
	" FROM dpngram.grantee g LEFT JOIN dpngram.grantee_binding b ON b.grantee = g.id "
	"WHERE g.dataset = $1 AND g.revoked IS NULL ORDER BY g.id";

static Grant *
grant_fetch(const Catalog *cat, uint64 row)
{
	Grant *grant = MemoryContextAllocZero(cat->outer, sizeof(Grant));

	grant->id = row_int4(row, 1);
	grant->role = row_text(cat, row, 2);
	grant->capped = !row_isnull(row, 4);
	grant->own_change = row_own_change(row, 5);
	grant->cap = row_lanes(cat, row, 6);
	grant->spent = row_lanes(cat, row, 6 + LANES);
	return grant;
}

/* The list outlives the visit, like its members. */
static List *
grant_append(const Catalog *cat, List *grants, Grant *grant)
{
	MemoryContext old = MemoryContextSwitchTo(cat->outer);

	grants = lappend(grants, grant);
	MemoryContextSwitchTo(old);
	return grants;
}

/*
 * The rights that a role may use on a dataset's relation, in the order in which they are
 * to be tried: that of ownership alone, if it has it; else its own grant alone;
 * else every grant of a group it is in.  NIL if it has none.
 */
List *
grants_usable(const Catalog *cat, const Dataset *dataset, const DatasetRelation *relation,
			  Oid caller)
{
	CatalogArgs args = {0};
	List *groups = NIL;
	uint64 rows;
	Oid owner = relation_owner(dataset, relation);
	bool suspended = binding_defect(relation) != NULL;

	if (superuser_arg(caller) || (OidIsValid(owner) && has_privs_of_role(caller, owner)))
		return grant_append(cat, NIL, MemoryContextAllocZero(cat->outer, sizeof(Grant)));

	arg_int4(&args, dataset->id);
	rows = catalog_query(grants_select, &args);
	for (uint64 row = 0; row < rows; row++)
	{
		Grant *grant = grant_fetch(cat, row);
		Oid role = grant_role(row, 3, grant->role, suspended);

		if (role == caller)
			return grant_append(cat, NIL, grant);
		if (OidIsValid(role) && has_privs_of_role(caller, role))
			groups = grant_append(cat, groups, grant);
	}
	return groups;
}

static bool
any_own_change(const Dataset *dataset, const List *grants)
{
	ListCell *cell;

	if (dataset->own_change)
		return true;
	foreach (cell, grants)
	{
		if (((Grant *) lfirst(cell))->own_change)
			return true;
	}
	return false;
}

LedgerTerms
dataset_terms(const Dataset *dataset)
{
	const Budget *budget = &dataset->budget;

	return (LedgerTerms){.dataset = dataset->name,
						 .accounting = budget->accounting,
						 .delta = budget->delta,
						 .pure_share = budget->pure_share,
						 .delta_share = budget->delta_share,
						 .public_user_count = dataset->public_user_count,
						 .min_epsilon = dataset->min_epsilon};
}

/* Does this transaction hold the lock by which a relation is written to or made? */
static bool
locked_by_own_change(Oid relid)
{
	LOCKTAG tag;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
	return LockHeldByMe(&tag, RowExclusiveLock, false) ||
		   LockHeldByMe(&tag, AccessExclusiveLock, false);
}

/*
 * Refuses a relation that this very transaction made, altered or wrote to, itself or a
 * partition or child of it: the worker, which reads it, would not see that, or wait for us.
 */
void
relation_refuse_own_change(Oid relid)
{
	ListCell *cell;

	foreach (cell, find_all_inheritors(relid, NoLock, NULL))
	{
		if (locked_by_own_change(lfirst_oid(cell)))
			ereport(ERROR,
					(errcode(ERRCODE_DP_UNCOMMITTED),
					 errmsg("relation \"%s\" was written to or changed by this transaction",
							get_rel_name(relid)),
					 errhint("Commit first.")));
	}
	if (get_rel_persistence(relid) == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("relation \"%s\" is temporary", get_rel_name(relid)),
				 errdetail("Another session reads it, which does not see it.")));
}

static LedgerAccess *
access_make(const Dataset *dataset, const DatasetRelation *relation)
{
	LedgerAccess *access = palloc0(sizeof(LedgerAccess));
	const Binding *binding = &relation->binding;

	access->dataset_id = dataset->id;
	access->relation_id = relation->id;
	access->terms = dataset_terms(dataset);
	access->relid = binding->relid;
	access->owner = binding->owner;
	access->caller = GetUserId();
	access->user_attnum = binding->user_attnum;
	access->user_col = get_attname(access->relid, access->user_attnum, false);
	access->text_columns = relation->columns;
	access->time_attnum = binding->time_attnum;
	access->renewal = &dataset->renewal;
	access->period = period_asked(dataset->name, access->renewal, NULL);
	return access;
}

/* Refuses a relation whose rows another dataset holds as well, or has held before they came. */
static void
refuse_kin(const Catalog *cat, const Dataset *dataset, Oid relid)
{
	const char *newcomers;

	if (!relation_has_kin(relid))
		return;
	relation_refuse_protected(cat, relid, dataset->id);
	newcomers = carry_newcomers(dataset, relid);
	if (newcomers != NULL)
		binding_refuse(dataset, newcomers);
}

/*
 * ledger_open: may the current user spend the budget of relation relid?
 *
 * Locks the relation in AccessShareLock, which is the caller's to let go, and returns
 * the dataset as this caller sees it, palloc'd in the current memory context.  The
 * period, where the budget renews, is the one of a call that asks for none;
 * ledger_choose_period() takes another.
 *
 * Errors, in this order: 25006 on a standby or in a read-only transaction; 25000
 * in a parallel operation; 42P01 no such relation; NG002 not protected; NG003
 * not granted; NG009 made or changed by this very transaction, so that the charge
 * worker can't see it, or it wrote to the relation; NG007 suspended; NG011 another live
 * dataset holds the same rows by inheritance or partitioning; NG007 a former one did before
 * they came.
 */
LedgerAccess *
ledger_open(Oid relid)
{
	Catalog cat;
	Dataset *dataset;
	DatasetRelation *relation = NULL;
	List *grants = NIL;

	refuse_unwritable();
	LockRelationOid(relid, AccessShareLock);
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));

	catalog_enter(&cat);
	refuse_other_ledger();
	dataset = dataset_of_relation(&cat, relid, &relation);
	if (dataset != NULL)
		grants = grants_usable(&cat, dataset, relation, cat.caller);
	if (grants == NIL)
		refuse_access(relid, dataset, cat.caller);
	if (any_own_change(dataset, grants))
		ereport(ERROR,
				(errcode(ERRCODE_DP_UNCOMMITTED),
				 errmsg("dataset \"%s\" was made or changed by this transaction",
						dataset->name),
				 errhint("Commit first.")));
	binding_check(dataset, relation);
	refuse_kin(&cat, dataset, relid);
	relation_refuse_own_change(relid);
	catalog_leave(&cat);
	return access_make(dataset, relation);
}
