/*
 * audit_rounds_reference.c
 *	  dpne-mr once more, as doc/privacy.md defines it ("Rounds: dpne-mr"): plain loops over
 *	  every string of k words.
 *
 * Noise is keyed by seed, round and n-gram, so that it is that of the engine.  What a call
 * may choose as it likes from what is public is taken from the engine, too: the functions
 * that make budgets and biases, the buckets' edges, the thresholds.  (That they are
 * within the debit, and make no more spurious n-grams than promised, is judged elsewhere
 * and in divide().)
 */
#include "postgres.h"

#include <math.h>

#include "audit_rounds_reference.h"
#include "common/dp_sample.h"
#include "ngram/bias.h"
#include "ngram/schedule.h"

/* ------------------------------------------------------------------------
 * strings
 * ------------------------------------------------------------------------ */

/* The parts of a string of k words: its first k - 1, and what is judged by beside them. */
static const Gram *
prefix_of(const Reference *ref, uint64 rank)
{
	return &ref->gram[ref->k - 1][rank / ref->world->words];
}

static const Gram *
suffix_of(const Reference *ref, uint64 rank)
{
	if (ref->plan->query.pruning == PRUNING_SINGLE)
		return &ref->gram[1][rank % ref->world->words];
	return &ref->gram[ref->k - 1][rank % ref->size[ref->k - 1]];
}

/* Algorithm 1's V_k: (S_1 x S_{k-1}) n (S_{k-1} x S_1), or S_{k-1} x S_1. */
bool
reference_valid(const Reference *ref, uint64 rank)
{
	const Gram *word = ref->gram[1];
	uint64 rest = ref->size[ref->k - 1];

	if (prefix_of(ref, rank)->number == 0 || word[rank % ref->world->words].number == 0)
		return false;
	return ref->plan->query.pruning == PRUNING_SINGLE ||
		   (word[rank / rest].number != 0 && suffix_of(ref, rank)->number != 0);
}

/* The number that the n-gram's noise and keyed hashes are made from. */
static uint64
content_of(const Reference *ref, uint64 rank)
{
	if (ref->k == 1)
		return vocabulary_item(ref->world->vocabulary, (uint32) rank + 1).content;
	return dp_mix64((uint64) prefix_of(ref, rank)->number << 32 | suffix_of(ref, rank)->number,
					ref->k);
}

/* ------------------------------------------------------------------------
 * users
 * ------------------------------------------------------------------------ */

typedef void (*GramsVisitor)(Reference *ref, const uint64 *rank, Size n);

static int
compare_ranks(const void *a, const void *b)
{
	uint64 x = *(const uint64 *) a;
	uint64 y = *(const uint64 *) b;

	return x < y ? -1 : x > y;
}

/* Leave each rank once; returns how many there are. */
static Size
distinct(uint64 *rank, Size n)
{
	Size kept = 0;

	qsort(rank, n, sizeof(uint64), compare_ranks);
	for (Size i = 0; i < n; i++)
		if (kept == 0 || rank[kept - 1] != rank[i])
			rank[kept++] = rank[i];
	return kept;
}

typedef struct Hashed
{
	uint64 hash;
	uint64 rank;
} Hashed;

static int
compare_hashed(const void *a, const void *b)
{
	return compare_ranks(&((const Hashed *) a)->hash, &((const Hashed *) b)->hash);
}

/* Of a user's strings leave members of V_k, and of these the first by keyed hash. */
static Size
bounded(const Reference *ref, uint64 user, uint64 *rank, Size n)
{
	uint64 key = dp_mix64(ref->draws.sampling_key ^ ref->k, world_user_hash(user));
	uint64 bound = ref->k == 1 ? ref->plan->words.bound : ref->plan->step[ref->k].bound;
	Hashed *member = palloc((n + 1) * sizeof(Hashed));
	Size members = 0;

	for (Size i = 0; i < n; i++)
		if (ref->k == 1 || reference_valid(ref, rank[i]))
			member[members++] = (Hashed){dp_mix64(key, content_of(ref, rank[i])), rank[i]};
	qsort(member, members, sizeof(Hashed), compare_hashed);
	members = Min(members, bound);
	for (Size i = 0; i < members; i++)
		rank[i] = member[i].rank;
	pfree(member);
	return members;
}

/* Visit each user's strings of k words that count, by rank: the same in every round. */
static void
visit_users(Reference *ref, GramsVisitor visit)
{
	const World *world = ref->world;
	uint64 *rank = palloc((world->n + 1) * sizeof(uint64));
	uint64 user = 0;
	uint64 last = 0; /* the rank of the last k words */
	Size n = 0;
	int run = 0; /* words of the document so far */

	for (Size i = 0; i <= world->n; i++)
	{
		int32 step = i < world->n ? world->script[i] : WORLD_USER;

		if (step > 0)
		{
			last = (last * world->words + step - 1) % ref->size[ref->k];
			if (++run >= ref->k)
				rank[n++] = last;
			continue;
		}
		run = 0;
		if (step != WORLD_USER || i == 0)
			continue;
		visit(ref, rank, bounded(ref, user++, rank, distinct(rank, n)));
		n = 0;
	}
	pfree(rank);
}

/* What the engine draws for this n-gram in this round. */
static int64
noise_of(Reference *ref, int round, int64 sigma, uint64 content)
{
	return noise_gaussian(&ref->draws, sigma, NOISE_ROUND(ref->k, round), content);
}

/* The largest integer w with w^2 squares <= 2^40 bias^2. */
static int64
largest_weight(uint64 squares, uint64 bias)
{
	dp_uint128 most = (dp_uint128) bias * bias << (2 * DP_LATTICE_BITS);
	int64 low = 0;
	int64 high = DP_LATTICE_ONE;

	while (low < high)
	{
		int64 middle = (low + high + 1) / 2;

		if ((dp_uint128) middle * middle * squares <= most)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* ------------------------------------------------------------------------
 * level 1
 * ------------------------------------------------------------------------ */

/* A user's words that are not released yet share the weight. */
static void
count_words(Reference *ref, const uint64 *rank, Size n)
{
	Gram *word = ref->gram[1];
	Size left = 0;

	for (Size i = 0; i < n; i++)
		left += word[rank[i]].number == 0;
	for (Size i = 0; i < n; i++)
		if (word[rank[i]].number == 0)
			word[rank[i]].weight += largest_weight(left, 1);
}

/* One round; returns how many words it released. */
static int
judge_words(Reference *ref)
{
	const WordRounds *rounds = &ref->plan->words;
	const WordRound *round = &rounds->round[ref->word_round];
	double variance = 0;
	double unit;
	int found = 0;

	for (int j = 0; j <= ref->word_round; j++)
		variance += pow((double) rounds->round[j].coefficient * rounds->round[j].sigma, 2);
	for (uint64 i = 0; i < ref->size[1]; i++)
	{
		Gram *word = &ref->gram[1][i];
		int64 drawn;

		if (word->weight == 0)
			continue;
		drawn = noise_of(ref, ref->word_round, round->sigma, content_of(ref, i));
		word->sum += round->coefficient * (word->weight + drawn);
		word->spent += round->coefficient;
		word->weight = 0;
		if (word->sum <= round->threshold)
			continue;
		unit = ldexp((double) word->spent, DP_LATTICE_BITS);
		word->number = 1;
		word->released = (GramWeight){word->sum / unit, sqrt(variance) / unit};
		found++;
	}
	return found;
}

void
reference_words(Reference *ref)
{
	const WordRounds *rounds = &ref->plan->words;
	int all = 0;

	for (ref->word_round = 0; ref->word_round < rounds->n; ref->word_round++)
	{
		int found;

		visit_users(ref, count_words);
		found = judge_words(ref);
		all += found;
		if (ref->word_round > 0 && all >= WORDS_TO_STOP && found < rounds->stop_below * all)
			break;
	}
}

/* ------------------------------------------------------------------------
 * levels from 2 on
 * ------------------------------------------------------------------------ */

/* h(xy) h(yz) / h(y), the sum of S_1 in place of h(y) where x and z meet; never negative. */
static double
prediction_of(const Reference *ref, uint64 rank)
{
	double left = prefix_of(ref, rank)->released.value;
	double right = suffix_of(ref, rank)->released.value;
	double middle = 0;

	if (ref->k == 2 || ref->plan->query.pruning == PRUNING_SINGLE)
		for (uint64 i = 0; i < ref->size[1]; i++)
			middle += ref->gram[1][i].number == 0 ? 0 : Max(0, ref->gram[1][i].released.value);
	else
		middle = ref->gram[ref->k - 2][rank / ref->world->words % ref->size[ref->k - 2]]
					 .released.value;
	return left <= 0 || right <= 0 || middle <= 0 ? 0 : left * right / middle;
}

static void
find_support(Reference *ref, const uint64 *rank, Size n)
{
	for (Size i = 0; i < n; i++)
		ref->gram[ref->k][rank[i]].supported = true;
}

uint64
reference_released(const Reference *ref, int k)
{
	uint64 n = 0;

	for (uint64 i = 0; i < ref->size[k]; i++)
		n += ref->gram[k][i].number != 0;
	return n;
}

/* Put every member of V_k into its bucket, and compare the numbers. */
static void
divide(Reference *ref)
{
	const BucketTrace *trace = ref->bucket[ref->k];
	uint64 members[BUCKETS] = {0};
	uint64 support[BUCKETS] = {0};
	uint64 all = 0;
	double bound;
	double expected = 0;

	for (uint64 i = 0; i < ref->size[ref->k]; i++)
		all += reference_valid(ref, i);
	bound = ref->plan->query.spurious * Min(all, reference_released(ref, ref->k - 1));
	for (uint64 i = 0; i < ref->size[ref->k]; i++)
	{
		Gram *gram = &ref->gram[ref->k][i];

		if (!reference_valid(ref, i))
			continue;
		gram->bucket = bucket_of_prediction(&ref->noise, prediction_of(ref, i));
		members[gram->bucket]++;
		support[gram->bucket] += gram->supported;
	}
	for (int b = 0; b < BUCKETS; b++)
	{
		ref->wrong_buckets +=
			members[b] != trace[b].members || support[b] != trace[b].support;
		if (members[b] > 0)
			expected += members[b] * (double) combined_tail(&ref->noise, trace[b].threshold);
	}
	ref->most_expected = Max(ref->most_expected, expected / bound);
}

static void
count_grams(Reference *ref, const uint64 *rank, Size n)
{
	Gram *gram = ref->gram[ref->k];
	uint64 squares = 0;

	for (Size i = 0; i < n; i++)
		squares += gram[rank[i]].bias * gram[rank[i]].bias;
	for (Size i = 0; i < n; i++)
		gram[rank[i]].weight += largest_weight(squares, gram[rank[i]].bias);
}

static void
judge_grams(Reference *ref, const BiasRules *rules, int round)
{
	int64 coefficient = ref->noise.coefficient[round];

	for (uint64 i = 0; i < ref->size[ref->k]; i++)
	{
		Gram *gram = &ref->gram[ref->k][i];
		int64 drawn;

		if (!gram->supported)
			continue;
		drawn = noise_of(ref, round, ref->noise.sigma[round], content_of(ref, i));
		gram->sum += coefficient * (gram->weight + drawn);
		gram->spent += coefficient * gram->bias;
		gram->bias = bias_next(rules, round, gram->sum, (int32) gram->spent,
							   ref->bucket[ref->k][gram->bucket].threshold);
		gram->weight = 0;
	}
}

static void
release_grams(Reference *ref)
{
	for (uint64 i = 0; i < ref->size[ref->k]; i++)
	{
		Gram *gram = &ref->gram[ref->k][i];
		double unit = ldexp((double) gram->spent / DP_BIAS_ONE, DP_LATTICE_BITS);

		if (!gram->supported || gram->sum <= ref->bucket[ref->k][gram->bucket].threshold)
			continue;
		gram->number = 1;
		gram->released = (GramWeight){gram->sum / unit, (double) ref->noise.deviation / unit};
		ref->biased += gram->spent < ref->noise.total * DP_BIAS_ONE;
	}
}

void
reference_level(Reference *ref)
{
	BiasRules rules;

	for (uint64 i = 0; i < ref->size[ref->k]; i++)
		ref->gram[ref->k][i].bias = DP_BIAS_ONE;
	visit_users(ref, find_support);
	divide(ref);
	bias_prepare(&rules, ref->noise.coefficient, ref->noise.rounds,
				 (double) ref->noise.deviation);
	for (int j = 0; j < ref->noise.rounds; j++)
	{
		visit_users(ref, count_grams);
		judge_grams(ref, &rules, j);
	}
	release_grams(ref);
}

/* ------------------------------------------------------------------------
 * numbers
 * ------------------------------------------------------------------------ */

typedef struct Numbered
{
	uint64 key;
	Gram *gram;
} Numbered;

static int
compare_numbered(const void *a, const void *b)
{
	return compare_ranks(&((const Numbered *) a)->key, &((const Numbered *) b)->key);
}

/* Number S_k: words by their bytes, longer ones by the numbers of their parts. */
void
reference_number(Reference *ref)
{
	uint64 n = reference_released(ref, ref->k);
	Numbered *member = palloc((n + 1) * sizeof(Numbered));
	uint64 at = 0;

	for (uint64 i = 0; i < ref->size[ref->k]; i++)
		if (ref->gram[ref->k][i].number != 0)
			member[at++] = (Numbered){
				ref->k == 1 ?
					i :
					(uint64) prefix_of(ref, i)->number << 32 | suffix_of(ref, i)->number,
				&ref->gram[ref->k][i]};
	qsort(member, n, sizeof(Numbered), compare_numbered);
	for (at = 0; at < n; at++)
		member[at].gram->number = (uint32) at + 1;
	pfree(member);
}

/* ------------------------------------------------------------------------
 * the budget
 * ------------------------------------------------------------------------ */

/* S_k in the order of its numbers, its key made of those of its parts. */
static ScheduleSet
set_of(const Reference *ref, int k)
{
	Reference at = *ref;
	uint32 n = (uint32) reference_released(ref, k);
	uint64 *key = palloc0((n + 1) * sizeof(uint64));
	GramWeight *weight = palloc0((n + 1) * sizeof(GramWeight));

	at.k = k;
	for (uint64 i = 0; i < ref->size[k]; i++)
	{
		const Gram *gram = &ref->gram[k][i];

		if (gram->number == 0)
			continue;
		weight[gram->number - 1] = gram->released;
		if (k > 1)
			key[gram->number - 1] =
				(uint64) prefix_of(&at, i)->number << 32 | suffix_of(&at, i)->number;
	}
	return (ScheduleSet){.n = n, .key = key, .weight = weight};
}

/*
 * Level k's part of the mu^2 that is left: the schedule's function, of nothing but what
 * the levels before have released.
 */
double
reference_budget(const Reference *ref, double left)
{
	const NgramQuery *query = &ref->plan->query;
	double members = 0;
	ScheduleInput in = {.max_length = ref->plan->nsteps,
						.ratio = query->schedule == SCHEDULE_RATIO ? query->noise_ratio : 0,
						.floor = query->schedule == SCHEDULE_BALANCED ?
									 SCHEDULE_FLOOR_BALANCED :
									 SCHEDULE_FLOOR_ADAPTIVE,
						.whole = ref->plan->mu2,
						.left = left,
						.spurious = query->spurious,
						.single_side = query->pruning == PRUNING_SINGLE};

	in.words = set_of(ref, 1);
	in.previous = set_of(ref, ref->k - 1);
	if (ref->k > 2)
		in.middles = set_of(ref, ref->k - 2);
	for (uint64 i = 0; i < ref->size[ref->k]; i++)
		members += reference_valid(ref, i);
	in.members = members;
	return schedule_level(&in, ref->k);
}
