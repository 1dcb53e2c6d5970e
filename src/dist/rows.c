/*
 * rows.c
 *	  Each user's counts of the vocabulary's n-grams: one pass over the texts.
 *
 * A text's tokens become word ids, and a window of n of them is looked up in the
 * vocabulary; a token that no n-gram has parts the text.  One user's counts stand in an
 * array as long as the vocabulary while the user's rows arrive, and are then bounded and
 * appended to a corpus of (number, count) pairs, which spills to disk beyond the memory
 * limit.  So a user takes no more memory than the vocabulary does, however long.
 *
 * Sensitivity.  What is kept of a user's counts is decided by these counts, by public
 * bounds and by a keyed hash of (user, n-gram): with every value of the key it is a
 * fixed function of the user's own data, so adding or removing a user adds or removes
 * one row and changes no other.
 */
#include "postgres.h"

#include "common/dp_audit.h"
#include "dist/rows.h"
#include "miscadmin.h"
#include "ngram/items.h"
#include "utils/memutils.h"

#define ST_SORT sort_numbers
#define ST_ELEMENT_TYPE uint32
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* The longest n-gram, in tokens, times two: a window that slides without copying much. */
#define WINDOW 256

/* A word that no n-gram of the vocabulary has. */
#define NO_WORD PG_UINT32_MAX

/* Counts saturate here: a user who repeats an n-gram oftener counts no more. */
#define MAX_COUNT PG_INT32_MAX

struct GramRows
{
	Corpus *corpus;
};

struct RowBuilder
{
	RowBounds bounds;
	uint64 sampling_key;
	Corpus *corpus;
	MemoryContext context; /* of what outlives a row of the relation */

	/* of the user whose n-grams are arriving */
	uint64 user_hash;
	uint32 *count;	 /* by number - 1 */
	uint32 *touched; /* numbers with a count */
	uint32 ntouched;
	ItemList items; /* work space of the bounds */
};

/* ---- building, user by user ---- */

/*
 * Rows of a vocabulary of so many n-grams, none yet.
 *
 * memory_limit: bytes, beyond which rows go to a temporary file.
 */
RowBuilder *
rows_begin(uint32 vocabulary, RowBounds bounds, uint64 sampling_key, Size memory_limit)
{
	RowBuilder *builder = palloc(sizeof(RowBuilder));

	*builder = (RowBuilder){
		.bounds = bounds,
		.sampling_key = sampling_key,
		.context = CurrentMemoryContext,
		.corpus = corpus_create(memory_limit, false),
		.count = MemoryContextAllocExtended(CurrentMemoryContext, vocabulary * sizeof(uint32),
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO),
		.touched = MemoryContextAllocHuge(CurrentMemoryContext, vocabulary * sizeof(uint32))};
	item_list_init(&builder->items);
	return builder;
}

void
rows_begin_user(RowBuilder *builder, uint64 hash)
{
	builder->user_hash = hash;
	builder->ntouched = 0;
}

/* The user has the n-gram of this number so many times more. */
static inline void
add_count(RowBuilder *builder, uint32 number, uint32 times)
{
	uint32 *count = &builder->count[number - 1];

	if (*count == 0)
		builder->touched[builder->ntouched++] = number;
	*count += Min(times, MAX_COUNT - *count);
}

void
rows_add_count(RowBuilder *builder, uint32 number, uint32 times)
{
	add_count(builder, number, times);
}

/* Keep as many of the user's n-grams as the bound allows, by keyed hashes. */
static void
bound_grams(RowBuilder *builder, uint64 user_key)
{
	ItemList *items = &builder->items;

	if (builder->ntouched <= builder->bounds.max_contributions ||
		DP_SABOTAGED(SABOTAGE_UNBOUNDED))
		return;
	item_list_begin_user(items, builder->bounds.max_contributions, user_key);
	for (uint32 i = 0; i < builder->ntouched; i++)
		item_list_add(items, builder->touched[i], builder->touched[i]);
	item_list_bound(items, items->bound, user_key);
	for (uint32 i = 0; i < builder->ntouched; i++)
		if (dp_mix64(user_key, builder->touched[i]) >= items->limit)
			builder->count[builder->touched[i] - 1] = 0;
}

/* Likewise of the occurrences: a sample without replacement. */
static void
bound_occurrences(RowBuilder *builder, uint64 user_key)
{
	ItemList *items = &builder->items;
	int64 total = 0;

	for (uint32 i = 0; i < builder->ntouched; i++)
		total += builder->count[builder->touched[i] - 1];
	if (total <= builder->bounds.max_contributions)
		return;
	item_list_begin_user(items, builder->bounds.max_contributions, user_key);
	for (uint32 i = 0; i < builder->ntouched; i++)
	{
		uint32 number = builder->touched[i];

		for (uint32 j = 0; j < builder->count[number - 1]; j++)
		{
			CHECK_FOR_INTERRUPTS();
			item_list_add(items, number, dp_mix64(number, j));
		}
		builder->count[number - 1] = 0;
	}
	item_list_bound(items, items->bound, user_key);
	for (Size i = 0; i < items->n; i++)
		builder->count[items->item[i].key - 1]++;
}

static void
bound_counts(RowBuilder *builder)
{
	int64 most = builder->bounds.once ? 1 : builder->bounds.max_count;

	for (uint32 i = 0; i < builder->ntouched; i++)
	{
		uint32 *count = &builder->count[builder->touched[i] - 1];

		*count = (uint32) Min((int64) *count, most);
	}
}

/*
 * Append the row, leaving the counts at 0.  In the order of the numbers: what is
 * computed of a row by floating point must not depend on the order of the user's texts.
 */
static void
store_row(RowBuilder *builder)
{
	sort_numbers(builder->touched, builder->ntouched);
	corpus_begin_user(builder->corpus, builder->user_hash);
	for (uint32 i = 0; i < builder->ntouched; i++)
	{
		uint32 number = builder->touched[i];

		if (builder->count[number - 1] == 0)
			continue;
		corpus_add_token(builder->corpus, number);
		corpus_add_token(builder->corpus, builder->count[number - 1]);
		builder->count[number - 1] = 0;
	}
	corpus_end_user(builder->corpus);
}

void
rows_end_user(RowBuilder *builder)
{
	uint64 user_key = dp_mix64(builder->sampling_key, builder->user_hash);
	MemoryContext old = MemoryContextSwitchTo(builder->context);

	bound_counts(builder);
	if (builder->bounds.occurrences)
		bound_occurrences(builder, user_key);
	else
		bound_grams(builder, user_key);
	store_row(builder);
	MemoryContextSwitchTo(old);
}

/* The rows; nothing can be added any more. */
GramRows *
rows_finish(RowBuilder *builder)
{
	GramRows *rows = palloc(sizeof(GramRows));

	rows->corpus = builder->corpus;
	item_list_free(&builder->items);
	pfree(builder->count);
	pfree(builder->touched);
	pfree(builder);
	return rows;
}

/* ---- from texts ---- */

typedef struct RowReader
{
	const PublicGrams *grams;
	RowBuilder *builder;

	/* the last words of the document */
	uint32 window[WINDOW];
	int filled;
} RowReader;

static uint32
reader_token_id(void *state, const char *token, int len)
{
	uint32 id = vocabulary_find(((RowReader *) state)->grams->words, token, len);

	return id == 0 ? NO_WORD : id;
}

static void
reader_begin_user(void *state, uint64 hash)
{
	RowReader *reader = state;

	rows_begin_user(reader->builder, hash);
	reader->filled = 0;
}

static void
reader_add_token(void *state, uint32 id)
{
	RowReader *reader = state;
	int n = reader->grams->n;
	uint32 number;

	if (id == NO_WORD)
	{
		reader->filled = 0;
		return;
	}
	if (reader->filled == WINDOW)
	{
		memmove(reader->window, reader->window + WINDOW - (n - 1), (n - 1) * sizeof(uint32));
		reader->filled = n - 1;
	}
	reader->window[reader->filled++] = id;
	if (reader->filled < n)
		return;
	number = public_find(reader->grams, reader->window + reader->filled - n);
	if (number != 0)
		add_count(reader->builder, number, 1);
}

static void
reader_end_document(void *state)
{
	((RowReader *) state)->filled = 0;
}

static void
reader_end_user(void *state)
{
	rows_end_user(((RowReader *) state)->builder);
}

/*
 * rows_read: the rows of all users who have an n-gram of the vocabulary.
 *
 * memory_limit: as of rows_begin().  Errors: those of read_rows().
 */
GramRows *
rows_read(const ReadSpec *spec, const PublicGrams *grams, RowBounds bounds,
		  uint64 sampling_key, Size memory_limit)
{
	RowReader reader = {
		.grams = grams,
		.builder = rows_begin(grams->size, bounds, sampling_key, memory_limit)};
	ReadSink sink = {
		.state = &reader,
		.token_id = reader_token_id,
		.begin_user = reader_begin_user,
		.add_token = reader_add_token,
		.end_document = reader_end_document,
		.end_user = reader_end_user};

	read_rows(spec, &sink);
	return rows_finish(reader.builder);
}

/* ---- passes ---- */

void
rows_scan_begin(GramRowScan *scan, GramRows *rows)
{
	corpus_scan_begin(&scan->scan, rows->corpus, false);
	scan->next = 0;
}

/* The next row, valid until the one after it. */
bool
rows_scan_next(GramRowScan *scan, GramRow *row)
{
	CorpusUser user;

	CHECK_FOR_INTERRUPTS();
	if (!corpus_scan_next(&scan->scan, &user))
		return false;
	*row = (GramRow){.user = scan->next++, .hash = user.hash, .n = user.n / 2, .pair = user.id};
	return true;
}

void
rows_scan_end(GramRowScan *scan)
{
	corpus_scan_end(&scan->scan);
}

void
rows_free(GramRows *rows)
{
	corpus_free(rows->corpus);
	pfree(rows);
}
