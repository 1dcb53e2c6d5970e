/*
 * dp_sample.h
 *	  Exact samplers: every outcome is decided by integers alone.
 */
#ifndef DP_SAMPLE_H
#define DP_SAMPLE_H

#include "common/dp_random.h"

/*
 * The success probability 1 - exp(-num/den) of a trial; num, den > 0.
 * Every p in (0, 1) is written so (dp_rate_from_probability), because then
 * Bernoulli and geometric trials are exact in integers.
 */
typedef struct DpRate
{
	dp_uint128 num;
	dp_uint128 den;
} DpRate;

/* sigma (in lattice units) that the samplers take: 1 .. DP_MAX_SIGMA */
#define DP_MAX_SIGMA (INT64CONST(1) << 50)

extern uint64 dp_uniform(DpRandom *rng, uint64 n);
extern dp_uint128 dp_uniform_128(DpRandom *rng, dp_uint128 n);
extern bool dp_bernoulli(DpRandom *rng, dp_uint128 num, dp_uint128 den);
extern bool dp_bernoulli_exp(DpRandom *rng, dp_uint128 num, dp_uint128 den);
extern DpStatus dp_rate_from_probability(double p, DpRate *rate);
extern DpStatus dp_rate_from_failure(double q, DpRate *rate);
extern uint64 dp_geometric(DpRandom *rng, DpRate rate);
extern uint64 dp_binomial(DpRandom *rng, uint64 n, DpRate rate);
extern int64 dp_discrete_laplace(DpRandom *rng, int64 scale);
extern int64 dp_discrete_gaussian(DpRandom *rng, int64 sigma);
extern int64 dp_discrete_gaussian_ratio(DpRandom *rng, int64 num, int64 den);
extern int64 dp_discrete_gaussian_above(DpRandom *rng, int64 sigma, int64 bound);

#endif /* DP_SAMPLE_H */
