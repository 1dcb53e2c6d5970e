/*
 * words.h
 *	  S_1: words found by their keys, and numbered by their texts.
 */
#ifndef DPNGRAM_WORDS_H
#define DPNGRAM_WORDS_H

#include "ngram/extract.h"

typedef struct FoundWord
{
	ItemKey item;
	GramWeight weight;
} FoundWord;

/* Words on their way to S_1, and for tests the support of level 1. */
typedef struct FoundWords
{
	FoundWord *word;
	Size n;
	Size capacity;
	Histogram *traced; /* NULL but in tests */
} FoundWords;

extern void found_words_init(FoundWords *found, const Extraction *extraction);
extern void found_words_add(FoundWords *found, ItemKey item, GramWeight weight);
extern void found_words_trace(FoundWords *found, ItemKey key, int64 weight);
extern GramSet *found_words_number(FoundWords *found, const Extraction *extraction,
								   TextSource *source, WordText **text);

#endif /* DPNGRAM_WORDS_H */
