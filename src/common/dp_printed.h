/*
 * dp_printed.h
 *	  The noise of Ramadan, Withers and Orr's mechanism as it is printed, which is not
 *	  differentially private.
 */
#ifndef DP_PRINTED_H
#define DP_PRINTED_H

#include "common/dp_base.h"

/* A vocabulary's counts, with what dp_printed_prepare() derives from them. */
typedef struct DpPrintedCounts
{
	int words;			 /* |V| */
	const double *count; /* c_i, of every user at most max_count */
	const int64 *users;	 /* N_i */
	double weight_slope; /* S */
	int64 max_count;	 /* C */
	double mean;		 /* of ln(1 + c_i) over the vocabulary */
	double weights;		 /* the sum of w_i^2 over the vocabulary */
} DpPrintedCounts;

extern void dp_printed_prepare(DpPrintedCounts *counts);
extern double dp_printed_user_norm(const DpPrintedCounts *counts, const uint32 *word,
								   const int64 *count, int n);
extern double dp_printed_worst_case(const DpPrintedCounts *counts);
extern double dp_printed_sigma(double rho, double gamma, double epsilon, double delta);

#endif /* DP_PRINTED_H */
