/*
 * vocabulary.h
 *	  Token strings and their ids.
 */
#ifndef DPNGRAM_VOCABULARY_H
#define DPNGRAM_VOCABULARY_H

#include "postgres.h"

#include "ngram/fingerprint.h"
#include "ngram/word_file.h"

typedef struct Vocabulary Vocabulary;

/* A word's bytes, not terminated. */
typedef struct WordText
{
	const char *bytes;
	int len;
} WordText;

/* Tokens that may wait to be interned. */
#define VOCABULARY_WAITING 64

/* Bytes of a token that has no string elsewhere. */
#define VOCABULARY_NEAR 12

typedef struct VocabularyWord
{
	ItemKey item;				 /* as an n-gram of level 1 */
	char bytes[VOCABULARY_NEAR]; /* of a short token; else it begins with a pointer to them */
	uint32 len;
} VocabularyWord;

extern Vocabulary *vocabulary_create(Size memory_limit, WordPoints points);
extern uint32 vocabulary_intern(Vocabulary *vocabulary, const char *token, int len);
extern uint32 vocabulary_offer(Vocabulary *vocabulary, const char *token, int len);
extern void vocabulary_settle(Vocabulary *vocabulary, uint32 *id, ItemKey *item);
extern ItemKey vocabulary_escaped(const Vocabulary *vocabulary);
extern uint32 vocabulary_find(Vocabulary *vocabulary, const char *token, int len);
extern uint32 vocabulary_size(const Vocabulary *vocabulary);
extern bool vocabulary_complete(const Vocabulary *vocabulary);
extern const char *vocabulary_string(const Vocabulary *vocabulary, uint32 id, int *len);
extern uint64 vocabulary_hash(const Vocabulary *vocabulary, uint32 id);
extern const VocabularyWord *vocabulary_words(const Vocabulary *vocabulary);
extern ItemKey vocabulary_item(const Vocabulary *vocabulary, uint32 id);
extern int vocabulary_compare(const Vocabulary *vocabulary, uint32 a, uint32 b);
extern WordPoints vocabulary_points(const Vocabulary *vocabulary);
extern WordFile *vocabulary_escapes(const Vocabulary *vocabulary);
extern void vocabulary_spell(const Vocabulary *vocabulary, const ItemKey *word, uint32 n,
							 WordText *text);
extern void vocabulary_forget(Vocabulary *vocabulary);
extern void vocabulary_free(Vocabulary *vocabulary);

#endif /* DPNGRAM_VOCABULARY_H */
