/*
 * fingerprint.h
 *	  Polynomials modulo the prime 2^61 - 1 at secret random points, by which n-grams and
 *	  words are told apart without their texts.
 *
 * Two given sequences of at most n values agree at a random point with probability at
 * most n / 2^61, whoever chose them: no text can be made to collide with another, as it
 * could under a hash that is known beforehand.
 */
#ifndef DPNGRAM_FINGERPRINT_H
#define DPNGRAM_FINGERPRINT_H

#include "postgres.h"

#include "common/dp_sample.h"
#include "common/hashfn.h"
#include "ngram/items.h"

#define FINGERPRINT_PRIME ((UINT64CONST(1) << 61) - 1)

/* (a * b + c) mod 2^61 - 1, for arguments below 2^61 */
static inline uint64
fingerprint_step(uint64 a, uint64 b, uint64 c)
{
	dp_uint128 x = (dp_uint128) a * b + c;
	uint64 y = (uint64) (x & FINGERPRINT_PRIME) + (uint64) (x >> 61);

	return y >= FINGERPRINT_PRIME ? y - FINGERPRINT_PRIME : y;
}

/* A random evaluation point: not 0, and below the prime. */
static inline uint64
fingerprint_point(DpRandom *random)
{
	return 1 + dp_uniform(random, FINGERPRINT_PRIME - 1);
}

#define WORD_PIECE 7 /* bytes: below the prime as a number */

/*
 * A word as an n-gram of level 1.  Its key is the polynomial in its pieces of seven bytes
 * that begins with its length: two words of at most B bytes share one with probability at
 * most (B / 7 + 2) / 2^61.  Its content, which orders a user's words and keys seeded
 * noise, is the same in every call: made of hash_bytes_extended() with seed 0.
 */
static inline uint64
word_print(const char *bytes, int len, uint64 point)
{
	uint64 key = (uint64) len + 1;

	for (int i = 0; i < len; i += WORD_PIECE)
	{
		uint64 piece = 0;

		memcpy(&piece, bytes + i, Min(WORD_PIECE, len - i));
		key = fingerprint_step(key, point, piece);
	}
	return key;
}

static inline uint64
word_content(uint64 hash)
{
	return dp_mix64(0, hash);
}

static inline ItemKey
word_key(const char *bytes, int len, uint64 point)
{
	return (ItemKey){word_print(bytes, len, point),
					 word_content(hash_bytes_extended((const unsigned char *) bytes, len, 0))};
}

#endif /* DPNGRAM_FINGERPRINT_H */
