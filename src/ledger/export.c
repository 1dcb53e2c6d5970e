/*
 * export.c
 *	  dp_export_events: a dataset's history as events of a public accounting library,
 *	  so that anyone can account it again without trusting ours.
 *
 * The words are made in SQL (src/sql/40_planning.sql, doc/events.md); here stands who
 * may have them: who sees all of the dataset's releases in dpngram.releases.  Calls that
 * it carries from a dataset which that one does not own are in it without whose they were.
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "dpngram_errcodes.h"
#include "fmgr.h"
#include "ledger/binding.h"
#include "miscadmin.h"
#include "utils/acl.h"

static void
refuse_stranger(const Catalog *cat, const Dataset *dataset, const char *name)
{
	if (dataset == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("dataset \"%s\" does not exist", name)));
	if (!dataset_owned_by(dataset, cat->caller) &&
		!has_privs_of_role(cat->caller, ROLE_PG_READ_ALL_STATS))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of dataset \"%s\"", name)));
}

/* The document, as a copy that outlives the visit. */
static Datum
fetch(const Catalog *cat, int32 dataset)
{
	CatalogArgs args = {0};
	MemoryContext old;
	Datum document;
	bool isnull;

	arg_int4(&args, dataset);
	arg_oid(&args, cat->caller);
	if (catalog_query("SELECT dpngram.exported($1, $2)", &args) != 1)
		elog(ERROR, "dataset %d has no history", dataset);
	document = row_datum(0, 1, &isnull);
	if (isnull)
		elog(ERROR, "dataset %d has no history", dataset);
	old = MemoryContextSwitchTo(cat->outer);
	document = PointerGetDatum(PG_DETOAST_DATUM_COPY(document));
	MemoryContextSwitchTo(old);
	return document;
}

PG_FUNCTION_INFO_V1(dpngram_export_events);

/* dp_export_events(dataset): its releases, and those whose spending it carries. */
Datum
dpngram_export_events(PG_FUNCTION_ARGS)
{
	Catalog cat;
	Dataset *dataset;
	char *name;
	Datum document;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT), errmsg("dataset must not be null")));
	name = NameStr(*PG_GETARG_NAME(0));
	catalog_enter(&cat);
	dataset = dataset_by_name(&cat, name);
	refuse_stranger(&cat, dataset, name);
	document = fetch(&cat, dataset->id);
	catalog_leave(&cat);
	PG_RETURN_DATUM(document);
}
