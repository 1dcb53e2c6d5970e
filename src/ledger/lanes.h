/*
 * lanes.h
 *	  Amounts of the ledger's three lanes, and the direction in which each is
 *	  rounded.
 */
#ifndef DPNGRAM_LANES_H
#define DPNGRAM_LANES_H

#include "ledger/ledger.h"

/* Every amount in the catalog is a multiple of 2^-LANE_QUANTUM_BITS. */
#define LANE_QUANTUM_BITS 100

/* The lanes in the order in which catalog columns, messages and arrays hold them. */
typedef enum Lane
{
	LANE_MU2,
	LANE_EPS_PURE,
	LANE_DELTA_ADD
} Lane;

#define LANES 3

extern const char *const lane_names[LANES];

/* Amounts as numeric, exact. */
typedef struct LaneAmounts
{
	Datum lane[LANES];
} LaneAmounts;

extern bool lanes_caps(double epsilon, double delta, double pure_share,
					   double delta_share, LedgerPrice *caps);
extern bool lanes_valid_price(const LedgerPrice *price);
extern Datum lane_exact(double amount);
extern LaneAmounts lanes_exact(const LedgerPrice *amounts);
extern LaneAmounts lanes_price(const LedgerPrice *price);
extern LaneAmounts lanes_zero(void);
extern int lanes_short(const LaneAmounts *price, const LaneAmounts *spent,
					   const LaneAmounts *cap);
extern Datum lane_remaining(Datum spent, Datum cap);
extern bool lanes_any(const LaneAmounts *amounts);
extern bool lane_overdrawn(Datum spent, Datum cap);
extern char *lane_text(Datum amount);

#endif /* DPNGRAM_LANES_H */
