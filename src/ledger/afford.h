/*
 * afford.h
 *	  What fits a dataset's lanes, and those of a caller's grant.
 */
#ifndef DPNGRAM_AFFORD_H
#define DPNGRAM_AFFORD_H

#include "ledger/access.h"

/* What the first candidate lacked, for the error. */
typedef struct Shortage
{
	bool known;
	int lane;
	const char *role; /* whose grant is short; NULL: the dataset */
	Datum asked;
	Datum remaining;
	bool overdrawn; /* more is spent than the cap, as only dp_protect can carry forward */
} Shortage;

extern LaneAmounts spent_of(const Catalog *cat, const Dataset *dataset, const Grant *grant,
							const LedgerPeriod *period);
extern const Grant *afford(const Catalog *cat, const Dataset *dataset, const List *grants,
						   const LedgerPeriod *period, const LaneAmounts *prices, int nprices,
						   int *chosen, Shortage *shortage);

#endif /* DPNGRAM_AFFORD_H */
