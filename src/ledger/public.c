/*
 * public.c
 *	  Refuses to take for public what a privacy budget protects.
 *
 * Asked before a relation's exact counts become somebody's public side: those of a
 * protected relation would carry its people's rows past every budget.  That holds for
 * whoever asks, the owner too, and for views that read such a relation's columns.
 * (A view that only calls a private function on the relation refers to it as a whole,
 * and may.)  What was copied from it is beyond the ledger's sight.
 */
#include "postgres.h"

#include "dpngram_errcodes.h"
#include "ledger/catalog.h"
#include "ledger/ledger.h"
#include "utils/lsyscache.h"

/*
 * Is $1, or a relation whose rows come through it (what its views read, their
 * partitions and children), or an ancestor of any of these, in a live dataset?
 */
static const char *const protected_select =
	"WITH RECURSIVE read (relid) AS (SELECT $1 UNION SELECT next.relid FROM read "
	"CROSS JOIN LATERAL (SELECT i.inhrelid FROM pg_catalog.pg_inherits i "
	"WHERE i.inhparent = read.relid UNION ALL "
	"SELECT d.refobjid FROM pg_catalog.pg_rewrite w JOIN pg_catalog.pg_depend d "
	"ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid "
	"AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjsubid > 0 "
	"WHERE w.ev_class = read.relid) next (relid)), "
	"kin (relid) AS (SELECT relid FROM read UNION "
	"SELECT i.inhparent FROM kin JOIN pg_catalog.pg_inherits i ON i.inhrelid = kin.relid) "
	"SELECT 1 FROM dpngram.dataset d "
	"JOIN dpngram.relation r ON r.dataset = d.id AND r.detached IS NULL "
	"LEFT JOIN dpngram.relation_binding b ON b.relation = r.id "
	"JOIN pg_catalog.pg_class c ON c.oid IN (SELECT relid FROM kin) "
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
	"WHERE d.ended IS NULL AND (b.relid = c.oid OR "
	"(b.relation IS NULL AND r.schema = n.nspname AND r.name = c.relname)) LIMIT 1";

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
