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
 * The pass over the texts numbers the level's n-grams and keeps each user's list of
 * numbers (round_parts.c); a round is one pass over these lists.  While the numbers
 * fit into memory there is one part: the norm of a user's biases is known as soon as
 * the user's list is read.  Where there are several, the norms are added up part by
 * part in a file, in the order of the users: while a part is in memory it first takes
 * this round's weights, and then gives its new biases to the norms of the next round.
 * Sums of integers make the result independent of the parts.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "common/dp_audit.h"
#include "common/dp_weights.h"
#include "ngram/round_parts.h"

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
		round_file_read(scan->in, scan->block, scan->n * sizeof(uint64));
}

/* The place of a user's norm; users come in ascending order. */
static inline uint64 *
norm_of(NormScan *scan, uint64 user)
{
	while (user >= scan->first + scan->n)
		next_block(scan);
	return &scan->block[user - scan->first];
}

static void
swap_files(BufFile **a, BufFile **b)
{
	BufFile *file = *a;

	*a = *b;
	*b = file;
}

static NormScan *
norm_scan_begin(const RoundLists *lists, BufFile *in, BufFile *out)
{
	NormScan *scan = palloc(sizeof(NormScan));

	if (in != NULL)
		round_file_rewind(in);
	if (out != NULL)
		round_file_rewind(out);
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

/* Add the biases of a part's n-grams, which is in memory, to the norms of the next round. */
static void
add_norms(RoundLists *lists, const Part *part)
{
	BufFile *in = part == lists->parts ? NULL : lists->next_norms;
	NormScan *norms;
	CorpusScan scan;
	CorpusUser user;

	if (lists->spare == NULL)
		lists->spare = BufFileCreateTemp(false);
	norms = norm_scan_begin(lists, in, lists->spare);
	corpus_scan_begin(&scan, part->lists, false);
	while (corpus_scan_next(&scan, &user))
		*norm_of(norms, user.hash) += squared_biases(part, &user);
	corpus_scan_end(&scan);
	while (norms->n > 0)
		next_block(norms);
	pfree(norms);
	swap_files(&lists->next_norms, &lists->spare);
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

/* The weights of so many users with one list. */
static void
add_weights(Part *part, const CorpusUser *user, uint64 squares, uint64 users)
{
	DpNorm norm;

	if (squares == 0)
		return; /* none of the user's n-grams asks for anything */
	norm = dp_norm(squares);
	for (uint32 i = 0; i < user->n; i++)
	{
		Tally *tally = &part->tally[user->id[i] - 1];

		tally->weight += users * biased_weight(tally->bias, norm);
	}
}

static void
sum_part(RoundLists *lists, Part *part)
{
	NormScan *norms = lists->norms == NULL ? NULL : norm_scan_begin(lists, lists->norms, NULL);
	CorpusScan scan;
	CorpusUser user;

	corpus_scan_begin(&scan, part->lists, false);
	while (corpus_scan_next(&scan, &user))
	{
		if (norms != NULL)
			add_weights(part, &user, *norm_of(norms, user.hash), 1);
		else
			add_weights(part, &user, squared_biases(part, &user), lists->merged ? user.hash : 1);
	}
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
		Assert(bias >= 0 && bias <= DP_BIAS_ONE);
		if (DP_SABOTAGED(SABOTAGE_STALE_NORM))
			part->gram[i].before = (uint16) part->tally[i].bias;
		part->tally[i] = (Tally){.weight = 0, .bias = (uint64) bias};
	}
}

/* The part is to be worked on. */
static void
open_part(RoundLists *lists, Part *part)
{
	if (part->gram == NULL)
		part_fetch(lists, part);
}

/* The part is done with, for now: others may need the memory. */
static void
close_part(RoundLists *lists, Part *part)
{
	if (lists->norms != NULL)
		part_park(lists, part);
}

/* The part's biases are those of the next round. */
static void
close_judged(RoundLists *lists, Part *part)
{
	if (lists->norms != NULL)
		add_norms(lists, part);
	close_part(lists, part);
}

/* One round: add up all users' weights, and judge each n-gram by its sum. */
void
round_lists_count(RoundLists *lists, RoundJudge judge, void *state)
{
	MemoryContext old = MemoryContextSwitchTo(lists->context);

	for (Part *part = lists->parts; part != NULL; part = part->next)
	{
		open_part(lists, part);
		sum_part(lists, part);
		judge_part(part, judge, state);
		close_judged(lists, part);
	}
	swap_files(&lists->norms, &lists->next_norms);
	MemoryContextSwitchTo(old);
}

/*
 * The first half of a round: the sums, in an order that stays the same.  Where other
 * processes hold other users' lists, only all sums together can be judged.
 */
void
round_lists_sum(RoundLists *lists, RoundSumVisitor visit, void *state)
{
	MemoryContext old = MemoryContextSwitchTo(lists->context);

	for (Part *part = lists->parts; part != NULL; part = part->next)
	{
		open_part(lists, part);
		sum_part(lists, part);
		for (uint32 i = 0; i < part->n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			visit(state, &part->gram[i], (int64) part->tally[i].weight);
		}
		close_part(lists, part);
	}
	MemoryContextSwitchTo(old);
}

/* The second half, in the order of the first; judge is told the sums of these lists alone. */
void
round_lists_judge(RoundLists *lists, RoundJudge judge, void *state)
{
	MemoryContext old = MemoryContextSwitchTo(lists->context);

	for (Part *part = lists->parts; part != NULL; part = part->next)
	{
		open_part(lists, part);
		judge_part(part, judge, state);
		close_judged(lists, part);
	}
	swap_files(&lists->norms, &lists->next_norms);
	MemoryContextSwitchTo(old);
}

/* Visit every n-gram of the support, in the order of round_lists_sum(). */
void
round_lists_visit(RoundLists *lists, RoundVisitor visit, void *state)
{
	for (Part *part = lists->parts; part != NULL; part = part->next)
	{
		MemoryContext old = MemoryContextSwitchTo(lists->context);

		open_part(lists, part);
		MemoryContextSwitchTo(old);
		for (uint32 i = 0; i < part->n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			visit(state, &part->gram[i]);
		}
		MemoryContextSwitchTo(lists->context);
		close_part(lists, part);
		MemoryContextSwitchTo(old);
	}
}

/* All users are there; the first round has the same bias for all n-grams. */
void
round_lists_finish(RoundLists *lists)
{
	MemoryContext old = MemoryContextSwitchTo(lists->context);

	round_lists_built(lists);
	if (lists->parts->next == NULL && !corpus_spilled(lists->parts->lists))
	{
		round_lists_merge(lists->parts->lists, lists->limit / 3);
		lists->merged = true;
	}
	if (lists->parts->next != NULL)
		for (Part *part = lists->parts; part != NULL; part = part->next)
		{
			part_fetch(lists, part);
			add_norms(lists, part);
			part_park(lists, part);
		}
	swap_files(&lists->norms, &lists->next_norms);
	MemoryContextSwitchTo(old);
}
