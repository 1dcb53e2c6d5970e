/*
 * attack.c
 *	  How well releases tell whether one user is in the population: the membership
 *	  inference attack of Ramadan et al. 2021, section 5, and what it proves.
 *
 * Two data sets are released again and again, one with and one without the user who
 * contributes most.  The score of a release is the Kullback-Leibler divergence of the
 * user's own distribution from it.  The paper reports how often the score is smaller with
 * the user.  That share bounds nothing by itself: 1/2 means that this attack fails, not
 * that all do.
 *
 * So the scores also serve for what can be proved, a lower bound of epsilon.  An event
 * "score < c" that comes with probability p in one world and q in the other shows that
 * p <= e^epsilon q + delta asks for an epsilon.  The first half of the runs chooses c.
 * The second half, which the choice has not seen, counts the event in both worlds, and
 * Clopper and Pearson's bounds turn the counts into an epsilon that exceeds the true one
 * with a probability of at most 1 - confidence (common/dp_clopper.c).
 */
#include "postgres.h"

#include <math.h>

#include "dist/attack.h"
#include "miscadmin.h"

/* Thresholds tried in the middle of each world's scores; towards the ends there are more. */
#define QUANTILES 64

/* The user whom the attack is about. */
typedef struct Victim
{
	int64 user;
	uint32 n;
	uint32 *gram; /* indexes of the user's n-grams, from 0 */
	double *share;
} Victim;

/* Scores of the releases, one array for each world. */
enum
{
	WITH,
	WITHOUT,
	WORLDS
};

typedef struct Choice
{
	const double *score[WORLDS]; /* of the first half, sorted */
	int n;
	double delta;
	double alpha;
	double epsilon; /* the largest yet, and its threshold */
	double threshold;
} Choice;

static int64
row_total(const GramRow *row)
{
	int64 total = 0;

	for (uint32 i = 0; i < row->n; i++)
		total += row_count(row, i);
	return total;
}

/* The user with the most counts, after bounding; of several the first in the rows' order. */
static bool
find_victim(GramRows *rows, Victim *victim)
{
	GramRowScan scan;
	GramRow row;
	int64 most = 0;

	memset(victim, 0, sizeof(*victim));
	rows_scan_begin(&scan, rows);
	while (rows_scan_next(&scan, &row))
	{
		int64 total = row_total(&row);

		if (total <= most)
			continue;
		if (most > 0)
		{
			pfree(victim->gram);
			pfree(victim->share);
		}
		most = total;
		victim->user = row.user;
		victim->n = row.n;
		victim->gram = palloc(row.n * sizeof(uint32));
		victim->share = palloc(row.n * sizeof(double));
		for (uint32 i = 0; i < row.n; i++)
		{
			victim->gram[i] = row_gram(&row, i) - 1;
			victim->share[i] = (double) row_count(&row, i) / (double) total;
		}
	}
	rows_scan_end(&scan);
	return most > 0;
}

/* KL(user || theta). */
static double
divergence(const Victim *victim, const double *theta)
{
	double sum = 0;

	for (uint32 i = 0; i < victim->n; i++)
		sum += victim->share[i] * log(victim->share[i] / theta[victim->gram[i]]);
	return sum;
}

/* Release both worlds "runs" times. */
static void
score_releases(DistWorld *worlds, Noise *noise, const Victim *victim, int runs, double **score)
{
	double *theta = zero_doubles(worlds[WITH].grams->size);

	for (int run = 0; run < runs; run++)
		for (int i = 0; i < WORLDS; i++)
		{
			DistReport report;

			/* no two releases have noise in common, seeded or not */
			dist_world_release(&worlds[i], noise, WORLDS * run + i, theta, &report);
			score[i][run] = divergence(victim, theta);
		}
	pfree(theta);
}

static int
compare_scores(const void *pa, const void *pb)
{
	double a = *(const double *) pa;
	double b = *(const double *) pb;

	return (a > b) - (a < b);
}

static int64
count_below(const double *score, int n, double threshold)
{
	int64 count = 0;

	for (int i = 0; i < n; i++)
		count += score[i] < threshold;
	return count;
}

/* What the event "score < threshold" proves. */
static double
event_epsilon(const DpTrials *seen, double delta, double alpha)
{
	double epsilon;

	if (dp_audit_epsilon(seen[WITH], seen[WITHOUT], delta, alpha, &epsilon) != DP_OK)
		elog(ERROR, "no bound can be had from these releases");
	return epsilon;
}

/* How many of n sorted scores are below the threshold. */
static int64
rank_of(const double *sorted, int n, double threshold)
{
	int low = 0;
	int high = n;

	while (low < high)
	{
		int middle = low + (high - low) / 2;

		if (sorted[middle] < threshold)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
try_threshold(Choice *choice, double threshold)
{
	DpTrials seen[WORLDS];
	double epsilon;

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < WORLDS; i++)
		seen[i] = (DpTrials){rank_of(choice->score[i], choice->n, threshold), choice->n};
	epsilon = event_epsilon(seen, choice->delta, choice->alpha);
	if (epsilon <= choice->epsilon)
		return;
	choice->epsilon = epsilon;
	choice->threshold = threshold;
}

/* Thresholds at one world's scores: evenly, and ever rarer events at both ends. */
static void
try_thresholds(Choice *choice, const double *sorted)
{
	int n = choice->n;

	for (int i = 0; i < QUANTILES; i++)
		try_threshold(choice, sorted[(int64) i * n / QUANTILES]);
	for (int from_end = 1; from_end <= n / QUANTILES; from_end *= 2)
	{
		try_threshold(choice, sorted[from_end]);
		try_threshold(choice, sorted[n - from_end]);
	}
	try_threshold(choice, nextafter(sorted[n - 1], HUGE_VAL));
}

/* The lower bound of epsilon; the first halves of the scores are sorted in place. */
static double
bound_epsilon(double **score, int runs, double delta, double alpha)
{
	int half = runs / 2;
	DpTrials seen[WORLDS];
	Choice choice = {
		.score = {score[WITH], score[WITHOUT]},
		.n = half,
		.delta = delta,
		.alpha = alpha};

	for (int i = 0; i < WORLDS; i++)
		qsort(score[i], half, sizeof(double), compare_scores);
	/* if nothing tells the worlds apart, it may as well be the median */
	choice.threshold = score[WITH][half / 2];
	for (int i = 0; i < WORLDS; i++)
		try_thresholds(&choice, score[i]);
	for (int i = 0; i < WORLDS; i++)
		seen[i] = (DpTrials){count_below(score[i] + half, runs - half, choice.threshold),
							 runs - half};
	return event_epsilon(seen, delta, alpha);
}

static void
count_wins(double **score, int runs, AttackResult *result)
{
	int ties = 0;

	for (int i = 0; i < runs; i++)
	{
		result->wins += score[WITH][i] < score[WITHOUT][i];
		ties += score[WITH][i] == score[WITHOUT][i];
	}
	result->probability = (result->wins + ties / 2.0) / runs;
}

/*
 * attack_run: attacks the membership of the user who contributes most.
 *
 * runs: releases of each of the two worlds; ATTACK_MIN_RUNS to ATTACK_MAX_RUNS.
 * confidence: ATTACK_MIN_CONFIDENCE to ATTACK_MAX_CONFIDENCE.  False if the rows have no
 * user.
 */
bool
attack_run(const DistPlan *plan, const PublicGrams *grams, GramRows *rows, Noise *noise,
		   int runs, double confidence, AttackResult *result)
{
	Victim victim;
	DistWorld worlds[WORLDS];
	double *score[WORLDS];

	memset(result, 0, sizeof(*result));
	if (!find_victim(rows, &victim))
		return false;
	dist_world_init(&worlds[WITH], plan, grams, rows, -1, noise);
	dist_world_init(&worlds[WITHOUT], plan, grams, rows, victim.user, noise);
	for (int i = 0; i < WORLDS; i++)
		score[i] = palloc(runs * sizeof(double));
	score_releases(worlds, noise, &victim, runs, score);
	count_wins(score, runs, result);
	result->epsilon = bound_epsilon(score, runs, plan->query.delta, 1 - confidence);
	for (int i = 0; i < WORLDS; i++)
		pfree(score[i]);
	return true;
}
