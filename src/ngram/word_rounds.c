/*
 * word_rounds.c
 *	  The words that many users share, released in rounds, so that users need not
 *	  go on voting for words that have long been released.
 *
 * Each user fixes a list of at most "bound" words once, by keyed hash (items.c).
 * In round j a user whose list still has n words adds floor(2^20 / sqrt n) to
 * each; every word that stands in some list gets noise of sigma_j; a word whose
 * statistic exceeds the round's threshold is released and leaves all lists.
 * Nothing takes its place, so what is left weighs more in the next round.
 *
 *	 one		 the weighted Gaussian mechanism (Gopi et al. 2020)
 *	 sips		 the statistic is the round's noisy weight t_j alone; three rounds,
 *				 mu_j^2 and delta_j rising by 1/0.3 (Swanberg et al. 2023)
 *	 cumulative	 the statistic is s_j = sum over l <= j of F_l t_l, F_l = 2^(l-1);
 *				 six rounds, mu_l^2 doubling, so that F_l is proportional to mu_l^2
 *				 and earlier rounds' noisy weights are not lost
 *
 * Privacy.  Take away the user v.  (1) On words that others have in their lists,
 * a round is, given the earlier ones, a Gaussian mechanism of l2 sensitivity 1:
 * which words are left in a list is decided by the user's own words, the key and
 * what was released, and n floor(2^20 / sqrt n)^2 <= 2^40.  The rounds compose to
 * mu^2 = sum of mu_j^2, chosen one after the other.  The noisy weights may all be
 * taken as told; statistics and estimates are functions of them.
 *
 * (2) Let t words be novel: in v's list and nobody else's.  Without v they never
 * appear.  With v, look at the process in which they are never released,
 * whatever their statistics, all else being the same: there they stand in v's
 * list in every round, which so has at least t words, and each weighs at most
 * 2^20 / sqrt t, whatever happens to the other words.  Hence its statistic is at
 * most (sum F_l) 2^20 / sqrt t + sum F_l X_l, where the noise X_l of novel words
 * is independent of all else, and the threshold of round j is exceeded by any of
 * the t with probability at most delta_j, for each t up to the bound.  Up to the
 * first such event both processes are the same; so for every outcome of the
 * other words' noise the true one releases no novel word with probability at
 * least 1 - sum delta_j.  A list drawn anew, or filled up, in each round would
 * break this: more novel words than the bound could then try their luck, each in
 * some of the rounds that the statistic adds up.
 *
 * Both together: as in a set union of one round (doc/privacy.md, "One step"),
 * mu^2 = sum mu_j^2 and delta_t = sum delta_j.
 *
 * An early stop (stop_below) is decided by what was released, so it costs
 * nothing; the caller learns how much of mu^2 was used.  The first rounds are
 * the noisiest: where few words are to be had they may add one and then none,
 * so there is no stop before WORDS_TO_STOP.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "common/dp_audit.h"
#include "common/dp_calibrate.h"
#include "common/dp_combination.h"
#include "common/dp_gaussian.h"
#include "ngram/word_rounds.h"

/* Level 1, for keyed choices and seeded noise. */
#define WORD_LEVEL 1

/* Of sips: each round has this share of what the next one has. */
#define SIPS_RATIO 0.3

/* Of cumulative: the last round's part of delta; the others share the rest evenly. */
#define LAST_DELTA 0.7

/* How many rounds there are. */
int
word_rounds_count(WordRoundsKind kind)
{
	switch (kind)
	{
		case WORD_ROUNDS_SIPS:
			return 3;
		case WORD_ROUNDS_CUMULATIVE:
			return WORD_ROUNDS_MAX;
		case WORD_ROUNDS_ONE:
			break;
	}
	return 1;
}

/* The share of mu^2 that a round has, counted from 0. */
double
word_rounds_share(WordRoundsKind kind, int round)
{
	int n = word_rounds_count(kind);
	double ratio = kind == WORD_ROUNDS_SIPS ? SIPS_RATIO : 0.5;
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += pow(ratio, i);
	return pow(ratio, n - 1 - round) / sum;
}

/* Likewise of delta. */
static double
delta_share(WordRoundsKind kind, int round)
{
	int last = word_rounds_count(kind) - 1;

	if (kind != WORD_ROUNDS_CUMULATIVE)
		return word_rounds_share(kind, round);
	return round == last ? LAST_DELTA : (1 - LAST_DELTA) / last;
}

/*
 * What a round's statistic is made of, and the threshold that hides words of one user
 * alone.  A statistic of one term is a discrete Gaussian with integer sigma, as in any
 * set union; one of several is one, too, up to nothing (dp_combination.c).
 */
static DpStatus
set_threshold(WordRounds *rounds, int number, double delta)
{
	WordRound *round = &rounds->round[number];
	int first = rounds->kind == WORD_ROUNDS_CUMULATIVE ? 0 : number;
	int64 coefficient[WORD_ROUNDS_MAX] = {0};
	int64 sigma[WORD_ROUNDS_MAX] = {0};
	DpCombination comb;
	DpStatus status;

	for (int i = first; i <= number; i++)
	{
		coefficient[i - first] = rounds->round[i].coefficient;
		sigma[i - first] = rounds->round[i].sigma;
	}
	status = dp_combination_prepare(&comb, coefficient, sigma, number - first + 1);
	if (status != DP_OK)
		return status;
	round->divisor = comb.total;
	round->stddev = (double) comb.deviation;
	if (first == number)
		return dp_step_threshold(round->sigma, delta, rounds->bound, &round->threshold);
	return dp_combination_union_threshold(&comb, delta, rounds->bound, &round->threshold);
}

/*
 * Rounds that together are at most sqrt(mu2)-GDP on shared words, and release a
 * word of one user alone with probability at most delta_t.
 *
 * DP_ERR_RANGE where no noise that the samplers take will do.
 */
DpStatus
word_rounds_plan(WordRoundsKind kind, double mu2, double delta_t, int64 bound, double stop_below,
				 WordRounds *rounds)
{
	double total = 0;

	memset(rounds, 0, sizeof(*rounds));
	rounds->kind = kind;
	rounds->bound = bound;
	rounds->stop_below = stop_below;
	rounds->n = word_rounds_count(kind);
	for (int i = 0; i < rounds->n; i++)
	{
		WordRound *round = &rounds->round[i];
		DpStatus status = dp_step_sigma(sqrt(mu2 * word_rounds_share(kind, i)), &round->sigma);

		if (status != DP_OK)
			return status;
		/* where epsilon is beyond all reason: noise enough for the law of sums to be known */
		if (kind == WORD_ROUNDS_CUMULATIVE)
			round->sigma = Max(round->sigma, DP_COMBINATION_LEAST_SIGMA);
		round->coefficient = kind == WORD_ROUNDS_CUMULATIVE ? INT64CONST(1) << i : 1;
		if (!(DP_SABOTAGED(SABOTAGE_UNDEBITED) && i == rounds->n - 1 && i > 0))
			round->mu2 = dp_step_mu2(round->sigma);
		total += round->mu2;
		status = set_threshold(rounds, i, delta_t * delta_share(kind, i) / DP_ROUND_UP);
		if (status != DP_OK)
			return status;
	}
	return total <= mu2 ? DP_OK : DP_ERR_RANGE;
}

/* ------------------------------------------------------------------------
 * the run
 * ------------------------------------------------------------------------ */

typedef struct FoundWord
{
	uint32 id;
	GramWeight weight;
} FoundWord;

typedef struct WordRun
{
	Extraction *extraction;
	const WordRounds *rounds;
	Corpus *lists;
	uint32 words; /* in the vocabulary */

	/* by id, from 1 */
	int64 *weight;	  /* exact, of the present round; 0: nobody's, or released */
	int64 *statistic; /* sum of F_l t_l so far */
	bool *released;

	FoundWord *found;
	Size nfound;
	Size capacity;
	Size support; /* of the first round */
} WordRun;

static void *
allocate_by_id(const WordRun *run, Size size)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, ((Size) run->words + 1) * size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/*
 * Each user's list of at most "bound" words, as a corpus of their ids.  The same
 * for every draw; another draw is another choice by other keyed hashes.
 */
Corpus *
extract_word_lists(Extraction *extraction, int64 bound, int draw)
{
	Corpus *lists = corpus_create(extraction->memory_limit, false);
	uint64 key = extraction->noise->sampling_key ^ NOISE_ROUND(WORD_LEVEL, draw);
	CorpusScan scan;
	CorpusUser user;
	ItemList items;

	item_list_init(&items);
	corpus_scan_begin(&scan, extraction->corpus, false);
	while (corpus_scan_next(&scan, &user))
	{
		item_list_begin_user(&items, bound, dp_mix64(key, user.hash));
		for (uint32 i = 0; i < user.n; i++)
			if (user.id[i] != 0)
				item_list_add(&items, user.id[i],
							  dp_mix64(0, vocabulary_hash(extraction->vocabulary, user.id[i])));
		item_list_distinct(&items);
		item_list_bound(&items, bound, items.user_key);
		corpus_begin_user(lists, user.hash);
		for (Size i = 0; i < items.n; i++)
			corpus_add_token(lists, (uint32) items.item[i].key);
		corpus_end_user(lists);
	}
	corpus_scan_end(&scan);
	item_list_free(&items);
	return lists;
}

/* Lists drawn anew in each round: what the audits must catch. */
static void
redraw_lists(WordRun *run, int round)
{
	corpus_free(run->lists);
	run->lists = extract_word_lists(run->extraction, run->rounds->bound, round);
}

/* A pass over the users: released words leave their lists, what is left is counted. */
static void
count_round(WordRun *run)
{
	CorpusScan scan;
	CorpusUser user;

	memset(run->weight, 0, ((Size) run->words + 1) * sizeof(int64));
	corpus_scan_begin(&scan, run->lists, true);
	while (corpus_scan_next(&scan, &user))
	{
		uint32 left = 0;
		int64 weight;

		for (uint32 i = 0; i < user.n; i++)
			if (!run->released[user.id[i]])
				user.id[left++] = user.id[i];
		if (left == 0)
			continue;
		weight = extract_user_weight(left);
		for (uint32 i = 0; i < left; i++)
			run->weight[user.id[i]] += weight;
		user.n = left;
		corpus_scan_keep(&scan, &user);
	}
	corpus_scan_end(&scan);
}

static void
release_word(WordRun *run, uint32 id, const WordRound *round)
{
	double unit = ldexp((double) round->divisor, DP_LATTICE_BITS);

	if (run->nfound == run->capacity)
	{
		run->capacity = Max(2 * run->capacity, 256);
		if (run->found == NULL)
			run->found = palloc(run->capacity * sizeof(FoundWord));
		else
			run->found = repalloc_huge(run->found, run->capacity * sizeof(FoundWord));
	}
	run->found[run->nfound++] =
		(FoundWord){id, {run->statistic[id] / unit, round->stddev / unit}};
	run->released[id] = true;
}

static void
trace_word(const WordRun *run, uint32 id)
{
	const Extraction *extraction = run->extraction;
	int len;
	const char *text = vocabulary_string(extraction->vocabulary, id, &len);

	extraction->trace->histogram(extraction->trace->state, WORD_LEVEL, text, len,
								 run->weight[id]);
}

/* Does the word stand in a list?  Where those are drawn anew: did it ever? */
static inline bool
is_listed(const WordRun *run, uint32 id)
{
	if (DP_SABOTAGED(SABOTAGE_REDRAWN) && run->statistic[id] != 0)
		return !run->released[id];
	return run->weight[id] != 0;
}

/* Noise on every word of the lists, and who passes. */
static void
judge_round(WordRun *run, int number)
{
	const WordRound *round = &run->rounds->round[number];
	Extraction *extraction = run->extraction;

	for (uint32 id = 1; id <= run->words; id++)
	{
		uint64 content;
		int64 noisy;

		CHECK_FOR_INTERRUPTS();
		if (!is_listed(run, id))
			continue;
		content = dp_mix64(0, vocabulary_hash(extraction->vocabulary, id));
		noisy = run->weight[id] + noise_gaussian(extraction->noise, round->sigma,
												 NOISE_ROUND(WORD_LEVEL, number), content);
		if (run->rounds->kind == WORD_ROUNDS_CUMULATIVE)
			run->statistic[id] += round->coefficient * noisy;
		else
			run->statistic[id] = noisy;
		if (number == 0)
		{
			run->support++;
			if (extraction->trace)
				trace_word(run, id);
		}
		if (run->statistic[id] > round->threshold)
			release_word(run, id, round);
	}
}

/* The rounds; returns how many there were. */
static int
run_rounds(WordRun *run)
{
	const WordRounds *rounds = run->rounds;

	run->lists = extract_word_lists(run->extraction, rounds->bound, 0);
	for (int i = 0; i < rounds->n; i++)
	{
		Size before = run->nfound;

		if (DP_SABOTAGED(SABOTAGE_REDRAWN) && i > 0)
			redraw_lists(run, i);
		count_round(run);
		judge_round(run, i);
		if (i > 0 && run->nfound >= WORDS_TO_STOP &&
			run->nfound - before < rounds->stop_below * run->nfound)
			return i + 1;
	}
	return rounds->n;
}

static int
compare_found(const void *pa, const void *pb, void *arg)
{
	return vocabulary_compare(arg, ((const FoundWord *) pa)->id, ((const FoundWord *) pb)->id);
}

/* What was found as S_1, numbered by the words' bytes. */
static GramSet *
number_words(const WordRun *run, uint32 **word_ids)
{
	GramSet *words = gramset_create(WORD_LEVEL);

	if (run->nfound > 1)
		qsort_arg(run->found, run->nfound, sizeof(FoundWord), compare_found,
				  run->extraction->vocabulary);
	*word_ids = MemoryContextAllocHuge(CurrentMemoryContext,
									   (run->nfound + 1) * sizeof(uint32));
	for (Size i = 0; i < run->nfound; i++)
	{
		(*word_ids)[i] = run->found[i].id;
		gramset_add(words, i + 1, run->found[i].weight);
	}
	return words;
}

/*
 * S_1: words numbered by their bytes.  word_ids returns each number's id in the
 * vocabulary, at index number - 1; mu2_used the price of the rounds that were
 * run, at most that of all.
 */
GramSet *
extract_word_rounds(Extraction *extraction, const WordRounds *rounds, uint32 **word_ids,
					double *mu2_used)
{
	WordRun run = {.extraction = extraction,
				   .rounds = rounds,
				   .words = vocabulary_size(extraction->vocabulary)};
	GramSet *words;
	int rounds_run;

	run.weight = allocate_by_id(&run, sizeof(int64));
	run.statistic = allocate_by_id(&run, sizeof(int64));
	run.released = allocate_by_id(&run, sizeof(bool));
	rounds_run = run_rounds(&run);
	words = number_words(&run, word_ids);
	*mu2_used = 0;
	for (int i = 0; i < rounds_run; i++)
		*mu2_used += rounds->round[i].mu2;
	if (extraction->trace)
		extraction->trace->level(extraction->trace->state, words, 0, run.support,
								 rounds->round[rounds_run - 1].threshold);
	extraction->steps_done++;
	corpus_free(run.lists);
	pfree(run.weight);
	pfree(run.statistic);
	pfree(run.released);
	if (run.found)
		pfree(run.found);
	return words;
}
