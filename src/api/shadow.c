/*
 * shadow.c
 *	  Refuses a session whose temporary objects could stand in for those that the
 *	  owner's functions name.
 *
 * A view's functions run under the owner's rights in the caller's session, and
 * nothing hides that session's temporary schema from them.  Where such a function
 * names a table or type without its schema, a temporary one of that name is found:
 * last under our own search_path, but first under one that the function sets
 * itself (SET search_path = app), as long as that doesn't say pg_temp.  A
 * temporary view of the analyst would run the analyst's functions as the owner, and
 * these could write the data away; a security-restricted operation does not stop an
 * INSERT.  So where the relation runs functions of its own, temporary objects of
 * others than the owner are an error, before anything is charged.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "api/shadow.h"

/*
 * Has the session a temporary table, view or type ($3: their schema) of a role
 * that could not do all that the owner ($2) can, and does the relation ($1) run
 * code that is neither built in nor a C function?  It does by what its rule, the
 * rules of the views below, and policies depend on.
 */
static const char *const shadow_query =
	"SELECT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace = $3 "
	"AND NOT pg_catalog.pg_has_role(c.relowner, $2, 'USAGE') "
	"UNION ALL SELECT FROM pg_catalog.pg_type t WHERE t.typnamespace = $3 "
	"AND NOT pg_catalog.pg_has_role(t.typowner, $2, 'USAGE')) AND EXISTS ("
	"WITH RECURSIVE reached (relid) AS ("
	"SELECT $1 UNION SELECT d.refobjid FROM reached r "
	"JOIN pg_catalog.pg_rewrite w ON w.ev_class = r.relid "
	"JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass "
	"AND d.objid = w.oid AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass), "
	"part (classid, objid) AS ("
	"SELECT 'pg_catalog.pg_rewrite'::pg_catalog.regclass::oid, w.oid FROM reached r "
	"JOIN pg_catalog.pg_rewrite w ON w.ev_class = r.relid UNION ALL "
	"SELECT 'pg_catalog.pg_policy'::pg_catalog.regclass::oid, p.oid FROM reached r "
	"JOIN pg_catalog.pg_policy p ON p.polrelid = r.relid), "
	"used (classid, objid) AS (SELECT d.refclassid, d.refobjid FROM part p "
	"JOIN pg_catalog.pg_depend d ON d.classid = p.classid AND d.objid = p.objid), "
	"called (oid) AS (SELECT u.objid FROM used u "
	"WHERE u.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass UNION ALL "
	"SELECT o.oprcode FROM used u JOIN pg_catalog.pg_operator o ON o.oid = u.objid "
	"WHERE u.classid = 'pg_catalog.pg_operator'::pg_catalog.regclass) "
	"SELECT FROM called JOIN pg_catalog.pg_proc f ON f.oid = called.oid "
	"JOIN pg_catalog.pg_language l ON l.oid = f.prolang "
	"WHERE f.prokind = 'a' OR l.lanname NOT IN ('internal', 'c') UNION ALL "
	"SELECT FROM used u JOIN pg_catalog.pg_type t ON t.oid = u.objid "
	"WHERE u.classid = 'pg_catalog.pg_type'::pg_catalog.regclass AND t.typtype = 'd')";

static bool
find_shadow(Oid relid, Oid owner, Oid temporary)
{
	Oid types[3] = {OIDOID, OIDOID, OIDOID};
	Datum values[3] = {ObjectIdGetDatum(relid), ObjectIdGetDatum(owner),
					   ObjectIdGetDatum(temporary)};
	int nestlevel = NewGUCNestLevel();
	bool isnull;
	bool found;

	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args(shadow_query, 3, types, values, NULL, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "looking for temporary objects failed");
	found = DatumGetBool(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
	SPI_finish();
	AtEOXact_GUC(false, nestlevel);
	return found;
}

/*
 * refuse_shadows: an error (55000) if the caller's session has temporary objects
 * that functions of the relation, read as this owner, might take for the owner's.
 */
void
refuse_shadows(Oid relid, Oid owner)
{
	Oid temporary;
	Oid toast;

	GetTempNamespaceState(&temporary, &toast);
	if (OidIsValid(temporary) && find_shadow(relid, owner, temporary))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("relation \"%s\" cannot be queried by a session that has temporary "
						"tables or types",
						get_rel_name(relid)),
				 errdetail("Functions that its owner uses could take them for the owner's."),
				 errhint("Use DISCARD TEMP, or another session.")));
}
