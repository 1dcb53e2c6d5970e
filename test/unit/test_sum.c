/*
 * test_sum.c
 *	  Compensated sums, where plain ones lose digits or all of them.
 */
#include "common/dp_sum.h"

#include "tap.h"

static double
sum_of(const double *number, int n)
{
	DpSum sum = {0};

	for (int i = 0; i < n; i++)
		dp_sum_add(&sum, number[i]);
	return dp_sum_value(&sum);
}

/* Neumaier's own example, which Kahan's original summation gets wrong, and in any order. */
static void
test_cancellation(void)
{
	const double small_first[] = {1, 1e100, 1, -1e100};
	const double large_first[] = {1e100, -1e100, 1, 1};
	const double two[] = {1e16, 1, 1, -1e16};

	ok(sum_of(small_first, 4) == 2, "1 + 1e100 + 1 - 1e100");
	ok(sum_of(large_first, 4) == 2, "1e100 - 1e100 + 1 + 1");
	ok(sum_of(two, 4) == 2, "1e16 + 1 + 1 - 1e16");
}

/* A tenth is 0.1000000000000000055511151231257827..., and ten million of them that often. */
static void
test_length(void)
{
	DpSum whole = {0};
	DpSum part[3] = {{0}};
	DpSum merged = {0};
	double plain = 0;

	for (int i = 0; i < 10000000; i++)
	{
		dp_sum_add(&whole, 0.1);
		dp_sum_add(&part[i % 3], 0.1);
		plain += 0.1;
	}
	for (int i = 0; i < 3; i++)
	{
		dp_sum_add(&merged, part[i].sum);
		dp_sum_add(&merged, part[i].rest);
	}
	ok(dp_sum_value(&whole) == 1000000, "ten million tenths");
	ok(dp_sum_value(&merged) == 1000000, "the same in three parts");
	ok(plain != 1000000, "which a plain sum misses");
}

static void
test_infinite(void)
{
	DpSum sum = {0};

	dp_sum_add(&sum, 1);
	dp_sum_add(&sum, INFINITY);
	ok(dp_sum_value(&sum) == INFINITY, "an infinite term");
	dp_sum_add(&sum, -1e300);
	ok(dp_sum_value(&sum) == INFINITY, "stays");
	dp_sum_add(&sum, -INFINITY);
	ok(isnan(dp_sum_value(&sum)), "infinities do not cancel");
	ok(sum_of(NULL, 0) == 0, "nothing");
}

int
main(void)
{
	test_cancellation();
	test_length();
	test_infinite();
	return tap_done();
}
