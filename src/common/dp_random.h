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

/* A fixed 64-bit mixing function (not cryptographic) for keyed choices. */
extern uint64 dp_mix64(uint64 a, uint64 b);

#endif /* DP_RANDOM_H */
