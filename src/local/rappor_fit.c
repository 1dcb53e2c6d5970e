/*
 * rappor_fit.c
 *	  A-RAPPOR's last step: how many users have each of the terms found.
 *
 * Least squares on the bits of the whole terms' filters.  With y(c, j) the unbiased
 * estimate of how many users of cohort c, n(c) in number, have bit j,
 *
 *		E(y(c, j)) = n(c) (sum of the shares of the terms that set j in c + rest / k),
 *
 * rest being what terms that were not found add, which fall on any bit alike.  Rows are
 * weighted by 1/n(c), so that a term which collides with no other gets the plain sum of
 * its bits.  The shares may come out negative: then they are unbiased.
 *
 * Standard deviations are over the reports' randomness and over the users' order, which
 * decides how many users of a term a cohort has.  An estimate is a sum over rows of w y.
 * The reports add to its variance the sum of w^2 Var(y | users).  Of the order: let W(c, u)
 * be the sum of w over the bits that term u sets in c, what one user of u in c adds.  Its
 * mean over cohorts is 1 for the term itself and 0 for the others, and the variance of a
 * sum over a random permutation (Hoeffding, "A combinatorial central limit theorem", 1951)
 * is, with shares f, and cohorts in proportion to their size,
 *
 *		n mean over c of ( sum over u of f(u) (W(c, u) - [u = v])^2
 *						   - (sum over u of f(u) W(c, u) - f(v))^2 ).
 *
 * Users of the rest are spread over all rows as by a Poisson law.
 */
#include "common/dp_base.h"

#include <math.h>

#include "local/rappor_parts.h"

/* Added to the diagonal, relative to it: terms that no row tells apart stay solvable. */
#define RIDGE 1e-9

/* Terms, and one more unknown for the rest of them. */
typedef struct Fit
{
	const RapporPlan *plan;
	const RapporCounts *counts;
	int terms;
	int size;
	int32 *start;	/* [cohort * bits + bit]: the first of its terms; one more at the end */
	uint16 *setter; /* terms that set the bit */
	double *matrix; /* of the normal equations; then its factor */
	double *inverse;
	double *variance; /* of each row */
	double *share;	  /* the right side; then the solution */
} Fit;

static int
fit_rows(const Fit *fit)
{
	return fit->plan->query.cohorts * fit->plan->query.bits;
}

/* For each row, which of the terms set its bit. */
static void
index_setters(Fit *fit, const RapporWord *words)
{
	int n = 0;
	uint64 *set = palloc(Max(fit->terms, 1) * sizeof(uint64));

	for (int row = 0; row < fit_rows(fit); row++)
	{
		int cohort = row / fit->plan->query.bits;
		int bit = row % fit->plan->query.bits;

		for (int i = 0; bit == 0 && i < fit->terms; i++)
			set[i] = bloom_item_bits(&fit->plan->bloom, cohort, ROLE_TERM,
									 oracle_item(words[i].symbol, words[i].length));
		fit->start[row] = n;
		for (int i = 0; i < fit->terms; i++)
			if ((set[i] >> bit & 1) != 0)
				fit->setter[n++] = i;
	}
	fit->start[fit_rows(fit)] = n;
	pfree(set);
}

/* Users of a row's cohort. */
static double
row_users(const Fit *fit, int row)
{
	return (double) fit->counts->users[row / fit->plan->query.bits];
}

/* The unbiased number of users of the cohort who have the bit. */
static double
row_estimate(const Fit *fit, int row)
{
	const Bloom *bloom = &fit->plan->bloom;

	return ((double) fit->counts->ones[row] - row_users(fit, row) * bloom->zero) /
		   (bloom->one - bloom->zero);
}

/* Its variance, but for the users of terms that were found: their order is not in it. */
static double
row_variance(const Fit *fit, int row)
{
	const Bloom *bloom = &fit->plan->bloom;
	double users = row_users(fit, row);
	double holders = Max(0, Min(users, row_estimate(fit, row)));
	double apart = bloom->one - bloom->zero;
	double rest = Max(0, fit->share[fit->terms]) * users / bloom->bits;

	return (holders * bloom->one * (1 - bloom->one) +
			(users - holders) * bloom->zero * (1 - bloom->zero)) /
			   (apart * apart) +
		   rest;
}

/* The normal equations' lower triangle and right side; the last unknown is the rest. */
static void
fill_equations(Fit *fit)
{
	double spread = 1.0 / fit->plan->query.bits;
	int rest = fit->terms;

	for (int row = 0; row < fit_rows(fit); row++)
	{
		double users = row_users(fit, row);
		double y = row_estimate(fit, row);

		if (row % fit->plan->query.bits == 0)
			CHECK_FOR_INTERRUPTS();
		for (int32 i = fit->start[row]; i < fit->start[row + 1]; i++)
		{
			double *line = fit->matrix + (int64) fit->setter[i] * fit->size;

			for (int32 j = fit->start[row]; j <= i; j++)
				line[fit->setter[j]] += users;
			fit->matrix[(int64) rest * fit->size + fit->setter[i]] += users * spread;
			fit->share[fit->setter[i]] += y;
		}
		fit->matrix[(int64) rest * fit->size + rest] += users * spread * spread;
		fit->share[rest] += y * spread;
	}
	for (int i = 0; i < fit->size; i++)
		fit->matrix[(int64) i * fit->size + i] *= 1 + RIDGE;
}

/* Cholesky's factor L of the matrix, in its lower triangle; false: not positive definite. */
static bool
factor(double *matrix, int n)
{
	for (int i = 0; i < n; i++)
	{
		double *line = matrix + (int64) i * n;

		CHECK_FOR_INTERRUPTS();
		for (int j = 0; j <= i; j++)
		{
			const double *other = matrix + (int64) j * n;
			double sum = line[j];

			for (int k = 0; k < j; k++)
				sum -= line[k] * other[k];
			if (i == j && !(sum > 0))
				return false;
			line[j] = i == j ? sqrt(sum) : sum / other[j];
		}
	}
	return true;
}

/* The whole inverse, from the factor: a column of the unit matrix after the other. */
static double *
inverse_of(const double *factor, int n)
{
	double *inverse = palloc((int64) n * n * sizeof(double));

	for (int column = 0; column < n; column++)
	{
		double *x = inverse + (int64) column * n; /* symmetric: a row is a column */

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < n; i++)
		{
			double sum = i == column ? 1 : 0;

			for (int k = column; k < i; k++)
				sum -= factor[(int64) i * n + k] * x[k];
			x[i] = i < column ? 0 : sum / factor[(int64) i * n + i];
		}
		for (int i = n - 1; i >= 0; i--)
		{
			x[i] /= factor[(int64) i * n + i];
			for (int k = 0; k < i; k++)
				x[k] -= factor[(int64) i * n + k] * x[i];
		}
	}
	return inverse;
}

/* The right side becomes the solution, the shares. */
static void
solve(Fit *fit)
{
	double *solution = palloc0(fit->size * sizeof(double));

	for (int i = 0; i < fit->size; i++)
		for (int j = 0; j < fit->size; j++)
			solution[i] += fit->inverse[(int64) i * fit->size + j] * fit->share[j];
	pfree(fit->share);
	fit->share = solution;
}

/*
 * What a cohort adds to a term's variance, of the reports and of the order; added has room
 * for each term.
 */
static double
cohort_variance(const Fit *fit, int term, int cohort, double *added)
{
	const double *line = fit->inverse + (int64) term * fit->size;
	double users = (double) fit->counts->reports;
	double reports = 0;
	double order = 0;
	double mean = -Max(0, fit->share[term]);

	memset(added, 0, fit->terms * sizeof(double));
	for (int bit = 0; bit < fit->plan->query.bits; bit++)
	{
		int row = cohort * fit->plan->query.bits + bit;
		double weight = line[fit->terms] / fit->plan->query.bits;

		for (int32 i = fit->start[row]; i < fit->start[row + 1]; i++)
			weight += line[fit->setter[i]];
		weight *= users;
		reports += weight * weight * fit->variance[row];
		for (int32 i = fit->start[row]; i < fit->start[row + 1]; i++)
			added[fit->setter[i]] += weight;
	}
	for (int i = 0; i < fit->terms; i++)
	{
		double share = Max(0, fit->share[i]);
		double off = added[i] - (i == term ? 1 : 0);

		order += share * off * off;
		mean += share * added[i];
	}
	return reports + (double) fit->counts->users[cohort] * Max(0, order - mean * mean);
}

/* Users and standard deviations of the words, from the solved equations. */
static void
read_solution(Fit *fit, RapporWord *words)
{
	double *added = palloc(Max(1, fit->terms) * sizeof(double));

	fit->variance = palloc(fit_rows(fit) * sizeof(double));
	for (int row = 0; row < fit_rows(fit); row++)
		fit->variance[row] = row_variance(fit, row);
	for (int i = 0; i < fit->terms; i++)
	{
		double variance = 0;

		CHECK_FOR_INTERRUPTS();
		for (int cohort = 0; cohort < fit->plan->query.cohorts; cohort++)
			variance += cohort_variance(fit, i, cohort, added);
		words[i].estimate = fit->share[i] * (double) fit->counts->reports;
		words[i].stddev = sqrt(variance);
	}
	pfree(fit->variance);
	pfree(added);
}

/*
 * Replaces the words' estimates and standard deviations by those of the fit; they stay
 * where there are too few reports for one.
 */
void
rappor_fit(const RapporPlan *plan, const RapporCounts *counts, RapporWord *words, int n)
{
	Fit fit = {.plan = plan, .counts = counts, .terms = n, .size = n + 1};

	fit.start = palloc((fit_rows(&fit) + 1) * sizeof(int32));
	fit.setter = palloc(Max(1, plan->query.cohorts * n * plan->query.hashes) * sizeof(uint16));
	fit.matrix = palloc0((int64) fit.size * fit.size * sizeof(double));
	fit.share = palloc0(fit.size * sizeof(double));
	index_setters(&fit, words);
	fill_equations(&fit);
	if (factor(fit.matrix, fit.size))
	{
		fit.inverse = inverse_of(fit.matrix, fit.size);
		solve(&fit);
		read_solution(&fit, words);
		pfree(fit.inverse);
	}
	pfree(fit.start);
	pfree(fit.setter);
	pfree(fit.matrix);
	pfree(fit.share);
}
