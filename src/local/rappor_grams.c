/*
 * rappor_grams.c
 *	  A-RAPPOR's first step: which n-grams are frequent at a position.
 *
 * The counts of bits are all that is needed.  A value sets h bits in each cohort, another
 * value sets a given one of them with probability h/k, so with S the sum, over the cohorts
 * and the value's bits there, of unbiased estimates (ones - users p*) / (q* - p*), divided
 * by h, E(S) = c + (F - c) h/k, where c users have the value and F have any.  F is
 * estimated in the same way from all bits.  Unbiased over the hashes.
 */
#include "common/dp_base.h"

#include <math.h>

#include "local/rappor_parts.h"

/* An n-gram's number is its symbols' digits, base alphabet + 1; the first is the highest. */
static uint32
gram_base(const RapporPlan *plan)
{
	return plan->query.base.alphabet + 1;
}

/* Can it stand there?  Nothing follows SYMBOL_END, and no term begins with it. */
static bool
rappor_gram_valid(const RapporPlan *plan, int position, uint32 gram)
{
	bool ended = true; /* from the last symbol to the first */

	for (int i = 0; i < plan->query.gram; i++, gram /= gram_base(plan))
	{
		if (gram % gram_base(plan) != SYMBOL_END)
			ended = false;
		else if (!ended || (position == 0 && i == plan->query.gram - 1))
			return false;
	}
	return true;
}

/* Its symbols, SYMBOL_END included, into symbol; returns how many come before that. */
int
rappor_gram_symbols(const RapporPlan *plan, uint32 gram, uint16 *symbol)
{
	int length = 0;

	for (int i = plan->query.gram - 1; i >= 0; i--, gram /= gram_base(plan))
	{
		symbol[i] = gram % gram_base(plan);
		length += symbol[i] != SYMBOL_END;
	}
	return length;
}

void
rappor_counts_init(const RapporPlan *plan, RapporCounts *counts)
{
	*counts = (RapporCounts){
		.users = palloc0(plan->query.cohorts * sizeof(int64)),
		.ones = palloc0(plan->query.cohorts * plan->query.bits * sizeof(int64))};
}

void
rappor_counts_add(const RapporPlan *plan, RapporCounts *counts, int cohort, uint64 bits)
{
	int64 *ones = counts->ones + cohort * plan->query.bits;

	counts->users[cohort]++;
	for (; bits != 0; bits &= bits - 1)
		ones[__builtin_ctzll(bits)]++;
}

/* After all reports have been added. */
void
rappor_counts_finish(const RapporPlan *plan, RapporCounts *counts)
{
	const Bloom *bloom = &plan->bloom;
	double ones = 0;

	for (int i = 0; i < plan->query.cohorts * plan->query.bits; i++)
		ones += (double) counts->ones[i];
	for (int cohort = 0; cohort < plan->query.cohorts; cohort++)
		counts->reports += counts->users[cohort];
	counts->holders = (ones - (double) counts->reports * bloom->bits * bloom->zero) /
					  ((bloom->one - bloom->zero) * bloom->hashes);
}

void
rappor_counts_free(RapporCounts *counts)
{
	pfree(counts->users);
	pfree(counts->ones);
}

/*
 * How many of those who reported have the item; the standard deviation is over reports
 * and the users' order.
 */
double
rappor_counts_estimate(const RapporPlan *plan, const RapporCounts *counts, uint32 role,
					   uint64 item, double *stddev)
{
	const Bloom *bloom = &plan->bloom;
	double share = (double) bloom->hashes / bloom->bits;
	double unit = (bloom->one - bloom->zero) * bloom->hashes;
	double sum = 0;
	double variance = 0;

	for (int cohort = 0; cohort < plan->query.cohorts; cohort++)
	{
		double users = (double) counts->users[cohort];
		uint64 bits = users > 0 ? bloom_item_bits(bloom, cohort, role, item) : 0;

		for (; bits != 0; bits &= bits - 1)
		{
			double ones = (double) counts->ones[cohort * bloom->bits + __builtin_ctzll(bits)];

			sum += ones - users * bloom->zero;
			variance += ones * (1 - ones / users);
		}
	}
	*stddev = sqrt(variance) / (unit * (1 - share));
	return (sum / unit - counts->holders * share) / (1 - share);
}

/* ---- what is kept ---- */

typedef struct Kept
{
	uint32 gram;
	double estimate;
} Kept;

static int
compare_kept(const void *a, const void *b)
{
	const Kept *left = a;
	const Kept *right = b;

	if (left->estimate != right->estimate)
		return left->estimate > right->estimate ? -1 : 1;
	return left->gram < right->gram ? -1 : left->gram > right->gram;
}

static uint64
gram_item(const RapporPlan *plan, uint32 gram)
{
	uint16 symbol[RAPPOR_MAX_GRAM];

	rappor_gram_symbols(plan, gram, symbol);
	return oracle_item(symbol, plan->query.gram);
}

/* All n-grams above their noise, the most frequent first; returns their number. */
static int
above_noise(const RapporPlan *plan, int position, const RapporCounts *counts, Kept *kept)
{
	int n = 0;

	for (uint32 gram = 0; gram < plan->grams; gram++)
	{
		double stddev;
		double estimate;

		if (gram % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (!rappor_gram_valid(plan, position, gram))
			continue;
		estimate = rappor_counts_estimate(plan, counts, ROLE_GRAM(position),
										  gram_item(plan, gram), &stddev);
		if (estimate > plan->query.z_grams * stddev)
			kept[n++] = (Kept){gram, estimate};
	}
	qsort(kept, n, sizeof(Kept), compare_kept);
	return n;
}

/* For each bit of each cohort, which of the n-grams kept set it. */
static void
index_holders(const RapporPlan *plan, int position, RapporPosition *kept)
{
	int n = 0;

	kept->start = palloc((plan->query.cohorts * plan->query.bits + 1) * sizeof(int32));
	kept->holder = palloc(Max(1, plan->query.cohorts * kept->n * plan->query.hashes) *
						  sizeof(uint16));
	for (int cohort = 0; cohort < plan->query.cohorts; cohort++)
	{
		uint64 set[RAPPOR_MAX_CANDIDATES] = {0};

		for (int i = 0; i < kept->n; i++)
			set[i] = bloom_item_bits(&plan->bloom, cohort, ROLE_GRAM(position),
									 gram_item(plan, kept->gram[i]));
		for (int bit = 0; bit < plan->query.bits; bit++)
		{
			kept->start[cohort * plan->query.bits + bit] = n;
			for (int i = 0; i < kept->n; i++)
				if ((set[i] >> bit & 1) != 0)
					kept->holder[n++] = i;
		}
	}
	kept->start[plan->query.cohorts * plan->query.bits] = n;
}

/* The n-grams of a position that are above their noise, at most so many as the plan says. */
void
rappor_position_init(const RapporPlan *plan, int position, const RapporCounts *counts,
					 RapporPosition *kept)
{
	Kept *above = palloc(plan->grams * sizeof(Kept));
	double reports = Max(1, (double) counts->reports);

	kept->n = Min(above_noise(plan, position, counts, above), plan->query.candidates);
	kept->gram = palloc(Max(kept->n, 1) * sizeof(uint32));
	kept->share = palloc(Max(kept->n, 1) * sizeof(double));
	kept->holders = Max(0, Min(1, counts->holders / reports));
	for (int i = 0; i < kept->n; i++)
	{
		kept->gram[i] = above[i].gram;
		kept->share[i] = above[i].estimate / reports;
	}
	pfree(above);
	index_holders(plan, position, kept);
}

void
rappor_position_free(RapporPosition *kept)
{
	pfree(kept->gram);
	pfree(kept->share);
	pfree(kept->start);
	pfree(kept->holder);
}
