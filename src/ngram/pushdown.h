/*
 * pushdown.h
 *	  Which statements count n-grams where the rows are.
 */
#ifndef DPNGRAM_PUSHDOWN_H
#define DPNGRAM_PUSHDOWN_H

#include "ngram/node_pack.h"
#include "ngram/node_spec.h"
#include "ngram/read.h"

/* A table, of which a statement has one arm. */
typedef struct PushPart
{
	Oid relid;
	bool foreign;
	AttrNumber user_attnum;
	AttrNumber text_attnum;
	AttrNumber time_attnum; /* or 0 */
	char *bounds;			/* of its users, as a condition on r; NULL: none */
	int nhashes;
	NodeHash hash[NODE_MAX_HASHES];
} PushPart;

/*
 * How a relation is counted.  By nodes: each part's users are in no other part, and the
 * part's server makes one value of them.  Else by sums: a row for each n-gram of each
 * user, grouped above.
 */
typedef struct Pushdown
{
	ReadSpec read;
	bool by_nodes;
	int nparts;
	PushPart *part;

	/* what a node is told of the columns */
	int encoding;
	uint64 probe;
	bool byte_order;
	char *tokenizer;
	char *user_type;
	char *text_type;
} Pushdown;

/* Why a relation can't be counted so, for the caller, and what would help. */
typedef struct PushRefusal
{
	const char *detail;
	const char *hint; /* NULL: nothing */
} PushRefusal;

/* Takes what a part's server has counted. */
typedef void (*PushWeights)(void *state, int part, const WeightedItem *next);

/* Takes a released word that some part has; several may have it. */
typedef void (*PushWord)(void *state, const char *bytes, int len);

extern Pushdown *pushdown_find(const ReadSpec *read, const char *tokenizer, bool automatic,
							   PushRefusal *refusal);

/* pushdown_parts.c */
extern bool pushdown_parts(Pushdown *pushdown, PushRefusal *refusal);

/* pushdown_query.c; spec: one for each part by nodes, else one */
extern bool pushdown_ships(const Pushdown *pushdown);
extern void pushdown_count(const Pushdown *pushdown, bytea **spec, PushWeights sink, void *state);
extern void pushdown_words(const Pushdown *pushdown, bytea **spec, PushWord sink, void *state);

/* source_pushdown.c */
extern TextSource *source_pushdown_create(const Pushdown *pushdown, const CountSpec *spec,
										  Size memory_limit);

#endif /* DPNGRAM_PUSHDOWN_H */
