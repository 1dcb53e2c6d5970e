/*
 * grams.h
 *	  The n-grams of one value, and the parts of an n-gram.
 */
#ifndef DPNGRAM_GRAMS_H
#define DPNGRAM_GRAMS_H

#include "lib/stringinfo.h"
#include "ngram/tokenize.h"

/* An n-gram's bytes within the cutter's text. */
typedef struct Gram
{
	int start;
	int len;
} Gram;

typedef struct GramCutter
{
	Tokenizer *tokenizer;
	int n;
	int max_tokens; /* values with more tokens have no n-grams; 0: no limit */

	/* of the value that was cut last */
	Gram *gram;
	Size ngrams;
	StringInfoData text; /* its tokens, each with a blank after it */
	int *token;			 /* where each token starts */
	Size ntokens;

	/* work space */
	Size gram_capacity;
	Size token_capacity;
	int run; /* tokens since the last place that no n-gram may span */
	bool too_long;
	MemoryContext work; /* for what the tokenizer allocates */
} GramCutter;

extern GramCutter *gram_cutter_create(Tokenizer *tokenizer, int n, int max_tokens);
extern void gram_cut(GramCutter *cutter, Datum value);

extern int gram_tokens(const char *text, int len, bool escaped, int *last);

#endif /* DPNGRAM_GRAMS_H */
