/*
 * dp_zcdp.h
 *	  The calculus of zero-concentrated differential privacy: what a rho
 *	  promises, and what rho (or mu) a pure mechanism costs.
 */
#ifndef DP_ZCDP_H
#define DP_ZCDP_H

#include "common/dp_base.h"

extern DpStatus dp_zcdp_delta(double rho, double epsilon, double *delta);
extern DpStatus dp_zcdp_rho(double epsilon, double delta, double *rho);
extern DpStatus dp_zcdp_epsilon(double rho, double delta, double *epsilon);

extern double dp_pure_to_rho(double epsilon);
extern double dp_exponential_to_rho(double epsilon);
extern double dp_pure_to_mu(double epsilon);

#endif /* DP_ZCDP_H */
