/*
 * test_shrink.c
 *	  Shrinkage without noise, under noise that says nothing and in between: what it
 *	  must keep, what it must not follow, and that its own estimate of its gain is true.
 *
 * Noise here is drawn in floating point, since only its law matters.  Tests of chance
 * hold with probability 1 - 1e-6 at the draws of a fixed seed, and would for others.
 */
#include "common/dp_shrink.h"

#include <float.h>
#include <math.h>

#include "common/dp_norm_bound.h"
#include "common/dp_random.h"
#include "tap.h"

#define MAX_GRAMS 60000
#define FAR_OUT 4.9 /* standard deviations, p = 1e-6 on two sides */

static DpRandom rng;

static double y[MAX_GRAMS];
static double p[MAX_GRAMS];
static double q[MAX_GRAMS];
static double theta[MAX_GRAMS];
static double again[MAX_GRAMS];

/* in (0, 1) */
static double
uniform(void)
{
	return ((dp_random_u64(&rng) >> 11) + 0.5) * 0x1p-53;
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Of standard deviation 1. */
static double
noise_of(DpNoise noise)
{
	if (noise == DP_NOISE_GAUSSIAN)
		return normal();
	return (uniform() < 0.5 ? M_SQRT1_2 : -M_SQRT1_2) * log(uniform());
}

static void
normalize(double *x, int n)
{
	long double sum = 0;

	for (int i = 0; i < n; i++)
		sum += x[i];
	for (int i = 0; i < n; i++)
		x[i] = (double) (x[i] / sum);
}

/* A prior like Zipf's, and a truth whose logarithm is "apart" away from it. */
static void
make_truth(int n, double apart)
{
	for (int i = 0; i < n; i++)
	{
		p[i] = 1 / (i + 2.7);
		q[i] = p[i] * exp(apart * normal());
	}
	normalize(p, n);
	normalize(q, n);
}

static double
divergence(const double *from, const double *to, int n)
{
	long double sum = 0;

	for (int i = 0; i < n; i++)
		sum += from[i] > 0 ? from[i] * logl((long double) from[i] / to[i]) : 0;
	return (double) sum;
}

static DpShrinkReport
shrink(int n, double sd, DpNoise noise, double *result)
{
	DpShrinkInput in = {.y = y, .p = p, .n = n, .sd = sd, .noise = noise};
	DpShrinkReport report;

	if (dp_shrink(&in, result, &report) != DP_OK)
		report.lambda = NAN;
	return report;
}

/* Draws noisy counts of a truth of this many, and shrinks them. */
static DpShrinkReport
draw(int n, double total, double sd, DpNoise noise)
{
	for (int i = 0; i < n; i++)
		y[i] = total * q[i] + sd * noise_of(noise);
	return shrink(n, sd, noise, theta);
}

static double
furthest(const double *a, const double *b, int n)
{
	double worst = 0;

	for (int i = 0; i < n; i++)
		worst = fmax(worst, fabs(a[i] / b[i] - 1));
	return worst;
}

static bool
is_distribution(const double *x, int n)
{
	long double sum = 0;

	for (int i = 0; i < n; i++)
	{
		if (!(x[i] > 0 && x[i] <= 1))
			return false;
		sum += x[i];
	}
	return fabsl(sum - 1) < 1e-12L;
}

static void
test_no_noise(void)
{
	const int n = 1000;
	DpShrinkReport report;

	make_truth(n, 1);
	for (int noise = DP_NOISE_GAUSSIAN; noise <= DP_NOISE_LAPLACE; noise++)
	{
		for (int i = 0; i < n; i++)
			y[i] = 12345 * q[i];
		report = shrink(n, 0, noise, theta);
		ok(report.lambda == 1 && furthest(theta, q, n) < 1e-9,
		   "without noise: the counts themselves, to %g", furthest(theta, q, n));
		ok(fabs(report.total / 12345 - 1) < 1e-9 &&
			   fabs(report.gain / divergence(q, p, n) - 1) < 1e-9,
		   "their sum and their gain are exact");
		report = shrink(n, 1e-9, noise, theta);
		ok(furthest(theta, q, n) < 1e-6, "next to no noise: next to no shrinkage");
	}
	y[7] = y[8] = 0;
	report = shrink(n, 0, DP_NOISE_GAUSSIAN, theta);
	ok(is_distribution(theta, n) && theta[7] > 0 && theta[7] < 0.01 * p[7],
	   "an n-gram that nobody wrote keeps a trace of its prior");
}

static void
test_all_noise(void)
{
	const int n = 1000;
	const double sds[] = {1e5, 1e12, 1e200, DBL_MAX / 100};
	bool prior = true;

	make_truth(n, 1);
	for (int noise = DP_NOISE_GAUSSIAN; noise <= DP_NOISE_LAPLACE; noise++)
	{
		for (size_t s = 0; s < lengthof(sds); s++)
		{
			for (int i = 0; i < n; i++)
				y[i] = 1000 * q[i] + sds[s] / 10 * noise_of(noise);
			prior &= shrink(n, sds[s], noise, theta).lambda == 0 && furthest(theta, p, n) < 1e-12;
		}
		for (int i = 0; i < n; i++)
			y[i] = -uniform();
		prior &= shrink(n, 1, noise, theta).lambda == 0 && furthest(theta, p, n) < 1e-12;
		prior &= shrink(n, 0, noise, theta).lambda == 0 && furthest(theta, p, n) < 1e-12;
		memset(y, 0, sizeof(y));
		prior &= shrink(n, 0, noise, theta).lambda == 0 && furthest(theta, p, n) < 1e-12;
	}
	ok(prior, "noise above all, counts below 0, no counts: the public distribution");
}

/* One number of any size and sign. */
static double
wild(double exponents)
{
	double sign = uniform() < 0.5 ? -1 : 1;

	return uniform() < 0.1 ? 0 : sign * exp2(exponents * (2 * uniform() - 1)) * uniform();
}

static void
test_wild_inputs(void)
{
	int bad = 0;
	int tried = 0;

	for (int round = 0; round < 400; round++)
	{
		int n = (int) exp2(8 * uniform());
		double exponents = 900 * uniform() * uniform();
		DpNoise noise = round % 2 == 0 ? DP_NOISE_GAUSSIAN : DP_NOISE_LAPLACE;
		double sd = fabs(wild(exponents));
		DpShrinkReport report;

		for (int i = 0; i < n; i++)
		{
			y[i] = wild(exponents);
			p[i] = fmax(fabs(wild(exponents)), 1e-320);
		}
		report = shrink(n, sd, noise, theta);
		if (!is_distribution(theta, n) || !(report.lambda >= 0 && report.lambda <= 1) ||
			!(fabs(report.gain) <= DBL_MAX) || !(report.total >= 0) || !(report.kappa >= 0))
			bad++;
		tried++;
	}
	ok(bad == 0, "%d of %d wild inputs gave no distribution", bad, tried);
	p[0] = 1e-300;
	y[0] = -3;
	ok(shrink(1, 2, DP_NOISE_LAPLACE, theta).lambda >= 0 && theta[0] == 1, "one n-gram is certain");
}

static void
test_domain(void)
{
	const double bad[] = {NAN, INFINITY, -INFINITY};
	DpShrinkInput in = {.y = y, .p = p, .n = 4, .sd = 1};
	DpShrinkReport report;
	bool refused = true;

	for (int i = 0; i < 4; i++)
		y[i] = p[i] = i + 1;
	ok(dp_shrink(&in, theta, &report) == DP_OK, "what the following tests spoil is sound");
	for (size_t i = 0; i < lengthof(bad); i++)
	{
		y[2] = bad[i];
		refused &= dp_shrink(&in, theta, &report) == DP_ERR_DOMAIN;
		y[2] = 3;
		p[2] = bad[i];
		refused &= dp_shrink(&in, theta, &report) == DP_ERR_DOMAIN;
		p[2] = i == 0 ? 0 : -1;
		refused &= dp_shrink(&in, theta, &report) == DP_ERR_DOMAIN;
		p[2] = 3;
		in.sd = bad[i];
		refused &= dp_shrink(&in, theta, &report) == DP_ERR_DOMAIN;
		in.sd = 1;
		in.lost = i == 0 ? NAN : i == 1 ? -0.1 :
										  1.1;
		refused &= dp_shrink(&in, theta, &report) == DP_ERR_DOMAIN;
		in.lost = 0;
	}
	p[0] = p[1] = DBL_MAX;
	refused &= dp_shrink(&in, theta, &report) == DP_ERR_DOMAIN;
	in.n = 0;
	refused &= dp_shrink(&in, theta, &report) == DP_ERR_DOMAIN;
	ok(refused, "what is no number or no distribution is refused");
}

/* Neither the units of counts and of p nor the order of n-grams mean anything. */
static void
test_invariance(void)
{
	const int n = 2000;

	for (int noise = DP_NOISE_GAUSSIAN; noise <= DP_NOISE_LAPLACE; noise++)
	{
		bool same;

		make_truth(n, 0.5);
		(void) draw(n, 1e5, 30, noise);
		for (int i = 0; i < n; i++)
			y[i] *= 0x1p40;
		(void) shrink(n, 30 * 0x1p40, noise, again);
		same = memcmp(theta, again, n * sizeof(double)) == 0;
		for (int i = 0; i < n; i++)
			p[i] *= 0x1p-90;
		(void) shrink(n, 30 * 0x1p40, noise, again);
		same &= memcmp(theta, again, n * sizeof(double)) == 0;
		for (int i = 0; i < n / 2; i++)
		{
			double t = y[i];

			y[i] = y[n - 1 - i];
			y[n - 1 - i] = t;
			t = p[i];
			p[i] = p[n - 1 - i];
			p[n - 1 - i] = t;
		}
		(void) shrink(n, 30 * 0x1p40, noise, again);
		for (int i = 0; i < n; i++)
			same &= fabs(again[n - 1 - i] / theta[i] - 1) < 1e-6;
		ok(same, "units and order don't matter");
	}
}

typedef struct Trial
{
	double mean;
	double deviation; /* of the mean */
} Trial;

static Trial
trial_of(double sum, double squares, int draws)
{
	Trial trial = {.mean = sum / draws};

	trial.deviation = sqrt(fmax(squares / draws - trial.mean * trial.mean, 0) / (draws - 1));
	return trial;
}

/*
 * The estimated gain, less the true one, on average.  It is unbiased but for what is
 * fitted to the counts, which is allowed 3 % of the gain: without the correction, or with
 * the other noise's, it would be far more (next test).
 */
static void
test_gain_is_true(int n, double apart, double total, double sd, DpNoise noise)
{
	const int draws = 40;
	double sum = 0;
	double squares = 0;
	double prior;
	double gains = 0;
	double untouched = 0; /* by what the noise alone flatters the result */
	Trial trial;

	make_truth(n, apart);
	prior = divergence(q, p, n);
	for (int i = 0; i < draws; i++)
	{
		DpShrinkReport report = draw(n, total, sd, noise);
		double gain = prior - divergence(q, theta, n);
		double error = report.gain - gain;

		for (int j = 0; j < n; j++)
			untouched += (y[j] / total - q[j]) * log(theta[j] / p[j]) / draws;
		sum += error;
		squares += error * error;
		gains += gain / draws;
	}
	trial = trial_of(sum, squares, draws);
	ok(fabs(trial.mean) < FAR_OUT * trial.deviation + 0.03 * gains,
	   "%s, %d n-grams: gain %.5f, estimated %.5f +- %.5f more",
	   noise == DP_NOISE_GAUSSIAN ? "Gaussian" : "Laplace", n, gains, trial.mean,
	   trial.deviation);
	ok(untouched > 2 * (FAR_OUT * trial.deviation + 0.03 * gains),
	   "which the estimate without its correction would miss by %.5f", untouched);
}

/* Whatever the truth: not worse than the prior by more than chance, and better where it can be. */
static void
test_never_worse(int n, double apart, double total, double sd, DpNoise noise)
{
	const int draws = 20;
	double sum = 0;
	double squares = 0;
	double naive = 0; /* what the counts would be worth as they are, cut at a tenth of the noise */
	double prior;
	Trial trial;

	make_truth(n, apart);
	prior = divergence(q, p, n);
	for (int i = 0; i < draws; i++)
	{
		double d;

		(void) draw(n, total, sd, noise);
		d = divergence(q, theta, n) - prior;
		sum += d;
		squares += d * d;
		for (int j = 0; j < n; j++)
			again[j] = fmax(y[j], sd / 10);
		normalize(again, n);
		naive += (divergence(q, again, n)) / draws;
	}
	trial = trial_of(sum, squares, draws);
	ok(trial.mean <= FAR_OUT * trial.deviation + 0.01 * naive,
	   "%s, truth %g apart, noise %g: prior %.5f, %+.5f +- %.5f, counts as they are %.5f",
	   noise == DP_NOISE_GAUSSIAN ? "Gaussian" : "Laplace", apart, sd, prior, trial.mean,
	   trial.deviation, naive);
	ok(trial.mean + prior <= 1.02 * naive, "and not worse than the counts as they are");
}

/* What was lost to bounding pulls towards the prior, up to all. */
static void
test_lost(void)
{
	const int n = 1000;
	DpShrinkInput in = {.y = y, .p = p, .n = n, .sd = 20};
	DpShrinkReport report;
	double last = 1;
	bool falls = true;

	make_truth(n, 0.4);
	(void) draw(n, 1e5, 20, DP_NOISE_GAUSSIAN);
	for (in.lost = 0; in.lost <= 1; in.lost += 0.125)
	{
		falls &= dp_shrink(&in, theta, &report) == DP_OK && report.lambda <= last;
		last = report.lambda;
		if (in.lost == 0)
			ok(last > 0.8, "clear counts weigh %g if nothing was lost", last);
	}
	ok(falls && last == 0, "the more was lost, the less they weigh, and nothing if all was");
}

static DpStatus
choose(const double *histogram, double histogram_sd, double unit_sd, int n, DpNormChoice *choice)
{
	DpNormInput in = {.histogram = histogram,
					  .buckets = DP_NORM_BUCKETS,
					  .histogram_sd = histogram_sd,
					  .p = p,
					  .n = n,
					  .unit_sd = unit_sd};

	return dp_choose_norm(&in, choice);
}

static void
test_buckets(void)
{
	bool right = true;

	for (int b = 0; b < 40; b++)
	{
		double square = ldexp(1, b);
		int last = Min(b, DP_NORM_BUCKETS - 1);

		right &= dp_norm_bucket(square, DP_NORM_BUCKETS) == last;
		right &= dp_norm_bucket(nextafter(square, 0), DP_NORM_BUCKETS) == last;
		right &= dp_norm_bucket(nextafter(square, DBL_MAX), DP_NORM_BUCKETS) ==
				 Min(b + 1, DP_NORM_BUCKETS - 1);
	}
	ok(right, "a power of sqrt 2 is its bucket's upper end");
	ok(dp_norm_bucket(0, 5) == 0 && dp_norm_bucket(DBL_MIN, 5) == 0 &&
		   dp_norm_bucket(DBL_MAX, 5) == 4 && dp_norm_bucket(INFINITY, 5) == 4 &&
		   dp_norm_bucket(NAN, 5) == 0,
	   "0, infinity and no number have a bucket, too");
}

static void
test_choose_norm(void)
{
	const int n = 1000;
	double histogram[DP_NORM_BUCKETS] = {0};
	double last = HUGE_VAL;
	double last_lost = 0;
	bool falls = true;
	DpNormChoice choice;
	DpNormInput in;

	make_truth(n, 1);
	histogram[6] = 1000;
	ok(choose(histogram, 0, 0, n, &choice) == DP_OK && choice.norm == 8 && choice.lost == 0,
	   "all users in one bucket and no noise: its upper end");
	for (int b = 0; b < 20; b++)
		histogram[b] = 1e6 * exp2(-b);
	for (double noise = 1e-6; noise < 1e9; noise *= 3)
	{
		falls &= choose(histogram, 0, noise, n, &choice) == DP_OK && choice.norm <= last &&
				 choice.lost >= last_lost;
		last = choice.norm;
		last_lost = choice.lost;
	}
	ok(falls && last == 1, "the more noise, the smaller the norm, down to 1");
	ok(choose(histogram, 1e7, 1, n, &choice) == DP_OK && choice.norm == 1 && choice.lost == 1,
	   "a histogram lost in its noise: 1, and nothing is known of what is lost");
	memset(histogram, 0, sizeof(histogram));
	histogram[3] = 1e5;
	histogram[32] = 400;
	ok(choose(histogram, 100, 1, n, &choice) == DP_OK && choice.norm < 3,
	   "noise in the last bucket is nobody");
	histogram[32] = 1e5;
	ok(choose(histogram, 100, 1e-9, n, &choice) == DP_OK && choice.norm == 65536,
	   "users there are somebody");

	in = (DpNormInput){.histogram = histogram, .buckets = 33, .p = p, .n = n};
	in.buckets = 0;
	ok(dp_choose_norm(&in, &choice) == DP_ERR_DOMAIN, "no bucket is refused");
	in.buckets = 33;
	in.unit_sd = NAN;
	ok(dp_choose_norm(&in, &choice) == DP_ERR_DOMAIN, "noise that is no number, too");
	in.unit_sd = 1;
	histogram[5] = INFINITY;
	ok(dp_choose_norm(&in, &choice) == DP_ERR_DOMAIN, "and infinitely many users");
	histogram[5] = -1e300;
	ok(dp_choose_norm(&in, &choice) == DP_OK, "less than nobody is noise");
	in.n = 0;
	ok(dp_choose_norm(&in, &choice) == DP_ERR_DOMAIN, "and an empty vocabulary");
}

int
main(void)
{
	const double sds[] = {3, 30, 300, 3000};

	dp_random_seeded(&rng, 4, 1, 0);
	test_no_noise();
	test_all_noise();
	test_wild_inputs();
	test_domain();
	test_invariance();
	for (int noise = DP_NOISE_GAUSSIAN; noise <= DP_NOISE_LAPLACE; noise++)
	{
		test_gain_is_true(2000, 0.5, 1e5, 30, noise);
		test_gain_is_true(3000, 1, 1e5, 30, noise);
		for (size_t s = 0; s < lengthof(sds); s++)
		{
			test_never_worse(500, 0, 1e5, sds[s], noise);
			test_never_worse(500, 0.3, 1e5, sds[s], noise);
			test_never_worse(500, 2, 1e5, sds[s], noise);
		}
	}
	test_lost();
	test_buckets();
	test_choose_norm();
	return tap_done();
}
