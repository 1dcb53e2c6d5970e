/*
 * test_rappor_em.c
 *	  A-RAPPOR's joint distributions: the likelihood's maximum, and standard deviations,
 *	  against likelihoods computed from the definition, report by report.
 */
#include "local/rappor_parts.h"

#include <math.h>

#include "tap.h"

static DpRandom rng;

#define PLAIN 5000
#define EM_USERS 4000
#define EM_ROWS 3	 /* a, b, another one */
#define EM_COLUMNS 4 /* a, b, nothing, another one */

typedef struct EmCase
{
	RapporPlan plan;
	RapporReport *reports;
	RapporPosition position[2];
	RapporCounts counts[2];
	double (*ratio)[EM_ROWS * EM_COLUMNS + 1]; /* likelihood of each cell, then of none */
} EmCase;

/* P(bits | item), from the definition. */
static double
bits_law(const RapporPlan *plan, uint64 truth, uint64 bits)
{
	double p = 1;

	for (int bit = 0; bit < plan->query.bits; bit++)
	{
		double one = (truth >> bit & 1) != 0 ? plan->bloom.one : plan->bloom.zero;

		p *= (bits >> bit & 1) != 0 ? one : 1 - one;
	}
	return p;
}

/* P(bits | the n-gram with this place among those kept); beyond them: any choice of bits. */
static double
gram_law(const EmCase *em, int position, int gram, int cohort, uint64 bits)
{
	double sum = 0;
	int choices = 0;
	uint16 symbol;

	if (gram < em->position[position].n)
	{
		symbol = em->position[position].gram[gram];
		return bits_law(&em->plan,
						bloom_item_bits(&em->plan.bloom, cohort, ROLE_GRAM(position),
										oracle_item(&symbol, 1)),
						bits);
	}
	for (uint64 truth = 0; truth < UINT64CONST(1) << em->plan.query.bits; truth++)
		if (__builtin_popcountll(truth) == em->plan.query.hashes)
		{
			sum += bits_law(&em->plan, truth, bits);
			choices++;
		}
	return sum / choices;
}

/* Users with ab, a, ba or nothing, and all that the likelihood needs. */
static void
make_em(EmCase *em, int hashes)
{
	LocalQuery base = {.epsilon = 9, .k = 10, .alphabet = 2, .max_length = 2};
	RapporQuery query = rappor_defaults(&base);
	const uint16 symbols[][2] = {{1, 2}, {1, 0}, {2, 1}, {0, 0}};
	const int lengths[] = {2, 1, 2, 0};

	query.gram = 1;
	query.bits = 6;
	query.hashes = hashes;
	query.cohorts = 4;
	query.z_grams = 0;
	query.iterations = 1000;
	ok(rappor_plan(&query, &em->plan) == DP_OK && em->plan.pairs == 1, "one pair");
	em->reports = palloc(EM_USERS * sizeof(RapporReport));
	em->ratio = palloc(EM_USERS * sizeof(*em->ratio));
	for (int position = 0; position < 2; position++)
		rappor_counts_init(&em->plan, &em->counts[position]);
	for (int i = 0; i < EM_USERS; i++)
	{
		int kind = i % 10 < 5 ? 0 : i % 10 < 7 ? 1 :
								i % 10 < 9	   ? 2 :
												 3;
		LocalTerm term = {lengths[kind], symbols[kind]};

		(void) rappor_client(&em->plan, i, &term, NULL, 0, &rng, &em->reports[i]);
		for (int position = 0; position < 2; position++)
			rappor_counts_add(&em->plan, &em->counts[position], rappor_cohort(&em->plan, i),
							  em->reports[i].bits[position]);
	}
	for (int position = 0; position < 2; position++)
	{
		rappor_counts_finish(&em->plan, &em->counts[position]);
		rappor_position_init(&em->plan, position, &em->counts[position],
							 &em->position[position]);
	}
}

static void
fill_likelihoods(EmCase *em)
{
	int rows = em->position[0].n + 1;
	int columns = em->position[1].n + 1;

	for (int i = 0; i < EM_USERS; i++)
	{
		int cohort = rappor_cohort(&em->plan, i);

		for (int a = 0; a < rows; a++)
			for (int b = 0; b < columns; b++)
				em->ratio[i][a * columns + b] =
					gram_law(em, 0, a, cohort, em->reports[i].bits[0]) *
					gram_law(em, 1, b, cohort, em->reports[i].bits[1]);
		em->ratio[i][rows * columns] = bits_law(&em->plan, 0, em->reports[i].bits[0]) *
									   bits_law(&em->plan, 0, em->reports[i].bits[1]);
	}
}

/* The mean over reports of each cell's likelihood by that of the whole: 1 at the best. */
static double
certificate(const EmCase *em, const double *share, int cells, double *mean, double *information)
{
	double gained = 0;

	memset(mean, 0, cells * sizeof(double));
	memset(information, 0, cells * sizeof(double));
	for (int i = 0; i < EM_USERS; i++)
	{
		double whole = 0;

		for (int c = 0; c < cells; c++)
			whole += share[c] * em->ratio[i][c];
		gained += log(whole);
		for (int c = 0; c < cells; c++)
		{
			double ratio = em->ratio[i][c] / whole;

			mean[c] += ratio / EM_USERS;
			information[c] += (ratio - 1) * (ratio - 1);
		}
	}
	return gained;
}

/* The likelihood's maximum by plain iterations of the definition. */
static double
plain_maximum(const EmCase *em, int cells)
{
	double share[EM_ROWS * EM_COLUMNS + 1];
	double mean[EM_ROWS * EM_COLUMNS + 1];
	double information[EM_ROWS * EM_COLUMNS + 1];
	double gained = 0;

	for (int c = 0; c < cells; c++)
		share[c] = 1.0 / cells;
	for (int i = 0; i < PLAIN; i++)
	{
		gained = certificate(em, share, cells, mean, information);
		for (int c = 0; c < cells; c++)
			share[c] *= mean[c];
	}
	return gained;
}

/*
 * The log-likelihood is concave, so that what any other distribution adds to it is at
 * most the number of reports times (the largest mean - 1).
 */
static void
test_em(int hashes)
{
	EmCase em;
	RapporJoint joint;
	double share[EM_ROWS * EM_COLUMNS + 1];
	double mean[EM_ROWS * EM_COLUMNS + 1];
	double information[EM_ROWS * EM_COLUMNS + 1];
	double gained;
	double plain;
	double gap = 0;
	bool same = true;
	int cells;

	make_em(&em, hashes);
	ok(em.position[0].n == EM_ROWS - 1 && em.position[1].n == EM_COLUMNS - 1,
	   "all n-grams are kept");
	fill_likelihoods(&em);
	rappor_pair_estimate(&em.plan, em.reports, EM_USERS, 0, em.position, &joint);
	cells = joint.rows * joint.columns + 1;
	memcpy(share, joint.share, (cells - 1) * sizeof(double));
	share[cells - 1] = joint.none;
	gained = certificate(&em, share, cells, mean, information);
	for (int c = 0; c < cells; c++)
		gap = Max(gap, EM_USERS * (mean[c] - 1));
	ok(gap < 1, "%d hashes: nothing has a likelihood higher by more than %.3f", hashes, gap);
	plain = plain_maximum(&em, cells);
	ok(fabs(gained - plain) < 0.1,
	   "%d hashes: as high as after %d plain iterations (%.4f)", hashes, PLAIN, gained - plain);
	for (int c = 0; c < cells - 1; c++)
		same &= fabs(joint.stddev[c] * sqrt(information[c]) - 1) < 1e-6;
	ok(same, "%d hashes: standard deviations from the observed information", hashes);
	rappor_joint_free(&joint);
	for (int position = 0; position < 2; position++)
	{
		rappor_counts_free(&em.counts[position]);
		rappor_position_free(&em.position[position]);
	}
	pfree(em.reports);
	pfree(em.ratio);
}

int
main(void)
{
	dp_random_seeded(&rng, 5, 20160303, 0);
	test_em(1);
	test_em(2);
	return tap_done();
}
