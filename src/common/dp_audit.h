/*
 * dp_audit.h
 *	  Hooks of the audit build: sabotages that the audits must catch, and a log
 *	  of every sigma that noise is drawn with and of what histograms spill.
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
	SABOTAGE_UNDERCOUNT,  /* |V_k| taken to be the support: no spurious n-grams */
	SABOTAGE_PARTIAL,	  /* |V_k| outside the support taken to be half of what it is */
	SABOTAGE_MAX_NORM,	  /* a user's weights normalised in l-infinity */
	SABOTAGE_NEAREST,	  /* weights rounded to nearest instead of down */
	SABOTAGE_OFF_LATTICE, /* spurious weights on a lattice of their own */
	SABOTAGE_UNDEBITED	  /* the last step is not in the price */
} DpSabotage;

#ifdef DPNGRAM_AUDIT
extern DpSabotage dp_sabotage;
extern void dp_audit_sigma(int level, int64 sigma);
extern void dp_audit_spill(int depth);
#define DP_SABOTAGED(which) (dp_sabotage == (which))
#define DP_AUDIT_SIGMA(level, sigma) dp_audit_sigma(level, sigma)
#define DP_AUDIT_SPILL(depth) dp_audit_spill(depth)
#else
#define DP_SABOTAGED(which) false
#define DP_AUDIT_SIGMA(level, sigma) ((void) 0)
#define DP_AUDIT_SPILL(depth) ((void) 0)
#endif

#endif /* DP_AUDIT_H */
