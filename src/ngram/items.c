/*
 * items.c
 *	  The distinct n-grams of one user, bounded in number.
 *
 * A user with more distinct n-grams than the bound contributes those with the
 * smallest keyed hashes.  That choice depends on the user's own n-grams and on
 * a key, not on any other user: with every value of the key the user's
 * contribution is a fixed function of the user's own data, so the sensitivity
 * argument (l2 norm at most 1) holds for each key and therefore for the
 * mixture.  Being keyed by (user, n-gram) and not by position, the choice is
 * the same in whatever order the rows were read; and where equal hashes stand
 * across the bound, none of them is kept, since nothing but their order, which
 * other users' rows may change, could choose between them.
 *
 * What is not among the smallest hashes of a part is not among those of the
 * whole.  So a list that has grown long is bounded before it grows further, and
 * from then on only smaller hashes are let in: a user with millions of n-grams
 * takes no more memory than the bound asks for.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "common/dp_random.h"
#include "ngram/items.h"

#define ST_SORT sort_hashes
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Shorter lists are not worth the trouble. */
#define COMPACT_FROM ((Size) 1 << 16)

void
item_list_init(ItemList *list)
{
	memset(list, 0, sizeof(*list));
	list->capacity = 1024;
	list->item = palloc(list->capacity * sizeof(ItemKey));
}

/* A new user's items are to follow, of which "bound" will count. */
void
item_list_begin_user(ItemList *list, Size bound, uint64 user_key)
{
	list->n = 0;
	list->bound = bound;
	list->user_key = user_key;
	list->limited = false;
}

/* Room for n items; bounds those that there are, where they are many. */
void
item_list_reserve(ItemList *list, Size n)
{
	if (n <= list->capacity)
		return;
	if (list->bound > 0 && list->n >= Max(COMPACT_FROM, 2 * list->bound))
	{
		item_list_distinct(list);
		item_list_bound(list, list->bound, list->user_key);
		return;
	}
	while (list->capacity < n)
		list->capacity *= 2;
	list->item = repalloc_huge(list->item, list->capacity * sizeof(ItemKey));
}

void
item_list_free(ItemList *list)
{
	pfree(list->item);
	if (list->seen)
		pfree(list->seen);
	if (list->hash)
		pfree(list->hash);
}

/* An empty table of 2^bits slots, which hold item numbers from 1. */
static void
clear_seen(ItemList *list, int bits)
{
	Size slots = (Size) 1 << bits;

	if (slots > list->seen_capacity)
	{
		if (list->seen)
			pfree(list->seen);
		list->seen_capacity = slots;
		list->seen = MemoryContextAllocHuge(CurrentMemoryContext, slots * sizeof(uint32));
	}
	memset(list->seen, 0, slots * sizeof(uint32));
}

/* From here on memory counts more than a few steps in the hash table. */
#define LONG_LIST ((Size) 1 << 20)

/* Up to so many items, comparing all with all is faster than a hash table. */
#define SHORT_LIST 8

static void
distinct_of_few(ItemList *list)
{
	Size kept = 0;

	for (Size i = 0; i < list->n; i++)
	{
		ItemKey item = list->item[i];
		Size at = 0;

		while (at < kept &&
			   (list->item[at].key != item.key || list->item[at].content != item.content))
			at++;
		if (at == kept)
			list->item[kept++] = item;
	}
	list->n = kept;
}

/* Drop duplicates: a user counts once for each n-gram. */
void
item_list_distinct(ItemList *list)
{
	int bits = pg_leftmost_one_pos64(Max(list->n, 4)) + (list->n < LONG_LIST ? 2 : 1);
	Size mask = ((Size) 1 << bits) - 1;
	Size kept = 0;

	if (list->n <= SHORT_LIST)
	{
		distinct_of_few(list);
		return;
	}
	clear_seen(list, bits);
	for (Size i = 0; i < list->n; i++)
	{
		ItemKey item = list->item[i];
		Size slot = item.content & mask;

		CHECK_FOR_INTERRUPTS();
		while (list->seen[slot] != 0 && (list->item[list->seen[slot] - 1].key != item.key ||
										 list->item[list->seen[slot] - 1].content != item.content))
			slot = (slot + 1) & mask;
		if (list->seen[slot] != 0)
			continue;
		list->item[kept] = item;
		list->seen[slot] = (uint32) ++kept;
	}
	list->n = kept;
}

/*
 * More keyed hashes than this are below the bound-th smallest with a probability that is
 * next to nothing: hashes are as good as uniform, and 2^-64 of this is the share that so
 * many have.
 */
static uint64
generous_limit(Size bound, Size n)
{
	double share = ((double) bound + 8 * sqrt((double) bound) + 32) / (double) n;

	return share >= 1 ? PG_UINT64_MAX : (uint64) ldexp(share, 64);
}

/* Put the keyed hashes up to a limit into the work space; returns how many there are. */
static Size
hashes_within(ItemList *list, uint64 user_key, uint64 limit)
{
	Size n = 0;

	for (Size i = 0; i < list->n; i++)
	{
		uint64 hash = dp_mix64(user_key, list->item[i].content);

		list->hash[n] = hash;
		n += hash <= limit;
	}
	return n;
}

/*
 * The keyed hash from which on items don't count, if no more than "bound" of the distinct
 * items may, which are more.  Only the smallest hashes need sorting.
 */
uint64
item_list_limit(ItemList *list, Size bound, uint64 user_key)
{
	Size n;

	Assert(list->n > bound);
	if (list->n > list->hash_capacity)
	{
		if (list->hash)
			pfree(list->hash);
		list->hash_capacity = list->capacity;
		list->hash = MemoryContextAllocHuge(CurrentMemoryContext,
											list->hash_capacity * sizeof(uint64));
	}
	n = hashes_within(list, user_key, generous_limit(bound, list->n));
	if (n <= bound)
		n = hashes_within(list, user_key, PG_UINT64_MAX);
	sort_hashes(list->hash, n);
	return list->hash[bound]; /* the first that is too many */
}

/* Keep at most "bound" of the distinct items. */
void
item_list_bound(ItemList *list, Size bound, uint64 user_key)
{
	uint64 limit;
	Size kept = 0;

	if (list->n <= bound)
		return;
	limit = item_list_limit(list, bound, user_key);
	list->limited = true;
	list->limit = limit;
	for (Size i = 0; i < list->n; i++)
		if (dp_mix64(user_key, list->item[i].content) < limit)
			list->item[kept++] = list->item[i];
	list->n = kept;
}
