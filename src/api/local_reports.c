/*
 * local_reports.c
 *	  The reports that clients have sent, read from a relation with the caller's rights.
 *
 * They are private already: whoever may read them may decode them, and no budget is
 * debited.  They come from clients that nobody vouches for, so a report that isn't one of
 * the collection's is left out, and at the end the caller is told how many those were.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "api/checks.h"
#include "api/local_reports.h"
#include "dist/query.h"
#include "dpngram_errcodes.h"

#define INITIAL_REPORTS 1024

/* What the members of a report are; whether all are there is checked by method. */
typedef struct ReportMembers
{
	const JsonbContainer *report;
	double round;
	double place;
} ReportMembers;

/* ---- members ---- */

static JsonbValue *
member(const JsonbContainer *report, const char *name)
{
	JsonbValue key = {.type = jbvString};

	key.val.string.val = unconstify(char *, name);
	key.val.string.len = strlen(name);
	return findJsonbValueFromContainer(unconstify(JsonbContainer *, report), JB_FOBJECT, &key);
}

/* A whole number from 0 to high. */
static bool
whole_member(const JsonbContainer *report, const char *name, uint64 high, uint64 *result)
{
	JsonbValue *value = member(report, name);
	char *digits;

	if (value == NULL || value->type != jbvNumeric)
		return false;
	digits = DatumGetCString(
		DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric)));
	if (strspn(digits, "0123456789") != strlen(digits) || strlen(digits) > 20)
		return false;
	errno = 0;
	*result = strtoull(digits, NULL, 10);
	return errno == 0 && *result <= high;
}

static bool
filter_element(const JsonbValue *value, uint64 *bits)
{
	char digits[17];

	if (value == NULL || value->type != jbvString || value->val.string.len != 16)
		return false;
	memcpy(digits, value->val.string.val, 16);
	digits[16] = '\0';
	if (strspn(digits, "0123456789abcdef") != 16)
		return false;
	*bits = strtoull(digits, NULL, 16);
	return true;
}

/* ---- reports ---- */

static void
make_room(Collection *collection)
{
	bool filters = collection->round[0]->method == LOCAL_RAPPOR;

	if (collection->reports < collection->capacity)
		return;
	collection->capacity *= 2;
	if (filters)
		collection->filters = repalloc_huge(collection->filters,
											collection->capacity * sizeof(RapporReport));
	else
		collection->report = repalloc_huge(collection->report,
										   collection->capacity * sizeof(LocalReport));
}

static bool
take_hashed(Collection *collection, const JsonbContainer *json, int64 place)
{
	LocalReport report = {.place = (uint32) place};
	uint64 value;

	if (!whole_member(json, "seed", PG_UINT64_MAX, &report.seed) ||
		!whole_member(json, "value", PG_UINT32_MAX, &value))
		return false;
	report.value = (uint32) value;
	make_room(collection);
	collection->report[collection->reports++] = report;
	return true;
}

static bool
take_filters(Collection *collection, const JsonbContainer *json, int64 place)
{
	RapporReport report = {.place = place};
	const Bloom *bloom = &collection->plan->rappor.bloom;
	uint64 beyond = bloom->bits < 64 ? PG_UINT64_MAX << bloom->bits : 0;
	JsonbValue *bits = member(json, "bits");

	if (bits == NULL || bits->type != jbvBinary || !JsonContainerIsArray(bits->val.binary.data) ||
		JsonContainerSize(bits->val.binary.data) != RAPPOR_PARTS)
		return false;
	for (int i = 0; i < RAPPOR_PARTS; i++)
		if (!filter_element(getIthJsonbValueFromContainer(bits->val.binary.data, i),
							&report.bits[i]) ||
			(report.bits[i] & beyond) != 0)
			return false;
	make_room(collection);
	collection->filters[collection->reports++] = report;
	return true;
}

static bool
take_bits(Collection *collection, const JsonbContainer *json, int round, int64 place)
{
	JsonbValue *bits = member(json, "bits");

	if (bits == NULL || bits->type != jbvString ||
		!round_tally(&collection->round[round]->asks, place, bits->val.string.val,
					 bits->val.string.len, collection->supported[round]))
		return false;
	collection->answered[round]++;
	return true;
}

static bool
take_report(Collection *collection, const JsonbContainer *json)
{
	uint64 round;
	uint64 place;

	if (!JsonContainerIsObject(json) ||
		!whole_member(json, "round", collection->n, &round) || round == 0 ||
		!whole_member(json, "place", LOCAL_TICKETS - 1, &place))
		return false;
	switch (collection->round[0]->method)
	{
		case LOCAL_PRIVTRIE:
			return take_bits(collection, json, (int) round - 1, (int64) place);
		case LOCAL_RAPPOR:
			return take_filters(collection, json, (int64) place);
		default:
			return take_hashed(collection, json, (int64) place);
	}
}

static void
take_row(void *state, TupleTableSlot *row)
{
	Collection *collection = state;
	bool isnull;
	Datum report = slot_getattr(row, 1, &isnull);

	if (!isnull && !take_report(collection, &DatumGetJsonbP(report)->root))
		collection->invalid++;
}

/* ---- the collection ---- */

/* Do two rounds agree in all that a collection never changes? */
static bool
same_collection(const PublishedRound *a, const PublishedRound *b)
{
	return a->method == b->method && a->lifetime == b->lifetime && a->key == b->key &&
		   strcmp(a->spec, b->spec) == 0 && a->query.epsilon == b->query.epsilon &&
		   a->query.k == b->query.k && a->query.max_length == b->query.max_length &&
		   a->query.consistency == b->query.consistency && a->query.eta == b->query.eta &&
		   a->query.frontier == b->query.frontier;
}

/* All of one collection, numbered from 1; errors: NG005. */
static void
parse_rounds(Collection *collection, ArrayType *rounds)
{
	Datum *element;
	bool *isnull;

	if (ARR_ELEMTYPE(rounds) != JSONBOID || ARR_NDIM(rounds) != 1)
		bad_argument("rounds", "an array of the rounds that ldp_round has published");
	deconstruct_array(rounds, JSONBOID, -1, false, TYPALIGN_INT, &element, &isnull,
					  &collection->n);
	collection->round = palloc(collection->n * sizeof(PublishedRound *));
	for (int i = 0; i < collection->n; i++)
	{
		PublishedRound *round;

		if (isnull[i])
			bad_argument("rounds", "an array without nulls");
		round = round_parse(DatumGetJsonbP(element[i]));
		if (round->number != i + 1)
			bad_argument("rounds", "all rounds in their order, from the first");
		round_read_nodes(round);
		collection->round[i] = round;
		if (!same_collection(round, collection->round[0]))
			bad_argument("rounds", "the rounds of one collection");
	}
	if (collection->n > 1 && collection->round[0]->method != LOCAL_PRIVTRIE)
		bad_argument("rounds", "the only round that the method has");
}

static void
collection_init(Collection *collection)
{
	collection->capacity = INITIAL_REPORTS;
	switch (collection->round[0]->method)
	{
		case LOCAL_PRIVTRIE:
			collection->answered = palloc0(collection->n * sizeof(int64));
			collection->supported = palloc(collection->n * sizeof(int64 *));
			for (int i = 0; i < collection->n; i++)
				collection->supported[i] =
					palloc0(Max(collection->round[i]->asks.n, 1) * sizeof(int64));
			break;
		case LOCAL_RAPPOR:
			collection->filters = palloc(INITIAL_REPORTS * sizeof(RapporReport));
			break;
		default:
			collection->report = palloc(INITIAL_REPORTS * sizeof(LocalReport));
			break;
	}
}

/*
 * collection_read: the rounds of a collection, and the reports in a column of type jsonb.
 * Errors: NG005 about the rounds, NG010 about the column, and those of reading.
 */
Collection *
collection_read(ArrayType *rounds, Oid relid, const char *column)
{
	Collection *collection = palloc0(sizeof(Collection));
	QueryParameters none = {0};
	const char *relation = query_relation(relid);

	parse_rounds(collection, rounds);
	collection->plan = client_plan(collection->round[0]);
	collection_init(collection);
	if (query_column_type(relid, column) != JSONBOID)
		ereport(ERROR,
				(errcode(ERRCODE_DP_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" must be of type jsonb", column,
						get_rel_name(relid))));
	query_each(psprintf("SELECT %s FROM %s r", query_column(relid, "r", column), relation), &none,
			   take_row, collection);
	return collection;
}

/* Tells the caller what was left out. */
void
collection_tell(const Collection *collection)
{
	if (collection->invalid > 0)
		ereport(NOTICE,
				(errmsg(INT64_FORMAT " reports are not of this collection and not counted",
						collection->invalid)));
}
