/*
 * brute_force.h
 *	  Small worlds in which V_k is built member by member, by its definition.
 */
#ifndef BRUTE_FORCE_H
#define BRUTE_FORCE_H

#include "common/dp_sample.h"
#include "ngram/buckets.h"
#include "ngram/candidates.h"

#define WORLD_LENGTH 4
#define WEIGHT_SCHEMES 7
#define SMOOTH_WEIGHTS 6

/*
 * All sequences of `words` words have a place: with the words as digits, the
 * first one the highest, the number that they make.
 */
typedef struct World
{
	NgramPruning pruning;
	uint32 words;
	int k; /* V_k is looked at; S_1 .. S_{k-1} are there */
	uint32 places[WORLD_LENGTH + 1];

	GramSet *set[WORLD_LENGTH];
	uint32 *number[WORLD_LENGTH]; /* by place: of a gram in its set, or 0 */

	/* V_k, in the order of its members' places */
	uint32 n;
	uint64 *key;
	double *prediction;
} World;

typedef struct WorldShape
{
	uint32 words;
	int k;
	NgramPruning pruning;
	int scheme;	  /* how weights are made, below WEIGHT_SCHEMES */
	uint64 share; /* percent of V_j that are in S_j; 0: any, length by length */
} WorldShape;

extern World *world_create(DpRandom *rng, const WorldShape *shape);
extern double any_weight(DpRandom *rng, int scheme);
extern void world_free(World *world);

#endif /* BRUTE_FORCE_H */
