/*
 * dp_weights.h
 *	  Integer weights in proportion to public biases, whose l2 norm never exceeds 1:
 *	  inline, because every round computes one for every n-gram of every user.
 *
 * A user whose n-grams have the biases b_1 .. b_n, integers, Q = b_1^2 + .. + b_n^2,
 * gives each the weight
 *
 *		w_i = floor(2^m b_i / sqrt Q),		m = DP_LATTICE_BITS,
 *
 * the largest integer with w_i^2 Q <= 2^(2m) b_i^2.  Summed over i, and divided by Q, that
 * is w_1^2 + .. + w_n^2 <= 2^(2m): not up to rounding, but exactly.
 */
#ifndef DP_WEIGHTS_H
#define DP_WEIGHTS_H

#include <math.h>

#include "common/dp_base.h"

/* The bias of an n-gram that has neither won nor lost; others lie between 1 and this. */
#define DP_BIAS_BITS 10
#define DP_BIAS_ONE (1 << DP_BIAS_BITS)

/* What all the weights of one user have in common. */
typedef struct DpNorm
{
	uint64 square; /* Q: at least 1, at most 2^40 */
	double scale;  /* 2^m / sqrt Q, nearly */
} DpNorm;

/* The norm of biases whose squares sum to "square": of at most DP_MAX_KEYS n-grams. */
static inline DpNorm
dp_norm(uint64 square)
{
	DpNorm norm = {.square = square, .scale = DP_LATTICE_ONE / sqrt((double) square)};

	Assert(square > 0 && square <= (uint64) DP_MAX_KEYS * DP_BIAS_ONE * DP_BIAS_ONE);
	return norm;
}

/*
 * The weight of an n-gram of this bias, in lattice units; bias^2 <= Q.
 *
 * The product of doubles, at most 2^20, is off by less than 2^-30, so its integer part by 1
 * at most, and integers put that right.  All of them fit into 64 bits: 2^(2m) b^2 <= 2^60,
 * and (w + 1)^2 Q <= 2^60 + 2^51 + 2^40 for w^2 Q <= 2^(2m) b^2 and Q <= 2^40.
 */
static inline int64
dp_biased_weight(DpNorm norm, uint32 bias)
{
	uint64 square = (uint64) bias * bias << (2 * DP_LATTICE_BITS);
	uint64 weight = (uint64) (bias * norm.scale);

	Assert(bias <= DP_BIAS_ONE && (uint64) bias * bias <= norm.square);
	if (unlikely(weight * weight * norm.square > square))
		weight--;
	else if (unlikely((weight + 1) * (weight + 1) * norm.square <= square))
		weight++;
	return (int64) weight;
}

#endif /* DP_WEIGHTS_H */
