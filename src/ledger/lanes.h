/*
 * lanes.h
 *	  Amounts of the ledger's lanes, and the direction in which each is rounded.
 */
#ifndef DPNGRAM_LANES_H
#define DPNGRAM_LANES_H

#include "ledger/ledger.h"

/* Every amount in the catalog is a multiple of 2^-LANE_QUANTUM_BITS. */
#define LANE_QUANTUM_BITS 100

/* The lanes' columns, in the order of enum Lane, for lists in SQL. */
#define SPENT_COLUMNS                                                          \
	"mu2_spent, eps_pure_spent, delta_add_spent, rho_spent, rho_delta_spent, " \
	"basic_epsilon_spent, basic_delta_spent"
#define CAP_COLUMNS                                                  \
	"mu2_cap, eps_pure_cap, delta_add_cap, rho_cap, rho_delta_cap, " \
	"basic_epsilon_cap, basic_delta_cap"
#define CAP_AND_SPENT_COLUMNS CAP_COLUMNS ", " SPENT_COLUMNS
#define LANE_SUMS                                                                      \
	"coalesce(sum(mu2), 0), coalesce(sum(eps_pure), 0), coalesce(sum(delta_add), 0), " \
	"coalesce(sum(rho), 0), coalesce(sum(rho_delta), 0), "                             \
	"coalesce(sum(basic_epsilon), 0), coalesce(sum(basic_delta), 0)"

extern const char *const lane_names[LANES];

/* Amounts as numeric, exact; a null pointer where there is none. */
typedef struct LaneAmounts
{
	Datum lane[LANES];
} LaneAmounts;

#define LANE_NONE ((Datum) 0)
#define lane_is_none(amount) (DatumGetPointer(amount) == NULL)

extern double lane_grid_down(double x);
extern double lane_multiply_down(double a, double b);
extern double lane_subtract_down(double a, double b);
extern double lane_add_up(double a, double b);
extern double lane_root_up(double x);

extern Datum lane_exact(double amount);
extern Datum lane_price(double amount, int32 count);
extern Datum lane_add(Datum a, Datum b);
extern LaneAmounts lanes_zero(void);
extern LaneAmounts lanes_add(const LaneAmounts *a, const LaneAmounts *b);
extern bool lane_fits(Datum price, Datum spent, Datum cap);
extern Datum lane_remaining(Datum spent, Datum cap);
extern bool lane_less(Datum a, Datum b);
extern bool lanes_any(const LaneAmounts *amounts);
extern double lane_double_up(Datum amount);
extern char *lane_text(Datum amount);

#endif /* DPNGRAM_LANES_H */
