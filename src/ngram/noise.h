/*
 * noise.h
 *	  The randomness of one call.
 */
#ifndef DPNGRAM_NOISE_H
#define DPNGRAM_NOISE_H

#include "common/dp_gaussian_noise.h"
#include "ngram/fingerprint.h"

/* Of how many sigmas the tables are kept. */
#define NOISE_LAWS 4

typedef struct Noise
{
	bool seeded; /* predictable, for tests */
	bool drawn;	 /* something that decides the result was drawn */
	uint64 seed;
	uint64 sampling_key; /* of the choice among a user's n-grams */
	WordPoints points;	 /* of words */
	DpRandom random;	 /* the cryptographic source; in a seeded call, the stream in use */
	int newest;			 /* of the following */
	DpGaussianNoise law[NOISE_LAWS];
} Noise;

/*
 * The level that noise_gaussian() is told in a round of a level, rounds counted from 0:
 * noise of different rounds must not be the same in a seeded call, either.
 */
#define NOISE_ROUND(level, round) ((level) + 4096 * (round))

extern void noise_failure(void);
extern void noise_init(Noise *noise, bool seeded, uint64 seed);
extern void noise_clear(Noise *noise);
extern int64 noise_gaussian(Noise *noise, int64 sigma, int level, uint64 content);
extern int64 noise_laplace(Noise *noise, int64 scale, int level, uint64 content);
extern bool noise_trial(Noise *noise, uint64 num, int level, uint64 content);
extern DpRandom *noise_stream(Noise *noise, int level);

#endif /* DPNGRAM_NOISE_H */
