/*
 * bias.h
 *	  Which n-grams of a level leave their weight to others in the next round.
 */
#ifndef DPNGRAM_BIAS_H
#define DPNGRAM_BIAS_H

#include "ngram/plan.h"

typedef struct BiasRules
{
	int rounds;
	double deviation;				   /* of the statistic after all rounds */
	double done[NGRAM_MAX_ROUNDS + 1]; /* the share of all coefficients in rounds 0 .. j - 1 */
	double total;
} BiasRules;

extern void bias_coefficients(int rounds, int64 *coefficient);
extern void bias_prepare(BiasRules *rules, const int64 *coefficient, int rounds, double deviation);
extern int bias_next(const BiasRules *rules, int round, int64 sum, int32 spent, int64 threshold);

#endif /* DPNGRAM_BIAS_H */
