/*
 * histogram.c
 *	  Sums of integer weights by n-gram, in memory or partitioned on disk.
 *
 * One hash table while it fits.  When it may grow no further, n-grams that it
 * has keep being added up there, and records of all others go to one of
 * PARTITIONS temporary files by the leading bits of their hash.  In the end
 * the table is complete for the n-grams it has, and each file is added up in a
 * table of its own, by the next bits if that overflows again.
 *
 * Sums of integers are associative: the result does not depend on the memory
 * limit nor on the order of the users.  A sum can't overflow: a user adds at
 * most 2^20 to an n-gram, and 2^41 users would be needed.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "common/dp_audit.h"
#include "ngram/histogram.h"
#include "ngram/prefetch.h"

#define PARTITION_BITS 5
#define PARTITIONS (1 << PARTITION_BITS)
#define MAX_TABLE_SIZE (UINT64CONST(1) << 31)
#define MAX_DEPTH 6 /* 30 leading bits; the table's buckets use the low 32 */

#define SUMS_HASH(k) ((uint32) (k).content ^ murmurhash32((uint32) (k).key))

#define SH_PREFIX sums
#define SH_ELEMENT_TYPE HistogramEntry
#define SH_KEY_TYPE ItemKey
#define SH_KEY key
#define SH_HASH_KEY(tb, k) SUMS_HASH(k)
#define SH_EQUAL(tb, a, b) ((a).key == (b).key && (a).content == (b).content)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* What is written to a partition's file. */
typedef struct SpillRecord
{
	ItemKey key;
	int64 weight;
} SpillRecord;

struct Histogram
{
	MemoryContext context; /* of the table */
	MemoryContext files;   /* of the files, which outlive the table */
	Size limit;			   /* bytes */
	uint64 max_members;
	int depth; /* partitioned so often already */
	sums_hash *table;
	BufFile *file[PARTITIONS];
};

/*
 * How many members a simplehash with entries of this size may have.  While it grows,
 * the old table stands beside one of twice its size; and one that is fuller than
 * this grows by itself when keys collide in a row.
 */
uint64
table_members_within(Size memory_limit, Size entry)
{
	uint64 size = 256;

	while (size * 2 * 3 / 2 * entry <= memory_limit && size < MAX_TABLE_SIZE)
		size *= 2;
	return size / 10 * 7;
}

static Histogram *
create_at_depth(Size memory_limit, int depth)
{
	Histogram *histogram = palloc0(sizeof(Histogram));

	histogram->context = AllocSetContextCreate(CurrentMemoryContext,
											   "dpngram histogram", ALLOCSET_DEFAULT_SIZES);
	histogram->files = CurrentMemoryContext;
	histogram->limit = memory_limit;
	histogram->max_members = UINT64_MAX;
	if (depth < MAX_DEPTH)
		histogram->max_members = table_members_within(memory_limit, sizeof(HistogramEntry));
	histogram->depth = depth;
	histogram->table = sums_create(histogram->context, 256, NULL);
	return histogram;
}

Histogram *
histogram_create(Size memory_limit)
{
	return create_at_depth(memory_limit, 0);
}

static void
spill(Histogram *histogram, ItemKey key, int64 weight)
{
	int shift = 64 - PARTITION_BITS * (histogram->depth + 1);
	int partition = (key.content >> shift) & (PARTITIONS - 1);
	SpillRecord record = {key, weight};

	if (histogram->file[partition] == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(histogram->files);

		histogram->file[partition] = BufFileCreateTemp(false);
		MemoryContextSwitchTo(old);
	}
	BufFileWrite(histogram->file[partition], &record, sizeof(record));
	DP_AUDIT_SPILL(histogram->depth);
}

/*
 * The n-gram will be added soon.  With more n-grams than the processor's caches hold most
 * of an addition's time is waiting for memory; so several should wait together.
 */
void
histogram_prefetch(const Histogram *histogram, ItemKey key)
{
	const sums_hash *table = histogram->table;

	dp_prefetch(&table->data[SUMS_HASH(key) & table->sizemask]);
}

void
histogram_add(Histogram *histogram, ItemKey key, int64 weight)
{
	HistogramEntry *entry;
	bool found;

	if (unlikely(histogram->table->members >= histogram->max_members))
	{
		entry = sums_lookup(histogram->table, key);
		if (entry != NULL)
			entry->weight += weight;
		else
			spill(histogram, key, weight);
		return;
	}
	entry = sums_insert(histogram->table, key, &found);
	entry->weight = (found ? entry->weight : 0) + weight;
}

/* For tables that were given no limit: the entry of an n-gram, or NULL. */
HistogramEntry *
histogram_find(Histogram *histogram, ItemKey key)
{
	return sums_lookup(histogram->table, key);
}

static void
consume_table(Histogram *histogram, HistogramVisitor visit, void *state)
{
	sums_iterator iterator;
	HistogramEntry *entry;

	sums_start_iterate(histogram->table, &iterator);
	while ((entry = sums_iterate(histogram->table, &iterator)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		visit(state, entry);
	}
	MemoryContextDelete(histogram->context);
}

static void
consume_file(BufFile *file, Size limit, int depth, HistogramVisitor visit, void *state)
{
	Histogram *part = create_at_depth(limit, depth);
	SpillRecord record;

	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not rewind a temporary file")));
	while (BufFileRead(file, &record, sizeof(record)) == sizeof(record))
	{
		CHECK_FOR_INTERRUPTS();
		histogram_add(part, record.key, record.weight);
	}
	BufFileClose(file);
	histogram_consume(part, visit, state);
}

/* Visit every n-gram once, in no particular order, and free the histogram. */
void
histogram_consume(Histogram *histogram, HistogramVisitor visit, void *state)
{
	consume_table(histogram, visit, state);
	for (int i = 0; i < PARTITIONS; i++)
		if (histogram->file[i] != NULL)
			consume_file(histogram->file[i], histogram->limit, histogram->depth + 1, visit,
						 state);
	pfree(histogram);
}

/* Free a histogram that was not consumed. */
void
histogram_free(Histogram *histogram)
{
	for (int i = 0; i < PARTITIONS; i++)
		if (histogram->file[i] != NULL)
			BufFileClose(histogram->file[i]);
	MemoryContextDelete(histogram->context);
	pfree(histogram);
}
