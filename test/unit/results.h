/*
 * results.h
 *	  What a method returns, compared and freed, for the tests that run methods twice.
 */
#ifndef RESULTS_H
#define RESULTS_H

#include "local/local.h"

static inline void
results_free(LocalResult *result)
{
	for (int i = 0; i < result->n; i++)
		pfree(result->found[i].symbol);
	pfree(result->found);
}

/* The same terms with the same numbers, to the last bit. */
static inline bool
results_equal(const LocalResult *a, const LocalResult *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
	{
		const LocalFound *x = &a->found[i];
		const LocalFound *y = &b->found[i];

		if (x->length != y->length || x->estimate != y->estimate || x->stddev != y->stddev ||
			memcmp(x->symbol, y->symbol, x->length * sizeof(uint16)) != 0)
			return false;
	}
	return true;
}

#endif /* RESULTS_H */
