/*
 * public_read.c
 *	  Reads the public side of a distribution from a relation of the caller's choice.
 *
 * It is read with the caller's own rights, before anything is charged, and once: what
 * is counted later is what was checked here.  Nothing about it is private, but messages
 * name no value all the same.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "dist/public.h"
#include "dist/query.h"
#include "dpngram_errcodes.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* The result on its way. */
typedef struct PublicReader
{
	MemoryContext context; /* of the result */
	PublicGrams *grams;
	uint32 capacity;
} PublicReader;

static void
bad_vocabulary(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_ARGUMENT),
			 errmsg("public_ngrams has %s", what),
			 errhint("It needs every n-gram of the vocabulary once, with a count of at least 1.")));
}

static void
reserve(PublicReader *reader)
{
	PublicGrams *grams = reader->grams;

	if (grams->size < reader->capacity)
		return;
	if (grams->size >= PUBLIC_MAX_GRAMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("public_ngrams has more than %d n-grams", PUBLIC_MAX_GRAMS)));
	reader->capacity *= 2;
	grams->gram = repalloc_huge(grams->gram, reader->capacity * sizeof(text *));
	grams->count = repalloc_huge(grams->count, reader->capacity * sizeof(int64));
}

static void
take_row(void *state, TupleTableSlot *row)
{
	PublicReader *reader = state;
	PublicGrams *grams = reader->grams;
	bool no_gram;
	bool no_count;
	Datum gram = slot_getattr(row, 1, &no_gram);
	Datum count = slot_getattr(row, 2, &no_count);
	MemoryContext old;

	if (no_gram)
		bad_vocabulary("a null n-gram");
	if (no_count)
		bad_vocabulary("a null count");
	if (DatumGetInt64(count) < 1)
		bad_vocabulary("a count below 1");
	reserve(reader);
	old = MemoryContextSwitchTo(reader->context);
	grams->gram[grams->size] = DatumGetTextPCopy(gram);
	MemoryContextSwitchTo(old);
	grams->count[grams->size++] = DatumGetInt64(count);
}

/* Is the column there, with a type that can be read as such? */
static void
check_column(Oid relid, const char *name, bool is_text)
{
	AttrNumber attnum = get_attnum(relid, name);
	Oid type = attnum > 0 ? getBaseType(get_atttype(relid, attnum)) : InvalidOid;
	bool fits = is_text ? type == BPCHAROID || type == NAMEOID || IsBinaryCoercible(type, TEXTOID) :
						  type == INT2OID || type == INT4OID || type == INT8OID;

	if (attnum <= 0 || !fits)
		ereport(ERROR,
				(errcode(ERRCODE_DP_COLUMN),
				 errmsg("public_ngrams needs a column \"%s\" of type %s", name,
						is_text ? "text" : "bigint"),
				 errhint("Its columns are (ngram text, count bigint), as dp_public_ngrams() "
						 "returns them.")));
}

typedef struct Entry
{
	text *gram;
	int64 count;
} Entry;

static int
compare_grams(const void *pa, const void *pb)
{
	const text *a = ((const Entry *) pa)->gram;
	const text *b = ((const Entry *) pb)->gram;
	int len_a = VARSIZE_ANY_EXHDR(a);
	int len_b = VARSIZE_ANY_EXHDR(b);
	int order = memcmp(VARDATA_ANY(a), VARDATA_ANY(b), Min(len_a, len_b));

	return order != 0 ? order : len_a - len_b;
}

/* Into the order of their bytes, which other rows' arrival does not decide. */
static void
sort_grams(PublicGrams *grams)
{
	Entry *entry = MemoryContextAllocHuge(CurrentMemoryContext, grams->size * sizeof(Entry));

	for (uint32 i = 0; i < grams->size; i++)
		entry[i] = (Entry){grams->gram[i], grams->count[i]};
	qsort(entry, grams->size, sizeof(Entry), compare_grams);
	for (uint32 i = 0; i < grams->size; i++)
	{
		if (i > 0 && compare_grams(&entry[i - 1], &entry[i]) == 0)
			bad_vocabulary("an n-gram twice");
		grams->gram[i] = entry[i].gram;
		grams->count[i] = entry[i].count;
	}
	pfree(entry);
}

/*
 * public_read: the vocabulary and its counts, checked.
 *
 * relid: a relation with columns ngram (a text type) and count (an integer type), read
 * with the caller's rights.  n: tokens of each n-gram.  escaped: as in PublicGrams.
 * Errors: NG010 where the columns are not there; NG005 where it is empty, has nulls,
 * counts below 1, an n-gram twice or one that is not of n tokens.
 */
PublicGrams *
public_read(Oid relid, int n, bool escaped)
{
	PublicGrams *grams = palloc0(sizeof(PublicGrams));
	PublicReader reader = {CurrentMemoryContext, grams, 1024};
	const QueryParameters none = {0};
	const char *relation = query_relation(relid);

	check_column(relid, "ngram", true);
	check_column(relid, "count", false);
	grams->n = n;
	grams->escaped = escaped;
	grams->gram = palloc(reader.capacity * sizeof(text *));
	grams->count = palloc(reader.capacity * sizeof(int64));

	query_each(psprintf("SELECT r.ngram::pg_catalog.text, r.count::pg_catalog.int8 FROM %s r",
						relation),
			   &none, take_row, &reader);
	if (grams->size == 0)
		bad_vocabulary("no rows");
	sort_grams(grams);
	public_check(grams);
	return grams;
}
