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
 * the same in whatever order the rows were read.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "common/dp_random.h"
#include "ngram/items.h"

static inline int
compare_keys(const ItemKey *a, const ItemKey *b)
{
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->content != b->content)
		return a->content < b->content ? -1 : 1;
	return 0;
}

static inline int
compare_hashes(const ItemKey *a, const ItemKey *b, const uint64 *user_key)
{
	uint64 ha = dp_mix64(*user_key, a->content);
	uint64 hb = dp_mix64(*user_key, b->content);

	if (ha != hb)
		return ha < hb ? -1 : 1;
	return compare_keys(a, b);
}

#define ST_SORT sort_by_key
#define ST_ELEMENT_TYPE ItemKey
#define ST_COMPARE(a, b) compare_keys(a, b)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

#define ST_SORT sort_by_hash
#define ST_ELEMENT_TYPE ItemKey
#define ST_COMPARE_ARG_TYPE const uint64
#define ST_COMPARE(a, b, arg) compare_hashes(a, b, arg)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "miscadmin.h"
#include "lib/sort_template.h"

void
item_list_init(ItemList *list)
{
	list->n = 0;
	list->capacity = 1024;
	list->item = palloc(list->capacity * sizeof(ItemKey));
}

void
item_list_reserve(ItemList *list, Size n)
{
	if (n <= list->capacity)
		return;
	while (list->capacity < n)
		list->capacity *= 2;
	list->item = repalloc_huge(list->item, list->capacity * sizeof(ItemKey));
}

/* Sort and drop duplicates: a user counts once for each n-gram. */
void
item_list_distinct(ItemList *list)
{
	Size kept = 0;

	if (list->n < 2)
		return;
	sort_by_key(list->item, list->n);
	for (Size i = 1; i < list->n; i++)
		if (compare_keys(&list->item[i], &list->item[kept]) != 0)
			list->item[++kept] = list->item[i];
	list->n = kept + 1;
}

/* Keep at most "bound" of the distinct items. */
void
item_list_bound(ItemList *list, Size bound, uint64 user_key)
{
	if (list->n <= bound)
		return;
	sort_by_hash(list->item, list->n, &user_key);
	list->n = bound;
}
