/*
 * dp_clopper.h
 *	  What counts of an event prove: bounds on its rate, and on the epsilon of a
 *	  mechanism under which it shows so often in two worlds.
 */
#ifndef DP_CLOPPER_H
#define DP_CLOPPER_H

#include "common/dp_base.h"

/* Up to here GSL's incomplete beta function is known to be as exact as is assumed. */
#define DP_CLOPPER_MAX_TRIALS 1000000
#define DP_CLOPPER_MIN_ALPHA 1e-8

/* How often an event was seen, in how many trials. */
typedef struct DpTrials
{
	int64 hits;
	int64 trials;
} DpTrials;

extern DpStatus dp_clopper_pearson(DpTrials seen, double alpha, double *low, double *high);
extern DpStatus dp_audit_epsilon(DpTrials with, DpTrials without, double delta, double alpha,
								 double *epsilon);

#endif /* DP_CLOPPER_H */
