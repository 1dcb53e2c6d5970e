/*
 * word_rounds.h
 *	  The words that many users share, released in rounds of rising budget.
 */
#ifndef DPNGRAM_WORD_ROUNDS_H
#define DPNGRAM_WORD_ROUNDS_H

#include "ngram/extract.h"

extern GramSet *extract_word_rounds(Extraction *extraction, TextSource *source,
									const WordRounds *rounds, WordText **text, double *mu2_used);

#endif /* DPNGRAM_WORD_ROUNDS_H */
