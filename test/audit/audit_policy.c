/*
 * audit_policy.c
 *	  Does a user's step under a policy ever carry two worlds further apart than is
 *	  paid for?  At random, and against an adversary who chooses every user.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "audit.h"
#include "common/dp_random.h"
#include "common/dp_sample.h"
#include "ngram/policy.h"

#define DUEL_ITEMS 40

/* Two worlds, which one user has parted. */
typedef struct Duel
{
	DpRandom random;
	bool laplace;
	int64 one;
	int64 cutoff;
	uint32 bound; /* items of a user */
	int64 sum[2][DUEL_ITEMS];
	int64 gap[DUEL_ITEMS];
} Duel;

/* The distance of the worlds, in the policy's norm. */
static long double
distance(const Duel *duel)
{
	long double result = 0;

	for (int i = 0; i < DUEL_ITEMS; i++)
	{
		long double difference = (long double) duel->sum[1][i] - duel->sum[0][i];

		result += duel->laplace ? fabsl(difference) : difference * difference;
	}
	return duel->laplace ? result : sqrtl(result);
}

/* Some items, up to the bound. */
static uint32
draw_list(Duel *duel, uint32 *id)
{
	uint32 n = 1 + dp_uniform(&duel->random, duel->bound);

	for (uint32 i = 0; i < DUEL_ITEMS; i++)
		id[i] = i;
	for (uint32 i = 0; i < n; i++)
	{
		uint32 j = i + dp_uniform(&duel->random, DUEL_ITEMS - i);
		uint32 item = id[i];

		id[i] = id[j];
		id[j] = item;
	}
	return n;
}

static void
step(Duel *duel, int world, const uint32 *id, uint32 n)
{
	if (duel->laplace)
		policy_laplace_step(duel->sum[world], id, n, duel->cutoff, duel->one, duel->gap);
	else
		policy_gaussian_step(duel->sum[world], id, n, duel->cutoff, duel->one);
}

/* One more user in both worlds; of "choices" lists the one that parts them most. */
static void
add_user(Duel *duel, int choices)
{
	Duel best;
	long double most = -1;
	uint32 id[DUEL_ITEMS];

	for (int i = 0; i < choices; i++)
	{
		Duel tried = *duel;
		uint32 n = draw_list(duel, id);

		step(&tried, 0, id, n);
		step(&tried, 1, id, n);
		if (distance(&tried) > most)
		{
			most = distance(&tried);
			best = tried;
		}
	}
	memcpy(duel->sum, best.sum, sizeof(duel->sum));
}

/* Sums that some users may have left, and the one user whom the second world has, too. */
static void
begin_duel(Duel *duel, int bits, double gamma)
{
	uint32 id[DUEL_ITEMS];
	uint32 n;

	duel->one = INT64CONST(1) << bits;
	duel->cutoff = (int64) ldexp(gamma, bits) + dp_uniform(&duel->random, duel->one);
	duel->bound = 1 + dp_uniform(&duel->random, DUEL_ITEMS);
	for (int i = 0; i < DUEL_ITEMS; i++)
		duel->sum[0][i] = dp_uniform(&duel->random, 4) == 0 ?
							  0 :
							  (int64) dp_uniform(&duel->random, duel->cutoff + 1);
	memcpy(duel->sum[1], duel->sum[0], sizeof(duel->sum[0]));
	n = draw_list(duel, id);
	step(duel, 1, id, n);
}

/*
 * audit_policy(method text, bits int, choices int, users int, duels bigint,
 *				at_least float8)
 *
 * Claim: after each of the users the two worlds' sums are no further apart than
 * 1 + users (sqrt(D) + 2) 2^-bits in l2 under the Gaussian policy, and 1 in l1 under
 * the Laplace one.  at_least: the distance that the adversary should reach at some
 * time, as rounding is not harmless; 0: none.
 */
AUDIT_FUNCTION(audit_policy)
{
	Duel duel = {.laplace = strcmp(text_to_cstring(PG_GETARG_TEXT_PP(0)), "policy_laplace") == 0};
	int bits = PG_GETARG_INT32(1);
	int choices = PG_GETARG_INT32(2);
	int users = PG_GETARG_INT32(3);
	int64 duels = PG_GETARG_INT64(4);
	double at_least = PG_GETARG_FLOAT8(5);
	double furthest = 0;
	double worst = 0; /* of distance less what is paid for, in units */

	verdicts_begin(fcinfo);
	dp_random_system(&duel.random, noise_failure);
	for (int64 i = 0; i < duels; i++)
	{
		begin_duel(&duel, bits, 0.5 + dp_uniform(&duel.random, Max(8, users / 10)));
		for (int user = 0; user <= users; user++)
		{
			double paid = duel.laplace ? 0 : user * (sqrt(duel.bound) + 2);
			double apart;

			CHECK_FOR_INTERRUPTS();
			if (user > 0)
				add_user(&duel, choices);
			apart = (double) distance(&duel);
			furthest = Max(furthest, apart / duel.one);
			worst = Max(worst, apart - duel.one * (1 + 1e-15) - paid);
		}
	}
	dp_random_clear(&duel.random);
	verdict(fcinfo, "a user moves the sums by no more than is paid for", worst <= 0, worst, 0,
			duels * users);
	if (at_least > 0)
		verdict(fcinfo, "and rounding must be paid for", furthest >= at_least, furthest, at_least,
				duels * users);
	return (Datum) 0;
}
