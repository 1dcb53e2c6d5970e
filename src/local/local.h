/*
 * local.h
 *	  The methods of ldp_frequent_terms: what they are told, and what they return.
 */
#ifndef DPNGRAM_LOCAL_LOCAL_H
#define DPNGRAM_LOCAL_LOCAL_H

#include "local/poll.h"

typedef enum LocalMethod
{
	LOCAL_PRIVTRIE,
	LOCAL_IBSL,
	LOCAL_BSL,
	LOCAL_PEM,
	LOCAL_TREEHIST,
	LOCAL_RAPPOR
} LocalMethod;

/* LocalQuery.k at most, and LocalQuery.frontier by default. */
#define LOCAL_MAX_TERMS 1000000
#define LOCAL_FRONTIER 10000

/*
 * What all methods are told; public.  Methods that need more have a structure of their
 * own in their header, with this one in it.
 */
typedef struct LocalQuery
{
	double epsilon;
	int k;			  /* terms wanted */
	int alphabet;	  /* characters */
	int max_length;	  /* of a term; longer ones are not found (the paper's tau) */
	bool consistency; /* estimates are made to agree (section IV-C); else refinement's alone */
	double eta;		  /* the paper's threshold; 0: as many standard deviations as our rule says */
	int frontier;	  /* prefixes that are kept from one step to the next, at most */
	double max_work;  /* rappor: updates of expectation maximisation; 0: as many as usual */
} LocalQuery;

/* A term found: symbols without SYMBOL_END, and its estimated number of users. */
typedef struct LocalFound
{
	int length;
	uint16 *symbol; /* palloc'd */
	double estimate;
	double stddev;
} LocalFound;

typedef struct LocalResult
{
	int n;
	LocalFound *found; /* palloc'd; the most frequent first, ties by symbols */
} LocalResult;

extern DpStatus local_check(LocalMethod method, const LocalQuery *query);
extern DpStatus local_run(LocalMethod method, const LocalQuery *query, const Poll *poll,
						  DpRandom *rng, LocalResult *result);

#endif /* DPNGRAM_LOCAL_LOCAL_H */
