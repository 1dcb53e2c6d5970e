/*
 * tokenize.h
 *	  From one value of the text column to tokens.
 */
#ifndef DPNGRAM_TOKENIZE_H
#define DPNGRAM_TOKENIZE_H

#include "postgres.h"

typedef struct Tokenizer Tokenizer;

/* Receives the tokens in order; token = NULL marks a place that no n-gram may span. */
typedef void (*TokenSink)(void *state, const char *token, int len);

/*
 * name: 'word', 'whitespace', 'parser:NAME', 'config:NAME' (resolved now, under
 * the caller's search_path), 'item' (the whole value is one token), or 'term' (the same,
 * but for arrays, of which each element is one).
 * coltype: the column's type.  Errors: ERRCODE_DP_ARGUMENT for an unknown
 * tokenizer, ERRCODE_DP_COLUMN for a type without tokens.
 */
extern Tokenizer *tokenizer_create(const char *name, Oid coltype);
extern bool tokenizer_escapes(const Tokenizer *tokenizer);
extern const char *tokenizer_name(const Tokenizer *tokenizer);
extern void tokenize(Tokenizer *tokenizer, Datum value, TokenSink sink, void *state);

#endif /* DPNGRAM_TOKENIZE_H */
