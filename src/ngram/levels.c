/*
 * levels.c
 *	  The way from S_{k-1} to S_k of the methods that go level by level (Kim et
 *	  al. 2021, Algorithm 1, in the implicit form of Algorithm 2 without its errors).
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
 * What is made of the k-grams, and why that is private: level_plain.c (dpne) and
 * level_rounds.c (dpne-mr).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "ngram/levels.h"
#include "ngram/word_rounds.h"

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

/* The pass of level k: rewrite by S_{k-1}, then hand each user's k-grams to the sink. */
void
level_scan(Levels *levels, LevelSink sink, void *state)
{
	Extraction *extraction = levels->extraction;
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
		extract_bound(&items);
		sink(state, &items);
		corpus_scan_keep(&scan, &user);
	}
	corpus_scan_end(&scan);
	item_list_free(&items);
	if (levels->k == 2)
		pfree(levels->word_numbers);
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

/* Tell a test of a k-gram of the support and its exact weight. */
void
level_trace(const Levels *levels, uint64 key, int64 weight)
{
	Extraction *extraction = levels->extraction;
	ReleasedGrams one = {0};
	uint32 ids[NGRAM_MAX_LENGTH];

	spell(levels, levels->k, key, ids);
	released_add(&one, extraction->vocabulary, ids, levels->k, (GramWeight){0});
	extraction->trace->histogram(extraction->trace->state, levels->k, one.gram->text,
								 one.gram->text_len, weight);
}

/* Index S_k, so that the next pass can rewrite the ids. */
static void
index_set(Levels *levels, const GramSet *set)
{
	if (levels->numbers != NULL)
		histogram_free(levels->numbers);
	levels->numbers = histogram_create(SIZE_MAX / 4);
	for (uint32 i = 0; i < set->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		histogram_add(levels->numbers, level_item(set->key[i], set->length), i + 1);
	}
}

/* Make S_k from S_{k-1}; false when nothing longer can be released. */
static bool
extract_level(Levels *levels)
{
	bool more = levels->extraction->plan->query.method == METHOD_DPNE ? level_plain(levels) :
																		level_rounds(levels);
	GramSet *set = levels->set[levels->k];

	gramset_sort(set);
	index_set(levels, set);
	return more && set->n > 0;
}

/* S_1 of dpne-mr, in rounds. */
static GramSet *
extract_first_rounds(Extraction *extraction, uint32 **word_ids)
{
	double spent;
	GramSet *words = extract_word_rounds(extraction, &extraction->plan->words, word_ids, &spent);

	extract_spend(extraction, 1, spent);
	return words;
}

/* S_1, and the map from vocabulary ids to its numbers. */
static void
extract_first_level(Levels *levels)
{
	Extraction *extraction = levels->extraction;
	GramSet *words = extraction->plan->query.method == METHOD_DPNE ?
						 extract_words(extraction, &levels->word_ids) :
						 extract_first_rounds(extraction, &levels->word_ids);
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
