/*
 * attack.h
 *	  How well releases tell whether one user is in the population.
 */
#ifndef DPNGRAM_ATTACK_H
#define DPNGRAM_ATTACK_H

#include "common/dp_clopper.h"
#include "dist/world.h"

/* Each half of the releases is one world's trials of an event. */
#define ATTACK_MIN_RUNS 2
#define ATTACK_MAX_RUNS DP_CLOPPER_MAX_TRIALS

#define ATTACK_MIN_CONFIDENCE 0.5
#define ATTACK_MAX_CONFIDENCE 0.999999

/* What was found; all of it is about one real user, and private. */
typedef struct AttackResult
{
	int wins;			/* runs in which the release with the user was nearer */
	double probability; /* their share, ties counting one half */
	double epsilon;		/* a lower bound of the mechanism's, from these releases */
} AttackResult;

extern bool attack_run(const DistPlan *plan, const PublicGrams *grams, GramRows *rows,
					   Noise *noise, int runs, double confidence, AttackResult *result);

#endif /* DPNGRAM_ATTACK_H */
