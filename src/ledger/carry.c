/*
 * carry.c
 *	  What a relation has lost in datasets that it belonged to before, and that a
 *	  new one must carry on.
 *
 * Ending a dataset, or taking a relation out of it, frees no budget: what its
 * people lost by the releases is not forgotten.  Rows are also in the relation's
 * kin, its partitions and ancestors, so the former datasets of those count, too.
 * A dataset that another of them carries already is left out; where that is not
 * known it is counted twice, the safe direction.
 */
#include "postgres.h"

#include "ledger/carry.h"
#include "ledger/dataset.h"
#include "nodes/pg_list.h"

/*
 * The former datasets of a relation, as a list of int, and the sum of what they
 * spent.  "except" is a dataset that is not asked about.  Where a restore took the
 * bindings away, names decide.
 */
List *
carry_sources(const Catalog *cat, Oid relid, int32 except, LaneAmounts *spent)
{
	CatalogArgs args = {0};
	List *sources = NIL;
	uint64 rows;

	*spent = lanes_zero();
	arg_oid(&args, relid);
	arg_int4(&args, except);
	rows = catalog_query("WITH RECURSIVE up (relid) AS ("
						 "SELECT $1 UNION "
						 "SELECT i.inhparent FROM up JOIN pg_catalog.pg_inherits i "
						 "ON i.inhrelid = up.relid), "
						 "down (relid) AS ("
						 "SELECT $1 UNION "
						 "SELECT i.inhrelid FROM down JOIN pg_catalog.pg_inherits i "
						 "ON i.inhparent = down.relid), "
						 "kin AS (SELECT c.oid AS relid, n.nspname, c.relname "
						 "FROM pg_catalog.pg_class c "
						 "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
						 "WHERE c.oid IN (SELECT relid FROM up UNION SELECT relid FROM down)), "
						 "former AS (SELECT DISTINCT d.id FROM dpngram.dataset d "
						 "JOIN dpngram.relation r ON r.dataset = d.id "
						 "LEFT JOIN dpngram.relation_binding b ON b.relation = r.id "
						 "JOIN kin k ON b.relid = k.relid OR "
						 "(b.relation IS NULL AND r.schema = k.nspname AND r.name = k.relname) "
						 "WHERE d.id <> $2 AND (d.ended IS NOT NULL OR r.detached IS NOT NULL)) "
						 "SELECT d.id, " SPENT_COLUMNS " FROM dpngram.dataset d "
						 "WHERE d.id IN (SELECT id FROM former) AND NOT EXISTS ("
						 "SELECT FROM dpngram.carried c WHERE c.source = d.id "
						 "AND (c.dataset = $2 OR c.dataset IN (SELECT id FROM former))) "
						 "ORDER BY d.id",
						 &args);
	for (uint64 row = 0; row < rows; row++)
	{
		MemoryContext old = MemoryContextSwitchTo(cat->outer);
		LaneAmounts one;

		sources = lappend_int(sources, row_int4(row, 1));
		MemoryContextSwitchTo(old);
		one = row_lanes(cat, row, 2);
		*spent = lanes_add(spent, &one);
	}
	return sources;
}

/* Notes that a dataset carries these, or that a superuser had them forgotten. */
void
carry_record(int32 dataset, const List *sources, bool forgotten)
{
	ListCell *cell;

	foreach (cell, sources)
	{
		CatalogArgs args = {0};

		arg_int4(&args, dataset);
		arg_int4(&args, lfirst_int(cell));
		arg_bool(&args, forgotten);
		catalog_change("INSERT INTO dpngram.carried (dataset, source, forgotten) "
					   "VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
					   &args);
	}
}
