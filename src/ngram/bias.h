/*
 * bias.h
 *	  Which n-grams of a level leave their weight to others in the next round.
 */
#ifndef DPNGRAM_BIAS_H
#define DPNGRAM_BIAS_H

#include "ngram/plan.h"

/* What bias_next() needs of a round, in lattice units of the statistic. */
typedef struct BiasRound
{
	double win_doubt;  /* an n-gram's sum is taken for so much less, before it is called a winner */
	double win_margin; /* a winner goes on until it is expected so far above the threshold */
	double lose_doubt; /* the sum is taken for so much more, before it is called a loser */
	double lose_hope;  /* so much below the threshold is still worth trying */
	double rest;	   /* the sum of the coefficients of the rounds to come */
} BiasRound;

typedef struct BiasRules
{
	int rounds;
	BiasRound after[NGRAM_MAX_ROUNDS];
} BiasRules;

extern void bias_coefficients(int rounds, int64 *coefficient);
extern void bias_prepare(BiasRules *rules, const int64 *coefficient, int rounds, double deviation);
extern int bias_next(const BiasRules *rules, int round, int64 sum, int32 spent, int64 threshold);

#endif /* DPNGRAM_BIAS_H */
