/*
 * temp_file.h
 *	  Temporary files that are read from their beginning, or else it is an error.
 */
#ifndef DPNGRAM_TEMP_FILE_H
#define DPNGRAM_TEMP_FILE_H

#include "postgres.h"

#include "storage/buffile.h"

static inline void
temp_file_rewind(BufFile *file)
{
	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not rewind a temporary file")));
}

/* Reads all of it, or fails. */
static inline void
temp_file_read(BufFile *file, void *to, Size size)
{
	if (BufFileRead(file, to, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not read from a temporary file")));
}

#endif /* DPNGRAM_TEMP_FILE_H */
