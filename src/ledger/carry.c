/*
 * carry.c
 *	  What a relation has lost in datasets that it belonged to before, and that a
 *	  new one must carry on.
 *
 * Ending a dataset, or taking a relation out of it, frees no budget: what its
 * people lost by the releases is not forgotten.  Rows are also in the relation's
 * kin, its partitions and ancestors, so the former datasets of those count, too;
 * and a former dataset may itself have carried others.  All of these are gathered,
 * each once, and what they spent by calls of their own is summed.  A superuser may
 * have what ended datasets spent forgotten; a live one, from which the relation was
 * taken out, still spends and can't be.
 */
#include "postgres.h"

#include "ledger/carry.h"
#include "ledger/dataset.h"
#include "nodes/pg_list.h"

/* $1 the relation, $2 a dataset that has its own already, or 0 */
static const char *const sources_select =
	"WITH RECURSIVE up (relid) AS (SELECT $1 UNION "
	"SELECT i.inhparent FROM up JOIN pg_catalog.pg_inherits i ON i.inhrelid = up.relid), "
	"down (relid) AS (SELECT $1 UNION "
	"SELECT i.inhrelid FROM down JOIN pg_catalog.pg_inherits i ON i.inhparent = down.relid), "
	"kin AS (SELECT c.oid AS relid, n.nspname, c.relname FROM pg_catalog.pg_class c "
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
	"WHERE c.oid IN (SELECT relid FROM up UNION SELECT relid FROM down)), "
	"former AS (SELECT DISTINCT d.id FROM dpngram.dataset d "
	"JOIN dpngram.relation r ON r.dataset = d.id "
	"LEFT JOIN dpngram.relation_binding b ON b.relation = r.id "
	"JOIN kin k ON b.relid = k.relid OR "
	"(b.relation IS NULL AND r.schema = k.nspname AND r.name = k.relname) "
	"WHERE d.id <> $2 AND (d.ended IS NOT NULL OR r.detached IS NOT NULL)), "
	"carrying (id) AS (SELECT f.id FROM former f WHERE NOT EXISTS ("
	"SELECT FROM dpngram.carried c WHERE c.source = f.id AND c.forgotten "
	"AND (c.dataset = $2 OR c.dataset IN (SELECT id FROM former))) UNION "
	"SELECT c.source FROM carrying JOIN dpngram.carried c "
	"ON c.dataset = carrying.id AND NOT c.forgotten), "
	"had (id) AS (SELECT $2 UNION SELECT c.source FROM had JOIN dpngram.carried c "
	"ON c.dataset = had.id AND NOT c.forgotten) "
	"SELECT d.id, d.ended IS NULL, s.* FROM dpngram.dataset d "
	"CROSS JOIN LATERAL (SELECT " LANE_SUMS " FROM dpngram.release r "
	"WHERE r.dataset = d.id AND r.epsilon IS NOT NULL) s "
	"WHERE d.id IN (SELECT id FROM carrying EXCEPT SELECT id FROM had) ORDER BY d.id";

/*
 * What relation relid lost in former datasets, in the price of "sources"; what "has"
 * (a dataset, or 0) already counts is left out.  Without carry_forward only live
 * datasets count.  Where a restore took the bindings away, names decide.
 */
Carried
carry_sources(const Catalog *cat, Oid relid, int32 has, bool carry_forward)
{
	CatalogArgs args = {0};
	Carried carried = {.spent = lanes_zero()};
	uint64 rows;

	arg_oid(&args, relid);
	arg_int4(&args, has);
	rows = catalog_query(sources_select, &args);
	for (uint64 row = 0; row < rows; row++)
	{
		bool counts = carry_forward || row_bool(row, 2);
		List **list = counts ? &carried.sources : &carried.forgotten;
		MemoryContext old = MemoryContextSwitchTo(cat->outer);
		LaneAmounts one;

		*list = lappend_int(*list, row_int4(row, 1));
		MemoryContextSwitchTo(old);
		one = row_lanes(cat, row, 3);
		if (counts)
			carried.spent = lanes_add(&carried.spent, &one);
	}
	return carried;
}

static void
record(int32 dataset, const List *sources, bool forgotten)
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

/* Notes what a dataset carries, and what a superuser had forgotten. */
void
carry_record(int32 dataset, const Carried *carried)
{
	record(dataset, carried->sources, false);
	record(dataset, carried->forgotten, true);
}
