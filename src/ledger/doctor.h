/*
 * doctor.h
 *	  The table of dp_doctor's checks: what each of them is.
 */
#ifndef DPNGRAM_DOCTOR_H
#define DPNGRAM_DOCTOR_H

#include "ledger/binding.h"
#include "ledger/relation.h"

typedef enum DoctorSeverity
{
	DOCTOR_ERROR,	/* the promise does not hold, or calls are refused */
	DOCTOR_WARNING, /* there is a way around, or a leak */
	DOCTOR_NOTICE	/* to be aware of */
} DoctorSeverity;

#define DOCTOR_SEVERITIES 3

typedef struct DoctorReport DoctorReport;

/* What a check that is no query looks at, and where it says what it found. */
typedef void (*DoctorProbe)(DoctorReport *report, const Dataset *dataset);

/*
 * A check is a query or a probe.  A query returns a row a finding: object, detail
 * and a command that remedies it, or NULL where the sentence "remedy" must do.
 * $1 is the dataset's id, $2 its relations, as an array of OIDs; a check of the
 * server uses neither.
 */
typedef struct DoctorCheck
{
	const char *name; /* never changed once published */
	DoctorSeverity severity;
	bool server; /* says the same for every dataset */
	const char *remedy;
	const char *query;
	DoctorProbe probe;
} DoctorCheck;

typedef struct DoctorChecks
{
	const DoctorCheck *check;
	int n;
} DoctorChecks;

/* From $1 and $2 to $3 and $4. */
extern const char *const doctor_data_query;

extern const DoctorChecks doctor_ledger_checks; /* the ledger and what it stands on */
extern const DoctorChecks doctor_rows_checks;	/* who else can read the rows */
extern const DoctorChecks doctor_data_checks;	/* what else holds or tells of the rows */
extern const DoctorChecks doctor_server_checks; /* roles, functions, settings of the server */

extern void doctor_found(DoctorReport *report, const char *object, const char *detail,
						 const char *command);
extern void doctor_probe_binding(DoctorReport *report, const Dataset *dataset);
extern void doctor_probe_worker(DoctorReport *report, const Dataset *dataset);
extern PGDLLEXPORT void dpngram_probe_main(Datum main_arg);

/* ---- parts of queries, which all run with search_path = pg_catalog ---- */

/* it would join strings and macros to lines without end */
/* clang-format off */

/* How a role (0: PUBLIC) is named in a finding, and in a command. */
#define ROLE_TEXT(oid) \
	"CASE " oid " WHEN 0 THEN 'PUBLIC' " \
	"ELSE 'role ' || quote_ident(pg_get_userbyid(" oid ")) END"
#define ROLE_NAME(oid) \
	"CASE " oid " WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(" oid ")) END"

/* How an object is named in a finding: kind and qualified name, in no language. */
#define OBJECT_TEXT(class, oid) \
	"(SELECT i.type || ' ' || i.identity " \
	"FROM pg_identify_object('" class "'::regclass, " oid ", 0) i)"

/*
 * Common table expression.  member: who can become one of the roles by SET ROLE, each
 * of them included.  pg_has_role() says the same, but for one pair of roles at a time.
 */
#define MEMBER_CTE(roles) \
	"member (role, oid) AS (" \
	"SELECT r.role, r.role FROM (" roles ") r (role) WHERE r.role <> 0 UNION " \
	"SELECT m.role, x.member FROM member m JOIN (" \
	"SELECT a.roleid, a.member FROM pg_auth_members a UNION ALL " \
	"SELECT 'pg_database_owner'::regrole, d.datdba FROM pg_database d " \
	"WHERE d.datname = current_database()) x ON x.roleid = m.oid) "

/* What parts a member from a role, which it may be in by others, too; needs MEMBER_CTE. */
#define LEAVE_ROLE(who, from) \
	"(SELECT string_agg(DISTINCT format('REVOKE %I FROM %I', pg_get_userbyid(x.roleid), " \
	"pg_get_userbyid(x.member)), '; ') FROM pg_auth_members x WHERE x.member = " who " " \
	"AND x.roleid IN (SELECT y.oid FROM member y WHERE y.role = " from "))"

/* Holds for roles that are neither superusers nor the owner of the dataset's relations. */
#define IS_OTHER_ROLE(oid) \
	"(NOT EXISTS (SELECT FROM pg_authid s WHERE s.oid = " oid " AND s.rolsuper) " \
	"AND " oid " NOT IN (SELECT o.relowner FROM pg_class o WHERE o.oid = ANY ($2)))"

/*
 * Common table expressions.  data: all relations that hold rows of the dataset or
 * let them be read (doctor_data_query); "base" are those that its views read.
 */
#define DATA_CTE \
	"WITH RECURSIVE data AS (SELECT c.oid AS relid, c.relkind, c.relowner, c.relacl, " \
	"c.reltoastrelid, c.relrowsecurity, c.relforcerowsecurity, u.base " \
	"FROM unnest($3, $4) u (relid, base) JOIN pg_class c ON c.oid = u.relid " \
	"AND c.relkind IN ('r', 'p', 'v', 'm', 'f')) "

/* above: views and rules that read the data, directly or through other views. */
#define ABOVE_CTE \
	", above (relid, through) AS (" \
	"SELECT w.ev_class, d.refobjid FROM data t JOIN pg_depend d ON d.refobjid = t.relid " \
	"JOIN pg_rewrite w ON " RULE_READS " UNION " \
	"SELECT w.ev_class, d.refobjid FROM above a JOIN pg_depend d ON d.refobjid = a.relid " \
	"JOIN pg_rewrite w ON " RULE_READS ") "

/* clang-format on */

#endif /* DPNGRAM_DOCTOR_H */
