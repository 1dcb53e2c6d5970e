/*
 * audit_rounds.h
 *	  What the audits of dpne-mr share: plans by hand, and what a released row says of the
 *	  rounds that it went through.
 */
#ifndef DPNGRAM_AUDIT_ROUNDS_H
#define DPNGRAM_AUDIT_ROUNDS_H

#include "audit.h"
#include "common/dp_combination.h"
#include "common/dp_weights.h"
#include "ngram/bucket_budget.h"

/* The rounds of one level, as the log of the noise has them. */
typedef struct LevelNoise
{
	int rounds;
	int64 coefficient[NGRAM_MAX_ROUNDS];
	int64 sigma[NGRAM_MAX_ROUNDS];
	int64 total;		   /* of the coefficients */
	dp_uint128 variance;   /* of the statistic of what nobody has */
	long double deviation; /* its root */
} LevelNoise;

/* A row's weight and standard deviation, taken apart. */
typedef struct RowHistory
{
	int64 statistic; /* sum of coefficient times noisy weight */
	int64 spent;	 /* sum of coefficient times bias, 1 to total * DP_BIAS_ONE */
	bool on_lattice; /* both are integers, and the row says what they make */
} RowHistory;

extern NgramPlan rounds_plan(int max_length, NgramPruning pruning, int rounds, double mu2,
							 double spurious);
extern NgramSchedule audit_schedule(const char *name, double *ratio);
extern bool level_noise(LevelNoise *noise, int level, int rounds);
extern RowHistory row_history(const LevelNoise *noise, GramWeight weight);
extern int bucket_of_prediction(const LevelNoise *noise, double predicted);
extern long double combined_tail(const LevelNoise *noise, int64 bound);

#endif /* DPNGRAM_AUDIT_ROUNDS_H */
