/*
 * node_spec.c
 *	  What a node is asked to count, as bytes and back.
 *
 * The bytes are a header of fixed size, then what varies in size, each piece filled up to
 * a multiple of eight.  They are in the coordinator's own byte order: a node of another
 * one, or with another version of this format, sees it by the first word.
 *
 * Anybody who may call the node's functions can hand them anything.  So nothing is
 * believed: a size before it was compared with what is there, nor a number before it is
 * known to be one that the code can work with.
 */
#include "postgres.h"

#include "common/dp_weights.h"
#include "dpngram_errcodes.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "compat.h"
#include "ngram/fingerprint.h"
#include "ngram/node_spec.h"
#include "utils/memutils.h"

#define NODE_FORMAT UINT64CONST(0x44504E4752414D01)
#define UNIT sizeof(uint64)

/* Names longer than this are nobody's. */
#define MAX_NAME 1024

typedef struct NodeHeader
{
	uint64 format;
	uint64 sampling_key;
	WordPoints points;
	uint64 probe;
	int64 bound[NGRAM_MAX_LENGTH + 1];
	NodeHash hash[NODE_MAX_HASHES];
	uint32 n[NGRAM_MAX_LENGTH + 1];
	uint32 nbiases;
	int32 pruning;
	int32 max_tokens;
	int32 level;
	int32 draw;
	int32 encoding;
	int32 byte_order;
	int32 nhashes;
	uint32 tokenizer; /* lengths of names */
	uint32 user_type;
	uint32 text_type;
} NodeHeader;

StaticAssertDecl(sizeof(NodeHeader) % UNIT == 0, "what follows is aligned");

/* ------------------------------------------------------------------------
 * to bytes
 * ------------------------------------------------------------------------ */

static Size
filled_up(Size size)
{
	return (size + UNIT - 1) / UNIT * UNIT;
}

static char *
put(char *to, const void *from, Size size)
{
	if (size > 0)
		memcpy(to, from, size);
	memset(to + size, 0, filled_up(size) - size);
	return to + filled_up(size);
}

static NodeHeader
header_of(const NodeSpec *spec)
{
	NodeHeader header = {
		.format = NODE_FORMAT,
		.sampling_key = spec->count.sampling_key,
		.points = spec->count.points,
		.probe = spec->probe,
		.nbiases = spec->nbiases,
		.pruning = spec->count.pruning,
		.max_tokens = spec->count.max_tokens,
		.level = spec->level,
		.draw = spec->draw,
		.encoding = spec->encoding,
		.byte_order = spec->byte_order,
		.nhashes = spec->nhashes,
		.tokenizer = (uint32) strlen(spec->tokenizer),
		.user_type = (uint32) strlen(spec->user_type),
		.text_type = (uint32) strlen(spec->text_type)};

	memcpy(header.bound, spec->count.bound, sizeof(header.bound));
	memcpy(header.hash, spec->hash, sizeof(header.hash));
	for (int k = 1; k < spec->level; k++)
		header.n[k] = spec->n[k];
	return header;
}

bytea *
node_spec_pack(const NodeSpec *spec)
{
	NodeHeader header = header_of(spec);
	Size size = sizeof(header) + filled_up(header.tokenizer) + filled_up(header.user_type) +
				filled_up(header.text_type) + (Size) spec->nbiases * sizeof(uint64) +
				filled_up((Size) spec->nbiases * sizeof(uint16));
	bytea *packed;
	char *to;

	for (int k = 1; k < spec->level; k++)
		size += (Size) spec->n[k] * sizeof(uint64);
	if (size > MaxAllocSize / 2 - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many n-grams for a statement")));
	packed = palloc(VARHDRSZ + size);
	SET_VARSIZE(packed, VARHDRSZ + size);
	to = put(VARDATA(packed), &header, sizeof(header));
	to = put(to, spec->tokenizer, header.tokenizer);
	to = put(to, spec->user_type, header.user_type);
	to = put(to, spec->text_type, header.text_type);
	for (int k = 1; k < spec->level; k++)
		to = put(to, spec->key[k], (Size) spec->n[k] * sizeof(uint64));
	to = put(to, spec->biased, (Size) spec->nbiases * sizeof(uint64));
	(void) put(to, spec->bias, (Size) spec->nbiases * sizeof(uint16));
	return packed;
}

/* ------------------------------------------------------------------------
 * and back
 * ------------------------------------------------------------------------ */

typedef struct Cursor
{
	const char *at;
	Size left;
} Cursor;

pg_noreturn static void
bad_spec(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_ARGUMENT),
			 errmsg("the specification of what to count is not one that this server knows"),
			 errdetail("It is made by dp_ngrams on a coordinator, which must have the same version "
					   "of dpngram and the same kind of processor.")));
}

static const void *
take(Cursor *cursor, Size size)
{
	const char *at = cursor->at;

	if (filled_up(size) > cursor->left)
		bad_spec();
	cursor->at += filled_up(size);
	cursor->left -= filled_up(size);
	return at;
}

static char *
take_name(Cursor *cursor, uint32 len)
{
	const char *name = len <= MAX_NAME ? take(cursor, len) : NULL;

	/* it may come to stand in a message */
	if (name == NULL || memchr(name, '\0', len) != NULL || !pg_verifymbstr(name, (int) len, true))
		bad_spec();
	return pnstrdup(name, len);
}

static bool
good_point(uint64 point)
{
	return point >= 1 && point < FINGERPRINT_PRIME;
}

static void
check_header(const NodeHeader *header)
{
	bool good = header->format == NODE_FORMAT &&
				good_point(header->points.key) && good_point(header->points.content) &&
				(header->pruning == PRUNING_BOTH || header->pruning == PRUNING_SINGLE) &&
				header->max_tokens >= 0 && header->level >= 1 &&
				header->level <= NGRAM_MAX_LENGTH && header->draw >= 0 && header->draw < 4096 &&
				header->nhashes >= 0 && header->nhashes <= NODE_MAX_HASHES &&
				header->bound[header->level] >= 1 && header->bound[header->level] <= DP_MAX_KEYS;

	for (int i = 0; good && i < header->nhashes; i++)
		good = header->hash[i].modulus >= 1 && header->hash[i].remainder >= 0 &&
			   header->hash[i].remainder < header->hash[i].modulus;
	for (int k = header->level; good && k <= NGRAM_MAX_LENGTH; k++)
		good = header->n[k] == 0;
	if (!good)
		bad_spec();
	if (header->encoding != GetDatabaseEncoding())
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("the encoding of this database is not the coordinator's")));
}

/* Pairs of numbers of what was released before. */
static void
check_pairs(const NodeSpec *spec, int k)
{
	uint32 last = spec->count.pruning == PRUNING_SINGLE ? spec->n[1] : spec->n[k - 1];

	for (uint32 i = 0; i < spec->n[k]; i++)
	{
		uint64 left = spec->key[k][i] >> 32;
		uint64 right = (uint32) spec->key[k][i];

		CHECK_FOR_INTERRUPTS();
		if (left == 0 || left > spec->n[k - 1] || right == 0 || right > last)
			bad_spec();
	}
}

static void
take_sets(Cursor *cursor, NodeSpec *spec, const NodeHeader *header)
{
	for (int k = 1; k < spec->level; k++)
	{
		spec->n[k] = header->n[k];
		spec->key[k] = take(cursor, (Size) spec->n[k] * sizeof(uint64));
		if (k > 1)
			check_pairs(spec, k);
	}
	spec->nbiases = header->nbiases;
	spec->biased = take(cursor, (Size) spec->nbiases * sizeof(uint64));
	spec->bias = take(cursor, (Size) spec->nbiases * sizeof(uint16));
	for (uint32 i = 0; i < spec->nbiases; i++)
		if (spec->bias[i] > DP_BIAS_ONE)
			bad_spec();
}

/* The specification in these bytes, in the current memory context, with a copy of them. */
NodeSpec *
node_spec_parse(const char *bytes, Size size)
{
	NodeSpec *spec = palloc0(sizeof(NodeSpec));
	char *copy = MemoryContextAllocHuge(CurrentMemoryContext, size + UNIT);
	Cursor cursor = {copy, size};
	const NodeHeader *header;

	memcpy(copy, bytes, size);
	header = take(&cursor, sizeof(NodeHeader));
	check_header(header);
	spec->count = (CountSpec){.pruning = (NgramPruning) header->pruning,
							  .max_tokens = header->max_tokens,
							  .sampling_key = header->sampling_key,
							  .points = header->points};
	memcpy(spec->count.bound, header->bound, sizeof(header->bound));
	memcpy(spec->hash, header->hash, sizeof(header->hash));
	spec->level = header->level;
	spec->draw = header->draw;
	spec->encoding = header->encoding;
	spec->probe = header->probe;
	spec->byte_order = header->byte_order != 0;
	spec->nhashes = header->nhashes;
	spec->tokenizer = take_name(&cursor, header->tokenizer);
	spec->user_type = take_name(&cursor, header->user_type);
	spec->text_type = take_name(&cursor, header->text_type);
	take_sets(&cursor, spec, header);
	if (cursor.left != 0)
		bad_spec();
	return spec;
}
