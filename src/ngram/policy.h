/*
 * policy.h
 *	  What one user adds to the sums of a set union under a policy that looks at
 *	  what others have added before.
 */
#ifndef DPNGRAM_POLICY_H
#define DPNGRAM_POLICY_H

#include "postgres.h"

/*
 * A sum never exceeds the cutoff Gamma; what is missing is its gap.  Policies of
 * squares need Gamma below 2^POLICY_BITS, so that 2^20 squares of gaps add up in
 * 128 bits, and a budget of at most that.
 */
#define POLICY_BITS 53

/* sum: by id; id: n distinct ids; one: the user's budget, in the sums' units */
extern void policy_gaussian_step(int64 *sum, const uint32 *id, uint32 n, int64 cutoff, int64 one);
extern void policy_laplace_step(int64 *sum, const uint32 *id, uint32 n, int64 cutoff, int64 one,
								int64 *gap);

#endif /* DPNGRAM_POLICY_H */
