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
#include "common/dp_weights.h"
#include "ngram/word_rounds.h"
#include "ngram/words.h"

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

/* What a word's bucket, which level 1 has none of, says once it is released. */
#define RELEASED 1

typedef struct WordRun
{
	Extraction *extraction;
	TextSource *source;
	const WordRounds *rounds;
	int round; /* at present, from 0 */
	FoundWords found;
	Size support;

	/* for SABOTAGE_REDRAWN: what stood in earlier lists, with its statistic */
	Histogram *carried;
	Histogram *still_carried;
} WordRun;

static void
release_word(WordRun *run, const RoundGram *word)
{
	const WordRound *round = &run->rounds->round[run->round];
	double unit = ldexp((double) round->divisor, DP_LATTICE_BITS);

	found_words_add(&run->found, (ItemKey){word->key, word->content},
					(GramWeight){word->sum / unit, round->stddev / unit});
}

/*
 * Noise for a word of the lists, and whether it passes.  One that has been released has no
 * bias any more: it asks for nothing, and the others of its users weigh as if it had left
 * their lists.
 */
static int
judge_word(void *state, RoundGram *word, int bias, int64 weight)
{
	WordRun *run = state;
	const WordRound *round = &run->rounds->round[run->round];
	int64 noisy;

	if (bias == 0 || word->bucket == RELEASED)
		return 0;
	noisy = weight + noise_gaussian(run->extraction->noise, round->sigma,
									NOISE_ROUND(WORD_LEVEL, run->round), word->content);
	if (run->rounds->kind == WORD_ROUNDS_CUMULATIVE)
		word->sum += round->coefficient * noisy;
	else
		word->sum = noisy;
	if (run->round == 0)
	{
		run->support++;
		found_words_trace(&run->found, (ItemKey){word->key, word->content}, weight);
	}
	if (word->sum <= round->threshold)
		return DP_BIAS_ONE;
	release_word(run, word);
	word->bucket = RELEASED;
	return 0;
}

/* ---- lists drawn anew in each round: what the audits must catch ---- */

static void
carry_word(void *state, RoundGram *word)
{
	WordRun *run = state;

	histogram_add(run->carried, (ItemKey){word->key, word->content},
				  2 * word->sum + word->bucket);
}

/* A word of the new lists goes on with its statistic, which is carried no more. */
static void
resume_word(void *state, RoundGram *word)
{
	WordRun *run = state;
	HistogramEntry *entry = histogram_find(run->carried, (ItemKey){word->key, word->content});

	if (entry == NULL)
		return;
	word->sum = entry->weight >> 1;
	word->bucket = entry->weight & 1;
	entry->weight = 0;
}

/* A word that stood in lists before this round's. */
static void
judge_carried(void *state, const HistogramEntry *entry)
{
	WordRun *run = state;
	RoundGram word = {.key = entry->key.key, .content = entry->key.content};

	if (entry->weight == 0)
		return;
	word.sum = entry->weight >> 1;
	word.bucket = entry->weight & 1;
	(void) judge_word(run, &word, DP_BIAS_ONE, 0);
	histogram_add(run->still_carried, entry->key, 2 * word.sum + word.bucket);
}

static void
count_redrawn(WordRun *run)
{
	const SourceMethods *methods = run->source->methods;

	if (run->round == 0)
		run->carried = histogram_create(SIZE_MAX / 4);
	else
	{
		methods->rounds_visit(run->source, carry_word, run);
		methods->rounds_end(run->source);
		methods->rounds_begin(run->source, WORD_LEVEL, run->round);
		methods->rounds_visit(run->source, resume_word, run);
	}
	methods->rounds_count(run->source, judge_word, run);
	run->still_carried = histogram_create(SIZE_MAX / 4);
	histogram_consume(run->carried, judge_carried, run);
	run->carried = run->still_carried;
}

/* ---- the rounds ---- */

/* The rounds; returns how many there were. */
static int
run_rounds(WordRun *run)
{
	const WordRounds *rounds = run->rounds;

	for (run->round = 0; run->round < rounds->n; run->round++)
	{
		Size before = run->found.n;

		if (DP_SABOTAGED(SABOTAGE_REDRAWN))
			count_redrawn(run);
		else
			run->source->methods->rounds_count(run->source, judge_word, run);
		if (run->round > 0 && run->found.n >= WORDS_TO_STOP &&
			run->found.n - before < rounds->stop_below * run->found.n)
			return run->round + 1;
	}
	return rounds->n;
}

/*
 * S_1: words numbered by their bytes.  text returns their texts, at index number - 1;
 * mu2_used the price of the rounds that were run, at most that of all.
 */
GramSet *
extract_word_rounds(Extraction *extraction, TextSource *source, const WordRounds *rounds,
					WordText **text, double *mu2_used)
{
	WordRun run = {.extraction = extraction, .source = source, .rounds = rounds};
	GramSet *words;
	int rounds_run;

	found_words_init(&run.found, extraction);
	source->methods->rounds_begin(source, WORD_LEVEL, 0);
	rounds_run = run_rounds(&run);
	source->methods->rounds_end(source);
	words = found_words_number(&run.found, extraction, source, text);
	*mu2_used = 0;
	for (int i = 0; i < rounds_run; i++)
		*mu2_used += rounds->round[i].mu2;
	if (extraction->trace)
		extraction->trace->level(extraction->trace->state, words, 0, run.support,
								 rounds->round[rounds_run - 1].threshold);
	extraction->steps_done++;
	return words;
}
