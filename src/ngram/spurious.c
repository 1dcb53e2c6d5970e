/*
 * spurious.c
 *	  Releases from V_k outside the support: the n-grams that nobody wrote.
 *
 * Algorithm 1 adds N(0, sigma^2) to the weight 0 of each member of V_k that no
 * user has, and releases it when that passes the threshold.  These trials are
 * independent with one success probability p, so the distance from one success
 * to the next is geometric: the ranks of V_k outside the support are walked in
 * skips, which is exactly the law of Algorithm 1 (the number of successes is
 * Binomial(|V_k| - |supp|, p), and given their number they are uniform) in time
 * proportional to what is released.  The support's ranks are sorted once and
 * merged in, so it makes no difference whether V_k is nearly empty or nearly
 * exhausted by the support, and nothing is ever rejected.
 *
 * p is that of the discrete Gaussian that real rows get, P(X > threshold), and
 * a released weight is X given X > threshold: a spurious row has exactly the
 * law of a real row of weight 0, on the same lattice.  (Other designs round a
 * conditioned normal instead; the two laws differ by less than the slack that
 * the plan debits, see doc/privacy.md.)
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"

#include "common/dp_audit.h"
#include "common/dp_gaussian.h"
#include "common/dp_sample.h"
#include "compat.h"
#include "ngram/spurious.h"

Support *
support_create(const Candidates *candidates)
{
	Support *support = palloc0(sizeof(Support));

	support->candidates = candidates;
	support->ranks = tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false,
										   work_mem, NULL, TUPLESORT_NONE);
	return support;
}

/* Every member of V_k that some user has, once each. */
void
support_add(Support *support, uint64 key)
{
	tuplesort_putdatum(support->ranks,
					   Int64GetDatum((int64) candidate_rank(support->candidates, key)), false);
	support->n++;
}

/* The next rank of the support, or the end of V_k. */
static uint64
next_rank(Support *support)
{
	Datum rank;
	bool isnull;

	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_getdatum(support->ranks, true, false, &rank, &isnull, NULL))
		return support->candidates->total;
	return (uint64) DatumGetInt64(rank);
}

/* How many members of V_k nobody wrote. */
static uint64
count_outside(const Support *support)
{
	uint64 outside = support->candidates->total - support->n;

	if (support->n > support->candidates->total)
		elog(ERROR, "the support is larger than the set of candidates");
	if (DP_SABOTAGED(SABOTAGE_UNDERCOUNT))
		return 0;
	return DP_SABOTAGED(SABOTAGE_PARTIAL) ? outside / 2 : outside;
}

/* X given X > threshold, for the discrete Gaussian X of real rows. */
static int64
spurious_weight(DpRandom *random, int64 sigma, int64 threshold)
{
	int64 weight = dp_discrete_gaussian_above(random, sigma, threshold);

	return DP_SABOTAGED(SABOTAGE_OFF_LATTICE) ? weight | 1 : weight;
}

/*
 * P(X > threshold) as a rate.  A negative threshold, which only a spurious share
 * above one half has, makes it the complement's: both outcomes tell something, so
 * the rarer one's probability must be right.
 */
static DpRate
spurious_rate(int64 sigma, int64 threshold)
{
	bool likely_success = threshold < 0;
	DpRate rate;
	double p;

	if (dp_lattice_tail(sigma, likely_success ? -threshold - 1 : threshold, &p) != DP_OK ||
		(likely_success ? dp_rate_from_failure(p, &rate) :
						  dp_rate_from_probability(p, &rate)) != DP_OK)
		elog(ERROR, "no spurious rate for sigma " INT64_FORMAT, sigma);
	return rate;
}

/*
 * Release each member of V_k outside the support with probability
 * P(X > threshold), with X given X > threshold as its weight; sigma and
 * threshold in lattice units.
 */
void
support_release_spurious(Support *support, DpRandom *random, int64 sigma, int64 threshold,
						 GramSet *released)
{
	uint64 outside = count_outside(support);
	uint64 at = 0;		/* of the members outside, how many are passed */
	uint64 skipped = 0; /* of the support, how many stand before that */
	uint64 rank;
	DpRate rate = spurious_rate(sigma, threshold);

	tuplesort_performsort(support->ranks);
	rank = next_rank(support);
	for (;;)
	{
		uint64 skip = dp_geometric(random, rate);

		CHECK_FOR_INTERRUPTS();
		if (skip >= outside - at)
			break;
		at += skip;
		while (rank <= at + skipped && rank < support->candidates->total)
		{
			skipped++;
			rank = next_rank(support);
		}
		gramset_add(released, candidate_key(support->candidates, at + skipped),
					gram_weight(spurious_weight(random, sigma, threshold), sigma));
		at++;
	}
}

void
support_free(Support *support)
{
	tuplesort_end(support->ranks);
	pfree(support);
}
