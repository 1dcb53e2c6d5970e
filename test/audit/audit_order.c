/*
 * audit_order.c
 *	  A user's contribution is a function of the user's rows as a set: where two of
 *	  their n-grams can't be told apart by their hashes, or there are too many tokens,
 *	  the order of the rows must not decide, because other users' rows may change it.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "common/dp_sample.h"

#include "audit.h"

#define ORDER_ITEMS 12
#define ORDER_BOUND 6

/* The sum over the kept items of a bit each: which ones they are. */
static uint64
kept_of(ItemList *items, const uint64 *key, const uint64 *content, uint64 user_key)
{
	uint64 kept = 0;

	item_list_begin_user(items, ORDER_BOUND, user_key);
	for (int i = 0; i < ORDER_ITEMS; i++)
		item_list_add(items, key[i], content[i]);
	item_list_distinct(items);
	item_list_bound(items, ORDER_BOUND, user_key);
	for (Size i = 0; i < items->n; i++)
		kept |= UINT64CONST(1) << items->item[i].key;
	return kept;
}

/* In how many of the runs the order decides which items are kept, or too many are. */
static int64
count_decided_by_order(int64 runs, int64 *ties)
{
	DpRandom random;
	ItemList items;
	int64 decided = 0;

	dp_random_system(&random, NULL);
	item_list_init(&items);
	for (int64 run = 0; run < runs; run++)
	{
		uint64 user_key = dp_random_u64(&random);
		uint64 key[2][ORDER_ITEMS];
		uint64 content[2][ORDER_ITEMS];
		uint64 kept;
		int n;

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < ORDER_ITEMS; i++)
		{
			key[0][i] = key[1][ORDER_ITEMS - 1 - i] = i;
			content[0][i] = content[1][ORDER_ITEMS - 1 - i] = dp_uniform(&random, ORDER_ITEMS);
		}
		kept = kept_of(&items, key[0], content[0], user_key);
		n = __builtin_popcountll(kept);
		*ties += n < ORDER_BOUND;
		decided += n > ORDER_BOUND || kept != kept_of(&items, key[1], content[1], user_key);
	}
	item_list_free(&items);
	return decided;
}

/* The positions that a corpus has of a user with documents of these sizes. */
static int64
positions_of(int first, int second)
{
	Corpus *corpus = corpus_create((Size) 64 * 1024 * 1024, false);
	int64 positions = 0;
	CorpusScan scan;
	CorpusUser user;

	corpus_begin_user(corpus, 1);
	for (int i = 0; i < first; i++)
		corpus_add_token(corpus, 1);
	corpus_end_document(corpus);
	for (int i = 0; i < second; i++)
		corpus_add_token(corpus, 2);
	corpus_end_document(corpus);
	corpus_end_user(corpus);
	corpus_scan_begin(&scan, corpus, false);
	while (corpus_scan_next(&scan, &user))
		positions += user.n;
	corpus_scan_end(&scan);
	corpus_free(corpus);
	return positions;
}

/* audit_order() */
AUDIT_FUNCTION(audit_order)
{
	const int cap = CORPUS_MAX_USER_TOKENS;
	int64 runs = 20000;
	int64 ties = 0;
	int64 decided = count_decided_by_order(runs, &ties);
	int64 over = positions_of(cap - 9, 8) + positions_of(8, cap - 9);

	int64 at = Min(positions_of(cap - 10, 8), positions_of(8, cap - 10));

	verdicts_begin(fcinfo);
	verdict(fcinfo, "equal hashes at the bound are not chosen among", decided == 0, decided, 0,
			runs);
	verdict(fcinfo, "and there were such", ties > runs / 10, ties, runs / 10.0, runs);
	verdict(fcinfo, "a user beyond the cap on tokens is left out", over == 0, over, 0, 2);
	verdict(fcinfo, "a user at the cap is not", at == cap - 1, at, cap - 1, 2);
	return (Datum) 0;
}
