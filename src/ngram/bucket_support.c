/*
 * bucket_support.c
 *	  The members of V_k that nobody has and that are released all the same,
 *	  bucket by bucket.
 *
 * All buckets share one sort: a member's rank in V_k is its rank within its
 * bucket, after all members of the buckets below.  Each bucket is a range of
 * these ranks and is walked with a success probability of its own.
 */
#include "postgres.h"

#include "ngram/bucket_support.h"
#include "ngram/skips.h"

struct BucketSupport
{
	const Buckets *buckets;
	Skips *skips;
	RankRange range[MAX_BUCKETS];
};

/*
 * The buckets must be divided, and not be divided again as long as this stands.
 * memory_limit: bytes, for the support's ranks.
 */
BucketSupport *
bucket_support_create(const Buckets *buckets, Size memory_limit)
{
	BucketSupport *support = palloc0(sizeof(BucketSupport));
	uint64 rank = 0;

	support->buckets = buckets;
	support->skips = skips_create(memory_limit);
	for (int bucket = 0; bucket < buckets_number(buckets); bucket++)
	{
		support->range[bucket].first = rank;
		rank += buckets_count(buckets, bucket);
		support->range[bucket].end = rank;
	}
	Assert(rank == buckets_total(buckets));
	return support;
}

/* Every member of V_k that some user has, once each, with its bucket. */
void
bucket_support_add(BucketSupport *support, int bucket, uint64 key)
{
	RankRange *range = &support->range[bucket];

	skips_add(support->skips, range->first + buckets_rank(support->buckets, bucket, key));
	range->support++;
}

/* How many members of the bucket some user has: private. */
uint64
bucket_support_count(const BucketSupport *support, int bucket)
{
	return support->range[bucket].support;
}

/* A walk through one bucket. */
typedef struct Walk
{
	const BucketSupport *support;
	int bucket;
	BucketVisitor found;
	void *state;
} Walk;

static void
visit_rank(void *state, uint64 rank)
{
	Walk *walk = state;
	const BucketSupport *support = walk->support;
	uint64 first = support->range[walk->bucket].first;

	walk->found(walk->state, walk->bucket,
				buckets_key(support->buckets, walk->bucket, rank - first));
}

/*
 * Choose each member of V_k outside the support with the success probability
 * of its bucket, independently of all others.  No rate is looked at for a bucket
 * without members.  Once in the support's life.
 */
void
bucket_support_spurious(BucketSupport *support, DpRandom *random, const DpRate *rate,
						BucketVisitor found, void *state)
{
	Walk walk = {.support = support, .found = found, .state = state};

	for (walk.bucket = 0; walk.bucket < buckets_number(support->buckets); walk.bucket++)
	{
		if (buckets_count(support->buckets, walk.bucket) > 0)
			skips_walk(support->skips, support->range[walk.bucket], random, rate[walk.bucket],
					   visit_rank, &walk);
	}
}

void
bucket_support_free(BucketSupport *support)
{
	skips_free(support->skips);
	pfree(support);
}
