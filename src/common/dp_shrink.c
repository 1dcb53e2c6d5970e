/*
 * dp_shrink.c
 *	  A private distribution from noisy counts: as much of them as their noise
 *	  allows, the public distribution for the rest.
 *
 * What goes in is y, the noisy sum of the users' bounded rows, with public numbers:
 * the public distribution p, the noise's law and its standard deviation sd.
 * Nothing else is read, so all that is done here is post-processing and costs no
 * privacy, however often it looks at y.  First dp_mixture.c estimates every count.
 *
 * The mixture with the prior
 * --------------------------
 * With s the estimates divided by their sum, theta = lambda s + (1 - lambda) p.  How
 * much nearer than p that is to the bounded private distribution q = c / sum c,
 *
 *	KL(q || p) - KL(q || theta) = sum over i of q_i l_i, l_i = ln(theta_i / p_i),	(1)
 *
 * can be estimated without knowing c.  For any smooth l and noise X,
 *
 *	E[X l(c + X)] = sd^2 E[l'(c + X)]						if X is Gaussian		(2)
 *	E[X l(c + X)] = b E[l(c + X + Z) - l(c + X - Z)]		if X is Laplace			(3)
 *
 * with b = sd / sqrt 2 and Z exponential of mean b, independent of X.  (2) is Stein's
 * identity ("Estimation of the mean of a multivariate normal distribution", Ann.
 * Statist. 9, 1981).  (3): let g be Laplace's density; the Fourier transforms of g and
 * x g(x) are 1 / (1 + b^2 w^2) and, but for a sign and i, 2 b^2 w / (1 + b^2 w^2)^2, so
 * E[X l(c + X)] = 2 b^2 E[l'(c + X + X')] with another Laplace X'; integrating by parts
 * over X' gives (3).  So sum of (y_i l_i(y) - correction_i) is unbiased for (1) times
 * sum c, as long as what was fitted to all counts is taken for constant: it depends on y
 * too, but on no single y_i by much.  For Gaussian noise, sd^2 times the derivative of a
 * posterior mean is the posterior variance, whatever the prior; for Laplace noise four
 * nodes of quadrature evaluate (3).
 *
 * What the estimate sees are the bounded counts.  It can't see what bounding took away,
 * and users with long texts may write otherwise than users with short ones.  If that was a
 * part phi of the counts ("lost" in the input, from dp_norm_bound.c), distributed as r,
 * then (1) for the private distribution itself is (1 - phi) times (1) for the bounded one,
 * plus phi times sum of r_i l_i.  If r is like public text, that sum is -KL(p || theta);
 * if it is like the bounded text but for FAR nats, it is (1) less that.  The better of the
 * two is the guess: which one it is shows how far public text is from all that was seen.
 * So lambda is the point of a grid where, with seen = the estimate less CAUTION times its
 * own standard deviation,
 *
 *	(1 - phi) seen + phi (max(-KL(p || theta), seen - lambda FAR) - lambda UNLIKE)
 *
 * is largest: 0, the public distribution itself, unless the noisy counts clearly promise
 * more.  Without caution lambda would follow the noise where counts say nothing; UNLIKE
 * allows for an r that is worse than the guess.  With respect to bounded counts the result
 * is not worse than p but for chance; what was lost stays a guess, and FAR and UNLIKE are
 * what did well on page visits and on commit messages.
 */
#include "common/dp_base.h"

#include <float.h>
#include <math.h>

#include "common/dp_mixture.h"
#include "common/dp_shrink.h"

#define LAMBDAS 16	/* the grid is 0, 1/LAMBDAS, ... 1 */
#define CAUTION 3.0 /* standard deviations of the estimated gain */
#define FAR 0.15	/* nats */
#define UNLIKE 0.05 /* nats */

/* Gauss and Laguerre's quadrature of order 4: nodes and weights for exp(-x). */
static const double laguerre_node[] = {0.322547689619392312, 1.74576110115834658,
									   4.53662029692112798, 9.39507091230113313};
static const double laguerre_weight[] = {0.603154104341633602, 0.357418692437799687,
										 0.0388879085150053843, 0.000539294705561327450};

/* theta by p where the estimate by p is ratio; 1 + lambda (ratio - 1) could round to 0. */
static double
mixed(double lambda, double ratio)
{
	return lambda * ratio + (1 - lambda);
}

/* By how much one n-gram's noise makes its part of (1) too large, for every lambda. */
static void
corrections(const DpMixture *model, int64 i, double ratio, double variance, double total,
			double *correction)
{
	double scale = total * dp_mixture_prior(model, i);
	double b = sqrt(model->variance / 2);

	for (int k = 1; k <= LAMBDAS; k++)
		correction[k] = 0;
	if (model->in->noise == DP_NOISE_GAUSSIAN)
	{
		for (int k = 1; k <= LAMBDAS; k++)
		{
			double lambda = (double) k / LAMBDAS;

			correction[k] = lambda * variance / scale / mixed(lambda, ratio);
		}
		return;
	}
	for (size_t j = 0; j < lengthof(laguerre_node); j++)
	{
		double y = dp_mixture_count(model, i);
		double shift = b * laguerre_node[j];
		double above = dp_mixture_estimate(model, i, y + shift, &variance) / scale;
		double below = dp_mixture_estimate(model, i, y - shift, &variance) / scale;

		for (int k = 1; k <= LAMBDAS; k++)
		{
			double lambda = (double) k / LAMBDAS;

			correction[k] +=
				b * laguerre_weight[j] * log(mixed(lambda, above) / mixed(lambda, below));
		}
	}
}

/* What is known of a lambda: sums over the vocabulary, in units of count but for the last. */
typedef struct Prospect
{
	double gain;	/* the estimate of (1), times the sum of counts */
	double square;	/* the estimate's variance */
	double against; /* KL(p || theta) */
} Prospect;

/*
 * One n-gram's part of it.
 *
 * The variance of Gaussian noise times l is known.  An outlier of Laplace noise has a
 * large l, too, and is taken for what it is: the square of what the noise seems to have
 * added here.
 */
static void
add_prospects(const DpMixture *model, int64 i, double estimate, double total, Prospect *prospect)
{
	double p = dp_mixture_prior(model, i);
	double y = dp_mixture_count(model, i);
	double ratio = estimate / total / p;
	double correction[LAMBDAS + 1];
	double variance;

	(void) dp_mixture_estimate(model, i, y, &variance);
	corrections(model, i, ratio, variance, total, correction);
	for (int k = 1; k <= LAMBDAS; k++)
	{
		double l = log(mixed((double) k / LAMBDAS, ratio));
		double error = (y - estimate) * l - correction[k];

		prospect[k].gain += y * l - correction[k];
		prospect[k].against -= p * l;
		if (model->in->noise == DP_NOISE_GAUSSIAN)
			prospect[k].square += model->variance * l * l;
		else
			prospect[k].square += error * error;
	}
}

/*
 * lambda, and the estimate of (1) there.  theta holds the estimated counts, of sum
 * total.
 */
static double
choose_lambda(const DpMixture *model, const double *theta, double total, double *gain)
{
	Prospect prospect[LAMBDAS + 1] = {{0}};
	double lost = model->in->lost;
	double best_promise = 0;
	int best = 0;

	for (int64 i = 0; i < model->in->n; i++)
		add_prospects(model, i, theta[i], total, prospect);
	for (int k = 1; k <= LAMBDAS; k++)
	{
		double lambda = (double) k / LAMBDAS;
		double seen = (prospect[k].gain - CAUTION * sqrt(prospect[k].square)) / total;
		double guess = Max(-prospect[k].against, seen - lambda * FAR);
		double promise = (1 - lost) * seen + lost * (guess - lambda * UNLIKE);

		if (promise > best_promise)
		{
			best_promise = promise;
			best = k;
		}
	}
	*gain = prospect[best].gain / total;
	return (double) best / LAMBDAS;
}

/* theta from estimated counts of sum total; sums to 1 in long double's digits. */
static void
mix_with_prior(const DpMixture *model, double *theta, double total, double lambda)
{
	long double sum = 0;

	for (int64 i = 0; i < model->in->n; i++)
	{
		double own = lambda > 0 ? lambda * (theta[i] / total) : 0;

		theta[i] = Max(own + (1 - lambda) * dp_mixture_prior(model, i), DBL_MIN);
		sum += theta[i];
	}
	for (int64 i = 0; i < model->in->n; i++)
		theta[i] = (double) (theta[i] / sum);
}

/*
 * dp_shrink - the private distribution, from noisy counts and the public one.
 *
 * theta gets n probabilities, all finite and > 0, of sum 1 within 1e-12.  Takes a few
 * passes over the vocabulary and no memory.  DP_ERR_DOMAIN for an empty vocabulary,
 * for a p that isn't positive and finite or has no finite sum, for a y that isn't
 * finite, for an sd that is negative or not finite, and for a lost part outside 0 to 1.
 */
DpStatus
dp_shrink(const DpShrinkInput *in, double *theta, DpShrinkReport *report)
{
	DpMixture model;
	long double total = 0;

	if (dp_mixture_fit(&model, in) != DP_OK)
		return DP_ERR_DOMAIN;

	memset(report, 0, sizeof(*report));
	if (model.scale > 0)
	{
		for (int64 i = 0; i < in->n; i++)
		{
			double variance;

			theta[i] = dp_mixture_estimate(&model, i, dp_mixture_count(&model, i), &variance);
			total += theta[i];
		}
		report->total = (double) total * model.unit;
		report->kappa = sqrt(model.spread);
		report->lambda = choose_lambda(&model, theta, (double) total, &report->gain);
	}
	mix_with_prior(&model, theta, (double) total, report->lambda);
	return DP_OK;
}
