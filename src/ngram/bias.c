/*
 * bias.c
 *	  Which n-grams of a level leave their weight to others in the next round.
 */
#include "postgres.h"
#include <math.h>
#include "common/dp_weights.h"
#include "ngram/bias.h"

void
bias_coefficients(int rounds, int64 *coefficient)
{
	static const int64 ten[] = {5, 6, 8, 10, 11, 12, 12, 12, 12, 12};

	for (int j = 0; j < rounds; j++)
		coefficient[j] = rounds == 10 ? ten[j] : j + 1;
}

void
bias_prepare(BiasRules *rules, const int64 *coefficient, int rounds, double deviation)
{
	double sum = 0;

	rules->rounds = rounds;
	rules->deviation = deviation;
	for (int j = 0; j < rounds; j++)
		sum += coefficient[j];
	rules->total = sum;
	rules->done[0] = 0;
	for (int j = 0; j < rounds; j++)
		rules->done[j + 1] = rules->done[j] + coefficient[j] / sum;
}

int
bias_next(const BiasRules *rules, int round, int64 sum, int32 spent, int64 threshold)
{
	double F = rules->done[round + 1];
	double s = rules->deviation / rules->total;
	double nm = sum / rules->total;
	double r = threshold / rules->total;
	double B = (double) spent / DP_BIAS_ONE / rules->total;
	double est = nm / B;
	double sd = s * sqrt(F) / B;
	double rs = s * sqrt(1 - F);
	double lo = est - .3 * sd;
	double need, hi, n0;
	double b = 1;

	if (round + 1 >= rules->rounds)
		return DP_BIAS_ONE;
	need = Max(0, r + 1.7 * rs - nm) / (1 - F);
	hi = est + sd;
	n0 = Max(1e-9, r - nm - .5 * rs) / (1 - F);
	if (lo > 0 && need < lo)
		b = Max(need / lo, .02);
	else if (hi < n0)
		b = Max(.03, pow(Max(hi, 0) / n0, 2));
	return (int) Max(1, rint(b * DP_BIAS_ONE));
}
