/*
 * node_pack.h
 *	  Exact weights as bytes that travel.
 */
#ifndef DPNGRAM_NODE_PACK_H
#define DPNGRAM_NODE_PACK_H

#include "ngram/items.h"

typedef struct WeightedItem
{
	ItemKey item;
	int64 weight;
} WeightedItem;

typedef struct WeightList
{
	WeightedItem *entry;
	Size n;
	Size capacity;
} WeightList;

extern void weight_list_init(WeightList *list);
extern void weight_list_add(WeightList *list, ItemKey item, int64 weight);
extern void weight_list_free(WeightList *list);
extern bytea *weight_list_pack(WeightList *list, int level);

/* Reading them back. */
typedef struct PackedWeights
{
	const unsigned char *at;
	const unsigned char *end;
	int level;
	uint64 key;
} PackedWeights;

extern void packed_weights_begin(PackedWeights *packed, const char *bytes, Size size);
extern bool packed_weights_next(PackedWeights *packed, WeightedItem *next);

#endif /* DPNGRAM_NODE_PACK_H */
