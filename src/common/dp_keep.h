/*
 * dp_keep.h
 *	  Which share of the items that n users have may be told, if each user has one.
 */
#ifndef DP_KEEP_H
#define DP_KEEP_H

#include "common/dp_base.h"

/* Probabilities are integers in units of 2^-DP_KEEP_BITS. */
#define DP_KEEP_BITS 62
#define DP_KEEP_ONE (UINT64CONST(1) << DP_KEEP_BITS)

/* exp(epsilon) rounded down, exp(-epsilon) rounded up, delta rounded down. */
typedef struct DpKeep
{
	uint64 growth; /* times 2^-growth_bits */
	int growth_bits;
	uint64 decay;
	uint64 delta;
} DpKeep;

extern DpStatus dp_keep_prepare(double epsilon, double delta, DpKeep *keep);
extern uint64 dp_keep_next(const DpKeep *keep, uint64 p);

#endif /* DP_KEEP_H */
