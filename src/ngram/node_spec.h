/*
 * node_spec.h
 *	  What a node is asked to count, in one value that a statement carries.
 */
#ifndef DPNGRAM_NODE_SPEC_H
#define DPNGRAM_NODE_SPEC_H

#include "ngram/source.h"

/* Levels of partitioning by hash, one inside the other. */
#define NODE_MAX_HASHES 8

/* Users of one partition alone: those whose hash leaves this remainder. */
typedef struct NodeHash
{
	int32 modulus;
	int32 remainder;
} NodeHash;

/*
 * All that a count depends on but the rows.  The node computes by its own functions, so
 * what it takes for a user or a word must be what the coordinator does: types go by name,
 * and "probe" is what the coordinator's tokenizer makes of a fixed text.
 */
typedef struct NodeSpec
{
	CountSpec count;
	int level; /* of the n-grams; words are asked for as of level 2 */
	int draw;  /* of their choice among more than the bound */
	int encoding;
	uint64 probe;
	bool byte_order; /* users must be ordered by bytes: so the partitions' bounds say */
	int nhashes;
	NodeHash hash[NODE_MAX_HASHES];
	char *tokenizer;
	char *user_type;
	char *text_type;

	/* S_1 .. S_{level-1}, by number: keys of words, then pairs of numbers */
	uint32 n[NGRAM_MAX_LENGTH + 1];
	const uint64 *key[NGRAM_MAX_LENGTH + 1];

	/* n-grams of the level that have not the full bias */
	uint32 nbiases;
	const uint64 *biased;
	const uint16 *bias;
} NodeSpec;

extern bytea *node_spec_pack(const NodeSpec *spec);
extern NodeSpec *node_spec_parse(const char *bytes, Size size);

#endif /* DPNGRAM_NODE_SPEC_H */
