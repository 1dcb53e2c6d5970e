/*
 * doctor_data.c
 *	  Checks of dp_doctor: what else carries the rows away or tells of them:
 *	  functions, rules, publications, statistics, row counts.
 */
#include "postgres.h"

#include "ledger/doctor.h"

/* it would join strings and macros to lines without end */
/* clang-format off */

/*
 * down: the dataset's relations, their partitions and children, and what they read
 *	if they are views, with the partitions and children of that;
 * up: these with their ancestors.
 */
const char *const doctor_data_query =
	"WITH RECURSIVE down (relid, base) AS ("
	"SELECT unnest($2), false UNION "
	"SELECT n.relid, b.base OR n.read FROM down b CROSS JOIN LATERAL ("
	"SELECT i.inhrelid, false FROM pg_inherits i WHERE i.inhparent = b.relid UNION ALL "
	"SELECT d.refobjid, true FROM pg_rewrite w JOIN pg_depend d ON " RULE_READS " "
	"WHERE w.ev_class = b.relid AND w.ev_type = '1') n (relid, read)), "
	"up (relid, base) AS (SELECT relid, base FROM down UNION "
	"SELECT i.inhparent, u.base FROM up u JOIN pg_inherits i ON i.inhrelid = u.relid) "
	"SELECT coalesce(array_agg(u.relid), '{}'), coalesce(array_agg(u.base), '{}') "
	"FROM (SELECT relid, bool_and(base) AS base FROM up GROUP BY relid) u";

/* Rules other than a view's own query: they see what is written. */
static const char rule_on_relation[] =
	DATA_CTE
	"SELECT 'rule ' || quote_ident(w.rulename), 'runs when ' || "
	OBJECT_TEXT("pg_class", "t.relid") " || ' is changed, and can copy its rows', "
	"format('DROP RULE %I ON %s', w.rulename, t.relid::regclass) "
	"FROM data t JOIN pg_rewrite w ON w.ev_class = t.relid AND w.ev_type <> '1'";

/* caller: roles other than the function's owner and the dataset's that may call it. */
#define CALLER_JOIN \
	"CROSS JOIN LATERAL (SELECT a.grantee " \
	"FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a " \
	"WHERE a.grantee <> p.proowner AND " IS_OTHER_ROLE("a.grantee") ") caller (role) "
#define CALLERS "string_agg(DISTINCT " ROLE_TEXT("caller.role") ", ', ')"
#define REVOKE_EXECUTE \
	"format('REVOKE EXECUTE ON ROUTINE %s FROM %s', p.oid::regprocedure, " \
	"string_agg(DISTINCT " ROLE_NAME("caller.role") ", ', '))"

static const char definer_function[] =
	DATA_CTE ABOVE_CTE
	"SELECT " OBJECT_TEXT("pg_proc", "p.oid") ", format('reads %s as role %I and may be called "
	"by %s', string_agg(DISTINCT " OBJECT_TEXT("pg_class", "d.refobjid") ", ', '), "
	"pg_get_userbyid(p.proowner), " CALLERS "), " REVOKE_EXECUTE " "
	"FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND "
	READS_RELATION("p.prosqlbody::text") " " CALLER_JOIN
	"WHERE p.prosecdef AND d.refobjid IN (SELECT relid FROM data UNION SELECT relid FROM above) "
	"GROUP BY p.oid";

/* A body that is a string depends on nothing: what it reads can't be known. */
static const char definer_function_unknown[] =
	DATA_CTE
	"SELECT " OBJECT_TEXT("pg_proc", "p.oid") ", format('runs as role %I, who can read the "
	"relation, and may be called by %s; what it reads is not known', "
	"pg_get_userbyid(p.proowner), " CALLERS "), " REVOKE_EXECUTE " "
	"FROM pg_proc p " CALLER_JOIN
	"WHERE p.prosecdef AND p.prosqlbody IS NULL AND NOT EXISTS ("
	"SELECT FROM pg_depend e WHERE e.classid = 'pg_proc'::regclass AND e.objid = p.oid "
	"AND e.deptype = 'e') AND EXISTS (SELECT FROM data t "
	"WHERE has_any_column_privilege(p.proowner, t.relid, 'SELECT')) "
	"GROUP BY p.oid";

/*
 * What runs when the relation is read or written and depends on functions: rules,
 * policies, triggers, defaults, constraints, indexes.  Whoever owns such a
 * function can make it do anything under the rights of who reads or writes.
 */
static const char function_of_others[] =
	DATA_CTE
	", part (relid, relowner, classid, objid) AS ("
	"SELECT t.relid, t.relowner, 'pg_rewrite'::regclass::oid, w.oid "
	"FROM data t JOIN pg_rewrite w ON w.ev_class = t.relid UNION ALL "
	"SELECT t.relid, t.relowner, 'pg_policy'::regclass, p.oid "
	"FROM data t JOIN pg_policy p ON p.polrelid = t.relid UNION ALL "
	"SELECT t.relid, t.relowner, 'pg_trigger'::regclass, g.oid "
	"FROM data t JOIN pg_trigger g ON g.tgrelid = t.relid AND NOT g.tgisinternal UNION ALL "
	"SELECT t.relid, t.relowner, 'pg_attrdef'::regclass, f.oid "
	"FROM data t JOIN pg_attrdef f ON f.adrelid = t.relid UNION ALL "
	"SELECT t.relid, t.relowner, 'pg_constraint'::regclass, c.oid "
	"FROM data t JOIN pg_constraint c ON c.conrelid = t.relid UNION ALL "
	"SELECT t.relid, t.relowner, 'pg_class'::regclass, x.indexrelid "
	"FROM data t JOIN pg_index x ON x.indrelid = t.relid), "
	"used (relid, relowner, function) AS ("
	"SELECT p.relid, p.relowner, d.refobjid FROM part p JOIN pg_depend d "
	"ON d.classid = p.classid AND d.objid = p.objid AND d.refclassid = 'pg_proc'::regclass UNION "
	"SELECT p.relid, p.relowner, o.oprcode FROM part p JOIN pg_depend d "
	"ON d.classid = p.classid AND d.objid = p.objid AND d.refclassid = 'pg_operator'::regclass "
	"JOIN pg_operator o ON o.oid = d.refobjid) "
	"SELECT " OBJECT_TEXT("pg_proc", "f.oid") ", format('is used by %s, but role %I can change "
	"what it does', " OBJECT_TEXT("pg_class", "u.relid") ", pg_get_userbyid(f.proowner)), "
	"format('ALTER ROUTINE %s OWNER TO %I', f.oid::regprocedure, pg_get_userbyid(u.relowner)) "
	"FROM used u JOIN pg_proc f ON f.oid = u.function "
	"WHERE f.proowner <> u.relowner AND " IS_OTHER_ROLE("f.proowner");

static const char published[] =
	DATA_CTE
	"SELECT 'publication ' || quote_ident(p.pubname), 'sends the rows of ' || "
	OBJECT_TEXT("pg_class", "t.relid") " || ' to its subscribers', "
	"CASE WHEN EXISTS (SELECT FROM pg_publication_rel r "
	"WHERE r.prpubid = p.oid AND r.prrelid = t.relid) "
	"THEN format('ALTER PUBLICATION %I DROP TABLE %s', p.pubname, t.relid::regclass) END "
	"FROM pg_publication_tables l JOIN pg_publication p ON p.pubname = l.pubname "
	"JOIN pg_namespace n ON n.nspname = l.schemaname "
	"JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = l.tablename "
	"JOIN data t ON t.relid = c.oid";

static const char logical_slot[] =
	"SELECT 'replication slot ' || quote_ident(s.slot_name), "
	"'decodes every change of this database', "
	"format('SELECT pg_drop_replication_slot(%L)', s.slot_name) "
	"FROM pg_replication_slots s "
	"WHERE s.slot_type = 'logical' AND s.database = current_database()";

/* Rows that another live dataset answers about as well, through whichever relation. */
static const char two_budgets[] =
	DATA_CTE ABOVE_CTE
	"SELECT " OBJECT_TEXT("pg_class", "o.relid") ", "
	"format('holds rows of this dataset and belongs to dataset %s, too', quote_ident(o.name)), "
	"NULL FROM (SELECT coalesce(b.relid, to_regclass(format('%I.%I', r.schema, r.name))::oid), "
	"d.name FROM dpngram.dataset d JOIN dpngram.relation r ON r.dataset = d.id "
	"LEFT JOIN dpngram.relation_binding b ON b.relation = r.id "
	"WHERE d.ended IS NULL AND r.detached IS NULL AND d.id <> $1) o (relid, name) "
	"WHERE o.relid IN (SELECT relid FROM data UNION SELECT relid FROM above)";

/*
 * The definition of a view, or of one it reads, was written by a later transaction
 * than the binding: both rows stay in their cluster, so their xmin can be compared.
 */
static const char view_redefined[] =
	"WITH RECURSIVE view (bound, relid) AS ("
	"SELECT age(b.xmin), b.relid FROM dpngram.relation r "
	"JOIN dpngram.relation_binding b ON b.relation = r.id "
	"WHERE r.dataset = $1 AND r.detached IS NULL UNION "
	"SELECT v.bound, d.refobjid FROM view v "
	"JOIN pg_rewrite w ON w.ev_class = v.relid AND w.ev_type = '1' "
	"JOIN pg_depend d ON " RULE_READS ") "
	"SELECT " OBJECT_TEXT("pg_class", "v.relid") ", "
	"'was defined anew after the dataset was bound to its relation', NULL "
	"FROM view v JOIN pg_rewrite w ON w.ev_class = v.relid AND w.ev_type = '1' "
	"WHERE age(w.xmin) < v.bound";

static const char row_security[] =
	DATA_CTE
	"SELECT " OBJECT_TEXT("pg_class", "t.relid") ", "
	"'is read as its owner, to whom its row-level security does not apply', "
	"format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', t.relid::regclass) "
	"FROM data t WHERE t.relrowsecurity AND NOT t.relforcerowsecurity "
	"AND (t.relid = ANY ($2) OR t.base) "
	"AND t.relowner IN (SELECT o.relowner FROM pg_class o WHERE o.oid = ANY ($2))";

static const char foreign_table[] =
	DATA_CTE
	"SELECT " OBJECT_TEXT("pg_class", "t.relid") ", "
	"'is read on foreign server ' || quote_ident(s.srvname) || "
	"', where others may read it, and which sees when it is read', NULL "
	"FROM data t JOIN pg_foreign_table f ON f.ftrelid = t.relid "
	"JOIN pg_foreign_server s ON s.oid = f.ftserver";

static const char extended_statistics[] =
	DATA_CTE
	"SELECT " OBJECT_TEXT("pg_statistic_ext", "s.oid") ", "
	"'keeps the commonest values of columns of ' || " OBJECT_TEXT("pg_class", "t.relid") ", "
	"format('DROP STATISTICS %I.%I', n.nspname, s.stxname) "
	"FROM data t JOIN pg_statistic_ext s ON s.stxrelid = t.relid "
	"AND s.stxkind && '{m,e}'::\"char\"[] "
	"JOIN pg_namespace n ON n.oid = s.stxnamespace";

/* What PostgreSQL itself tells everyone about the size of a table. */
static const char row_counts[] =
	DATA_CTE
	", teller (name, function) AS (VALUES "
	"('pg_stat_get_live_tuples()', "
	"'^pg_stat_get_(xact_)?(live|dead|tuples|ins_since|mod_since)_'), "
	"('pg_relation_size()', '^pg_(relation|table|total_relation|indexes)_size$')) "
	"SELECT 'PUBLIC', 'sees about how many rows there are in ' || "
	OBJECT_TEXT("pg_class", "t.relid") " || ' by ' || string_agg(w.what, ', '), NULL "
	"FROM data t, (SELECT 'pg_class.reltuples' "
	"WHERE has_column_privilege('public', 'pg_class', 'reltuples', 'SELECT') "
	"OR has_column_privilege('public', 'pg_class', 'relpages', 'SELECT') UNION ALL "
	"SELECT l.name || ' or its like' FROM teller l WHERE EXISTS (SELECT FROM pg_proc f "
	"WHERE f.proname ~ l.function AND f.pronamespace = 'pg_catalog'::regnamespace "
	"AND has_function_privilege('public', f.oid, 'EXECUTE'))) w (what) "
	"WHERE t.relkind IN ('r', 'p', 'm') AND (t.relid = ANY ($2) OR t.base AND NOT EXISTS ("
	"SELECT FROM pg_inherits i JOIN data p ON p.relid = i.inhparent WHERE i.inhrelid = t.relid)) "
	"GROUP BY t.relid";

/* clang-format on */

static const DoctorCheck checks[] = {
	{"rule-on-relation", DOCTOR_WARNING, false,
	 "Drop the rule, unless it copies nothing to where others can read.",
	 rule_on_relation, NULL},
	{"definer-function", DOCTOR_WARNING, false,
	 "Revoke the privilege, unless what the function tells is public.",
	 definer_function, NULL},
	{"function-of-others", DOCTOR_WARNING, false,
	 "Make the relation's owner the function's owner.",
	 function_of_others, NULL},
	{"published", DOCTOR_WARNING, false,
	 "Take the relation out of the publication, or trust subscribers as the owner is trusted.",
	 published, NULL},
	{"logical-slot", DOCTOR_WARNING, true,
	 "Drop the slot, or trust who reads it as the owner is trusted.",
	 logical_slot, NULL},
	{"two-budgets", DOCTOR_WARNING, false,
	 "Put both relations under one dataset by dp_unprotect and dp_attach, or add up what the two "
	 "promise.",
	 two_budgets, NULL},
	{"definer-function-unknown", DOCTOR_NOTICE, false,
	 "Read the function, and revoke the privilege if it tells of the relation.",
	 definer_function_unknown, NULL},
	{"view-redefined", DOCTOR_NOTICE, false,
	 "See whether each of its rows still depends on the rows of one person alone.",
	 view_redefined, NULL},
	{"row-security-not-forced", DOCTOR_NOTICE, false,
	 "Force row-level security, if its policies shall bound what is read.",
	 row_security, NULL},
	{"foreign-table", DOCTOR_NOTICE, false,
	 "See to it on the remote server that nobody else reads the rows.",
	 foreign_table, NULL},
	{"extended-statistics", DOCTOR_NOTICE, false,
	 "Drop them, or keep who may read the columns to those who are trusted.",
	 extended_statistics, NULL},
	{"row-counts", DOCTOR_NOTICE, false,
	 "Keep analysts in a database of their own where the number of rows is a secret.",
	 row_counts, NULL},
};

const DoctorChecks doctor_data_checks = {checks, lengthof(checks)};
