/*
 * buckets.c
 *	  V_k parted by the weight that its members are predicted to have, without
 *	  building it.
 *
 * Members that are predicted to be heavy get a lower threshold than the many
 * that are not, with the same number of spurious n-grams in expectation.  Each
 * bucket's size enters its threshold and the number of its spurious n-grams, so
 * it must be exact, for the reason that |V_k| must be (candidates.c).
 *
 * The right partners of a left one are a run, the same one for all left ones of
 * the same middle.  Sorted by weight, a run is sorted by prediction too,
 * whatever the left partner.  So a bucket is an interval of the run, found by
 * its two cuts, and V_k's bucket is one interval a left partner.  When the left
 * partners of a middle are taken by weight as well, the cuts only move down, and
 * a pointer for each edge follows them: time O(edges |S_{k-1}|) and one sort.
 *
 * The prediction is evaluated there and nowhere else.  Which bucket a given
 * n-gram is in is read from its place in the run and the cuts, so that no
 * rounding can ever make a count differ from what is counted.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "ngram/buckets.h"
#include "ngram/candidates.h"

struct Buckets
{
	Candidates *members;	/* V_k by left partner, and the run of each */
	const GramSet *left;	/* S_{k-1} */
	const GramSet *right;	/* S_{k-1}, or S_1 under single-side pruning */
	const GramSet *middles; /* S_{k-2}; NULL if no two partners overlap */
	double all_words;		/* sum of S_1: the middle where there is none */

	uint32 *order; /* numbers of the right partners, run by run, by weight */
	uint32 *place; /* of right partner i + 1 in the order */
	uint32 *walk;  /* left partners, from 0, middle by middle, by weight */

	int n; /* buckets; 0 before the first division */

	/*
	 * For each left partner a row: the members of each bucket with a smaller
	 * left partner.  The last row holds the buckets' sizes.
	 */
	uint64 *before;
};

typedef struct Weighted
{
	uint32 group;
	uint32 index;
	double weight;
} Weighted;

static inline int
compare_weighted(const Weighted *a, const Weighted *b)
{
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

#define ST_SORT sort_weighted
#define ST_ELEMENT_TYPE Weighted
#define ST_COMPARE(a, b) compare_weighted(a, b)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

static void *
alloc_array(Size n, Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * size);
}

/* The number in S_{k-2} of what left partner a ends with, or 0 if that is nothing. */
static inline uint32
middle_of(const Buckets *buckets, uint32 a)
{
	return buckets->middles == NULL ? 0 : (uint32) buckets->left->key[a];
}

/* The same of what right partner b starts with. */
static inline uint32
start_of(const Buckets *buckets, uint32 b)
{
	return buckets->middles == NULL ? 0 : (uint32) (buckets->right->key[b] >> 32);
}

static inline double
predict(const Buckets *buckets, uint32 a, uint32 b)
{
	uint32 middle = middle_of(buckets, a);

	return bucket_prediction(buckets->left->weight[a].value, buckets->right->weight[b].value,
							 middle == 0 ? buckets->all_words :
										   buckets->middles->weight[middle - 1].value);
}

/* The indexes of a set's members by group and weight. */
static uint32 *
sort_set(const Buckets *buckets, const GramSet *set,
		 uint32 (*group)(const Buckets *buckets, uint32 index))
{
	Weighted *member = alloc_array(set->n, sizeof(Weighted));
	uint32 *sorted = alloc_array(set->n, sizeof(uint32));

	for (uint32 i = 0; i < set->n; i++)
	{
		Assert(isfinite(set->weight[i].value));
		member[i] = (Weighted){group(buckets, i), i, set->weight[i].value};
	}
	sort_weighted(member, set->n);
	for (uint32 i = 0; i < set->n; i++)
		sorted[i] = member[i].index;
	pfree(member);
	return sorted;
}

/* What S_1 weighs, in an order that is always the same. */
static double
sum_weights(const GramSet *words)
{
	double sum = 0;

	for (uint32 i = 0; i < words->n; i++)
		sum += Max(words->weight[i].value, 0);
	return sum;
}

/*
 * previous: S_{k-1}; middles: S_{k-2}, or NULL at k = 2; words: S_1.  All are
 * numbered, and must stay as long as the buckets do.
 */
Buckets *
buckets_create(const GramSet *previous, const GramSet *middles, const GramSet *words,
			   NgramPruning pruning)
{
	Buckets *buckets = palloc0(sizeof(Buckets));
	bool single = pruning == PRUNING_SINGLE;

	Assert(single || (middles == NULL) == (previous->length == 1));

	buckets->members = candidates_create(previous, words->n, middles ? middles->n : 0, pruning);
	buckets->left = previous;
	buckets->right = single ? words : previous;
	buckets->middles = single ? NULL : middles;
	buckets->all_words = sum_weights(words);
	buckets->order = sort_set(buckets, buckets->right, start_of);
	buckets->walk = sort_set(buckets, buckets->left, middle_of);
	buckets->place = alloc_array(buckets->right->n, sizeof(uint32));
	for (uint32 i = 0; i < buckets->right->n; i++)
		buckets->place[buckets->order[i]] = i;
	return buckets;
}

/* |V_k| */
uint64
buckets_total(const Buckets *buckets)
{
	return buckets->members->total;
}

/* What a member of V_k is predicted to weigh. */
double
buckets_predict(const Buckets *buckets, uint64 key)
{
	return predict(buckets, (uint32) (key >> 32) - 1, (uint32) key - 1);
}

/*
 * How many right partners of a are predicted to weigh up to "edge".  Correct
 * from any guess, and fast from a good one.
 */
static uint32
find_cut(const Buckets *buckets, uint32 a, double edge, uint32 guess)
{
	const uint32 *run = buckets->order + (buckets->members->first[a] - 1);
	uint32 length = buckets->members->before[a + 1] - buckets->members->before[a];
	uint32 cut = guess;

	while (cut < length && predict(buckets, a, run[cut]) <= edge)
		cut++;
	while (cut > 0 && predict(buckets, a, run[cut - 1]) > edge)
		cut--;
	return cut;
}

/* Fill the rows with the number of members of each left partner and bucket. */
static void
count_rows(Buckets *buckets, const double *edge)
{
	uint32 cut[MAX_BUCKETS] = {0};
	uint32 middle = 0;

	for (uint32 i = 0; i < buckets->left->n; i++)
	{
		uint32 a = buckets->walk[i];
		uint64 *row = buckets->before + (Size) a * buckets->n;
		uint32 done = 0;

		CHECK_FOR_INTERRUPTS();
		if (middle_of(buckets, a) != middle)
		{
			memset(cut, 0, sizeof(cut));
			middle = middle_of(buckets, a);
		}
		for (int bucket = 0; bucket < buckets->n - 1; bucket++)
		{
			cut[bucket] = find_cut(buckets, a, edge[bucket], cut[bucket]);
			row[bucket] = cut[bucket] - done;
			done = cut[bucket];
		}
		row[buckets->n - 1] = buckets->members->before[a + 1] - buckets->members->before[a] - done;
	}
}

/* Make of each row's numbers the sums of the rows before it. */
static void
sum_rows(Buckets *buckets)
{
	uint64 sum[MAX_BUCKETS] = {0};
	uint64 *row = buckets->before;

	for (Size a = 0; a < buckets->left->n; a++, row += buckets->n)
	{
		for (int bucket = 0; bucket < buckets->n; bucket++)
		{
			uint64 count = row[bucket];

			row[bucket] = sum[bucket];
			sum[bucket] += count;
		}
	}
	memcpy(row, sum, buckets->n * sizeof(uint64));
}

/*
 * Part V_k by the edges, which ascend: bucket 0 has the members predicted to
 * weigh up to edge[0], bucket i those above edge[i - 1] up to edge[i], and one
 * more bucket, the last, those above all edges.  May be called again, with other
 * edges.
 */
void
buckets_divide(Buckets *buckets, const double *edge, int edges)
{
	Assert(edges >= 0 && edges < MAX_BUCKETS);
	for (int i = 1; i < edges; i++)
		Assert(edge[i - 1] <= edge[i]);

	if (buckets->before != NULL)
		pfree(buckets->before);
	buckets->n = edges + 1;
	buckets->before = alloc_array(((Size) buckets->left->n + 1) * buckets->n, sizeof(uint64));
	count_rows(buckets, edge);
	sum_rows(buckets);
}

int
buckets_number(const Buckets *buckets)
{
	return buckets->n;
}

/* How many members of V_k are in the bucket, exactly. */
uint64
buckets_count(const Buckets *buckets, int bucket)
{
	Assert(bucket >= 0 && bucket < buckets->n);
	return buckets->before[(Size) buckets->left->n * buckets->n + bucket];
}

/*
 * Where a member of V_k stands in the run of its left partner, how many
 * members of its bucket stand there before it (*inside), and the bucket.
 */
static int
find_bucket(const Buckets *buckets, uint64 key, uint64 *inside)
{
	uint32 a = (uint32) (key >> 32) - 1;
	const uint64 *row = buckets->before + (Size) a * buckets->n;
	int bucket = 0;

	Assert(a < buckets->left->n && (uint32) key - 1 < buckets->right->n);
	Assert(middle_of(buckets, a) == start_of(buckets, (uint32) key - 1));

	*inside = buckets->place[(uint32) key - 1] - (buckets->members->first[a] - 1);
	while (*inside >= row[buckets->n + bucket] - row[bucket])
	{
		*inside -= row[buckets->n + bucket] - row[bucket];
		bucket++;
		Assert(bucket < buckets->n);
	}
	return bucket;
}

/* The bucket of a member of V_k. */
int
buckets_of(const Buckets *buckets, uint64 key)
{
	uint64 inside;

	return find_bucket(buckets, key, &inside);
}

/* The rank of a member of V_k within its bucket, from 0. */
uint64
buckets_rank(const Buckets *buckets, int bucket, uint64 key)
{
	uint64 inside;

	if (find_bucket(buckets, key, &inside) != bucket)
		elog(ERROR, "a member of the candidates is in another bucket");
	return buckets->before[((key >> 32) - 1) * buckets->n + bucket] + inside;
}

/* The member of a bucket with this rank: the inverse of buckets_rank(). */
uint64
buckets_key(const Buckets *buckets, int bucket, uint64 rank)
{
	const uint64 *column = buckets->before + bucket;
	Size low = 0;
	Size high = buckets->left->n;
	uint64 position;

	Assert(rank < buckets_count(buckets, bucket));
	while (high - low > 1)
	{
		Size middle = low + (high - low) / 2;

		if (column[middle * buckets->n] <= rank)
			low = middle;
		else
			high = middle;
	}
	position = buckets->members->first[low] - 1 + rank - column[low * buckets->n];
	for (int lower = 0; lower < bucket; lower++)
	{
		const uint64 *row = buckets->before + low * buckets->n;

		position += row[buckets->n + lower] - row[lower];
	}
	return (uint64) (low + 1) << 32 | (buckets->order[position] + 1);
}

void
buckets_free(Buckets *buckets)
{
	candidates_free(buckets->members);
	pfree(buckets->order);
	pfree(buckets->place);
	pfree(buckets->walk);
	if (buckets->before != NULL)
		pfree(buckets->before);
	pfree(buckets);
}
