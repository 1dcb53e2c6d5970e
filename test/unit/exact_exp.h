/*
 * exact_exp.h
 *	  Is a quotient of integers at most e^x?  Answered without floating point.
 */
#ifndef EXACT_EXP_H
#define EXACT_EXP_H

#include "common/dp_base.h"

/* A quotient of products of integers, of at most so many factors each. */
#define QUOTIENT_FACTORS 16

typedef struct Quotient
{
	int factors;
	dp_uint128 num[QUOTIENT_FACTORS];
	dp_uint128 den[QUOTIENT_FACTORS];
} Quotient;

extern bool quotient_at_most_exp(const Quotient *q, double x);
extern bool quotient_near_exp(const Quotient *q, double x, double tolerance);
extern bool exact_exp_encloses(double x, const char *low, const char *high);

#endif /* EXACT_EXP_H */
