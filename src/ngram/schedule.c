/*
 * schedule.c
 *	  How much of what is left of dpne-mr's budget the next length gets.
 *
 * Either the noise of each length has a given ratio to that of the one before, or the
 * budget goes where it is forecast to release most.  Then every length has a floor, and
 * of the rest length j gets a part in proportion to
 *
 *		d^(j-k) (Y_j(5/4 m_j) - Y_j(4/5 m_j))^0.8,
 *
 * where Y_j(m) is how many n-grams length j is forecast to release with the budget m: the
 * fixed point m is found by iteration.  Were forecasts right, the power would be 1 and d
 * as well, since where the sum of Y_j(m_j) is greatest, m_j is in proportion to m_j Y_j'(m_j).
 * They are not, and the less so the farther off the length is.
 *
 * An n-gram of forecast weight w is released with probability 1 / (1 + (2r/3w)^1.5), r being
 * the threshold.  Counts by weight come from forecast.c: chains of words that are taken for
 * independent are far too few, Markov chains of n-grams too many, so a length's forecast is
 * kept within a range of that of the length before it, for the same budget.
 *
 * Privacy.  The result is a function of released sets and public numbers, at most
 * what is left; the sum of what is spent is bounded by a filter (doc/privacy.md).  The
 * constants were chosen by what they release on two sets of real data.
 */
#include "common/dp_base.h"

#include <math.h>

#include "common/dp_normal.h"
#include "ngram/forecast.h"
#include "ngram/schedule.h"

/* Thresholds in standard deviations: of lengths after the next, and the least there is. */
#define LATER_THRESHOLD 3.0
#define MOST_SPURIOUS 0.25

#define RELEASE_POWER 1.5
#define WEIGHT_FACTOR 1.5

/* Weights below this part of a threshold are not looked at. */
#define LEAST_WEIGHT (1.0 / 64)

#define STEP_FACTOR 1.25
#define GAIN_POWER 0.8
#define ITERATIONS 60

/* No length's part falls below this part of an equal one. */
#define LEAST_PART 0.01

/* A yield of which nothing else is known goes with this power of the budget. */
#define YIELD_POWER 0.55

/* How far forecasts go, and are trusted. */
typedef struct Trust
{
	double distant;		/* d: by length */
	double least_ratio; /* of one length's yield to that of the length before */
	double most_ratio;
} Trust;

static const Trust independent = {.distant = 0.8, .least_ratio = 0.6, .most_ratio = 1e6};
static const Trust chained = {.distant = 0.7, .least_ratio = 0.3, .most_ratio = 1.2};

typedef struct Schedule
{
	Forecast forecast;
	Trust trust;
	double equal;						 /* an equal part of the budget */
	double threshold;					 /* of length k, standard deviations */
	double counted[FORECAST_MAX_LEVELS]; /* yields with equal parts, by the forecast */
	double believed[FORECAST_MAX_LEVELS];
} Schedule;

/* What the forecast has for length k + j with the budget mu2. */
static double
counted_yield(const Schedule *schedule, int j, double mu2)
{
	double z = j == 0 ? schedule->threshold : LATER_THRESHOLD;
	double yield = 0;

	for (int bin = 0; bin < FORECAST_BINS; bin++)
	{
		double weight = WEIGHT_FACTOR * forecast_weight(&schedule->forecast, bin) * sqrt(mu2) / z;

		if (schedule->forecast.count[j][bin] > 0)
			yield += schedule->forecast.count[j][bin] / (1 + pow(weight, -RELEASE_POWER));
	}
	return yield;
}

/* The same as far as it is believed. */
static double
yield(const Schedule *schedule, int j, double mu2)
{
	double counted = schedule->counted[j];
	double believed = schedule->believed[j];

	if (counted < believed)
		return believed * pow(mu2 / schedule->equal, YIELD_POWER);
	return counted == 0 ? 0 : counted_yield(schedule, j, mu2) * (believed / counted);
}

static void
believe(Schedule *schedule)
{
	for (int j = 0; j < schedule->forecast.levels; j++)
	{
		double counted = counted_yield(schedule, j, schedule->equal);
		double before = j == 0 ? counted : schedule->believed[j - 1];

		schedule->counted[j] = schedule->believed[j] = counted;
		if (j > 0)
			schedule->believed[j] = Min(Max(counted, before * schedule->trust.least_ratio),
										before * schedule->trust.most_ratio);
	}
}

/* One step of the iteration: from parts to better parts. */
static void
improve(const Schedule *schedule, double *part)
{
	int levels = schedule->forecast.levels;
	double gain[FORECAST_MAX_LEVELS];
	double gains = 0;
	double sum = 0;

	for (int j = 0; j < levels; j++)
	{
		double mu2 = part[j] * levels * schedule->equal;
		double more = yield(schedule, j, mu2 * STEP_FACTOR) - yield(schedule, j, mu2 / STEP_FACTOR);

		gain[j] = pow(Max(more, 1e-12), GAIN_POWER) * pow(schedule->trust.distant, j);
		gains += gain[j];
	}
	for (int j = 0; j < levels; j++)
	{
		part[j] = sqrt(part[j] * Max(gain[j] / gains, LEAST_PART / levels));
		sum += part[j];
	}
	for (int j = 0; j < levels; j++)
		part[j] /= sum;
}

/* What there may be from length k on, to share the budget "rest". */
static Schedule *
schedule_make(const ScheduleInput *in, int k, double rest)
{
	Schedule *schedule = palloc(sizeof(Schedule));
	double p = MOST_SPURIOUS;

	if (in->members > 0)
		p = Min(p, in->spurious * Min(1, in->previous.n / in->members));
	if (dp_normal_isf(p, &schedule->threshold) != DP_OK)
		schedule->threshold = LATER_THRESHOLD;
	schedule->trust = k == 2 ? independent : chained;
	schedule->equal = rest / (in->max_length - k + 1);
	forecast_make(in, k, LATER_THRESHOLD * LEAST_WEIGHT / sqrt(rest), &schedule->forecast);
	believe(schedule);
	return schedule;
}

/* How many n-grams length k is forecast to release with the budget mu2. */
double
schedule_yield(const ScheduleInput *in, int k, double mu2)
{
	Schedule *schedule = schedule_make(in, k, mu2);
	double released = yield(schedule, 0, mu2);

	pfree(schedule);
	return released;
}

/* The part that length k gets of "rest", which is for all lengths from k on. */
static double
forecast_part(const ScheduleInput *in, int k, double rest)
{
	Schedule *schedule = schedule_make(in, k, rest);
	double part[FORECAST_MAX_LEVELS];
	int levels = in->max_length - k + 1;

	for (int j = 0; j < levels; j++)
		part[j] = 1.0 / levels;
	for (int i = 0; i < ITERATIONS; i++)
		improve(schedule, part);
	pfree(schedule);
	return part[0];
}

/*
 * What length k gets at least: long n-grams are few, and each takes as much budget as a
 * short one, so the floor rises from an even share to twice that.
 */
static double
length_floor(const ScheduleInput *in, int k)
{
	return in->floor * in->whole / in->max_length * Max(1, 2.0 * k / in->max_length);
}

/* The budget of length k >= 2: more than 0, and at most what is left. */
double
schedule_level(const ScheduleInput *in, int k)
{
	double floors = 0;
	double shares = 0;
	double rest;

	if (k == in->max_length)
		return in->left;
	for (int j = k; j <= in->max_length; j++)
	{
		floors += length_floor(in, j);
		shares += in->ratio > 0 ? pow(in->ratio, 2.0 * (k - j)) : 0;
	}
	if (in->ratio > 0)
		return Min(in->left, in->left / shares);
	rest = in->left - floors;
	if (!(rest > 0))
		return Min(in->left, in->left * (length_floor(in, k) / floors));
	return Min(in->left, length_floor(in, k) + rest * forecast_part(in, k, rest));
}
