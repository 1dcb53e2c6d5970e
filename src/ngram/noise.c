/*
 * noise.c
 *	  The randomness of one call: cryptographic, or keyed by a seed for tests.
 *
 * A seeded call draws the noise of an n-gram from a generator keyed by (seed,
 * level, n-gram), never by the order in which n-grams are met: so the rows are
 * the same whatever the order of the scan, the memory limit or the plan.
 */
#include "postgres.h"

#include "common/dp_audit.h"
#include "common/dp_sample.h"
#include "ngram/noise.h"

/* streams of a seeded call that belong to no n-gram */
#define STREAM_SAMPLING 1000
#define STREAM_SPURIOUS 2000

/* A DpRandomFailure: an error, with nothing of what was asked for. */
void
noise_failure(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random noise")));
	pg_unreachable();
}

void
noise_init(Noise *noise, bool seeded, uint64 seed)
{
	noise->seeded = seeded;
	noise->drawn = false;
	noise->seed = seed;
	noise->newest = 0;
	for (int i = 0; i < NOISE_LAWS; i++)
		noise->law[i].sigma = 0;
	if (seeded)
		dp_random_seeded(&noise->random, seed, STREAM_SAMPLING, 0);
	else
		dp_random_system(&noise->random, noise_failure);
	noise->sampling_key = dp_random_u64(&noise->random);
	noise->points = word_points(&noise->random);
}

/* Wipe what the generator still holds. */
void
noise_clear(Noise *noise)
{
	dp_random_clear(&noise->random);
}

/* The table of this sigma, made where none of the last few is. */
static const DpGaussianNoise *
law_of(Noise *noise, int64 sigma)
{
	for (int i = 0; i < NOISE_LAWS; i++)
	{
		if (noise->law[i].sigma == sigma)
			return &noise->law[i];
	}
	noise->newest = (noise->newest + 1) % NOISE_LAWS;
	dp_gaussian_noise_prepare(&noise->law[noise->newest], sigma);
	return &noise->law[noise->newest];
}

/* The noise of one n-gram's weight: discrete Gaussian, sigma in lattice units. */
int64
noise_gaussian(Noise *noise, int64 sigma, int level, uint64 content)
{
	DP_AUDIT_NOISE(AUDIT_GAUSSIAN, level, sigma);
	noise->drawn = true;
	if (noise->seeded)
		dp_random_seeded(&noise->random, noise->seed, level, content);
	return dp_gaussian_noise_draw(&noise->random, law_of(noise, sigma));
}

/* Likewise Laplace noise; scale in lattice units. */
int64
noise_laplace(Noise *noise, int64 scale, int level, uint64 content)
{
	DP_AUDIT_NOISE(AUDIT_LAPLACE, level, scale);
	noise->drawn = true;
	if (noise->seeded)
		dp_random_seeded(&noise->random, noise->seed, level, content);
	return dp_discrete_laplace(&noise->random, scale);
}

/* Whether an n-gram is kept, with probability num / 2^62. */
bool
noise_trial(Noise *noise, uint64 num, int level, uint64 content)
{
	noise->drawn = true;
	if (noise->seeded)
		dp_random_seeded(&noise->random, noise->seed, level, content);
	return dp_bernoulli(&noise->random, num, UINT64CONST(1) << 62);
}

/* A generator for the spurious n-grams of a level. */
DpRandom *
noise_stream(Noise *noise, int level)
{
	noise->drawn = true;
	if (noise->seeded)
		dp_random_seeded(&noise->random, noise->seed, STREAM_SPURIOUS + level, 0);
	return &noise->random;
}
