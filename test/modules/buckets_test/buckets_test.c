/*
 * buckets_test.c
 *	  Holds V_k in buckets, and what is drawn of it, against a V_k that is built
 *	  member by member.
 *
 * Worlds are random.  What goes wrong is an error that names the seed, which
 * brings the same worlds again.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "brute_force.h"
#include "ngram/bucket_support.h"

/* bytes, for sorting ranks */
#define SORT_MEMORY ((Size) 64 * 1024)

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(buckets_test_members);
PG_FUNCTION_INFO_V1(buckets_test_spurious);
PG_FUNCTION_INFO_V1(buckets_test_mistake);

/* One false alarm in a million true tests. */
#define ALARM 1e-6

#define MAX_EDGES (MAX_BUCKETS - 1)

static uint64 seed;

#define FAIL(...) fail(psprintf(__VA_ARGS__))

static void
fail(const char *message)
{
	elog(ERROR, "seed " INT64_FORMAT ": %s", (int64) seed, message);
}

/* A generator from the seed, or from a new one if that is 0. */
static void
begin_random(DpRandom *rng, int64 given)
{
	seed = (uint64) given;
	if (seed == 0 && !pg_strong_random(&seed, sizeof(seed)))
		elog(ERROR, "no randomness");
	dp_random_seeded(rng, seed, 0, 0);
}

static Buckets *
buckets_of_world(const World *world)
{
	return buckets_create(world->set[world->k - 1], world->k > 2 ? world->set[world->k - 2] : NULL,
						  world->set[1], world->pruning);
}

static int
compare_doubles(const void *pa, const void *pb)
{
	double a = *(const double *) pa;
	double b = *(const double *) pb;

	return a < b ? -1 : a > b;
}

/* ---- counts, buckets, ranks and keys ---- */

/* Edges at predictions, just beside them, and anywhere. */
static int
any_edges(DpRandom *rng, const World *world, double *edge)
{
	int edges = (int) dp_uniform(rng, MAX_EDGES + 1);

	for (int i = 0; i < edges; i++)
	{
		double at = world->n > 0 ? world->prediction[dp_uniform(rng, world->n)] : 1;

		switch (dp_uniform(rng, 6))
		{
			case 0:
				at = nextafter(at, DBL_MAX);
				break;
			case 1:
				at = nextafter(at, 0);
				break;
			case 2:
				at = any_weight(rng, (int) dp_uniform(rng, WEIGHT_SCHEMES));
				break;
			default:
				break;
		}
		edge[i] = at;
	}
	qsort(edge, edges, sizeof(double), compare_doubles);
	return edges;
}

static int
right_bucket(double prediction, const double *edge, int edges)
{
	int bucket = 0;

	while (bucket < edges && prediction > edge[bucket])
		bucket++;
	return bucket;
}

/* Is every member in its bucket, with a rank of its own, and is nothing else there? */
static void
check_division(const World *world, const Buckets *buckets, const double *edge, int edges)
{
	uint64 count[MAX_BUCKETS] = {0};
	uint64 *at_rank[MAX_BUCKETS];

	for (int i = 0; i <= edges; i++)
		at_rank[i] = palloc0((world->n + 1) * sizeof(uint64));
	for (uint32 i = 0; i < world->n; i++)
	{
		int bucket = right_bucket(world->prediction[i], edge, edges);
		uint64 rank;

		if (buckets_of(buckets, world->key[i]) != bucket)
			FAIL("a member is in bucket %d, not %d", buckets_of(buckets, world->key[i]), bucket);
		rank = buckets_rank(buckets, bucket, world->key[i]);
		if (rank >= buckets_count(buckets, bucket))
			FAIL("rank " UINT64_FORMAT " is outside of its bucket", rank);
		if (at_rank[bucket][rank] != 0)
			FAIL("two members have one rank");
		if (buckets_key(buckets, bucket, rank) != world->key[i])
			FAIL("the member at a rank is not the one that has the rank");
		at_rank[bucket][rank] = world->key[i];
		count[bucket]++;
	}
	for (int i = 0; i <= edges; i++)
	{
		if (buckets_count(buckets, i) != count[i])
			FAIL("bucket %d has " UINT64_FORMAT " members, not " UINT64_FORMAT, i,
				 buckets_count(buckets, i), count[i]);
		pfree(at_rank[i]);
	}
}

static void
check_world(DpRandom *rng, const World *world)
{
	Buckets *buckets = buckets_of_world(world);
	Candidates *candidates = candidates_create(world->set[world->k - 1], world->words,
											   world->k > 2 ? world->set[world->k - 2]->n : 0,
											   world->pruning);
	double edge[MAX_EDGES];

	if (buckets_total(buckets) != world->n || candidates->total != world->n)
		FAIL("V_k has " UINT64_FORMAT " and " UINT64_FORMAT " members, not %u",
			 buckets_total(buckets), candidates->total, world->n);
	for (uint32 i = 0; i < world->n; i++)
	{
		if (buckets_predict(buckets, world->key[i]) != world->prediction[i])
			FAIL("%.17g is predicted, not %.17g", buckets_predict(buckets, world->key[i]),
				 world->prediction[i]);
	}
	for (int division = 0; division < 2; division++)
	{
		int edges = any_edges(rng, world, edge);

		buckets_divide(buckets, edge, edges);
		if (buckets_number(buckets) != edges + 1)
			FAIL("%d edges make %d buckets", edges, buckets_number(buckets));
		check_division(world, buckets, edge, edges);
	}
	buckets_free(buckets);
	candidates_free(candidates);
}

/* Checks so many worlds, and returns how many members they had in all. */
Datum
buckets_test_members(PG_FUNCTION_ARGS)
{
	int most_words[] = {0, 0, 16, 7, 5};
	DpRandom rng;
	int64 members = 0;

	begin_random(&rng, PG_GETARG_INT64(1));
	for (int i = 0; i < PG_GETARG_INT32(0); i++)
	{
		WorldShape shape = {.k = 2 + (int) dp_uniform(&rng, 3)};
		World *world;

		shape.words = 1 + (uint32) dp_uniform(&rng, most_words[shape.k]);
		shape.pruning = dp_uniform(&rng, 2) == 0 ? PRUNING_BOTH : PRUNING_SINGLE;
		shape.scheme = (int) dp_uniform(&rng, WEIGHT_SCHEMES);
		world = world_create(&rng, &shape);
		CHECK_FOR_INTERRUPTS();
		check_world(&rng, world);
		members += world->n;
		world_free(world);
	}
	PG_RETURN_INT64(members);
}

/* ---- what is released of what nobody has ---- */

/* Five buckets, each with another support: none, half, all but three, all, and one. */
#define TRIED 5

typedef struct Trials
{
	const World *world;
	Buckets *buckets;
	double p[TRIED];
	bool *support;	/* by member of the world */
	uint32 *member; /* by bucket and rank: the world's */
	uint64 start[TRIED];
	uint64 outside[TRIED];

	/* one run */
	uint64 found[TRIED];
	int64 last_rank;
	int last_bucket;

	/* all runs */
	int runs;
	uint64 *hits;		 /* by member */
	uint64 *size[TRIED]; /* runs by the number found */
} Trials;

static void
note_found(void *state, int bucket, uint64 key)
{
	Trials *trials = state;
	int64 rank = (int64) buckets_rank(trials->buckets, bucket, key);
	uint32 member = trials->member[trials->start[bucket] + rank];

	if (trials->world->key[member] != key)
		FAIL("a member is not the one at its rank");
	if (trials->support[member])
		FAIL("a member of the support was found");
	if (bucket < trials->last_bucket ||
		(bucket == trials->last_bucket && rank <= trials->last_rank))
		FAIL("members are not found in order");
	trials->last_bucket = bucket;
	trials->last_rank = rank;
	trials->found[bucket]++;
	trials->hits[member]++;
}

/* Divide a world into five buckets of about the same size. */
static void
divide_evenly(Trials *trials)
{
	const World *world = trials->world;
	double *sorted = palloc(world->n * sizeof(double));
	double edge[TRIED - 1];

	memcpy(sorted, world->prediction, world->n * sizeof(double));
	qsort(sorted, world->n, sizeof(double), compare_doubles);
	for (int i = 1; i < TRIED; i++)
		edge[i - 1] = sorted[(uint64) world->n * i / TRIED];
	buckets_divide(trials->buckets, edge, TRIED - 1);
	pfree(sorted);
}

static bool
in_support(int bucket, uint64 rank, uint64 count)
{
	switch (bucket)
	{
		case 0:
			return false;
		case 1:
			return rank % 2 == 0;
		case 2:
			return rank > 0 && rank != count / 2 && rank != count - 1;
		case 3:
			return true;
		default:
			return rank == count / 3;
	}
}

static void
choose_support(Trials *trials)
{
	const World *world = trials->world;

	trials->support = palloc0(world->n * sizeof(bool));
	trials->member = palloc(world->n * sizeof(uint32));
	trials->hits = palloc0(world->n * sizeof(uint64));
	for (int bucket = 1; bucket < TRIED; bucket++)
		trials->start[bucket] =
			trials->start[bucket - 1] + buckets_count(trials->buckets, bucket - 1);
	for (uint32 i = 0; i < world->n; i++)
	{
		int bucket = buckets_of(trials->buckets, world->key[i]);
		uint64 rank = buckets_rank(trials->buckets, bucket, world->key[i]);

		trials->member[trials->start[bucket] + rank] = i;
		trials->support[i] = in_support(bucket, rank, buckets_count(trials->buckets, bucket));
		trials->outside[bucket] += !trials->support[i];
	}
	for (int bucket = 0; bucket < TRIED; bucket++)
		trials->size[bucket] = palloc0((trials->outside[bucket] + 1) * sizeof(uint64));
}

static void
run_once(Trials *trials, DpRandom *rng)
{
	const World *world = trials->world;
	BucketSupport *support = bucket_support_create(trials->buckets, SORT_MEMORY);
	uint32 from = (uint32) dp_uniform(rng, world->n);
	DpRate rate[TRIED];

	for (uint32 i = 0; i < world->n; i++)
	{
		uint32 member = (from + i) % world->n;

		if (trials->support[member])
			bucket_support_add(support, buckets_of(trials->buckets, world->key[member]),
							   world->key[member]);
	}
	for (int bucket = 0; bucket < TRIED; bucket++)
	{
		if (bucket_support_count(support, bucket) + trials->outside[bucket] !=
			buckets_count(trials->buckets, bucket))
			FAIL("the support of bucket %d is miscounted", bucket);
		if (dp_rate_from_probability(trials->p[bucket], &rate[bucket]) != DP_OK)
			elog(ERROR, "no rate for %g", trials->p[bucket]);
	}
	trials->last_bucket = -1;
	memset(trials->found, 0, sizeof(trials->found));
	bucket_support_spurious(support, rng, rate, note_found, trials);
	bucket_support_free(support);
	for (int bucket = 0; bucket < TRIED; bucket++)
		trials->size[bucket][trials->found[bucket]]++;
	trials->runs++;
}

/* Does each member outside the support come with probability p, none more than others? */
static void
judge_members(const Trials *trials, int bucket)
{
	double p = trials->p[bucket];
	double expected = trials->runs * p;
	double statistic = 0;
	double tail;

	for (uint32 i = 0; i < trials->world->n; i++)
	{
		if (trials->support[i] || buckets_of(trials->buckets, trials->world->key[i]) != bucket)
			continue;
		statistic += pow(trials->hits[i] - expected, 2) / (expected * (1 - p));
	}
	tail = gsl_cdf_chisq_Q(statistic, trials->outside[bucket]);
	if (tail < ALARM)
		FAIL("members of bucket %d are not found alike: p = %g", bucket, tail);
}

/* Is the number found in a run Binomial(outside, p)?  Cells of 10 expected runs or more. */
static void
judge_number(const Trials *trials, int bucket)
{
	uint64 n = trials->outside[bucket];
	double expected = 0;
	double left = trials->runs; /* expected in the cells to come */
	double statistic = 0;
	double tail;
	int64 seen = 0;
	int cells = 0;

	for (uint64 found = 0; found <= n; found++)
	{
		double here = trials->runs * gsl_ran_binomial_pdf(found, trials->p[bucket], n);

		expected += here;
		left -= here;
		seen += trials->size[bucket][found];
		if (found < n && (expected < 10 || left < 10))
			continue;
		statistic += pow(seen - expected, 2) / expected;
		expected = 0;
		seen = 0;
		cells++;
	}
	tail = cells > 1 ? gsl_cdf_chisq_Q(statistic, cells - 1) : 1;
	if (tail < ALARM)
		FAIL("the number found in bucket %d is not binomial: p = %g", bucket, tail);
}

/* Runs with one support in one world; returns how many members were found. */
Datum
buckets_test_spurious(PG_FUNCTION_ARGS)
{
	WorldShape shape = {.words = PG_GETARG_INT32(0),
						.k = PG_GETARG_INT32(1),
						.pruning = PG_GETARG_BOOL(2) ? PRUNING_SINGLE : PRUNING_BOTH,
						.scheme = SMOOTH_WEIGHTS,
						.share = 80};
	Trials trials = {.p = {0.02, 0.1, 0.25, 0.25, 0.01}};
	DpRandom rng;
	int64 found = 0;

	begin_random(&rng, PG_GETARG_INT64(4));
	trials.world = world_create(&rng, &shape);
	if (trials.world->n < 50)
		FAIL("too small a world");
	trials.buckets = buckets_of_world(trials.world);
	divide_evenly(&trials);
	choose_support(&trials);
	for (int i = 0; i < PG_GETARG_INT32(3); i++)
	{
		CHECK_FOR_INTERRUPTS();
		run_once(&trials, &rng);
	}
	for (int bucket = 0; bucket < TRIED; bucket++)
	{
		if (trials.outside[bucket] == 0)
			continue;
		judge_members(&trials, bucket);
		judge_number(&trials, bucket);
	}
	for (uint32 i = 0; i < trials.world->n; i++)
		found += trials.hits[i];
	PG_RETURN_INT64(found);
}

/* ---- what can't be ---- */

static void
ignore_found(void *state, int bucket, uint64 key)
{
}

/* A member added twice, or as if it were of another bucket. */
Datum
buckets_test_mistake(PG_FUNCTION_ARGS)
{
	bool twice = strcmp(text_to_cstring(PG_GETARG_TEXT_PP(0)), "twice") == 0;
	WorldShape shape = {.words = 4, .k = 2, .scheme = SMOOTH_WEIGHTS};
	Trials trials = {0};
	DpRate rate[TRIED];
	BucketSupport *support;
	DpRandom rng;
	uint64 key;
	int bucket;

	begin_random(&rng, PG_GETARG_INT64(1));
	trials.world = world_create(&rng, &shape);
	trials.buckets = buckets_of_world(trials.world);
	divide_evenly(&trials);
	support = bucket_support_create(trials.buckets, SORT_MEMORY);
	key = trials.world->key[dp_uniform(&rng, trials.world->n)];
	bucket = buckets_of(trials.buckets, key);
	bucket_support_add(support, bucket, key);
	bucket_support_add(support, twice ? bucket : (bucket + 1) % TRIED, key);
	for (int i = 0; i < TRIED; i++)
		(void) dp_rate_from_probability(0.5, &rate[i]);
	bucket_support_spurious(support, &rng, rate, ignore_found, NULL);
	PG_RETURN_VOID();
}
