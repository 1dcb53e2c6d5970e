/*
 * test_keep.c
 *	  The probabilities by which items of n users are kept: both inequalities of
 *	  differential privacy, for every n, without floating point; and that they are
 *	  nearly the largest that these allow.
 */
#include "common/dp_keep.h"

#include <math.h>

#include "exact_exp.h"
#include "tap.h"

/* Longer sequences than this are not followed to their end. */
#define MOST_STEPS 3000

/* Is (p - delta) / q <= exp(epsilon)? */
static bool
within(uint64 p, uint64 q, uint64 delta, double epsilon)
{
	Quotient quotient = {.factors = 1};

	if (p <= delta)
		return true;
	if (q == 0)
		return false;
	quotient.num[0] = p - delta;
	quotient.den[0] = q;
	return quotient_at_most_exp(&quotient, epsilon);
}

/* The definition, in floating point. */
static long double
next_exact(long double p, double epsilon, double delta)
{
	long double grown = expl(epsilon) * p + delta;
	long double kept = 1 - expl(-(long double) epsilon) * (1 - p - delta);

	return fminl(1, fminl(grown, kept));
}

/* From one user on, until an item is kept for certain. */
static void
follow(double epsilon, double delta)
{
	DpKeep keep;
	uint64 p = 0;
	long double exact = 0;
	bool added = true;
	bool removed = true;
	bool rises = true;
	double off = 0;
	int n = 0;

	if (dp_keep_prepare(epsilon, delta, &keep) != DP_OK)
	{
		ok(false, "epsilon %g, delta %g: factors", epsilon, delta);
		return;
	}
	for (; n < MOST_STEPS && p < DP_KEEP_ONE; n++)
	{
		uint64 next = dp_keep_next(&keep, p);

		added = added && within(next, p, keep.delta, epsilon);
		removed = removed && within(DP_KEEP_ONE - p, DP_KEEP_ONE - next, keep.delta, epsilon);
		rises = rises && next >= p && next <= DP_KEEP_ONE;
		exact = next_exact(exact, epsilon, delta);
		p = next;
		off = fmax(off, (double) fabsl(ldexpl(p, -DP_KEEP_BITS) - exact));
	}
	ok(ldexp((double) keep.delta, -DP_KEEP_BITS) <= delta, "epsilon %g, delta %g: delta", epsilon,
	   delta);
	ok(added, "epsilon %g, delta %g: kept no likelier than allowed, %d steps", epsilon, delta,
	   n);
	ok(removed, "epsilon %g, delta %g: and so is not kept", epsilon, delta);
	ok(rises, "epsilon %g, delta %g: it never falls", epsilon, delta);
	/* a delta of few units is rounded by as much */
	ok(off < 1e-9 + 8.0 / keep.delta, "epsilon %g, delta %g: as defined, within %g", epsilon,
	   delta, off);
	ok(n == MOST_STEPS || p == DP_KEEP_ONE, "epsilon %g, delta %g: certain in the end", epsilon,
	   delta);
}

static void
test_domain(void)
{
	DpKeep keep;

	ok(dp_keep_prepare(0, 0.1, &keep) == DP_ERR_DOMAIN, "epsilon 0");
	ok(dp_keep_prepare(NAN, 0.1, &keep) == DP_ERR_DOMAIN, "epsilon not a number");
	ok(dp_keep_prepare(1, 0, &keep) == DP_ERR_DOMAIN, "delta 0");
	ok(dp_keep_prepare(1, 1, &keep) == DP_ERR_DOMAIN, "delta 1");
	ok(dp_keep_prepare(1, 1e-19, &keep) == DP_ERR_RANGE, "delta of no unit");
	ok(dp_keep_prepare(1e300, 1e-6, &keep) == DP_OK && dp_keep_next(&keep, 0) == keep.delta,
	   "a huge epsilon: one user is still seen by delta alone");
	ok(dp_keep_prepare(1e-300, 0.25, &keep) == DP_OK &&
		   dp_keep_next(&keep, DP_KEEP_ONE / 4) <= DP_KEEP_ONE / 2,
	   "no epsilon to speak of: delta more for each user");
}

int
main(void)
{
	const double epsilons[] = {1e-3, 0.1, 0.7, 1, 2.5, 20, 60};
	const double deltas[] = {1e-18, 1e-10, 1e-6, 0.01, 0.3, 0.999};

	test_domain();
	for (int i = 0; i < (int) lengthof(epsilons); i++)
		for (int j = 0; j < (int) lengthof(deltas); j++)
			follow(epsilons[i], deltas[j]);
	return tap_done();
}
