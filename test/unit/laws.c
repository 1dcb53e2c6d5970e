/*
 * laws.c
 *	  Whether draws follow a law: cells, their exact probabilities, chi-square.
 */
#include "common/dp_base.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "laws.h"

/* Cells with fewer expected draws are pooled: chi-square is asymptotic. */
#define LEAST_EXPECTED 20.0

/*
 * The p-value of Pearson's chi-square for counts against probabilities, thin
 * cells pooled with their neighbours.  A draw in a cell of probability 0 makes
 * it 0.
 */
double
chi_square_p(const uint64 *seen, const double *p, int cells)
{
	double draws = 0;
	double statistic = 0;
	double expected = 0;
	double observed = 0;
	double last_expected = 0;
	double last_observed = 0;
	int used = 0;

	for (int i = 0; i < cells; i++)
	{
		if (p[i] <= 0 && seen[i] > 0)
			return 0;
		draws += seen[i];
	}
	for (int i = 0; i < cells; i++)
	{
		expected += draws * p[i];
		observed += seen[i];
		if (expected < LEAST_EXPECTED && i < cells - 1)
			continue;
		if (expected < LEAST_EXPECTED && used > 0)
		{
			/* what is left over joins the last full cell */
			statistic -= (last_observed - last_expected) * (last_observed - last_expected) /
						 last_expected;
			expected += last_expected;
			observed += last_observed;
			used--;
		}
		statistic += (observed - expected) * (observed - expected) / expected;
		used++;
		last_expected = expected;
		last_observed = observed;
		expected = observed = 0;
	}
	return used < 2 ? 1.0 : gsl_cdf_chisq_Q(statistic, used - 1);
}

/*
 * Cells of "step" integers each from "from" + 1 on, and one for all that is
 * larger.  The caller sees to it that nothing lies at or below "from".
 */
void
law_from_tail(Law *law, int cells, int64 from, int64 step, LawTail tail, const void *context)
{
	memset(law, 0, sizeof(*law));
	law->cells = cells;
	for (int i = 0; i < cells; i++)
		law->above[i] = from + i * step;
	law->above[cells] = PG_INT64_MAX;
	for (int i = 0; i < cells; i++)
		law->p[i] = (double) (tail(law->above[i], context) -
							  (i == cells - 1 ? 0 : tail(law->above[i + 1], context)));
}

typedef struct GaussianLaw
{
	long double sigma;
	long double total; /* by which the law's probabilities are divided */
} GaussianLaw;

/*
 * The discrete Gaussian's P(X > x) up to a constant: term by term for sigma
 * below 64; beyond, Phibar at x + 1/2, whose relative error (x/sigma^2)^2/24 no
 * chi-square can see.
 */
static long double
gaussian_tail(int64 x, const void *context)
{
	const GaussianLaw *law = context;
	long double sigma = law->sigma;

	if (sigma < 64)
	{
		int64 end = Max(x, 0) + (int64) (20 * sigma) + 20;
		long double sum = 0;

		for (int64 j = Max(x + 1, -(int64) (40 * sigma) - 40); j <= end; j++)
			sum += expl(-(long double) j * j / (2 * sigma * sigma));
		return sum / law->total;
	}
	return 0.5L * erfcl((x + 0.5L) / sigma * 0.707106781186547524400844362104849039L) / law->total;
}

/*
 * The discrete Gaussian given X > bound, PG_INT64_MIN for no bound: a cell for
 * each integer where sigma is small, else 100 cells of about equal probability.
 */
void
law_gaussian(Law *law, long double sigma, int64 bound)
{
	GaussianLaw context = {sigma, 1};
	int64 range = (int64) (9 * sigma) + 9;
	int64 lowest = Max(bound, -range);

	context.total = gaussian_tail(lowest, &context);
	if (sigma < 64)
	{
		int64 width = Max(lowest, 0) + range - lowest;

		law_from_tail(law, LAW_CELLS, lowest, 1 + width / LAW_CELLS, gaussian_tail, &context);
		return;
	}

	memset(law, 0, sizeof(*law));
	law->cells = 100;
	law->above[0] = lowest;
	law->above[100] = PG_INT64_MAX;
	for (int i = 1; i < 100; i++)
	{
		double tail = (double) (context.total * (100 - i) / 100);

		law->above[i] = (int64) floor(gsl_cdf_ugaussian_Qinv(tail) * (double) sigma);
	}
	for (int i = 0; i < 100; i++)
		law->p[i] = (double) (gaussian_tail(law->above[i], &context) -
							  (i == 99 ? 0 : gaussian_tail(law->above[i + 1], &context)));
}

/*
 * Bin(n, num / 2^62), each cell to its own probability: f(k+1)/f(k) summed up from the
 * mode, as far as 12 standard deviations, and divided by the sum.
 */
void
law_binomial(Law *law, uint64 n, uint64 num)
{
	long double p = num * 0x1p-62L;
	long double q = ((UINT64CONST(1) << 62) - num) * 0x1p-62L;
	double sigma = (double) sqrtl(n * p * q);
	int64 mode = (int64) ((n + 1) * p);
	int64 from = Max(mode - (int64) (12 * sigma) - 25, 0);
	int64 to = Min(mode + (int64) (12 * sigma) + 25, (int64) n);
	int64 focus = Max(mode - (int64) (5 * sigma) - 20, from);
	int64 width = 1 + (int64) ((10 * sigma + 40) / (LAW_CELLS - 1));
	long double total = 0;

	memset(law, 0, sizeof(*law));
	law->cells = LAW_CELLS;
	for (int i = 0; i <= LAW_CELLS; i++)
		law->above[i] = focus - 1 + i * width;
	law->above[0] = from - 1;
	law->above[LAW_CELLS] = Max(law->above[LAW_CELLS], to);

	for (int sign = -1; sign <= 1; sign += 2)
	{
		long double term = 1;

		for (int64 k = mode; k >= from && k <= to; k += sign)
		{
			int64 cell = k < focus ? 0 : Min((k - focus) / width, LAW_CELLS - 1);

			if (sign > 0 || k < mode)
			{
				law->p[cell] += (double) term;
				total += term;
			}
			term *= sign > 0 ? (n - k) * p / ((k + 1) * q) : k * q / ((n - k + 1) * p);
		}
	}
	for (int i = 0; i < LAW_CELLS; i++)
		law->p[i] /= (double) total;
}

/* Count a draw, by bisection among the cells. */
void
law_count(Law *law, int64 x)
{
	int low = 0;
	int high = law->cells;

	if (x <= law->above[0])
	{
		law->outside++;
		return;
	}
	while (high - low > 1)
	{
		int middle = (low + high) / 2;

		if (x > law->above[middle])
			low = middle;
		else
			high = middle;
	}
	law->seen[low]++;
}

/* The p-value of all draws counted, 0 if any lies where the law has nothing. */
double
law_p_value(const Law *law)
{
	return law->outside > 0 ? 0 : chi_square_p(law->seen, law->p, law->cells);
}
