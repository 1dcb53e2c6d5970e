/*
 * read_locks.c
 *	  The locks of a read, all taken before its first row.
 *
 * Every role can fill the server's table of locks, by advisory ones.  A read that then wants
 * another lock fails; if the want depended on a value, such as a text that is long enough to be
 * stored apart, the failure would tell of it.  So whatever a relation's rows may need is locked
 * before the charge, until the session ends: its children, their indexes, and the tables and
 * indexes of long values.
 *
 * What the server looks up in its catalogs meanwhile may depend on values, too, and is locked
 * for a moment.  A process has 16 places for locks that need no room in the table (for each
 * group of relations as of 18).  Left alone, the relations would take them all; so places are
 * kept until the relations have their locks, and then are free for the catalogs.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "catalog/indexing.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "ngram/read_locks.h"

/* What the server looks up most: to load what it knows of a relation, a type or a label. */
static const Oid kept[] = {
	RelationRelationId, ClassOidIndexId, AttributeRelationId,
	IndexRelationId, IndexRelidIndexId, IndexIndrelidIndexId,
	TypeRelationId, TypeOidIndexId, EnumRelationId,
	EnumOidIndexId, EnumTypIdLabelIndexId, AttributeRelidNumIndexId};

static LockRelId
catalog_id(int i)
{
	return (LockRelId){.relId = kept[i], .dbId = MyDatabaseId};
}

/* Keeps places. */
void
read_locks_begin(void)
{
	for (int i = 0; i < (int) lengthof(kept); i++)
	{
		LockRelId catalog = catalog_id(i);

		LockRelationIdForSession(&catalog, AccessShareLock);
	}
}

/* Lets them go. */
void
read_locks_end(void)
{
	for (int i = 0; i < (int) lengthof(kept); i++)
	{
		LockRelId catalog = catalog_id(i);

		UnlockRelationIdForSession(&catalog, AccessShareLock);
	}
}

/* Locks what is open, which loads what the server knows of it. */
static void
lock_opened(Relation relation)
{
	LockRelId id = relation->rd_lockInfo.lockRelId;

	LockRelationIdForSession(&id, AccessShareLock);
}

static void
lock_index(Oid indexid)
{
	Relation index = index_open(indexid, AccessShareLock);

	lock_opened(index);
	index_close(index, AccessShareLock);
}

/* One relation and its parts. */
static void
lock_stored(Oid relid)
{
	Relation relation = try_relation_open(relid, AccessShareLock);
	Oid toast;
	ListCell *cell;

	if (relation == NULL)
		return;
	lock_opened(relation);
	foreach (cell, RelationGetIndexList(relation))
		lock_index(lfirst_oid(cell));
	toast = relation->rd_rel->reltoastrelid;
	relation_close(relation, AccessShareLock);
	if (OidIsValid(toast))
		lock_stored(toast);
}

/* read_lock: between begin and end; locks a relation, its children, and the parts of all. */
void
read_lock(Oid relid)
{
	ListCell *cell;

	LockRelationOid(relid, AccessShareLock);
	foreach (cell, find_all_inheritors(relid, AccessShareLock, NULL))
		lock_stored(lfirst_oid(cell));
}
