/*
 * afford.c
 *	  Which of a call's prices fits a dataset, and by which of the caller's rights:
 *	  asked by a call's worker, which then debits it, and by those who plan.
 *
 * Both ask the same code, so that a forecast can't differ from the charge but by
 * what others spend in between.
 */
#include "postgres.h"

#include "ledger/afford.h"

/*
 * What the releases of a dataset, or of one grant, that read any of the same
 * period's rows have cost.  Under the row lock nobody adds to it.
 */
static LaneAmounts
spent_in_period(const Catalog *cat, const LedgerPeriod *period, int32 dataset, int32 grantee)
{
	CatalogArgs args = {0};

	arg_int4(&args, dataset);
	arg_int4(&args, grantee);
	arg_time(&args, period->from);
	arg_time(&args, period->to);
	catalog_query("SELECT " LANE_SUMS " FROM dpngram.counted WHERE dataset = $1 "
				  "AND ($2 = 0 OR grantee = $2) AND period_from < $4 AND period_to > $3",
				  &args);
	return row_lanes(cat, 0, 1);
}

/*
 * What counts against a call that reads this period: spent of the dataset's budget,
 * or (with a grant) by that grant.
 */
LaneAmounts
spent_of(const Catalog *cat, const Dataset *dataset, const Grant *grant,
		 const LedgerPeriod *period)
{
	if (period->any)
		return spent_in_period(cat, period, dataset->id, grant ? grant->id : 0);
	return grant ? grant->spent : dataset->spent;
}

static bool
fits(LedgerAccounting accounting, const LaneAmounts *price, const LaneAmounts *spent,
	 const LaneAmounts *cap, const char *role, Shortage *shortage)
{
	int lane = accounting_short(accounting, price, spent, cap);

	if (lane >= 0 && !shortage->known)
	{
		shortage->known = true;
		shortage->lane = lane;
		shortage->role = role;
		shortage->asked = price->lane[lane];
		shortage->remaining = lane_remaining(spent->lane[lane], cap->lane[lane]);
		shortage->overdrawn = lane_less(cap->lane[lane], spent->lane[lane]);
	}
	return lane < 0;
}

/*
 * The right that holds the first price which fits the dataset and any of the rights,
 * and that price's index; NULL, and what the first price lacks, if there is none.
 */
const Grant *
afford(const Catalog *cat, const Dataset *dataset, const List *grants,
	   const LedgerPeriod *period, const LaneAmounts *prices, int nprices, int *chosen,
	   Shortage *shortage)
{
	LedgerAccounting accounting = dataset->budget.accounting;
	LaneAmounts spent = spent_of(cat, dataset, NULL, period);

	for (int i = 0; i < nprices; i++)
	{
		ListCell *cell;

		if (!fits(accounting, &prices[i], &spent, &dataset->cap, NULL, shortage))
			continue;
		*chosen = i;
		foreach (cell, grants)
		{
			const Grant *grant = lfirst(cell);
			LaneAmounts own;

			if (!grant->capped)
				return grant;
			own = spent_of(cat, dataset, grant, period);
			if (fits(accounting, &prices[i], &own, &grant->cap, grant->role, shortage))
				return grant;
		}
	}
	return NULL;
}
