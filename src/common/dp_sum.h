/*
 * dp_sum.h
 *	  Sums of many numbers whose error does not grow with how many they are.
 *
 * Kahan's compensated summation as Neumaier improved it (Zeitschrift fuer
 * Angewandte Mathematik und Mechanik 54, 1974, pages 39 to 51): what each addition
 * rounds off is itself summed.  The error is about one unit in the last place of the
 * sum, plus n 2^-106 of the sum of absolute values, in whatever order and in however
 * many partial sums the numbers come.
 */
#ifndef DP_SUM_H
#define DP_SUM_H

#include "common/dp_base.h"

#include <math.h>

typedef struct DpSum
{
	double sum;
	double rest; /* what the additions rounded off */
} DpSum;

/* An infinite sum stays what it is; of opposite infinities it becomes NaN. */
static inline void
dp_sum_add(DpSum *total, double number)
{
	double sum = total->sum + number;

	if (!isfinite(sum))
		total->rest = 0;
	else if (fabs(total->sum) >= fabs(number))
		total->rest += (total->sum - sum) + number;
	else
		total->rest += (number - sum) + total->sum;
	total->sum = sum;
}

static inline double
dp_sum_value(const DpSum *total)
{
	return total->sum + total->rest;
}

#endif /* DP_SUM_H */
