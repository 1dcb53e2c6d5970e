/*
 * plan.h
 *	  What a distribution's release does and costs, fixed before any row is read.
 */
#ifndef DPNGRAM_DIST_PLAN_H
#define DPNGRAM_DIST_PLAN_H

#include "postgres.h"

#include "common/dp_calibrate.h"
#include "dist/rows.h"

typedef enum DistMethod
{
	DIST_SHRINKAGE,		   /* noisy counts, shrunk towards the public distribution */
	DIST_LOG_POSTERIOR,	   /* equations 1 to 5 with the global sensitivity */
	DIST_LAPLACE,		   /* the paper's first baseline */
	DIST_LAPLACE_PUBLIC,   /* the paper's second baseline */
	DIST_LOCAL_SENSITIVITY /* Algorithm 1 as printed: not private */
} DistMethod;

/* The candidates of private tuning: section 4.3's range of S, and rho in [0, 1). */
#define DIST_SLOPES 8
#define DIST_WEIGHTS 10
#define DIST_CANDIDATES (DIST_SLOPES * DIST_WEIGHTS)

/* Lattice bits of laplace-public, whose rows carry a part of the public distribution. */
#define DIST_PUBLIC_BITS 32

/* What the caller asks, validated. */
typedef struct DistQuery
{
	DistMethod method;
	double epsilon;
	double delta;			 /* 0: pure, for the methods that can be */
	bool once;				 /* users are counted, not occurrences */
	int64 max_count;		 /* C */
	int64 max_contributions; /* W */
	double max_norm;		 /* L; 0: chosen privately */
	double norm_share;		 /* of the noise budget, for that choice or for a total */

	/* log-posterior and local-sensitivity */
	double slope;  /* S */
	double weight; /* rho */
	double center; /* m0; NaN: the best for S and C */
	bool tune;
	double train_share;	  /* of the users, for the candidates */
	bool worst_case;	  /* local-sensitivity: Claim 1 instead of brute force */
	bool unweighted_mean; /* local-sensitivity: Algorithm 1's last mean, to the letter */
} DistQuery;

/* The noise of one release of l2 or l1 sensitivity 1, in lattice units. */
typedef struct DistNoise
{
	bool laplace;
	int64 scale;   /* sigma, or the scale of Laplace noise; 0: no such release */
	double amount; /* its price: mu^2 or epsilon, rounded up */
} DistNoise;

typedef struct DistPlan
{
	DistQuery query;
	DistNoise side; /* a smaller release beside: of the rows' norms, or of a total */
	DistNoise main;
	int nmain;					/* so many main releases */
	double center[DIST_SLOPES]; /* m0 by candidate of S; [0] without tuning */
	double bound[DIST_SLOPES];	/* A(S, C, m0) likewise */
	int64 select_epsilon;		/* of the choice among candidates, times 2^20; 0: the first */

	/* of the price, upper bounds */
	double eps_lattice; /* the lattice's slack */
	double delta_add;	/* and outputs that it does not vouch for */
} DistPlan;

/* How the query's (epsilon, delta) is divided. */
typedef struct DistSplit
{
	double delta_share; /* of delta, left unused because the dataset keeps it for other uses */
	DpDivision division;
} DistSplit;

extern bool dist_method_by_name(const char *name, DistMethod *method);
extern double dist_slope(const DistQuery *query, int candidate);
extern double dist_weight(int candidate);
extern RowBounds dist_row_bounds(const DistQuery *query);
extern DpStatus dist_plan(const DistQuery *query, DistSplit split, DistPlan *plan);

#endif /* DPNGRAM_DIST_PLAN_H */
