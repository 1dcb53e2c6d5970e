/*
 * dp_audit.h
 *	  Hooks of the audit build: sabotages that the audits must catch, a log of every
 *	  scale that noise is drawn with and of what histograms spill, and the inside of
 *	  distributions' releases.
 *
 * Only test/audit defines DPNGRAM_AUDIT.  In the extension itself the macros
 * are constants and leave no code.
 */
#ifndef DP_AUDIT_H
#define DP_AUDIT_H

#include "common/dp_base.h"

typedef enum DpSabotage
{
	SABOTAGE_NONE = 0,
	SABOTAGE_UNDERCOUNT,   /* |V_k| taken to be the support: no spurious n-grams */
	SABOTAGE_PARTIAL,	   /* |V_k| outside the support taken to be half of what it is */
	SABOTAGE_MAX_NORM,	   /* a user's weights normalised in l-infinity */
	SABOTAGE_NEAREST,	   /* weights rounded to nearest instead of down */
	SABOTAGE_OFF_LATTICE,  /* spurious weights on a lattice of their own */
	SABOTAGE_UNDEBITED,	   /* the last step, or the norms' histogram, is not in the price */
	SABOTAGE_UNBOUNDED,	   /* all of a user's n-grams are kept, whatever W */
	SABOTAGE_UNCLIPPED,	   /* a user's row counts in full, whatever L */
	SABOTAGE_TWO_LINES,	   /* the sensitivity of log features without N = 0 and N >= C/S */
	SABOTAGE_EXACT_TOTAL,  /* a total is used without its noise */
	SABOTAGE_SAME_HALVES,  /* those who make candidates also choose */
	SABOTAGE_LITTLE_NOISE, /* a twentieth less noise than is debited */
	SABOTAGE_REDRAWN,	   /* level 1: users' lists are drawn anew in every round */
	SABOTAGE_UNBIASED,	   /* spurious rows of dpne-mr as if no bias had ever changed */
	SABOTAGE_STALE_NORM,   /* biases of this round over the norm of the last round's */
	SABOTAGE_WEIGHTED	   /* the statistic of dpne-mr weighted by the biases */
} DpSabotage;

/*
 * One step of a distribution's release: noise is added to a vector, or a candidate is
 * chosen by its costs, scale being epsilon times 2^20.
 */
typedef enum DpAuditKind
{
	AUDIT_GAUSSIAN,
	AUDIT_LAPLACE,
	AUDIT_CHOICE
} DpAuditKind;

#ifdef DPNGRAM_AUDIT
extern DpSabotage dp_sabotage;
extern void dp_audit_noise(DpAuditKind kind, int level, int64 scale);
extern void dp_audit_spill(int depth);
extern void dp_audit_exact(DpAuditKind kind, int64 scale, const int64 *exact, size_t n);
extern void dp_audit_outcome(int64 *outcome, size_t n);
extern void dp_audit_chosen(int *candidate);
#define DP_SABOTAGED(which) (dp_sabotage == (which))
#define DP_AUDIT_NOISE(kind, level, scale) dp_audit_noise(kind, level, scale)
#define DP_AUDIT_SPILL(depth) dp_audit_spill(depth)
/* what a step starts from, and what it gives, which an audit may replace */
#define DP_AUDIT_EXACT(kind, scale, exact, n) dp_audit_exact(kind, scale, exact, n)
#define DP_AUDIT_OUTCOME(outcome, n) dp_audit_outcome(outcome, n)
#define DP_AUDIT_CHOSEN(candidate) dp_audit_chosen(candidate)
#else
#define DP_SABOTAGED(which) false
#define DP_AUDIT_NOISE(kind, level, scale) ((void) 0)
#define DP_AUDIT_SPILL(depth) ((void) 0)
#define DP_AUDIT_EXACT(kind, scale, exact, n) ((void) 0)
#define DP_AUDIT_OUTCOME(outcome, n) ((void) 0)
#define DP_AUDIT_CHOSEN(candidate) ((void) 0)
#endif

#endif /* DP_AUDIT_H */
