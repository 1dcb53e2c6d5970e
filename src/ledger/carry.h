/*
 * carry.h
 *	  What a relation has lost in datasets that it belonged to before.
 */
#ifndef DPNGRAM_CARRY_H
#define DPNGRAM_CARRY_H

#include "ledger/catalog.h"

extern List *carry_sources(const Catalog *cat, Oid relid, int32 except, LaneAmounts *spent);
extern void carry_record(int32 dataset, const List *sources, bool forgotten);

#endif /* DPNGRAM_CARRY_H */
