/*
 * treehist.h
 *	  TreeHist: each user reports one bit of a count sketch of one level's prefixes.
 */
#ifndef DPNGRAM_LOCAL_TREEHIST_H
#define DPNGRAM_LOCAL_TREEHIST_H

#include "local/prefixes.h"
#include "local/report.h"

/* Rows of a sketch, at most. */
#define TREEHIST_MAX_ROWS 16

typedef struct TreeHistQuery
{
	LocalQuery base; /* max_length: all terms are cut and padded to it */
	int start;		 /* symbols that the first level has */
	int step;		 /* by how many symbols more the next has */
	double keep;	 /* prefixes kept, by k */
	int rows;		 /* of each level's sketch */
	int64 first;	 /* the first place that may be asked */
	uint64 key;		 /* of the rows' hashes; public, best drawn anew for each collection */
} TreeHistQuery;

/* Public, and the same for clients and server. */
typedef struct TreeHistPlan
{
	PrefixPlan prefixes;
	Oracle oracle;
	int rows;
	uint32 width; /* of a row: a power of 2 */
	int64 first;
	int64 places;
	uint64 key;
} TreeHistPlan;

/* What the server keeps of the reports. */
typedef struct TreeHistSketch
{
	const TreeHistPlan *plan;
	int32 *sum;	   /* of the answers, +1 or -1, by level, row and column */
	int64 *users;  /* reports by level and row */
	int64 invalid; /* of no place or value of the plan; not counted */
} TreeHistSketch;

extern TreeHistQuery treehist_defaults(const LocalQuery *query);
extern DpStatus treehist_plan(const TreeHistQuery *query, int64 places, TreeHistPlan *plan);
extern LocalReport treehist_report(const TreeHistPlan *plan, int64 place, const LocalTerm *term,
								   DpRandom *rng);
extern void treehist_init(TreeHistSketch *sketch, const TreeHistPlan *plan);
extern void treehist_add(TreeHistSketch *sketch, const LocalReport *report);
extern void treehist_decode(TreeHistSketch *sketch, int k, LocalResult *result);
extern DpStatus treehist_run(const TreeHistQuery *query, const Poll *poll, DpRandom *rng,
							 LocalResult *result);

#endif /* DPNGRAM_LOCAL_TREEHIST_H */
