/*
 * period.h
 *	  The periods of a dataset whose budget renews.
 */
#ifndef DPNGRAM_PERIOD_H
#define DPNGRAM_PERIOD_H

#include "ledger/ledger.h"

/* How a dataset's budget renews; fixed when it is made. */
typedef struct Renewal
{
	Interval *every; /* NULL: never */
	bool rolling;	 /* else by the calendar */
	char *zone;		 /* in whose days periods are counted */
} Renewal;

extern PGDLLEXPORT Renewal renewal_arguments(const char *renews, const char *window,
											 const char *zone);
extern void renewal_check_column(const Renewal *renewal, Oid relid, AttrNumber attnum);

extern Datum renewal_time_bound(const Renewal *renewal, Oid relid, AttrNumber attnum,
								TimestampTz bound);

extern LedgerPeriod period_always(void);
extern LedgerPeriod period_asked(const char *dataset, const Renewal *renewal, const char *text);
extern LedgerPeriod period_foreseen(const char *dataset, const Renewal *renewal,
									const char *text);
extern PGDLLEXPORT LedgerPeriod period_at(const Renewal *renewal, TimestampTz moment);

#endif /* DPNGRAM_PERIOD_H */
