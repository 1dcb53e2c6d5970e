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

/* Where the polynomials of words are evaluated: random, secret, independent. */
typedef struct WordPoints
{
	uint64 key;
	uint64 content;
} WordPoints;

static inline WordPoints
word_points(DpRandom *random)
{
	WordPoints points = {fingerprint_point(random), fingerprint_point(random)};

	return points;
}

#define WORD_PIECE 7 /* bytes: below the prime as a number */

/*
 * A word as an n-gram of level 1: key and content are the polynomial in its pieces of
 * seven bytes that begins with its length, at two points.  Two words of at most B bytes
 * share both with probability at most ((B / 7 + 2) / 2^61)^2.  The content is mixed, since
 * all its bits are used.
 */
static inline ItemKey
word_key(const char *bytes, int len, WordPoints points)
{
	uint64 key = (uint64) len + 1;
	uint64 content = key;

	for (int i = 0; i < len; i += WORD_PIECE)
	{
		uint64 piece = 0;

		memcpy(&piece, bytes + i, Min(WORD_PIECE, len - i));
		key = fingerprint_step(key, points.key, piece);
		content = fingerprint_step(content, points.content, piece);
	}
	return (ItemKey){key, dp_splitmix_finish(content)};
}

#endif /* DPNGRAM_FINGERPRINT_H */
