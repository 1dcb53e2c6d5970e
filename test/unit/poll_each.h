/*
 * poll_each.h
 *	  A poll that asks its users one by one, and writes down what it asked.
 *
 * This is the protocol itself: each user knows one term, and each answer is drawn on its
 * own.  What counts drawn at once claim to be equal to, and what methods are tested on.
 */
#ifndef POLL_EACH_H
#define POLL_EACH_H

#include "local/poll.h"

/* So many users who have one term; "" for users without any. */
typedef struct PollWord
{
	const char *word; /* of letters a, b, ...: symbols 1, 2, ... */
	int64 users;
} PollWord;

/* What was asked of one range of places: about one node, or about lengths. */
typedef struct PollAsked
{
	int32 node; /* POLL_LENGTHS: about lengths */
	int64 from;
	int64 to;
	double epsilon; /* what one answer costs, by the oracle's probabilities */
} PollAsked;

#define POLL_LENGTHS (-1)

typedef struct PollEach
{
	Poll poll; /* its state is this structure: it must not move */
	DpRandom *rng;
	LocalTerm *term; /* at each place */
	uint16 **symbol; /* of each word */
	int n_words;
	const bool *present; /* does the user at a place answer?  NULL: all do */
	bool recording;		 /* write down who was asked what */
	int n_asked;
	int capacity;
	PollAsked *asked;
	int32 n_nodes;
	int32 *parent; /* of each node of the trie that was asked about */
} PollEach;

extern void poll_each_init(PollEach *each, const PollWord *words, int n, DpRandom *rng);
extern void poll_each_shuffle(PollEach *each);
extern void poll_each_free(PollEach *each);
extern double poll_each_epsilon(const PollEach *each);

#endif /* POLL_EACH_H */
