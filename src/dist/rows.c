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

typedef struct RowReader
{
	const PublicGrams *grams;
	RowBounds bounds;
	uint64 sampling_key;
	Corpus *corpus;
	MemoryContext context; /* of what outlives a row of the relation */

	/* the last words of the document */
	uint32 window[WINDOW];
	int filled;

	/* of the user whose rows are arriving */
	uint64 user_hash;
	uint32 *count;	 /* by number - 1 */
	uint32 *touched; /* numbers with a count */
	uint32 ntouched;
	ItemList items; /* work space of the bounds */
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

	reader->user_hash = hash;
	reader->ntouched = 0;
	reader->filled = 0;
}

static inline void
count_gram(RowReader *reader, uint32 number)
{
	uint32 *count = &reader->count[number - 1];

	if (*count == 0)
		reader->touched[reader->ntouched++] = number;
	if (*count < MAX_COUNT)
		(*count)++;
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
		count_gram(reader, number);
}

static void
reader_end_document(void *state)
{
	((RowReader *) state)->filled = 0;
}

/* Keep as many of the user's n-grams as the bound allows, by keyed hashes. */
static void
bound_grams(RowReader *reader, uint64 user_key)
{
	ItemList *items = &reader->items;

	if (reader->ntouched <= reader->bounds.max_contributions)
		return;
	item_list_begin_user(items, reader->bounds.max_contributions, user_key);
	for (uint32 i = 0; i < reader->ntouched; i++)
		item_list_add(items, reader->touched[i], reader->touched[i]);
	item_list_bound(items, items->bound, user_key);
	for (uint32 i = 0; i < reader->ntouched; i++)
		if (dp_mix64(user_key, reader->touched[i]) >= items->limit)
			reader->count[reader->touched[i] - 1] = 0;
}

/* Likewise of the occurrences: a sample without replacement. */
static void
bound_occurrences(RowReader *reader, uint64 user_key)
{
	ItemList *items = &reader->items;
	int64 total = 0;

	for (uint32 i = 0; i < reader->ntouched; i++)
		total += reader->count[reader->touched[i] - 1];
	if (total <= reader->bounds.max_contributions)
		return;
	item_list_begin_user(items, reader->bounds.max_contributions, user_key);
	for (uint32 i = 0; i < reader->ntouched; i++)
	{
		uint32 number = reader->touched[i];

		for (uint32 j = 0; j < reader->count[number - 1]; j++)
		{
			CHECK_FOR_INTERRUPTS();
			item_list_add(items, number, dp_mix64(number, j));
		}
		reader->count[number - 1] = 0;
	}
	item_list_bound(items, items->bound, user_key);
	for (Size i = 0; i < items->n; i++)
		reader->count[items->item[i].key - 1]++;
}

static void
bound_counts(RowReader *reader)
{
	int64 most = reader->bounds.once ? 1 : reader->bounds.max_count;

	for (uint32 i = 0; i < reader->ntouched; i++)
	{
		uint32 *count = &reader->count[reader->touched[i] - 1];

		*count = (uint32) Min((int64) *count, most);
	}
}

/*
 * Append the row, leaving the counts at 0.  In the order of the numbers: what is
 * computed of a row by floating point must not depend on the order of the user's texts.
 */
static void
store_row(RowReader *reader)
{
	sort_numbers(reader->touched, reader->ntouched);
	corpus_begin_user(reader->corpus, reader->user_hash);
	for (uint32 i = 0; i < reader->ntouched; i++)
	{
		uint32 number = reader->touched[i];

		if (reader->count[number - 1] == 0)
			continue;
		corpus_add_token(reader->corpus, number);
		corpus_add_token(reader->corpus, reader->count[number - 1]);
		reader->count[number - 1] = 0;
	}
	corpus_end_user(reader->corpus);
}

static void
reader_end_user(void *state)
{
	RowReader *reader = state;
	uint64 user_key = dp_mix64(reader->sampling_key, reader->user_hash);
	MemoryContext old = MemoryContextSwitchTo(reader->context);

	bound_counts(reader);
	if (reader->bounds.occurrences)
		bound_occurrences(reader, user_key);
	else
		bound_grams(reader, user_key);
	store_row(reader);
	MemoryContextSwitchTo(old);
}

/*
 * rows_read: the rows of all users who have an n-gram of the vocabulary.
 *
 * memory_limit: bytes, beyond which rows go to a temporary file.  Errors: those of
 * read_rows().
 */
GramRows *
rows_read(const ReadSpec *spec, const PublicGrams *grams, RowBounds bounds,
		  uint64 sampling_key, Size memory_limit)
{
	GramRows *rows = palloc(sizeof(GramRows));
	RowReader reader = {
		.grams = grams,
		.bounds = bounds,
		.sampling_key = sampling_key,
		.context = CurrentMemoryContext,
		.corpus = corpus_create(memory_limit, false),
		.count = MemoryContextAllocExtended(CurrentMemoryContext, grams->size * sizeof(uint32),
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO),
		.touched = MemoryContextAllocHuge(CurrentMemoryContext, grams->size * sizeof(uint32))};
	ReadSink sink = {
		.state = &reader,
		.token_id = reader_token_id,
		.begin_user = reader_begin_user,
		.add_token = reader_add_token,
		.end_document = reader_end_document,
		.end_user = reader_end_user};

	item_list_init(&reader.items);
	read_rows(spec, &sink);
	item_list_free(&reader.items);
	pfree(reader.count);
	pfree(reader.touched);
	rows->corpus = reader.corpus;
	return rows;
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
