/*
 * model.h
 *	  A distribution over n-grams, asked for a word's probability after the words
 *	  before it.
 */
#ifndef DPNGRAM_MODEL_H
#define DPNGRAM_MODEL_H

#include "postgres.h"

typedef struct NgramModel NgramModel;

/* What model_add() can find wrong with an n-gram. */
typedef enum ModelDefect
{
	MODEL_OK,
	MODEL_PROBABILITY, /* negative, infinite or NaN */
	MODEL_LENGTH,	   /* not n tokens */
	MODEL_DUPLICATE
} ModelDefect;

extern NgramModel *model_create(int n, bool escaped);
extern ModelDefect model_add(NgramModel *model, const char *ngram, int len, double probability);
extern void model_finish(NgramModel *model);
extern bool model_log_probability(NgramModel *model, const char *ngram, int len,
								  double *log_probability);

#endif /* DPNGRAM_MODEL_H */
