/*
 * row_file.c
 *	  Numbers in a temporary file, written from its beginning to its end and read so.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "ngram/round_parts.h"
#include "ngram/row_file.h"

RowFile *
row_file_create(void)
{
	RowFile *rows = palloc(sizeof(RowFile));

	rows->file = BufFileCreateTemp(false);
	rows->writing = false;
	rows->at = 0;
	rows->n = 0;
	return rows;
}

/* The block is full, or the last. */
void
row_file_put_block(RowFile *rows)
{
	CHECK_FOR_INTERRUPTS();
	BufFileWrite(rows->file, rows->block, rows->at);
	rows->at = 0;
}

void
row_file_get_block(RowFile *rows)
{
	CHECK_FOR_INTERRUPTS();
	rows->n = (uint32) BufFileRead(rows->file, rows->block, ROW_BLOCK);
	rows->at = 0;
	if (rows->n == 0)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not read from a temporary file")));
}

/* From the beginning again, to read or to write. */
void
row_file_rewind(RowFile *rows)
{
	if (rows->writing)
		row_file_put_block(rows);
	round_file_rewind(rows->file);
	rows->writing = false;
	rows->at = 0;
	rows->n = 0;
}

void
row_file_close(RowFile *rows)
{
	BufFileClose(rows->file);
	pfree(rows);
}
