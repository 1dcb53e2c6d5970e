/*
 * node_pack.c
 *	  Exact weights as bytes that travel.
 *
 * The level, then the n-grams by ascending key: how much larger the key is than the one
 * before, for words their content (that of longer n-grams follows from the key), and the
 * weight; integers of seven bits a byte.  That is a third of what fixed widths would take,
 * and says nothing of the order in which n-grams were met.
 *
 * Who reads them back may have been handed anything, so nothing is believed.
 */
#include "postgres.h"

#include "dpngram_errcodes.h"
#include "miscadmin.h"
#include "compat.h"
#include "ngram/node_pack.h"
#include "ngram/plan.h"
#include "ngram/walk.h"
#include "utils/memutils.h"

#define ST_SORT sort_by_key
#define ST_ELEMENT_TYPE WeightedItem
#define ST_COMPARE(a, b)                            \
	((a)->item.key != (b)->item.key ?               \
		 ((a)->item.key < (b)->item.key ? -1 : 1) : \
		 ((a)->item.content < (b)->item.content ? -1 : (a)->item.content > (b)->item.content))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

#define MAX_VARINT 10

void
weight_list_init(WeightList *list)
{
	list->n = 0;
	list->capacity = 64;
	list->entry = palloc(list->capacity * sizeof(WeightedItem));
}

void
weight_list_add(WeightList *list, ItemKey item, int64 weight)
{
	if (list->n == list->capacity)
	{
		list->capacity *= 2;
		list->entry = repalloc_huge(list->entry, list->capacity * sizeof(WeightedItem));
	}
	list->entry[list->n++] = (WeightedItem){item, weight};
}

void
weight_list_free(WeightList *list)
{
	pfree(list->entry);
}

static unsigned char *
put_varint(unsigned char *to, uint64 value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (unsigned char) (value | 0x80);
	*to++ = (unsigned char) value;
	return to;
}

static unsigned char *
pack(const WeightList *list, int level, unsigned char *to)
{
	uint64 before = 0;

	*to++ = (unsigned char) level;
	for (Size i = 0; i < list->n; i++)
	{
		const WeightedItem *entry = &list->entry[i];

		to = put_varint(to, entry->item.key - before);
		before = entry->item.key;
		if (level == 1)
		{
			memcpy(to, &entry->item.content, sizeof(uint64));
			to += sizeof(uint64);
		}
		to = put_varint(to, (uint64) entry->weight);
	}
	return to;
}

/* The list as bytes; its order is changed.  What an n-gram takes at most is known. */
bytea *
weight_list_pack(WeightList *list, int level)
{
	Size size = VARHDRSZ + 1 + list->n * (2 * MAX_VARINT + (level == 1 ? sizeof(uint64) : 0));
	bytea *packed = MemoryContextAllocHuge(CurrentMemoryContext, size);

	if (list->n > 1)
		sort_by_key(list->entry, list->n);
	size = (char *) pack(list, level, (unsigned char *) VARDATA(packed)) - (char *) packed;
	/* as text, in which other servers send it, a value has two characters for a byte */
	if (size > MaxAllocSize / 2 - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many n-grams for one value")));
	SET_VARSIZE(packed, size);
	return packed;
}

pg_noreturn static void
bad_weights(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_ARGUMENT), errmsg("these bytes are not what a node has counted")));
}

static uint64
take_varint(PackedWeights *packed)
{
	uint64 value = 0;

	for (int shift = 0; shift < 64; shift += 7)
	{
		unsigned char byte;

		if (packed->at == packed->end)
			break;
		byte = *packed->at++;
		value |= (uint64) (byte & 0x7f) << shift;
		if ((byte & 0x80) == 0)
			return value;
	}
	bad_weights();
}

void
packed_weights_begin(PackedWeights *packed, const char *bytes, Size size)
{
	packed->at = (const unsigned char *) bytes;
	packed->end = packed->at + size;
	packed->key = 0;
	if (size == 0)
		bad_weights();
	packed->level = *packed->at++;
	if (packed->level < 1 || packed->level > NGRAM_MAX_LENGTH)
		bad_weights();
}

bool
packed_weights_next(PackedWeights *packed, WeightedItem *next)
{
	uint64 weight;

	if (packed->at == packed->end)
		return false;
	packed->key += take_varint(packed);
	next->item = level_item(packed->key, packed->level);
	if (packed->level == 1)
	{
		if ((Size) (packed->end - packed->at) < sizeof(uint64))
			bad_weights();
		memcpy(&next->item.content, packed->at, sizeof(uint64));
		packed->at += sizeof(uint64);
	}
	weight = take_varint(packed);
	if (weight > (uint64) PG_INT64_MAX >> 2)
		bad_weights();
	next->weight = (int64) weight;
	return true;
}
