/*
 * rounds.c
 *	  The n-grams of one level, added up round after round with weights that
 *	  earlier rounds decide.
 *
 * Sensitivity.  In a round each n-gram g has a bias b(g), a function of what
 * earlier rounds released.  A user adds floor(2^20 b(g) / ||b||) to each of the
 * user's n-grams, ||b|| being the l2 norm of the biases of these n-grams, so the
 * squares add up to at most 2^40, in integers (dp_weights.h): the user's vector
 * has l2 norm at most 1 whatever the biases are.  Which n-grams are the user's
 * does not change between rounds.
 *
 * The first pass over the texts numbers the level's n-grams and keeps each user's
 * list of numbers; a round is one pass over these lists.  While the numbers fit
 * into memory there is one part: the norm of a user's biases is known as soon as
 * the user's list is read.  Where they don't, n-grams that find no room go by
 * their hash to parts of their own, each with the lists of its n-grams alone.  Then
 * the norms are added up part by part in a file, in the order of the users, and the
 * weights in a second pass over each part's lists: while a part is in memory it
 * first takes this round's weights, and then gives its new biases to the norms
 * of the next.  Sums of integers make the result independent of the parts.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "common/dp_audit.h"
#include "common/dp_weights.h"
#include "ngram/corpus.h"
#include "ngram/rounds.h"

#define PARTITION_BITS 5
#define PARTITIONS (1 << PARTITION_BITS)
#define MAX_DEPTH 6
#define MAX_NUMBERS (UINT64CONST(1) << 31)

/* An n-gram's number while the lists are made. */
typedef struct NumberEntry
{
	uint64 key;
	uint32 number; /* from 1 */
	char status;
} NumberEntry;

#define SH_PREFIX numbers
#define SH_ELEMENT_TYPE NumberEntry
#define SH_KEY_TYPE uint64
#define SH_KEY key
#define SH_HASH_KEY(tb, k) ((uint32) dp_splitmix_finish(k))
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* What a round does with an n-gram for every user who has it: all in one word. */
typedef struct Tally
{
	uint64 weight : 53; /* of this round so far; 2^33 users at least */
	uint64 bias : 11;
} Tally;

/* The n-grams that are in memory at one time, and the users' lists of them. */
typedef struct Part
{
	Corpus *lists; /* ids: numbers; hash: the user's number */
	uint32 n;
	RoundGram *gram; /* NULL while the part is parked */
	Tally *tally;
	BufFile *parked; /* what gram and tally had, if there are other parts */
	struct Part *next;
} Part;

/* A part while its lists are made. */
typedef struct PartBuilder
{
	RoundLists *lists;
	MemoryContext context; /* of the table */
	numbers_hash *table;
	uint64 max_members;
	int depth; /* parted so often already */
	Corpus *users;
	BufFile *overflow[PARTITIONS];
} PartBuilder;

struct RoundLists
{
	MemoryContext context;
	Size limit; /* bytes, for n-grams */
	uint64 users;
	PartBuilder *builder; /* of the first part */
	Part *parts;
	Part **tail;
	BufFile *norms; /* of each user's biases, squared, if there are several parts */
};

/* An n-gram that found no room. */
typedef struct OverflowRecord
{
	uint64 user;
	ItemKey item;
} OverflowRecord;

/* ------------------------------------------------------------------------
 * building
 * ------------------------------------------------------------------------ */

/* How many n-grams the table may have; as in histogram.c. */
static uint64
members_within(Size memory_limit)
{
	uint64 size = 256;

	while (size * 2 * 3 / 2 * sizeof(NumberEntry) <= memory_limit && size < MAX_NUMBERS)
		size *= 2;
	return size / 10 * 7;
}

static PartBuilder *
builder_create(RoundLists *lists, int depth)
{
	PartBuilder *builder = palloc0(sizeof(PartBuilder));

	builder->lists = lists;
	builder->depth = depth;
	builder->context = AllocSetContextCreate(lists->context, "dpngram numbers of n-grams",
											 ALLOCSET_DEFAULT_SIZES);
	builder->table = numbers_create(builder->context, 256, NULL);
	builder->max_members = depth < MAX_DEPTH ? members_within(lists->limit) : MAX_NUMBERS;
	/* the memory of lists is the first part's; others' go to files at once */
	builder->users = corpus_create(depth == 0 ? lists->limit / 3 : 0, false);
	return builder;
}

static void
overflow(PartBuilder *builder, uint64 user, ItemKey item)
{
	int shift = 64 - PARTITION_BITS * (builder->depth + 1);
	BufFile **file = &builder->overflow[(item.content >> shift) & (PARTITIONS - 1)];
	OverflowRecord record = {user, item};

	if (*file == NULL)
		*file = BufFileCreateTemp(false);
	BufFileWrite(*file, &record, sizeof(record));
	DP_AUDIT_SPILL(builder->depth);
}

/* Another n-gram of the user whose list is being made. */
static void
builder_add(PartBuilder *builder, uint64 user, ItemKey item)
{
	NumberEntry *entry;
	bool found;

	if (unlikely(builder->table->members >= builder->max_members))
	{
		entry = numbers_lookup(builder->table, item.key);
		if (entry == NULL)
		{
			overflow(builder, user, item);
			return;
		}
	}
	else
	{
		entry = numbers_insert(builder->table, item.key, &found);
		if (!found)
			entry->number = (uint32) builder->table->members;
	}
	corpus_add_token(builder->users, entry->number);
}

static void *
alloc_array(Size n, Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * size);
}

/* The part whose lists the builder has made; its table is freed. */
static Part *
part_create(PartBuilder *builder)
{
	Part *part = palloc0(sizeof(Part));
	numbers_iterator iterator;
	NumberEntry *entry;

	part->lists = builder->users;
	part->n = (uint32) builder->table->members;
	part->gram = alloc_array(part->n, sizeof(RoundGram));
	numbers_start_iterate(builder->table, &iterator);
	while ((entry = numbers_iterate(builder->table, &iterator)) != NULL)
		part->gram[entry->number - 1] = (RoundGram){.key = entry->key};
	MemoryContextDelete(builder->context);
	part->tally = alloc_array(part->n, sizeof(Tally));
	for (uint32 i = 0; i < part->n; i++)
		part->tally[i] = (Tally){.weight = 0, .bias = DP_BIAS_ONE};
	return part;
}

static void
rewind_file(BufFile *file)
{
	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not rewind a temporary file")));
}

static void
read_file(BufFile *file, void *to, Size size)
{
	if (BufFileRead(file, to, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not read from a temporary file")));
}

/* Leave the memory to another part. */
static void
park(Part *part)
{
	if (part->parked == NULL)
		part->parked = BufFileCreateTemp(false);
	else
		rewind_file(part->parked);
	BufFileWrite(part->parked, part->gram, part->n * sizeof(RoundGram));
	BufFileWrite(part->parked, part->tally, part->n * sizeof(Tally));
	pfree(part->gram);
	pfree(part->tally);
	part->gram = NULL;
	part->tally = NULL;
}

static void
fetch(Part *part)
{
	part->gram = alloc_array(part->n, sizeof(RoundGram));
	part->tally = alloc_array(part->n, sizeof(Tally));
	rewind_file(part->parked);
	read_file(part->parked, part->gram, part->n * sizeof(RoundGram));
	read_file(part->parked, part->tally, part->n * sizeof(Tally));
}

static void finish_part(PartBuilder *builder);

/* Make a part of its own of what found no room elsewhere. */
static void
build_from_file(RoundLists *lists, BufFile *file, int depth)
{
	PartBuilder *builder = builder_create(lists, depth);
	OverflowRecord record;
	uint64 user = PG_UINT64_MAX; /* whose list is being made */

	rewind_file(file);
	while (BufFileRead(file, &record, sizeof(record)) == sizeof(record))
	{
		CHECK_FOR_INTERRUPTS();
		if (record.user != user)
		{
			if (user != PG_UINT64_MAX)
				corpus_end_user(builder->users);
			user = record.user;
			corpus_begin_user(builder->users, user);
		}
		builder_add(builder, user, record.item);
	}
	corpus_end_user(builder->users);
	BufFileClose(file);
	finish_part(builder);
}

/* A part's lists are complete: keep it, and go on with what it had no room for. */
static void
finish_part(PartBuilder *builder)
{
	RoundLists *lists = builder->lists;
	Part *part = part_create(builder);

	*lists->tail = part;
	lists->tail = &part->next;
	for (int i = 0; i < PARTITIONS; i++)
		if (builder->overflow[i] != NULL)
		{
			if (part->gram != NULL)
				park(part);
			build_from_file(lists, builder->overflow[i], builder->depth + 1);
		}
	if (part->gram != NULL && part != lists->parts)
		park(part);
	pfree(builder);
}

/* memory_limit: bytes, for all of it */
RoundLists *
round_lists_create(Size memory_limit)
{
	RoundLists *lists = palloc0(sizeof(RoundLists));

	lists->context = CurrentMemoryContext;
	lists->limit = memory_limit / 4 * 3; /* what is left is for lists */
	lists->tail = &lists->parts;
	lists->builder = builder_create(lists, 0);
	return lists;
}

void
round_lists_add_user(RoundLists *lists, const ItemList *items)
{
	MemoryContext old;

	if (items->n == 0)
		return;
	old = MemoryContextSwitchTo(lists->context);
	corpus_begin_user(lists->builder->users, lists->users);
	for (Size i = 0; i < items->n; i++)
		builder_add(lists->builder, lists->users, items->item[i]);
	corpus_end_user(lists->builder->users);
	lists->users++;
	MemoryContextSwitchTo(old);
}

/* ------------------------------------------------------------------------
 * the norms of users whose lists lie in several parts
 * ------------------------------------------------------------------------ */

#define NORM_BLOCK 1024

/* The norms of all users in their order, as they are read and as they are written. */
typedef struct NormScan
{
	BufFile *in;  /* NULL: all are 0 */
	BufFile *out; /* NULL: they are only read */
	uint64 users; /* whose norms there are */
	uint64 first; /* of the block at hand */
	Size n;		  /* norms in the block */
	uint64 block[NORM_BLOCK];
} NormScan;

/* Put the block away, and take the next. */
static void
next_block(NormScan *scan)
{
	if (scan->out != NULL && scan->n > 0)
		BufFileWrite(scan->out, scan->block, scan->n * sizeof(uint64));
	scan->first += scan->n;
	scan->n = Min(NORM_BLOCK, scan->users - scan->first);
	if (scan->in == NULL)
		memset(scan->block, 0, sizeof(scan->block));
	else if (scan->n > 0)
		read_file(scan->in, scan->block, scan->n * sizeof(uint64));
}

/* The place of a user's norm; users come in ascending order. */
static inline uint64 *
norm_of(NormScan *scan, uint64 user)
{
	while (user >= scan->first + scan->n)
		next_block(scan);
	return &scan->block[user - scan->first];
}

static NormScan *
norm_scan_begin(const RoundLists *lists, BufFile *in, BufFile *out)
{
	NormScan *scan = palloc(sizeof(NormScan));

	if (in != NULL)
		rewind_file(in);
	scan->in = in;
	scan->out = out;
	scan->users = lists->users;
	scan->first = 0;
	scan->n = 0;
	next_block(scan);
	return scan;
}

/* What a user's norm is made of, but where an audit wants it wrong. */
static inline uint64
norm_bias(const Part *part, uint32 number)
{
	if (DP_SABOTAGED(SABOTAGE_STALE_NORM) && part->gram[number - 1].before > 0)
		return part->gram[number - 1].before;
	return part->tally[number - 1].bias;
}

static inline uint64
squared_biases(const Part *part, const CorpusUser *user)
{
	uint64 sum = 0;

	for (uint32 i = 0; i < user->n; i++)
	{
		uint64 bias = norm_bias(part, user->id[i]);

		sum += bias * bias;
	}
	return sum;
}

/* Add the biases of a part's n-grams to the norms; takes and returns a file of these. */
static BufFile *
add_norms(const RoundLists *lists, const Part *part, BufFile *norms)
{
	NormScan *norm_scan = norm_scan_begin(lists, norms, BufFileCreateTemp(false));
	BufFile *out = norm_scan->out;
	CorpusScan scan;
	CorpusUser user;

	corpus_scan_begin(&scan, part->lists, false);
	while (corpus_scan_next(&scan, &user))
		*norm_of(norm_scan, user.hash) += squared_biases(part, &user);
	corpus_scan_end(&scan);
	while (norm_scan->n > 0)
		next_block(norm_scan);
	pfree(norm_scan);
	if (norms != NULL)
		BufFileClose(norms);
	return out;
}

/* ------------------------------------------------------------------------
 * rounds
 * ------------------------------------------------------------------------ */

/* The weight of one n-gram among a user's, whose squared biases sum to norm. */
static inline uint64
biased_weight(uint32 bias, DpNorm norm)
{
	if (DP_SABOTAGED(SABOTAGE_MAX_NORM))
		return bias * (DP_LATTICE_ONE / DP_BIAS_ONE);
	if (DP_SABOTAGED(SABOTAGE_STALE_NORM))
		return (uint64) (bias * norm.scale);
	if (DP_SABOTAGED(SABOTAGE_NEAREST))
		return (uint64) rint(ldexp((double) bias, DP_LATTICE_BITS) / sqrt((double) norm.square));
	return (uint64) dp_biased_weight(norm, bias);
}

static void
add_weights(Part *part, const CorpusUser *user, uint64 squares)
{
	DpNorm norm = dp_norm(squares);

	for (uint32 i = 0; i < user->n; i++)
	{
		Tally *tally = &part->tally[user->id[i] - 1];

		tally->weight += biased_weight(tally->bias, norm);
	}
}

static void
count_part(RoundLists *lists, Part *part)
{
	NormScan *norms = lists->norms == NULL ? NULL : norm_scan_begin(lists, lists->norms, NULL);
	CorpusScan scan;
	CorpusUser user;

	corpus_scan_begin(&scan, part->lists, false);
	while (corpus_scan_next(&scan, &user))
		add_weights(part, &user,
					norms != NULL ? *norm_of(norms, user.hash) : squared_biases(part, &user));
	corpus_scan_end(&scan);
	if (norms != NULL)
		pfree(norms);
}

static void
judge_part(Part *part, RoundJudge judge, void *state)
{
	for (uint32 i = 0; i < part->n; i++)
	{
		int bias;

		CHECK_FOR_INTERRUPTS();
		bias = judge(state, &part->gram[i], (int) part->tally[i].bias,
					 (int64) part->tally[i].weight);
		Assert(bias >= 1 && bias <= DP_BIAS_ONE);
		if (DP_SABOTAGED(SABOTAGE_STALE_NORM))
			part->gram[i].before = (uint16) part->tally[i].bias;
		part->tally[i] = (Tally){.weight = 0, .bias = (uint64) bias};
	}
}

/* One round: add up all users' weights, and judge each n-gram by its sum. */
void
round_lists_count(RoundLists *lists, RoundJudge judge, void *state)
{
	MemoryContext old = MemoryContextSwitchTo(lists->context);
	BufFile *next_norms = NULL;

	for (Part *part = lists->parts; part != NULL; part = part->next)
	{
		if (part->gram == NULL)
			fetch(part);
		count_part(lists, part);
		judge_part(part, judge, state);
		if (lists->norms == NULL)
			continue;
		next_norms = add_norms(lists, part, next_norms);
		park(part);
	}
	if (lists->norms != NULL)
		BufFileClose(lists->norms);
	lists->norms = next_norms;
	MemoryContextSwitchTo(old);
}

/* Visit every n-gram of the support, in no particular order. */
void
round_lists_visit(RoundLists *lists, RoundVisitor visit, void *state)
{
	for (Part *part = lists->parts; part != NULL; part = part->next)
	{
		MemoryContext old = MemoryContextSwitchTo(lists->context);

		if (part->gram == NULL)
			fetch(part);
		MemoryContextSwitchTo(old);
		for (uint32 i = 0; i < part->n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			visit(state, &part->gram[i]);
		}
		MemoryContextSwitchTo(lists->context);
		if (lists->norms != NULL)
			park(part);
		MemoryContextSwitchTo(old);
	}
}

/* All users are there; the first round has the same bias for all n-grams. */
void
round_lists_finish(RoundLists *lists)
{
	MemoryContext old = MemoryContextSwitchTo(lists->context);

	finish_part(lists->builder);
	lists->builder = NULL;
	if (lists->parts->next != NULL)
		for (Part *part = lists->parts; part != NULL; part = part->next)
		{
			fetch(part);
			lists->norms = add_norms(lists, part, lists->norms);
			park(part);
		}
	MemoryContextSwitchTo(old);
}

/* 1 while everything fits into memory. */
int
round_lists_parts(const RoundLists *lists)
{
	int n = 0;

	for (const Part *part = lists->parts; part != NULL; part = part->next)
		n++;
	return n;
}

void
round_lists_free(RoundLists *lists)
{
	Part *part = lists->parts;

	while (part != NULL)
	{
		Part *next = part->next;

		corpus_free(part->lists);
		if (part->gram != NULL)
		{
			pfree(part->gram);
			pfree(part->tally);
		}
		if (part->parked != NULL)
			BufFileClose(part->parked);
		pfree(part);
		part = next;
	}
	if (lists->norms != NULL)
		BufFileClose(lists->norms);
	pfree(lists);
}
