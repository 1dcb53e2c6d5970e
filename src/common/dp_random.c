/*
 * dp_random.c
 *	  Random words from the system's cryptographic generator, through a buffer,
 *	  because one call of it a word would cost more than the samplers do.
 *
 * The buffer holds bits that will become noise: whoever reads them can remove
 * that noise.  So a served word is wiped at once (dp_random_u64), and
 * dp_random_clear() wipes the rest; a DpRandom must not outlive its release.
 * A DpRandom belongs to one process: a copy carried over a fork() would serve
 * the same words twice, so every process makes its own.
 *
 * The seeded generator is splitmix64 (Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014), keyed by three words so that
 * a test's outcome depends on what is drawn for, never on the order of drawing.
 * It gives no privacy whatever.
 */
#include "common/dp_random.h"

/*
 * dp_random_system - start a generator on the operating system's randomness.
 *
 * fail is called, and must not return, when the system gives none.
 */
void
dp_random_system(DpRandom *rng, DpRandomFailure fail)
{
	memset(rng, 0, sizeof(*rng));
	rng->fail = fail;
}

/* dp_random_seeded - start a deterministic generator: for tests only. */
void
dp_random_seeded(DpRandom *rng, uint64 seed, uint64 stream, uint64 key)
{
	/* not the buffer, which it never uses: a seeded call starts anew for every n-gram */
	rng->seeded = true;
	rng->fail = NULL;
	rng->left = 0;
	rng->state = dp_mix64(dp_mix64(seed, stream), key);
}

/*
 * dp_random_refill - the slow half of dp_random_u64(): refill, then serve.
 *
 * The seeded generator never fills its buffer, so all its words come from here.
 */
uint64
dp_random_refill(DpRandom *rng)
{
	if (rng->seeded)
	{
		rng->state += DP_SPLITMIX_GAMMA;
		return dp_splitmix_finish(rng->state);
	}

	if (!pg_strong_random(rng->buffer, DP_RANDOM_BUFFER))
	{
		explicit_bzero(rng->buffer, DP_RANDOM_BUFFER);
		if (rng->fail != NULL)
			rng->fail();
		abort(); /* noise that is not random is worse than none */
	}
	rng->left = DP_RANDOM_BUFFER;
	return dp_random_u64(rng);
}

/* dp_random_clear - wipe the generator; start it anew before using it again. */
void
dp_random_clear(DpRandom *rng)
{
	explicit_bzero(rng, sizeof(*rng));
}
