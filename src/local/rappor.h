/*
 * rappor.h
 *	  Frequent terms by A-RAPPOR (Fanti, Pihur, Erlingsson, "Building a RAPPOR with the
 *	  Unknown", PoPETs 2016(3)).
 */
#ifndef DPNGRAM_LOCAL_RAPPOR_H
#define DPNGRAM_LOCAL_RAPPOR_H

#include "local/bloom.h"
#include "local/local.h"

/* What a user reports: the n-grams at two positions, and the whole term. */
#define RAPPOR_PARTS 3

#define RAPPOR_MAX_POSITIONS 16
#define RAPPOR_MAX_GRAMS (1 << 20)
#define RAPPOR_MAX_GRAM 8
#define RAPPOR_MAX_COHORTS 1024
#define RAPPOR_MAX_CANDIDATES 256
#define RAPPOR_MAX_CLIQUES 1000000
#define RAPPOR_MAX_ITERATIONS 10000

/* Terms whose counts are regressed together; the work grows with the third power. */
#define RAPPOR_MAX_FITTED 500

typedef struct RapporQuery
{
	LocalQuery base; /* of it epsilon, k, alphabet and max_length */
	double lifetime; /* epsilon of all reports of one term together; 0: one collection */
	int gram;		 /* symbols of an n-gram */
	int bits;		 /* of a Bloom filter */
	int hashes;
	int cohorts;
	double z_grams;	 /* n-grams are kept above so many standard deviations */
	double z_pairs;	 /* ... pairs of them */
	double z_terms;	 /* ... and the terms that are returned */
	int candidates;	 /* n-grams that are kept at a position */
	int cliques;	 /* partial terms; more of them: refused */
	int iterations;	 /* of expectation maximisation */
	int64 first;	 /* the first place that may be asked */
	double max_work; /* updates of its cells in all; more of them: refused */
} RapporQuery;

/* What follows from it; public. */
typedef struct RapporPlan
{
	RapporQuery query;
	Bloom bloom;   /* of each part */
	int positions; /* of n-grams */
	int pairs;	   /* of positions */
	uint32 grams;  /* numbers of n-grams are below this */
} RapporPlan;

typedef struct RapporReport
{
	int64 place;
	uint64 bits[RAPPOR_PARTS];
} RapporReport;

extern RapporQuery rappor_defaults(const LocalQuery *query);
extern DpStatus rappor_plan(const RapporQuery *query, RapporPlan *plan);

/* the client's half */
extern DpStatus rappor_client(const RapporPlan *plan, int64 place, const LocalTerm *term,
							  const uint8 *secret, int secret_length, DpRandom *rng,
							  RapporReport *report);

/* the server's half */
extern DpStatus rappor_decode(const RapporPlan *plan, RapporReport *reports, int64 n,
							  int64 *invalid, LocalResult *result);

/* both: a collection among the users of a poll */
extern DpStatus rappor_run(const RapporQuery *query, const Poll *poll, DpRandom *rng,
						   LocalResult *result);

#endif /* DPNGRAM_LOCAL_RAPPOR_H */
