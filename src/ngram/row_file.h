/*
 * row_file.h
 *	  Numbers in a temporary file, written from its beginning to its end and read so.
 *
 * What BufFile does, but for what a call of it costs: numbers of a few bytes go by the
 * million, and here each is a copy and a comparison.
 */
#ifndef DPNGRAM_ROW_FILE_H
#define DPNGRAM_ROW_FILE_H

#include "postgres.h"

#include "storage/buffile.h"

#define ROW_BLOCK 1024 /* a multiple of the sizes of all numbers */

typedef struct RowFile
{
	BufFile *file;
	bool writing;
	uint32 at; /* in the block */
	uint32 n;  /* bytes of it that there are to read */
	char block[ROW_BLOCK];
} RowFile;

/* What one takes, with its BufFile. */
#define ROW_FILE_MEMORY (ROW_BLOCK + BLCKSZ + 256)

extern RowFile *row_file_create(void);
extern void row_file_rewind(RowFile *rows);
extern void row_file_close(RowFile *rows);
extern void row_file_put_block(RowFile *rows);
extern void row_file_get_block(RowFile *rows);

/* All numbers of a file have the same size. */
static inline void
row_file_write(RowFile *rows, const void *number, Size size)
{
	if (unlikely(rows->at == ROW_BLOCK))
		row_file_put_block(rows);
	rows->writing = true;
	memcpy(rows->block + rows->at, number, size);
	rows->at += size;
}

static inline void
row_file_read(RowFile *rows, void *number, Size size)
{
	if (unlikely(rows->at == rows->n))
		row_file_get_block(rows);
	memcpy(number, rows->block + rows->at, size);
	rows->at += size;
}

#endif /* DPNGRAM_ROW_FILE_H */
