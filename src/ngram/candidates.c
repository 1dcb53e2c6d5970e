/*
 * candidates.c
 *	  V_k, the n-grams of length k that S_{k-1} admits, without building it.
 *
 * Algorithm 1 of the DPNE paper adds every member of V_k to the histogram with
 * weight 0.  V_k may have billions of members, so they stay implicit, but
 * |V_k| must be EXACT: threshold and number of spurious n-grams depend on it,
 * and with an undercount (as the estimate of the paper's Algorithm 2 may be)
 * no spurious n-grams would be drawn and a released n-gram would prove that
 * somebody wrote it (doc/privacy.md, "Exact |V_k|").
 *
 * With both-side pruning a k-gram is admitted when its prefix a and its suffix
 * b are in S_{k-1}; b's prefix is then a's suffix.  S_{k-1} is sorted by
 * prefix, so the right partners of a stand in one run.  At k = 2 prefix and
 * suffix are single words and every pair is admitted.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "ngram/candidates.h"

static void *
alloc_array(Size n, Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, n * size);
}

/*
 * For each number of S_{k-2} (1..numbers): the first gram of S_{k-1} that has
 * it as prefix; entry i + 1 ends the run of entry i.
 */
static uint32 *
runs_by_prefix(const GramSet *set, uint32 numbers)
{
	uint32 *start = alloc_array((Size) numbers + 2, sizeof(uint32));
	uint32 i = 0;

	for (uint32 prefix = 0; prefix <= numbers; prefix++)
	{
		while (i < set->n && (set->key[i] >> 32) < prefix)
			i++;
		start[prefix] = i + 1;
	}
	start[numbers + 1] = set->n + 1;
	return start;
}

/*
 * previous: S_{k-1}, numbered; words: |S_1|; previous_numbers: |S_{k-2}| (not
 * used for k = 2).
 */
Candidates *
candidates_create(const GramSet *previous, uint32 words, uint32 previous_numbers,
				  NgramPruning pruning)
{
	Candidates *candidates = palloc(sizeof(Candidates));
	bool all_words = pruning == PRUNING_SINGLE || previous->length == 1;
	uint32 *start = all_words ? NULL : runs_by_prefix(previous, previous_numbers);
	uint64 total = 0;

	candidates->n = previous->n;
	candidates->before = alloc_array((Size) previous->n + 1, sizeof(uint64));
	candidates->first = alloc_array((Size) previous->n + 1, sizeof(uint32));
	for (uint32 a = 0; a < previous->n; a++)
	{
		uint32 suffix = all_words ? 0 : (uint32) previous->key[a];

		CHECK_FOR_INTERRUPTS();
		candidates->before[a] = total;
		candidates->first[a] = all_words ? 1 : start[suffix];
		total += all_words ? words : start[suffix + 1] - start[suffix];
	}
	candidates->before[previous->n] = total;
	candidates->total = total;
	if (start != NULL)
		pfree(start);
	return candidates;
}

/* The rank of a member of V_k. */
uint64
candidate_rank(const Candidates *candidates, uint64 key)
{
	uint32 a = (uint32) (key >> 32) - 1;
	uint32 b = (uint32) key;

	Assert(a < candidates->n && b >= candidates->first[a]);
	return candidates->before[a] + (b - candidates->first[a]);
}

/* The member of V_k with this rank: the inverse of candidate_rank(). */
uint64
candidate_key(const Candidates *candidates, uint64 rank)
{
	uint32 low = 0;
	uint32 high = candidates->n;

	Assert(rank < candidates->total);
	while (high - low > 1)
	{
		uint32 middle = low + (high - low) / 2;

		if (candidates->before[middle] <= rank)
			low = middle;
		else
			high = middle;
	}
	return (uint64) (low + 1) << 32 |
		   (candidates->first[low] + (uint32) (rank - candidates->before[low]));
}

void
candidates_free(Candidates *candidates)
{
	pfree(candidates->before);
	pfree(candidates->first);
	pfree(candidates);
}
