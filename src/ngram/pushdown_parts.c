/*
 * pushdown_parts.c
 *	  Which tables hold which users of a relation, some of them on other servers.
 *
 * The bound on what a user contributes is kept where the user's rows are: so they must all
 * be in one place.  A relation that is partitioned by the user's column alone has them
 * there, if each partition holds what its bounds say.  Of its own tables a server sees to
 * that.  Of a foreign table nobody does: the bounds are only what was declared.  So they
 * go with the statement, as conditions on the column where they are ranges or lists, and
 * as a number that the node compares with each user's own where they are by hash.  What a
 * user has on the wrong server then counts for nothing, or is an error.
 *
 * A range of texts means the same on all servers only by the order of bytes.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "ngram/pushdown.h"
#include "ngram/users.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "partitioning/partbounds.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

static bool
refuse(PushRefusal *refusal, const char *detail, const char *hint)
{
	*refusal = (PushRefusal){detail, hint};
	return false;
}

/* The column of a part that has the name of one of the relation's. */
static AttrNumber
column_of(const Pushdown *pushdown, Oid relid, AttrNumber attnum)
{
	if (attnum == 0)
		return 0;
	return get_attnum(relid, get_attname(pushdown->read.relid, attnum, false));
}

/* ------------------------------------------------------------------------
 * is the relation partitioned by users?
 * ------------------------------------------------------------------------ */

/* Do users that are equal by their type go to one partition by this key? */
static bool
key_is_user(Pushdown *pushdown, Relation parent)
{
	PartitionKey key = RelationGetPartitionKey(parent);
	AttrNumber user = column_of(pushdown, RelationGetRelid(parent), pushdown->read.user_attnum);
	Oid am = key->strategy == PARTITION_STRATEGY_HASH ? HASH_AM_OID : BTREE_AM_OID;
	Oid type = getBaseType(get_atttype(RelationGetRelid(parent), user));
	Oid opclass = GetDefaultOpClass(type, am);
	Oid collation = key->partcollation[0];

	if (key->partnatts != 1 || key->partattrs[0] != user || !OidIsValid(opclass) ||
		get_opclass_family(opclass) != key->partopfamily[0])
		return false;
	if (!OidIsValid(collation))
		return true;
	if (key->strategy == PARTITION_STRATEGY_RANGE)
	{
		pushdown->byte_order = true;
		return collation_is_bytes(collation) && collation_is_bytes(key->parttypcoll[0]);
	}
	return get_collation_isdeterministic(collation);
}

/* All that stands between the relation and one of its tables is partitioned by users. */
static bool
leads_by_user(Pushdown *pushdown, Oid leaf)
{
	ListCell *cell;

	if (leaf == pushdown->read.relid)
		return true;
	foreach (cell, get_partition_ancestors(leaf))
	{
		Relation parent = table_open(lfirst_oid(cell), NoLock);
		bool good = key_is_user(pushdown, parent);

		table_close(parent, NoLock);
		if (!good)
			return false;
		if (lfirst_oid(cell) == pushdown->read.relid)
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------------
 * bounds
 * ------------------------------------------------------------------------ */

/* satisfies_hash_partition(parent, modulus, remainder, user) */
static bool
take_hash(PushPart *part, Node *bound)
{
	FuncExpr *call = (FuncExpr *) bound;

	if (!IsA(bound, FuncExpr) || call->funcid != F_SATISFIES_HASH_PARTITION)
		return false;
	if (part->nhashes == NODE_MAX_HASHES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many levels of partitioning")));
	part->hash[part->nhashes++] =
		(NodeHash){DatumGetInt32(((Const *) lsecond(call->args))->constvalue),
				   DatumGetInt32(((Const *) lthird(call->args))->constvalue)};
	return true;
}

/* Does this bound speak of users alone?  Those of what lies above the relation need not. */
static bool
is_of_users(const PushPart *part, Node *bound)
{
	Bitmapset *columns = NULL;

	pull_varattnos(bound, 1, &columns);
	return bms_membership(columns) == BMS_SINGLETON &&
		   bms_is_member(part->user_attnum - FirstLowInvalidHeapAttributeNumber, columns);
}

/*
 * Constants without a collation of their own, which postgres_fdw does not ship: comparisons
 * go by the column's, and that must be the same on the server.
 */
static Node *
without_collations(Node *node, void *context)
{
	Const *constant;

	if (node == NULL || !IsA(node, Const))
		return node == NULL ? NULL : expression_tree_mutator(node, without_collations, context);
	constant = copyObject((Const *) node);
	constant->constcollid = get_typcollation(constant->consttype);
	return (Node *) constant;
}

static void
set_bounds(PushPart *part)
{
	Relation relation = table_open(part->relid, NoLock);
	List *bounds = NIL;
	ListCell *cell;

	foreach (cell, RelationGetPartitionQual(relation))
		if (is_of_users(part, lfirst(cell)) && !take_hash(part, lfirst(cell)))
			bounds = lappend(bounds, lfirst(cell));
	if (bounds != NIL)
	{
		Node *condition = without_collations((Node *) make_ands_explicit(bounds), NULL);

		part->bounds = deparse_expression(condition, deparse_context_for("r", part->relid), true,
										  false);
	}
	table_close(relation, NoLock);
}

/* ------------------------------------------------------------------------
 * parts
 * ------------------------------------------------------------------------ */

static PushPart
part_of(const Pushdown *pushdown, Oid relid)
{
	return (PushPart){
		.relid = relid,
		.foreign = get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE,
		.user_attnum = column_of(pushdown, relid, pushdown->read.user_attnum),
		.text_attnum = column_of(pushdown, relid, pushdown->read.text_attnum),
		.time_attnum = column_of(pushdown, relid, pushdown->read.time_attnum)};
}

/* The tables that hold the rows of a partitioned table, locked. */
static List *
leaves_of(Oid relid)
{
	List *leaves = NIL;
	ListCell *cell;

	foreach (cell, find_all_inheritors(relid, AccessShareLock, NULL))
		if (get_rel_relkind(lfirst_oid(cell)) != RELKIND_PARTITIONED_TABLE)
			leaves = lappend_oid(leaves, lfirst_oid(cell));
	return leaves;
}

/* Each of these tables is to be a part: are they parted by users? */
static bool
take_leaves(Pushdown *pushdown, List *leaves)
{
	bool by_user = true;
	ListCell *cell;

	foreach (cell, leaves)
	{
		PushPart part = part_of(pushdown, lfirst_oid(cell));

		by_user = by_user && leads_by_user(pushdown, part.relid);
		pushdown->by_nodes = pushdown->by_nodes || part.foreign;
		if (by_user && part.foreign)
			set_bounds(&part);
		pushdown->part[pushdown->nparts++] = part;
	}
	return by_user;
}

/* Fill in the parts; false if the relation can't be parted by users, but must be. */
bool
pushdown_parts(Pushdown *pushdown, PushRefusal *refusal)
{
	Oid relid = pushdown->read.relid;
	bool partitioned = get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE;
	List *leaves = partitioned ? leaves_of(relid) : list_make1_oid(relid);
	bool by_user;

	pushdown->part = palloc(Max(list_length(leaves), 1) * sizeof(PushPart));
	by_user = take_leaves(pushdown, leaves);
	if (pushdown->by_nodes && !by_user)
		return refuse(refusal, "All rows of a person must be on one server, but the relation is "
							   "not partitioned by the person's column alone.",
					  "Partition it by that column alone, at every level; ranges of texts "
					  "need a column of collation \"C\".");
	if (!by_user || pushdown->nparts == 0)
	{
		pushdown->nparts = 1;
		pushdown->part[0] = part_of(pushdown, relid);
	}
	if (!pushdown->by_nodes)
		pushdown->byte_order = false;
	return true;
}
