/*
 * audit_dist.h
 *	  What the audits of distributions share: the worst neighbours of log features, and
 *	  prices by textbook forms.
 */
#ifndef DPNGRAM_AUDIT_DIST_H
#define DPNGRAM_AUDIT_DIST_H

#include "audit_crowd.h"

/* N users have an n-gram c times in all, one more has it d times and moves its feature. */
typedef struct WorstCase
{
	int64 users;
	int64 count;
	int64 added;
	double moved;
} WorstCase;

extern WorstCase worst_case(const DistQuery *query, double center);
extern Crowd *worst_crowd(uint32 vocabulary, int64 max_count, WorstCase worst);

#endif /* DPNGRAM_AUDIT_DIST_H */
