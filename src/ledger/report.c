/*
 * report.c
 *	  dp_budget_report: a budget as a chart in text, for a terminal.
 *
 * It asks the views dpngram.budget and dpngram.spending with the caller's own rights, so
 * it tells everyone what they may see there, and what others spent as one sum.  A call has
 * a price in each lane of the accounting; its share of the budget is that of the lane
 * which is spent most, for there calls will first be refused.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "compat.h"
#include "dpngram_errcodes.h"
#include "executor/spi.h"
#include "ledger/ledger.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#define BAR_WIDTH 25
#define PERIODS_SHOWN 24
#define NAME_WIDTH 18

typedef struct Report
{
	ReturnSetInfo *rsinfo;
	Datum dataset; /* as text */
	char *lane;	   /* the one that is spent most */
	float8 share;  /* of its cap */
	bool renews;
} Report;

/* three places, where that can't overflow */
static const char budget_query[] =
	"SELECT format('%s of %s: %s, accounting %s', b.dataset, b.relation, b.status, b.accounting), "
	"format('of the period from %s to %s', b.period_from, b.period_to), "
	"format('epsilon %s at delta %s; spent %s, remaining %s', b.epsilon, b.delta, "
	"CASE WHEN b.spent_epsilon < 1e12 THEN ceil(b.spent_epsilon * 1000) / 1000 "
	"ELSE b.spent_epsilon END, CASE WHEN b.remaining_epsilon < 1e12 "
	"THEN floor(b.remaining_epsilon * 1000) / 1000 ELSE b.remaining_epsilon END), "
	"b.period_from IS NOT NULL FROM dpngram.budget b WHERE b.dataset = $1 AND b.grantee IS NULL";

/* a lane without a cap above 0 has no share */
static const char lanes_query[] =
	"SELECT l.lane, NULL::bigint, (b.amounts->>(l.lane || '_spent'))::float8 "
	"/ nullif((b.amounts->>(l.lane || '_cap'))::float8, 0) "
	"FROM (SELECT accounting, to_jsonb(b) AS amounts FROM dpngram.budget b "
	"WHERE b.dataset = $1 AND b.grantee IS NULL) b "
	"CROSS JOIN LATERAL unnest(CASE b.accounting WHEN 'gdp' THEN '{mu2,eps_pure,delta_add}' "
	"WHEN 'zcdp' THEN '{rho,rho_delta}' ELSE '{basic_epsilon,basic_delta}' END::text[]) "
	"WITH ORDINALITY l (lane, place) ORDER BY l.place";

/*
 * The calls, with their share of the cap of lane $2; "now" in the period of the budget's row,
 * as all are that count in every period, or where there are none.
 */
#define CALLS                                                                              \
	"WITH budget AS MATERIALIZED (SELECT period_from, period_to, "                         \
	"(to_jsonb(b)->>($2 || '_cap'))::float8 AS cap FROM dpngram.budget b "                 \
	"WHERE b.dataset = $1 AND b.grantee IS NULL), call AS ("                               \
	"SELECT s.caller_role, s.at, s.period_from, (s.price->>$2)::float8 / b.cap AS share, " \
	"s.period_from IS NULL OR (s.period_from < b.period_to "                               \
	"AND s.period_to > b.period_from) AS now "                                             \
	"FROM dpngram.spending s CROSS JOIN budget b WHERE s.dataset = $1) "

/* by the present caps, also what was spent before these were raised */
static const char persons_query[] =
	CALLS "SELECT c.caller_role, count(*), sum(c.share) FROM call c WHERE c.now "
		  "GROUP BY c.caller_role ORDER BY sum(c.share) DESC, c.caller_role";

static const char days_query[] = CALLS
	", unit AS (SELECT CASE WHEN age <= '2 days' THEN 'hour' WHEN age <= '31 days' THEN 'day' "
	"WHEN age <= '190 days' THEN 'week' WHEN age <= '3 years' THEN 'month' ELSE 'year' END AS unit "
	"FROM (SELECT max(at) - min(at) AS age FROM call) span) "
	"SELECT to_char(date_trunc(u.unit, c.at), CASE u.unit WHEN 'hour' THEN 'YYYY-MM-DD HH24:00' "
	"WHEN 'month' THEN 'YYYY-MM' WHEN 'year' THEN 'YYYY' ELSE 'YYYY-MM-DD' END), "
	"count(*), sum(c.share) FROM call c CROSS JOIN unit u "
	"GROUP BY date_trunc(u.unit, c.at), u.unit ORDER BY date_trunc(u.unit, c.at)";

static const char periods_query[] =
	CALLS "SELECT p.name, p.calls, p.share FROM (SELECT c.period_from, "
		  "coalesce(to_char(c.period_from, 'YYYY-MM-DD HH24:MI'), '(each of them)') AS name, "
		  "count(*) AS calls, sum(c.share) AS share FROM call c GROUP BY c.period_from "
		  "ORDER BY c.period_from DESC LIMIT " CppAsString2(PERIODS_SHOWN) ") p "
																		   "ORDER BY p.period_from";

/* No name in it makes two lines of one. */
static void
put(const Report *report, const char *text)
{
	char *line = pstrdup(text);
	Datum values[1];
	bool nulls[1] = {false};

	for (char *c = line; *c; c++)
	{
		if ((unsigned char) *c < ' ' || *c == 0x7f)
			*c = '?';
	}
	values[0] = CStringGetTextDatum(line);
	tuplestore_putvalues(report->rsinfo->setResult, report->rsinfo->setDesc, values, nulls);
}

/*
 * A name keeps to its column.  That of a role may be in the encoding of another database;
 * what is invalid here has as many characters as bytes.
 */
static void
append_name(StringInfo line, const char *name)
{
	int length = strlen(name);
	int width = pg_verifymbstr(name, length, true) ? pg_mbstrlen(name) : length;

	appendStringInfoString(line, name);
	if (width < NAME_WIDTH)
		appendStringInfoSpaces(line, NAME_WIDTH - width);
}

/* Whatever is more than nothing shows; more than the whole is cut. */
static void
append_bar(StringInfo line, float8 share)
{
	int filled = (int) ceil(Max(Min(share, 1), 0) * BAR_WIDTH);

	appendStringInfoString(line, "  |");
	for (int i = 0; i < BAR_WIDTH; i++)
		appendStringInfoChar(line, i < filled ? '#' : '.');
	appendStringInfoChar(line, '|');
}

/* A line of the chart: calls below 0 are none that the caller knows. */
static void
put_bar(const Report *report, const char *name, int64 calls, float8 share)
{
	StringInfoData line;

	initStringInfo(&line);
	append_name(&line, name);
	if (calls >= 0)
		appendStringInfo(&line, "%6lld", (long long) calls);
	else
		appendStringInfoSpaces(&line, 6);
	appendStringInfo(&line, "%12.1f %%", 100 * share);
	append_bar(&line, share);
	put(report, line.data);
	pfree(line.data);
}

/* The rows of a query over the dataset, and the lane if that is known by now. */
static uint64
ask(const Report *report, const char *query)
{
	Oid types[2] = {TEXTOID, TEXTOID};
	Datum values[2] = {report->dataset, (Datum) 0};

	if (report->lane)
		values[1] = CStringGetTextDatum(report->lane);
	if (SPI_execute_with_args(query, report->lane ? 2 : 1, types, values, NULL, true, 0) !=
		SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_with_args failed");
	return SPI_processed;
}

static char *
text_of(uint64 row, int column)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
}

static Datum
datum_of(uint64 row, int column, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, isnull);
}

static bool
put_budget(Report *report)
{
	bool isnull;

	if (ask(report, budget_query) == 0)
		return false;
	report->renews = DatumGetBool(datum_of(0, 4, &isnull));
	put(report, text_of(0, 1));
	if (report->renews)
		put(report, text_of(0, 2));
	put(report, text_of(0, 3));
	return true;
}

/* The lanes, of which the fullest is remembered. */
static void
put_lanes(Report *report)
{
	uint64 n = ask(report, lanes_query);
	char *fullest = NULL;

	put(report, "");
	put(report, psprintf("%-*s%20s", NAME_WIDTH, "lane", "spent"));
	for (uint64 i = 0; i < n; i++)
	{
		bool isnull;
		float8 share = DatumGetFloat8(datum_of(i, 3, &isnull));

		if (isnull)
			continue;
		put_bar(report, text_of(i, 1), -1, share);
		if (fullest == NULL || share > report->share)
		{
			fullest = text_of(i, 1);
			report->share = share;
		}
	}
	report->lane = fullest;
}

/* The rows (name, calls, share) of a query; returns the sum of the shares. */
static float8
put_shares(const Report *report, const char *heading, const char *query)
{
	uint64 n = ask(report, query);
	float8 sum = 0;

	put(report, "");
	put(report, psprintf("%-*s%6s%14s", NAME_WIDTH, heading, "calls", report->lane));
	for (uint64 i = 0; i < n; i++)
	{
		bool isnull;
		float8 share = DatumGetFloat8(datum_of(i, 3, &isnull));

		put_bar(report, text_of(i, 1), DatumGetInt64(datum_of(i, 2, &isnull)), share);
		sum += share;
	}
	return sum;
}

static void
put_report(Report *report)
{
	float8 seen;

	if (!put_budget(report))
		return;
	put_lanes(report);
	if (report->lane == NULL)
		return; /* no cap is above 0 */
	seen = put_shares(report, "by whom", persons_query);
	if (report->share - seen > 1e-9)
		put_bar(report, "(others)", -1, report->share - seen);
	(void) put_shares(report, report->renews ? "period from" : "when",
					  report->renews ? periods_query : days_query);
}

/* A setting as the queries need it, until the function's end. */
static void
set_here(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
}

PG_FUNCTION_INFO_V1(dpngram_budget_report);

/* dp_budget_report(dataset): lines of text, for who sees the dataset in dpngram.budget. */
Datum
dpngram_budget_report(PG_FUNCTION_ARGS)
{
	Report report = {.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo};
	int nestlevel;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT), errmsg("dataset must not be null")));
	(void) ledger_terms(NameStr(*PG_GETARG_NAME(0)));
	report.dataset = CStringGetTextDatum(NameStr(*PG_GETARG_NAME(0)));
	nestlevel = NewGUCNestLevel();
	set_here("search_path", "pg_catalog, pg_temp");
	set_here("extra_float_digits", "1");
	set_here("jit", "off"); /* compiling takes longer than the queries */
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	put_report(&report);
	SPI_finish();
	AtEOXact_GUC(false, nestlevel);
	return (Datum) 0;
}
