/*
 * dp_combination.c
 *	  Sums S = F_1 X_1 + .. + F_n X_n of independent discrete Gaussians X_j with parameters
 *	  sigma_j and positive integer coefficients: their tails, and what the X_j are if such a
 *	  sum is large.
 *
 * An n-gram's statistic is gathered over rounds whose noise differs, so off the support it
 * is such a sum.  It is released where it exceeds a bound: what nobody wrote must do so
 * with the probability that the noise really has, and then show a history of rounds that
 * the noise really makes.
 *
 * The law of the sum
 * ------------------
 * Let the F_j have no common factor, and V = sum of F_j^2 sigma_j^2.  Then
 *
 *	P(S = s) = C f(s) (1 + e(s)),	f(s) = exp(-s^2/(2V)) / sqrt(2 pi V),
 *
 * C does not depend on s, and |e(s)| <= E for every s, E as below: so the law of S is that
 * of the discrete Gaussian with parameter sqrt V, but for a factor between (1-E)/(1+E) and
 * its inverse.
 *
 * Proof.  By Poisson's formula X_j has the characteristic function
 *
 *	c_j(a) = C_j * sum over integers k of exp(-sigma_j^2 (a - 2 pi k)^2 / 2),
 *
 * 1/C_j being the same sum at a = 0.  Hence P(S = s) is 1/(2 pi) times the integral over a
 * from -pi to pi of exp(-i a s) times the product of c_j(F_j a), which is
 *
 *	C * sum over k in Z^n of exp(-1/2 * sum over j of (sigma_j (F_j a - 2 pi k_j))^2).	(1)
 *
 * A step of a by 2 pi is one of k by F = (F_1, .., F_n).  So the sum over k falls into
 * classes of Z^n modulo Z F, and a class's integrals over (-pi, pi) are together one
 * integral over all a, for any member k of it.  There the inner sum is V (a - a_k)^2 + D_k,
 * 4 pi^2 times the square of the distance from (sigma_j k_j) to a point of the line through
 * (sigma_j F_j), D_k that of the nearest; and the integral is exp(-i a_k s) f(s)
 * exp(-D_k/2).  The class of k = 0 makes the 1; the others make e(s), and E is the sum of
 * their exp(-D_k/2).
 *
 * Bound.  Let p be an index with the least F_p.  Each class has just one member with 0 <=
 * k_p < F_p.  The distance is at least that in the two coordinates p and j alone, for any j:
 *
 *	D_k >= 4 pi^2 (k_p F_j - k_j F_p)^2 / (F_p^2/sigma_j^2 + F_j^2/sigma_p^2)
 *		>= 2 pi^2 (sigma/F)^2 y_j^2,		y_j = k_p F_j - k_j F_p,
 *
 * sigma the least sigma_j and F the largest F_j; so it is at least the mean of that over the
 * n - 1 others.  The y_j are integers, for a given k_p different k_j give different y_j, and
 * all are 0 only for k = 0: if F_p divides k_p F_j for every j it divides k_p, as the F_j
 * have no common factor.  With q = exp(-pi^2 (sigma/F)^2 / (n-1)) therefore
 *
 *	E <= F_p ((sum over integers y of q^(y^2))^(n-1) - 1) <= F_p ((1 + 3 q)^(n-1) - 1).
 *
 * Required (dp_combination_prepare): sigma^2 >= 7 (n-1) F^2, so q < exp(-69), and n <= 64,
 * F < 2^31: E < 2^31 * 63 * 3.1 exp(-69) < 1e-18.  Rounds of a release, with sigma some
 * 10^5 and F = 12 or 32, have q < exp(-10^5).  The tails of S and of the discrete Gaussian
 * with parameter sqrt V differ by a factor no further from 1 than 2.1 E, which is nothing
 * by the side of dp_lattice_tail()'s own error.
 *
 * The sampler needs nothing of this: it is exact whatever sigma and F are.
 */
#include "common/dp_base.h"

#include <float.h>
#include <math.h>

#include "common/dp_combination.h"
#include "common/dp_gaussian.h"
#include "common/dp_sample.h"

/* Of F_1 sigma_1 + .. + F_n sigma_n: S and what is added to it fit into 63 bits. */
#define MOST_SPREAD (INT64CONST(1) << 50)

/* Of the bounds that the sampler takes, either way. */
#define MOST_BOUND (INT64CONST(1) << 61)

static int64
common_factor(int64 a, int64 b)
{
	while (b != 0)
	{
		int64 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The condition of the head comment under which S is one discrete Gaussian. */
static bool
is_gaussian(const DpCombination *comb)
{
	int64 factor = 0;
	int64 largest = 0;
	int64 least = DP_MAX_SIGMA;

	for (int j = 0; j < comb->n; j++)
	{
		factor = common_factor(comb->coefficient[j], factor);
		largest = Max(largest, comb->coefficient[j]);
		least = Min(least, comb->sigma[j]);
	}
	return factor == 1 && largest < (INT64CONST(1) << 31) &&
		   least >= DP_COMBINATION_LEAST_SIGMA &&
		   (dp_uint128) least * least >= (dp_uint128) 7 * (comb->n - 1) * largest * largest;
}

/*
 * dp_combination_prepare - make ready a sum of n terms.
 *
 * DP_ERR_DOMAIN unless there are 1 to DP_COMBINATION_MOST, coefficients and sigmas are
 * positive; DP_ERR_RANGE if coefficient * sigma sum to more than 2^50.
 */
DpStatus
dp_combination_prepare(DpCombination *comb, const int64 *coefficient, const int64 *sigma, int n)
{
	int64 spread = 0;

	memset(comb, 0, sizeof(*comb));
	if (n < 1 || n > DP_COMBINATION_MOST)
		return DP_ERR_DOMAIN;
	comb->n = n;
	for (int j = 0; j < n; j++)
	{
		dp_uint128 product;

		if (coefficient[j] < 1 || sigma[j] < 1)
			return DP_ERR_DOMAIN;
		product = (dp_uint128) coefficient[j] * sigma[j];
		if (product > (dp_uint128) (MOST_SPREAD - spread))
			return DP_ERR_RANGE;
		spread += (int64) product;
		comb->coefficient[j] = coefficient[j];
		comb->sigma[j] = sigma[j];
		comb->total += coefficient[j];
		comb->variance += product * product;
	}
	comb->deviation = sqrtl((long double) comb->variance);
	comb->gaussian = is_gaussian(comb);
	return DP_OK;
}

/*
 * dp_combination_tail - p = P(S > bound), relative error below 1e-13.
 *
 * DP_ERR_RANGE where S is not known to be as one discrete Gaussian (head comment), and for
 * p below 1e-307.
 */
DpStatus
dp_combination_tail(const DpCombination *comb, int64 bound, double *p)
{
	if (!comb->gaussian)
		return DP_ERR_RANGE;
	return dp_lattice_tail_real(comb->deviation, bound, p);
}

/*
 * dp_combination_threshold - the smallest integer bound with P(S > bound) <= p, as
 * dp_combination_tail() computes it.  DP_ERR_DOMAIN unless 0 < p < 1; DP_ERR_RANGE as
 * there, and for p < 1e-300.
 */
DpStatus
dp_combination_threshold(const DpCombination *comb, double p, int64 *bound)
{
	if (!comb->gaussian)
		return DP_ERR_RANGE;
	return dp_lattice_threshold_real(comb->deviation, p, bound);
}

/*
 * dp_combination_union_threshold - the threshold that hides which items only one user has.
 *
 * t such items weigh at most 2^m/sqrt t in every round, so their part of the statistic is
 * at most (sum of F_j) 2^m/sqrt t; the least bound, but for rounding up, such that for every
 * t from 1 to max_items the probability that any of the t exceeds it is at most delta.
 *
 * With S Gaussian, that is dp_union_threshold() at the standard deviation sqrt V / sum of
 * F_j, in units of (sum of F_j) 2^m.  The discrete S is no likelier to exceed an integer c
 * than N(0, V) is: P(S > c) <= exp(1/(24 V)) (1 + 3 E) Phibar((c + 1/2)/sqrt V) by (1) of
 * dp_gaussian.c, and Phibar((c + 1/2)/sqrt V) is less than Phibar(c/sqrt V) by a factor of
 * exp(-h/(2 sqrt V)), h being the hazard phi/Phibar at c/sqrt V: more than enough from
 * c = -4 sqrt V on, where h > 1e-4.  DP_ERR_DOMAIN and DP_ERR_RANGE as there, DP_ERR_RANGE
 * also for a delta so near 1 that c is less.
 */
DpStatus
dp_combination_union_threshold(const DpCombination *comb, double delta, int64 max_items,
							   int64 *bound)
{
	long double unit = ldexpl(comb->total, DP_LATTICE_BITS);
	long double exact;
	double rho;
	DpStatus status;

	if (!comb->gaussian)
		return DP_ERR_RANGE;
	status = dp_union_threshold((double) (comb->deviation / unit) * (1 + 2 * DBL_EPSILON), delta,
								max_items, &rho);
	if (status != DP_OK)
		return status;
	exact = (rho + fabs(rho) * 1e-12L) * unit;
	if (delta > 0.9999 || exact >= MOST_BOUND)
		return DP_ERR_RANGE;
	*bound = (int64) ceill(exact);
	return DP_OK;
}

/* Bernoulli(exp(-(num/den) (part/whole))), part <= whole; den and whole below 2^127. */
static bool
bernoulli_exp_product(DpRandom *rng, dp_uint128 num, dp_uint128 den, dp_uint128 part,
					  dp_uint128 whole)
{
	uint64 k = 1;

	/* as dp_bernoulli_exp(): whole factors first, then CKS Algorithm 1 */
	while (num > den)
	{
		if (!dp_bernoulli_exp(rng, part, whole))
			return false;
		num -= den;
	}
	while ((k == 1 || dp_uniform(rng, k) == 0) && dp_bernoulli(rng, num, den) &&
		   dp_bernoulli(rng, part, whole))
		k++;
	return (k & 1) == 1;
}

/*
 * The discrete Gaussian about a centre off the lattice: an integer y, P(y) proportional to
 * exp(-(y - f)^2/(2 sigma^2)) for f = rest/whole, |f| <= 1/2.
 *
 * CKS Algorithm 3 with a shift: y from the discrete Laplace of scale sigma; with a = |y| -
 * sigma and s the sign of y, -(y - f)^2/(2 sigma^2) + |y|/sigma is, up to a constant,
 *
 *	-(a^2 - 2 s a f)/(2 sigma^2) + s f/sigma,
 *
 * which is kept with the probability exp(-x_1 - x_2 - x_3), none of them negative:
 *
 *	x_1 = (a^2 - |a|)/(2 sigma^2),
 *	x_2 = (|a| - 2 s a f)/(2 sigma^2) = |a| (whole - 2 (+-rest))/(2 sigma^2 whole),
 *	x_3 = (|f| - s f)/sigma.
 */
static int64
gaussian_about(DpRandom *rng, int64 sigma, int64 rest, int64 whole)
{
	dp_uint128 square = (dp_uint128) sigma * sigma;

	for (;;)
	{
		int64 y = dp_discrete_laplace(rng, sigma);
		int64 towards = y >= 0 ? rest : -rest; /* s f */
		int64 a = (y >= 0 ? y : -y) - sigma;
		uint64 size = (uint64) (a >= 0 ? a : -a);
		int64 part = whole - 2 * (a >= 0 ? towards : -towards);

		if (!dp_bernoulli_exp(rng, (dp_uint128) size * size - size, 2 * square))
			continue;
		if (!bernoulli_exp_product(rng, size, square, part, 2 * (dp_uint128) whole))
			continue;
		if (towards >= 0 || dp_bernoulli_exp(rng, 2 * (dp_uint128) -towards,
											 (dp_uint128) sigma * whole))
			return y;
	}
}

/* The X_j without any condition; returns S. */
static int64
draw_all(DpRandom *rng, const DpCombination *comb, int64 *x)
{
	int64 sum = 0;

	for (int j = 0; j < comb->n; j++)
	{
		x[j] = dp_discrete_gaussian(rng, comb->sigma[j]);
		sum += comb->coefficient[j] * x[j];
	}
	return sum;
}

/* The same with X_j about F_j sigma_j^2 num/den instead of 0. */
static int64
draw_tilted(DpRandom *rng, const DpCombination *comb, int64 num, int64 den, int64 *x)
{
	int64 sum = 0;

	for (int j = 0; j < comb->n; j++)
	{
		dp_uint128 centre = (dp_uint128) comb->coefficient[j] * num * comb->sigma[j];
		int64 whole;
		int64 rest;

		/* times sigma_j, which with the rest of the first division stays within 128 bits */
		whole = (int64) (centre / den) * comb->sigma[j];
		centre = centre % den * comb->sigma[j];
		whole += (int64) (centre / den);
		rest = (int64) (centre % den);
		if (rest > den / 2)
		{
			whole++;
			rest -= den;
		}
		x[j] = whole + gaussian_about(rng, comb->sigma[j], rest, den);
		sum += comb->coefficient[j] * x[j];
	}
	return sum;
}

/*
 * dp_combination_above - (X_1, .., X_n) given that S > bound, drawn by integers alone;
 * |bound| <= 2^61.
 *
 * Below sqrt V, all are drawn until they fit.  Beyond, they are drawn about F_j sigma_j^2
 * l, l = num/den near bound/V, that is with a probability proportional to
 *
 *	exp(-sum over j of x_j^2/(2 sigma_j^2) + l s),		s = sum over j of F_j x_j,
 *
 * and where s > bound kept with the probability exp(-l (s - bound - 1)): which leaves what
 * is asked for, whatever l is.  One draw in 2.5 bound/sqrt V or so is kept.
 */
void
dp_combination_above(DpRandom *rng, const DpCombination *comb, int64 bound, int64 *x)
{
	const int64 num = 1024; /* enough for l; den stays below 2^61 */
	int64 den;
	int64 sum;

	Assert(bound >= -MOST_BOUND && bound <= MOST_BOUND);

	if (bound < 1 || (dp_uint128) bound * bound < comb->variance)
	{
		do
			sum = draw_all(rng, comb, x);
		while (sum <= bound);
		return;
	}

	den = (int64) (num * comb->variance / bound) + 1;
	do
		sum = draw_tilted(rng, comb, num, den, x);
	while (sum <= bound ||
		   !dp_bernoulli_exp(rng, (dp_uint128) num * (uint64) (sum - bound - 1), den));
}
