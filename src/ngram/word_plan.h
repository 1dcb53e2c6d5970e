/*
 * word_plan.h
 *	  The words that many users share, released in rounds: what that costs.
 */
#ifndef DPNGRAM_WORD_PLAN_H
#define DPNGRAM_WORD_PLAN_H

#include "common/dp_base.h"

#define WORD_ROUNDS_MAX 6

typedef enum WordRoundsKind
{
	WORD_ROUNDS_ONE,	   /* the weighted Gaussian mechanism: one round */
	WORD_ROUNDS_SIPS,	   /* each round is judged by itself */
	WORD_ROUNDS_CUMULATIVE /* each round is judged by all noisy weights so far */
} WordRoundsKind;

/* One round; sigma, threshold and coefficient in integers, so that no rounding decides. */
typedef struct WordRound
{
	int64 sigma;	   /* of its noise, lattice units */
	int64 coefficient; /* of its noisy weight in the statistics from here on */
	int64 threshold;   /* of its statistic, lattice units times coefficients */
	double mu2;		   /* its price, rounded up */
	double stddev;	   /* of its statistic's noise, in the statistic's units */
	int64 divisor;	   /* what makes the statistic a weight in lattice units */
} WordRound;

/* With fewer words released, a round that adds none says little of those to come. */
#define WORDS_TO_STOP 10

/* What the rounds do and cost, fixed before any row is read. */
typedef struct WordRounds
{
	WordRoundsKind kind;
	int64 bound;	   /* words of a user */
	double stop_below; /* stop when a round adds less than this share of all; 0: never */
	int n;
	WordRound round[WORD_ROUNDS_MAX];
} WordRounds;

extern int word_rounds_count(WordRoundsKind kind);
extern double word_rounds_share(WordRoundsKind kind, int round);
extern DpStatus word_rounds_plan(WordRoundsKind kind, double mu2, double delta_t, int64 bound,
								 double stop_below, WordRounds *rounds);

#endif /* DPNGRAM_WORD_PLAN_H */
