-- Which period a moment is in.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

-- periods worked out by hand; no rows: all are as expected
CREATE TABLE expected_periods (renews text, renewal text, zone text, moment timestamptz,
	period_from timestamptz, period_to timestamptz);
INSERT INTO expected_periods VALUES
	('1 day', 'calendar', 'UTC', '2026-11-20 00:00Z', '2026-11-20 00:00Z', '2026-11-21 00:00Z'),
	('1 day', 'calendar', 'UTC', '2026-11-19 23:59:59.999999Z', '2026-11-19 00:00Z', '2026-11-20 00:00Z'),
	('1 day', 'calendar', 'UTC', '0044-03-15 12:00Z BC', '0044-03-15 00:00Z BC', '0044-03-16 00:00Z BC'),
	-- days of 23 and of 25 hours
	('1 day', 'calendar', 'Europe/Paris', '2026-03-29 12:00Z', '2026-03-28 23:00Z', '2026-03-29 22:00Z'),
	('1 day', 'calendar', 'Europe/Paris', '2026-10-25 12:00Z', '2026-10-24 22:00Z', '2026-10-25 23:00Z'),
	('1 day', 'calendar', 'Asia/Kolkata', '2026-11-20 18:29Z', '2026-11-19 18:30Z', '2026-11-20 18:30Z'),
	-- weeks begin on Mondays, pairs of weeks with that of 2001-01-01
	('1 week', 'calendar', 'Europe/Paris', '2026-11-20 12:00Z', '2026-11-15 23:00Z', '2026-11-22 23:00Z'),
	('7 days', 'calendar', 'UTC', '2000-12-31 12:00Z', '2000-12-25 00:00Z', '2001-01-01 00:00Z'),
	('2 weeks', 'calendar', 'UTC', '2026-11-20 12:00Z', '2026-11-16 00:00Z', '2026-11-30 00:00Z'),
	('2 weeks', 'calendar', 'UTC', '2000-12-31 12:00Z', '2000-12-18 00:00Z', '2001-01-01 00:00Z'),
	-- months, and whatever years are
	('1 month', 'calendar', 'Europe/Paris', '2026-10-31 23:30Z', '2026-10-31 23:00Z', '2026-11-30 23:00Z'),
	('1 month', 'calendar', 'UTC', '2024-02-29 12:00Z', '2024-02-01 00:00Z', '2024-03-01 00:00Z'),
	('1 month', 'calendar', 'UTC', '1999-12-31 12:00Z', '1999-12-01 00:00Z', '2000-01-01 00:00Z'),
	('3 months', 'calendar', 'UTC', '2026-11-20 12:00Z', '2026-10-01 00:00Z', '2027-01-01 00:00Z'),
	('5 months', 'calendar', 'UTC', '1999-12-31 12:00Z', '1999-08-01 00:00Z', '2000-01-01 00:00Z'),
	('1 year', 'calendar', 'UTC', '2026-11-20 12:00Z', '2026-01-01 00:00Z', '2027-01-01 00:00Z'),
	('10 years', 'calendar', 'UTC', '1985-06-01 12:00Z', '1980-01-01 00:00Z', '1990-01-01 00:00Z'),
	-- parts of a day are counted from midnight UTC, in every zone
	('1 hour', 'calendar', 'Europe/Paris', '2026-10-25 00:30Z', '2026-10-25 00:00Z', '2026-10-25 01:00Z'),
	('6 hours', 'calendar', 'Asia/Kolkata', '2026-11-20 05:59Z', '2026-11-20 00:00Z', '2026-11-20 06:00Z'),
	('00:15', 'calendar', 'UTC', '1999-12-31 23:59:59Z', '1999-12-31 23:45Z', '2000-01-01 00:00Z'),
	('1 microsecond', 'calendar', 'UTC', '2026-11-20 12:00Z', '2026-11-20 12:00Z', '2026-11-20 12:00:00.000001Z'),
	-- Samoa left 30 December 2011 out
	('1 day', 'calendar', 'Pacific/Apia', '2011-12-30 09:59:59.999999Z', '2011-12-29 10:00Z', '2011-12-30 10:00Z'),
	('1 day', 'calendar', 'Pacific/Apia', '2011-12-30 10:00Z', '2011-12-30 10:00Z', '2011-12-31 10:00Z'),
	-- Cuba's clocks went back from one o'clock to midnight: the day began at the second
	('1 day', 'calendar', 'America/Havana', '2020-11-01 04:30Z', '2020-10-31 04:00Z', '2020-11-01 05:00Z'),
	('1 day', 'calendar', 'America/Havana', '2020-11-01 05:00Z', '2020-11-01 05:00Z', '2020-11-02 05:00Z'),
	('1 month', 'calendar', 'America/Havana', '2020-11-01 04:30Z', '2020-10-01 04:00Z', '2020-11-01 05:00Z'),
	-- Lebanon's go forward from midnight to one, Brazil's went back from midnight to eleven
	('1 day', 'calendar', 'Asia/Beirut', '2018-03-24 22:00Z', '2018-03-24 22:00Z', '2018-03-25 21:00Z'),
	('1 day', 'calendar', 'America/Sao_Paulo', '2018-02-18 02:30Z', '2018-02-17 02:00Z', '2018-02-18 03:00Z'),
	-- windows end with the moment; a day is 24 hours
	('1 day', 'rolling', 'Europe/Paris', '2026-10-25 12:00Z', '2026-10-24 12:00:00.000001Z', '2026-10-25 12:00:00.000001Z'),
	('1 week 02:30', 'rolling', 'UTC', '2026-11-20 12:00Z', '2026-11-13 09:30:00.000001Z', '2026-11-20 12:00:00.000001Z');
SELECT count(*) > 25 AS enough FROM expected_periods;
SELECT e.*, p FROM expected_periods e, ledger_period(renews, renewal, zone, moment) p
 WHERE (p.period_from, p.period_to) IS DISTINCT FROM (e.period_from, e.period_to);

-- one statement's outcome, with its SQLSTATE
CREATE FUNCTION try(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text;
	hint text;
BEGIN
	EXECUTE statement INTO found;
	RETURN coalesce(found, '(null)');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS found = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', SQLSTATE || ' ' || SQLERRM, nullif(found, ''), nullif(hint, ''));
END $$;

-- what is no renewal
SELECT renews, renewal, zone, try(format('SELECT ledger_period(%L, %L, %L, now())', renews, renewal, zone))
  FROM (VALUES ('0', 'calendar', 'UTC'), ('-1 day', 'calendar', 'UTC'), ('1 day -1 hour', 'rolling', 'UTC'),
	('', 'calendar', 'UTC'), ('soon', 'calendar', 'UTC'), ('999999999999 days', 'rolling', 'UTC'),
	('1 month 1 day', 'calendar', 'UTC'), ('1 day 1 hour', 'calendar', 'UTC'), ('24 hours', 'calendar', 'UTC'),
	('36 hours', 'calendar', 'UTC'), ('7 hours', 'calendar', 'UTC'), ('00:00:00.100001', 'calendar', 'UTC'),
	('1 month', 'rolling', 'UTC'), ('1 year 1 day', 'rolling', 'UTC'),
	('1001 years', 'calendar', 'UTC'), ('366001 days', 'calendar', 'UTC'), ('366001 days', 'rolling', 'UTC'), ('8784001 hours', 'rolling', 'UTC'),
	('1 day', 'Calendar', 'UTC'), ('1 day', 'tumbling', 'UTC'), ('1 day', '', 'UTC'),
	('1 day', 'calendar', 'Europe/Atlantis'), ('1 day', 'calendar', ''), ('1 day', 'calendar', 'right/UTC'),
	('1 day', 'calendar', repeat('x', 100))) v(renews, renewal, zone);
-- PostgreSQL 17 has infinite intervals
SELECT left(try($$SELECT ledger_period('infinity', 'rolling', 'UTC', now())$$), 5), left(try($$SELECT ledger_period('-infinity', 'calendar', 'UTC', now())$$), 5);
-- what is one, at its limits
SELECT renews, renewal, zone, p.period_to - p.period_from AS length
  FROM (VALUES ('1000 years', 'calendar', 'UTC'), ('366000 days', 'calendar', 'UTC'), ('366000 days', 'rolling', 'UTC'),
	('12 hours', 'calendar', 'utc'), ('1 day', 'calendar', 'EST5EDT'), ('1 day', 'calendar', 'europe/paris')) v(renews, renewal, zone),
	ledger_period(renews, renewal, zone, '2026-11-20 12:00Z') p;
-- moments for which there is none
SELECT moment, renewal, try(format('SELECT ledger_period(%L, %L, %L, %L)', '1 month', renewal, 'UTC', moment))
  FROM unnest('{-infinity,infinity,4714-11-24 00:00Z BC,294276-12-31 23:00Z}'::text[]) moment,
	unnest('{calendar}'::text[]) renewal;
SELECT try($$SELECT ledger_period('1 day', 'rolling', 'UTC', '4714-11-24 00:00Z BC')$$);

-- Random calendars and moments against another definition: the bounds are listed, and
-- a period lies between the last one up to the moment and the first one after it.
CREATE FUNCTION listed_period(unit text, n int, zone text, moment timestamptz,
	OUT period_from timestamptz, OUT period_to timestamptz) LANGUAGE sql AS $$
	WITH first (day) AS (SELECT CASE unit WHEN 'day' THEN timestamp '2001-01-01' ELSE timestamp '2000-01-01' END),
	about (k) AS (SELECT floor(CASE unit WHEN 'day' THEN extract(epoch FROM (moment AT TIME ZONE zone) - day) / 86400
		ELSE extract(epoch FROM (moment AT TIME ZONE zone) - day) / 86400 / 30.436875 END / n)::int FROM first),
	bound (at) AS (SELECT (day + i * n * ('1 ' || unit)::interval) AT TIME ZONE zone
		FROM first, about, generate_series(about.k - 4, about.k + 4) i)
	SELECT max(at) FILTER (WHERE at <= moment), min(at) FILTER (WHERE at > moment) FROM bound $$;
SELECT setseed(0.5);
CREATE TABLE tried AS
SELECT unit, n, zone, moment + CASE WHEN random() < 0.3 THEN interval '0' ELSE
		-- near the bound, where clocks may be changed
		(listed_period(unit, n, zone, moment)).period_from - moment + (ARRAY['0', '-1 microsecond', '1 microsecond', '30 minutes',
			'-30 minutes', '1 hour', '-1 hour', '90 minutes', '25 hours', '-25 hours']::interval[])[1 + floor(random() * 10)::int] END AS moment
  FROM (SELECT (ARRAY['day', 'day', 'month'])[1 + floor(random() * 3)::int] AS unit,
		CASE WHEN random() < 0.5 THEN 1 ELSE 1 + floor(random() * 40)::int END AS n,
		(ARRAY['UTC', 'Europe/Paris', 'Europe/London', 'America/New_York', 'America/Havana', 'America/Sao_Paulo', 'America/Asuncion',
			'America/Santiago', 'America/Scoresbysund', 'America/Juneau', 'America/Caracas', 'Asia/Beirut', 'Asia/Gaza', 'Asia/Amman',
			'Asia/Tehran', 'Asia/Kolkata', 'Asia/Kathmandu', 'Asia/Manila', 'Asia/Pyongyang', 'Africa/Cairo', 'Africa/Casablanca',
			'Atlantic/Azores', 'Australia/Lord_Howe', 'Pacific/Apia', 'Pacific/Kwajalein', 'Pacific/Chatham', 'Pacific/Kiritimati',
			'Antarctica/Troll', 'Etc/GMT+12', 'Etc/GMT-14'])[1 + floor(random() * 30)::int] AS zone,
		timestamptz '1830-01-01 00:00Z' + floor(random() * 95000) * interval '1 day' + floor(random() * 86400e6) * interval '1 microsecond' AS moment
		FROM generate_series(1, 6000)) drawn;
SELECT count(*), count(DISTINCT zone) AS zones, count(DISTINCT n) AS lengths FROM tried;
SELECT t.*, p, l
  FROM tried t, ledger_period(format('%s %s', n, unit), 'calendar', zone, moment) p, listed_period(unit, n, zone, moment) l
 WHERE p::text <> l::text OR NOT (p.period_from <= moment AND moment < p.period_to);
-- they leave no gap and don't overlap
SELECT t.*, p
  FROM tried t, ledger_period(format('%s %s', n, unit), 'calendar', zone, moment) p
 WHERE p.period_to <> (ledger_period(format('%s %s', n, unit), 'calendar', zone, p.period_to)).period_from
	OR p.period_from <> (ledger_period(format('%s %s', n, unit), 'calendar', zone, p.period_from - interval '1 microsecond')).period_to;
-- one day, week, month or year is date_trunc's, where clocks aren't changed around midnight
SELECT t.*, unit, p
  FROM tried t, (VALUES ('1 day', 'day'), ('1 week', 'week'), ('1 month', 'month'), ('1 year', 'year')) u(renews, trunc),
	ledger_period(renews, 'calendar', zone, moment) p
 WHERE zone IN ('UTC', 'Europe/Paris', 'America/New_York', 'Asia/Kolkata', 'Etc/GMT-14') AND moment > '1980-01-01'
	AND (p.period_from <> date_trunc(trunc, moment, zone)
		OR p.period_to <> (date_trunc(trunc, moment AT TIME ZONE zone) + renews::interval) AT TIME ZONE zone);
-- parts of a day are date_bin's
SELECT t.*, part, p
  FROM tried t, unnest('{1 second,00:10,1 hour,3 hours,8 hours,12 hours}'::text[]) part, ledger_period(part, 'calendar', zone, moment) p
 WHERE p.period_from <> date_bin(part::interval, moment, '1800-01-01 00:00Z') OR p.period_to - p.period_from <> part::interval;

DROP TABLE expected_periods, tried;
DROP FUNCTION listed_period, try;
