/*
 * items.h
 *	  The distinct n-grams of one user, bounded in number.
 */
#ifndef DPNGRAM_ITEMS_H
#define DPNGRAM_ITEMS_H

#include "postgres.h"

#include "common/dp_random.h"

/*
 * An n-gram's identity.  "content" depends on nothing but the n-gram itself
 * and what is already public, never on another user's data: it orders the
 * n-grams for subsampling and keys seeded noise.
 */
typedef struct ItemKey
{
	uint64 key;
	uint64 content;
} ItemKey;

typedef struct ItemList
{
	ItemKey *item;
	Size n;
	Size capacity;

	/* of the present user; bound 0: the list may grow without end */
	Size bound;
	uint64 user_key;
	bool limited; /* only keyed hashes below the limit can still count */
	uint64 limit;

	/* work space: a hash table of item numbers, and the items' keyed hashes */
	uint32 *seen;
	Size seen_capacity;
	uint64 *hash;
	Size hash_capacity;
} ItemList;

extern void item_list_init(ItemList *list);
extern void item_list_free(ItemList *list);
extern void item_list_reserve(ItemList *list, Size n);
extern void item_list_distinct(ItemList *list);
extern uint64 item_list_limit(ItemList *list, Size bound, uint64 user_key);
extern void item_list_bound(ItemList *list, Size bound, uint64 user_key);
extern void item_list_begin_user(ItemList *list, Size bound, uint64 user_key);

static inline void
item_list_add(ItemList *list, uint64 key, uint64 content)
{
	if (unlikely(list->n == list->capacity))
		item_list_reserve(list, list->n + 1);
	if (unlikely(list->limited) && dp_mix64(list->user_key, content) >= list->limit)
		return;
	list->item[list->n].key = key;
	list->item[list->n++].content = content;
}

#endif /* DPNGRAM_ITEMS_H */
