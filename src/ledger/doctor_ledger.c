/*
 * doctor_ledger.c
 *	  Checks of dp_doctor: is the ledger whole, its own, and this server's?
 */
#include "postgres.h"

#include "ledger/doctor.h"

/* it would join strings and macros to lines without end */
/* clang-format off */

static const char seeded_release[] =
	"SELECT 'dataset ' || quote_ident(d.name), "
	"'has releases whose noise was made with dpngram.test_seed', NULL "
	"FROM dpngram.dataset d WHERE d.id = $1 "
	"AND EXISTS (SELECT FROM dpngram.release r WHERE r.dataset = d.id AND r.seeded)";

static const char chain_broken[] =
	"SELECT coalesce('release ' || b.release, 'dataset ' || quote_ident(d.name)), b.problem, NULL "
	"FROM dpngram.dataset d, dpngram.broken_chain(d.id) b WHERE d.id = $1";

/* The sums of releases, by dataset or by grant, beside what is written as spent. */
#define LOG_SUMS(key) \
	"coalesce(sum(r.mu2), 0), coalesce(sum(r.eps_pure), 0), coalesce(sum(r.delta_add), 0), " \
	"coalesce(sum(r.rho), 0), coalesce(sum(r.rho_delta), 0), " \
	"coalesce(sum(r.basic_epsilon), 0), coalesce(sum(r.basic_delta), 0) " \
	"FROM dpngram.release r WHERE r." key
#define SPENT(row) \
	"(" row ".mu2_spent, " row ".eps_pure_spent, " row ".delta_add_spent, " row ".rho_spent, " \
	row ".rho_delta_spent, " row ".basic_epsilon_spent, " row ".basic_delta_spent)"

static const char log_mismatch[] =
	"SELECT 'dataset ' || quote_ident(d.name), "
	"'what it has spent is not the sum of its releases', NULL FROM dpngram.dataset d "
	"WHERE d.id = $1 AND " SPENT("d") " <> (SELECT " LOG_SUMS("dataset = d.id") ") UNION ALL "
	"SELECT 'grant of role ' || quote_ident(g.role), "
	"'what it has spent is not the sum of its releases', NULL FROM dpngram.grantee g "
	"WHERE g.dataset = $1 AND " SPENT("g") " <> (SELECT " LOG_SUMS("grantee = g.id") ")";

/* Releases since the last binding were made on this very server, before now. */
static const char went_back[] =
	"SELECT 'dataset ' || quote_ident(d.name), "
	"'has a release that lies beyond the end of the write-ahead log', NULL "
	"FROM dpngram.dataset d WHERE d.id = $1 AND EXISTS ("
	"SELECT FROM dpngram.release r WHERE r.dataset = d.id AND r.id >= ("
	"SELECT max(b.id) FROM dpngram.release b WHERE b.dataset = d.id "
	"AND b.mechanism IN ('dp_protect', 'dp_resume')) "
	"AND r.lsn > CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() "
	"ELSE pg_current_wal_insert_lsn() END)";

/* The ledger's tables as they were installed, and nothing hung on them since. */
#define LEDGER_TABLES \
	"WITH RECURSIVE ledger AS (SELECT c.* FROM pg_class c " \
	"WHERE c.relnamespace = 'dpngram'::regnamespace AND c.relkind IN ('r', 'p', 'S')) "

static const char ledger_altered[] =
	LEDGER_TABLES
	", ours (relname, tgname, enabled, function, type) AS (VALUES "
	"('release', 'append_only', 'A', 'dpngram_append_only', 58), "
	"('release_end', 'append_only', 'A', 'dpngram_append_only', 58), "
	"('dataset', 'own_dataset_stays', 'R', 'dpngram_own_dataset_stays', 27), "
	"('relation_binding', 'bindings_stay', 'R', 'dpngram_bindings_stay', 31), "
	"('grantee_binding', 'bindings_stay', 'R', 'dpngram_bindings_stay', 31)) "
	"SELECT 'table dpngram.' || o.relname, 'has no enabled trigger ' || o.tgname, "
	"CASE WHEN EXISTS (SELECT FROM ledger l JOIN pg_trigger t ON t.tgrelid = l.oid "
	"WHERE l.relname = o.relname AND t.tgname = o.tgname) "
	"THEN format('ALTER TABLE dpngram.%I ENABLE %s TRIGGER %I', o.relname, "
	"CASE o.enabled WHEN 'A' THEN 'ALWAYS' ELSE 'REPLICA' END, o.tgname) END "
	"FROM ours o WHERE NOT EXISTS (SELECT FROM ledger l JOIN pg_trigger t ON t.tgrelid = l.oid "
	"JOIN pg_proc p ON p.oid = t.tgfoid WHERE l.relname = o.relname AND t.tgname = o.tgname "
	"AND t.tgenabled = o.enabled::\"char\" AND p.prosrc = o.function AND t.tgtype = o.type "
	"AND t.tgqual IS NULL) UNION ALL "
	"SELECT 'table dpngram.' || l.relname, 'has a trigger of others, ' || quote_ident(t.tgname), "
	"format('DROP TRIGGER %I ON dpngram.%I', t.tgname, l.relname) "
	"FROM ledger l JOIN pg_trigger t ON t.tgrelid = l.oid AND NOT t.tgisinternal "
	"WHERE (l.relname, t.tgname) NOT IN (SELECT o.relname, o.tgname FROM ours o) UNION ALL "
	"SELECT 'table dpngram.' || l.relname, 'has a rule, ' || quote_ident(w.rulename), "
	"format('DROP RULE %I ON dpngram.%I', w.rulename, l.relname) "
	"FROM ledger l JOIN pg_rewrite w ON w.ev_class = l.oid UNION ALL "
	"SELECT 'table dpngram.' || l.relname, 'has row-level security', "
	"format('ALTER TABLE dpngram.%I DISABLE ROW LEVEL SECURITY', l.relname) "
	"FROM ledger l WHERE l.relrowsecurity OR l.relforcerowsecurity UNION ALL "
	"SELECT 'table dpngram.' || l.relname, 'is not logged', "
	"format('ALTER TABLE dpngram.%I SET LOGGED', l.relname) "
	"FROM ledger l WHERE l.relpersistence <> 'p' UNION ALL "
	"SELECT 'table dpngram.' || l.relname, 'has a child, ' || i.inhrelid::regclass::text, "
	"format('ALTER TABLE %s NO INHERIT dpngram.%I', i.inhrelid::regclass, l.relname) "
	"FROM ledger l JOIN pg_inherits i ON i.inhparent = l.oid WHERE l.relkind = 'r'";

/* Privileges of others on the ledger's tables, of one kind or the other. */
#define LEDGER_PRIVILEGES(condition) \
	"SELECT " ROLE_TEXT("p.grantee") ", format('has %s on dpngram.%I', " \
	"string_agg(DISTINCT p.privilege, ', '), p.relname), " \
	"format('REVOKE %s ON %s dpngram.%I FROM %s', string_agg(DISTINCT p.privilege, ', '), " \
	"CASE p.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, p.relname, " \
	ROLE_NAME("p.grantee") ") FROM (" \
	"SELECT l.relname, l.relkind, l.relowner, a.grantee, a.privilege_type " \
	"FROM ledger l, aclexplode(l.relacl) a UNION ALL " \
	"SELECT l.relname, l.relkind, l.relowner, a.grantee, a.privilege_type FROM ledger l " \
	"JOIN pg_attribute t ON t.attrelid = l.oid AND NOT t.attisdropped, aclexplode(t.attacl) a) " \
	"p (relname, relkind, relowner, grantee, privilege) " \
	"WHERE p.grantee <> p.relowner AND " condition \
	" GROUP BY p.grantee, p.relname, p.relkind"

static const char ledger_writable[] =
	LEDGER_TABLES ", " MEMBER_CTE("SELECT 'pg_write_all_data'::regrole")
	LEDGER_PRIVILEGES("p.privilege <> 'SELECT'") " UNION ALL "
	"SELECT 'role ' || quote_ident(a.rolname), 'is a member of pg_write_all_data', "
	LEAVE_ROLE("m.oid", "m.role") " FROM member m JOIN pg_roles a ON a.oid = m.oid "
	"WHERE NOT a.rolsuper AND a.rolname !~ '^pg_'";

static const char ledger_readable[] =
	LEDGER_TABLES LEDGER_PRIVILEGES("p.privilege = 'SELECT'");

/* Execute on our functions, and anything on our views, beyond what the install script gave. */
static const char privilege_added[] =
	"WITH ours AS (SELECT d.classid, d.objid FROM pg_extension e JOIN pg_depend d "
	"ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e' "
	"WHERE e.extname = 'dpngram'), "
	"now (classid, objid, owner, kind, acl) AS ("
	"SELECT o.classid, o.objid, p.proowner, 'f'::\"char\", p.proacl FROM ours o JOIN pg_proc p "
	"ON o.classid = 'pg_proc'::regclass AND p.oid = o.objid UNION ALL "
	"SELECT o.classid, o.objid, c.relowner, 'r'::\"char\", c.relacl FROM ours o JOIN pg_class c "
	"ON o.classid = 'pg_class'::regclass AND c.oid = o.objid AND c.relkind = 'v') "
	"SELECT " ROLE_TEXT("a.grantee") ", format('was given %s on %s', "
	"string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type), "
	"(SELECT i.type || ' ' || i.identity FROM pg_identify_object(n.classid, n.objid, 0) i)), "
	"format('REVOKE %s ON %s FROM %s', "
	"string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type), CASE n.kind WHEN 'f' "
	"THEN 'FUNCTION ' || n.objid::regprocedure ELSE 'TABLE ' || n.objid::regclass END, "
	ROLE_NAME("a.grantee") ") "
	"FROM now n LEFT JOIN pg_init_privs i ON i.classoid = n.classid AND i.objoid = n.objid "
	"AND i.objsubid = 0, aclexplode(n.acl) a WHERE a.grantee <> n.owner AND NOT EXISTS ("
	"SELECT FROM aclexplode(coalesce(i.initprivs, acldefault(n.kind, n.owner))) b "
	"WHERE b.grantee = a.grantee AND b.privilege_type = a.privilege_type) "
	"GROUP BY a.grantee, n.classid, n.objid, n.kind";

/* Whoever owns a part of the extension can change what it does. */
static const char extension_owner[] =
	"WITH part (classid, objid, owner) AS ("
	"SELECT d.classid, d.objid, coalesce(p.proowner, c.relowner, n.nspowner) "
	"FROM pg_extension e JOIN pg_depend d "
	"ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e' "
	"LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid "
	"LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid "
	"LEFT JOIN pg_namespace n ON d.classid = 'pg_namespace'::regclass AND n.oid = d.objid "
	"WHERE e.extname = 'dpngram' UNION ALL "
	"SELECT 'pg_extension'::regclass, e.oid, e.extowner FROM pg_extension e "
	"WHERE e.extname = 'dpngram') "
	"SELECT i.type || ' ' || i.identity, 'is owned by ' || " ROLE_TEXT("p.owner") " || "
	"', who is no superuser', CASE WHEN i.type <> 'extension' "
	"THEN format('ALTER %s %s OWNER TO CURRENT_USER', upper(i.type), i.identity) END "
	"FROM part p, pg_identify_object(p.classid, p.objid, 0) i "
	"WHERE NOT (SELECT o.rolsuper FROM pg_authid o WHERE o.oid = p.owner)";

static const char not_updated[] =
	"SELECT 'extension dpngram', format('is at version %s here, while version %s is installed', "
	"e.installed_version, e.default_version), 'ALTER EXTENSION dpngram UPDATE' "
	"FROM pg_available_extensions e WHERE e.name = 'dpngram' "
	"AND e.installed_version <> e.default_version";

/* clang-format on */

static const DoctorCheck checks[] = {
	/* what a check that failed is reported as, and no check itself */
	{"unknown", DOCTOR_ERROR, true,
	 "Call dp_doctor where the check can be made; until then take the worst to be true.",
	 NULL, NULL},
	{"suspended", DOCTOR_ERROR, false,
	 "Make sure that no other copy spends the budget, then dp_resume.",
	 NULL, doctor_probe_binding},
	{"chain-broken", DOCTOR_ERROR, false,
	 "Compare the log with a backup: only a superuser can have changed it.",
	 chain_broken, NULL},
	{"log-mismatch", DOCTOR_ERROR, false,
	 "Compare ledger and log with a backup: only a superuser can have changed them.",
	 log_mismatch, NULL},
	{"went-back", DOCTOR_ERROR, false,
	 "Find out what was restored; releases since then may be missing from the ledger.",
	 went_back, NULL},
	{"ledger-altered", DOCTOR_ERROR, true,
	 "Undo it, and ask who did it: only a superuser can.",
	 ledger_altered, NULL},
	{"ledger-writable", DOCTOR_ERROR, true,
	 "Revoke it: who can write the ledger can refill a budget.",
	 ledger_writable, NULL},
	{"extension-owner", DOCTOR_ERROR, true,
	 "Make a superuser its owner.",
	 extension_owner, NULL},
	{"seeded-release", DOCTOR_ERROR, false,
	 "Take what those releases published as the plain truth (dpngram.releases: seeded).",
	 seeded_release, NULL},
	{"not-updated", DOCTOR_ERROR, true,
	 "ALTER EXTENSION dpngram UPDATE.",
	 not_updated, NULL},
	{"privilege-added", DOCTOR_WARNING, true,
	 "Revoke the privilege: what the extension gives to everyone is all that anyone needs.",
	 privilege_added, NULL},
	{"ledger-readable", DOCTOR_NOTICE, true,
	 "Revoke the privilege: dpngram.budget and dpngram.releases show to each what it may see.",
	 ledger_readable, NULL},
};

const DoctorChecks doctor_ledger_checks = {checks, lengthof(checks)};
