/*
 * audit_rounds_reference.h
 *	  dpne-mr once more: plain loops over every string of k words.
 */
#ifndef DPNGRAM_AUDIT_ROUNDS_REFERENCE_H
#define DPNGRAM_AUDIT_ROUNDS_REFERENCE_H

#include "audit_rounds.h"

#define MOST_LEVELS 8

/* One string of k words. */
typedef struct Gram
{
	bool supported; /* some user has it, and it is in V_k */
	int64 sum;
	int64 spent;
	int bias;
	int bucket;
	int64 weight; /* of the round */
	/* S_k */
	uint32 number; /* from 1; 0: not released */
	GramWeight released;
} Gram;

/* What the engine said of a bucket. */
typedef struct BucketTrace
{
	uint64 members;
	uint64 support;
	int64 threshold;
} BucketTrace;

typedef struct Reference
{
	World *world;
	const NgramPlan *plan;
	Noise draws; /* seeded; with the engine's sampling key */
	int k;
	int word_round;
	uint64 size[MOST_LEVELS + 1]; /* words^k */
	Gram *gram[MOST_LEVELS + 1];  /* by rank */

	/* of the engine */
	LevelNoise noise;
	BucketTrace bucket[MOST_LEVELS + 1][BUCKETS];

	/* what was seen on the way */
	int64 wrong_buckets;  /* whose members or support are others in number */
	double most_expected; /* spurious rows, over their bound */
	int64 biased;		  /* rows with a bias below 1 */
} Reference;

extern double reference_budget(const Reference *ref, double left);
extern void reference_words(Reference *ref);
extern void reference_level(Reference *ref);
extern bool reference_valid(const Reference *ref, uint64 rank);
extern uint64 reference_released(const Reference *ref, int k);
extern void reference_number(Reference *ref);

#endif /* DPNGRAM_AUDIT_ROUNDS_REFERENCE_H */
