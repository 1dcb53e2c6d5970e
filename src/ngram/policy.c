/*
 * policy.c
 *	  What one user adds to the sums of a set union under a policy that looks at
 *	  what others have added before (Gopi et al. 2020, "Policy Gaussian" and
 *	  "Policy Laplace"): nothing to items whose sum has reached the cutoff Gamma.
 *
 * Users come one after the other, in an order that does not depend on who else is
 * there.  Let g >= 0 be the vector of the gaps Gamma - h(u) on the user's own
 * items u; a user changes g to T(g), and leaves all other items alone.  Adding or
 * removing a user v has two effects: v's own step, of norm at most 1, and that
 * all who come after v find other sums.  The latter does no harm if T is
 * non-expansive: if the sums of the two worlds differ by d before a user's step,
 * they differ by no more after it.
 *
 * Gaussian policy, l2.  T(g) = g - min(1, |g|) g/|g|.  The second term is the
 * projection P(g) of g to the unit ball.  Projections P to a convex set satisfy
 * <P(g) - P(g'), g - g'> >= |P(g) - P(g')|^2, and then
 *
 *	|T(g) - T(g')|^2 = |g - g'|^2 - 2 <P(g) - P(g'), g - g'> + |P(g) - P(g')|^2
 *					<= |g - g'|^2.
 *
 * On the lattice it is rounded.  Z = ceil(sqrt(sum g^2)), all integers; if Z <= one
 * the gaps are closed, exactly; else a step of floor(one g / Z) is short of the
 * exact one g/|g| by r + f, 0 <= f < 1 in each coordinate, and r = one g (1/|g| -
 * 1/Z) has norm one (Z - |g|)/Z < 1, and no negative coordinate.  So with n items
 * two worlds come apart by less than sqrt(n) + sqrt(2) units in a user's step, and
 * over N users by less than N (sqrt(D) + 2) units, which the caller must pay for
 * (set_union.c).  Rounding is no mere formality: against coarse lattices it can be
 * made to add up (test/audit).
 *
 * Laplace policy, l1, in integers and without any loss.  The user has "one" units,
 * and gives them out one at a time: round and round in a fixed order of the items,
 * to each whose gap isn't closed.  So T(g)_u = max(0, g_u - c_u), where the c_u
 * are at a level (a, k) a + 1 for the first k items of the order and a for the
 * others, and the level is the lowest at which sum min(g_u, c_u) = min(one, sum g).
 * T is non-expansive by the lemma of Crandall and Tartar (1980), for it is
 *
 *	monotone: if g <= g', the same level takes no less from g', so that it needs no
 *	higher one: c' <= c, and T(g) <= T(g'); and
 *	total: sum T(g) = max(0, sum g - one) =: s(sum g), s rising by no more than its
 *	argument does.
 *
 * With M = max(g, g'), coordinate by coordinate, T(g) <= T(M) and T(g') <= T(M), so
 *
 *	sum (T(g) - T(g'))+ <= sum T(M) - T(g') <= sum M - g' = sum (g - g')+,
 *
 * likewise with g and g' exchanged, and the sum of both is the claim.
 *
 * An item that only one user has.  Such a user's t items all have the gap Gamma,
 * and no item's gap is larger.  Gaussian: |g| >= Gamma sqrt(t), so each gets at
 * most one / sqrt(t), rounded down.  Laplace: each gets at most a + 1, and if t a
 * were "one", no item would get more than a; so at most ceil(one / t).
 */
#include "postgres.h"

#include <math.h>

#include "common/dp_audit.h"
#include "ngram/policy.h"

#define ST_SORT sort_gaps
#define ST_ELEMENT_TYPE int64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* ceil(sqrt(x)), x < 2^126. */
static uint64
root_up(dp_uint128 x)
{
	uint64 root = (uint64) sqrt((double) x);

	if (x == 0)
		return 0;
	/* a step of Newton's method from within 2^-52 of it leaves an error of one or two */
	root = (uint64) ((root + x / root) / 2);
	while ((dp_uint128) root * root >= x)
		root--;
	while ((dp_uint128) root * root < x)
		root++;
	return root;
}

/* A user of the Gaussian policy. */
void
policy_gaussian_step(int64 *sum, const uint32 *id, uint32 n, int64 cutoff, int64 one)
{
	dp_uint128 squares = 0;
	uint64 norm;

	Assert(cutoff < INT64CONST(1) << POLICY_BITS && one <= INT64CONST(1) << POLICY_BITS);

	for (uint32 i = 0; i < n; i++)
	{
		int64 gap = Max(cutoff - sum[id[i]], 0);

		squares += (dp_uint128) gap * gap;
	}
	norm = root_up(squares);
	for (uint32 i = 0; i < n; i++)
	{
		int64 gap = Max(cutoff - sum[id[i]], 0);

		if (norm <= (uint64) one)
			sum[id[i]] += gap;
		else
			sum[id[i]] += (int64) ((dp_uint128) gap * one / norm);
	}
}

/*
 * A user of the Laplace policy; the order of the ids is the one in which units are
 * given out, and must not depend on the sums.  gap: room for n numbers.
 */
void
policy_laplace_step(int64 *sum, const uint32 *id, uint32 n, int64 cutoff, int64 one, int64 *gap)
{
	int64 level = Max(cutoff, 0); /* no gap is larger */
	int64 left = one;
	int64 open = 0;

	for (uint32 i = 0; i < n; i++)
		gap[i] = Max(cutoff - sum[id[i]], 0);
	sort_gaps(gap, n);
	/* the smallest gaps are closed, as far as the others can get as much */
	for (uint32 i = 0; i < n; i++)
	{
		if (gap[i] > left / (n - i))
		{
			level = left / (n - i);
			open = left % (n - i);
			if (DP_SABOTAGED(SABOTAGE_NEAREST))
				open = 2 * open >= n - i ? n - i : 0;
			break;
		}
		left -= gap[i];
	}
	for (uint32 i = 0; i < n; i++)
	{
		int64 missing = Max(cutoff - sum[id[i]], 0);

		if (missing <= level)
			sum[id[i]] += missing;
		else
			sum[id[i]] += level + (open-- > 0 ? 1 : 0);
	}
}
