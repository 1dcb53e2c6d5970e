/*
 * period.c
 *	  Which period of a renewing dataset a call reads.
 *
 * A dataset for growing data may have a budget a period: a call reads only the rows
 * whose time lies in one period, and the caps hold for what the calls that read any
 * row of it cost (debit.c).  doc/privacy.md ("Renewal") says what that
 * promises.  What this file must make sure of is that a row's time alone decides
 * which period it is in, whatever becomes of clocks and calendars:
 *
 * - Calendar periods are numbered; number k is [begin(k), begin(k + 1)), instants
 *	 that never decrease in k, so that no instant is in two.  Months are counted from
 *	 January 2000 and days from Monday, 1 January 2001, each beginning at midnight
 *	 in the dataset's time zone; parts of a day from midnight UTC.
 * - Where clocks are put forward at midnight a period begins when the gap ends.
 *	 Where they are put back across midnight, it begins at the later of the two.
 *	 Where a day was left out (Samoa, 30 December 2011) its period is empty, and no
 *	 call gets it.
 * - A rolling window is (now - length, now], now being when the caller's transaction
 *	 began, and a day of its length 24 hours.
 *
 * Bounds are kept with time zone.  For a column without, they are converted to the
 * time that the zone's clocks show.  Midnights stay in order by that.  Other bounds
 * need not, where clocks are put back, and then one row could be in two periods: so
 * periods other than whole days need a column with time zone, or a zone whose clocks
 * are never changed (renewal_check_column).
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "fmgr.h"
#include "funcapi.h"
#include "ledger/period.h"
#include "ledger/relation.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/* The longest period: 1000 years. */
#define MAX_MONTHS 12000
#define MAX_DAYS 366000

/* Numbers are counted from here. */
#define FIRST_YEAR 2000
#define FIRST_MONDAY date2j(2001, 1, 1)

/* ------------------------------------------------------------------------
 * the owner's options
 * ------------------------------------------------------------------------ */

/*
 * A value of one of the types of time by its input function; what it can't read is
 * an error of ours, that the option must be "must".
 */
static Datum
input_time(PGFunction input, const char *text, const char *option, const char *must)
{
	MemoryContext context = CurrentMemoryContext;
	volatile Datum value = (Datum) 0;

	PG_TRY();
	{
		value = DirectFunctionCall3(input, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
									Int32GetDatum(-1));
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_DATA_EXCEPTION)
			PG_RE_THROW();
		FlushErrorState();
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("option \"%s\" must be %s", option, must),
				 errdetail("\"%s\" is none.", text)));
	}
	PG_END_TRY();
	return value;
}

static void
refuse_length(const char *must, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_ARGUMENT),
			 errmsg("option \"%s\" must be %s", "renews", must),
			 hint ? errhint("%s", hint) : 0));
}

static void
check_length(const Interval *every, bool rolling)
{
	int parts = (every->month != 0) + (every->day != 0) + (every->time != 0);

	if (every->month < 0 || every->day < 0 || every->time < 0 || parts == 0)
		refuse_length("a positive interval", NULL);
	if (every->month > MAX_MONTHS || every->day > MAX_DAYS ||
		every->time > MAX_DAYS * USECS_PER_DAY)
		refuse_length("at most 1000 years", NULL);
	if (rolling && every->month != 0)
		refuse_length("a number of days and hours for a rolling window",
					  "Months are not of one length.");
	if (!rolling && parts > 1)
		refuse_length("of one unit for calendar periods: months, days, or a part of a day",
					  "Choose one, or a rolling window.");
	if (!rolling && every->time != 0 &&
		(every->time >= USECS_PER_DAY || USECS_PER_DAY % every->time != 0))
		refuse_length("a time that divides a day for calendar periods",
					  "Give whole days as days: 24 hours is \"1 day\".");
}

static bool
window_is_rolling(const char *window)
{
	if (strcmp(window, "rolling") == 0)
		return true;
	if (strcmp(window, "calendar") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("unknown window \"%s\"", window),
				 errhint("Windows are calendar and rolling.")));
	return false;
}

static pg_tz *
find_zone(const char *name)
{
	pg_tz *zone = pg_tzset(name);

	return zone != NULL && pg_tz_acceptable(zone) ? zone : NULL;
}

/* The zone of a dataset; it was known when it was made, perhaps on another server. */
static pg_tz *
renewal_zone(const Renewal *renewal)
{
	pg_tz *zone = find_zone(renewal->zone);

	if (zone == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("time zone \"%s\" is not known to this server", renewal->zone)));
	return zone;
}

/* A renewal as the owner's options describe it; window and zone may be NULL. */
Renewal
renewal_arguments(const char *renews, const char *window, const char *zone)
{
	Renewal renewal = {0};
	pg_tz *known = find_zone(zone ? zone : "UTC");

	renewal.every = DatumGetIntervalP(input_time(interval_in, renews, "renews", "an interval"));
	renewal.rolling = window != NULL && window_is_rolling(window);
	check_length(renewal.every, renewal.rolling);
	if (known == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("unknown time zone \"%s\"", zone),
				 errhint("The view pg_timezone_names has the known ones.")));
	renewal.zone = pstrdup(pg_get_timezone_name(known));
	return renewal;
}

/* Do all periods begin at midnight? */
static bool
whole_days(const Renewal *renewal)
{
	return !renewal->rolling && renewal->every->time == 0;
}

/* Refuses a column of time that can't tell in which one period a row is. */
void
renewal_check_column(const Renewal *renewal, Oid relid, AttrNumber attnum)
{
	Oid type = getBaseType(get_atttype(relid, attnum));
	long offset;

	if (type == TIMESTAMPTZOID || whole_days(renewal) ||
		(type == TIMESTAMPOID && pg_get_timezone_offset(renewal_zone(renewal), &offset)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DP_COLUMN),
			 errmsg("column \"%s\" does not tell which period a row is in",
					get_attname(relid, attnum, false)),
			 type == DATEOID ?
				 errdetail("A date has no time of the day, and the periods are not whole days.") :
				 errdetail("Where clocks are put back, a timestamp without time zone is two "
						   "moments, and the periods are not whole days."),
			 errhint("Use a column of type timestamp with time zone, or calendar periods of "
					 "whole days.")));
}

/* ------------------------------------------------------------------------
 * calendar periods
 * ------------------------------------------------------------------------ */

static void
out_of_range(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_ARGUMENT),
			 errmsg("the period is out of the range of timestamps")));
}

static int64
floor_divide(int64 a, int64 b)
{
	return a / b - (a % b < 0 ? 1 : 0);
}

/* What the zone's clocks show. */
static struct pg_tm
clock_time(TimestampTz moment, pg_tz *zone, fsec_t *fraction)
{
	struct pg_tm tm;
	int offset;

	if (timestamp2tm(moment, &offset, &tm, fraction, NULL, zone) != 0)
		out_of_range();
	return tm;
}

/* The moment of midnight at the beginning of a day, counted as date2j() does. */
static TimestampTz
midnight(int64 day, pg_tz *zone)
{
	struct pg_tm tm = {0};
	TimestampTz moment;
	int offset;

	if (day < DATETIME_MIN_JULIAN || day >= TIMESTAMP_END_JULIAN)
		out_of_range();
	j2date((int) day, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
	offset = DetermineTimeZoneOffset(&tm, zone);
	if (tm2timestamp(&tm, 0, &offset, &moment) != 0)
		out_of_range();
	return moment;
}

static int64
first_of_month(int64 month)
{
	int64 years = floor_divide(month, MONTHS_PER_YEAR);

	if (!IS_VALID_JULIAN(FIRST_YEAR + years, 1, 1))
		out_of_range();
	return date2j((int) (FIRST_YEAR + years), (int) (month - years * MONTHS_PER_YEAR) + 1, 1);
}

/* When period number k begins. */
static TimestampTz
period_begin(const Interval *every, pg_tz *zone, int64 k)
{
	if (every->month != 0)
		return midnight(first_of_month(k * every->month), zone);
	if (every->day != 0)
		return midnight(FIRST_MONDAY + k * every->day, zone);
	if (!IS_VALID_TIMESTAMP(k * every->time))
		out_of_range();
	return k * every->time;
}

/* The number of the period in which the zone's clocks show what they do at a moment. */
static int64
period_number(const Interval *every, pg_tz *zone, TimestampTz moment)
{
	fsec_t fraction;
	struct pg_tm tm = clock_time(moment, zone, &fraction);

	if (every->month != 0)
		return floor_divide((int64) (tm.tm_year - FIRST_YEAR) * MONTHS_PER_YEAR + tm.tm_mon - 1,
							every->month);
	if (every->day != 0)
		return floor_divide(date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) - FIRST_MONDAY, every->day);
	return floor_divide(moment, every->time);
}

/*
 * The period that a moment is in.  The clocks' number can be off by one or two where
 * they are put back across midnight, or a day was left out; the bounds decide.
 */
static LedgerPeriod
calendar_period(const Renewal *renewal, TimestampTz moment)
{
	const Interval *every = renewal->every;
	pg_tz *zone = renewal_zone(renewal);
	int64 k = period_number(every, zone, moment);

	while (moment < period_begin(every, zone, k))
		k--;
	while (moment >= period_begin(every, zone, k + 1))
		k++;
	return (LedgerPeriod){true, period_begin(every, zone, k), period_begin(every, zone, k + 1)};
}

/* (moment - length, moment], in whole microseconds. */
static LedgerPeriod
rolling_window(const Interval *length, TimestampTz moment)
{
	TimestampTz from = moment - length->day * USECS_PER_DAY - length->time + 1;

	if (!IS_VALID_TIMESTAMP(from))
		out_of_range();
	return (LedgerPeriod){true, from, moment + 1};
}

/* ------------------------------------------------------------------------
 * what a call reads
 * ------------------------------------------------------------------------ */

/* The period of what counts in every period. */
LedgerPeriod
period_always(void)
{
	return (LedgerPeriod){true, DT_NOBEGIN, DT_NOEND};
}

/* The calendar period that a moment is in, or the window that ends with it. */
LedgerPeriod
period_at(const Renewal *renewal, TimestampTz moment)
{
	if (TIMESTAMP_NOT_FINITE(moment))
		out_of_range();
	return renewal->rolling ? rolling_window(renewal->every, moment) :
							  calendar_period(renewal, moment);
}

/* What a call reads that asks for none: the last complete period, or the window that ends now. */
static LedgerPeriod
period_present(const Renewal *renewal)
{
	LedgerPeriod present = period_at(renewal, GetCurrentTransactionStartTimestamp());

	return renewal->rolling ? present : period_at(renewal, present.from - 1);
}

/* A moment as the caller writes it, read in the dataset's time zone. */
static TimestampTz
moment_argument(const char *text, const char *zone)
{
	int nestlevel = NewGUCNestLevel();
	TimestampTz moment;

	(void) set_config_option("timezone", zone, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true,
							 0, false);
	moment = DatumGetTimestampTz(input_time(timestamptz_in, text, "period",
											"a date or a timestamp"));
	AtEOXact_GUC(false, nestlevel);
	return moment;
}

/*
 * What a call reads that asks for the calendar period in which the moment "text" is,
 * or for none (NULL).  The dataset's name is for errors.
 */
LedgerPeriod
period_asked(const char *dataset, const Renewal *renewal, const char *text)
{
	if (text == NULL)
		return renewal->every ? period_present(renewal) : (LedgerPeriod){0};
	if (renewal->every == NULL || renewal->rolling)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 renewal->rolling ?
					 errmsg("dataset \"%s\" has a rolling window, which ends now", dataset) :
					 errmsg("dataset \"%s\" has no periods", dataset),
				 errhint("Leave the option \"period\" out.")));
	return period_at(renewal, moment_argument(text, renewal->zone));
}

/*
 * The same for those who look and don't call: a time zone that this server doesn't know
 * must not keep them from other datasets.  All periods are taken as one then.
 */
LedgerPeriod
period_foreseen(const char *dataset, const Renewal *renewal, const char *text)
{
	if (renewal->every != NULL && find_zone(renewal->zone) == NULL)
		return period_always();
	return period_asked(dataset, renewal, text);
}

/* ledger_choose_period: the caller asks for the period that the moment "text" is in. */
void
ledger_choose_period(LedgerAccess *access, const char *text)
{
	access->period = period_asked(access->terms.dataset, access->renewal, text);
}

/* A bound of the period as a value of the column of time, or of its domain's base type. */
Datum
renewal_time_bound(const Renewal *renewal, Oid relid, AttrNumber attnum, TimestampTz bound)
{
	Oid type = getBaseType(get_atttype(relid, attnum));
	struct pg_tm tm;
	fsec_t fraction;
	Timestamp timestamp;

	if (type == TIMESTAMPTZOID)
		return TimestampTzGetDatum(bound);
	tm = clock_time(bound, renewal_zone(renewal), &fraction);
	if (type == DATEOID)
		return DateADTGetDatum(date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) - POSTGRES_EPOCH_JDATE);
	if (tm2timestamp(&tm, fraction, NULL, &timestamp) != 0)
		out_of_range();
	return TimestampGetDatum(timestamp);
}

PG_FUNCTION_INFO_V1(dpngram_present_period);

/*
 * present_period(renews, renewal, time_zone): what a call reads that asks for no
 * period, as a row (period_from, period_to), for the views.
 */
Datum
dpngram_present_period(PG_FUNCTION_ARGS)
{
	Renewal renewal = {
		.every = PG_GETARG_INTERVAL_P(0),
		.rolling = window_is_rolling(text_to_cstring(PG_GETARG_TEXT_PP(1))),
		.zone = text_to_cstring(PG_GETARG_TEXT_PP(2))};
	LedgerPeriod present;
	Datum values[2];
	bool nulls[2] = {false};
	TupleDesc descriptor;

	/* anybody may call it, with anything */
	check_length(renewal.every, renewal.rolling);
	present = period_foreseen("", &renewal, NULL);
	values[0] = TimestampTzGetDatum(present.from);
	values[1] = TimestampTzGetDatum(present.to);
	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls)));
}
