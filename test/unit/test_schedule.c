/*
 * test_schedule.c
 *	  Budgets of dpne-mr by forecast: paths counted against their enumeration, and what
 *	  holds of every budget, whatever was released.
 */
#include "ngram/schedule.h"

#include <float.h>
#include <math.h>

#include "common/dp_random.h"
#include "ngram/forecast.h"
#include "tap.h"

#define MAX_NODES 40
#define MAX_EDGES 400
#define GRAPHS 300
#define LEAST 0.7

static DpRandom rng;

/* Released sets of three lengths, of random members. */
typedef struct World
{
	GramWeight node[MAX_NODES];
	GramWeight edge[MAX_EDGES];
	uint64 key[MAX_EDGES];
	ScheduleInput in;
} World;

static uint32
below(uint32 n)
{
	return (uint32) (dp_random_u64(&rng) % n);
}

static double
uniform(void)
{
	return (double) (dp_random_u64(&rng) >> 11) * 0x1p-53;
}

static GramWeight
random_weight(double most)
{
	double value = most * pow(2, -12 * uniform());

	return (GramWeight){.value = below(20) == 0 ? -value : value, .stddev = 1};
}

static void
random_world(World *world, int nodes, int edges, int max_length)
{
	double most = pow(10, 6 * uniform());

	memset(world, 0, sizeof(*world));
	for (int i = 0; i < nodes; i++)
		world->node[i] = random_weight(most);
	for (int i = 0; i < edges; i++)
	{
		world->edge[i] = random_weight(most / 2);
		world->key[i] = (uint64) (below(nodes) + 1) << 32 | (below(nodes) + 1);
	}
	world->in = (ScheduleInput){.max_length = max_length,
								.whole = 1,
								.left = 1,
								.floor = SCHEDULE_FLOOR_ADAPTIVE,
								.spurious = 0.01,
								.words = {.n = nodes, .weight = world->node},
								.previous = {.n = edges, .key = world->key, .weight = world->edge},
								.middles = {.n = nodes, .weight = world->node},
								.members = (double) edges * edges / Max(nodes, 1)};
}

/* ------------------------------------------------------------------------
 * forecasts
 * ------------------------------------------------------------------------ */

static int
bins(double weight)
{
	return (int) rint(2 * log2(weight));
}

/* Is a weight in any bin? */
static bool
counts(GramWeight weight)
{
	return weight.value > 0 && bins(weight.value / LEAST) >= 0;
}

/* Walk all paths on from an edge, with their bin so far. */
static void
walk(const World *world, int edge, int bin, int j, Forecast *expected)
{
	for (int next = 0; next < (int) world->in.previous.n && j < expected->levels; next++)
	{
		double share = world->edge[next].value / world->node[(world->key[next] >> 32) - 1].value;
		int then;

		if (world->key[next] >> 32 != (uint32) world->key[edge] || world->edge[next].value <= 0 ||
			!counts(world->node[(world->key[next] >> 32) - 1]))
			continue;
		then = bin + bins(Min(share, 0.5));
		if (then < 0)
			continue;
		expected->count[j][then]++;
		walk(world, next, then, j + 1, expected);
	}
}

static bool
same_counts(const Forecast *a, const Forecast *b)
{
	for (int j = 0; j < a->levels; j++)
		for (int bin = 0; bin < FORECAST_BINS; bin++)
			if (a->count[j][bin] != b->count[j][bin])
				return false;
	return true;
}

/* Nodes that weigh nothing are not kept; the enumeration knows of that. */
static void
test_chains(void)
{
	static World world;
	static Forecast made;
	static Forecast expected;
	int wrong = 0;
	double paths = 0;

	for (int i = 0; i < GRAPHS; i++)
	{
		random_world(&world, 1 + below(8), 1 + below(24), 3 + below(3));
		memset(&expected, 0, sizeof(expected));
		expected.levels = world.in.max_length - 2;
		for (uint32 edge = 0; edge < world.in.previous.n; edge++)
			if (counts(world.edge[edge]))
				walk(&world, edge, Min(bins(world.edge[edge].value / LEAST), FORECAST_BINS - 1), 0,
					 &expected);
		forecast_make(&world.in, 3, LEAST, &made);
		wrong += !same_counts(&made, &expected);
		for (int bin = 0; bin < FORECAST_BINS; bin++)
			paths += made.count[0][bin];
	}
	ok(wrong == 0 && paths > 1000, "paths of random graphs are counted as they are enumerated");
}

static void
test_words(void)
{
	static World world;
	static Forecast made;
	static Forecast expected;
	int wrong = 0;

	for (int i = 0; i < GRAPHS; i++)
	{
		double sum = 0;

		random_world(&world, 1 + below(MAX_NODES), 0, 2);
		world.in.previous = world.in.words;
		memset(&expected, 0, sizeof(expected));
		expected.levels = 1;
		for (uint32 word = 0; word < world.in.words.n; word++)
			sum += Max(world.node[word].value, 0);
		for (uint32 a = 0; a < world.in.words.n; a++)
			for (uint32 b = 0; b < world.in.words.n; b++)
			{
				int bin;

				if (!counts(world.node[a]) || world.node[b].value <= 0)
					continue;
				bin = Min(bins(world.node[a].value / LEAST), FORECAST_BINS - 1) +
					  bins(world.node[b].value / sum);
				if (bin >= 0)
					expected.count[0][bin]++;
			}
		forecast_make(&world.in, 2, LEAST, &made);
		wrong += !same_counts(&made, &expected);
	}
	ok(wrong == 0, "pairs of words are counted as they are enumerated");
}

/* ------------------------------------------------------------------------
 * budgets
 * ------------------------------------------------------------------------ */

/* Spend level by level: true if each gets more than 0, and all of it together is what there is. */
static bool
spends_all(ScheduleInput *in)
{
	double spent = 0;

	in->left = in->whole;
	for (int k = 2; k <= in->max_length; k++)
	{
		double mu2 = schedule_level(in, k);
		double least = in->ratio > 0 ? 0 : in->floor * in->whole / in->max_length;

		if (least * 2 * (in->max_length - k + 1) > in->left)
			least = 0;
		if (!(mu2 > 0 && mu2 >= least && mu2 <= in->left) || mu2 != schedule_level(in, k))
			return false;
		if (k == in->max_length && mu2 != in->left)
			return false;
		spent += mu2;
		in->left -= mu2;
	}
	return fabs(spent - in->whole) <= 1e-9 * in->whole;
}

static void
test_random_worlds(void)
{
	static World world;
	int wrong = 0;

	for (int i = 0; i < GRAPHS; i++)
	{
		random_world(&world, 1 + below(MAX_NODES), below(MAX_EDGES), 2 + below(10));
		world.in.single_side = below(4) == 0;
		world.in.floor = below(2) == 0 ? SCHEDULE_FLOOR_BALANCED : SCHEDULE_FLOOR_ADAPTIVE;
		world.in.whole = pow(10, 8 * uniform() - 6);
		world.in.members *= pow(2, 8 * uniform() - 4);
		wrong += !spends_all(&world.in);
	}
	ok(wrong == 0, "budgets of random sets are positive, at least their floors, and all there is");
}

static void
test_degenerate(void)
{
	static World world;
	int wrong = 0;

	for (int max_length = 2; max_length <= FORECAST_MAX_LEVELS; max_length += 5)
	{
		random_world(&world, 0, 0, max_length);
		wrong += !spends_all(&world.in); /* nothing is released */
		random_world(&world, 1, 1, max_length);
		world.in.members = 1;
		wrong += !spends_all(&world.in); /* one word, again and again */
		world.node[0].value = world.edge[0].value = DBL_MIN;
		wrong += !spends_all(&world.in);
		world.node[0].value = world.edge[0].value = 1e300;
		wrong += !spends_all(&world.in);
		world.node[0].value = world.edge[0].value = -5;
		wrong += !spends_all(&world.in);
		random_world(&world, 17, MAX_EDGES, max_length);
		wrong += !spends_all(&world.in); /* more paths than a float counts */
		world.in.whole = 1e-12;
		wrong += !spends_all(&world.in);
		world.in.whole = 1e4;
		world.in.spurious = 0;
		wrong += !spends_all(&world.in);
		world.in.floor = 5; /* more than there is */
		wrong += !spends_all(&world.in);
	}
	ok(wrong == 0, "nor do empty sets, single words, extreme weights or long n-grams mislead them");
}

static void
test_ratio(void)
{
	ScheduleInput in = {.max_length = 5, .ratio = 1.5, .whole = 1, .left = 1};
	double second = schedule_level(&in, 2);
	double third;

	in.left -= second;
	third = schedule_level(&in, 3);
	ok(fabs(second / third - 1.5 * 1.5) < 1e-12 && spends_all(&in),
	   "a ratio of the noise of one length to that of the one before is kept");
}

/* A length that many chains lead to gets more than one that none leads to. */
static void
test_direction(void)
{
	GramWeight node[] = {{100, 1}, {100, 1}, {100, 1}};
	GramWeight edge[] = {{50, 1}, {50, 1}, {50, 1}, {50, 1}};
	uint64 dead[] = {UINT64CONST(1) << 32 | 2, UINT64CONST(1) << 32 | 2,
					 UINT64CONST(2) << 32 | 3, UINT64CONST(2) << 32 | 3};
	uint64 alive[] = {UINT64CONST(1) << 32 | 2, UINT64CONST(2) << 32 | 1,
					  UINT64CONST(1) << 32 | 1, UINT64CONST(2) << 32 | 2};
	ScheduleInput in = {.max_length = 4,
						.whole = 0.1,
						.left = 0.1,
						.spurious = 0.01,
						.words = {3, NULL, node},
						.previous = {4, dead, edge},
						.middles = {3, NULL, node},
						.members = 8};
	double ending = schedule_level(&in, 3);

	in.previous.key = alive;
	ok(ending > 1.2 * schedule_level(&in, 3), "what leads nowhere is not saved for");
}

/* More nodes than are kept: a chain of heavy ones among many light ones. */
static void
test_many_nodes(void)
{
	const uint32 n = 100000;
	GramWeight *node = palloc(sizeof(GramWeight) * n);
	GramWeight edge[] = {{40, 1}, {40, 1}, {40, 1}};
	uint64 key[] = {UINT64CONST(70001) << 32 | 99001, UINT64CONST(99001) << 32 | 70001,
					UINT64CONST(5) << 32 | 6};
	ScheduleInput in = {.max_length = 5,
						.words = {n, NULL, node},
						.previous = {3, key, edge},
						.middles = {n, NULL, node}};
	static Forecast made;
	double paths[3] = {0};

	for (uint32 i = 0; i < n; i++)
		node[i] = (GramWeight){2, 1};
	node[70000].value = node[99000].value = 80;
	forecast_make(&in, 3, LEAST, &made);
	for (int j = 0; j < 3; j++)
		for (int bin = 0; bin < FORECAST_BINS; bin++)
			paths[j] += made.count[j][bin];
	ok(paths[0] == 2 && paths[1] == 2 && paths[2] == 2,
	   "of many n-grams the heaviest are followed");
	pfree(node);
}

int
main(void)
{
	dp_random_seeded(&rng, 1, 2, 3);
	test_chains();
	test_words();
	test_random_worlds();
	test_degenerate();
	test_ratio();
	test_direction();
	test_many_nodes();
	return tap_done();
}
