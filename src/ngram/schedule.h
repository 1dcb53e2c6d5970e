/*
 * schedule.h
 *	  How much of what is left of dpne-mr's budget the next length gets.
 */
#ifndef DPNGRAM_SCHEDULE_H
#define DPNGRAM_SCHEDULE_H

#include "ngram/gram_weight.h"

/*
 * What short n-grams of every length get at least, as a share of an equal part of the
 * whole, and the longest ones twice: so much that no length has fewer n-grams than by
 * dpne, or as little as keeps a length alive.
 */
#define SCHEDULE_FLOOR_BALANCED 0.3
#define SCHEDULE_FLOOR_ADAPTIVE 0.02

/* A released set: members in the order of a GramSet, with its keys. */
typedef struct ScheduleSet
{
	uint32 n;
	const uint64 *key; /* not used of S_1 */
	const GramWeight *weight;
} ScheduleSet;

/* All of it is public: released, or said by the caller. */
typedef struct ScheduleInput
{
	int max_length;		  /* T */
	double ratio;		  /* of each length's noise to the one before, or 0: by forecast */
	double floor;		  /* by forecast: see above */
	double whole;		  /* mu^2 of all lengths */
	double left;		  /* of it, > 0 */
	double spurious;	  /* eta */
	bool single_side;	  /* V_k is S_{k-1} x S_1, and keys hold no suffix */
	ScheduleSet words;	  /* S_1 */
	ScheduleSet previous; /* S_{k-1} */
	ScheduleSet middles;  /* S_{k-2}, for k >= 3 */
	double members;		  /* of V_k */
} ScheduleInput;

extern double schedule_level(const ScheduleInput *in, int k);
extern double schedule_yield(const ScheduleInput *in, int k, double mu2);

#endif /* DPNGRAM_SCHEDULE_H */
