/*
 * extract.c
 *	  Private extraction of n-grams from a corpus: the methods, and what they
 *	  do to one user's n-grams.
 *
 * Sensitivity.  In each step a user adds the weight floor(2^20 / sqrt(s)) / 2^20
 * to each of the s distinct n-grams that remain after bounding, so the user's
 * vector has l2 norm at most 1: s * floor(2^20 / sqrt(s))^2 <= 2^40, in
 * integers.  Which n-grams count is decided by the user's own data, by what
 * earlier steps released and by a keyed hash, so adding or removing the user
 * changes the histogram by that vector and nothing else.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "common/dp_audit.h"
#include "common/dp_gaussian.h"
#include "ngram/extract.h"

/* For the corpus, or for all else: extract.h has the shares. */
Size
extract_memory_limit(void)
{
	return get_hash_memory_limit() / 2;
}

/* For the words, until level 1 is done; those that find no room get no ids. */
Size
extract_vocabulary_memory(void)
{
	return get_hash_memory_limit() / 4;
}

/* For the ranks of a level's support. */
Size
extract_sort_memory(const Extraction *extraction)
{
	return extraction->memory_limit / 4;
}

/* For the sums, or the users' lists, of level k. */
Size
extract_count_memory(Size memory_limit, int k)
{
	return k == 1 ? memory_limit / 2 : memory_limit - memory_limit / 4;
}

/* The weight of each of a user's s n-grams. */
int64
extract_user_weight(Size s)
{
	if (DP_SABOTAGED(SABOTAGE_MAX_NORM))
		return DP_LATTICE_ONE;
	if (DP_SABOTAGED(SABOTAGE_NEAREST))
		return (int64) rint((double) DP_LATTICE_ONE / sqrt((double) s));
	return dp_lattice_weight(s);
}

/* What those who count need to know; max_tokens was seen to by the reader. */
CountSpec
extract_count_spec(const NgramPlan *plan, const Noise *noise)
{
	CountSpec spec = {.pruning = plan->query.pruning,
					  .sampling_key = noise->sampling_key,
					  .points = noise->points};

	for (int k = 1; k <= plan->nsteps; k++)
		spec.bound[k] = plan->step[k].bound;
	if (plan->query.method == METHOD_DPNE_MR)
		spec.bound[1] = plan->words.bound;
	return spec;
}

/* What of the debited mu^2 no step has spent. */
double
extract_left(const Extraction *extraction)
{
	double left = extraction->plan->mu2 / DP_ROUND_UP;

	for (int step = 1; step <= extraction->plan->nsteps; step++)
		left -= extraction->mu2[step];
	return left;
}

/* A step is to draw noise of this mu^2 in all: never more than was debited. */
void
extract_spend(Extraction *extraction, int step, double mu2)
{
	if (!(mu2 <= extract_left(extraction)))
		elog(ERROR, "step %d would spend more than was debited", step);
	extraction->mu2[step] = mu2;
}

/* The n-grams of a user are to be added to the list. */
void
extract_begin_user(const Extraction *extraction, int step, ItemList *items, uint64 user_hash)
{
	item_list_begin_user(items, extraction->plan->step[step].bound,
						 dp_mix64(extraction->noise->sampling_key ^ step, user_hash));
}

/* All of the user's n-grams are in the list: leave each once, and no more than count. */
void
extract_bound(ItemList *items)
{
	if (items->n == 0)
		return;
	item_list_distinct(items);
	item_list_bound(items, items->bound, items->user_key);
}

/* Add one user's n-grams, bounded and normalised, to a histogram. */
void
extract_contribute(const ItemList *items, Histogram *histogram)
{
	int64 weight = extract_user_weight(items->n);

	for (Size i = 0; i < items->n; i++)
		histogram_add(histogram, items->item[i], weight);
}

/*
 * Run the plan.  The corpus is consumed; released rows are appended, ordered
 * by length and bytes.
 */
void
extract_ngrams(Extraction *extraction, ReleasedGrams *released)
{
	Size from = released->n;

	if (ngram_by_levels(extraction->plan->query.method))
		extract_levels(extraction, released);
	else
		for (int step = 1; step <= extraction->plan->nsteps; step++)
			extract_union(extraction, step, released);
	released_sort(released, from);
}
