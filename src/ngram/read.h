/*
 * read.h
 *	  From the relation's rows to whoever counts them: user by user, or as they come.
 */
#ifndef DPNGRAM_READ_H
#define DPNGRAM_READ_H

#include "access/attnum.h"
#include "ngram/corpus.h"
#include "ngram/tokenize.h"
#include "ngram/users.h"
#include "ngram/vocabulary.h"

typedef struct ReadSpec
{
	Oid relid; /* locked by who reads */
	Oid owner; /* rows are read as this role */
	AttrNumber user_attnum;
	AttrNumber text_attnum;
	Oid text_type;			/* which the tokenizer is for */
	AttrNumber time_attnum; /* 0: rows of all times are read */
	Datum time_from;		/* else those from here on, of the column's type, or */
	Datum time_to;			/* its domain's base type, and before this */
	Tokenizer *tokenizer;
	const char *tokenizer_name; /* as the caller wrote it */
	int max_tokens;				/* longer documents are dropped; 0: no limit */
	bool every_user;			/* the sink hears also of users without a token */
} ReadSpec;

/*
 * Who takes the tokens: begin_user with a hash that equal users share, then the
 * user's tokens by id, in documents, then end_user.  token_id gives a token's id,
 * never 0; it is asked before the user is known to have any token that counts.
 */
typedef struct ReadSink
{
	void *state; /* the first argument of each */
	uint32 (*token_id)(void *state, const char *token, int len);
	void (*begin_user)(void *state, uint64 hash);
	void (*add_token)(void *state, uint32 id);
	void (*end_document)(void *state); /* also within a document, where no n-gram may span */
	void (*end_user)(void *state);
} ReadSink;

/*
 * Takes a row that has a user and a text, in the order in which they come.  hash is a
 * number that all rows of a user share, and few users share: see read_documents().
 * The values may be toasted, packed or live in a buffer, and are gone after the call;
 * so is what is allocated in the context that is current.
 */
typedef void (*DocumentSink)(void *state, uint64 hash, Datum user, Datum text);

extern UserType read_user_type(const ReadSpec *spec);
extern bool read_worth_workers(const ReadSpec *spec);
extern void read_rows(const ReadSpec *spec, const ReadSink *sink);
extern void read_documents(const ReadSpec *spec, DocumentSink sink, void *state);
extern void read_corpus_in_order(const ReadSpec *spec, Vocabulary *vocabulary, Corpus *corpus);
extern void read_corpus(const ReadSpec *spec, Vocabulary *vocabulary, Corpus *corpus);

#endif /* DPNGRAM_READ_H */
