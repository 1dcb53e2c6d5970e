/*
 * dp_mixture.c
 *	  What noisy counts were before the noise, if the law of their ratios to public
 *	  counts is learned from all of them: the estimates that dp_shrink.c weighs.
 *
 * The model
 * ---------
 * With A the private counts' size, the bounded count c_i of an n-gram is A p_i times
 * a ratio r_i, which tells how far private and public text differ.  The ratios of one
 * class of n-grams (those of about the same p) are taken to be drawn from one law,
 * which nobody knows: a mixture of the normal laws N(2^k, (WIDTH 2^k)^2), whose
 * weights are fitted to y by maximum likelihood (the EM algorithm, accelerated as by
 * Varadhan and Roland, "Simple and globally convergent methods for accelerating the
 * convergence of any EM algorithm", Scand. J. Statist. 35, 2008, scheme S3).  A class
 * of few n-grams leans on the weights of all.  A count's estimate is then its mean
 * given y_i, which for every component is closed:
 *
 *	E[c | y, k] = (M s^2 + y t^2) / (t^2 + s^2), M = 2^k A p, t = WIDTH M, s = sd.	(1)
 *
 * That is the empirical Bayes of Robbins, in the form of Kiefer and Wolfowitz's
 * nonparametric maximum likelihood (Jiang and Zhang, "General maximum likelihood
 * empirical Bayes estimation of normal means", Ann. Statist. 37, 2009).  Against one
 * normal prior of a fitted variance it keeps what stands out far from the noise,
 * shrinks the rest harder, and needs no good first guess of A.  Laplace noise is a
 * normal law whose variance is exponentially distributed; three nodes of Gauss and
 * Laguerre's quadrature stand for that, so that its outliers are known as such.
 * The model only decides how good the estimate is.  No promise rests on it.
 *
 * The result depends on the order of n-grams only where a class has more than
 * FIT_MEMBERS of them, of which every so manyth is taken to fit the weights.
 */
#include "common/dp_base.h"

#include <float.h>
#include <math.h>

#include "common/dp_mixture.h"

/* With a large vocabulary fitting takes long.  No memory is held, so an error does no harm. */
#ifdef FRONTEND
#define CHECK_FOR_INTERRUPTS() ((void) 0)
#else
#include "miscadmin.h"
#endif

#define COMPONENTS DP_MIXTURE_COMPONENTS
#define LOWEST_RATIO -8 /* the components' means are 2^-8 to 2^8 of what is expected */
#define WIDTH 0.416		/* a component's standard deviation by its mean: 0.6 ln 2 */
#define CLASSES DP_MIXTURE_CLASSES
#define CLASS_BITS 3	   /* a class holds p within a factor of 2^3, the last all below */
#define FIT_MEMBERS 32768  /* n-grams of a class that are looked at in fitting */
#define FIT_ROUNDS 8	   /* of three EM steps each */
#define LONGEST_STEP 64.0  /* of the extrapolation, in EM steps */
#define ALL_PSEUDO 1.0	   /* n-grams that the starting law counts for */
#define CLASS_PSEUDO 50.0  /* n-grams that the law of all counts for in a class */
#define LEAST_SPREAD 0.1   /* bounds of the starting law's standard deviation of ln r */
#define LARGEST_SPREAD 3.0 /* the same */

/* Squares below this are 0 for every purpose: one unit is the largest number there is. */
#define TINY 1e-300

static const DpMixtureNoise gaussian = {1, {1}, {1}};

/* Gauss and Laguerre's quadrature of order 3: nodes and weights for exp(-x). */
static const DpMixtureNoise laplace = {
	3,
	{0.415774556783479083, 2.29428036027904172, 6.28994508293747920},
	{0.711093009929173015, 0.278517733569240848, 0.0103892565015861357}};
typedef struct Weights
{
	double of[CLASSES][COMPONENTS];
} Weights;

static int
class_of(const DpMixture *model, int64 i)
{
	int exponent = ilogb(model->largest / model->in->p[i]);

	return Min(Max(exponent, 0) / CLASS_BITS, CLASSES - 1);
}

static double
ratio(int component)
{
	return ldexp(1, LOWEST_RATIO + component);
}

/* No estimate is below this, so that every probability is > 0. */
static double
least_count(double expected)
{
	return Max(expected * ldexp(1, LOWEST_RATIO - 2), TINY);
}

/* Reads the input once; false if it lies outside the domain. */
static bool
take_input(DpMixture *model, const DpShrinkInput *in)
{
	double largest_count = 0;

	memset(model, 0, sizeof(*model));
	model->in = in;
	model->noise = in->noise == DP_NOISE_LAPLACE ? &laplace : &gaussian;
	if (in->n < 1 || !(in->sd >= 0 && in->sd <= DBL_MAX) ||
		!(in->lost >= 0 && in->lost <= 1))
		return false;

	for (int64 i = 0; i < in->n; i++)
	{
		if (!(in->p[i] > 0 && in->p[i] <= DBL_MAX) || !(fabs(in->y[i]) <= DBL_MAX))
			return false;
		model->mass += in->p[i];
		model->largest = Max(model->largest, in->p[i]);
		largest_count = Max(largest_count, fabs(in->y[i]));
	}
	model->unit = Max(largest_count, in->sd);
	if (model->unit > 0)
		model->variance = (in->sd / model->unit) * (in->sd / model->unit);
	return model->mass <= DBL_MAX;
}

/* Which n-grams of every class are looked at in fitting: every stride-th. */
static void
plan_fit(DpMixture *model)
{
	int64 count[CLASSES] = {0};

	for (int64 i = 0; i < model->in->n; i++)
		count[class_of(model, i)]++;
	for (int c = 0; c < CLASSES; c++)
	{
		model->stride[c] = count[c] / FIT_MEMBERS + 1;
		model->members[c] = (double) ((count[c] + model->stride[c] - 1) / model->stride[c]);
	}
}

/*
 * A by generalised least squares for counts that spread by kappa around A p, and
 * its standard deviation; kappa 0 is the projection of y on p.
 */
static double
least_squares(const DpMixture *model, double kappa_scale, double *deviation)
{
	double above = 0;
	double below = 0;

	for (int64 i = 0; i < model->in->n; i++)
	{
		double p = dp_mixture_prior(model, i);
		double v = kappa_scale * p * kappa_scale * p + model->variance;

		if (kappa_scale == 0)
			v = 1;
		if (v < TINY)
			continue;
		above += dp_mixture_count(model, i) * p / v;
		below += p * p / v;
	}
	*deviation = kappa_scale > 0 ? 1 / sqrt(below) : sqrt(model->variance / below);
	return above / below;
}

/*
 * A, a first guess of which the mixture's range makes up a factor of 2^8 either way.
 *
 * The projection's noise is sd |p|, where a plain sum's is sd sqrt n.  A guess that
 * drowns in its own noise is set to the noise.
 */
static double
fit_scale(const DpMixture *model)
{
	const double kappa = 0.3;
	double deviation;
	double scale = least_squares(model, 0, &deviation);

	for (int round = 0; round < 20 && scale > deviation; round++)
	{
		double before = scale;

		scale = least_squares(model, kappa * before, &deviation);
		if (fabs(scale - before) < 1e-6 * before)
			break;
	}
	return Max(scale, deviation);
}

/* The square of the ratios' relative spread around 1, by moments; not below 0. */
static double
moment_spread(const DpMixture *model)
{
	double above = 0;
	double below = 0;

	for (int64 i = 0; i < model->in->n; i++)
	{
		double m = model->scale * dp_mixture_prior(model, i);
		double d = dp_mixture_count(model, i) - m;
		double v = m * m + model->variance;

		if (v < TINY)
			continue;
		above += m / v * (m / v) * (d * d - model->variance);
		below += m / v * (m / v) * m * m;
	}
	return below > 0 && above > 0 ? above / below : 0;
}

/* The starting law: ln r is normal around 0. */
static void
starting_law(double spread, double *law)
{
	double sum = 0;

	for (int k = 0; k < COMPONENTS; k++)
	{
		double x = log(ratio(k)) / spread;

		law[k] = exp(-x * x / 2) + 1e-12;
		sum += law[k];
	}
	for (int k = 0; k < COMPONENTS; k++)
		law[k] /= sum;
}

/*
 * Given a noisy count and its expectation A p: how probable each component is.
 * mean and variance, where asked for, are those of the true count.
 */
static void
posterior(const DpMixture *model, double y, double expected, const double *weight, double *share,
		  double *mean, double *variance)
{
	const DpMixtureNoise *noise = model->noise;
	double distance[COMPONENTS][3];
	double least = DBL_MAX;
	double sum = 0;
	double first = 0;
	double second = 0;

	CHECK_FOR_INTERRUPTS();
	for (int k = 0; k < COMPONENTS; k++)
	{
		double center = expected * ratio(k);
		double own = WIDTH * center * (WIDTH * center);

		for (int j = 0; j < noise->nodes; j++)
		{
			double v = Max(own + model->variance * noise->variance[j], TINY);

			distance[k][j] = (y - center) * (y - center) / v;
			least = Min(least, distance[k][j]);
		}
	}
	for (int k = 0; k < COMPONENTS; k++)
	{
		double center = expected * ratio(k);
		double own = WIDTH * center * (WIDTH * center);

		share[k] = 0;
		for (int j = 0; j < noise->nodes; j++)
		{
			double s = model->variance * noise->variance[j];
			double v = Max(own + s, TINY);
			double density = weight[k] * noise->weight[j] / sqrt(v);
			double part = density * exp((least - distance[k][j]) / 2);
			double count = (center * s + y * own) / v;

			share[k] += part;
			first += part * count;
			second += part * (own * s / v + count * count);
		}
		sum += share[k];
	}
	for (int k = 0; k < COMPONENTS; k++)
		share[k] /= sum;
	*mean = first / sum;
	*variance = Max(second / sum - *mean * *mean, 0);
}

/* One step of the EM algorithm, with the starting law and the law of all as pseudo-counts. */
static void
em_step(const DpMixture *model, const double *start, const Weights *from, Weights *to)
{
	int64 seen[CLASSES] = {0};
	double all[COMPONENTS];
	double members = ALL_PSEUDO;

	memset(to, 0, sizeof(*to));
	for (int64 i = 0; i < model->in->n; i++)
	{
		int c = class_of(model, i);
		double expected = model->scale * dp_mixture_prior(model, i);
		double share[COMPONENTS];
		double mean;
		double variance;

		if (seen[c]++ % model->stride[c] != 0)
			continue;
		posterior(model, dp_mixture_count(model, i), expected, from->of[c], share, &mean,
				  &variance);
		for (int k = 0; k < COMPONENTS; k++)
			to->of[c][k] += share[k];
	}

	for (int c = 0; c < CLASSES; c++)
		members += model->members[c];
	for (int k = 0; k < COMPONENTS; k++)
	{
		all[k] = ALL_PSEUDO * start[k];
		for (int c = 0; c < CLASSES; c++)
			all[k] += to->of[c][k];
		for (int c = 0; c < CLASSES; c++)
			to->of[c][k] = (to->of[c][k] + CLASS_PSEUDO * all[k] / members) /
						   (model->members[c] + CLASS_PSEUDO);
	}
}

/* From three successive steps to where they lead; the result lies inside the simplex. */
static void
extrapolate(const DpMixture *model, Weights *zero, const Weights *one, const Weights *two)
{
	double steps = 0;
	double bends = 0;
	double length;

	for (int c = 0; c < CLASSES; c++)
	{
		for (int k = 0; k < COMPONENTS; k++)
		{
			double step = one->of[c][k] - zero->of[c][k];
			double bend = two->of[c][k] - one->of[c][k] - step;

			steps += model->members[c] * step * step;
			bends += model->members[c] * bend * bend;
		}
	}
	length = bends > 0 ? Min(Max(sqrt(steps / bends), 1), LONGEST_STEP) : 1;

	for (int c = 0; c < CLASSES; c++)
	{
		double sum = 0;

		for (int k = 0; k < COMPONENTS; k++)
		{
			double step = one->of[c][k] - zero->of[c][k];
			double bend = two->of[c][k] - one->of[c][k] - step;
			double far = zero->of[c][k] + 2 * length * step + length * length * bend;

			zero->of[c][k] = Max(far, two->of[c][k] / 100);
			sum += zero->of[c][k];
		}
		for (int k = 0; k < COMPONENTS; k++)
			zero->of[c][k] /= sum;
	}
}

static void
fit_weights(DpMixture *model)
{
	double start[COMPONENTS];
	Weights weights;
	Weights one;
	Weights two;

	starting_law(Min(Max(sqrt(log1p(model->spread)), LEAST_SPREAD), LARGEST_SPREAD), start);
	for (int c = 0; c < CLASSES; c++)
	{
		for (int k = 0; k < COMPONENTS; k++)
			weights.of[c][k] = start[k];
	}
	for (int round = 0; round < FIT_ROUNDS; round++)
	{
		em_step(model, start, &weights, &one);
		em_step(model, start, &one, &two);
		extrapolate(model, &weights, &one, &two);
		em_step(model, start, &weights, &one);
		weights = one;
	}
	memcpy(model->weight, weights.of, sizeof(model->weight));
}

/*
 * dp_mixture_fit - reads all noisy counts and fits the model to them.
 *
 * A few passes over the vocabulary, of which FIT_ROUNDS times three look at
 * FIT_MEMBERS of a class at most.  DP_ERR_DOMAIN if the input isn't what dp_shrink()
 * takes.
 */
DpStatus
dp_mixture_fit(DpMixture *model, const DpShrinkInput *in)
{
	if (!take_input(model, in))
		return DP_ERR_DOMAIN;
	if (model->unit > 0)
		model->scale = fit_scale(model);
	if (model->scale > 0)
	{
		plan_fit(model);
		model->spread = moment_spread(model);
		fit_weights(model);
	}
	return DP_OK;
}

/*
 * dp_mixture_estimate - what the count of n-gram i was if y is what came of it, in
 * units; positive.  variance is the posterior one, 0 where the estimate is at its floor.
 */
double
dp_mixture_estimate(const DpMixture *model, int64 i, double y, double *variance)
{
	double expected = model->scale * dp_mixture_prior(model, i);
	double share[COMPONENTS];
	double mean;

	posterior(model, y, expected, model->weight[class_of(model, i)], share, &mean, variance);
	if (mean > least_count(expected))
		return mean;
	*variance = 0;
	return least_count(expected);
}
