/*
 * set_union.h
 *	  The values that many users share: methods, what they do and cost.
 */
#ifndef DPNGRAM_SET_UNION_H
#define DPNGRAM_SET_UNION_H

#include "common/dp_keep.h"
#include "ngram/word_rounds.h"

typedef enum SetUnionMethod
{
	SET_UNION_CUMULATIVE,		 /* six rounds, judged by all noisy weights so far */
	SET_UNION_SIPS,				 /* three rounds, each judged by itself */
	SET_UNION_WEIGHTED_GAUSSIAN, /* one round */
	SET_UNION_POLICY_GAUSSIAN,	 /* users one after the other, by what is missing */
	SET_UNION_POLICY_LAPLACE,
	SET_UNION_WEIGHTED_LAPLACE,
	SET_UNION_SINGLE /* users have one item each; no weights */
} SetUnionMethod;

/* What the caller asks, validated. */
typedef struct SetUnionQuery
{
	SetUnionMethod method;
	int64 bound;  /* distinct items of a user */
	double alpha; /* policies: Gamma is the threshold and so many times the noise's scale */
	double epsilon;
	double delta;
} SetUnionQuery;

/* More users than this the Gaussian policy's rounding is not paid for. */
#define SET_UNION_MAX_USERS (INT64CONST(1) << 28)

/* What the call does, fixed before any row is read. */
typedef struct SetUnionPlan
{
	SetUnionQuery query;

	WordRounds rounds; /* the methods of rounds */

	/* policies and Laplace noise, in units of 2^-bits */
	int bits;
	int64 scale; /* sigma, or the Laplace law's scale */
	int64 threshold;
	int64 cutoff; /* Gamma */

	DpKeep keep; /* single */

	/* the price, upper bounds; mu2 of rounds stands there */
	double mu2;
	double eps_pure; /* of the lattice, where noise is Gaussian; else of the method */
	double delta_add;
} SetUnionPlan;

extern bool set_union_method_by_name(const char *name, SetUnionMethod *method);
extern bool set_union_is_gaussian(SetUnionMethod method);
extern bool set_union_is_policy(SetUnionMethod method);
extern bool set_union_has_rounds(SetUnionMethod method);
extern DpStatus set_union_plan(const SetUnionQuery *query, NgramSplit split, SetUnionPlan *plan);

/* set_union_run.c; rows of method single have no weight */
extern void set_union_run(Extraction *extraction, const SetUnionPlan *plan,
						  ReleasedGrams *released);

#endif /* DPNGRAM_SET_UNION_H */
