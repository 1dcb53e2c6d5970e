/*
 * treehist.c
 *	  TreeHist (Bassily, Nissim, Stemmer, Thakurta, "Practical locally private heavy
 *	  hitters", NIPS 2017, arXiv 1707.04982): each user reports one bit of a count sketch
 *	  of one level's prefixes.
 *
 * A level of prefixes (prefixes.c) has a sketch of some rows, and each place belongs to
 * one row of one level.  A row hashes a prefix v to a bucket h(v) of its width w and to a
 * sign g(v).  A user with prefix u at that level draws a column j of the w by w Hadamard
 * matrix W, and reports j and the sign g(u) W[j, h(u)], which randomised response may
 * turn.  In the mean over j, W[j, h(u)] W[j, h(v)] is 1 for equal buckets, else 0.  So
 * g(v) times the sum of answer W[j, h(v)] over the row's users, divided by yes - no of
 * the oracle, estimates how many of them have v, unbiased over g: the fast Walsh-Hadamard
 * transform of the answers' sums by column gives it for all buckets at once.  The level's
 * estimate is the rows' median, each scaled to the users of the level.  It is unbiased
 * over the hashes' key: with one key for ever, a term would for ever meet the same others.
 *
 * Privacy: epsilon.  A user sends one report.  Place and column are independent of the
 * term; the bit is an answer of randomised response with parameter epsilon (oracle.c).
 * Whoever has no term sends a fair bit: its probability lies between those of a lie and
 * of the truth.  Reports do not depend on what is asked, so they may all be sent
 * beforehand.
 *
 * Against the original.  It has one level for each bit of binary strings of one length,
 * and extends a prefix whose count exceeds a threshold, which in the PrivTrie paper's
 * experiments was of the order of the number of users; we follow that paper's adaptation
 * (section V): terms padded with their end, and the best k kept on each level (times
 * keep), by whole symbols.  For the counts the original lets each user answer a second
 * question, about the whole term, each with half of epsilon.  Here a user answers one
 * with all of it, and the counts are those of all levels since the term was kept
 * (prefixes.c).
 *
 * Standard deviations.  An answer divided by yes - no has the variance 1 / (yes - no)^2,
 * less 1 for a holder.  The median of equal, nearly normal rows has a known variance.
 * Left out are the prefixes in the same bucket: of the users u of a row who have not v,
 * each pair of the same prefix adds 1/w, so the relative error of the variance is at most
 * users / w times the sum of the squared shares of prefixes: few per cent where no prefix
 * has a large share.  If one has, it is rarely in the same bucket, and the median passes
 * over the row where it is.
 */
#include "common/dp_base.h"

#include "local/memory.h"
#include "local/treehist.h"

/*
 * More rows only widen the estimates: a median of three has 1.35 times a mean's variance,
 * of five 1.43 times.  Three are the fewest that outvote one.
 */
#define TREEHIST_ROWS 3

/*
 * The width is the power of 2 next above the users of a row, so that prefixes rarely
 * meet.  The sums of all rows take eight bytes a user then, and with the bound at most
 * 128 MB.
 */
#define MIN_WIDTH 256
#define MAX_SUMS (1 << 25)

/*
 * The variance of the median of so many standard normal variables, times their number;
 * of an even number the median is the mean of the two in the middle.  By numerical
 * integration of the order statistics' densities.
 */
static const double median_variance[TREEHIST_MAX_ROWS + 1] =
	{0, 1, 1, 1.34601, 1.1928, 1.43417, 1.28847, 1.47313, 1.34547, 1.49491, 1.3833, 1.50879,
	 1.41025, 1.51839, 1.43043, 1.52542, 1.44611};

/* ---- the plan ---- */

TreeHistQuery
treehist_defaults(const LocalQuery *query)
{
	return (TreeHistQuery){.base = *query,
						   .start = prefix_start(query->alphabet),
						   .step = PREFIX_STEP,
						   .keep = PREFIX_KEEP,
						   .rows = TREEHIST_ROWS};
}

static int
cells(const TreeHistPlan *plan)
{
	return plan->prefixes.levels * plan->rows;
}

/* The plan of a query for so many places.  Errors: as pem_plan's. */
DpStatus
treehist_plan(const TreeHistQuery *query, int64 places, TreeHistPlan *plan)
{
	DpStatus status;

	if (query->first < 0 || query->first > places || places > PG_UINT32_MAX ||
		query->rows < 1 || query->rows > TREEHIST_MAX_ROWS)
		return DP_ERR_DOMAIN;
	status = prefix_plan(&query->base, query->start, query->step, query->keep, &plan->prefixes);
	if (status != DP_OK)
		return status;
	plan->rows = query->rows;
	plan->first = query->first;
	plan->places = places;
	plan->key = query->key;
	plan->width = MIN_WIDTH;
	while (plan->width < (places - plan->first) / cells(plan) &&
		   2 * (int64) plan->width * cells(plan) <= MAX_SUMS)
		plan->width *= 2;
	return oracle_sign(query->base.epsilon, &plan->oracle);
}

/* The row that a place reports to, of all levels' rows; -1: to none. */
static int
cell_of(const TreeHistPlan *plan, int64 place)
{
	if (place < plan->first || place >= plan->places)
		return -1;
	return (int) ((place - plan->first) % cells(plan));
}

/* A prefix's hash in a row: its low bits are the bucket, its highest the sign. */
static uint64
row_hash(const TreeHistPlan *plan, int cell, uint64 item)
{
	return dp_mix64(dp_mix64(plan->key, cell), item);
}

static bool
is_negative(uint64 hash)
{
	return hash >> 63 != 0;
}

/* Is the Hadamard matrix -1 there? */
static bool
hadamard(uint32 column, uint32 row)
{
	return (__builtin_popcount(column & row) & 1) != 0;
}

/* ---- the client's half ---- */

/*
 * The client's half: value 1 says that the sign is negative.  The place must be one of
 * the plan's.
 */
LocalReport
treehist_report(const TreeHistPlan *plan, int64 place, const LocalTerm *term, DpRandom *rng)
{
	LocalReport report = {.place = (uint32) place, .seed = dp_random_u64(rng)};
	uint32 truth = plan->oracle.values;

	if (term->length > 0)
	{
		int cell = cell_of(plan, place);
		int depth = plan->prefixes.depth[cell / plan->rows];
		uint64 hash = row_hash(plan, cell, prefix_item_of_term(term, depth));

		truth = is_negative(hash) ^
				hadamard((uint32) report.seed & (plan->width - 1), (uint32) hash);
	}
	report.value = oracle_answer_value(&plan->oracle, rng, truth);
	return report;
}

/* ---- the server's half ---- */

void
treehist_init(TreeHistSketch *sketch, const TreeHistPlan *plan)
{
	*sketch = (TreeHistSketch){.plan = plan,
							   .sum = palloc0((size_t) cells(plan) * plan->width *
											  sizeof(int32)),
							   .users = palloc0(cells(plan) * sizeof(int64))};
}

/* Takes one report; of no report of the plan only the number is kept. */
void
treehist_add(TreeHistSketch *sketch, const LocalReport *report)
{
	const TreeHistPlan *plan = sketch->plan;
	int cell = cell_of(plan, report->place);

	if (cell < 0 || report->value >= plan->oracle.values)
	{
		sketch->invalid++;
		return;
	}
	sketch->users[cell]++;
	sketch->sum[(size_t) cell * plan->width + (report->seed & (plan->width - 1))] +=
		report->value == 0 ? 1 : -1;
}

/* The Walsh-Hadamard transform in place.  No sum exceeds the number of reports. */
static void
transform(int32 *sum, uint32 width)
{
	for (uint32 half = 1; half < width; half *= 2)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < width; i += 2 * half)
			for (uint32 j = i; j < i + half; j++)
			{
				int32 a = sum[j];
				int32 b = sum[j + half];

				sum[j] = a + b;
				sum[j + half] = a - b;
			}
	}
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *) a;
	double y = *(const double *) b;

	return (x > y) - (x < y);
}

static double
median(double *value, int n)
{
	if (n == 0)
		return 0;
	qsort(value, n, sizeof(double), compare_doubles);
	return (value[(n - 1) / 2] + value[n / 2]) / 2;
}

/* An answer's mean where all users have what is asked for. */
static double
mean_of_holder(const Oracle *oracle)
{
	return ((double) oracle->yes - (double) oracle->no) / (double) ORACLE_ONE;
}

/*
 * How many of a level's users hold a node, of which the item is given: the median of what
 * its rows say of their users, as a share.  Rows without users say nothing.
 */
static double
estimate(const TreeHistSketch *sketch, int level, uint64 item, int64 users)
{
	const TreeHistPlan *plan = sketch->plan;
	double share[TREEHIST_MAX_ROWS];
	int n = 0;

	for (int cell = level * plan->rows; cell < (level + 1) * plan->rows; cell++)
	{
		uint64 hash = row_hash(plan, cell, item);
		int32 sum = sketch->sum[(size_t) cell * plan->width + (hash & (plan->width - 1))];

		if (sketch->users[cell] > 0)
			share[n++] = (is_negative(hash) ? -sum : sum) / (double) sketch->users[cell];
	}
	return median(share, n) * (double) users / mean_of_holder(&plan->oracle);
}

/* Estimates a level's candidates; returns how many users it has. */
static int64
estimate_level(TreeHistSketch *sketch, const PrefixSearch *search, double *holders)
{
	const TreeHistPlan *plan = sketch->plan;
	int level = search->level;
	int depth = plan->prefixes.depth[level];
	int64 users = 0;

	for (int cell = level * plan->rows; cell < (level + 1) * plan->rows; cell++)
	{
		transform(sketch->sum + (size_t) cell * plan->width, plan->width);
		users += sketch->users[cell];
	}
	for (int i = 0; i < search->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		holders[i] = estimate(sketch, level,
							  prefix_item_of_node(&search->trie, search->node[i], depth), users);
	}
	return users;
}

static PrefixNoise
noise_of(const TreeHistPlan *plan)
{
	double factor = median_variance[plan->rows];
	double mean = mean_of_holder(&plan->oracle);

	return (PrefixNoise){factor / (mean * mean), -factor, factor};
}

/* The k most frequent terms of the reports taken.  Frees the sketch. */
void
treehist_decode(TreeHistSketch *sketch, int k, LocalResult *result)
{
	const TreeHistPlan *plan = sketch->plan;
	PrefixNoise noise = noise_of(plan);
	PrefixSearch search;
	double population;

	prefix_search_begin(&search, &plan->prefixes);
	while (search.level < plan->prefixes.levels)
	{
		double *holders;
		int64 users;

		prefix_search_extend(&search);
		holders = palloc(search.n * sizeof(double));
		users = estimate_level(sketch, &search, holders);
		prefix_search_keep(&search, holders, users);
		pfree(holders);
	}
	population = prefix_population(&search, plan->first, plan->places);
	prefix_search_finish(&search, k, population, &noise, result);
	pfree(sketch->sum);
	pfree(sketch->users);
}

typedef struct Visit
{
	TreeHistSketch *sketch;
	DpRandom *rng;
} Visit;

static void
visit(void *state, int64 place, const LocalTerm *term)
{
	Visit *visit = state;
	LocalReport report = treehist_report(visit->sketch->plan, place, term, visit->rng);

	treehist_add(visit->sketch, &report);
}

/*
 * The whole protocol: each user of the poll goes through the client's half, and the
 * server's half sees what comes out of it.
 */
DpStatus
treehist_run(const TreeHistQuery *query, const Poll *poll, DpRandom *rng, LocalResult *result)
{
	TreeHistPlan plan;
	TreeHistSketch sketch;
	DpStatus status = treehist_plan(query, poll->users, &plan);

	if (status != DP_OK)
		return status;
	treehist_init(&sketch, &plan);
	poll->visit(poll->state, plan.first, plan.places, visit, &(Visit){&sketch, rng});
	treehist_decode(&sketch, query->base.k, result);
	return DP_OK;
}
