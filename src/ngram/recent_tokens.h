/*
 * recent_tokens.h
 *	  The ids of short tokens that were met lately.
 *
 * Most tokens of a text are short, and few words make most of it.  Up to 16 bytes are
 * compared as two numbers, without a hash of the bytes and with one place in memory
 * touched, in a table that fits into the processor's second cache.
 */
#ifndef DPNGRAM_RECENT_TOKENS_H
#define DPNGRAM_RECENT_TOKENS_H

#include "postgres.h"

#include "common/dp_random.h"

/* The last token is remembered at each of these places. */
#define RECENT_BITS 12

/* A token of up to 16 bytes: two numbers that, with its length, are all of it. */
typedef struct RecentToken
{
	uint64 head;
	uint64 tail;
	uint32 len; /* 0: none */
	uint32 id;
} RecentToken;

typedef struct RecentTokens
{
	RecentToken place[1 << RECENT_BITS];
} RecentTokens;

static inline uint64
load64(const char *from)
{
	uint64 value;

	memcpy(&value, from, sizeof(value));
	return value;
}

static inline uint64
load32(const char *from)
{
	uint32 value;

	memcpy(&value, from, sizeof(value));
	return value;
}

/*
 * A token of 1 to 16 bytes; others have length 0.  What overlaps in the two numbers is told
 * by the length.
 */
static inline RecentToken
short_token(const char *token, int len)
{
	RecentToken recent = {.len = (uint32) len};

	if (len < 1 || len > 16)
		recent.len = 0;
	else if (len >= 8)
	{
		recent.head = load64(token);
		recent.tail = load64(token + len - 8);
	}
	else if (len >= 4)
		recent.head = load32(token) | load32(token + len - 4) << 32;
	else
		recent.head = (unsigned char) token[0] | (uint64) (unsigned char) token[len / 2] << 8 |
					  (uint64) (unsigned char) token[len - 1] << 16;
	return recent;
}

static inline RecentToken *
recent_place(RecentTokens *tokens, const RecentToken *token)
{
	uint64 mix = (token->head ^ (token->tail * DP_SPLITMIX_GAMMA) ^ token->len) *
				 UINT64CONST(0xBF58476D1CE4E5B9);

	return &tokens->place[mix >> (64 - RECENT_BITS)];
}

/* The id of a token that was met lately, or 0. */
static inline uint32
recent_find(RecentTokens *tokens, const RecentToken *token)
{
	const RecentToken *place = recent_place(tokens, token);

	return place->head == token->head && place->tail == token->tail && place->len == token->len ?
			   place->id :
			   0;
}

static inline void
recent_remember(RecentTokens *tokens, const RecentToken *token, uint32 id)
{
	RecentToken *place = recent_place(tokens, token);

	*place = *token;
	place->id = id;
}

#endif /* DPNGRAM_RECENT_TOKENS_H */
