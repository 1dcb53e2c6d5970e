/*
 * dp_binomial.h
 *	  Exact binomial draws at a speed that doesn't depend on the number of trials.
 */
#ifndef DP_BINOMIAL_H
#define DP_BINOMIAL_H

#include "common/dp_random.h"

/* A probability is a numerator over this. */
#define DP_DYADIC_ONE (UINT64CONST(1) << 62)

#define DP_BINOMIAL_MAX_TRIALS (UINT64CONST(1) << 32)

/* What dp_binomial_ratio() returns where doubles can't say. */
#define DP_BINOMIAL_UNKNOWN (-1.0)

/* The relative error of dp_binomial_ratio(), for each integer between the mode and k, plus one. */
#define DP_BINOMIAL_RATIO_ERROR (20 * 0x1p-53)

struct DpEnvelope;

/* A binomial law made ready for drawing: of no use to anybody but dp_binomial.c and its test. */
typedef struct DpBinomial
{
	uint64 n;
	uint64 num;	  /* of successes or, where these are likelier, failures */
	bool flipped; /* failures are counted */
	bool by_bits; /* too few trials for what follows */

	uint64 mode;
	uint64 width; /* of the envelope's steps */
	const struct DpEnvelope *envelope;
	double unit;   /* 2^-64 over the envelope's height at the mode */
	double up;	   /* p / ((1 - p) (mode + 1)) */
	double norm;   /* 1 / (mode + 1) */
	bool stirling; /* whether the next two are there */
	double slope;  /* ln(p (n - mode) / ((1 - p) mode)) */
	double remainder;
	double unsure; /* closer calls are made exactly; a test sets it to infinity */
} DpBinomial;

extern uint64 dp_binomial_dyadic(DpRandom *rng, uint64 n, uint64 num);
extern void dp_binomial_prepare(DpBinomial *law, uint64 n, uint64 num);
extern uint64 dp_binomial_draw(DpRandom *rng, const DpBinomial *law);

/* For the test: f(mode + distance) / f(mode), and what the sampler takes to be above it. */
extern double dp_binomial_ratio(const DpBinomial *law, int64 distance);
extern double dp_binomial_envelope(const DpBinomial *law, int64 distance);

#endif /* DP_BINOMIAL_H */
