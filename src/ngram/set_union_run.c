/*
 * set_union_run.c
 *	  A set union by any of its methods, as planned.
 *
 * All begin with the users' lists of at most D items, which are fixed once by keyed
 * hash, and know of an item no more than that it stands in some list:
 * the support, to each member of which noise is added.
 *
 * Laplace noise, weighted.  A user with n items adds floor(2^20 / n) to each, at most
 * 2^20 in all: l1 sensitivity 1.  With noise of scale b the release is (2^20 / b)-DP on
 * items that others have, too; of a user's t items that nobody else has each weighs at
 * most 2^20 / t, and dp_laplace_union_threshold() hides them.
 *
 * Policies.  Users add one after the other, in the order of a keyed hash of the user, and
 * where those are equal in the one in which users arrive, which is that of the users
 * themselves: for policies the corpus is read in order (read.c checks it).  So whoever is
 * added or taken away, the order of all others stays; policy.c has the rest.  An item that
 * users come to too late to add anything is in the support with the weight 0 that it has:
 * what others have in their lists must not decide whether noise is drawn for it.
 *
 * Single.  One item a user, and an item that n users have is kept with probability pi(n)
 * (dp_keep.c).  Adding a user changes one n by 1 and no other item's fate.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "compat.h"
#include "ngram/policy.h"
#include "ngram/set_union.h"
#include "ngram/source_local.h"

/* Level 1, for seeded noise. */
#define ITEM_LEVEL 1

typedef struct UnionRun
{
	Extraction *extraction;
	const SetUnionPlan *plan;
	ReleasedGrams *released;
	uint32 items; /* in the vocabulary */

	/* by id, from 1 */
	int64 *sum;		 /* of weights, or the number of users */
	bool *supported; /* in some list */
} UnionRun;

/*
 * Each user's list of at most "bound" items, as a corpus of their ids: those with the
 * smallest keyed hashes.
 */
static Corpus *
make_lists(Extraction *extraction, int64 bound)
{
	Corpus *lists = corpus_create(extraction->memory_limit, false);
	uint64 key = extraction->noise->sampling_key ^ ITEM_LEVEL;
	CorpusScan scan;
	CorpusUser user;
	ItemList items;

	item_list_init(&items);
	corpus_scan_begin(&scan, extraction->corpus, false);
	while (corpus_scan_next(&scan, &user))
	{
		item_list_begin_user(&items, bound, dp_mix64(key, user.hash));
		for (uint32 i = 0; i < user.n; i++)
			if (user.id[i] != 0)
				item_list_add(&items, user.id[i],
							  vocabulary_item(extraction->vocabulary, user.id[i]).content);
		item_list_distinct(&items);
		item_list_bound(&items, bound, items.user_key);
		corpus_begin_user(lists, user.hash);
		for (Size i = 0; i < items.n; i++)
			corpus_add_token(lists, (uint32) items.item[i].key);
		corpus_end_user(lists);
	}
	corpus_scan_end(&scan);
	item_list_free(&items);
	return lists;
}

static void *
allocate_by_id(const UnionRun *run, Size size)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, ((Size) run->items + 1) * size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

static void
note_support(UnionRun *run, const CorpusUser *user)
{
	for (uint32 i = 0; i < user->n; i++)
		run->supported[user->id[i]] = true;
}

/* Each user adds "one", divided among the items of the list. */
static void
add_evenly(UnionRun *run, Corpus *lists, int64 one)
{
	CorpusScan scan;
	CorpusUser user;

	corpus_scan_begin(&scan, lists, false);
	while (corpus_scan_next(&scan, &user))
	{
		note_support(run, &user);
		for (uint32 i = 0; i < user.n; i++)
			run->sum[user.id[i]] += one / user.n;
	}
	corpus_scan_end(&scan);
}

/* ------------------------------------------------------------------------
 * policies
 * ------------------------------------------------------------------------ */

/* A user to be sorted: sort key, arrival, ids; all but the ids compare bytewise. */
typedef struct SortedUser
{
	int32 header; /* of a bytea */
	uint32 hash[2];
	uint32 arrival[2];
	uint32 id[FLEXIBLE_ARRAY_MEMBER];
} SortedUser;

static void
store_key(uint32 *to, uint64 number)
{
	to[0] = pg_hton32((uint32) (number >> 32));
	to[1] = pg_hton32((uint32) number);
}

static void
put_user(Tuplesortstate *sort, const CorpusUser *user, uint64 key, uint64 arrival)
{
	Size size = offsetof(SortedUser, id) + user->n * sizeof(uint32);
	SortedUser *record = palloc(size);

	SET_VARSIZE(record, size);
	store_key(record->hash, dp_mix64(key, user->hash));
	store_key(record->arrival, arrival);
	memcpy(record->id, user->id, user->n * sizeof(uint32));
	tuplesort_putdatum(sort, PointerGetDatum(record), false);
	pfree(record);
}

/* All users, to be read in their order. */
static Tuplesortstate *
sort_users(UnionRun *run, Corpus *lists)
{
	const Extraction *extraction = run->extraction;
	int memory = (int) Min(Max(extraction->memory_limit / 1024, 64), MAX_KILOBYTES);
	Tuplesortstate *sort = tuplesort_begin_datum(BYTEAOID, ByteaLessOperator, InvalidOid, false,
												 memory, NULL, TUPLESORT_NONE);
	uint64 key = dp_splitmix_finish(extraction->noise->sampling_key);
	uint64 arrived = 0;
	CorpusScan scan;
	CorpusUser user;

	corpus_scan_begin(&scan, lists, false);
	while (corpus_scan_next(&scan, &user))
	{
		if (arrived == SET_UNION_MAX_USERS)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("the relation has too many users for this method")));
		note_support(run, &user);
		put_user(sort, &user, key, arrived++);
	}
	corpus_scan_end(&scan);
	tuplesort_performsort(sort);
	return sort;
}

/* Items in an order that nothing else than the items themselves decides. */
static int
compare_items(const void *pa, const void *pb, void *arg)
{
	uint32 a = *(const uint32 *) pa;
	uint32 b = *(const uint32 *) pb;
	uint64 hash_a = vocabulary_hash(arg, a);
	uint64 hash_b = vocabulary_hash(arg, b);

	if (hash_a != hash_b)
		return hash_a < hash_b ? -1 : 1;
	return vocabulary_compare(arg, a, b);
}

static void
add_by_policy(UnionRun *run, Corpus *lists)
{
	const SetUnionPlan *plan = run->plan;
	Tuplesortstate *sort = sort_users(run, lists);
	int64 *gap = palloc(plan->query.bound * sizeof(int64));
	int64 one = INT64CONST(1) << plan->bits;
	Datum datum;
	bool isnull;

	while (tuplesort_getdatum(sort, true, true, &datum, &isnull, NULL))
	{
		SortedUser *user = (SortedUser *) DatumGetPointer(datum);
		uint32 n = (VARSIZE(user) - offsetof(SortedUser, id)) / sizeof(uint32);

		CHECK_FOR_INTERRUPTS();
		if (plan->query.method == SET_UNION_POLICY_GAUSSIAN)
			policy_gaussian_step(run->sum, user->id, n, plan->cutoff, one);
		else
		{
			qsort_arg(user->id, n, sizeof(uint32), compare_items, run->extraction->vocabulary);
			policy_laplace_step(run->sum, user->id, n, plan->cutoff, one, gap);
		}
		pfree(user);
	}
	tuplesort_end(sort);
	pfree(gap);
}

/* ------------------------------------------------------------------------
 * noise and rows
 * ------------------------------------------------------------------------ */

static inline uint64
item_content(const UnionRun *run, uint32 id)
{
	return vocabulary_item(run->extraction->vocabulary, id).content;
}

static void
trace_item(const UnionRun *run, uint32 id)
{
	const Extraction *extraction = run->extraction;
	int len;
	const char *text = vocabulary_string(extraction->vocabulary, id, &len);

	extraction->trace->histogram(extraction->trace->state, ITEM_LEVEL, text, len, run->sum[id]);
}

/* A weight on the lattice of all released ones, whatever finer one it was made on. */
static GramWeight
item_weight(const SetUnionPlan *plan, int64 noisy)
{
	double q = exp(-1.0 / plan->scale);
	double stddev = set_union_is_gaussian(plan->query.method) ?
						plan->scale :
						sqrt(2 * q) / -expm1(-1.0 / plan->scale);
	double units = rint(ldexp((double) noisy, DP_LATTICE_BITS - plan->bits));

	return (GramWeight){units / DP_LATTICE_ONE, ldexp(stddev, -plan->bits)};
}

/* Noise for every item of the support; those above the threshold are released. */
static void
release_noisy(UnionRun *run)
{
	const SetUnionPlan *plan = run->plan;
	Extraction *extraction = run->extraction;
	bool gaussian = set_union_is_gaussian(plan->query.method);

	for (uint32 id = 1; id <= run->items; id++)
	{
		int64 noisy = run->sum[id];

		CHECK_FOR_INTERRUPTS();
		if (!run->supported[id])
			continue;
		if (extraction->trace)
			trace_item(run, id);
		noisy += (gaussian ? noise_gaussian : noise_laplace)(extraction->noise, plan->scale,
															 ITEM_LEVEL, item_content(run, id));
		if (noisy > plan->threshold)
			released_add_ids(run->released, extraction->vocabulary, &id, 1,
							 item_weight(plan, noisy));
	}
}

/* An item and how many users have it. */
typedef struct CountedItem
{
	int64 users;
	uint32 id;
} CountedItem;

#define ST_SORT sort_counted
#define ST_ELEMENT_TYPE CountedItem
#define ST_COMPARE(a, b) ((a)->users < (b)->users ? -1 : (a)->users > (b)->users)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Each item is kept by chance, pi(n) being computed from one n to the next. */
static void
release_kept(UnionRun *run)
{
	CountedItem *item = MemoryContextAllocHuge(CurrentMemoryContext,
											   ((Size) run->items + 1) * sizeof(CountedItem));
	Extraction *extraction = run->extraction;
	uint64 p = 0;
	int64 users = 0;
	Size n = 0;

	for (uint32 id = 1; id <= run->items; id++)
		if (run->supported[id])
			item[n++] = (CountedItem){run->sum[id], id};
	sort_counted(item, n);
	for (Size i = 0; i < n; i++)
	{
		for (; users < item[i].users && p < DP_KEEP_ONE; users++)
		{
			CHECK_FOR_INTERRUPTS();
			p = dp_keep_next(&run->plan->keep, p);
		}
		if (noise_trial(extraction->noise, p, ITEM_LEVEL, item_content(run, item[i].id)))
			released_add_ids(run->released, extraction->vocabulary, &item[i].id, 1,
							 (GramWeight){0, 0});
	}
	pfree(item);
}

/* The methods of one draw for each item. */
static void
run_once(UnionRun *run)
{
	const SetUnionQuery *query = &run->plan->query;
	Corpus *lists = make_lists(run->extraction, query->bound);

	/* the lists and what sorts them may have as much memory as the two had */
	corpus_free(run->extraction->corpus);
	run->extraction->corpus = NULL;
	run->items = vocabulary_size(run->extraction->vocabulary);
	run->sum = allocate_by_id(run, sizeof(int64));
	run->supported = allocate_by_id(run, sizeof(bool));
	if (set_union_is_policy(query->method))
		add_by_policy(run, lists);
	else
		add_evenly(run, lists, query->method == SET_UNION_SINGLE ? 1 : DP_LATTICE_ONE);
	corpus_free(lists);
	if (query->method == SET_UNION_SINGLE)
		release_kept(run);
	else
		release_noisy(run);
	run->extraction->steps_done = 1;
	pfree(run->sum);
	pfree(run->supported);
}

static void
run_in_rounds(UnionRun *run)
{
	Extraction *extraction = run->extraction;
	const WordRounds *rounds = &run->plan->rounds;
	CountSpec spec = {.sampling_key = extraction->noise->sampling_key,
					  .points = extraction->noise->points,
					  .bound = {0, rounds->bound}};
	TextSource *source = source_local_create(&spec, extraction->vocabulary, extraction->corpus,
											 extraction->memory_limit);
	WordText *text;
	double mu2_used;
	GramSet *words = extract_word_rounds(extraction, source, rounds, &text, &mu2_used);

	for (uint32 i = 0; i < words->n; i++)
		released_add(run->released, &text[i], 1, words->weight[i]);
	extraction->steps_done = rounds->n;
	pfree(text);
	source->methods->close(source);
	corpus_free(extraction->corpus);
	extraction->corpus = NULL;
}

/*
 * Run the plan.  The corpus is consumed; released rows are appended, ordered by bytes,
 * those of method single without weights.
 */
void
set_union_run(Extraction *extraction, const SetUnionPlan *plan, ReleasedGrams *released)
{
	UnionRun run = {.extraction = extraction, .plan = plan, .released = released};
	Size from = released->n;

	if (set_union_has_rounds(plan->query.method))
		run_in_rounds(&run);
	else
		run_once(&run);
	released_sort(released, from);
}
