/*
 * vocabulary.h
 *	  Token strings and their ids.
 */
#ifndef DPNGRAM_VOCABULARY_H
#define DPNGRAM_VOCABULARY_H

#include "postgres.h"

typedef struct Vocabulary Vocabulary;

extern Vocabulary *vocabulary_create(void);
extern uint32 vocabulary_intern(Vocabulary *vocabulary, const char *token, int len);
extern uint32 vocabulary_find(Vocabulary *vocabulary, const char *token, int len);
extern uint32 vocabulary_size(const Vocabulary *vocabulary);
extern const char *vocabulary_string(const Vocabulary *vocabulary, uint32 id, int *len);
extern uint64 vocabulary_hash(const Vocabulary *vocabulary, uint32 id);
extern int vocabulary_compare(const Vocabulary *vocabulary, uint32 a, uint32 b);

#endif /* DPNGRAM_VOCABULARY_H */
