/*
 * rappor_parts.h
 *	  What the steps of A-RAPPOR's server hand to each other.
 */
#ifndef DPNGRAM_LOCAL_RAPPOR_PARTS_H
#define DPNGRAM_LOCAL_RAPPOR_PARTS_H

#include "local/memory.h"
#include "local/rappor.h"

/* Roles of Bloom filters: the whole term, or the n-gram at position role - 1. */
#define ROLE_TERM 0
#define ROLE_GRAM(position) ((position) + 1)

/* How many reports of one role set each bit, in each cohort. */
typedef struct RapporCounts
{
	int64 reports;
	int64 *users;	/* [cohort] */
	int64 *ones;	/* [cohort * bits + bit] */
	double holders; /* estimate of those who have something to report */
} RapporCounts;

/* The n-grams kept at a position, and where to find those that set a bit. */
typedef struct RapporPosition
{
	int n;
	uint32 *gram;
	double *share;	/* of the users, estimated */
	int32 *start;	/* [cohort * bits + bit]: its first in holder; one more at the end */
	uint16 *holder; /* places in gram */
	double holders; /* share of users who have something to report */
} RapporPosition;

/* The joint distribution at a pair of positions, as shares of the users. */
typedef struct RapporJoint
{
	int rows;		/* the first position's n-grams, and another one */
	int columns;	/* the second's likewise */
	double *share;	/* [row * columns + column] */
	double *stddev; /* likewise; infinite where answers say nothing */
	double none;	/* users without a term */
} RapporJoint;

/* Pairs of n-grams that occur together: one bit for each two, [a * n_second + b]. */
typedef struct RapporEdges
{
	int n_first;
	int n_second;
	bool *joined;
} RapporEdges;

/* Terms, n-gram by n-gram: [term * positions + position], places in a position's grams. */
typedef struct RapporCliques
{
	int n;
	uint16 *member;
} RapporCliques;

/* A term that might be frequent. */
typedef struct RapporWord
{
	int length;
	uint16 symbol[RAPPOR_MAX_POSITIONS * RAPPOR_MAX_GRAM];
	double estimate;
	double stddev;
} RapporWord;

/* Where a place belongs. */
static inline int
rappor_cohort(const RapporPlan *plan, int64 place)
{
	uint64 mixed = dp_mix64(UINT64CONST(0x524150504F52), place);

	return (int) (((mixed & 0xFFFFFFFF) * (uint64) plan->query.cohorts) >> 32);
}

static inline int
rappor_pair(const RapporPlan *plan, int64 place)
{
	uint64 mixed = dp_mix64(UINT64CONST(0x524150504F52), place);

	return (int) (((mixed >> 32) * (uint64) plan->pairs) >> 32);
}

/* rappor.c */
extern void rappor_pair_positions(const RapporPlan *plan, int pair, int *first, int *second);
extern int rappor_pair_of(const RapporPlan *plan, int first, int second);

/* rappor_grams.c */
extern int rappor_gram_symbols(const RapporPlan *plan, uint32 gram, uint16 *symbol);
extern void rappor_counts_init(const RapporPlan *plan, RapporCounts *counts);
extern void rappor_counts_add(const RapporPlan *plan, RapporCounts *counts, int cohort,
							  uint64 bits);
extern void rappor_counts_finish(const RapporPlan *plan, RapporCounts *counts);
extern void rappor_counts_free(RapporCounts *counts);
extern double rappor_counts_estimate(const RapporPlan *plan, const RapporCounts *counts,
									 uint32 role, uint64 item, double *stddev);
extern void rappor_position_init(const RapporPlan *plan, int position,
								 const RapporCounts *counts, RapporPosition *kept);
extern void rappor_position_free(RapporPosition *kept);

/* rappor_em.c */
extern double rappor_pair_work(const RapporPlan *plan, const RapporReport *reports, int64 n,
							   int pair, const RapporPosition *positions);
extern void rappor_pair_estimate(const RapporPlan *plan, const RapporReport *reports, int64 n,
								 int pair, const RapporPosition *positions,
								 RapporJoint *estimate);
extern void rappor_joint_free(RapporJoint *estimate);

/* rappor_graph.c */
extern void rappor_edges_init(const RapporPlan *plan, const RapporJoint *joint,
							  RapporEdges *edges);
extern DpStatus rappor_cliques(const RapporPlan *plan, const RapporPosition *positions,
							   const RapporEdges *edges, RapporCliques *cliques);

/* rappor_fit.c */
extern void rappor_fit(const RapporPlan *plan, const RapporCounts *counts, RapporWord *words,
					   int n);

#endif /* DPNGRAM_LOCAL_RAPPOR_PARTS_H */
