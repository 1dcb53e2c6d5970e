/*
 * oracle.c
 *	  Frequency oracles: how one user's answer is randomised, and how many users had
 *	  what was asked for.
 *
 * Privacy.  An oracle with parameter epsilon must give each answer with probabilities
 * that differ by a factor of at most e^epsilon between any two users' truths.
 *
 * - A bit for each of several things of which a user has at most one (optimised unary
 *	 encoding, Wang et al., USENIX Security 2017, section 4; Algorithm 1 of the PrivTrie
 *	 paper): yes = 1/2, no = 1/(e^epsilon + 1).  The bits are independent, and two users'
 *	 truths differ in at most two of them, one that turns 0 and one that turns 1: the
 *	 ratio is at most (yes / no) ((1 - no) / (1 - yes)) = (1 - no) / no = e^epsilon.  For
 *	 a user who has none of them it is yes / no or (1 - no) / (1 - yes), both at most
 *	 e^epsilon.
 * - One bit, symmetric: yes = 1 - no, ratio yes / no = (1 - no) / no.
 * - One of g values (generalised randomised response, the k-ary one of Kairouz, Bonawitz
 *	 and Ramage, ICML 2016): the true one with probability
 *	 keep = e^epsilon / (e^epsilon + g - 1), else one of the others, all alike; the ratio is
 *	 keep (g - 1) / (1 - keep).
 * - One of g hash values (optimal local hashing, Wang et al. 2017): the same on a hash value;
 *	 the seed is drawn without regard to the truth.
 *
 * Exactness.  The probabilities are multiples of 2^-62 and a trial compares them with
 * uniform bits, so what is computed is what happens.  e^epsilon is computed in floating
 * point, so "no" is rounded up and "keep" down, by more than the error: then the ratios
 * above are at most e^epsilon for the very probabilities used.  Estimates use them, too,
 * so the rounding biases nothing.
 */
#include "common/dp_base.h"

#include <math.h>

#include "common/dp_sample.h"
#include "local/oracle.h"

/*
 * More than what expl and the operations after it can be wrong by: they are within a few
 * units of 2^-64 (of 2^-53 where long double is double) of the value.
 */
#define ORACLE_ERROR 1e-14L

static bool
epsilon_in_domain(double epsilon)
{
	return epsilon >= ORACLE_MIN_EPSILON && epsilon <= ORACLE_MAX_EPSILON;
}

/* 1 / (e^epsilon + 1), rounded up. */
static uint64
rare_answer(double epsilon)
{
	long double no = 1.0L / (expl((long double) epsilon) + 1.0L);

	return Min((uint64) ceill(no * (1.0L + ORACLE_ERROR) * (long double) ORACLE_ONE),
			   ORACLE_ONE / 2);
}

/* A bit for each thing asked about; errors: DP_ERR_DOMAIN. */
DpStatus
oracle_bits(double epsilon, Oracle *oracle)
{
	if (!epsilon_in_domain(epsilon))
		return DP_ERR_DOMAIN;
	*oracle = (Oracle){.kind = ORACLE_BITS_OF_NODES,
					   .yes = ORACLE_ONE / 2,
					   .no = rare_answer(epsilon)};
	return DP_OK;
}

/* One bit; errors: DP_ERR_DOMAIN. */
DpStatus
oracle_sign(double epsilon, Oracle *oracle)
{
	if (!epsilon_in_domain(epsilon))
		return DP_ERR_DOMAIN;
	oracle->kind = ORACLE_SIGN;
	oracle->no = rare_answer(epsilon);
	oracle->yes = oracle->keep = ORACLE_ONE - oracle->no;
	oracle->values = 2;
	return DP_OK;
}

/* One of so many values, 2 or more; errors: DP_ERR_DOMAIN. */
DpStatus
oracle_choice(double epsilon, uint32 values, Oracle *oracle)
{
	long double others = (long double) values - 1.0L;
	long double lie;

	if (!epsilon_in_domain(epsilon) || values < 2)
		return DP_ERR_DOMAIN;
	lie = others / (expl((long double) epsilon) + others);
	oracle->kind = ORACLE_CHOICE;
	oracle->values = values;
	oracle->keep = ORACLE_ONE -
				   (uint64) ceill(lie * (1.0L + ORACLE_ERROR) * (long double) ORACLE_ONE);
	/* where the values are so many that rounding matters, the truth is still no rarer */
	oracle->keep = Max(oracle->keep, (ORACLE_ONE + values - 1) / values);
	oracle->yes = oracle->keep;
	oracle->no = (ORACLE_ONE - oracle->keep) / (values - 1);
	return DP_OK;
}

/*
 * One of g hash values, g = round(e^epsilon) + 1, which has the least variance (Wang et
 * al. 2017, section 4.4).  A value that the user has not falls on what is reported with
 * probability 1/g, rounded up: where the server draws, instead of a hash, one bit for each
 * value (crowd.c), two of them have the ratio (yes / no) ((1 - no) / (1 - yes)), which is
 * e^epsilon for no = 1/g, and less above it.  Errors: DP_ERR_DOMAIN.
 */
DpStatus
oracle_hash(double epsilon, Oracle *oracle)
{
	uint32 values;
	DpStatus status;

	if (!epsilon_in_domain(epsilon))
		return DP_ERR_DOMAIN;
	values = (uint32) Min(rint(exp(epsilon)) + 1, 1e9);
	status = oracle_choice(epsilon, values, oracle);
	oracle->kind = ORACLE_HASH;
	oracle->no = (ORACLE_ONE + values - 1) / values;
	return status;
}

/* ---- the client's half ---- */

/* True with the probability, in units of 2^-ORACLE_BITS. */
bool
oracle_trial(DpRandom *rng, uint64 probability)
{
	return (dp_random_u64(rng) >> (64 - ORACLE_BITS)) < probability;
}

/* The bit that is reported, of one that is truly so. */
bool
oracle_answer_bit(const Oracle *oracle, DpRandom *rng, bool truth)
{
	return oracle_trial(rng, truth ? oracle->yes : oracle->no);
}

/* The value that is reported: truth is 0 .. values - 1, or values for none of them. */
uint32
oracle_answer_value(const Oracle *oracle, DpRandom *rng, uint32 truth)
{
	uint32 other;

	if (truth >= oracle->values)
		return (uint32) dp_uniform(rng, oracle->values);
	if (oracle_trial(rng, oracle->keep))
		return truth;
	other = (uint32) dp_uniform(rng, oracle->values - 1);
	return other < truth ? other : other + 1;
}

/* A number for a sequence of symbols, the same everywhere and always. */
uint64
oracle_item(const uint16 *symbol, int n)
{
	uint64 item = n;

	for (int i = 0; i < n; i++)
		item = dp_mix64(item, symbol[i]);
	return item;
}

/*
 * The hash value of an item under a seed, 0 .. values - 1.  Privacy needs nothing of the
 * hash; estimates need that the values of two items are independent over the seeds.
 */
uint32
oracle_hash_value(const Oracle *oracle, uint64 seed, uint64 item)
{
	return (uint32) (((dp_uint128) dp_mix64(seed, item) * oracle->values) >> 64);
}

/* ---- the server's half ---- */

static double
probability(uint64 units)
{
	return (double) units / (double) ORACLE_ONE;
}

/*
 * How many of the users had what so many answers support; unbiased: E(supported) is
 * c yes + (users - c) no.
 */
double
oracle_estimate(const Oracle *oracle, int64 supported, int64 users)
{
	return ((double) supported - (double) users * probability(oracle->no)) /
		   (probability(oracle->yes) - probability(oracle->no));
}

/*
 * The estimate's variance where so many of the users are holders, who need not be whole
 * in number: for one who has it yes (1 - yes), else no (1 - no), over (yes - no)^2.
 */
double
oracle_variance(const Oracle *oracle, double holders, int64 users)
{
	double yes = probability(oracle->yes);
	double no = probability(oracle->no);
	double c = Max(0, Min(holders, (double) users));

	return (c * yes * (1 - yes) + ((double) users - c) * no * (1 - no)) /
		   ((yes - no) * (yes - no));
}
