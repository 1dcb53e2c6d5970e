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
/*
 * The same for a read as the relation's owner: object is what tokenizer_object() says of the
 * caller's.  A text search configuration must be the owner's or a superuser's, as all of its
 * dictionaries (ERRCODE_DP_ARGUMENT), and where one of these fails there are no tokens.
 */
extern Tokenizer *tokenizer_create_of(const char *name, Oid object, Oid coltype, Oid owner);
extern Oid tokenizer_object(const Tokenizer *tokenizer);
extern bool tokenizer_escapes(const Tokenizer *tokenizer);
extern const char *tokenizer_name(const Tokenizer *tokenizer);
extern void tokenize(Tokenizer *tokenizer, Datum value, TokenSink sink, void *state);

#endif /* DPNGRAM_TOKENIZE_H */
