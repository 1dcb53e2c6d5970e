/*
 * version.c
 *	  Whether the library, the ledger's tables and a charge's other session are of
 *	  one version.
 *
 * An upgrade exchanges the library file first and the tables later, by ALTER
 * EXTENSION dpngram UPDATE in each database, and a session keeps the library that it
 * once loaded, while a charge's background worker loads the one that is there now.  So
 * any two versions of these can meet.  What they don't share is the layout of tables
 * and of the charge's request: a worker that read another version's request could debit
 * another price than the session asked for.  Where versions differ nothing is
 * charged, and so nothing read.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "ledger/version.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

/* The version that the catalog says the extension is of; NULL if it isn't there. */
static char *
installed_version(void)
{
	Relation extensions = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;
	char *version = NULL;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum("dpngram"));
	scan = systable_beginscan(extensions, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool isnull;
		Datum value = heap_getattr(tuple, Anum_pg_extension_extversion,
								   RelationGetDescr(extensions), &isnull);

		version = isnull ? NULL : TextDatumGetCString(value);
	}
	systable_endscan(scan);
	table_close(extensions, AccessShareLock);
	return version;
}

static void
refuse(const char *installed)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the privacy ledger is of version %s, but the library of version %s",
					installed ? installed : "unknown", DPNGRAM_VERSION),
			 errhint("Run ALTER EXTENSION dpngram UPDATE; reconnect if that was done.")));
}

/* Refuses for tables of another version, which the caller met. */
void
version_refuse(void)
{
	refuse(installed_version());
}

/* Refuses if the tables are of another version than the library. */
void
version_check(void)
{
	char *installed = installed_version();

	if (installed == NULL || strcmp(installed, DPNGRAM_VERSION) != 0)
		refuse(installed);
	pfree(installed);
}

/* Marks what a background worker is given with the library's version. */
void
version_stamp(char stamp[VERSION_LENGTH])
{
	StaticAssertStmt(sizeof(DPNGRAM_VERSION) <= VERSION_LENGTH, "version too long");
	memset(stamp, 0, VERSION_LENGTH);
	strcpy(stamp, DPNGRAM_VERSION);
}

/* Ends a background worker that a session with a library of another version asked for. */
void
version_check_worker(void)
{
	if (strncmp(MyBgworkerEntry->bgw_extra, DPNGRAM_VERSION, VERSION_LENGTH) == 0)
		return;
	ereport(LOG,
			(errmsg("worker \"%s\" was asked for by a session that has another version of "
					"the library",
					MyBgworkerEntry->bgw_name),
			 errhint("The session must reconnect.")));
	proc_exit(0);
}
