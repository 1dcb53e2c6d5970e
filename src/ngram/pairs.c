/*
 * pairs.c
 *	  The numbers of released n-grams by the pairs that they are.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "common/dp_random.h"
#include "ngram/pairs.h"

#define PAIR_HASH(k) ((uint32) dp_splitmix_finish(k))

#define SH_PREFIX pair_table
#define SH_ELEMENT_TYPE PairEntry
#define SH_KEY_TYPE uint64
#define SH_KEY key
#define SH_HASH_KEY(tb, k) PAIR_HASH(k)
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/*
 * S_k, k >= 2, numbered.  members: V_k, which must live as long; NULL if it is not known.
 * Allocates in the current memory context.
 */
Pairs *
pairs_create(const GramSet *set, const Candidates *members)
{
	Pairs *pairs = palloc0(sizeof(Pairs));

	if (members != NULL && members->total <= PAIRS_DENSE)
	{
		pairs->members = members;
		pairs->number = palloc0(Max(members->total, 1) * sizeof(uint32));
		for (uint32 i = 0; i < set->n; i++)
			pairs->number[pair_rank(members, set->key[i])] = i + 1;
		return pairs;
	}
	pairs->table = pair_table_create(CurrentMemoryContext, set->n, NULL);
	for (uint32 i = 0; i < set->n; i++)
	{
		bool found;

		CHECK_FOR_INTERRUPTS();
		pair_table_insert(pairs->table, set->key[i], &found)->number = i + 1;
	}
	return pairs;
}

/* Where the search for a key begins, if the numbers are not by rank: to be asked for soon. */
const void *
pairs_entry(const Pairs *pairs, uint64 key)
{
	return &pairs->table->data[PAIR_HASH(key) & pairs->table->sizemask];
}

/* pair_number() where the numbers are not by rank. */
uint32
pairs_look_up(const Pairs *pairs, uint64 key)
{
	PairEntry *entry = pair_table_lookup(pairs->table, key);

	return entry == NULL ? 0 : entry->number;
}

void
pairs_free(Pairs *pairs)
{
	if (pairs->number != NULL)
		pfree(pairs->number);
	else
		pair_table_destroy(pairs->table);
	pfree(pairs);
}
