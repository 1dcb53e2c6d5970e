/*
 * spurious.h
 *	  Releases from V_k outside the support: the n-grams that nobody wrote.
 */
#ifndef DPNGRAM_SPURIOUS_H
#define DPNGRAM_SPURIOUS_H

#include "ngram/candidates.h"
#include "ngram/skips.h"

typedef struct Support
{
	const Candidates *candidates;
	Skips *skips; /* over the ranks of those that nobody wrote */
	uint64 n;	  /* n-grams that somebody wrote */
} Support;

extern Support *support_create(const Candidates *candidates, Size memory_limit);
extern void support_add(Support *support, uint64 key);
extern void support_release_spurious(Support *support, DpRandom *random, int64 sigma,
									 int64 threshold, GramSet *released);
extern void support_free(Support *support);

#endif /* DPNGRAM_SPURIOUS_H */
