/*
 * laws.h
 *	  Whether draws follow a law: cells, their exact probabilities, chi-square.
 *
 * Every probability here comes from libm's erfcl and expl or from plain sums,
 * never from the code under test.
 */
#ifndef LAWS_H
#define LAWS_H

#include "common/dp_random.h"

/* One false alarm in a million true tests. */
#define ALARM 1e-6

#define LAW_CELLS 160

/* Cell i holds the integers above[i] < x <= above[i + 1]. */
typedef struct Law
{
	int cells;
	int64 above[LAW_CELLS + 1];
	double p[LAW_CELLS];
	uint64 seen[LAW_CELLS];
	uint64 outside; /* draws beyond the outermost cells */
} Law;

/* The upper tail P(X > x) of a law; context as the law likes it. */
typedef long double (*LawTail)(int64 x, const void *context);

extern void law_from_tail(Law *law, int cells, int64 from, int64 step, LawTail tail,
						  const void *context);
extern void law_gaussian(Law *law, long double sigma, int64 bound);
extern void law_binomial(Law *law, uint64 n, uint64 num);
extern void law_count(Law *law, int64 x);
extern double law_p_value(const Law *law);
extern double chi_square_p(const uint64 *seen, const double *p, int cells);

#endif /* LAWS_H */
