/*
 * relation.h
 *	  Which relations, and which columns of theirs, can be put under a budget, and what
 *	  reads them.
 */
#ifndef DPNGRAM_RELATION_H
#define DPNGRAM_RELATION_H

#include "access/attnum.h"
#include "nodes/pg_list.h"
#include "ledger/catalog.h"

/* it would be taken for code */
/* clang-format off */

/*
 * Common table expressions, after WITH RECURSIVE.  down: relation $1 and its descendants
 * by inheritance or partitioning.  kin: all relations that hold any of its rows, which
 * are these and the ancestors of any of them.
 */
#define DOWN_CTE \
	"down (relid) AS (SELECT $1 UNION " \
	"SELECT i.inhrelid FROM down JOIN pg_catalog.pg_inherits i ON i.inhparent = down.relid) "
#define KIN_CTE \
	DOWN_CTE ", kin (relid) AS (SELECT relid FROM down UNION " \
	"SELECT i.inhparent FROM kin JOIN pg_catalog.pg_inherits i ON i.inhrelid = kin.relid) "

/*
 * Does the rule or function body behind dependency "d" read the relation, or does
 * it only name it, as an argument of dp_ngrams() does?
 */
#define READS_RELATION(body) \
	"d.refclassid = 'pg_class'::regclass AND (d.refobjsubid > 0 OR " body \
	" ~ (':relid ' || d.refobjid || ' '))"
#define RULE_READS \
	"d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refobjid <> w.ev_class AND " \
	READS_RELATION("concat(w.ev_qual, w.ev_action)")

/* clang-format on */

extern void relation_lock_owned(Oid relid, Oid caller);
extern void relation_check_kind(Oid relid);
extern AttrNumber relation_user_attnum(Oid relid, const char *user_col);
extern AttrNumber relation_time_attnum(Oid relid, const char *time_col);
extern void relation_check_column(Oid relid, const char *column);
extern bool relation_has_kin(Oid relid);
extern void relation_refuse_protected(const Catalog *cat, Oid relid, int32 except);
extern void relation_warn(const Catalog *cat, Oid relid);

#endif /* DPNGRAM_RELATION_H */
