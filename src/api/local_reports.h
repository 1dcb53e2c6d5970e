/*
 * local_reports.h
 *	  The reports that clients have sent, read from a relation.
 */
#ifndef DPNGRAM_API_LOCAL_REPORTS_H
#define DPNGRAM_API_LOCAL_REPORTS_H

#include "api/local_plan.h"

/* The rounds of one collection, and all their valid reports: of a method one of the kinds. */
typedef struct Collection
{
	int n;
	PublishedRound **round;
	ClientPlan *plan;
	int64 invalid; /* reports that no client can have made; not counted */

	/* privtrie, by round: who answered, and how many answers supported each node */
	int64 *answered;
	int64 **supported;

	/* pem and treehist */
	LocalReport *report;
	/* rappor */
	RapporReport *filters;
	int64 reports;
	int64 capacity;
} Collection;

extern Collection *collection_read(ArrayType *rounds, Oid relid, const char *column);
extern void collection_tell(const Collection *collection);

#endif /* DPNGRAM_API_LOCAL_REPORTS_H */
