/*
 * skips.c
 *	  Independent trials on all ranks outside a sorted support, in time
 *	  proportional to the successes and the support.
 *
 * The distance from one success to the next is geometric.  So the ranks outside
 * the support are walked in skips, which is exactly the law of the trials one
 * by one: the number of successes is Binomial, and given their number they are
 * uniform.  The support's ranks are sorted once and merged in, so it makes no
 * difference whether the support is nearly nothing or nearly everything, and
 * nothing is ever rejected.
 *
 * How many ranks stand outside decides what a released n-gram proves
 * (candidates.c).  So a support that is not what its owner counted, or that
 * holds a rank twice, is an error here and not a smaller number of trials.
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/tuplesort.h"

#include "common/dp_audit.h"
#include "compat.h"
#include "ngram/skips.h"

#define NO_RANK PG_UINT64_MAX

struct Skips
{
	Tuplesortstate *ranks; /* of the support */
	bool sorted;
	uint64 next; /* the support's first rank that is not passed yet */
};

/* The least that a sort takes, kilobytes. */
#define LEAST_SORT 64

/* memory_limit: bytes, for the support's ranks; beyond they are sorted on disk */
Skips *
skips_create(Size memory_limit)
{
	Skips *skips = palloc0(sizeof(Skips));
	int kilobytes = (int) Min(Max(memory_limit / 1024, LEAST_SORT), MAX_KILOBYTES);

	skips->ranks = tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false, kilobytes,
										 NULL, TUPLESORT_NONE);
	return skips;
}

/* A rank of the support, once each, before the first walk. */
void
skips_add(Skips *skips, uint64 rank)
{
	Assert(!skips->sorted);
	tuplesort_putdatum(skips->ranks, Int64GetDatum((int64) rank), false);
}

static uint64
next_rank(Skips *skips)
{
	Datum rank;
	bool isnull;

	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_getdatum(skips->ranks, true, false, &rank, &isnull, NULL))
		return NO_RANK;
	return (uint64) DatumGetInt64(rank);
}

/* Pass the support's next rank. */
static void
pass(Skips *skips)
{
	uint64 passed = skips->next;

	skips->next = next_rank(skips);
	if (skips->next <= passed)
		elog(ERROR, "a member of the support was added twice");
}

static void
sort_ranks(Skips *skips)
{
	tuplesort_performsort(skips->ranks);
	skips->sorted = true;
	skips->next = next_rank(skips);
}

/* How many ranks of the range are outside the support. */
static uint64
count_outside(const RankRange *range)
{
	uint64 outside = range->end - range->first - range->support;

	if (range->support > range->end - range->first)
		elog(ERROR, "the support is larger than the set of candidates");
	if (DP_SABOTAGED(SABOTAGE_UNDERCOUNT))
		return 0;
	return DP_SABOTAGED(SABOTAGE_PARTIAL) ? outside / 2 : outside;
}

/*
 * Try each rank of the range outside the support with success probability
 * "rate", and visit the successes in ascending order.  Ranges are walked in
 * ascending order, and no part of the support is outside of them.
 */
void
skips_walk(Skips *skips, RankRange range, DpRandom *random, DpRate rate, SkipVisitor visit,
		   void *state)
{
	uint64 outside = count_outside(&range);
	uint64 at = 0;		/* of the ranks outside, how many are passed */
	uint64 skipped = 0; /* of the support, how many stand before that */

	if (!skips->sorted)
		sort_ranks(skips);
	if (skips->next < range.first)
		elog(ERROR, "a part of the support is in no range");
	for (;;)
	{
		uint64 skip = dp_geometric(random, rate);

		CHECK_FOR_INTERRUPTS();
		if (skip >= outside - at)
			break;
		at += skip;
		for (; skips->next <= range.first + at + skipped; skipped++)
			pass(skips);
		visit(state, range.first + at + skipped);
		at++;
	}
	for (; skips->next < range.end; skipped++)
		pass(skips);
	if (skipped != range.support)
		elog(ERROR, "the support is not of the size that was counted");
}

void
skips_free(Skips *skips)
{
	tuplesort_end(skips->ranks);
	pfree(skips);
}
