/*
 * level_plain.c
 *	  A level of dpne: one histogram, one threshold.
 *
 * Privacy.  Given the earlier levels, level k is a Gaussian mechanism on the
 * coordinates V_k, which are public; see extract.c for the sensitivity.  The
 * threshold for k >= 2 protects nobody: it only bounds the spurious n-grams in
 * expectation to eta * min(|S_{k-1}|, |V_k|).  Members of V_k outside the
 * support are drawn by spurious.c, with |V_k| exact.
 */
#include "postgres.h"

#include "common/dp_gaussian.h"
#include "ngram/levels.h"
#include "ngram/spurious.h"

/* The level in the making. */
typedef struct PlainLevel
{
	Levels *levels;
	Histogram *histogram;
	Support *support;
	int64 sigma;
	int64 threshold;
} PlainLevel;

static void
take_user(void *state, const ItemList *items)
{
	PlainLevel *level = state;

	if (items->n > 0)
		extract_contribute(items, level->histogram);
}

/* Noise and threshold for one k-gram that somebody has. */
static void
judge(void *state, const HistogramEntry *entry)
{
	PlainLevel *level = state;
	Levels *levels = level->levels;
	int64 noisy = entry->weight + noise_gaussian(levels->extraction->noise, level->sigma,
												 levels->k, entry->key.content);

	if (levels->extraction->trace)
		level_trace(levels, entry->key.key, entry->weight);
	support_add(level->support, entry->key.key);
	if (noisy > level->threshold)
		gramset_add(levels->set[levels->k], entry->key.key, gram_weight(noisy, level->sigma));
}

/*
 * The threshold of level k: the lowest at which a k-gram that nobody has
 * passes with probability at most eta min(1, |S_{k-1}| / |V_k|)
 * (DPNE, section 2, "Controlling spurious n-grams").
 */
static int64
level_threshold(const Levels *levels, const Candidates *candidates, int64 sigma)
{
	double ratio = (double) candidates->n / (double) candidates->total;
	double p = levels->extraction->plan->query.spurious * Min(1.0, ratio);
	int64 threshold;

	if (dp_lattice_threshold(sigma, p, &threshold) != DP_OK)
		elog(ERROR, "no threshold for sigma " INT64_FORMAT, sigma);
	return threshold;
}

/* Fill S_k; false when V_k is empty. */
bool
level_plain(Levels *levels)
{
	Extraction *extraction = levels->extraction;
	int k = levels->k;
	GramSet *set = gramset_create(k);
	Candidates *candidates = candidates_create(levels->set[k - 1], levels->set[1]->n,
											   k > 2 ? levels->set[k - 2]->n : 0,
											   extraction->plan->query.pruning);
	PlainLevel level = {.levels = levels, .sigma = extraction->plan->step[k].sigma};

	levels->set[k] = set;
	if (candidates->total > 0)
	{
		level.threshold = level_threshold(levels, candidates, level.sigma);
		level.support = support_create(candidates);
		level.histogram = histogram_create(extraction->memory_limit);
		level_scan(levels, take_user, &level);
		histogram_consume(level.histogram, judge, &level);
		support_release_spurious(level.support, noise_stream(extraction->noise, k), level.sigma,
								 level.threshold, set);
		extraction->steps_done++;
		if (extraction->trace)
			extraction->trace->level(extraction->trace->state, set, candidates->total,
									 level.support->n, level.threshold);
		support_free(level.support);
	}
	candidates_free(candidates);
	return set->n > 0;
}
