/*
 * doctor_rows.c
 *	  Checks of dp_doctor: who but the owner can read the rows themselves, by
 *	  privileges on the relation, on what it reads, and on what reads it.
 *
 * Privileges are taken from the access control lists, so that a finding can say
 * what to revoke.  A role counts as reader if it can become one by SET ROLE, also
 * where it does not inherit: hence 'MEMBER' throughout.
 */
#include "postgres.h"

#include "ledger/doctor.h"

/* it would join strings and macros to lines without end */
/* clang-format off */

/*
 * way: which role is allowed to read which relation, how, and what takes it away;
 * the dataset's owner is such a role, for the sake of its members.  A partition
 * goes without saying where its owner is its parent's.
 */
#define WAY_CTE \
	", way (relid, base, role, how, command) AS (" \
	"SELECT t.relid, t.base, a.grantee, 'has SELECT on ' || " OBJECT_TEXT("pg_class", "t.relid") \
	", format('REVOKE SELECT ON %s FROM %s', t.relid::regclass, " ROLE_NAME("a.grantee") ") " \
	"FROM data t, aclexplode(coalesce(t.relacl, acldefault('r', t.relowner))) a " \
	"WHERE a.privilege_type = 'SELECT' AND a.grantee <> t.relowner UNION " \
	"SELECT c.relid, c.base, c.grantee, format('has SELECT (%s) on %s', c.columns, " \
	OBJECT_TEXT("pg_class", "c.relid") "), format('REVOKE SELECT (%s) ON %s FROM %s', " \
	"c.columns, c.relid::regclass, " ROLE_NAME("c.grantee") ") FROM (" \
	"SELECT t.relid, t.base, a.grantee, " \
	"string_agg(quote_ident(c.attname), ', ' ORDER BY c.attnum) AS columns " \
	"FROM data t JOIN pg_attribute c ON c.attrelid = t.relid AND NOT c.attisdropped, " \
	"aclexplode(c.attacl) a WHERE a.privilege_type = 'SELECT' AND a.grantee <> t.relowner " \
	"GROUP BY t.relid, t.base, a.grantee) c UNION " \
	"SELECT t.relid, t.base, t.relowner, 'owns ' || " OBJECT_TEXT("pg_class", "t.relid") \
	", NULL FROM data t WHERE NOT EXISTS (SELECT FROM pg_inherits i JOIN data p " \
	"ON p.relid = i.inhparent AND p.relowner = t.relowner WHERE i.inhrelid = t.relid)) "

/*
 * granted: the roles with a live grant of the dataset; analyst: who may use one;
 * reader: every role that can read, however it came to.
 */
#define READER_CTE \
	", granted (role) AS (SELECT coalesce(b.role, a.oid) FROM dpngram.grantee g " \
	"LEFT JOIN dpngram.grantee_binding b ON b.grantee = g.id " \
	"LEFT JOIN pg_roles a ON a.rolname = g.role " \
	"WHERE g.dataset = $1 AND g.revoked IS NULL), " \
	MEMBER_CTE("SELECT w.role FROM way w UNION SELECT g.role FROM granted g UNION " \
	"SELECT 'pg_read_all_data'::regrole") \
	", analyst (role) AS (SELECT m.oid FROM member m JOIN granted g ON g.role = m.role), " \
	"reader (relid, base, role, how, command) AS (" \
	"SELECT w.relid, w.base, w.role, w.how, w.command FROM way w WHERE w.role = 0 UNION " \
	"SELECT w.relid, w.base, m.oid, CASE WHEN m.oid = w.role THEN w.how " \
	"ELSE format('is a member of role %I, which %s', pg_get_userbyid(w.role), w.how) END, " \
	"CASE WHEN m.oid = w.role THEN w.command ELSE " LEAVE_ROLE("m.oid", "w.role") " END " \
	"FROM way w JOIN member m ON m.role = w.role WHERE " IS_OTHER_ROLE("m.oid") ") "

#define READER_ROWS(condition) \
	"SELECT " ROLE_TEXT("r.role") ", string_agg(r.how, '; ' ORDER BY r.how COLLATE \"C\"), " \
	"string_agg(DISTINCT r.command, '; ') " \
	"FROM reader r WHERE " condition " GROUP BY r.role, r.relid"

static const char analyst_can_read[] =
	DATA_CTE WAY_CTE READER_CTE
	READER_ROWS("NOT r.base AND (r.role = 0 OR r.role IN (SELECT role FROM analyst))")
	" UNION ALL "
	"SELECT " ROLE_TEXT("m.oid") ", 'is a member of pg_read_all_data', "
	LEAVE_ROLE("m.oid", "m.role") " FROM member m "
	"WHERE m.role = 'pg_read_all_data'::regrole AND m.oid IN (SELECT role FROM analyst) "
	"AND " IS_OTHER_ROLE("m.oid");

static const char role_can_read[] =
	DATA_CTE WAY_CTE READER_CTE
	READER_ROWS("NOT r.base AND r.role <> 0 AND r.role NOT IN (SELECT role FROM analyst)");

/* The owner of what the view reads may be another, who reads it as a matter of course. */
static const char base_readable[] =
	DATA_CTE WAY_CTE READER_CTE
	READER_ROWS("r.base");

/* A TOAST table's name is made of an OID; it is told by its table. */
static const char toast_readable[] =
	DATA_CTE
	"SELECT " ROLE_TEXT("a.grantee") ", 'has SELECT on the TOAST table of ' || "
	OBJECT_TEXT("pg_class", "t.relid") ", "
	"format('REVOKE SELECT ON %s FROM %s', c.oid::regclass, " ROLE_NAME("a.grantee") ") "
	"FROM data t JOIN pg_class c ON c.oid = t.reltoastrelid, aclexplode(c.relacl) a "
	"WHERE a.privilege_type = 'SELECT' AND a.grantee <> t.relowner";

/*
 * view: what reads the data, with the roles, but for the dataset's owner, that can
 * read it in turn.  A view that checks its reader's own rights opens nothing.
 */
#define VIEW_CTE \
	", view (relid, through, role) AS (" \
	"SELECT v.relid, v.through, r.role FROM above v JOIN pg_class c ON c.oid = v.relid " \
	"LEFT JOIN LATERAL (" \
	"SELECT a.grantee FROM aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a " \
	"WHERE a.privilege_type = 'SELECT' UNION " \
	"SELECT a.grantee FROM pg_attribute t, aclexplode(t.attacl) a " \
	"WHERE t.attrelid = c.oid AND NOT t.attisdropped AND a.privilege_type = 'SELECT' UNION " \
	"SELECT c.relowner) r (role) ON " IS_OTHER_ROLE("r.role") " AND NOT EXISTS (" \
	"SELECT FROM pg_options_to_table(c.reloptions) o WHERE c.relkind = 'v' " \
	"AND o.option_name = 'security_invoker' AND o.option_value ~* '^(t|y|on|1)') " \
	"WHERE v.relid NOT IN (SELECT relid FROM data)) "

#define VIEW_READS \
	"'reads ' || (SELECT string_agg(DISTINCT " OBJECT_TEXT("pg_class", "x.through") ", ', ') " \
	"FROM view x WHERE x.relid = v.relid)"

static const char view_readable[] =
	DATA_CTE ABOVE_CTE VIEW_CTE
	"SELECT " OBJECT_TEXT("pg_class", "v.relid") ", " VIEW_READS
	" || ' and can be read by ' || "
	"string_agg(DISTINCT " ROLE_TEXT("v.role") ", ', '), "
	"format('REVOKE SELECT ON %s FROM %s', v.relid::regclass, "
	"string_agg(DISTINCT " ROLE_NAME("v.role") ", ', ')) "
	"FROM view v WHERE v.role IS NOT NULL GROUP BY v.relid";

static const char view_over[] =
	DATA_CTE ABOVE_CTE VIEW_CTE
	"SELECT " OBJECT_TEXT("pg_class", "v.relid") ", " VIEW_READS ", NULL "
	"FROM view v GROUP BY v.relid HAVING bool_and(v.role IS NULL)";

/* TRIGGER shows every row that is written, REFERENCES whether a value is there. */
static const char trigger_or_references[] =
	DATA_CTE
	"SELECT " ROLE_TEXT("p.grantee") ", 'has ' || "
	"string_agg(DISTINCT p.privilege_type, ', ') || ' on ' || "
	OBJECT_TEXT("pg_class", "p.relid") ", "
	"format('REVOKE %s ON %s FROM %s', string_agg(DISTINCT p.privilege_type, ', '), "
	"p.relid::regclass, " ROLE_NAME("p.grantee") ") "
	"FROM (SELECT t.relid, a.grantee, a.privilege_type FROM data t, aclexplode(t.relacl) a "
	"UNION SELECT t.relid, a.grantee, a.privilege_type FROM data t "
	"JOIN pg_attribute c ON c.attrelid = t.relid AND NOT c.attisdropped, "
	"aclexplode(c.attacl) a) p "
	"WHERE p.privilege_type IN ('TRIGGER', 'REFERENCES') AND " IS_OTHER_ROLE("p.grantee") " "
	"GROUP BY p.grantee, p.relid";

/* Whoever may use the server can define a table of its own over the same rows. */
static const char foreign_server[] =
	DATA_CTE
	"SELECT DISTINCT " ROLE_TEXT("u.role") ", u.how || ' foreign server ' || "
	"quote_ident(u.srvname) || ', where ' || " OBJECT_TEXT("pg_class", "u.relid") " || ' is', "
	"u.command FROM (SELECT t.relid, s.srvname, a.grantee, 'has USAGE on', "
	"format('REVOKE USAGE ON FOREIGN SERVER %I FROM %s', s.srvname, " ROLE_NAME("a.grantee")
	") "
	"FROM data t JOIN pg_foreign_table f ON f.ftrelid = t.relid "
	"JOIN pg_foreign_server s ON s.oid = f.ftserver, aclexplode(s.srvacl) a "
	"WHERE a.grantee <> s.srvowner UNION "
	"SELECT t.relid, s.srvname, s.srvowner, 'owns', NULL "
	"FROM data t JOIN pg_foreign_table f ON f.ftrelid = t.relid "
	"JOIN pg_foreign_server s ON s.oid = f.ftserver) u (relid, srvname, role, how, command) "
	"WHERE " IS_OTHER_ROLE("u.role");

/* Planner statistics hold the commonest values of every column. */
static const char statistics_readable[] =
	"SELECT " ROLE_TEXT("p.grantee") ", 'has SELECT on ' || p.relid::regclass::text, "
	"format('REVOKE SELECT ON %s FROM %s', p.relid::regclass, " ROLE_NAME("p.grantee") ") "
	"FROM (SELECT c.oid, a.grantee FROM pg_class c, aclexplode(c.relacl) a "
	"WHERE c.oid IN ('pg_statistic'::regclass, 'pg_statistic_ext_data'::regclass) "
	"AND a.privilege_type = 'SELECT' AND a.grantee <> c.relowner UNION "
	"SELECT t.attrelid, a.grantee FROM pg_attribute t, aclexplode(t.attacl) a "
	"WHERE t.attrelid IN ('pg_statistic'::regclass, 'pg_statistic_ext_data'::regclass) "
	"AND a.privilege_type = 'SELECT') p (relid, grantee)";

/* clang-format on */

static const DoctorCheck checks[] = {
	{"analyst-can-read", DOCTOR_ERROR, false,
	 "Revoke the privilege or the membership: to who reads the rows nothing is private.",
	 analyst_can_read, NULL},
	{"role-can-read", DOCTOR_WARNING, false,
	 "Revoke the privilege or the membership, or trust the role as the owner is trusted.",
	 role_can_read, NULL},
	{"base-readable", DOCTOR_WARNING, false,
	 "Revoke the privilege, unless what the view reads there is public.",
	 base_readable, NULL},
	{"toast-readable", DOCTOR_WARNING, false,
	 "Revoke the privilege: long texts are stored there.",
	 toast_readable, NULL},
	{"view-readable", DOCTOR_WARNING, false,
	 "Revoke the privilege or drop the view, unless what it shows is public.",
	 view_readable, NULL},
	{"statistics-readable", DOCTOR_WARNING, true,
	 "Revoke the privilege: the commonest values of every column are stored there.",
	 statistics_readable, NULL},
	{"trigger-or-references", DOCTOR_WARNING, false,
	 "Revoke the privilege: a trigger sees the rows that are written, a foreign key tells "
	 "which values there are.",
	 trigger_or_references, NULL},
	{"foreign-server", DOCTOR_WARNING, false,
	 "Revoke the privilege, or give the owner's user mapping alone access to the remote rows.",
	 foreign_server, NULL},
	{"view-over-relation", DOCTOR_NOTICE, false,
	 "Grant nobody SELECT on it.",
	 view_over, NULL},
};

const DoctorChecks doctor_rows_checks = {checks, lengthof(checks)};
