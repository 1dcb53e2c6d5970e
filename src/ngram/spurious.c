/*
 * spurious.c
 *	  Releases from V_k outside the support: the n-grams that nobody wrote.
 *
 * Algorithm 1 adds N(0, sigma^2) to the weight 0 of each member of V_k that no
 * user has, and releases it when that passes the threshold.  These trials are
 * independent with one success probability p, so they are walked in skips
 * (skips.c), which is exactly the law of Algorithm 1: the number of successes is
 * Binomial(|V_k| - |supp|, p), and given their number they are uniform.
 *
 * p is that of the discrete Gaussian that real rows get, P(X > threshold), and
 * a released weight is X given X > threshold: a spurious row has exactly the
 * law of a real row of weight 0, on the same lattice.  (Other designs round a
 * conditioned normal instead; the two laws differ by less than the slack that
 * the plan debits, see doc/privacy.md.)
 */
#include "postgres.h"

#include "common/dp_audit.h"
#include "common/dp_gaussian.h"
#include "common/dp_sample.h"
#include "ngram/spurious.h"

/* memory_limit: bytes, for the support's ranks */
Support *
support_create(const Candidates *candidates, Size memory_limit)
{
	Support *support = palloc0(sizeof(Support));

	support->candidates = candidates;
	support->skips = skips_create(memory_limit);
	return support;
}

/* Every member of V_k that some user has, once each. */
void
support_add(Support *support, uint64 key)
{
	skips_add(support->skips, candidate_rank(support->candidates, key));
	support->n++;
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

/* A release of members that nobody has. */
typedef struct SpuriousRelease
{
	const Candidates *candidates;
	DpRandom *random;
	int64 sigma;
	int64 threshold;
	GramSet *released;
} SpuriousRelease;

static void
release_member(void *state, uint64 rank)
{
	SpuriousRelease *release = state;
	int64 weight = spurious_weight(release->random, release->sigma, release->threshold);

	gramset_add(release->released, candidate_key(release->candidates, rank),
				gram_weight(weight, release->sigma));
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
	SpuriousRelease release = {support->candidates, random, sigma, threshold, released};
	RankRange all = {0, support->candidates->total, support->n};

	skips_walk(support->skips, all, random, spurious_rate(sigma, threshold), release_member,
			   &release);
}

void
support_free(Support *support)
{
	skips_free(support->skips);
	pfree(support);
}
