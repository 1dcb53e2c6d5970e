/*
 * word_rounds.h
 *	  The words that many users share, released in rounds of rising budget.
 */
#ifndef DPNGRAM_WORD_ROUNDS_H
#define DPNGRAM_WORD_ROUNDS_H

#include "ngram/extract.h"

extern Corpus *extract_word_lists(Extraction *extraction, int64 bound, int draw);
extern GramSet *extract_word_rounds(Extraction *extraction, const WordRounds *rounds,
									uint32 **word_ids, double *mu2_used);

#endif /* DPNGRAM_WORD_ROUNDS_H */
