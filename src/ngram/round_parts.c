/*
 * round_parts.c
 *	  A level's n-grams numbered, and each user's list of their numbers, in parts that
 *	  fit into memory.
 *
 * One part while the numbers fit.  When they fit no longer, n-grams that have a number
 * keep it, and records (user, n-gram) of all others go to a file; of that parts
 * are made in the same way, if it is long after it was divided by the n-grams'
 * hashes.  A part has the lists of its n-grams alone, in the order of the users.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "common/dp_audit.h"
#include "common/dp_weights.h"
#include "ngram/histogram.h"
#include "ngram/prefetch.h"
#include "ngram/round_parts.h"
#include "ngram/walk.h"

#define MAX_FILES 32 /* that what finds no room is divided among at a time */
#define FILE_BITS 10 /* of an n-gram's hash decide */
#define MAX_DEPTH 6	 /* divided so often: 60 bits */

/* An n-gram's number while the lists are made. */
typedef struct NumberEntry
{
	uint64 key;
	uint32 number; /* from 1 */
	char status;
} NumberEntry;

#define NUMBERS_HASH(k) ((uint32) dp_splitmix_finish(k))

#define SH_PREFIX numbers
#define SH_ELEMENT_TYPE NumberEntry
#define SH_KEY_TYPE uint64
#define SH_KEY key
#define SH_HASH_KEY(tb, k) NUMBERS_HASH(k)
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* A part while its lists are made. */
struct PartBuilder
{
	RoundLists *lists;
	MemoryContext context; /* of the table */
	numbers_hash *table;
	uint64 max_members;
	int depth; /* divided so often already */
	Corpus *users;
	ItemKey *word; /* by number, of level 1 alone: others' contents follow from their keys */
	Size capacity; /* of words */

	/* instead of the table, where n-grams have slots: there are few enough for memory */
	uint32 *number; /* by slot, from 1 */
	ItemKey *item;	/* by number */
	uint32 n;
	BufFile *overflow; /* n-grams that find no room */
	uint64 overflowed;
};

/* An n-gram that found no room. */
typedef struct OverflowRecord
{
	uint64 user;
	ItemKey item;
} OverflowRecord;

void
round_file_rewind(BufFile *file)
{
	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not rewind a temporary file")));
}

/* Read all of it, or fail. */
void
round_file_read(BufFile *file, void *to, Size size)
{
	if (BufFileRead(file, to, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not read from a temporary file")));
}

/* How many n-grams a part may have. */
static uint64
members_within(Size memory_limit)
{
	return table_members_within(memory_limit, sizeof(NumberEntry) + sizeof(ItemKey));
}

static void *
alloc_array(Size n, Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * size);
}

/* The file of all lists but the first part's.  Parts are made one after the other. */
static BufFile *
rest_of(RoundLists *lists)
{
	if (lists->rest == NULL)
		lists->rest = BufFileCreateTemp(false);
	return lists->rest;
}

static PartBuilder *
builder_create(RoundLists *lists, int depth, uint32 slots)
{
	PartBuilder *builder = palloc0(sizeof(PartBuilder));

	builder->lists = lists;
	builder->depth = depth;
	builder->context = AllocSetContextCreate(lists->context, "dpngram numbers of n-grams",
											 ALLOCSET_DEFAULT_SIZES);
	builder->max_members = members_within(lists->limit);
	if (slots == 0)
	{
		builder->table = numbers_create(builder->context, 256, NULL);
		builder->capacity = 256;
		builder->word = MemoryContextAlloc(builder->context, 256 * sizeof(ItemKey));
	}
	else
	{
		builder->number = MemoryContextAllocZero(builder->context, slots * sizeof(uint32));
		builder->item = MemoryContextAllocHuge(builder->context, slots * sizeof(ItemKey));
	}
	/* the memory of lists is the first part's; others' go to a file at once */
	builder->users = depth == 0 ? corpus_create(lists->limit / 3, false) :
								  corpus_create_in(rest_of(lists));
	return builder;
}

static void
overflow(PartBuilder *builder, uint64 user, ItemKey item)
{
	OverflowRecord record = {user, item};

	if (builder->overflow == NULL)
		builder->overflow = BufFileCreateTemp(false);
	BufFileWrite(builder->overflow, &record, sizeof(record));
	builder->overflowed++;
	DP_AUDIT_SPILL(builder->depth);
}

static void
note_word(PartBuilder *builder, uint32 number, ItemKey word)
{
	if (number > builder->capacity)
	{
		builder->capacity *= 2;
		builder->word = repalloc_huge(builder->word, builder->capacity * sizeof(ItemKey));
	}
	builder->word[number - 1] = word;
}

/* The entry of an n-gram with this number is another word's, which has the same key. */
static inline bool
is_other_word(const PartBuilder *builder, const NumberEntry *entry, ItemKey item)
{
	return builder->lists->k == 1 && builder->word[entry->number - 1].content != item.content;
}

/*
 * The n-gram's entry, or NULL if there is no room for another.  A word whose key another
 * word has goes by the next key: which of them is which their contents say.
 */
static inline NumberEntry *
entry_of(PartBuilder *builder, ItemKey item)
{
	NumberEntry *entry;
	bool found = true;

	for (uint64 key = item.key;; key++)
	{
		if (unlikely(builder->table->members >= builder->max_members))
			entry = numbers_lookup(builder->table, key);
		else
			entry = numbers_insert(builder->table, key, &found);
		if (entry == NULL || !found || !is_other_word(builder, entry, item))
			break;
	}
	if (!found)
	{
		entry->number = (uint32) builder->table->members;
		if (builder->lists->k == 1)
			note_word(builder, entry->number, item);
	}
	return entry;
}

/* Another n-gram of the user whose list is being made. */
static void
builder_add(PartBuilder *builder, uint64 user, ItemKey item)
{
	NumberEntry *entry = entry_of(builder, item);

	if (entry == NULL)
		overflow(builder, user, item);
	else
		corpus_add_token(builder->users, entry->number);
}

/* The same of one that has a slot; its content may not have been needed before. */
static void
builder_add_slot(PartBuilder *builder, uint32 slot, ItemKey item)
{
	if (builder->number[slot] == 0)
	{
		builder->item[builder->n++] =
			builder->lists->k == 1 ? item : level_item(item.key, builder->lists->k);
		builder->number[slot] = builder->n;
	}
	corpus_add_token(builder->users, builder->number[slot]);
}

static void
number_by_table(const PartBuilder *builder, Part *part)
{
	numbers_iterator iterator;
	NumberEntry *entry;

	part->n = (uint32) builder->table->members;
	part->gram = alloc_array(part->n, sizeof(RoundGram));
	numbers_start_iterate(builder->table, &iterator);
	while ((entry = numbers_iterate(builder->table, &iterator)) != NULL)
	{
		ItemKey item = builder->lists->k == 1 ? builder->word[entry->number - 1] :
												level_item(entry->key, builder->lists->k);

		part->gram[entry->number - 1] = (RoundGram){.key = item.key, .content = item.content};
	}
}

static void
number_by_slot(const PartBuilder *builder, Part *part)
{
	part->n = builder->n;
	part->gram = alloc_array(part->n, sizeof(RoundGram));
	for (uint32 i = 0; i < part->n; i++)
		part->gram[i] = (RoundGram){.key = builder->item[i].key,
									.content = builder->item[i].content};
}

/* The part whose lists the builder has made; its table is freed. */
static Part *
part_create(PartBuilder *builder)
{
	Part *part = palloc0(sizeof(Part));

	part->lists = builder->users;
	if (builder->table != NULL)
		number_by_table(builder, part);
	else
		number_by_slot(builder, part);
	MemoryContextDelete(builder->context);
	part->tally = alloc_array(part->n, sizeof(Tally));
	for (uint32 i = 0; i < part->n; i++)
		part->tally[i] = (Tally){.weight = 0, .bias = DP_BIAS_ONE};
	return part;
}

/* Leave the memory to another part. */
void
part_park(RoundLists *lists, Part *part)
{
	depot_write(&lists->parked, &part->parked, part->gram, part->n * sizeof(RoundGram),
				part->tally, part->n * sizeof(Tally));
	pfree(part->gram);
	pfree(part->tally);
	part->gram = NULL;
	part->tally = NULL;
}

/* The part is to be in memory again. */
void
part_fetch(RoundLists *lists, Part *part)
{
	part->gram = alloc_array(part->n, sizeof(RoundGram));
	part->tally = alloc_array(part->n, sizeof(Tally));
	depot_read(&lists->parked, &part->parked, part->gram, part->n * sizeof(RoundGram),
			   part->tally, part->n * sizeof(Tally));
}

static void finish_part(PartBuilder *builder);

/* Make a part of its own of what found no room elsewhere; the file is closed. */
static void
build_from_file(RoundLists *lists, BufFile *file, int depth)
{
	PartBuilder *builder = builder_create(lists, depth, 0);
	OverflowRecord record;
	uint64 user = PG_UINT64_MAX; /* whose list is being made */

	round_file_rewind(file);
	while (BufFileRead(file, &record, sizeof(record)) == sizeof(record))
	{
		CHECK_FOR_INTERRUPTS();
		if (record.user != user)
		{
			if (user != PG_UINT64_MAX)
				corpus_end_user(builder->users);
			user = record.user;
			corpus_begin_user(builder->users, user);
		}
		builder_add(builder, user, record.item);
	}
	corpus_end_user(builder->users);
	BufFileClose(file);
	finish_part(builder);
}

/* Divide the records of a file among n others by their n-grams' hashes; the file is closed. */
static void
divide_file(BufFile *file, BufFile **to, int n, int depth)
{
	int shift = 64 - FILE_BITS * (depth + 1);
	OverflowRecord record;

	for (int i = 0; i < n; i++)
		to[i] = BufFileCreateTemp(false);
	round_file_rewind(file);
	while (BufFileRead(file, &record, sizeof(record)) == sizeof(record))
	{
		uint64 bits = (record.item.content >> shift) & ((1 << FILE_BITS) - 1);

		CHECK_FOR_INTERRUPTS();
		BufFileWrite(to[(bits * n) >> FILE_BITS], &record, sizeof(record));
	}
	BufFileClose(file);
}

/*
 * Make parts of what found no room.  How many n-grams that is isn't known, but how many
 * records of users who have them: so it is divided, if it must be, among about as
 * many files as parts will be needed, and what finds no room even then comes back here.
 */
static void
build_rest(RoundLists *lists, BufFile *file, uint64 records, int depth)
{
	uint64 wanted = records / (members_within(lists->limit) / 2 * 3) + 1;
	int n = (int) Min(wanted, MAX_FILES);
	BufFile *to[MAX_FILES];

	if (n == 1 || depth >= MAX_DEPTH)
	{
		build_from_file(lists, file, depth);
		return;
	}
	divide_file(file, to, n, depth);
	for (int i = 0; i < n; i++)
		build_from_file(lists, to[i], depth + 1);
}

/* A part's lists are complete: keep it, and go on with what it had no room for. */
static void
finish_part(PartBuilder *builder)
{
	RoundLists *lists = builder->lists;
	Part *part = part_create(builder);

	*lists->tail = part;
	lists->tail = &part->next;
	if (builder->overflow != NULL || part != lists->parts)
		part_park(lists, part);
	if (builder->overflow != NULL)
		build_rest(lists, builder->overflow, builder->overflowed, builder->depth);
	pfree(builder);
}

/* memory_limit: bytes, for all of it; slots: of level k's n-grams, 0 if they have none */
RoundLists *
round_lists_create(Size memory_limit, int k, uint32 slots)
{
	RoundLists *lists = palloc0(sizeof(RoundLists));

	lists->context = CurrentMemoryContext;
	lists->limit = memory_limit / 4 * 3; /* what is left is for lists */
	lists->k = k;
	lists->tail = &lists->parts;
	lists->builder = builder_create(lists, 0, slots);
	return lists;
}

void
round_lists_add_user(RoundLists *lists, const UserGrams *grams)
{
	PartBuilder *builder = lists->builder;
	const ItemList *items = &grams->items;
	MemoryContext old;

	if (items->n == 0)
		return;
	old = MemoryContextSwitchTo(lists->context);
	corpus_begin_user(builder->users, lists->users);
	if (grams->slots > 0)
		for (Size i = 0; i < items->n; i++)
			builder_add_slot(builder, grams->slot[i], items->item[i]);
	else
		for (Size i = 0; i < items->n; i++)
		{
			const numbers_hash *table = builder->table;

			if (i + PREFETCH_DISTANCE < items->n)
				dp_prefetch(&table->data[NUMBERS_HASH(items->item[i + PREFETCH_DISTANCE].key) &
										 table->sizemask]);
			builder_add(builder, lists->users, items->item[i]);
		}
	corpus_end_user(builder->users);
	lists->users++;
	MemoryContextSwitchTo(old);
}

/* All users are there. */
void
round_lists_built(RoundLists *lists)
{
	MemoryContext old = MemoryContextSwitchTo(lists->context);

	finish_part(lists->builder);
	lists->builder = NULL;
	MemoryContextSwitchTo(old);
}

/* 1 while everything fits into memory. */
int
round_lists_parts(const RoundLists *lists)
{
	int n = 0;

	for (const Part *part = lists->parts; part != NULL; part = part->next)
		n++;
	return n;
}

/* How many n-grams somebody has. */
uint64
round_lists_size(const RoundLists *lists)
{
	uint64 n = 0;

	for (const Part *part = lists->parts; part != NULL; part = part->next)
		n += part->n;
	return n;
}

static void
close_file(BufFile *file)
{
	if (file != NULL)
		BufFileClose(file);
}

void
round_lists_free(RoundLists *lists)
{
	Part *part = lists->parts;

	while (part != NULL)
	{
		Part *next = part->next;

		corpus_free(part->lists);
		if (part->gram != NULL)
		{
			pfree(part->gram);
			pfree(part->tally);
		}
		pfree(part);
		part = next;
	}
	depot_clear(&lists->parked);
	close_file(lists->rest);
	close_file(lists->norms);
	close_file(lists->next_norms);
	close_file(lists->spare);
	pfree(lists);
}
