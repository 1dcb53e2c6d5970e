/*
 * audit_crowd.h
 *	  Crowds: users with their counts of a public vocabulary's n-grams, without texts, and
 *	  releases of distributions of them with the inside laid open.
 */
#ifndef DPNGRAM_AUDIT_CROWD_H
#define DPNGRAM_AUDIT_CROWD_H

#include "audit.h"
#include "dist/world.h"

typedef struct CrowdEntry
{
	uint32 user;
	uint32 number; /* of the n-gram, from 1 */
	uint32 count;
} CrowdEntry;

typedef struct Crowd
{
	PublicGrams grams; /* without texts */
	uint32 users;
	CrowdEntry *entry; /* of user 0, 1 ... in this order */
	Size n;
	Size capacity;
} Crowd;

extern Crowd *crowd_create(uint32 vocabulary);
extern void crowd_public(Crowd *crowd, uint32 number, int64 count);
extern uint32 crowd_user(Crowd *crowd);
extern void crowd_count(Crowd *crowd, uint32 number, uint32 count);
extern uint64 crowd_hash(uint32 user);
extern GramRows *crowd_rows(const Crowd *crowd, const DistQuery *query, uint64 key,
							int64 without);

/* One step of a release: what noise was added to, and what came of it. */
typedef struct AuditStep
{
	DpAuditKind kind;
	int64 scale;
	int n;
	int64 *exact;
	int64 *outcome; /* one element, the candidate, of a choice */
} AuditStep;

#define MAX_STEPS 16

typedef struct AuditRelease
{
	int n;
	AuditStep step[MAX_STEPS];
	double *theta;
	DistReport report;
} AuditRelease;

extern void crowd_release(const Crowd *crowd, const DistPlan *plan, GramRows *rows, Noise *noise,
						  const AuditRelease *replay, AuditRelease *release);
extern void crowd_release_world(DistWorld *world, Noise *noise, const AuditRelease *replay,
								AuditRelease *release);
extern void crowd_release_clear(AuditRelease *release);

/* Is the answer wanted, too?  It is a large part of the time. */
extern bool crowd_answers;

/* A query with every number set to what leaves it out of the way. */
extern DistQuery crowd_query(DistMethod method, double epsilon, double delta);
extern bool crowd_plan(const DistQuery *query, DistSplit split, DistPlan *plan);
extern DistMethod crowd_method(const char *name);

/* What the plan is debited for its noise: mu^2, or epsilon. */
extern double plan_debit(const DistPlan *plan);
/* The lattice's one in which the plan's releases are bounded. */
extern int64 plan_unit(const DistPlan *plan);

#endif /* DPNGRAM_AUDIT_CROWD_H */
