/*
 * levels.c
 *	  DPNE, level by level (Kim et al. 2021, Algorithm 1, in the implicit form
 *	  of Algorithm 2 without its errors).
 *
 * A k-gram is a pair of (k-1)-grams.  After level k-1 the corpus holds at each
 * position the number of the (k-1)-gram of S_{k-1} that starts there, or 0.
 * With both-side pruning the k-gram at p is admitted iff the ids at p and p+1
 * are not 0, and the 64-bit key of those two identifies it, whatever k is.
 * With single-side pruning the key is the id at p and the number in S_1 of the
 * token at p+k-1, so the corpus carries the plain tokens too.
 *
 * One pass over the users makes level k: it first rewrites the ids by the
 * members of S_{k-1} (positions that are not there become 0 for good, runs
 * that can bear nothing any more are dropped, users without any leave the
 * corpus), then counts the admitted k-grams.
 *
 * Privacy.  Given the earlier levels, level k is a Gaussian mechanism on the
 * coordinates V_k, which are public; see extract.c for the sensitivity.  The
 * threshold for k >= 2 protects nobody: it only bounds the spurious n-grams in
 * expectation to eta * min(|S_{k-1}|, |V_k|).  Members of V_k outside the
 * support are drawn by spurious.c, with |V_k| exact.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "common/dp_gaussian.h"
#include "ngram/extract.h"
#include "ngram/spurious.h"

/* The released sets while levels grow. */
typedef struct Levels
{
	Extraction *extraction;
	int k; /* the level being made */
	GramSet *set[NGRAM_MAX_LENGTH + 1];
	uint32 *word_ids;	  /* of S_1 in the vocabulary */
	uint32 *word_numbers; /* in S_1 by vocabulary id; freed after level 2 */
	Histogram *numbers;	  /* of S_{k-1}, by key; for k >= 3 */

	/* of level k */
	Support *support;
	int64 threshold;
} Levels;

static inline ItemKey
level_item(uint64 key, int k)
{
	return (ItemKey){key, dp_mix64(key, k)};
}

/* The number in S_{k-1} of the (k-1)-gram with this key, or 0. */
static inline uint32
number_of(const Levels *levels, uint64 key)
{
	HistogramEntry *entry = histogram_find(levels->numbers, level_item(key, levels->k - 1));

	return entry == NULL ? 0 : (uint32) entry->weight;
}

/* ids become numbers of S_1 */
static void
rewrite_words(const Levels *levels, CorpusUser *user)
{
	for (uint32 p = 0; p < user->n; p++)
	{
		user->id[p] = levels->word_numbers[user->id[p]];
		if (user->token)
			user->token[p] = user->id[p];
	}
}

/* The key of the gram of length k that starts at p, or 0 if it is not admitted. */
static inline uint64
pair_key(const Levels *levels, const CorpusUser *user, uint32 p, int k)
{
	uint32 right;

	if (levels->extraction->plan->query.pruning == PRUNING_SINGLE)
		right = p + k - 1 < user->n ? user->token[p + k - 1] : 0;
	else
		right = p + 1 < user->n ? user->id[p + 1] : 0;
	return user->id[p] != 0 && right != 0 ? (uint64) user->id[p] << 32 | right : 0;
}

/*
 * ids become numbers of S_{k-1}.  In place from the left: the pair at p needs
 * the ids at p and p + 1 only (and tokens, which stay).
 */
static void
rewrite_grams(const Levels *levels, CorpusUser *user)
{
	for (uint32 p = 0; p < user->n; p++)
	{
		uint64 key = pair_key(levels, user, p, levels->k - 1);

		user->id[p] = key == 0 ? 0 : number_of(levels, key);
	}
}

/*
 * Drop what can bear no k-gram: with both-side pruning all runs of fewer than
 * two ids, with single-side pruning users without any id.
 */
static void
drop_dead(const Levels *levels, CorpusUser *user)
{
	uint32 out = 0;
	uint32 run = 0; /* where the current run starts in the output */

	if (levels->extraction->plan->query.pruning == PRUNING_SINGLE)
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

/* The pass of level k: rewrite by S_{k-1}, then count. */
static Histogram *
level_count(Levels *levels)
{
	Extraction *extraction = levels->extraction;
	Histogram *histogram = histogram_create(extraction->memory_limit);
	CorpusScan scan;
	CorpusUser user;
	ItemList items;

	item_list_init(&items);
	corpus_scan_begin(&scan, extraction->corpus, true);
	while (corpus_scan_next(&scan, &user))
	{
		if (levels->k == 2)
			rewrite_words(levels, &user);
		else
			rewrite_grams(levels, &user);
		drop_dead(levels, &user);
		if (user.n == 0)
			continue;
		extract_begin_user(extraction, levels->k, &items, user.hash);
		for (uint32 p = 0; p < user.n; p++)
		{
			uint64 key = pair_key(levels, &user, p, levels->k);
			ItemKey item = level_item(key, levels->k);

			if (key != 0)
				item_list_add(&items, item.key, item.content);
		}
		extract_contribute(&items, histogram);
		corpus_scan_keep(&scan, &user);
	}
	corpus_scan_end(&scan);
	item_list_free(&items);
	if (levels->k == 2)
		pfree(levels->word_numbers);
	return histogram;
}

/* The vocabulary ids of the words of the gram of length k with this key. */
static void
spell(const Levels *levels, int k, uint64 key, uint32 *ids)
{
	bool single = levels->extraction->plan->query.pruning == PRUNING_SINGLE;

	/* the last word is the suffix's suffix's ..., then go on with the prefix */
	for (; k > 1; k--)
	{
		uint32 last = (uint32) key;

		for (int j = k - 1; !single && j > 1; j--)
			last = (uint32) levels->set[j]->key[last - 1];
		ids[k - 1] = levels->word_ids[last - 1];
		key = levels->set[k - 1]->key[(key >> 32) - 1];
	}
	ids[0] = levels->word_ids[key - 1];
}

static void
trace_entry(const Levels *levels, const HistogramEntry *entry)
{
	Extraction *extraction = levels->extraction;
	ReleasedGrams one = {0};
	uint32 ids[NGRAM_MAX_LENGTH];

	spell(levels, levels->k, entry->key.key, ids);
	released_add(&one, extraction->vocabulary, ids, levels->k, (GramWeight){0});
	extraction->trace->histogram(extraction->trace->state, levels->k, one.gram->text,
								 one.gram->text_len, entry->weight);
}

/* Noise and threshold for one k-gram that somebody has. */
static void
judge(void *arg, const HistogramEntry *entry)
{
	Levels *levels = arg;
	Extraction *extraction = levels->extraction;
	int64 sigma = extraction->plan->step[levels->k].sigma;
	int64 noisy = entry->weight + noise_gaussian(extraction->noise, sigma, levels->k,
												 entry->key.content);

	if (extraction->trace)
		trace_entry(levels, entry);
	support_add(levels->support, entry->key.key);
	if (noisy > levels->threshold)
		gramset_add(levels->set[levels->k], entry->key.key, gram_weight(noisy, sigma));
}

/* Index S_k, so that the next pass can rewrite the ids. */
static void
index_set(Levels *levels, const GramSet *set)
{
	if (levels->numbers != NULL)
		histogram_free(levels->numbers);
	levels->numbers = histogram_create(SIZE_MAX / 4);
	for (uint32 i = 0; i < set->n; i++)
		histogram_add(levels->numbers, level_item(set->key[i], set->length), i + 1);
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

/* Make S_k from S_{k-1}; false when V_k is empty and nothing longer can be released. */
static bool
extract_level(Levels *levels)
{
	Extraction *extraction = levels->extraction;
	int k = levels->k;
	const GramSet *previous = levels->set[k - 1];
	Candidates *candidates = candidates_create(previous, levels->set[1]->n,
											   k > 2 ? levels->set[k - 2]->n : 0,
											   extraction->plan->query.pruning);
	int64 sigma = extraction->plan->step[k].sigma;
	GramSet *set = gramset_create(k);
	Histogram *histogram;

	levels->set[k] = set;
	if (candidates->total == 0)
	{
		candidates_free(candidates);
		return false;
	}
	levels->threshold = level_threshold(levels, candidates, sigma);
	levels->support = support_create(candidates);
	histogram = level_count(levels);
	histogram_consume(histogram, judge, levels);
	support_release_spurious(levels->support, noise_stream(extraction->noise, k), sigma,
							 levels->threshold, set);
	gramset_sort(set);
	index_set(levels, set);
	extraction->steps_done++;
	if (extraction->trace)
		extraction->trace->level(extraction->trace->state, set, candidates->total,
								 levels->support->n, levels->threshold);
	support_free(levels->support);
	candidates_free(candidates);
	return set->n > 0;
}

/* S_1, and the map from vocabulary ids to its numbers. */
static void
extract_first_level(Levels *levels)
{
	Extraction *extraction = levels->extraction;
	GramSet *words = extract_words(extraction, &levels->word_ids);
	uint32 vocabulary = vocabulary_size(extraction->vocabulary);

	levels->set[1] = words;
	levels->word_numbers = MemoryContextAllocExtended(CurrentMemoryContext,
													  ((Size) vocabulary + 1) * sizeof(uint32),
													  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < words->n; i++)
		levels->word_numbers[levels->word_ids[i]] = i + 1;
}

/* The rows of S_k. */
static void
append_rows(const Levels *levels, int k, ReleasedGrams *released)
{
	const GramSet *set = levels->set[k];
	uint32 ids[NGRAM_MAX_LENGTH];

	for (uint32 number = 1; number <= set->n; number++)
	{
		CHECK_FOR_INTERRUPTS();
		spell(levels, k, set->key[number - 1], ids);
		released_add(released, levels->extraction->vocabulary, ids, k, set->weight[number - 1]);
	}
}

void
extract_levels(Extraction *extraction, ReleasedGrams *released)
{
	Levels levels = {.extraction = extraction};
	bool more;

	extract_first_level(&levels);
	more = levels.set[1]->n > 0;
	for (levels.k = 2; more && levels.k <= extraction->plan->nsteps; levels.k++)
		more = extract_level(&levels);
	for (int k = 1; k <= extraction->plan->nsteps && levels.set[k] != NULL; k++)
		append_rows(&levels, k, released);
}
