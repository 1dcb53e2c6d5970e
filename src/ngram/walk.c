/*
 * walk.c
 *	  From a user's texts to the user's n-grams of one level.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "ngram/prefetch.h"
#include "ngram/walk.h"

/*
 * ids become numbers of S_k; they were numbers of S_{k-1}.  In place from the left: the
 * pair at p needs the ids at p and p + 1 only (and tokens, which stay).
 */
void
walk_rewrite(CorpusUser *user, int k, NgramPruning pruning, const Pairs *numbers)
{
	bool far = numbers->number == NULL;

	for (uint32 p = 0; p < user->n; p++)
	{
		uint64 key = walk_key(user, p, k, pruning);

		if (far && p + PREFETCH_DISTANCE < user->n)
			dp_prefetch(pairs_entry(numbers, walk_key(user, p + PREFETCH_DISTANCE, k, pruning)));
		user->id[p] = key == 0 ? 0 : pair_number(numbers, key);
	}
}

/*
 * Drop what can bear nothing longer: with both-side pruning all runs of fewer than
 * two ids, with single-side pruning users without any id.
 */
void
walk_drop_dead(CorpusUser *user, NgramPruning pruning)
{
	uint32 out = 0;
	uint32 run = 0; /* where the current run starts in the output */

	if (pruning == PRUNING_SINGLE)
	{
		while (user->n > 0 && user->id[run] == 0)
			if (++run == user->n)
				user->n = 0;
		return;
	}
	for (uint32 p = 0; p <= user->n; p++)
	{
		if (p < user->n && user->id[p] != 0)
		{
			user->id[out++] = user->id[p];
			continue;
		}
		if (out - run < 2)
			out = run;
		else if (p < user->n)
			user->id[out++] = 0;
		run = out;
	}
	user->n = out;
}

/* Add the user's k-grams, k >= 2, to the list; ids are numbers of S_{k-1}. */
void
walk_items(const CorpusUser *user, int k, NgramPruning pruning, ItemList *items)
{
	for (uint32 p = 0; p < user->n; p++)
	{
		uint64 key = walk_key(user, p, k, pruning);
		ItemKey item = level_item(key, k);

		if (key != 0)
			item_list_add(items, item.key, item.content);
	}
}
