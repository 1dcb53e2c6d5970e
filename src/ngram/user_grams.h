/*
 * user_grams.h
 *	  One user's distinct n-grams of one level, bounded in number.
 */
#ifndef DPNGRAM_USER_GRAMS_H
#define DPNGRAM_USER_GRAMS_H

#include "ngram/candidates.h"
#include "ngram/items.h"

/*
 * Where a level has few possible n-grams each has a slot, a number below "slots", and
 * what is counted stands in arrays; else slots is 0, and n-grams go by their keys.
 */
typedef struct UserGrams
{
	ItemList items; /* with slots and k >= 2: of keys; contents may be missing */
	uint32 slots;
	uint32 *slot; /* of each item */

	/* to find repetitions among slots */
	uint32 *seen; /* the user who had it last */
	uint32 user;
	int k;
} UserGrams;

extern void user_grams_init(UserGrams *grams, int k, uint32 slots);
extern void user_grams_begin(UserGrams *grams, Size bound, uint64 user_key);
extern void user_grams_finish(UserGrams *grams);
extern void user_grams_free(UserGrams *grams);

/* Another n-gram of the user, where they have slots. */
static inline void
user_grams_add_slot(UserGrams *grams, uint32 slot, ItemKey item)
{
	ItemList *items = &grams->items;

	if (grams->seen[slot] == grams->user)
		return;
	grams->seen[slot] = grams->user;
	grams->slot[items->n] = slot;
	items->item[items->n++] = item;
}

#endif /* DPNGRAM_USER_GRAMS_H */
