/*
 * corpus_builder.h
 *	  From rows in any order to a corpus.
 */
#ifndef DPNGRAM_CORPUS_BUILDER_H
#define DPNGRAM_CORPUS_BUILDER_H

#include "ngram/corpus.h"
#include "ngram/tokenize.h"
#include "ngram/users.h"
#include "ngram/vocabulary.h"

typedef struct CorpusBuilder CorpusBuilder;

extern CorpusBuilder *corpus_builder_create(Tokenizer *tokenizer, int max_tokens,
											const UserType *users, Vocabulary *vocabulary,
											Corpus *corpus);
extern void corpus_builder_add(CorpusBuilder *builder, uint64 hash, Datum user, Datum text);
extern void corpus_builder_finish(CorpusBuilder *builder);

#endif /* DPNGRAM_CORPUS_BUILDER_H */
