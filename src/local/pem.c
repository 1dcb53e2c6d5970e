/*
 * pem.c
 *	  PEM, the prefix extending method (Wang, Li, Jha, "Locally differentially private
 *	  heavy hitter identification", arXiv 1708.06674): each user reports one prefix, by a
 *	  hash.
 *
 * The users' places are divided into as many ranges as there are levels (prefixes.c).
 * Who stands in the range of level j reports the first depth[j] symbols of the term by
 * optimal local hashing: a random seed, and the prefix's hash value under it, randomised.
 * The server counts for each candidate the reports that agree with its hash value.
 *
 * Privacy: epsilon.  A user sends one report.  Place and seed are independent of the
 * term; the value is an answer of generalised randomised response with parameter epsilon
 * (oracle.c).  Whoever has no term sends a value drawn uniformly from all: its probability
 * lies between those of a lie and of the truth, so every ratio stays within e^epsilon.
 * What is asked on a level depends on earlier answers, but the reports do not depend on
 * what is asked, so they may all be sent beforehand.
 *
 * Against the original.  It speaks of binary strings of one length; the PrivTrie paper
 * (section V) cuts and pads terms with their end, and we do so symbol by symbol, which
 * makes step the original's number of bits by log2(alphabet + 1).  It spends a part of
 * epsilon on the length; ours is given, or a group of users is asked for it.  The
 * original's counts are those of the last group; ours are of all groups since the term
 * was kept, which are independent of each other and have the same law.
 *
 * Work: candidates by users of a level, done behind the poll; see prefixes.c.
 */
#include "common/dp_base.h"

#include "local/pem.h"

PemQuery
pem_defaults(const LocalQuery *query)
{
	return (PemQuery){.base = *query,
					  .start = prefix_start(query->alphabet),
					  .step = PREFIX_STEP,
					  .keep = PREFIX_KEEP};
}

/*
 * The plan of a query for so many places.  Errors: DP_ERR_DOMAIN, DP_ERR_RANGE as
 * prefix_plan's.
 */
DpStatus
pem_plan(const PemQuery *query, int64 places, PemPlan *plan)
{
	DpStatus status;

	if (query->first < 0 || query->first > places || places > PG_UINT32_MAX)
		return DP_ERR_DOMAIN;
	status = prefix_plan(&query->base, query->start, query->step, query->keep, &plan->prefixes);
	if (status != DP_OK)
		return status;
	plan->first = query->first;
	plan->places = places;
	return oracle_hash(query->base.epsilon, &plan->oracle);
}

/* The first place of a level's group; of the number of levels: the end of them all. */
int64
pem_group_start(const PemPlan *plan, int level)
{
	return plan->first + (plan->places - plan->first) * level / plan->prefixes.levels;
}

/* The level at which a place reports; -1: at none. */
int
pem_group(const PemPlan *plan, int64 place)
{
	int level;

	if (place < plan->first || place >= plan->places)
		return -1;
	level = (int) ((place - plan->first) * plan->prefixes.levels / (plan->places - plan->first));
	while (pem_group_start(plan, level + 1) <= place)
		level++;
	return level;
}

/* The client's half.  The place must be one of the plan's. */
LocalReport
pem_report(const PemPlan *plan, int64 place, const LocalTerm *term, DpRandom *rng)
{
	const Oracle *oracle = &plan->oracle;
	LocalReport report = {.place = (uint32) place, .seed = dp_random_u64(rng)};
	uint32 truth = oracle->values;

	if (term->length > 0)
	{
		int depth = plan->prefixes.depth[pem_group(plan, place)];

		truth = oracle_hash_value(oracle, report.seed, prefix_item_of_term(term, depth));
	}
	report.value = oracle_answer_value(oracle, rng, truth);
	return report;
}

/* Asks a level's group about its candidates; returns how many answered. */
static int64
ask_level(const PemPlan *plan, const Poll *poll, const PrefixSearch *search, double *holders)
{
	int64 *supported = palloc(search->n * sizeof(int64));
	int64 from = pem_group_start(plan, search->level);
	int64 to = pem_group_start(plan, search->level + 1);
	int64 answered;

	answered = poll->ask(poll->state, &search->trie, search->node, search->n, from, to,
						 &plan->oracle, supported);
	for (int i = 0; i < search->n; i++)
		holders[i] = oracle_estimate(&plan->oracle, supported[i], answered);
	pfree(supported);
	return answered;
}

/* An answer's variance does not depend on which of the levels it is of. */
static PrefixNoise
noise_of(const Oracle *oracle)
{
	double user = oracle_variance(oracle, 0, 1);

	return (PrefixNoise){user, oracle_variance(oracle, 1, 1) - user, 1};
}

/*
 * The server's half: asks the groups in turn.  A found term's estimate is that of all
 * users whom the poll speaks for, those before the first place included; its standard
 * deviation covers the answers' noise and that a part of the users was asked.
 */
DpStatus
pem_run(const PemQuery *query, const Poll *poll, LocalResult *result)
{
	PemPlan plan;
	PrefixSearch search;
	PrefixNoise noise;
	double population;
	DpStatus status = pem_plan(query, poll->users, &plan);

	if (status != DP_OK)
		return status;
	prefix_search_begin(&search, &plan.prefixes);
	while (search.level < plan.prefixes.levels)
	{
		double *holders;
		int64 users;

		prefix_search_extend(&search);
		holders = palloc(search.n * sizeof(double));
		users = ask_level(&plan, poll, &search, holders);
		prefix_search_keep(&search, holders, users);
		pfree(holders);
	}
	noise = noise_of(&plan.oracle);
	population = prefix_population(&search, plan.first, plan.places);
	prefix_search_finish(&search, query->base.k, population, &noise, result);
	return DP_OK;
}
