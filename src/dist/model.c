/*
 * model.c
 *	  A distribution over n-grams, asked for a word's probability after the words
 *	  before it: P(w_n | w_1 .. w_{n-1}) = P(w_1 .. w_n) / sum over w of
 *	  P(w_1 .. w_{n-1} w), the maximum-likelihood trigram model of section 4.6 of
 *	  Ramadan et al. (2021), with no back-off.
 *
 * n-grams and their first n - 1 words are interned in a vocabulary each, so that
 * numbers stand in arrays by id.  The model lives in the memory context in which it was
 * created.
 */
#include "postgres.h"

#include <math.h>

#include "utils/memutils.h"

#include "common/dp_sum.h"
#include "dist/grams.h"
#include "dist/model.h"
#include "ngram/vocabulary.h"

#define FIRST_GRAMS 1024

struct NgramModel
{
	MemoryContext context;
	int n;
	bool escaped;
	Vocabulary *grams;
	Vocabulary *prefixes;

	/* by the n-gram's id - 1; after model_finish() the logarithm, given the words before */
	double *probability;
	uint32 *prefix;
	Size gram_capacity;

	/* by the prefix's id - 1 */
	DpSum *total;
	Size prefix_capacity;
};

/* model_create: an empty distribution over n-grams of length n; escaped as of gram_tokens(). */
NgramModel *
model_create(int n, bool escaped)
{
	NgramModel *model = palloc0(sizeof(NgramModel));

	model->context = CurrentMemoryContext;
	model->n = n;
	model->escaped = escaped;
	model->grams = vocabulary_create(SIZE_MAX, (WordPoints){0});
	model->prefixes = vocabulary_create(SIZE_MAX, (WordPoints){0});
	model->gram_capacity = FIRST_GRAMS;
	model->probability = palloc(FIRST_GRAMS * sizeof(double));
	model->prefix = palloc(FIRST_GRAMS * sizeof(uint32));
	model->prefix_capacity = FIRST_GRAMS;
	model->total = palloc0(FIRST_GRAMS * sizeof(DpSum));
	return model;
}

static void
add_gram(NgramModel *model, uint32 id, uint32 prefix, double probability)
{
	if (id > model->gram_capacity)
	{
		model->gram_capacity *= 2;
		model->probability = repalloc_huge(model->probability,
										   model->gram_capacity * sizeof(double));
		model->prefix = repalloc_huge(model->prefix, model->gram_capacity * sizeof(uint32));
	}
	model->probability[id - 1] = probability;
	model->prefix[id - 1] = prefix;
}

static void
add_to_prefix(NgramModel *model, uint32 prefix, double probability)
{
	if (prefix > model->prefix_capacity)
	{
		Size old = model->prefix_capacity;

		model->prefix_capacity *= 2;
		model->total = repalloc_huge(model->total, model->prefix_capacity * sizeof(DpSum));
		memset(model->total + old, 0, old * sizeof(DpSum));
	}
	dp_sum_add(&model->total[prefix - 1], probability);
}

/* model_add: adds an n-gram, or says what is wrong with it. */
ModelDefect
model_add(NgramModel *model, const char *ngram, int len, double probability)
{
	uint32 known = vocabulary_size(model->grams);
	int last;
	uint32 id;
	uint32 prefix;

	if (!(probability >= 0) || isinf(probability))
		return MODEL_PROBABILITY;
	if (gram_tokens(ngram, len, model->escaped, &last) != model->n)
		return MODEL_LENGTH;
	id = vocabulary_intern(model->grams, ngram, len);
	if (id <= known)
		return MODEL_DUPLICATE;
	prefix = vocabulary_intern(model->prefixes, ngram, Max(last - 1, 0));
	add_gram(model, id, prefix, probability);
	add_to_prefix(model, prefix, probability);
	return MODEL_OK;
}

/* model_finish: all n-grams are there.  What has probability 0 never follows. */
void
model_finish(NgramModel *model)
{
	uint32 n = vocabulary_size(model->grams);

	for (uint32 i = 0; i < n; i++)
	{
		double total = dp_sum_value(&model->total[model->prefix[i] - 1]);

		model->probability[i] = model->probability[i] > 0 ? log(model->probability[i] / total) :
															-INFINITY;
	}
}

/*
 * model_log_probability: the logarithm of the probability of an n-gram's last word
 * after the words before it; false if the n-gram is not in the vocabulary.
 */
bool
model_log_probability(NgramModel *model, const char *ngram, int len, double *log_probability)
{
	uint32 id = vocabulary_find(model->grams, ngram, len);

	if (id == 0)
		return false;
	*log_probability = model->probability[id - 1];
	return true;
}
