/*
 * pem.h
 *	  PEM, the prefix extending method: each user reports one prefix, by a hash.
 */
#ifndef DPNGRAM_LOCAL_PEM_H
#define DPNGRAM_LOCAL_PEM_H

#include "local/prefixes.h"
#include "local/report.h"

typedef struct PemQuery
{
	LocalQuery base; /* max_length: all terms are cut and padded to it */
	int start;		 /* symbols that the first group reports */
	int step;		 /* by how many symbols more the next does */
	double keep;	 /* prefixes kept, by k */
	int64 first;	 /* the first place that may be asked */
} PemQuery;

/* Public, and the same for clients and server. */
typedef struct PemPlan
{
	PrefixPlan prefixes;
	Oracle oracle;
	int64 first; /* places first .. places - 1 are divided among the levels */
	int64 places;
} PemPlan;

extern PemQuery pem_defaults(const LocalQuery *query);
extern DpStatus pem_plan(const PemQuery *query, int64 places, PemPlan *plan);
extern int64 pem_group_start(const PemPlan *plan, int level);
extern int pem_group(const PemPlan *plan, int64 place);
extern LocalReport pem_report(const PemPlan *plan, int64 place, const LocalTerm *term,
							  DpRandom *rng);
extern DpStatus pem_run(const PemQuery *query, const Poll *poll, LocalResult *result);

#endif /* DPNGRAM_LOCAL_PEM_H */
