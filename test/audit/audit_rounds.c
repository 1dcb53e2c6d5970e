/*
 * audit_rounds.c
 *	  What the audits of dpne-mr share: plans by hand, and what a released row says of the
 *	  rounds that it went through.
 */
#include "postgres.h"

#include <math.h>

#include "audit_rounds.h"
#include "ngram/bias.h"

/*
 * A plan of dpne-mr by hand.  Level 1 has next to no noise and no threshold, and costs
 * nothing, so that S_1 is every word that somebody wrote and the levels above have all
 * of mu^2.
 */
NgramPlan
rounds_plan(int max_length, NgramPruning pruning, int rounds, double mu2, double spurious)
{
	NgramPlan plan = world_plan(max_length, pruning, spurious);

	plan.query.method = METHOD_DPNE_MR;
	plan.query.schedule = SCHEDULE_RATIO;
	plan.query.rounds = rounds;
	plan.mu2 = mu2;
	plan.words = (WordRounds){.kind = WORD_ROUNDS_CUMULATIVE, .bound = DP_MAX_KEYS, .n = 1};
	plan.words.round[0] = (WordRound){.sigma = 1, .coefficient = 1, .stddev = 1, .divisor = 1};
	return plan;
}

/* A schedule by its name, or a ratio by its digits. */
NgramSchedule
audit_schedule(const char *name, double *ratio)
{
	NgramSchedule schedule;

	*ratio = 1;
	if (ngram_schedule_by_name(name, &schedule))
		return schedule;
	*ratio = atof(name);
	if (!(*ratio > 0))
		elog(ERROR, "unknown schedule \"%s\"", name);
	return SCHEDULE_RATIO;
}

/*
 * What noise the rounds of a level were drawn with since audit_log_clear(); false if
 * none was.
 */
bool
level_noise(LevelNoise *noise, int level, int rounds)
{
	memset(noise, 0, sizeof(*noise));
	noise->rounds = rounds;
	bias_coefficients(rounds, noise->coefficient);
	for (int j = 0; j < rounds; j++)
	{
		dp_uint128 part;

		noise->sigma[j] = audit_log_sigma(NOISE_ROUND(level, j));
		if (noise->sigma[j] == 0)
			return false;
		part = (dp_uint128) noise->coefficient[j] * noise->sigma[j];
		noise->variance += part * part;
		noise->total += noise->coefficient[j];
	}
	noise->deviation = sqrtl((long double) noise->variance);
	return true;
}

/* Integers out of doubles: weight = statistic / unit, stddev = deviation / unit. */
RowHistory
row_history(const LevelNoise *noise, GramWeight weight)
{
	RowHistory row;
	double spent = (double) noise->deviation / weight.stddev * DP_BIAS_ONE / DP_LATTICE_ONE;
	double unit;

	row.spent = (int64) rint(spent);
	unit = ldexp((double) row.spent / DP_BIAS_ONE, DP_LATTICE_BITS);
	row.statistic = (int64) rint(weight.value * unit);
	row.on_lattice = row.spent >= noise->total && row.spent <= noise->total * DP_BIAS_ONE &&
					 weight.stddev == (double) noise->deviation / unit &&
					 weight.value == (double) row.statistic / unit;
	return row;
}

/* P(S > bound) for the statistic S of what nobody has: variance so large that 1/2 corrects. */
long double
combined_tail(const LevelNoise *noise, int64 bound)
{
	return normal_tail((bound + 0.5L) / noise->deviation);
}

/* The bucket of a member of V_k that is predicted to weigh so much: edges are public. */
int
bucket_of_prediction(const LevelNoise *noise, double predicted)
{
	double edge[BUCKET_EDGES];
	int bucket = 0;

	bucket_edges((double) noise->deviation / ldexp((double) noise->total, DP_LATTICE_BITS), edge);
	while (bucket < BUCKET_EDGES && predicted > edge[bucket])
		bucket++;
	return bucket;
}
