/*
 * level_rounds.c
 *	  A level k >= 2 of dpne-mr: several rounds of noise, in which n-grams that
 *	  have surely won or surely lost leave their weight to the others.
 *
 * V_k is parted into buckets by predicted weight, a function of what is released.
 * In round j every member g of V_k gets t_j(g) = h_j(g) + X_j(g), h_j the sum of the
 * users' weights under the biases b_j (rounds.c), X_j discrete Gaussian noise of
 * sigma_j.  Released is g, with its estimate, iff
 *
 *		s(g) = sum over j of F_j t_j(g)  >  r of g's bucket,
 *
 * the F_j being positive integers fixed beforehand.
 *
 * Privacy.  Think of all t_j of all of V_k as released, round after round.  b_j is a
 * function of the rounds before, so given these, round j is a Gaussian mechanism on
 * the coordinates V_k of l2 sensitivity 1 (rounds.c): mu_j-GDP, mu_j = 2^20/sigma_j.
 * The rows are a function of the t_j.  V_k outside the support is huge, but there
 * h_j = 0 in every round, whatever b_j is, so that s is a sum of noise alone, whose
 * law is the same for all of a bucket since the F_j are constants (were they
 * weighted by b_j, it would not be).  Nobody's weights need the noise of these
 * members before the end.  So it is drawn then, and only for those that are
 * released: each independently with the probability that s > r, and its t_1, t_2, ..
 * by their law given s > r (dp_combination.c).  What is released of such a row, its
 * estimate and standard deviation, comes of these t_j by the very rules of real
 * rows, b_j included: nothing tells the two kinds apart.
 *
 * |V_k| of each bucket is exact (buckets.c): the thresholds only bound the spurious
 * n-grams, but an undercount would betray the support (doc/privacy.md).
 */
#include "postgres.h"

#include <math.h>

#include "common/dp_audit.h"
#include "common/dp_calibrate.h"
#include "common/dp_combination.h"
#include "common/dp_weights.h"
#include "ngram/bias.h"
#include "ngram/bucket_budget.h"
#include "ngram/bucket_support.h"
#include "ngram/levels.h"
#include "ngram/rounds.h"
#include "ngram/schedule.h"

/* The level in the making. */
typedef struct RoundsLevel
{
	Levels *levels;
	Buckets *buckets;
	BucketSupport *support;
	DpCombination noise; /* s of a member that nobody has; one term a round */
	BiasRules rules;
	int round;		  /* at present, from 0 */
	DpRandom *random; /* of members that nobody has */
	int64 threshold[BUCKETS];
	DpRate rate[BUCKETS]; /* at which members that nobody has are released */
	BucketYield yield;
} RoundsLevel;

/* ------------------------------------------------------------------------
 * before the rounds: noise, buckets, thresholds
 * ------------------------------------------------------------------------ */

/*
 * Divide the level's mu^2 among the rounds; spent is what the noise really costs.
 * False if that is too little for any noise.
 */
static bool
set_noise(RoundsLevel *level, double mu2, double *spent)
{
	int rounds = level->levels->extraction->plan->query.rounds;
	int64 coefficient[NGRAM_MAX_ROUNDS];
	int64 sigma[NGRAM_MAX_ROUNDS];
	double total = 0;

	bias_coefficients(rounds, coefficient);
	for (int j = 0; j < rounds; j++)
		total += (double) coefficient[j];
	*spent = 0;
	for (int j = 0; j < rounds; j++)
	{
		if (dp_step_sigma(sqrt(mu2 * (double) coefficient[j] / total), &sigma[j]) != DP_OK)
			return false;
		if (!DP_SABOTAGED(SABOTAGE_UNDEBITED) || j + 1 < rounds)
			*spent += dp_step_mu2(sigma[j]);
	}
	if (dp_combination_prepare(&level->noise, coefficient, sigma, rounds) != DP_OK)
		return false;
	bias_prepare(&level->rules, coefficient, rounds, (double) level->noise.deviation);
	return true;
}

static ScheduleSet
schedule_set(const GramSet *set)
{
	return (ScheduleSet){.n = set->n, .key = set->key, .weight = set->weight};
}

/* All that the schedule knows: released sets and public numbers. */
static ScheduleInput
schedule_input(const RoundsLevel *level)
{
	const Levels *levels = level->levels;
	const NgramPlan *plan = levels->extraction->plan;
	const NgramQuery *query = &plan->query;
	bool balanced = query->schedule == SCHEDULE_BALANCED;
	ScheduleInput in = {.max_length = plan->nsteps,
						.ratio = query->schedule == SCHEDULE_RATIO ? query->noise_ratio : 0,
						.floor = balanced ? SCHEDULE_FLOOR_BALANCED : SCHEDULE_FLOOR_ADAPTIVE,
						.whole = plan->mu2,
						.left = extract_left(levels->extraction) * (1 - 1e-9),
						.spurious = query->spurious,
						.single_side = query->pruning == PRUNING_SINGLE,
						.words = schedule_set(levels->set[1]),
						.previous = schedule_set(levels->set[levels->k - 1]),
						.members = (double) buckets_total(level->buckets)};

	if (levels->k > 2)
		in.middles = schedule_set(levels->set[levels->k - 2]);
	return in;
}

/*
 * How many spurious n-grams the level may have in expectation.  A forecast may be 0, where
 * all that is predicted is light: it is taken for one n-gram.
 */
static double
spurious_bound(const RoundsLevel *level, const ScheduleInput *in, double mu2)
{
	const NgramQuery *query = &level->levels->extraction->plan->query;
	double share_of = in->previous.n;

	if (query->spurious_of == SPURIOUS_OF_FORECAST)
		share_of = Max(schedule_yield(in, level->levels->k, mu2), 1);
	return query->spurious * Min(share_of, in->members);
}

/* Part V_k, and find each part's threshold and the rate at which noise alone exceeds it. */
static void
set_thresholds(RoundsLevel *level, double bound)
{
	const Levels *levels = level->levels;
	double unit = ldexp((double) level->noise.total, DP_LATTICE_BITS);
	double edge[BUCKET_EDGES];
	double rate[BUCKETS];

	bucket_edges((double) level->noise.deviation / unit, edge);
	buckets_divide(level->buckets, edge, BUCKET_EDGES);
	for (int i = 0; i < BUCKETS; i++)
		level->yield.members[i] = buckets_count(level->buckets, i);
	bucket_budget(levels->k > 2 ? &levels->yield : NULL, level->yield.members, bound, rate);
	for (int i = 0; i < BUCKETS; i++)
	{
		double p;

		if (level->yield.members[i] == 0)
			continue;
		if (dp_combination_threshold(&level->noise, rate[i], &level->threshold[i]) != DP_OK ||
			dp_combination_tail(&level->noise, level->threshold[i], &p) != DP_OK ||
			dp_rate_from_probability(p, &level->rate[i]) != DP_OK)
			elog(ERROR, "no threshold for level %d", levels->k);
	}
}

/* ------------------------------------------------------------------------
 * n-grams that somebody has
 * ------------------------------------------------------------------------ */

static void
place(void *state, RoundGram *gram)
{
	RoundsLevel *level = state;

	gram->bucket = (uint8) buckets_of(level->buckets, gram->key);
	bucket_support_add(level->support, gram->bucket, gram->key);
}

/* What is known of an n-gram after another round, and its bias in the next. */
static int
advance(const RoundsLevel *level, RoundGram *gram, int round, int bias, int64 noisy)
{
	int64 coefficient = level->noise.coefficient[round];

	if (DP_SABOTAGED(SABOTAGE_WEIGHTED))
		noisy = noisy * bias / DP_BIAS_ONE;
	gram->sum += coefficient * noisy;
	gram->spent += (int32) coefficient * bias;
	return bias_next(&level->rules, round, gram->sum, gram->spent, level->threshold[gram->bucket]);
}

static int
judge(void *state, RoundGram *gram, int bias, int64 weight)
{
	const RoundsLevel *level = state;
	const Levels *levels = level->levels;
	int64 noise = noise_gaussian(levels->extraction->noise, level->noise.sigma[level->round],
								 NOISE_ROUND(levels->k, level->round), gram->content);

	if (level->round == 0 && levels->extraction->trace)
		level_trace(levels, gram->key, weight);
	return advance(level, gram, level->round, bias, weight + noise);
}

static void
release(RoundsLevel *level, const RoundGram *gram)
{
	double unit = ldexp((double) gram->spent / DP_BIAS_ONE, DP_LATTICE_BITS);

	level->yield.released[gram->bucket]++;
	gramset_add(level->levels->set[level->levels->k], gram->key,
				(GramWeight){(double) gram->sum / unit, (double) level->noise.deviation / unit});
}

static void
release_winner(void *state, RoundGram *gram)
{
	RoundsLevel *level = state;

	if (gram->sum > level->threshold[gram->bucket])
		release(level, gram);
}

/* ------------------------------------------------------------------------
 * n-grams that nobody has
 * ------------------------------------------------------------------------ */

/* Release a member of V_k outside the support, with rounds as if it had been there. */
static void
release_spurious(void *state, int bucket, uint64 key)
{
	RoundsLevel *level = state;
	RoundGram gram = {.key = key, .bucket = (uint8) bucket};
	int64 noise[NGRAM_MAX_ROUNDS];
	int bias = DP_BIAS_ONE;

	dp_combination_above(level->random, &level->noise, level->threshold[bucket], noise);
	for (int j = 0; j < level->noise.n; j++)
	{
		int next = advance(level, &gram, j, bias, noise[j]);

		if (!DP_SABOTAGED(SABOTAGE_UNBIASED))
			bias = next;
	}
	if (DP_SABOTAGED(SABOTAGE_OFF_LATTICE))
		gram.sum |= 1;
	release(level, &gram);
}

/* ------------------------------------------------------------------------
 * the level
 * ------------------------------------------------------------------------ */

static void
run_rounds(RoundsLevel *level)
{
	Extraction *extraction = level->levels->extraction;
	TextSource *source = level->levels->source;

	level->support = bucket_support_create(level->buckets,
										   extract_sort_memory(extraction));
	source->methods->rounds_begin(source, level->levels->k, 0);
	source->methods->rounds_visit(source, place, level);
	for (level->round = 0; level->round < level->noise.n; level->round++)
		source->methods->rounds_count(source, judge, level);
	source->methods->rounds_visit(source, release_winner, level);
	source->methods->rounds_end(source);
	level->random = noise_stream(extraction->noise, level->levels->k);
	bucket_support_spurious(level->support, level->random, level->rate, release_spurious, level);
}

static void
trace(const RoundsLevel *level)
{
	const Levels *levels = level->levels;
	const ExtractTrace *trace = levels->extraction->trace;
	uint64 support = 0;

	for (int i = 0; i < BUCKETS; i++)
	{
		uint64 n = bucket_support_count(level->support, i);

		support += n;
		if (trace->bucket)
			trace->bucket(trace->state, levels->k, i, buckets_count(level->buckets, i), n,
						  level->threshold[i]);
	}
	trace->level(trace->state, levels->set[levels->k], buckets_total(level->buckets), support, 0);
}

/*
 * The level's part of what is left, as noise and thresholds; false if it is too little for
 * any noise.
 */
static bool
prepare(RoundsLevel *level)
{
	ScheduleInput in = schedule_input(level);
	double mu2 = schedule_level(&in, level->levels->k);
	double spent;

	if (!set_noise(level, mu2, &spent))
		return false;
	extract_spend(level->levels->extraction, level->levels->k, spent);
	set_thresholds(level, spurious_bound(level, &in, mu2));
	return true;
}

/* Fill S_k; false when V_k is empty, or too little is left. */
bool
level_rounds(Levels *levels)
{
	Extraction *extraction = levels->extraction;
	int k = levels->k;
	RoundsLevel level = {.levels = levels};

	levels->set[k] = gramset_create(k);
	level.buckets = buckets_create(levels->set[k - 1], k > 2 ? levels->set[k - 2] : NULL,
								   levels->set[1], extraction->plan->query.pruning);
	if (buckets_total(level.buckets) > 0 && prepare(&level))
	{
		run_rounds(&level);
		extraction->steps_done++;
		if (extraction->trace)
			trace(&level);
		levels->yield = level.yield;
		bucket_support_free(level.support);
	}
	buckets_free(level.buckets);
	return levels->set[k]->n > 0;
}
