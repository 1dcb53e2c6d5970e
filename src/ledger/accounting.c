/*
 * accounting.c
 *	  How the releases of a dataset add up: its lanes, their caps, and the price
 *	  of a mechanism's events in each.
 *
 * A mechanism says what it does as a list of events (ledger.h); it does not know
 * how they are accounted.  Here every list is priced in the lanes of all three
 * accountings, and a release's row keeps all of them, so that one can see what
 * the others would say of the same history.  Only the lanes of the dataset's own
 * accounting have caps, fixed when it is made:
 *
 *	gdp		exp(cap_eps_pure) dG(epsilon - cap_eps_pure, sqrt(cap_mu2))
 *			+ cap_delta_add <= delta
 *	zcdp	dZ(epsilon, cap_rho) + cap_rho_delta <= delta
 *	basic	cap_basic_epsilon = epsilon, cap_basic_delta = delta
 *
 * where dG is the hockey-stick divergence of Gaussian differential privacy and dZ
 * the bound that zero-concentrated differential privacy gives (Canonne, Kamath,
 * Steinke 2020).  The factor in gdp pays for what its pure lane also holds, noise
 * that is Gaussian but for a density ratio.  As long as each lane's sum stays
 * within its own cap, releases may be chosen adaptively: doc/privacy.md ("The
 * ledger") has the proofs.
 *
 * What an event costs:
 *
 *	event			gdp					zcdp				source of the zcdp price
 *	gaussian mu^2	mu2 += mu^2			rho += mu^2/2		Canonne, Kamath, Steinke 2020
 *	laplace e		eps_pure += e		rho += e^2/2		Bun, Steinke 2016, Proposition 1.4
 *	exponential e	eps_pure += e		rho += e^2/8		Cesar, Rogers 2021 (bounded range)
 *	pure e			eps_pure += e		rho += e^2/2		Bun, Steinke 2016, Proposition 1.4
 *	lattice s, t	eps_pure += s		rho += t			doc/privacy.md, "Accounting zcdp"
 *	delta d			delta_add += d		rho_delta += d
 *
 * In basic the whole call costs the (epsilon, delta) that it asked for.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "common/dp_gaussian.h"
#include "common/dp_zcdp.h"
#include "common/shortest_dec.h"
#include "ledger/accounting.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

static const char *const accounting_names[] = {
	[ACCOUNTING_GDP] = "gdp",
	[ACCOUNTING_ZCDP] = "zcdp",
	[ACCOUNTING_BASIC] = "basic",
};

static const char *const event_names[] = {
	[EVENT_GAUSSIAN] = "gaussian",
	[EVENT_LAPLACE] = "laplace",
	[EVENT_EXPONENTIAL] = "exponential",
	[EVENT_PURE] = "pure",
	[EVENT_LATTICE] = "lattice",
	[EVENT_DELTA] = "delta",
};

/* The accounting that SQL calls by this name; false if there is none. */
bool
accounting_by_name(const char *name, LedgerAccounting *accounting)
{
	for (int i = 0; i < (int) lengthof(accounting_names); i++)
		if (strcmp(name, accounting_names[i]) == 0)
		{
			*accounting = (LedgerAccounting) i;
			return true;
		}
	return false;
}

const char *
accounting_name(LedgerAccounting accounting)
{
	return accounting_names[accounting];
}

AccountingLanes
accounting_lanes(LedgerAccounting accounting)
{
	static const AccountingLanes lanes[] = {
		[ACCOUNTING_GDP] = {LANE_MU2, 3},
		[ACCOUNTING_ZCDP] = {LANE_RHO, 2},
		[ACCOUNTING_BASIC] = {LANE_BASIC_EPSILON, 2},
	};

	return lanes[accounting];
}

/*
 * pure_share of epsilon goes to the lane of pure epsilon and delta_share of delta
 * to that of additive delta; with delta = 0 nothing but pure epsilon can be spent,
 * and all of epsilon goes there.
 */
static bool
caps_gdp(const Budget *budget, double *cap)
{
	double delta_g;
	double mu;

	if (budget->delta == 0)
	{
		cap[LANE_EPS_PURE] = lane_grid_down(budget->epsilon);
		return true;
	}
	cap[LANE_EPS_PURE] = lane_grid_down(lane_multiply_down(budget->pure_share, budget->epsilon));
	cap[LANE_DELTA_ADD] = lane_grid_down(lane_multiply_down(budget->delta_share, budget->delta));
	delta_g = lane_multiply_down(lane_subtract_down(budget->delta, cap[LANE_DELTA_ADD]),
								 nextafter(exp(-cap[LANE_EPS_PURE]), 0));
	if (dp_gaussian_mu(lane_subtract_down(budget->epsilon, cap[LANE_EPS_PURE]), delta_g,
					   &mu) != DP_OK)
		return false;
	cap[LANE_MU2] = lane_grid_down(lane_multiply_down(mu, mu));
	return true;
}

static bool
caps_zcdp(const Budget *budget, double *cap)
{
	cap[LANE_RHO_DELTA] = lane_grid_down(lane_multiply_down(budget->delta_share, budget->delta));
	if (dp_zcdp_rho(budget->epsilon, lane_subtract_down(budget->delta, cap[LANE_RHO_DELTA]),
					&cap[LANE_RHO]) != DP_OK)
		return false;
	cap[LANE_RHO] = lane_grid_down(cap[LANE_RHO]);
	return true;
}

/*
 * The caps of a budget, on the grid; lanes that its accounting lacks have none.
 * False if they can't be computed: zcdp with delta = 0, or numbers too extreme.
 */
bool
accounting_caps(const Budget *budget, LaneAmounts *caps)
{
	double cap[LANES] = {0};
	AccountingLanes lanes = accounting_lanes(budget->accounting);

	if (budget->accounting == ACCOUNTING_GDP && !caps_gdp(budget, cap))
		return false;
	if (budget->accounting == ACCOUNTING_ZCDP && !caps_zcdp(budget, cap))
		return false;
	if (budget->accounting == ACCOUNTING_BASIC)
	{
		cap[LANE_BASIC_EPSILON] = lane_grid_down(budget->epsilon);
		cap[LANE_BASIC_DELTA] = lane_grid_down(budget->delta);
	}

	memset(caps, 0, sizeof(*caps));
	for (int i = 0; i < lanes.count; i++)
		caps->lane[lanes.first + i] = lane_exact(cap[lanes.first + i]);
	return true;
}

static bool
valid_amount(double amount)
{
	return isfinite(amount) && amount >= 0;
}

/*
 * Is what a call asks for an (epsilon, delta) that can be debited?  Accounting basic
 * debits nothing else, so it can't be nothing.
 */
bool
accounting_valid_call(double epsilon, double delta)
{
	return valid_amount(epsilon) && valid_amount(delta) && (epsilon > 0 || delta > 0);
}

/* Are all amounts finite and not negative? */
bool
accounting_valid_events(const LedgerPrice *price)
{
	for (int i = 0; i < price->nevents; i++)
	{
		const LedgerEvent *event = &price->event[i];

		if (event->count < 1 || !valid_amount(event->amount) || !valid_amount(event->tail))
			return false;
	}
	return true;
}

static double
event_rho(const LedgerEvent *event)
{
	switch (event->kind)
	{
		case EVENT_GAUSSIAN:
			/* exact, or below the quantum, to which it is rounded up unless it is 0 */
			return Max(event->amount / 2, Min(event->amount, DBL_MIN));
		case EVENT_LAPLACE:
		case EVENT_PURE:
			return dp_pure_to_rho(event->amount);
		case EVENT_EXPONENTIAL:
			return dp_exponential_to_rho(event->amount);
		case EVENT_LATTICE:
			return event->tail;
		case EVENT_DELTA:
			break;
	}
	return 0;
}

static Lane
event_lane_gdp(LedgerEventKind kind)
{
	switch (kind)
	{
		case EVENT_GAUSSIAN:
			return LANE_MU2;
		case EVENT_DELTA:
			return LANE_DELTA_ADD;
		case EVENT_LAPLACE:
		case EVENT_EXPONENTIAL:
		case EVENT_PURE:
		case EVENT_LATTICE:
			break;
	}
	return LANE_EPS_PURE;
}

static void
add_to(LaneAmounts *sum, Lane lane, double amount, int32 count)
{
	if (amount > 0)
		sum->lane[lane] = lane_add(sum->lane[lane], lane_price(amount, count));
}

/*
 * The price in every lane of valid events of a call that is (epsilon, delta)
 * differentially private as a whole.
 */
LaneAmounts
accounting_price(const LedgerPrice *price, double epsilon, double delta)
{
	LaneAmounts sum = lanes_zero();

	for (int i = 0; i < price->nevents; i++)
	{
		const LedgerEvent *event = &price->event[i];

		add_to(&sum, event_lane_gdp(event->kind), event->amount, event->count);
		add_to(&sum, LANE_RHO, event_rho(event), event->count);
		if (event->kind == EVENT_DELTA)
			add_to(&sum, LANE_RHO_DELTA, event->amount, event->count);
	}
	add_to(&sum, LANE_BASIC_EPSILON, epsilon, 1);
	add_to(&sum, LANE_BASIC_DELTA, delta, 1);
	return sum;
}

/* The first of the accounting's lanes in which spent + price exceeds the cap; -1 if none. */
int
accounting_short(LedgerAccounting accounting, const LaneAmounts *price,
				 const LaneAmounts *spent, const LaneAmounts *cap)
{
	AccountingLanes lanes = accounting_lanes(accounting);

	for (int i = lanes.first; i < (int) lanes.first + lanes.count; i++)
		if (!lane_fits(price->lane[i], spent->lane[i], cap->lane[i]))
			return i;
	return -1;
}

static void
append_amount(StringInfo json, const char *key, double amount)
{
	appendStringInfo(json, ", \"%s\": %s", key, double_to_shortest_decimal(amount));
}

/* The events as a JSON array; each amount in the shortest form that names its double. */
char *
accounting_events_json(const LedgerPrice *price)
{
	static const char *const amount_names[] = {
		[EVENT_GAUSSIAN] = "mu2",
		[EVENT_LAPLACE] = "epsilon",
		[EVENT_EXPONENTIAL] = "epsilon",
		[EVENT_PURE] = "epsilon",
		[EVENT_LATTICE] = "epsilon",
		[EVENT_DELTA] = "delta",
	};
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfoChar(&json, '[');
	for (int i = 0; i < price->nevents; i++)
	{
		const LedgerEvent *event = &price->event[i];

		appendStringInfo(&json, "%s{\"event\": \"%s\"", i > 0 ? ", " : "",
						 event_names[event->kind]);
		append_amount(&json, amount_names[event->kind], event->amount);
		if (event->kind == EVENT_LATTICE)
			append_amount(&json, "zcdp_rho", event->tail);
		if (event->count != 1)
			appendStringInfo(&json, ", \"count\": %d", event->count);
		appendStringInfoChar(&json, '}');
	}
	appendStringInfoChar(&json, ']');
	return json.data;
}
