/*
 * user_grams.c
 *	  One user's distinct n-grams of one level, bounded in number.
 *
 * Slots and keys give the same n-grams: what is kept of too many is decided by the
 * n-grams' contents alone (items.c).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "ngram/user_grams.h"
#include "ngram/walk.h"

/* Allocates in the current memory context. */
void
user_grams_init(UserGrams *grams, int k, uint32 slots)
{
	memset(grams, 0, sizeof(*grams));
	item_list_init(&grams->items);
	grams->k = k;
	grams->slots = slots;
	if (slots == 0)
		return;
	grams->slot = MemoryContextAllocHuge(CurrentMemoryContext, slots * sizeof(uint32));
	grams->seen = MemoryContextAllocExtended(CurrentMemoryContext, slots * sizeof(uint32),
											 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	item_list_reserve(&grams->items, slots);
}

/* A user's n-grams are to follow, of which "bound" will count. */
void
user_grams_begin(UserGrams *grams, Size bound, uint64 user_key)
{
	item_list_begin_user(&grams->items, bound, user_key);
	if (grams->slots > 0 && ++grams->user == 0)
	{
		/* after 2^32 users the first one's marks would be taken for this one's */
		memset(grams->seen, 0, grams->slots * sizeof(uint32));
		grams->user = 1;
	}
}

/* Keep no more than the bound of items that have slots. */
static void
bound_slots(UserGrams *grams)
{
	ItemList *items = &grams->items;
	Size kept = 0;
	uint64 limit;

	if (grams->k > 1)
		for (Size i = 0; i < items->n; i++)
			items->item[i] = level_item(items->item[i].key, grams->k);
	limit = item_list_limit(items, items->bound, items->user_key);
	for (Size i = 0; i < items->n; i++)
	{
		if (dp_mix64(items->user_key, items->item[i].content) >= limit)
			continue;
		grams->slot[kept] = grams->slot[i];
		items->item[kept++] = items->item[i];
	}
	items->n = kept;
}

/* All of the user's n-grams are there: leave each once, and no more than count. */
void
user_grams_finish(UserGrams *grams)
{
	ItemList *items = &grams->items;

	if (grams->slots == 0)
	{
		item_list_distinct(items);
		item_list_bound(items, items->bound, items->user_key);
	}
	else if (items->n > items->bound)
		bound_slots(grams);
}

void
user_grams_free(UserGrams *grams)
{
	item_list_free(&grams->items);
	if (grams->slots > 0)
	{
		pfree(grams->slot);
		pfree(grams->seen);
	}
}
