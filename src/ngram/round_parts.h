/*
 * round_parts.h
 *	  Inside rounds.c and round_parts.c: a level's n-grams in parts that fit into memory.
 */
#ifndef DPNGRAM_ROUND_PARTS_H
#define DPNGRAM_ROUND_PARTS_H

#include "ngram/corpus.h"
#include "ngram/depot.h"
#include "ngram/rounds.h"

/* What a round does with an n-gram for every user who has it: all in one word. */
typedef struct Tally
{
	uint64 weight : 53; /* of this round so far; 2^33 users at least */
	uint64 bias : 11;
} Tally;

/* The n-grams that are in memory at one time, and the users' lists of them. */
typedef struct Part
{
	Corpus *lists; /* ids: numbers; hash: the user's number, or if merged the number of users */
	uint32 n;
	RoundGram *gram; /* NULL while the part is parked */
	Tally *tally;
	DepotPlace parked; /* of gram and tally, if there are other parts */
	struct Part *next;
} Part;

typedef struct PartBuilder PartBuilder;

struct RoundLists
{
	MemoryContext context;
	Size limit; /* bytes, for n-grams */
	int k;
	uint64 users;
	PartBuilder *builder; /* of the first part */
	Part *parts;
	Part **tail;
	Depot parked;
	BufFile *rest; /* the lists of all parts but the first, part by part */
	bool merged;   /* there is one part, and equal lists in it are one */

	/* if there are several parts: each user's sum of squared biases */
	BufFile *norms;		 /* in this round */
	BufFile *next_norms; /* in the next, of the parts that are done */
	BufFile *spare;
};

/* round_merge.c */
extern void round_lists_merge(Corpus *lists, Size memory_limit);

extern void round_lists_built(RoundLists *lists);
extern void part_park(RoundLists *lists, Part *part);
extern void part_fetch(RoundLists *lists, Part *part);
extern void round_file_rewind(BufFile *file);
extern void round_file_read(BufFile *file, void *to, Size size);

#endif /* DPNGRAM_ROUND_PARTS_H */
