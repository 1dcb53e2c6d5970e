/*
 * dataset.c
 *	  Finds datasets in the catalog, with their relations, and locks them.
 *
 * A dataset is locked by a lock-manager lock named (dpngram.dataset, id): see
 * call.c.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "ledger/dataset.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/* The columns that dataset_fetch() reads, of live datasets only; by name below. */
static const char *const dataset_select =
	"SELECT d.id, d.name, d.owner, d.epsilon, d.delta, d.accounting, "
	"d.pure_share, d.delta_share, d.renews, d.renewal = 'rolling', "
	"d.time_zone, d.public_user_count, d.min_epsilon, " CAP_AND_SPENT_COLUMNS ", "
	"r.id, r.schema, r.name, r.user_col, r.time_col, r.columns, "
	"b.system_identifier, b.timeline, b.database, b.relid, b.user_attnum, b.user_type, "
	"b.owner, b.time_attnum, b.time_type, d.xmin, r.xmin, b.xmin "
	"FROM dpngram.dataset d "
	"JOIN dpngram.relation r ON r.dataset = d.id AND r.detached IS NULL "
	"LEFT JOIN dpngram.relation_binding b ON b.relation = r.id "
	"WHERE d.ended IS NULL AND d.id = ";

enum DatasetColumn
{
	COLUMN_DATASET = 1,
	COLUMN_CAPS = 14,
	COLUMN_SPENT = COLUMN_CAPS + LANES,
	COLUMN_RELATION = COLUMN_SPENT + LANES,
	COLUMN_BINDING = COLUMN_RELATION + 6,
	COLUMN_XMIN = COLUMN_BINDING + 9
};

static List *
text_list(const Catalog *cat, uint64 row, int column)
{
	MemoryContext old = MemoryContextSwitchTo(cat->outer);
	List *result = NIL;
	bool isnull;
	Datum value = row_datum(row, column, &isnull);

	if (!isnull)
	{
		Datum *elements;
		int n;

		deconstruct_array(DatumGetArrayTypeP(value), TEXTOID, -1, false, TYPALIGN_INT, &elements,
						  NULL, &n);
		for (int i = 0; i < n; i++)
			result = lappend(result, TextDatumGetCString(elements[i]));
	}
	MemoryContextSwitchTo(old);
	return result;
}

static Interval *
row_interval(const Catalog *cat, uint64 row, int column)
{
	bool isnull;
	Datum value = row_datum(row, column, &isnull);
	Interval *copy = NULL;

	if (!isnull)
	{
		copy = MemoryContextAlloc(cat->outer, sizeof(Interval));
		*copy = *DatumGetIntervalP(value);
	}
	return copy;
}

static Binding
row_binding(uint64 row)
{
	int column = COLUMN_BINDING;
	Binding binding;

	binding.system_identifier = (uint64) row_int8(row, column++);
	binding.timeline = row_int8(row, column++);
	binding.database = row_oid(row, column++);
	binding.relid = row_oid(row, column++);
	binding.user_attnum = (AttrNumber) row_int4(row, column++);
	binding.user_type = row_oid(row, column++);
	binding.owner = row_oid(row, column++);
	binding.time_attnum = (AttrNumber) row_int4(row, column++);
	binding.time_type = row_oid(row, column);
	return binding;
}

static DatasetRelation *
row_relation(const Catalog *cat, uint64 row)
{
	DatasetRelation *relation = MemoryContextAllocZero(cat->outer, sizeof(DatasetRelation));
	int column = COLUMN_RELATION;

	relation->id = row_int4(row, column++);
	relation->schema = row_text(cat, row, column++);
	relation->relname = row_text(cat, row, column++);
	relation->user_col = row_text(cat, row, column++);
	relation->time_col = row_text(cat, row, column++);
	relation->columns = text_list(cat, row, column);
	relation->bound = !row_isnull(row, COLUMN_BINDING);
	if (relation->bound)
		relation->binding = row_binding(row);
	return relation;
}

static Dataset *
row_dataset(const Catalog *cat)
{
	Dataset *dataset = MemoryContextAllocZero(cat->outer, sizeof(Dataset));
	int column = COLUMN_DATASET;
	char *accounting;

	dataset->id = row_int4(0, column++);
	dataset->name = row_text(cat, 0, column++);
	dataset->owner = row_text(cat, 0, column++);
	dataset->budget.epsilon = row_float8(0, column++);
	dataset->budget.delta = row_float8(0, column++);
	accounting = row_text(cat, 0, column++);
	if (!accounting_by_name(accounting, &dataset->budget.accounting))
		elog(ERROR, "unknown accounting \"%s\"", accounting);
	dataset->budget.pure_share = row_float8(0, column++);
	dataset->budget.delta_share = row_float8(0, column++);
	dataset->renewal.every = row_interval(cat, 0, column++);
	dataset->renewal.rolling = row_bool(0, column++);
	dataset->renewal.zone = row_text(cat, 0, column++);
	dataset->public_user_count = row_bool(0, column++);
	dataset->min_epsilon = row_float8(0, column);
	dataset->cap = row_lanes(cat, 0, COLUMN_CAPS);
	dataset->spent = row_lanes(cat, 0, COLUMN_SPENT);
	return dataset;
}

/* The live dataset whose id the SQL expression gives, with its relations by age; else NULL. */
static Dataset *
dataset_fetch(const Catalog *cat, const char *id_expression, const CatalogArgs *args)
{
	Dataset *dataset;
	uint64 rows = catalog_query(psprintf("%s%s ORDER BY r.id", dataset_select, id_expression),
								args);

	if (rows == 0)
		return NULL;
	dataset = row_dataset(cat);
	for (uint64 row = 0; row < rows; row++)
	{
		MemoryContext old = MemoryContextSwitchTo(cat->outer);

		dataset->relations = lappend(dataset->relations, row_relation(cat, row));
		MemoryContextSwitchTo(old);
		dataset->own_change = dataset->own_change || row_own_change(row, COLUMN_XMIN) ||
							  row_own_change(row, COLUMN_XMIN + 1) ||
							  row_own_change(row, COLUMN_XMIN + 2);
	}
	return dataset;
}

static DatasetRelation *
find_relation(const Dataset *dataset, Oid relid, const char *schema, const char *relname)
{
	ListCell *cell;

	foreach (cell, dataset->relations)
	{
		DatasetRelation *relation = lfirst(cell);

		if (relation->bound ? relation->binding.relid == relid :
							  strcmp(relation->schema, schema) == 0 &&
								  strcmp(relation->relname, relname) == 0)
			return relation;
	}
	return NULL;
}

/*
 * The live dataset of a relation, and that relation in it: the one bound to its
 * OID, else an unbound one that names it.  NULL if there is none.
 */
Dataset *
dataset_of_relation(const Catalog *cat, Oid relid, DatasetRelation **relation)
{
	CatalogArgs args = {0};
	Dataset *dataset;
	Oid owner;
	char *schema;
	char *relname;

	if (!relation_identity(relid, &owner, &schema, &relname))
		return NULL;
	arg_oid(&args, relid);
	arg_text(&args, schema);
	arg_text(&args, relname);
	dataset = dataset_fetch(cat,
							"(SELECT rr.dataset FROM dpngram.relation rr "
							"JOIN dpngram.dataset dd ON dd.id = rr.dataset AND dd.ended IS NULL "
							"LEFT JOIN dpngram.relation_binding bb ON bb.relation = rr.id "
							"WHERE rr.detached IS NULL AND (bb.relid = $1 OR "
							"(bb.relation IS NULL AND rr.schema = $2 AND rr.name = $3)) "
							"ORDER BY bb.relation IS NULL, rr.dataset LIMIT 1)",
							&args);
	if (dataset != NULL)
		*relation = find_relation(dataset, relid, schema, relname);
	return dataset;
}

Dataset *
dataset_by_name(const Catalog *cat, const char *name)
{
	CatalogArgs args = {0};

	arg_text(&args, name);
	return dataset_fetch(cat,
						 "(SELECT dd.id FROM dpngram.dataset dd "
						 "WHERE dd.name = $1 AND dd.ended IS NULL)",
						 &args);
}

Dataset *
dataset_by_id(const Catalog *cat, int32 id)
{
	CatalogArgs args = {0};

	arg_int4(&args, id);
	return dataset_fetch(cat, "$1", &args);
}

/* The relation that dp_protect gave it, or the oldest since. */
DatasetRelation *
dataset_first(const Dataset *dataset)
{
	return linitial(dataset->relations);
}

/* The first lock of call.c's protocol, by its name. */
LOCKTAG
dataset_locktag(int32 id)
{
	LOCKTAG tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, catalog_class(), (Oid) id, 0);
	return tag;
}

/* Takes it until the transaction's end. */
void
dataset_lock(int32 id)
{
	LockDatabaseObject(catalog_class(), (Oid) id, 0, ExclusiveLock);
}

/* The row lock of call.c's protocol, within a visit; false if there is no such row. */
bool
dataset_lock_row(int32 id)
{
	CatalogArgs args = {0};

	arg_int4(&args, id);
	return catalog_query("SELECT 1 FROM dpngram.dataset WHERE id = $1 FOR UPDATE", &args) > 0;
}

/*
 * A relation's owner and names (palloc'd); false if there is no such relation.
 */
bool
relation_identity(Oid relid, Oid *owner, char **schema, char **relname)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	*owner = form->relowner;
	*relname = pstrdup(NameStr(form->relname));
	*schema = get_namespace_name(form->relnamespace);
	ReleaseSysCache(tuple);
	return *schema != NULL;
}
