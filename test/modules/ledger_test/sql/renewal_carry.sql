-- Budgets that renew: what a dataset counts of the datasets before it.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
CREATE ROLE regress_ca_owner;
CREATE SCHEMA ca AUTHORIZATION regress_ca_owner;

-- one statement's outcome, with its SQLSTATE
CREATE FUNCTION try(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text;
BEGIN
	EXECUTE statement INTO found;
	RETURN coalesce(found, '(null)');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS found = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || SQLERRM || coalesce(' | ' || nullif(found, ''), '');
END $$;
-- the most that fits a dataset, or a period of it, in pure epsilon by halves; nothing is charged
CREATE FUNCTION holds(dataset text, period text DEFAULT NULL) RETURNS float8 LANGUAGE sql AS $$
	SELECT coalesce(max(halves) / 2.0, 0) FROM generate_series(0, 40) halves, dpngram.dataset d
	 WHERE d.name = dataset AND d.ended IS NULL AND d.eps_pure_cap >= halves / 2.0 + CASE WHEN d.renews IS NULL THEN d.eps_pure_spent ELSE (
		SELECT coalesce(sum(c.eps_pure), 0) FROM dpngram.counted c
		 WHERE c.dataset = d.id AND c.period_from < (ledger_period(d.renews::text, d.renewal, d.time_zone, period::timestamptz)).period_to
			AND c.period_to > (ledger_period(d.renews::text, d.renewal, d.time_zone, period::timestamptz)).period_from) END $$;
-- the same of days 1 to 3, and whether calls find the same
CREATE FUNCTION days(dataset text, relation text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	list float8[];
	room float8;
BEGIN
	FOR day IN 1..3 LOOP
		room := holds(dataset, '2020-01-0' || day);
		list := list || room;
		IF left(try(format('SELECT ledger_charge_in(%L, %L, %L)', relation, ARRAY[0, room + 0.5, 0], '2020-01-0' || day)), 5) <> 'NG001' THEN
			RAISE 'day % holds more than %', day, room;
		END IF;
	END LOOP;
	RETURN list::text;
END $$;
-- what datasets carry, by name
CREATE VIEW carries AS
SELECT d.name AS dataset, s.name AS source, c.forgotten, c.by_period, c.releases = s.releases AS all_of_it
  FROM dpngram.carried c JOIN dpngram.dataset d ON d.id = c.dataset JOIN dpngram.dataset s ON s.id = c.source
 WHERE d.name LIKE 'c%' ORDER BY d.id, s.id;

SET search_path = ca, public;
CREATE TABLE t (who int, what text, posted timestamptz, edited timestamptz, clock timestamp);
CREATE FUNCTION protect(dataset text, options jsonb DEFAULT '{}', relation text DEFAULT 't') RETURNS void LANGUAGE sql AS $$
	SELECT dp_protect(relation::regclass, 'who', 10, 0, dataset => dataset, options => options) $$;
\set daily '{"renews": "1 day", "time_col": "posted"}'
\set edited '{"renews": "1 day", "time_col": "edited"}'

-- one that renews follows one that renews: each call counts in the period that it read
SELECT protect('ca1', :'daily');
SELECT ledger_charge_in('t', '{0,4,0}', '2020-01-01'), ledger_charge_in('t', '{0,3,0}', '2020-01-02');
SELECT dp_unprotect('ca1');
SELECT protect('ca2', :'daily');
SELECT days('ca2', 't');
SELECT ledger_charge_in('t', '{0,5.5,0}', '2020-01-01');
-- the log's acts say so; the calls stay in the log of the dataset that made them
SELECT mechanism, parameters->'carried_from' AS carried_from, jsonb_array_length(parameters->'carried_by_period') AS by_period,
	eps_pure, period_from FROM dpngram.releases WHERE dataset = 'ca2' ORDER BY id;
SELECT eps_pure_spent FROM dpngram.dataset WHERE name = 'ca2';
-- a third counts both, and one with other periods whatever shares rows
SELECT dp_unprotect('ca2');
SELECT protect('ca3', :'daily');
SELECT days('ca3', 't');
SELECT dp_unprotect('ca3');
SELECT protect('ca3 months', '{"renews": "1 month", "time_col": "posted"}');
SELECT holds('ca3 months', '2020-01-15'), holds('ca3 months', '2020-02-15');
SELECT dp_unprotect('ca3 months');
SELECT protect('ca3 rolling', '{"renews": "1 day", "window": "rolling", "time_col": "posted"}');
SELECT holds('ca3 rolling', '2020-01-01 00:00Z') AS shares_nothing_yet, holds('ca3 rolling', '2020-01-01 12:00') AS one, holds('ca3 rolling', '2020-01-02 12:00') AS two;
SELECT dp_unprotect('ca3 rolling');
-- one that doesn't renew counts all of them
SELECT protect('ca4');
SELECT holds('ca4') AS nothing;
SELECT left(try($$SELECT ledger_charge('t', '{0,0.5,0}')$$), 5);
SELECT dp_unprotect('ca4');
-- one that renews by another column of time, in another zone, or after the column became another: all, in every period
SELECT protect('ca5', :'edited');
SELECT days('ca5', 't');
SELECT dp_unprotect('ca5');
SELECT protect('ca5 zone', '{"renews": "1 day", "time_col": "posted", "time_zone": "Europe/Paris"}');
SELECT days('ca5 zone', 't');
SELECT dp_unprotect('ca5 zone');
ALTER TABLE t RENAME posted TO sent;
ALTER TABLE t RENAME edited TO posted;
SELECT protect('ca5 swapped', :'daily');
SELECT days('ca5 swapped', 't');
SELECT dp_unprotect('ca5 swapped');
-- but a renamed column is the same
SELECT protect('ca6', '{"renews": "1 day", "time_col": "sent"}');
SELECT days('ca6', 't');
SELECT dp_unprotect('ca6');
-- a changed type is another column: its rows' times may have moved
ALTER TABLE t ALTER sent TYPE timestamp;
SELECT protect('ca7', '{"renews": "1 day", "time_col": "sent"}');
SELECT days('ca7', 't');
SELECT dp_unprotect('ca7');
-- a superuser may have it forgotten
SELECT protect('ca8', '{"renews": "1 day", "time_col": "sent", "carry_forward": false}');
SELECT days('ca8', 't');
SELECT dp_unprotect('ca8');
SELECT * FROM carries;

-- one that renews follows one that doesn't: all of it counts in every period
CREATE TABLE u (who int, what text, posted timestamptz);
SELECT protect('cb1', relation => 'u');
SELECT ledger_charge('u', '{0,2,0}');
SELECT dp_unprotect('cb1');
SELECT protect('cb2', :'daily', 'u');
SELECT mechanism, eps_pure, period_from, period_to FROM dpngram.releases WHERE dataset = 'cb2';
SELECT ledger_charge_in('u', '{0,3,0}', '2020-01-01');
SELECT days('cb2', 'u');
-- and so it does for the next
SELECT dp_unprotect('cb2');
SELECT protect('cb3', :'daily', 'u');
SELECT days('cb3', 'u');
-- through one that doesn't renew the calls of the first are still known by period
SELECT dp_unprotect('cb3');
SELECT protect('cb4', relation => 'u');
SELECT holds('cb4') AS "10 - 2 - 3";
SELECT ledger_charge('u', '{0,0.5,0}');
SELECT dp_unprotect('cb4');
SELECT protect('cb5', :'daily', 'u');
SELECT days('cb5', 'u') AS "less 2.5, and 3 on the first";

-- a partition of a table that had periods, and a table whose partition had
CREATE TABLE parts (who int, what text, posted timestamptz) PARTITION BY RANGE (posted);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM ('2020-01-01') TO ('2020-01-02');
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM ('2020-01-02') TO ('2020-01-03');
SELECT protect('cc1', :'daily', 'parts');
SELECT ledger_charge_in('parts', '{0,4,0}', '2020-01-01');
SELECT dp_unprotect('cc1');
SELECT protect('cc2', :'daily', 'parts_1'), protect('cc3', :'daily', 'parts_2');
SELECT days('cc2', 'parts_1'), days('cc3', 'parts_2');
SELECT ledger_charge_in('parts_1', '{0,2,0}', '2020-01-01'), ledger_charge_in('parts_2', '{0,1,0}', '2020-01-02');
SELECT dp_unprotect('cc2'), dp_unprotect('cc3');
ALTER TABLE parts RENAME posted TO sent;
SELECT protect('cc4', '{"renews": "1 day", "time_col": "sent"}', 'parts');
SELECT days('cc4', 'parts');
SELECT dp_unprotect('cc4');

-- dp_attach: what the relation lost comes to each period, and must fit in each
CREATE TABLE one (who int, what text, posted timestamptz);
CREATE TABLE two (who int, what text, sent timestamptz, posted timestamptz);
CREATE TABLE three (who int, what text, posted timestamptz);
SELECT protect('cd1', :'daily', 'one'), protect('cd2', '{"renews": "1 day", "time_col": "sent"}', 'two');
SELECT ledger_charge_in('one', '{0,6,0}', '2020-01-01'), ledger_charge_in('one', '{0,3,0}', '2020-01-02');
SELECT ledger_charge_in('two', '{0,3,0}', '2020-01-01'), ledger_charge_in('two', '{0,7,0}', '2020-01-02');
SELECT try($$SELECT dp_attach('cd1', 'two', 'who', options => '{"time_col": "sent"}')$$);
SELECT dp_unprotect('cd2');
SELECT dp_attach('cd1', 'two', 'who', options => '{"time_col": "sent"}');
SELECT days('cd1', 'one'), days('cd1', 'two');
-- one period more and it does not
SELECT protect('cd3', :'daily', 'three');
SELECT ledger_charge_in('three', '{0,0.5,0}', '2020-01-02');
SELECT dp_unprotect('cd3');
SELECT try($$SELECT dp_attach('cd1', 'three', 'who', options => '{"time_col": "posted"}')$$);
SELECT count(*) FROM dpngram.releases WHERE dataset = 'cd1' AND mechanism = 'dp_attach';
SELECT dp_set_budget('cd1', 10.5, 0);
SELECT dp_attach('cd1', 'three', 'who', options => '{"time_col": "posted"}');
SELECT days('cd1', 'three');
-- taken out and put back: the same column of time, or none
SELECT dp_detach('cd1', 'two');
SELECT days('cd1', 'one');
SELECT try($$SELECT dp_attach('cd1', 'two', 'who', options => '{"time_col": "posted"}')$$);
SELECT dp_attach('cd1', 'two', 'who', options => '{"time_col": "sent"}');
SELECT days('cd1', 'two');
-- one that has no periods brings all it lost to every period
CREATE TABLE four (who int, what text, posted timestamptz);
SELECT protect('cd4', relation => 'four');
SELECT ledger_charge('four', '{0,1,0}');
SELECT dp_unprotect('cd4');
SELECT try($$SELECT dp_attach('cd1', 'four', 'who', options => '{"time_col": "posted"}')$$);
SELECT dp_set_budget('cd1', 12, 0);
SELECT dp_attach('cd1', 'four', 'who', options => '{"time_col": "posted"}');
SELECT days('cd1', 'four');
SELECT mechanism, eps_pure, period_from, period_to FROM dpngram.releases WHERE dataset = 'cd1' AND mechanism = 'dp_attach' ORDER BY id;

-- a dataset that goes on spending after a relation left it: what it spends then is carried
-- when another of its relations comes, by period or as a sum
SELECT dp_detach('cd1', 'three');
SELECT dp_protect('three', 'who', 20, 0, dataset => 'ce1', options => :'daily');
SELECT days('ce1', 'three') AS all_of_cd1, holds('cd1', '2020-01-03');
SELECT ledger_charge_in('one', '{0,5,0}', '2020-01-03');
SELECT days('ce1', 'three') AS not_what_came_later;
SELECT dp_detach('cd1', 'two');
SELECT dp_attach('ce1', 'two', 'who', options => '{"time_col": "sent"}');
SELECT days('ce1', 'three') AS all_again;
SELECT dataset, source, by_period FROM (SELECT d.name AS dataset, s.name AS source, c.by_period
	FROM dpngram.carried c JOIN dpngram.dataset d ON d.id = c.dataset JOIN dpngram.dataset s ON s.id = c.source) c WHERE dataset = 'ce1' ORDER BY source;
CREATE TABLE five (who int);
CREATE TABLE six (who int);
CREATE TABLE seven (who int);
SELECT protect('cf1', relation => 'five'), protect('cf2', relation => 'seven');
SELECT dp_attach('cf1', 'six', 'who');
SELECT ledger_charge('six', '{0,1,0}');
SELECT dp_detach('cf1', 'five');
SELECT dp_attach('cf2', 'five', 'who');
SELECT holds('cf2') AS "9";
SELECT ledger_charge('six', '{0,2,0}');
CREATE TABLE eight (who int);
SELECT dp_attach('cf1', 'eight', 'who');
SELECT dp_detach('cf1', 'six');
SELECT dp_attach('cf2', 'six', 'who');
SELECT holds('cf2') AS "7";
-- what was counted by period becomes a sum when a relation comes by another column of time
CREATE TABLE nine (who int, posted timestamptz, edited timestamptz);
CREATE TABLE ten (who int, posted timestamptz, edited timestamptz);
SELECT protect('cg1', :'daily', 'nine');
SELECT dp_attach('cg1', 'ten', 'who', options => '{"time_col": "posted"}');
SELECT ledger_charge_in('nine', '{0,3,0}', '2020-01-01'), ledger_charge_in('ten', '{0,2,0}', '2020-01-02');
SELECT dp_detach('cg1', 'nine');
SELECT protect('cg2', :'daily', 'nine');
SELECT days('cg2', 'nine');
CREATE TABLE eleven (who int, posted timestamptz);
SELECT dp_attach('cg1', 'eleven', 'who', options => '{"time_col": "posted"}');
SELECT dp_detach('cg1', 'ten');
SELECT dp_attach('cg2', 'ten', 'who', options => '{"time_col": "edited"}');
SELECT days('cg2', 'nine');
SELECT * FROM carries WHERE dataset = 'cg2';

-- the history that makes up what is spent has each call once
SELECT d.name, (SELECT coalesce(sum(h.eps_pure), 0) FROM dpngram.history(d.id) h) AS history,
	(SELECT coalesce(sum(h.eps_pure), 0) FROM dpngram.history(d.id) h) - d.eps_pure_spent AS counted_by_period
  FROM dpngram.dataset d WHERE d.name LIKE 'c__' AND d.ended IS NULL ORDER BY d.name;

-- options of dp_attach
SELECT args, try(format('SELECT dp_attach(%s)', args)) FROM (VALUES
	($$'ce1', 'eight', 'who'$$),
	($$'cf2', 'parts', 'who', options => '{"time_col": "sent"}'$$),
	($$'ce1', 'parts', 'who'$$),
	($$'ce1', 'parts', 'who', options => '{"time_col": "posted"}'$$),
	($$'ce1', 'parts', 'who', options => '{"time_col": "what"}'$$),
	($$'ce1', 'parts', 'who', options => '{"time_col": "ctid"}'$$),
	($$'ce1', 'parts', 'who', options => '{"time_col": 1}'$$),
	($$'ce1', 'parts', 'who', options => '{"time_col": null}'$$),
	($$'ce1', 'parts', 'who', options => '{"time_col": "sent", "time_zone": "UTC"}'$$),
	($$'ce1', 'parts', 'who', options => '{"renews": "1 day"}'$$),
	($$'ce1', 'parts', 'who', options => '"time_col"'$$),
	($$'ce1', 'parts', 'who', options => NULL$$)) v(args);

-- no log was left in disorder
SELECT d.name, b.* FROM dpngram.dataset d, dpngram.broken_chain(d.id) b WHERE d.name LIKE 'c%';
RESET search_path;
SET client_min_messages = warning;
DROP VIEW carries;
DROP FUNCTION try, holds, days;
DROP SCHEMA ca CASCADE;
DROP ROLE regress_ca_owner;
