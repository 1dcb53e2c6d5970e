/*
 * script_rng.h
 *	  A generator whose next words are known: a client's law can be read off its code.
 */
#ifndef SCRIPT_RNG_H
#define SCRIPT_RNG_H

#include "common/dp_random.h"

/* The next words; a seeded generator's after them.  At most SCRIPT_WORDS. */
#define SCRIPT_WORDS (DP_RANDOM_BUFFER / (int) sizeof(uint64))

static inline void
script_words(DpRandom *rng, const uint64 *word, int n)
{
	dp_random_seeded(rng, 0x736372, 0, 0);
	rng->left = n * sizeof(uint64);
	memcpy(rng->buffer + DP_RANDOM_BUFFER - rng->left, word, rng->left);
}

static inline void
script_word(DpRandom *rng, uint64 word)
{
	script_words(rng, &word, 1);
}

/* Were all the words taken, and none after them? */
static inline bool
script_used_up(const DpRandom *rng)
{
	DpRandom fresh;

	dp_random_seeded(&fresh, 0x736372, 0, 0);
	return rng->left == 0 && rng->state == fresh.state;
}

#endif /* SCRIPT_RNG_H */
