/*
 * exact_exp.h
 *	  Is a quotient of integers at most e^x?  Answered without floating point.
 */
#ifndef EXACT_EXP_H
#define EXACT_EXP_H

#include "postgres_fe.h"

/* A quotient of products of integers, of at most so many factors each; 1 fills up. */
#define QUOTIENT_FACTORS 4

typedef struct Quotient
{
	uint64 num[QUOTIENT_FACTORS];
	uint64 den[QUOTIENT_FACTORS];
} Quotient;

extern bool quotient_at_most_exp(const Quotient *q, double x);
extern bool quotient_near_exp(const Quotient *q, double x, double tolerance);
extern bool exact_exp_encloses(double x, const char *low, const char *high);

#endif /* EXACT_EXP_H */
