/*
 * read.h
 *	  From the relation's rows to a corpus of token ids.
 */
#ifndef DPNGRAM_READ_H
#define DPNGRAM_READ_H

#include "access/attnum.h"
#include "ngram/corpus.h"
#include "ngram/tokenize.h"
#include "ngram/vocabulary.h"

typedef struct ReadSpec
{
	Oid relid; /* locked by the caller */
	Oid owner; /* rows are read as this role */
	AttrNumber user_attnum;
	AttrNumber text_attnum;
	AttrNumber time_attnum; /* 0: rows of all times are read */
	Datum time_from;		/* else those from here on, of the column's type, or */
	Datum time_to;			/* its domain's base type, and before this */
	Tokenizer *tokenizer;
	int max_tokens; /* longer documents are dropped; 0: no limit */
} ReadSpec;

extern void read_corpus(const ReadSpec *spec, Vocabulary *vocabulary, Corpus *corpus);

#endif /* DPNGRAM_READ_H */
