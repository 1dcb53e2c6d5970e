/*
 * reports.c
 *	  A poll of the reports that PEM's clients have sent.
 *
 * They were sent before anything was asked, and say what a user would answer to any
 * question about prefixes of the group's depth.  So pem_run() works on them as on users.
 *
 * Reports come from clients that nobody vouches for.  One whose place or value the plan
 * does not have is left out and counted; one that lies within the plan's ranges counts as
 * one report, and moves an estimate by no more than any other.
 */
#include "common/dp_base.h"

#include "local/memory.h"
#include "local/reports.h"

static int
compare_places(const void *a, const void *b)
{
	const LocalReport *x = a;
	const LocalReport *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

/* Takes the reports as they came; they are put into another order. */
void
reports_init(Reports *reports, const PemPlan *plan, LocalReport *report, int64 n)
{
	*reports = (Reports){.plan = plan, .report = report};
	for (int64 i = 0; i < n; i++)
	{
		if (pem_group(plan, report[i].place) >= 0 && report[i].value < plan->oracle.values)
			report[reports->n++] = report[i];
		else
			reports->invalid++;
	}
	qsort(report, reports->n, sizeof(LocalReport), compare_places);
}

/* The first report whose place is not below. */
static int64
first_at(const Reports *reports, int64 place)
{
	int64 low = 0;
	int64 high = reports->n;

	while (low < high)
	{
		int64 middle = low + (high - low) / 2;

		if (reports->report[middle].place < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The least hash that oracle_hash_value() makes this value of; of values: 2^64, as 0. */
static uint64
least_hash(const Oracle *oracle, uint32 value)
{
	return (uint64) ((((dp_uint128) value << 64) + oracle->values - 1) / oracle->values);
}

/*
 * Adds to each item's count whether the report supports it.  For each report and each
 * item of a level this is done, by the thousand millions (1.5 ns each).  So it is
 * oracle_hash_value() taken apart: what depends on the seed alone, and on the item alone,
 * comes from outside, and instead of a division into values the hash is compared with the
 * value's bounds.
 */
static void
count_report(const Oracle *oracle, const LocalReport *report, const uint64 *item, int n,
			 int64 *supported)
{
	uint64 start = dp_splitmix_finish(report->seed + DP_SPLITMIX_GAMMA);
	uint64 least = least_hash(oracle, report->value);
	uint64 width = least_hash(oracle, report->value + 1) - least;

	for (int i = 0; i < n; i++)
		supported[i] += dp_splitmix_finish(start + item[i]) - least < width;
}

/* What of dp_mix64(seed, item) depends on the item alone, for each node. */
static uint64 *
items_of(const Trie *trie, const int32 *nodes, int n, int depth)
{
	uint64 *item = palloc(Max(n, 1) * sizeof(uint64));

	for (int i = 0; i < n; i++)
		item[i] = (prefix_item_of_node(trie, nodes[i], depth) + 1) * DP_SPLITMIX_GAMMA;
	return item;
}

static int64
ask(void *state, const Trie *trie, const int32 *nodes, int n, int64 from, int64 to,
	const Oracle *oracle, int64 *supported)
{
	const Reports *reports = state;
	int group = pem_group(reports->plan, from);
	int64 first = first_at(reports, from);
	int64 end = first_at(reports, to);
	uint64 *item;

	memset(supported, 0, n * sizeof(int64));
	if (group < 0)
		return 0;
	Assert(to <= pem_group_start(reports->plan, group + 1));
	item = items_of(trie, nodes, n, reports->plan->prefixes.depth[group]);
	for (int64 i = first; i < end; i++)
	{
		CHECK_FOR_INTERRUPTS();
		count_report(oracle, &reports->report[i], item, n, supported);
	}
	pfree(item);
	return Max(0, end - first);
}

/* The poll, for pem_run() and a query of the same plan.  It has no terms to visit. */
Poll
reports_poll(Reports *reports)
{
	return (Poll){.users = reports->plan->places, .state = reports, .ask = ask};
}
