/*
 * dp_random.h
 *	  The source of all randomness: a buffered cryptographic generator, and a
 *	  deterministic one for tests.
 */
#ifndef DP_RANDOM_H
#define DP_RANDOM_H

#include "common/dp_base.h"

#define DP_RANDOM_BUFFER 4096

typedef struct DpRandom DpRandom;

/* Called when the operating system gives no randomness; must not return. */
typedef void (*DpRandomFailure)(void);

struct DpRandom
{
	bool seeded;  /* deterministic: tests only */
	uint64 state; /* of the deterministic generator */
	DpRandomFailure fail;
	size_t left; /* unread bytes at the buffer's end */
	uint8 buffer[DP_RANDOM_BUFFER];
};

extern void dp_random_system(DpRandom *rng, DpRandomFailure fail);
extern void dp_random_seeded(DpRandom *rng, uint64 seed, uint64 stream, uint64 key);
extern uint64 dp_random_refill(DpRandom *rng);
extern void dp_random_clear(DpRandom *rng);

/*
 * The next 64 uniform bits.  Inline, because the samplers take them by the
 * million: a word comes out of the buffer and is wiped behind the reader.
 */
static inline uint64
dp_random_u64(DpRandom *rng)
{
	uint8 *word;
	uint64 result;

	if (unlikely(rng->left < sizeof(result)))
		return dp_random_refill(rng);

	word = rng->buffer + (DP_RANDOM_BUFFER - rng->left);
	memcpy(&result, word, sizeof(result));
	memset(word, 0, sizeof(result));
	rng->left -= sizeof(result);
	return result;
}

/* The finisher of splitmix64: a bijection in which every bit moves every bit. */
#define DP_SPLITMIX_GAMMA UINT64CONST(0x9E3779B97F4A7C15)

static inline uint64
dp_splitmix_finish(uint64 x)
{
	x = (x ^ (x >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

/*
 * A fixed mix of two words into one: word b of the splitmix64 stream that
 * starts from a mixed, a bijection in either argument, and not symmetric.  For
 * keyed choices (which n-grams of a user are kept), never for noise.
 */
static inline uint64
dp_mix64(uint64 a, uint64 b)
{
	return dp_splitmix_finish(dp_splitmix_finish(a + DP_SPLITMIX_GAMMA) +
							  (b + 1) * DP_SPLITMIX_GAMMA);
}

#endif /* DP_RANDOM_H */
