/*
 * depot.h
 *	  One temporary file in which many things have their places.
 *
 * Every open BufFile holds a block in memory.  Where a level has hundreds of parts, as
 * under small limits, a file each would take more memory than the part at hand.
 */
#ifndef DPNGRAM_DEPOT_H
#define DPNGRAM_DEPOT_H

#include "postgres.h"

#include "storage/buffile.h"

/* Where something begins; nothing has a place before it is written. */
typedef struct DepotPlace
{
	bool taken;
	int segment;
	off_t offset;
} DepotPlace;

typedef struct Depot
{
	BufFile *file; /* NULL: nothing is there */
	DepotPlace end;
} Depot;

extern void depot_write(Depot *depot, DepotPlace *place, const void *first, Size first_size,
						const void *second, Size second_size);
extern void depot_read(Depot *depot, const DepotPlace *place, void *first, Size first_size,
					   void *second, Size second_size);
extern void depot_clear(Depot *depot);

#endif /* DPNGRAM_DEPOT_H */
