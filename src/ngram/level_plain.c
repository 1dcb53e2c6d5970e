/*
 * level_plain.c
 *	  A level of dpne: one histogram, one threshold.
 *
 * Privacy.  Given the earlier levels, level k is a Gaussian mechanism on the
 * coordinates V_k, which are public; see extract.c for the sensitivity.  The
 * threshold for k >= 2 protects nobody: it only bounds the spurious n-grams in
 * expectation to eta * min(|S_{k-1}|, |V_k|).  Members of V_k outside the
 * support are drawn by spurious.c, with |V_k| exact.
 *
 * Level 1 is a set union of single words (union.c has the argument): every word that
 * somebody has gets noise, and its threshold hides words of one user alone.
 */
#include "postgres.h"

#include "common/dp_gaussian.h"
#include "ngram/levels.h"
#include "ngram/spurious.h"
#include "ngram/words.h"

/* ------------------------------------------------------------------------
 * level 1
 * ------------------------------------------------------------------------ */

typedef struct FirstLevel
{
	Extraction *extraction;
	FoundWords found;
	uint64 support;
} FirstLevel;

/* Noise and threshold for one word. */
static void
judge_word(void *state, const HistogramEntry *entry)
{
	FirstLevel *level = state;
	const NgramStep *step = &level->extraction->plan->step[1];
	int64 noisy = entry->weight + noise_gaussian(level->extraction->noise, step->sigma, 1,
												 entry->key.content);

	level->support++;
	found_words_trace(&level->found, entry->key, entry->weight);
	if (noisy > step->threshold)
		found_words_add(&level->found, entry->key, gram_weight(noisy, step->sigma));
}

/* S_1 for dpne, step 1 of the plan, numbered by the words' bytes; words gets their texts. */
GramSet *
extract_words(Extraction *extraction, TextSource *source, WordText **words)
{
	FirstLevel level = {.extraction = extraction};
	GramSet *set;

	found_words_init(&level.found, extraction);
	source->methods->histogram(source, 1, judge_word, &level);
	extraction->steps_done++;
	set = found_words_number(&level.found, extraction, source, words);
	if (extraction->trace)
		extraction->trace->level(extraction->trace->state, set, 0, level.support,
								 extraction->plan->step[1].threshold);
	return set;
}

/* ------------------------------------------------------------------------
 * level k >= 2
 * ------------------------------------------------------------------------ */

/* The level in the making. */
typedef struct PlainLevel
{
	Levels *levels;
	Support *support;
	int64 sigma;
	int64 threshold;
} PlainLevel;

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
		level.support = support_create(candidates, extract_sort_memory(extraction));
		levels->source->methods->histogram(levels->source, k, judge, &level);
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
