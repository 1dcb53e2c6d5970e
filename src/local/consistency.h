/*
 * consistency.h
 *	  Estimates that agree along a trie: weighted least squares in two passes.
 */
#ifndef DPNGRAM_LOCAL_CONSISTENCY_H
#define DPNGRAM_LOCAL_CONSISTENCY_H

#include <math.h>

#include "local/trie.h"

/* An unbiased estimate of the users below a node; variance INFINITY: there is none. */
typedef struct NodeEstimate
{
	double value;
	double variance;
} NodeEstimate;

#define NO_ESTIMATE ((NodeEstimate){0, INFINITY})

extern void consistency_fit(const Trie *trie, const NodeEstimate *first,
							const NodeEstimate *second, NodeEstimate *fit);

#endif /* DPNGRAM_LOCAL_CONSISTENCY_H */
