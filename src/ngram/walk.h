/*
 * walk.h
 *	  From a user's texts to the user's n-grams of one level.
 *
 * A k-gram is a pair of (k-1)-grams.  After level k - 1 a user's ids are, at each
 * position, the number of the (k-1)-gram of S_{k-1} that starts there, or 0.  With
 * both-side pruning the k-gram at p is admitted iff the ids at p and p + 1 are not 0, and
 * the 64-bit key of those two identifies it, whatever k is.  With single-side pruning the
 * key is the id at p and the number in S_1 of the token at p + k - 1, so the plain tokens
 * are carried along.
 */
#ifndef DPNGRAM_WALK_H
#define DPNGRAM_WALK_H

#include "ngram/corpus.h"
#include "ngram/items.h"
#include "ngram/pairs.h"

/* An n-gram of level k >= 2. */
static inline ItemKey
level_item(uint64 key, int k)
{
	return (ItemKey){key, dp_mix64(key, k)};
}

/* The key of the gram of length k that starts at p, or 0 if it is not admitted. */
static inline uint64
walk_key(const CorpusUser *user, uint32 p, int k, NgramPruning pruning)
{
	uint32 right;

	if (pruning == PRUNING_SINGLE)
		right = p + k - 1 < user->n ? user->token[p + k - 1] : 0;
	else
		right = p + 1 < user->n ? user->id[p + 1] : 0;
	return user->id[p] != 0 && right != 0 ? (uint64) user->id[p] << 32 | right : 0;
}

extern void walk_rewrite(CorpusUser *user, int k, NgramPruning pruning, const Pairs *numbers);
extern void walk_drop_dead(CorpusUser *user, NgramPruning pruning);
extern void walk_items(const CorpusUser *user, int k, NgramPruning pruning, ItemList *items);

#endif /* DPNGRAM_WALK_H */
