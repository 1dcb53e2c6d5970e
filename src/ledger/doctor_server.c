/*
 * doctor_server.c
 *	  Checks of dp_doctor that are about the server and not about one dataset:
 *	  roles, functions and settings that open a way around every dataset.
 */
#include "postgres.h"

#include "ledger/doctor.h"

/* it would join strings and macros to lines without end */
/* clang-format off */

/* Who can become one of the roles; superusers need not. */
#define MEMBERS_OF(roles) \
	"WITH RECURSIVE " MEMBER_CTE("SELECT g.oid FROM pg_roles g WHERE " roles) \
	"SELECT 'role ' || quote_ident(a.rolname), " \
	"'is a member of ' || quote_ident(pg_get_userbyid(m.role)), " LEAVE_ROLE("m.oid", "m.role") \
	" FROM member m JOIN pg_roles a ON a.oid = m.oid " \
	"WHERE NOT a.rolsuper AND a.rolname !~ '^pg_'"

static const char superuser_member[] = MEMBERS_OF("g.rolsuper");

static const char read_all_data[] = MEMBERS_OF("g.rolname = 'pg_read_all_data'");

static const char server_files[] =
	MEMBERS_OF (
	"g.rolname IN ('pg_read_server_files', 'pg_write_server_files', "
	"'pg_execute_server_program')" );

static const char sees_statements[] = MEMBERS_OF("g.rolname = 'pg_read_all_stats'");

static const char replication_role[] =
	"SELECT 'role ' || quote_ident(rolname), 'has REPLICATION', "
	"format('ALTER ROLE %I NOREPLICATION', rolname) "
	"FROM pg_roles WHERE rolreplication AND NOT rolsuper";

/* Up to PostgreSQL 15 CREATEROLE may grant any role but superusers. */
static const char createrole[] =
	"SELECT 'role ' || quote_ident(rolname), 'has CREATEROLE', "
	"format('ALTER ROLE %I NOCREATEROLE', rolname) "
	"FROM pg_roles WHERE rolcreaterole AND NOT rolsuper "
	"AND current_setting('server_version_num')::int < 160000";

/*
 * Functions that read rows or count them below the level of privileges on relations,
 * and have no check of their own but EXECUTE.  Not here, because they ask for more
 * themselves: all of pageinspect and pg_read_file_old (a superuser), pgrowlocks,
 * the decoding of logical slots; nor what tells of no row: amcheck, pg_visibility,
 * pg_buffercache.
 */
static const char reading_function[] =
	"WITH RECURSIVE reading (name, does) AS (VALUES "
	"('pg_read_file', 'reads files of the server'), "
	"('pg_read_binary_file', 'reads files of the server'), "
	"('lo_import', 'reads files of the server'), "
	"('lo_export', 'writes files of the server'), "
	"('pg_file_write', 'writes files of the server'), "
	"('pg_file_rename', 'writes files of the server'), "
	"('dblink_connect_u', 'connects without a password'), "
	"('pgstattuple', 'counts the rows of any table'), "
	"('pgstattuple_approx', 'counts the rows of any table'), "
	"('pg_get_wal_record_info', 'reads the write-ahead log'), "
	"('pg_get_wal_records_info', 'reads the write-ahead log'), "
	"('pg_get_wal_records_info_till_end_of_wal', 'reads the write-ahead log'), "
	"('pg_get_wal_block_info', 'reads the write-ahead log'), "
	"('pg_get_wal_fpi_info', 'reads the write-ahead log'), "
	"('pg_get_wal_stats', 'reads the write-ahead log'), "
	"('pg_get_wal_stats_till_end_of_wal', 'reads the write-ahead log')) "
	", granted (role, oid, does, command) AS (SELECT a.grantee, p.oid, r.does, "
	"format('REVOKE EXECUTE ON FUNCTION %s FROM %s', p.oid::regprocedure, "
	ROLE_NAME("a.grantee") ") FROM reading r JOIN pg_proc p ON p.proname = r.name "
	"JOIN pg_language l ON l.oid = p.prolang AND l.lanname IN ('internal', 'c'), "
	"aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a), "
	MEMBER_CTE("SELECT g.role FROM granted g")
	"SELECT " ROLE_TEXT("m.oid") ", format('may call %s, which %s', g.oid::regprocedure, g.does), "
	"CASE WHEN m.oid = g.role THEN g.command ELSE " LEAVE_ROLE("m.oid", "m.role") " END "
	"FROM granted g JOIN (SELECT x.role, x.oid FROM member x UNION ALL SELECT 0, 0) m "
	"ON m.role = g.role LEFT JOIN pg_roles o ON o.oid = m.oid "
	"WHERE m.oid = 0 OR NOT o.rolsuper AND o.rolname !~ '^pg_'";

/* A function of the same name whose arguments fit better is called in place of ours. */
static const char schema_open[] =
	"SELECT DISTINCT " ROLE_TEXT("g.role") ", "
	"'may create functions in schema ' || quote_ident(n.nspname) || ', where dpngram''s are', "
	"g.command FROM pg_extension e "
	"JOIN pg_namespace n ON n.oid = e.extnamespace OR n.nspname = 'dpngram' "
	"CROSS JOIN LATERAL (SELECT a.grantee, "
	"format('REVOKE CREATE ON SCHEMA %I FROM %s', n.nspname, " ROLE_NAME("a.grantee") ") "
	"FROM aclexplode(n.nspacl) a "
	"WHERE a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner UNION ALL "
	"SELECT CASE pg_get_userbyid(n.nspowner) WHEN 'pg_database_owner' THEN d.datdba "
	"ELSE n.nspowner END, NULL FROM pg_database d WHERE d.datname = current_database()) "
	"g (role, command) WHERE e.extname = 'dpngram' AND " IS_OTHER_ROLE("g.role");

/*
 * Settings as sessions of this database may start with them: of the configuration
 * files, of databases and roles, and, if none of these says so, of this session.
 * An analyst's own session may have others, but none of these are an analyst's to
 * set for the server's log, except those that only trace an own call's resources.
 *
 * "harmless" is a regular expression; a setting that does not exist (a library
 * that is not loaded) is harmless unless somebody gave it a value.
 */
#define SETTINGS_QUERY(wanted, detail) \
	"WITH wanted (name, harmless) AS (VALUES " wanted "), " \
	"stored (name, value, scope, command) AS (" \
	"SELECT left(c, strpos(c, '=') - 1), substr(c, strpos(c, '=') + 1), concat_ws(' in ', " \
	"CASE WHEN s.setrole <> 0 THEN 'role ' || quote_ident(pg_get_userbyid(s.setrole)) " \
	"WHEN s.setdatabase = 0 THEN 'every role' END, " \
	"CASE WHEN s.setdatabase <> 0 THEN 'this database' END), " \
	"format('ALTER %s%s RESET %s', " \
	"CASE WHEN s.setrole <> 0 THEN format('ROLE %I', pg_get_userbyid(s.setrole)) " \
	"WHEN s.setdatabase <> 0 THEN format('DATABASE %I', current_database()) ELSE 'ROLE ALL' END, " \
	"CASE WHEN s.setrole <> 0 AND s.setdatabase <> 0 " \
	"THEN format(' IN DATABASE %I', current_database()) END, left(c, strpos(c, '=') - 1)) " \
	"FROM pg_db_role_setting s, unnest(s.setconfig) c WHERE s.setdatabase IN (" \
	"0, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))), " \
	"filed (name, value) AS (SELECT DISTINCT ON (f.name) f.name, f.setting " \
	"FROM pg_file_settings f WHERE f.applied ORDER BY f.name, f.seqno DESC), " \
	"given (name, value, scope, command) AS (" \
	"SELECT f.name, f.value, 'the server', CASE WHEN p.boot_val IS NULL " \
	"THEN format('ALTER SYSTEM RESET %s', f.name) " \
	"ELSE format('ALTER SYSTEM SET %s = %L', p.name, p.boot_val) END " \
	"FROM filed f LEFT JOIN pg_settings p ON p.name = lower(f.name) WHERE NOT EXISTS (" \
	"SELECT FROM stored s WHERE s.name = f.name AND s.scope = 'this database') " \
	"UNION ALL SELECT * FROM stored), " \
	"harmful AS (SELECT g.* FROM given g JOIN wanted w ON w.name = lower(g.name) " \
	"WHERE g.value !~* w.harmless) " \
	"SELECT 'setting ' || h.name, format(" detail \
	", h.value, h.scope), h.command FROM harmful h " \
	"UNION ALL SELECT 'setting ' || s.name, format(" detail \
	", s.reset_val, 'this session'), NULL " \
	"FROM pg_settings s JOIN wanted w ON w.name = s.name " \
	"WHERE s.reset_val !~* w.harmless AND s.name NOT IN (SELECT h.name FROM harmful h)"

#define OFF "'^(f|n|of|0)'"
#define ON "'^(t|y|on|1)'"
#define NEGATIVE "'^-'"

static const char not_durable[] =
	SETTINGS_QUERY("('fsync', " ON "), ('full_page_writes', " ON ")", "'is %s for %s'");

static const char seed_set[] =
	SETTINGS_QUERY("('dpngram.test_seed', '^0+$')", "'is %s for %s'");

/* What a call of ours, or a vacuum, leaves in the server log about the rows. */
static const char log_row_counts[] =
	SETTINGS_QUERY ( "('auto_explain.log_min_duration', " NEGATIVE "), "
	"('trace_sort', " OFF "), ('log_temp_files', " NEGATIVE "), "
	"('log_parser_stats', " OFF "), ('log_planner_stats', " OFF "), "
	"('log_executor_stats', " OFF "), ('log_statement_stats', " OFF "), "
	"('log_min_messages', '^(warning|error|log|fatal|panic)')",
	"'is %s for %s'" );

/* What the statements that write the rows leave there. */
static const char log_statements[] =
	SETTINGS_QUERY ( "('log_statement', '^(none|ddl)'), "
	"('log_min_duration_statement', " NEGATIVE "), "
	"('log_min_duration_sample', " NEGATIVE "), "
	"('log_transaction_sample_rate', '^0([.]0*)?$'), "
	"('auto_explain.log_min_duration', " NEGATIVE "), "
	"('log_parameter_max_length_on_error', '^0'), "
	"('debug_print_parse', " OFF "), ('debug_print_rewritten', " OFF "), "
	"('debug_print_plan', " OFF ")",
	"'is %s for %s'" );

/* pg_stats_ext of clusters initialised before the fix shows values to all (CVE-2024-4317). */
static const char old_statistics_view[] =
	"SELECT 'view ' || c.oid::regclass::text, "
	"'shows extended statistics to roles that do not own the table', NULL FROM pg_class c "
	"WHERE c.oid IN ('pg_stats_ext'::regclass, 'pg_stats_ext_exprs'::regclass) "
	"AND pg_get_viewdef(c.oid) !~ 'pg_has_role'";

static const char few_workers[] =
	"SELECT 'setting max_worker_processes', format('is %s, of which calls may take %s and parallel "
	"queries %s', w.setting, c.calls, p.setting), "
	"'ALTER SYSTEM SET max_worker_processes = ' || (p.setting::int + c.calls + 32) "
	"FROM pg_settings w, pg_settings p, pg_settings m, LATERAL (SELECT CASE m.setting::int WHEN 0 "
	"THEN greatest(w.setting::int / 2, 1) ELSE m.setting::int END) c (calls) "
	"WHERE w.name = 'max_worker_processes' AND p.name = 'max_parallel_workers' "
	"AND m.name = 'dpngram.max_calls' AND w.setting::int < p.setting::int + c.calls + 2";

static const char standby[] =
	"SELECT 'server', 'is in recovery, so that calls are refused', NULL "
	"WHERE pg_is_in_recovery()";

/* clang-format on */

static const DoctorCheck checks[] = {
	{"no-free-worker", DOCTOR_ERROR, true,
	 "Raise max_worker_processes, which takes a restart, or dpngram.charge_timeout.",
	 NULL, doctor_probe_worker},
	{"not-durable", DOCTOR_ERROR, true,
	 "Switch it on: without it a crash may take charges back that were answered.",
	 not_durable, NULL},
	{"seed-set", DOCTOR_ERROR, true,
	 "Take the setting away: noise that can be predicted protects nobody.",
	 seed_set, NULL},
	{"superuser-member", DOCTOR_WARNING, true,
	 "Revoke the membership, or trust the role as a superuser is trusted.",
	 superuser_member, NULL},
	{"read-all-data", DOCTOR_WARNING, true,
	 "Revoke the membership, or trust the role as the owner is trusted.",
	 read_all_data, NULL},
	{"server-files", DOCTOR_WARNING, true,
	 "Revoke the membership, or trust the role as a superuser is trusted: the data files can be "
	 "read, or the server taken over.",
	 server_files, NULL},
	{"replication-role", DOCTOR_WARNING, true,
	 "Take the attribute away, or trust the role as a superuser is trusted: it can copy the "
	 "whole cluster.",
	 replication_role, NULL},
	{"createrole", DOCTOR_WARNING, true,
	 "Take the attribute away, or trust the role as the owner is trusted: it can make itself a "
	 "member of any role but superusers.",
	 createrole, NULL},
	{"sees-statements", DOCTOR_WARNING, true,
	 "Revoke the membership, or trust the role as the owner is trusted: it sees the texts of "
	 "statements, with the rows they insert.",
	 sees_statements, NULL},
	{"reading-function", DOCTOR_WARNING, true,
	 "Revoke the privilege or the membership.",
	 reading_function, NULL},
	{"schema-open", DOCTOR_WARNING, false,
	 "Revoke the privilege: a function of the same name whose arguments fit better is called "
	 "in place of dpngram's.",
	 schema_open, NULL},
	{"old-statistics-view", DOCTOR_WARNING, true,
	 "Run the server's script fix-CVE-2024-4317.sql in this database.",
	 old_statistics_view, NULL},
	{"log-row-counts", DOCTOR_WARNING, true,
	 "Take the setting away, or trust who reads the server log as the owner is trusted: a call "
	 "leaves numbers or texts there that depend on the rows.",
	 log_row_counts, NULL},
	{"log-statements", DOCTOR_NOTICE, true,
	 "Take the setting away, or trust who reads the server log as the owner is trusted: "
	 "statements are written there with the rows they insert.",
	 log_statements, NULL},
	{"few-workers", DOCTOR_NOTICE, true,
	 "Raise max_worker_processes, which takes a restart.",
	 few_workers, NULL},
	{"standby", DOCTOR_NOTICE, true,
	 "Call dpngram's functions on the primary server.",
	 standby, NULL},
};

const DoctorChecks doctor_server_checks = {checks, lengthof(checks)};
