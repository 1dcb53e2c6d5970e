/*
 * carry.h
 *	  What a relation has lost in datasets that it belonged to before.
 */
#ifndef DPNGRAM_CARRY_H
#define DPNGRAM_CARRY_H

#include "ledger/catalog.h"
#include "nodes/pg_list.h"

typedef struct Carried
{
	List *sources;	 /* of int: datasets whose spending is carried */
	List *forgotten; /* of int: those whose spending is not, by a superuser's word */
	LaneAmounts spent;
} Carried;

extern Carried carry_sources(const Catalog *cat, Oid relid, int32 has, bool carry_forward);
extern void carry_record(int32 dataset, const Carried *carried);

#endif /* DPNGRAM_CARRY_H */
