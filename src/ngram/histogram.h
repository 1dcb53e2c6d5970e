/*
 * histogram.h
 *	  Sums of integer weights by n-gram, in memory or partitioned on disk.
 */
#ifndef DPNGRAM_HISTOGRAM_H
#define DPNGRAM_HISTOGRAM_H

#include "ngram/items.h"

typedef struct HistogramEntry
{
	ItemKey key;
	int64 weight : 62; /* in lattice units */
	uint64 status : 2; /* of the hash table */
} HistogramEntry;

typedef struct Histogram Histogram;

typedef void (*HistogramVisitor)(void *state, const HistogramEntry *entry);

extern uint64 table_members_within(Size memory_limit, Size entry);
extern Histogram *histogram_create(Size memory_limit);
extern void histogram_prefetch(const Histogram *histogram, ItemKey key);
extern void histogram_add(Histogram *histogram, ItemKey key, int64 weight);
extern HistogramEntry *histogram_find(Histogram *histogram, ItemKey key);
extern void histogram_consume(Histogram *histogram, HistogramVisitor visit, void *state);
extern void histogram_free(Histogram *histogram);

#endif /* DPNGRAM_HISTOGRAM_H */
