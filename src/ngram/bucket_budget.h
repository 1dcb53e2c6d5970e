/*
 * bucket_budget.h
 *	  Which predicted weights part V_k, and how many spurious n-grams each part may have.
 */
#ifndef DPNGRAM_BUCKET_BUDGET_H
#define DPNGRAM_BUCKET_BUDGET_H

#include "ngram/buckets.h"

/* The buckets' edges: 3 standard deviations of the level's noise, times 2^-6 .. 2^1. */
#define BUCKET_EDGES 8
#define BUCKETS (BUCKET_EDGES + 1)

/* No member of V_k is released on noise alone more often than this. */
#define MAX_RATE 0.25

/* A level's members of V_k and members of S_k, by bucket. */
typedef struct BucketYield
{
	uint64 members[BUCKETS];
	uint64 released[BUCKETS];
} BucketYield;

extern void bucket_edges(double stddev, double *edge);
extern void bucket_budget(const BucketYield *before, const uint64 *members, double bound,
						  double *rate);

#endif /* DPNGRAM_BUCKET_BUDGET_H */
