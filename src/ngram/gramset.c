/*
 * gramset.c
 *	  Released n-grams: sets numbered in a public order, and the rows made of
 *	  them.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "common/dp_base.h"
#include "ngram/gramset.h"
#include "ngram/plan.h"

typedef struct Member
{
	uint64 key;
	GramWeight weight;
} Member;

#define ST_SORT sort_members
#define ST_ELEMENT_TYPE Member
#define ST_COMPARE(a, b) ((a)->key < (b)->key ? -1 : (a)->key > (b)->key)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

GramSet *
gramset_create(int length)
{
	GramSet *set = palloc0(sizeof(GramSet));

	set->length = length;
	set->capacity = 256;
	set->key = palloc(set->capacity * sizeof(uint64));
	set->weight = palloc(set->capacity * sizeof(GramWeight));
	return set;
}

void
gramset_add(GramSet *set, uint64 key, GramWeight weight)
{
	if (set->n == set->capacity)
	{
		set->capacity *= 2;
		set->key = repalloc_huge(set->key, set->capacity * sizeof(uint64));
		set->weight = repalloc_huge(set->weight, set->capacity * sizeof(GramWeight));
	}
	set->key[set->n] = key;
	set->weight[set->n++] = weight;
}

/* Number the members by key. */
void
gramset_sort(GramSet *set)
{
	Member *member = MemoryContextAllocHuge(CurrentMemoryContext,
											Max(set->n, 1) * sizeof(Member));

	for (uint32 i = 0; i < set->n; i++)
		member[i] = (Member){set->key[i], set->weight[i]};
	sort_members(member, set->n);
	for (uint32 i = 0; i < set->n; i++)
	{
		set->key[i] = member[i].key;
		set->weight[i] = member[i].weight;
	}
	pfree(member);
}

static ReleasedGram *
next_row(ReleasedGrams *grams)
{
	if (grams->n == grams->capacity)
	{
		grams->capacity = Max(grams->capacity * 2, 256);
		if (grams->gram == NULL)
			grams->gram = palloc(grams->capacity * sizeof(ReleasedGram));
		else
			grams->gram = repalloc_huge(grams->gram, grams->capacity * sizeof(ReleasedGram));
	}
	return &grams->gram[grams->n++];
}

/* Append a row: words joined by one blank. */
void
released_add(ReleasedGrams *grams, const WordText *word, int length, GramWeight weight)
{
	ReleasedGram *row = next_row(grams);
	Size total = 0;
	char *to;

	for (int i = 0; i < length; i++)
		total += word[i].len + 1;
	row->length = length;
	row->weight = weight;
	row->text = to = palloc_extended(total, MCXT_ALLOC_HUGE);
	row->text_len = (int) total - 1;
	for (int i = 0; i < length; i++)
	{
		memcpy(to, word[i].bytes, word[i].len);
		to += word[i].len;
		*to++ = ' ';
	}
}

/* The same with words by their ids. */
void
released_add_ids(ReleasedGrams *grams, const Vocabulary *vocabulary, const uint32 *ids,
				 int length, GramWeight weight)
{
	WordText word[NGRAM_MAX_LENGTH];

	Assert(length <= NGRAM_MAX_LENGTH);
	for (int i = 0; i < length; i++)
		word[i].bytes = vocabulary_string(vocabulary, ids[i], &word[i].len);
	released_add(grams, word, length, weight);
}

static int
compare_released(const void *pa, const void *pb)
{
	const ReleasedGram *a = pa;
	const ReleasedGram *b = pb;
	int order;

	if (a->length != b->length)
		return a->length < b->length ? -1 : 1;
	order = memcmp(a->text, b->text, Min(a->text_len, b->text_len));
	return order != 0 ? order : a->text_len - b->text_len;
}

/* Order the rows from index "from" on by length and bytes: an order that tells nothing. */
void
released_sort(ReleasedGrams *grams, Size from)
{
	qsort(grams->gram + from, grams->n - from, sizeof(ReleasedGram), compare_released);
}
