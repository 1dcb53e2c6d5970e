/*
 * dp_select.c
 *	  A private choice among released candidates: permute-and-flip, drawn exactly,
 *	  because it errs least of all choices of its kind and needs no real noise.
 *
 * R. McKenna and D. Sheldon, "Permute-and-Flip: A new mechanism for differentially
 * private selection" (NeurIPS 2020).  Candidates come in random order; the k-th, of
 * cost q_k, is taken with probability
 *
 *	a_k = exp(-epsilon (q_k - q_min) / Delta),
 *
 * so that at the latest the one of least cost is taken.  The costs must be monotone:
 * a user who joins moves all of them the same way (each by 0 .. Delta, or each by
 * -Delta .. 0), as sums over users of terms in [0, Delta] do.
 *
 * The law.  Give every candidate the score s_k = -q_k + E_k with E_k exponential of
 * mean Delta/epsilon, independent, and take the largest.  With B the set of those
 * above -q_min, k is in B with probability a_k, independently, and B is not empty.
 * By the exponential's lack of memory the excesses over -q_min are alike within B, so
 * the largest is uniform on B; the first of B in random order is what permute-and-flip
 * takes (Ding, Kifer, Steinke, Wang, Xiao and Zhang, "The Permute-and-Flip Mechanism is
 * Identical to Report-Noisy-Max with Exponential Noise", 2021).
 *
 * Privacy.  Hold all noise but E_k: k is taken if E_k exceeds t = q_k + max over j != k
 * of (E_j - q_j).  When all costs move the same way, each by at most Delta, both q_k
 * and the maximum move by at most Delta and opposite ways, so that t grows by at most
 * Delta, and P(E_k > t + Delta) >= exp(-epsilon) P(E_k > t).  That holds in both
 * directions and for any E_j: the choice is epsilon-differentially private.  Were the
 * costs not monotone, t could grow by 2 Delta, and it would be 2 epsilon.
 *
 * Its price is that of any pure mechanism, epsilon^2/2 as zCDP (dp_pure_to_rho).  The
 * epsilon^2/8 of dp_exponential_to_rho() rests on the exponential mechanism's bounded
 * range, and doesn't hold here.
 */
#include "common/dp_base.h"

#include "common/dp_sample.h"
#include "common/dp_select.h"

/*
 * dp_select - the index of the candidate that is taken.
 *
 * Epsilon is an integer number of 2^-20.  The exponent (epsilon gap) / (2^20 Delta) is
 * one of integers: gap is below 2^64 for any two costs, so the numerator stays below
 * 2^127 and the denominator below 2^83.  No gap is cut off; far ones cost no more time
 * than near ones.
 *
 * DP_ERR_DOMAIN unless 1 <= n <= DP_SELECT_MAX_CANDIDATES, sensitivity >= 1 and
 * epsilon >= 1.
 */
DpStatus
dp_select(DpRandom *rng, const int64 *cost, int n, int64 sensitivity, int64 epsilon, int *chosen)
{
	dp_uint128 den;
	int64 least;
	int *order;
	int taken;

	if (n < 1 || n > DP_SELECT_MAX_CANDIDATES || sensitivity < 1 || epsilon < 1)
		return DP_ERR_DOMAIN;

	den = (dp_uint128) sensitivity * DP_SELECT_EPSILON_ONE;
	order = palloc(n * sizeof(int));
	least = cost[0];
	for (int i = 0; i < n; i++)
	{
		order[i] = i;
		least = Min(least, cost[i]);
	}

	/* Fisher and Yates's shuffle, as far as it is needed: least ends it */
	for (int left = n;; left--)
	{
		int drawn = (int) dp_uniform(rng, left);
		uint64 gap;

		taken = order[drawn];
		order[drawn] = order[left - 1];
		gap = (uint64) cost[taken] - (uint64) least;
		if (dp_bernoulli_exp(rng, (dp_uint128) epsilon * gap, den))
			break;
	}

	pfree(order);
	*chosen = taken;
	return DP_OK;
}
