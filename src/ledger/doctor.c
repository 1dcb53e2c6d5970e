/*
 * doctor.c
 *	  dp_doctor: looks for what weakens a dataset's promise or keeps it from being
 *	  used, and says how to mend it.
 *
 * What it looks for is in tables of checks (doctor_ledger.c, doctor_rows.c,
 * doctor_data.c, doctor_server.c); this file runs them.  It only reads, so that it
 * can be called on a suspended dataset, in a read-only transaction and on a
 * standby.  It fails closed: every check runs in a subtransaction of its own, and
 * one that fails is itself a finding, "unknown", of severity error.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "fmgr.h"
#include "ledger/doctor.h"
#include "ledger/owner.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/resowner.h"

static const char *const severity_names[] = {"error", "warning", "notice"};

static const DoctorChecks *const all_checks[] = {
	&doctor_ledger_checks, &doctor_rows_checks, &doctor_data_checks, &doctor_server_checks};

typedef struct Finding
{
	const DoctorCheck *check;
	int place; /* the check's among all */
	char *object;
	char *detail;
	char *command; /* NULL: the check's remedy */
} Finding;

struct DoctorReport
{
	const Catalog *cat;
	const DoctorCheck *check; /* the one that is being made */
	int place;
	List *findings; /* of Finding * */
};

/* What a check that failed is reported as: the first of the ledger's. */
#define unknown_check (&doctor_ledger_checks.check[0])

static void
add_finding(DoctorReport *report, const DoctorCheck *check, const char *object,
			const char *detail, const char *command)
{
	MemoryContext old = MemoryContextSwitchTo(report->cat->outer);
	Finding *finding = palloc(sizeof(Finding));

	finding->check = check;
	finding->place = report->place;
	finding->object = pstrdup(object ? object : "");
	finding->detail = pstrdup(detail ? detail : "");
	finding->command = command ? pstrdup(command) : NULL;
	report->findings = lappend(report->findings, finding);
	MemoryContextSwitchTo(old);
}

/* A finding of the check that is being made. */
void
doctor_found(DoctorReport *report, const char *object, const char *detail, const char *command)
{
	add_finding(report, report->check, object, detail, command);
}

static void
run_query(DoctorReport *report, const CatalogArgs *args)
{
	uint64 rows = catalog_query(report->check->query, args);

	for (uint64 row = 0; row < rows; row++)
		doctor_found(report, row_text(report->cat, row, 1), row_text(report->cat, row, 2),
					 row_text(report->cat, row, 3));
}

/* A check failed: that is a finding.  A cancel or a shutdown is none, and passes. */
static void
report_failure(DoctorReport *report, ErrorData *error)
{
	if (ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION)
		ReThrowError(error);
	add_finding(report, unknown_check, psprintf("check %s", report->check->name),
				error->message, NULL);
}

/* Makes one check, in a subtransaction. */
static void
run_check(DoctorReport *report, const Dataset *dataset, const CatalogArgs *args)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		if (report->check->query != NULL)
			run_query(report, args);
		else
			report->check->probe(report, dataset);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		report_failure(report, error);
	}
	PG_END_TRY();
}

/* The dataset's relations as they are now, as an array; of a dropped one nothing is left. */
static Datum
relations_array(const Dataset *dataset)
{
	Datum *relids = palloc(sizeof(Datum) * list_length(dataset->relations));
	int n = 0;
	ListCell *cell;

	foreach (cell, dataset->relations)
	{
		Oid relid = relation_of(lfirst(cell));

		if (OidIsValid(relid))
			relids[n++] = ObjectIdGetDatum(relid);
	}
	return PointerGetDatum(construct_array(relids, n, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
}

/* The queries' parameters; they live as long as the visit. */
static CatalogArgs
query_args(const Dataset *dataset)
{
	CatalogArgs args = {0};
	bool isnull;

	arg_int4(&args, dataset->id);
	arg_datum(&args, OIDARRAYOID, relations_array(dataset));
	if (catalog_query(doctor_data_query, &args) != 1)
		elog(ERROR, "unexpected result of the doctor's query");
	arg_datum(&args, OIDARRAYOID, row_datum(0, 1, &isnull));
	arg_datum(&args, BOOLARRAYOID, row_datum(0, 2, &isnull));
	return args;
}

/* All checks; those of the server only if it was not yet looked at. */
static void
examine(DoctorReport *report, const Dataset *dataset, bool server)
{
	CatalogArgs args = query_args(dataset);

	report->place = 0;
	for (int i = 0; i < (int) lengthof(all_checks); i++)
		for (int j = 0; j < all_checks[i]->n; j++)
		{
			report->check = &all_checks[i]->check[j];
			report->place++;
			if (report->check != unknown_check && (server || !report->check->server))
				run_check(report, dataset, &args);
		}
}

static List *
all_owned(const Catalog *cat)
{
	uint64 rows = catalog_query("SELECT d.id FROM dpngram.dataset d WHERE d.ended IS NULL "
								"ORDER BY d.name COLLATE \"C\"",
								NULL);
	int32 *ids = palloc(sizeof(int32) * (rows + 1));
	List *datasets = NIL;

	for (uint64 row = 0; row < rows; row++)
		ids[row] = row_int4(row, 1);
	for (uint64 row = 0; row < rows; row++)
	{
		Dataset *dataset = dataset_by_id(cat, ids[row]);

		if (dataset != NULL && dataset_owned_by(dataset, cat->caller))
			datasets = lappend(datasets, dataset);
	}
	return datasets;
}

/* By severity, then in the order of the checks, then by name. */
static int
compare_findings(const ListCell *a, const ListCell *b)
{
	const Finding *one = lfirst(a);
	const Finding *other = lfirst(b);
	int order = (int) one->check->severity - (int) other->check->severity;

	if (order == 0)
		order = one->place - other->place;
	if (order == 0)
		order = strcmp(one->object, other->object);
	return order != 0 ? order : strcmp(one->detail, other->detail);
}

/* Rows (severity, finding, object, detail, remedy); what two datasets share comes once. */
static void
return_findings(ReturnSetInfo *rsinfo, List *findings)
{
	const ListCell *last = NULL;
	ListCell *cell;

	list_sort(findings, compare_findings);
	foreach (cell, findings)
	{
		const Finding *finding = lfirst(cell);
		const char *remedy = finding->command ? finding->command : finding->check->remedy;
		Datum values[5] = {CStringGetTextDatum(severity_names[finding->check->severity]),
						   CStringGetTextDatum(finding->check->name),
						   CStringGetTextDatum(finding->object),
						   CStringGetTextDatum(finding->detail), CStringGetTextDatum(remedy)};
		bool nulls[5] = {false};

		if (last == NULL || compare_findings(last, cell) != 0)
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		last = cell;
	}
}

PG_FUNCTION_INFO_V1(dpngram_doctor);

/*
 * dp_doctor(dataset): what is wrong with a dataset, or with all that the caller
 * owns.  doc/doctor.md tells the findings.
 */
Datum
dpngram_doctor(PG_FUNCTION_ARGS)
{
	Catalog cat;
	DoctorReport report = {.cat = &cat};
	List *datasets;
	ListCell *cell;

	InitMaterializedSRF(fcinfo, 0);
	catalog_enter_any_version(&cat); /* a finding of its own */
	/* many small queries, of which the planner thinks more than they cost */
	(void) set_config_option("jit", "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
	datasets = PG_ARGISNULL(0) ? all_owned(&cat) :
								 list_make1(owner_find(&cat, NameStr(*PG_GETARG_NAME(0))));
	foreach (cell, datasets)
		examine(&report, lfirst(cell), cell == list_head(datasets));
	catalog_leave(&cat);
	return_findings((ReturnSetInfo *) fcinfo->resultinfo, report.findings);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(dpngram_doctor_checks);

/* doctor_checks(): what dp_doctor looks for, as (finding, severity, scope, remedy). */
Datum
dpngram_doctor_checks(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < (int) lengthof(all_checks); i++)
		for (int j = 0; j < all_checks[i]->n; j++)
		{
			const DoctorCheck *check = &all_checks[i]->check[j];
			Datum values[4] = {CStringGetTextDatum(check->name),
							   CStringGetTextDatum(severity_names[check->severity]),
							   CStringGetTextDatum(check->server ? "server" : "dataset"),
							   CStringGetTextDatum(check->remedy)};
			bool nulls[4] = {false};

			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		}
	return (Datum) 0;
}
