/*
 * dp_calibrate.h
 *	  From (epsilon, delta) to the noise of several Gaussian steps on the lattice.
 */
#ifndef DP_CALIBRATE_H
#define DP_CALIBRATE_H

#include "common/dp_base.h"

/*
 * One histogram of l2 sensitivity 1; or several, one after the other and each chosen when
 * the ones before are public, whose mu_j^2 sum to no more than the step's mu^2 however
 * they are chosen.  Its sigma is then that of one histogram of the same mu.
 */
typedef struct DpStep
{
	double share; /* of the whole: mu_i / mu; the squares sum to 1 */
	int64 keys;	  /* coordinates that one user touches, at most (in each round) */
	int rounds;	  /* how many histograms, at most; 0 is 1 */
	int decided;  /* how often, at most, one computed tail decides about a coordinate of nobody */
} DpStep;

/* How a call's epsilon is divided. */
typedef struct DpDivision
{
	double pure_reserve; /* of epsilon, at least; the lattice's slack if that is more */
	double pure_limit;	 /* of epsilon, at most: more noise if the slack needs more; 0: none */
	bool zcdp;			 /* noise by zero-concentrated differential privacy alone */
} DpDivision;

/* What steps cost: upper bounds. */
typedef struct DpStepsPrice
{
	double mu2;		 /* sum of (sensitivity / sigma)^2 */
	double eps_pure; /* the lattice's slack */
	double tail_rho; /* what of the slack is left where discrete noise has a price of its own */
} DpStepsPrice;

/* price = computed * this: more than what rounding of doubles can have lost */
#define DP_ROUND_UP (1.0 + 1e-12)

extern DpStatus dp_calibrate(const DpStep *steps, int n, double epsilon, double delta,
							 DpDivision division, double *mu);
extern DpStatus dp_step_sigma(double mu, int64 *sigma);
extern double dp_step_mu2(int64 sigma);
extern DpStatus dp_step_threshold(int64 sigma, double delta, int64 max_items,
								  int64 *threshold);
extern DpStepsPrice dp_steps_price(const DpStep *steps, const int64 *sigma, int n);
extern double dp_steps_tail(const DpStep *steps, int n);

#endif /* DP_CALIBRATE_H */
