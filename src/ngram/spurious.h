/*
 * spurious.h
 *	  Releases from V_k outside the support: the n-grams that nobody wrote.
 */
#ifndef DPNGRAM_SPURIOUS_H
#define DPNGRAM_SPURIOUS_H

#include "utils/tuplesort.h"

#include "common/dp_random.h"
#include "ngram/candidates.h"

typedef struct Support
{
	const Candidates *candidates;
	Tuplesortstate *ranks; /* of the n-grams that somebody wrote */
	uint64 n;
} Support;

extern Support *support_create(const Candidates *candidates);
extern void support_add(Support *support, uint64 key);
extern void support_release_spurious(Support *support, DpRandom *random, int64 sigma,
									 int64 threshold, GramSet *released);
extern void support_free(Support *support);

#endif /* DPNGRAM_SPURIOUS_H */
