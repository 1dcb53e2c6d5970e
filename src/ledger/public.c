/*
 * public.c
 *	  Refuses to take for public what a privacy budget protects.
 *
 * Asked before a relation's exact counts become somebody's public side: those of a
 * protected relation would carry its people's rows past every budget.  That holds for
 * whoever asks, the owner too, and for views that read such a relation's columns.
 * (A view that only has it as an argument of a private function does not read it, and
 * may.)  The body of a function that is a string can't be known, and what was copied from
 * the relation is beyond the ledger's sight.
 */
#include "postgres.h"

#include "dpngram_errcodes.h"
#include "ledger/catalog.h"
#include "ledger/ledger.h"
#include "ledger/relation.h"
#include "utils/lsyscache.h"

/* it would be taken for code */
/* clang-format off */

/*
 * Is $1, or a relation whose rows come through it, or an ancestor of any of these, in a
 * live dataset?  Rows come through partitions and children, through what views read, also
 * as whole rows, and through functions with a body of SQL that these call.
 */
static const char *const protected_select =
	"WITH RECURSIVE source (classid, objid) AS ("
	"SELECT 'pg_class'::regclass::oid, $1 UNION SELECT next.* FROM source s "
	"CROSS JOIN LATERAL (SELECT 'pg_class'::regclass::oid, i.inhrelid FROM pg_inherits i "
	"WHERE s.classid = 'pg_class'::regclass AND i.inhparent = s.objid UNION ALL "
	"SELECT d.refclassid, d.refobjid FROM ("
	"SELECT 'pg_rewrite'::regclass::oid, w.oid, concat(w.ev_qual, w.ev_action) "
	"FROM pg_rewrite w WHERE s.classid = 'pg_class'::regclass AND w.ev_class = s.objid "
	"AND w.ev_type = '1' UNION ALL "
	"SELECT s.classid, p.oid, p.prosqlbody::text FROM pg_proc p "
	"WHERE s.classid = 'pg_proc'::regclass AND p.oid = s.objid) b (classid, objid, body) "
	"JOIN pg_depend d ON d.classid = b.classid AND d.objid = b.objid "
	"AND (d.refclassid = 'pg_proc'::regclass OR " READS_RELATION("b.body") ")) next), "
	"read (relid) AS (SELECT objid FROM source WHERE classid = 'pg_class'::regclass), "
	"kin (relid) AS (SELECT relid FROM read UNION "
	"SELECT i.inhparent FROM kin JOIN pg_catalog.pg_inherits i ON i.inhrelid = kin.relid) "
	"SELECT 1 FROM dpngram.dataset d "
	"JOIN dpngram.relation r ON r.dataset = d.id AND r.detached IS NULL "
	"LEFT JOIN dpngram.relation_binding b ON b.relation = r.id "
	"JOIN pg_catalog.pg_class c ON c.oid IN (SELECT relid FROM kin) "
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
	"WHERE d.ended IS NULL AND (b.relid = c.oid OR "
	"(b.relation IS NULL AND r.schema = n.nspname AND r.name = c.relname)) LIMIT 1";

/* clang-format on */

/* ledger_refuse_protected: an error, NG011, where the relation's rows are under a budget. */
void
ledger_refuse_protected(Oid relid)
{
	Catalog cat;
	CatalogArgs args = {0};
	bool is_protected;

	catalog_enter(&cat);
	arg_oid(&args, relid);
	is_protected = catalog_query(protected_select, &args) > 0;
	catalog_leave(&cat);
	if (is_protected)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ALREADY_PROTECTED),
				 errmsg("relation \"%s\" is not public", get_rel_name(relid)),
				 errdetail("It is, or it reads, a relation that a privacy budget protects.")));
}
