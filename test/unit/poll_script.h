/*
 * poll_script.h
 *	  A poll in which one user gives every possible sequence of answers in turn, and the
 *	  audit that adds up how likely each is, whatever that user has.
 */
#ifndef POLL_SCRIPT_H
#define POLL_SCRIPT_H

#include "local/local.h"

/* What the user may have, and answers that one sequence has, at most. */
#define SCRIPT_TERMS 16
#define SCRIPT_ANSWERS 64

/*
 * What the other users answer, and the target where the answer's law is the same whatever
 * the target has; the same in every sequence.
 */
typedef enum ScriptOthers
{
	OTHERS_YES,
	OTHERS_NO,
	OTHERS_ABSENT,
	OTHERS_MIXED /* and all numbers above it: each another mixture */
} ScriptOthers;

typedef struct PollScript
{
	Poll poll; /* its state is this structure: it must not move */
	int64 target;
	int others; /* ScriptOthers */
	int terms;
	LocalTerm term[SCRIPT_TERMS];

	/* the sequence: digit i is one of 0 .. radix[i] - 1; the first fixed are given */
	int fixed;
	int answers;
	int digit[SCRIPT_ANSWERS];
	int radix[SCRIPT_ANSWERS];
	long double likelihood[SCRIPT_TERMS]; /* of it, by what the user has */
} PollScript;

/* Runs a method; false: it failed.  Called for every sequence. */
typedef bool (*ScriptMethod)(const void *query, const Poll *poll);

typedef struct ScriptAudit
{
	int64 runs;				/* sequences, of all places and other users */
	long double worst;		/* the largest quotient of two terms' likelihoods */
	long double incomplete; /* the largest |sum of the likelihoods - 1| */
	bool failed;
} ScriptAudit;

extern ScriptAudit script_audit(ScriptMethod method, const void *query, int64 users,
								const char *const *words, int terms);
extern bool script_private(const ScriptAudit *audit, double epsilon);
extern double script_spent(const ScriptAudit *audit);

#endif /* POLL_SCRIPT_H */
