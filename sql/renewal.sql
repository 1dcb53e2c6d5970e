-- Datasets whose budget renews: which rows a call reads
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
RESET client_min_messages;
SET timezone = 'Pacific/Auckland';
SET datestyle = 'ISO, YMD';
CREATE ROLE regress_renew_owner;
CREATE ROLE regress_renew_ana;
CREATE SCHEMA renew AUTHORIZATION regress_renew_owner;
GRANT USAGE ON SCHEMA renew TO regress_renew_ana;

-- the result of one call, with its SQLSTATE, detail and hint
CREATE FUNCTION try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	EXECUTE 'SELECT ' || call;
	RETURN 'fine';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', SQLSTATE || ' ' || SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;
-- the items that a call finds, each of which has more people than any noise could hide
CREATE FUNCTION found(relation text, options jsonb DEFAULT '{}', epsilon float8 DEFAULT 50) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(item, ', ' ORDER BY item COLLATE "C") FROM dp_set_union(relation::regclass, 'who', 'item', epsilon, 1e-6, options => options) $$;

SET ROLE regress_renew_owner;
SET search_path = renew, public;
CREATE DOMAIN moment AS timestamptz CHECK (VALUE > '1000-01-01');
CREATE DOMAIN later_moment AS moment;
CREATE TABLE posts (who int, item text, posted timestamptz, local timestamp, day date, special later_moment, other text);

-- what is no renewal costs nothing and leaves nothing
SELECT options, try(format('dp_protect(%L, %L, 1, 1e-6, options => %L)', 'posts', 'who', options)) FROM (VALUES
	('{"renews": "1 day"}'),
	('{"time_col": "posted"}'),
	('{"window": "rolling"}'),
	('{"time_zone": "UTC"}'),
	('{"renews": "1 day", "time_col": "nothing"}'),
	('{"renews": "1 day", "time_col": "other"}'),
	('{"renews": "1 day", "time_col": "who"}'),
	('{"renews": "1 day", "time_col": "xmin"}'),
	('{"renews": "1 day", "time_col": "Posted"}'),
	('{"renews": "1 day", "time_col": ""}'),
	('{"renews": 1, "time_col": "posted"}'),
	('{"renews": null, "time_col": "posted"}'),
	('{"renews": "1 day", "time_col": ["posted"]}'),
	('{"renews": "1 day", "time_col": "posted", "window": true}'),
	('{"renews": "1 day", "time_col": "posted", "window": "sliding"}'),
	('{"renews": "1 day", "time_col": "posted", "time_zone": 2}'),
	('{"renews": "1 day", "time_col": "posted", "time_zone": "Mars/Olympus"}'),
	('{"renews": "0 days", "time_col": "posted"}'),
	('{"renews": "1 fortnight", "time_col": "posted"}'),
	('{"renews": "1 day 12 hours", "time_col": "posted"}'),
	('{"renews": "5 hours", "time_col": "posted"}'),
	('{"renews": "1 month", "time_col": "posted", "window": "rolling"}'),
	('{"renew": "1 day", "time_col": "posted"}'),
	-- a row must be in one period only
	('{"renews": "1 hour", "time_col": "day"}'),
	('{"renews": "1 day", "time_col": "day", "window": "rolling"}'),
	('{"renews": "1 hour", "time_col": "local", "time_zone": "Europe/Paris"}'),
	('{"renews": "1 day", "time_col": "local", "time_zone": "Europe/Paris", "window": "rolling"}')) v(options);
SELECT count(*) FROM dpngram.budget;
SELECT count(*) FROM dpngram.releases WHERE relation LIKE 'renew.%';

-- Rows around the bounds of Thursday, 5 March 2026, in Paris: each item is a place in time
INSERT INTO posts SELECT n, item, t, t AT TIME ZONE 'Europe/Paris', (t AT TIME ZONE 'Europe/Paris')::date, t
  FROM (VALUES ('a before', timestamptz '2026-03-04 23:59:59.999999 Europe/Paris'), ('b first', '2026-03-05 00:00 Europe/Paris'),
		('c noon', '2026-03-05 12:00 Europe/Paris'), ('d last', '2026-03-05 23:59:59.999999 Europe/Paris'),
		('e after', '2026-03-06 00:00 Europe/Paris'), ('f never', 'infinity'), ('g no time', NULL)) v(item, t),
	generate_series(1, 40) n;
SELECT dp_protect('posts', 'who', 1000, 1e-3, accounting => 'basic', options => '{"renews": "1 day", "time_col": "posted", "time_zone": "Europe/Paris"}');
SELECT period, found('posts', jsonb_build_object('period', period))
  FROM unnest('{2026-03-04,2026-03-05,2026-03-05 23:59:59.999999,2026-03-04 23:00 UTC,2026-03-06,2026-03-07}'::text[]) period;
SELECT mechanism, period_from AT TIME ZONE 'Europe/Paris' AS period_from, period_to AT TIME ZONE 'Europe/Paris' AS period_to
  FROM dpngram.releases WHERE dataset = 'posts' ORDER BY id;
-- n-grams, too
SELECT string_agg(ngram, ', ' ORDER BY n, ngram)
  FROM dp_ngrams('posts', 'who', 'item', 50, 1e-6, max_length => 2, spurious => 1e-9, options => '{"period": "2026-03-06"}');

-- distributions, too: a period's items share it, the others have next to nothing
CREATE TABLE items AS SELECT item AS ngram, 1 AS count FROM unnest('{a before,b first,c noon,d last,e after,f never}'::text[]) item;
SELECT period, method, string_agg(ngram, ', ' ORDER BY ngram COLLATE "C")
  FROM unnest('{2026-03-04,2026-03-05,2026-03-06}'::text[]) period, (VALUES ('shrinkage', 1e-6, 9.0), ('laplace', 0, NULL)) m (method, delta, norm),
	bayes_dp_dist('posts', 'who', 'item', 'items', 200, delta, n => 2, method => method, max_norm => norm, options => jsonb_build_object('period', period))
 WHERE probability > 0.2 GROUP BY 1, 2 ORDER BY 1, 2;
-- the other types, a domain over a domain, partitions by time, a view; the same rows come
CREATE TABLE by_domain AS SELECT who, item, special AS at FROM posts;
CREATE TABLE by_timestamp AS SELECT who, item, local AS at FROM posts;
CREATE TABLE by_date AS SELECT who, item, day AS at FROM posts;
CREATE TABLE by_partition (who int, item text, at timestamptz) PARTITION BY RANGE (at);
CREATE TABLE by_partition_1 PARTITION OF by_partition FOR VALUES FROM (MINVALUE) TO ('2026-03-05 12:00 Europe/Paris');
CREATE TABLE by_partition_2 PARTITION OF by_partition DEFAULT;
INSERT INTO by_partition SELECT who, item, posted FROM posts;
CREATE VIEW by_view AS SELECT who, item, posted AS at FROM posts WHERE other IS NULL;
SET client_min_messages = error;
SELECT pg_typeof(at) FROM by_domain LIMIT 1;
SELECT dp_protect(relation::regclass, 'who', 1000, 1e-3, accounting => 'basic', options => '{"renews": "1 day", "time_col": "at", "time_zone": "Europe/Paris"}')
  FROM unnest('{by_domain,by_timestamp,by_date,by_partition,by_view}'::text[]) relation;
RESET client_min_messages;
SELECT relation, string_agg(found(relation, jsonb_build_object('period', period)), ' | ' ORDER BY period)
  FROM unnest('{by_domain,by_timestamp,by_date,by_partition,by_view}'::text[]) relation, unnest('{2026-03-04,2026-03-05,2026-03-06}'::text[]) period
 GROUP BY relation ORDER BY relation;

-- other lengths: the week and the month of that day, and hours of UTC by a column without
-- time zone, where the zone's clocks are never changed
CREATE TABLE by_week AS SELECT who, item, local AS at FROM posts;
CREATE TABLE by_month AS SELECT who, item, day AS at FROM posts;
CREATE TABLE by_hour AS SELECT who, item, posted AT TIME ZONE 'Etc/GMT-3' AS at FROM posts;
SELECT dp_protect(relation::regclass, 'who', 1000, 1e-3, accounting => 'basic', options => jsonb_build_object('renews', length, 'time_col', 'at', 'time_zone', zone))
  FROM (VALUES ('by_week', '1 week', 'Europe/Paris'), ('by_month', '2 months', 'Europe/Paris'), ('by_hour', '1 hour', 'Etc/GMT-3')) v(relation, length, zone);
SELECT relation, period, found(relation, jsonb_build_object('period', period))
  FROM (VALUES ('by_week', '2026-03-01'), ('by_week', '2026-03-02'), ('by_week', '2026-03-08'), ('by_week', '2026-03-09'),
	('by_month', '2026-02-28'), ('by_month', '2026-03-01'), ('by_month', '2026-04-30'), ('by_month', '2026-05-01'),
	('by_hour', '2026-03-04 22:59 UTC'), ('by_hour', '2026-03-04 23:00 UTC'), ('by_hour', '2026-03-05 14:30'), ('by_hour', '2026-03-05 22:00 UTC'), ('by_hour', '2026-03-05 23:00 UTC')) v(relation, period);
-- where clocks are put forward or back, each row of a column without time zone is in one day
CREATE TABLE clocks AS
SELECT who, item, at FROM (VALUES ('a', timestamp '2026-03-28 23:59'), ('b', '2026-03-29 00:00'), ('c', '2026-03-29 02:30'), ('d', '2026-03-29 23:59'), ('e', '2026-03-30 00:00'),
		('f', '2026-10-24 23:59'), ('g', '2026-10-25 00:00'), ('h', '2026-10-25 02:30'), ('i', '2026-10-25 23:59'), ('j', '2026-10-26 00:00')) v(item, at),
	generate_series(1, 40) who;
CREATE TABLE clocks_midnight AS SELECT who, item, at FROM (VALUES ('a', timestamp '2026-10-31 23:59'), ('b', '2026-11-01 00:00'), ('c', '2026-11-01 00:59'), ('d', '2026-11-01 23:59'), ('e', '2026-11-02 00:00')) v(item, at),
	generate_series(1, 40) who;
SELECT dp_protect('clocks', 'who', 1000, 1e-3, accounting => 'basic', options => '{"renews": "1 day", "time_col": "at", "time_zone": "Europe/Paris"}'),
	dp_protect('clocks_midnight', 'who', 1000, 1e-3, accounting => 'basic', options => '{"renews": "1 day", "time_col": "at", "time_zone": "America/Havana"}');
SELECT relation, period, found(relation, jsonb_build_object('period', period))
  FROM (VALUES ('clocks', '2026-03-28'), ('clocks', '2026-03-29'), ('clocks', '2026-03-30'), ('clocks', '2026-10-24'), ('clocks', '2026-10-25'), ('clocks', '2026-10-26'),
	('clocks_midnight', '2026-10-31 12:00'), ('clocks_midnight', '2026-11-01 12:00'), ('clocks_midnight', '2026-11-02 12:00')) v(relation, period);

-- Without the option: the last complete period.  Rows of yesterday, today and tomorrow
-- in UTC, while the session is where it is another day.
CREATE TABLE days (who int, item text, at timestamptz);
SELECT dp_protect('days', 'who', 1000, 1e-3, accounting => 'basic', options => '{"renews": "1 day", "time_col": "at"}');
INSERT INTO days SELECT who, item, date_trunc('day', now(), 'UTC') + shift
  FROM (VALUES ('a day before', interval '-24 hours -1 microsecond'), ('yesterday', '-24 hours'), ('yesterday''s end', '-1 microsecond'),
		('today', '0'), ('today''s end', '24 hours -1 microsecond'), ('tomorrow', '24 hours')) v(item, shift), generate_series(1, 40) who;
BEGIN;
SELECT found('days'), found('days', '{"period": "today"}') AS today, found('days', '{"period": "now"}') AS now, found('days', '{"period": "tomorrow"}') AS tomorrow;
SELECT period_from = date_trunc('day', now(), 'UTC') - interval '24 hours' AS yesterday, period_to - period_from AS length, basic_epsilon_spent, remaining_epsilon
  FROM dpngram.budget WHERE dataset = 'days';
COMMIT;

-- a materialized view of yesterday: each refresh debits it, one too many keeps the rows that were there
CREATE TABLE daily (who int, item text, at timestamptz);
SELECT dp_protect('daily', 'who', 100, 1e-5, accounting => 'basic', options => '{"renews": "1 day", "time_col": "at"}');
INSERT INTO daily SELECT who, 'some words', now() - n * interval '1 day' FROM generate_series(1, 40) who, generate_series(0, 3) n;
CREATE MATERIALIZED VIEW yesterday AS SELECT n, ngram FROM dp_ngrams('daily', 'who', 'item', 50, 1e-6, max_length => 2, spurious => 1e-9) WITH NO DATA;
BEGIN;
REFRESH MATERIALIZED VIEW yesterday;
REFRESH MATERIALIZED VIEW yesterday;
TABLE yesterday;
SAVEPOINT refused;
REFRESH MATERIALIZED VIEW yesterday;
ROLLBACK TO refused;
SELECT count(*) FROM yesterday;
SELECT count(*), bool_and(period_to = date_trunc('day', now(), 'UTC')) AS yesterdays FROM dpngram.releases WHERE dataset = 'daily' AND mechanism = 'dp_ngrams';
COMMIT;

-- A rolling window: after the moment that lies its length back, up to now
CREATE TABLE rolling (who int, item text, at timestamptz);
SELECT dp_protect('rolling', 'who', 1000, 1e-3, accounting => 'basic', options => '{"renews": "36 hours", "window": "rolling", "time_col": "at", "time_zone": "Europe/Paris"}');
INSERT INTO rolling SELECT who, item, now() + shift
  FROM (VALUES ('a too old', interval '-36 hours'), ('b oldest', '-36 hours 1 minute'), ('c recent', '-1 hour'), ('d now', '0'), ('e to come', '1 minute')) v(item, shift),
	generate_series(1, 40) who;
BEGIN;
SELECT found('rolling');
SELECT period_from - now() AS period_from, period_to - now() AS period_to, basic_epsilon_spent FROM dpngram.budget WHERE dataset = 'rolling';
COMMIT;

-- the option's other values, and where there is nothing to choose; none is charged
CREATE TABLE plain (who int, item text);
SELECT dp_protect('plain', 'who', 1000, 1e-3, accounting => 'basic');
SELECT relation, options, try(format('found(%L, %L)', relation, options)) FROM (VALUES
	('days', '{"period": 1}'), ('days', '{"period": null}'), ('days', '{"period": {"from": "2026-03-05"}}'), ('days', '{"period": ""}'), ('days', '{"period": "last week"}'),
	('days', '{"period": "2026-02-29"}'), ('days', '{"period": "infinity"}'), ('days', '{"period": "294276-12-31 23:59"}'), ('days', '{"Period": "2026-03-05"}'),
	('rolling', '{"period": "2026-03-05"}'), ('plain', '{"period": "2026-03-05"}')) v(relation, options);
SELECT dataset, count(*) FROM dpngram.releases WHERE dataset IN ('days', 'rolling', 'plain') AND mechanism = 'dp_set_union' GROUP BY dataset ORDER BY dataset;
SELECT try($$dp_ngrams('plain', 'who', 'item', 1, 1e-6, options => '{"period": "today"}')$$);

-- Each fresh period holds one call for the whole budget, in every accounting, and no more
CREATE TABLE gdp AS SELECT who, 'x'::text AS item, timestamptz '2026-03-05 12:00Z' AS at FROM generate_series(1, 40) who;
CREATE TABLE zcdp AS TABLE gdp;
CREATE TABLE basic AS TABLE gdp;
SELECT dp_protect(a::regclass, 'who', 8, 1e-6, accounting => a, options => '{"renews": "1 day", "time_col": "at"}') FROM unnest('{gdp,zcdp,basic}'::text[]) a;
SELECT a, day, try(format('found(%L, %L, %s)', a, jsonb_build_object('period', day), epsilon))
  FROM unnest('{gdp,zcdp,basic}'::text[]) a, unnest('{2026-03-05,2026-03-06}'::text[]) day, unnest('{8,0.1}'::float8[]) epsilon WHERE a = 'basic'
UNION ALL
SELECT a, day, left(try(format('found(%L, %L, %s)', a, jsonb_build_object('period', day), epsilon)), 5)
  FROM unnest('{gdp,zcdp}'::text[]) a, unnest('{2026-03-05,2026-03-06}'::text[]) day, unnest('{8,0.1}'::float8[]) epsilon;
-- what is planned is planned for the period that a call reads
CREATE TABLE planned AS TABLE gdp;
SELECT dp_protect('planned', 'who', 8, 1e-4, accounting => 'basic', options => '{"renews": "1 day", "time_col": "at"}');
SELECT dp_grant('planned', 'regress_renew_ana', 3);
SELECT found('planned', '{"period": "2026-03-05"}', 7);
SET ROLE regress_renew_ana;
BEGIN;
SELECT found('planned', epsilon => 2) IS NULL AS yesterday_is_empty;
SELECT lane, cap, spent, remaining FROM dp_remaining('planned') WHERE lane = 'basic_epsilon';
SELECT found('planned', epsilon => 0.25) IS NULL AS yesterday_is_empty;
SELECT dataset, grantee, basic_epsilon_spent, remaining_epsilon, period_to - period_from AS length FROM dpngram.budget ORDER BY grantee NULLS FIRST;
SELECT dataset, mechanism, epsilon, calls_left FROM dpngram.outlook;
SELECT count(found('planned', epsilon => 0.25)) FROM generate_series(1, 3);
SELECT calls_left FROM dpngram.outlook;
SELECT left(try($$found('planned', epsilon => 0.01)$$), 5), left(try($$found('planned', '{"period": "2026-03-07"}', 3)$$), 5), try($$found('planned', '{"period": "2026-03-05"}', 2)$$);
COMMIT;
-- what the views call may be called with anything
SELECT renews, renewal, zone, try(format('dpngram.present_period(%L, %L, %L)', renews, renewal, zone)) FROM (VALUES
	('1 day', 'calendar', 'UTC'), ('1 day', 'rolling', 'Mars'), ('0', 'calendar', 'UTC'), ('-1 day', 'calendar', 'UTC'), ('1 day -1 hour', 'rolling', 'UTC'),
	('1 mon 1 day', 'calendar', 'UTC'), ('1 mon', 'rolling', 'UTC'), ('178000000 years', 'calendar', 'UTC'), ('1 day', 'Rolling', 'UTC'), (NULL, 'rolling', 'UTC')) v(renews, renewal, zone);
-- the two views between are nobody's
SELECT has_table_privilege('dpngram.counted', 'SELECT'), has_table_privilege('dpngram.spent_now', 'SELECT');
SET ROLE regress_renew_owner;
-- with a dataset, the price is that of the candidate that would be taken in that period
SELECT dp_unprotect('gdp');
RESET ROLE;
SELECT dp_protect('gdp', 'who', 8, 1e-6, options => '{"renews": "1 day", "time_col": "at", "carry_forward": false}');
SET ROLE regress_renew_owner;
SELECT found('gdp', '{"period": "2026-03-05", "threshold_share": 0.01}', 2);
SELECT lane, (p.amount = q.amount) AS same FROM dp_price('dp_set_union', 8, 1e-6, '{"dataset": "gdp", "period": "2026-03-06"}') p JOIN dp_price('dp_set_union', 8, 1e-6, '{"dataset": "gdp", "period": "2026-03-05"}') q USING (lane) ORDER BY lane;

-- the column of time: renamed, dropped, of another type; a restored ledger
ALTER TABLE days RENAME at TO moment;
SELECT found('days', '{"period": "today"}') IS NOT NULL AS fine;
SELECT status FROM dpngram.budget WHERE dataset = 'days';
RESET ROLE;
SELECT r.time_col FROM dpngram.relation r JOIN dpngram.dataset d ON d.id = r.dataset WHERE d.name = 'days' AND d.ended IS NULL;
SET ROLE regress_renew_owner;
ALTER TABLE days ALTER moment TYPE date;
SELECT status FROM dpngram.budget WHERE dataset = 'days';
SELECT try($$found('days')$$);
SELECT dp_resume('days');
SELECT found('days', '{"period": "today"}') IS NOT NULL AS fine;
ALTER TABLE days DROP moment;
SELECT try($$found('days')$$);
SELECT try($$dp_resume('days')$$);
ALTER TABLE days ADD moment text;
SELECT try($$dp_resume('days')$$);
ALTER TABLE days ALTER moment TYPE timestamp USING timestamp '2026-03-05 12:00';
SELECT dp_resume('days');
SELECT found('days', '{"period": "2026-03-05"}') IS NOT NULL AS fine;
ALTER TABLE rolling ALTER at TYPE timestamp;
SELECT try($$dp_resume('rolling')$$);
ALTER TABLE rolling ALTER at TYPE timestamptz;
SELECT dp_resume('rolling');
RESET ROLE;
DELETE FROM dpngram.relation_binding b USING dpngram.relation r, dpngram.dataset d
 WHERE r.id = b.relation AND d.id = r.dataset AND d.name IN ('days', 'rolling') AND d.ended IS NULL;
SET ROLE regress_renew_owner;
SELECT try($$found('days')$$);
SELECT dp_resume('days'), dp_resume('rolling');
SELECT found('days', '{"period": "2026-03-05"}') IS NOT NULL AS fine, found('rolling') IS NOT NULL AS fine;
SELECT mechanism, parameters FROM dpngram.releases WHERE dataset = 'days' AND mechanism <> 'dp_set_union' ORDER BY id;
-- a time zone that the server lacks keeps nobody from other datasets
RESET ROLE;
UPDATE dpngram.dataset SET time_zone = 'Europe/Atlantis' WHERE name = 'days' AND ended IS NULL;
SET ROLE regress_renew_owner;
SELECT try($$found('days')$$);
SELECT dataset, period_from, period_to FROM dpngram.budget WHERE dataset = 'days';
SELECT count(*) > 5 FROM dpngram.outlook;

RESET ROLE;
SET client_min_messages = warning;
RESET search_path;
DROP FUNCTION try, found;
DROP SCHEMA renew CASCADE;
DROP ROLE regress_renew_owner, regress_renew_ana;
