/*
 * dp_posterior.h
 *	  The log-space mechanism for counts with a public prior: its feature, the
 *	  feature's global sensitivity, and the way from logarithms to probabilities.
 */
#ifndef DP_POSTERIOR_H
#define DP_POSTERIOR_H

#include "common/dp_base.h"

extern double dp_log_weight(int64 users, double weight_slope, int64 max_count);
extern double dp_log_feature(int64 users, int64 count, double weight_slope, int64 max_count,
							 double center);
extern DpStatus dp_log_sensitivity(double weight_slope, int64 max_count, double center,
								   double *sensitivity);
extern DpStatus dp_log_best_center(double weight_slope, int64 max_count, double *center);

extern double dp_center_log(const double *count, int n, double *centered);
extern void dp_softmax(double *h, int n);

#endif /* DP_POSTERIOR_H */
