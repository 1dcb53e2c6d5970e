/*
 * depot.c
 *	  One temporary file in which many things have their places.
 */
#include "postgres.h"

#include "ngram/depot.h"

static void
go_to(Depot *depot, const DepotPlace *place)
{
	if (BufFileSeek(depot->file, place->segment, place->offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not find a place in a temporary file")));
}

/*
 * Write two arrays, one after the other, to their place, or to a new one if they have
 * none; their sizes must always be the same.  The file is made in the current memory context.
 */
void
depot_write(Depot *depot, DepotPlace *place, const void *first, Size first_size,
			const void *second, Size second_size)
{
	bool appended = !place->taken;

	if (depot->file == NULL)
	{
		depot->file = BufFileCreateTemp(false);
		depot->end.taken = true;
	}
	if (appended)
		*place = depot->end;
	go_to(depot, place);
	BufFileWrite(depot->file, unconstify(void *, first), first_size);
	BufFileWrite(depot->file, unconstify(void *, second), second_size);
	if (appended)
		BufFileTell(depot->file, &depot->end.segment, &depot->end.offset);
}

/* Read what was written. */
void
depot_read(Depot *depot, const DepotPlace *place, void *first, Size first_size, void *second,
		   Size second_size)
{
	go_to(depot, place);
	if (BufFileRead(depot->file, first, first_size) != first_size ||
		BufFileRead(depot->file, second, second_size) != second_size)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not read from a temporary file")));
}

/* All is gone. */
void
depot_clear(Depot *depot)
{
	if (depot->file != NULL)
		BufFileClose(depot->file);
	memset(depot, 0, sizeof(*depot));
}
