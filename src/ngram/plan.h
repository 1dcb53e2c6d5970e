/*
 * plan.h
 *	  What an extraction does and costs, fixed before any row is read.
 */
#ifndef DPNGRAM_PLAN_H
#define DPNGRAM_PLAN_H

#include "postgres.h"

#include "common/dp_calibrate.h"
#include "ngram/word_plan.h"

#define NGRAM_MAX_LENGTH 32

typedef enum NgramMethod
{
	METHOD_DPNE,		/* level by level, Algorithm 1 of the paper */
	METHOD_DPSU_ALL,	/* one set union over all lengths */
	METHOD_DPSU_EVEN,	/* one set union a length */
	METHOD_DPSU_SINGLE, /* one set union for one length */
	METHOD_DPNE_MR		/* level by level, in rounds */
} NgramMethod;

typedef enum NgramPruning
{
	PRUNING_BOTH,  /* V_k = (S_1 x S_{k-1}) n (S_{k-1} x S_1) */
	PRUNING_SINGLE /* V_k = S_{k-1} x S_1 */
} NgramPruning;

/* How the levels of dpne-mr share the noise. */
typedef enum NgramSchedule
{
	SCHEDULE_RATIO,	   /* sigma_k = c sigma_{k-1} from k = 3 on */
	SCHEDULE_BALANCED, /* more n-grams of every length than dpne */
	SCHEDULE_ADAPTIVE  /* as many n-grams as can be in all */
} NgramSchedule;

/* What the spurious n-grams of a level of dpne-mr are a share of. */
typedef enum SpuriousOf
{
	SPURIOUS_OF_PREVIOUS, /* the level before, as in the paper */
	SPURIOUS_OF_FORECAST  /* what the level itself is expected to have */
} SpuriousOf;

#define NGRAM_MAX_ROUNDS 16

/* What the caller asks, validated. */
typedef struct NgramQuery
{
	NgramMethod method;
	NgramPruning pruning;
	int max_length;					   /* T */
	int length;						   /* METHOD_DPSU_SINGLE only */
	int64 bound[NGRAM_MAX_LENGTH + 1]; /* Delta_k, by length */
	double noise_ratio;				   /* c of sigma_k = c sigma_{k-1} */
	double spurious;				   /* eta */
	NgramSchedule schedule;			   /* METHOD_DPNE_MR only, as what follows */
	SpuriousOf spurious_of;
	int rounds; /* of each level k >= 2 */
	double epsilon;
	double delta;
} NgramQuery;

/* How the query's (epsilon, delta) is divided. */
typedef struct NgramSplit
{
	double threshold_share; /* of delta, for the thresholds of set unions */
	DpDivision division;
} NgramSplit;

/*
 * One step is one histogram: of one length, or (dpsu-all) of several; in dpne-mr,
 * all rounds of a length, whose noise is decided on the way (sigma, threshold and
 * mu2 are not known beforehand).  Step 0 is unused, so that in dpne step k is level k.
 */
typedef struct NgramStep
{
	int min_length;
	int max_length;
	int64 bound;	 /* distinct n-grams of a user */
	int64 sigma;	 /* lattice units */
	int64 threshold; /* lattice units; set unions only */
	double mu2;		 /* its part of the price, rounded up */
} NgramStep;

typedef struct NgramPlan
{
	NgramQuery query;
	int nsteps;
	NgramStep step[NGRAM_MAX_LENGTH + 1];
	WordRounds words; /* METHOD_DPNE_MR: its first level */

	/* the price: upper bounds */
	double mu2;		  /* sum over the steps of (sensitivity / sigma)^2 */
	double eps_pure;  /* the lattice's slack */
	double tail_rho;  /* what of the slack is left where discrete noise has a price of its own */
	double delta_add; /* thresholds, and outputs that the slack does not vouch for */
} NgramPlan;

extern bool ngram_method_by_name(const char *name, NgramMethod *method);
extern bool ngram_schedule_by_name(const char *name, NgramSchedule *schedule);
extern bool ngram_spurious_of_by_name(const char *name, SpuriousOf *of);
extern bool ngram_pruning_by_name(const char *name, NgramPruning *pruning);
extern double ngram_first_mu2(const NgramPlan *plan);
extern bool ngram_by_levels(NgramMethod method);
extern DpStatus ngram_plan(const NgramQuery *query, NgramSplit split, NgramPlan *plan);

#endif /* DPNGRAM_PLAN_H */
