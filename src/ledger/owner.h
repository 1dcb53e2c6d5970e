/*
 * owner.h
 *	  What the owner's functions have in common.
 */
#ifndef DPNGRAM_OWNER_H
#define DPNGRAM_OWNER_H

#include "ledger/dataset.h"

extern void owner_may_write(const char *function);
extern Dataset *owner_find(const Catalog *cat, const char *name);
extern Dataset *owner_dataset(const Catalog *cat, const char *name);
extern void owner_act(const Catalog *cat, const Dataset *dataset, const char *act,
					  const char *parameters, const LaneAmounts *price);

#endif /* DPNGRAM_OWNER_H */
