/*
 * rows.h
 *	  Each user's counts of the vocabulary's n-grams, bounded.
 */
#ifndef DPNGRAM_ROWS_H
#define DPNGRAM_ROWS_H

#include "dist/public.h"
#include "ngram/corpus.h"
#include "ngram/noise.h"
#include "ngram/read.h"

/* What of a user's counts is kept; decided by the user's own counts and a key alone. */
typedef struct RowBounds
{
	bool once;				 /* every n-gram counts once */
	int64 max_count;		 /* of one n-gram */
	int64 max_contributions; /* n-grams, or their occurrences */
	bool occurrences;		 /* max_contributions is of occurrences */
} RowBounds;

/* One user: n-grams by number, from 1, each once. */
typedef struct GramRow
{
	int64 user; /* 0, 1, ... in the order of the scan */
	uint64 hash;
	uint32 n;
	const uint32 *pair; /* number, count, number, count ... */
} GramRow;

typedef struct GramRows GramRows;
typedef struct RowBuilder RowBuilder;

typedef struct GramRowScan
{
	CorpusScan scan;
	int64 next;
} GramRowScan;

#define row_gram(row, i) ((row)->pair[2 * (Size) (i)])
#define row_count(row, i) ((row)->pair[2 * (Size) (i) + 1])

/* Building, user by user; rows_read() does it from texts. */
extern RowBuilder *rows_begin(uint32 vocabulary, RowBounds bounds, uint64 sampling_key,
							  Size memory_limit);
extern void rows_begin_user(RowBuilder *builder, uint64 hash);
extern void rows_add_count(RowBuilder *builder, uint32 number, uint32 times);
extern void rows_end_user(RowBuilder *builder);
extern GramRows *rows_finish(RowBuilder *builder);
extern GramRows *rows_read(const ReadSpec *spec, const PublicGrams *grams, RowBounds bounds,
						   uint64 sampling_key, Size memory_limit);

/* Passes. */
extern void rows_scan_begin(GramRowScan *scan, GramRows *rows);
extern bool rows_scan_next(GramRowScan *scan, GramRow *row);
extern void rows_scan_end(GramRowScan *scan);
extern void rows_free(GramRows *rows);

#endif /* DPNGRAM_ROWS_H */
