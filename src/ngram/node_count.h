/*
 * node_count.h
 *	  From one document, and from one user's n-grams, to exact weights: what a node does.
 */
#ifndef DPNGRAM_NODE_COUNT_H
#define DPNGRAM_NODE_COUNT_H

#include "ngram/node_spec.h"
#include "ngram/tokenize.h"
#include "ngram/users.h"

typedef struct NodeCounter NodeCounter;

/* Takes an n-gram and one user's weight on it. */
typedef void (*WeightSink)(void *state, ItemKey item, int64 weight);

/* Takes a word of S_1. */
typedef void (*WordSink)(void *state, uint32 number, const char *word, int len);

extern NodeCounter *node_counter_create(NodeSpec *spec, Oid user_type, Oid collation,
										Oid text_type);
extern const NodeSpec *node_counter_spec(const NodeCounter *counter);
extern const UserType *node_users(const NodeCounter *counter);
extern uint64 node_user_hash(const NodeCounter *counter, Datum user);

extern int64 node_document(NodeCounter *counter, Datum text, const ItemKey **item, Size *n);
extern void node_words(NodeCounter *counter, Datum text, WordSink sink, void *state);

extern void node_begin_user(const NodeCounter *counter, ItemList *items, uint64 hash);
extern void node_contribute(const NodeCounter *counter, ItemList *items, int64 positions,
							WeightSink sink, void *state);

extern uint64 node_probe(const char *tokenizer, Oid text_type);

#endif /* DPNGRAM_NODE_COUNT_H */
