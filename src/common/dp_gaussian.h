/*
 * dp_gaussian.h
 *	  The calculus of Gaussian differential privacy: calibration, composition,
 *	  thresholds, and the slack that the integer lattice costs.
 */
#ifndef DP_GAUSSIAN_H
#define DP_GAUSSIAN_H

#include "common/dp_base.h"

extern DpStatus dp_gaussian_delta(double epsilon, double mu, double *delta);
extern DpStatus dp_gaussian_mu(double epsilon, double delta, double *mu);
extern DpStatus dp_gaussian_epsilon(double mu, double delta, double *epsilon);
extern double dp_compose_mu(const double *mu, int n);

extern double dp_slack_epsilon(double mu, int64 keys);
extern double dp_slack_rounds(double mu, int64 keys, int decided);
extern double dp_slack_delta(int64 keys);
extern double dp_tail_mu(int64 keys);

extern DpStatus dp_union_threshold(double sigma, double delta, int64 max_items,
								   double *rho);
extern DpStatus dp_lattice_tail(int64 sigma, int64 bound, double *p);
extern DpStatus dp_lattice_threshold(int64 sigma, double p, int64 *bound);
extern DpStatus dp_lattice_tail_real(long double sigma, int64 bound, double *p);
extern DpStatus dp_lattice_threshold_real(long double sigma, double p, int64 *bound);

extern int64 dp_lattice_weight(uint64 items);

#endif /* DP_GAUSSIAN_H */
