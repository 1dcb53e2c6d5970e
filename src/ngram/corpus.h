/*
 * corpus.h
 *	  The private texts as flat arrays of token ids, user after user, in memory
 *	  while they fit and in a temporary file beyond.
 */
#ifndef DPNGRAM_CORPUS_H
#define DPNGRAM_CORPUS_H

#include "postgres.h"

/* Tokens of one user beyond this many are left out (a public cap). */
#define CORPUS_MAX_USER_TOKENS (1 << 28)

typedef struct Corpus Corpus;

/* One user's positions; documents are parted by id 0. */
typedef struct CorpusUser
{
	uint64 hash;   /* of the user's own key, for keyed choices */
	uint32 n;	   /* positions */
	uint32 *id;	   /* n ids: of the (k-1)-gram that starts there */
	uint32 *token; /* n ids of single tokens, or NULL */
} CorpusUser;

/* Memory in bytes that the corpus may take before it goes to disk. */
extern Corpus *corpus_create(Size memory_limit);

/* Building, user after user; ids are positive. */
extern void corpus_begin_user(Corpus *corpus, uint64 hash);
extern void corpus_add_token(Corpus *corpus, uint32 id);
extern void corpus_end_document(Corpus *corpus);
extern void corpus_end_user(Corpus *corpus);

#endif /* DPNGRAM_CORPUS_H */
