-- Looking: the chart of a budget, and the rows that it is made of, for those who may see them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
RESET client_min_messages;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
CREATE ROLE regress_look_owner;
CREATE ROLE regress_look_ana;
CREATE ROLE "regress_look
bob";
CREATE ROLE regress_look_eve;
CREATE ROLE regress_look_stats;
GRANT pg_read_all_stats TO regress_look_stats;
CREATE SCHEMA look AUTHORIZATION regress_look_owner;
GRANT USAGE ON SCHEMA look TO PUBLIC;

-- the chart, without what depends on the clock: calls are of this hour, or the last as well
CREATE FUNCTION chart(of name) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT report FROM dp_budget_report(of) WHERE report !~ '^(20\d\d-|of the period)' $$;
CREATE FUNCTION calls_by_hour(of name) RETURNS bigint LANGUAGE sql AS $$
	SELECT sum(substring(report FROM '^20\d\d-\d\d-\d\d \d\d:00 +(\d+) +[0-9.]+ % +\|#+\.+\|$')::integer)
	  FROM dp_budget_report(of) $$;

SET ROLE regress_look_owner;
CREATE TABLE look.texts (who int, day timestamptz, what text);
INSERT INTO look.texts SELECT i, '2026-05-01', 'one two' FROM generate_series(1, 3) i;
CREATE TABLE look.plain AS TABLE look.texts;
CREATE TABLE look.sums AS TABLE look.texts;
CREATE TABLE look.days AS TABLE look.texts;
SELECT dp_protect('look.texts', 'who', 4, 1e-6, 'look gdp');
SELECT dp_protect('look.plain', 'who', 4, 1e-6, 'look zcdp', 'zcdp');
SELECT dp_protect('look.sums', 'who', 4, 1e-6, 'look basic', 'basic');
SELECT dp_protect('look.days', 'who', 1, 1e-6, 'look days', options => '{"renews": "1 day", "time_col": "day"}');
SELECT dp_grant(d, r) FROM unnest('{look gdp,look zcdp,look basic,look days}'::name[]) d,
	unnest(ARRAY['regress_look_ana', E'regress_look\nbob']) r;

-- nothing spent yet
SELECT * FROM dp_budget_report('look gdp');
SELECT * FROM dp_budget_report('look basic');

-- calls of two roles and of the owner, failed ones as well
SELECT count(*) FROM dp_ngrams('look.texts', 'who', 'what', 0.5, 1e-8, max_length => 1);
SET ROLE regress_look_ana;
SELECT count(*) FROM dp_ngrams('look.texts', 'who', 'what', 1, 1e-7, max_length => 1);
SELECT count(*) FROM dp_ngrams('look.texts', 'who', 'what', 1, 1e-7, max_length => 1);
SELECT count(*) FROM dp_ngrams('look.plain', 'who', 'what', 1, 1e-7, max_length => 1);
SELECT count(*) FROM dp_set_union('look.sums', 'who', 'what', 1, 1e-7, method => 'weighted_laplace');
SET ROLE "regress_look
bob";
SELECT count(*) FROM dp_ngrams('look.plain', 'who', 'what', 0.5, 1e-7, max_length => 1);
SET ROLE regress_look_owner;
SELECT chart('look gdp');
SELECT chart('look zcdp');
SELECT chart('look basic');
SELECT calls_by_hour('look gdp'), calls_by_hour('look zcdp'), calls_by_hour('look basic');

-- a role sees itself, and all others as one; a stranger nothing; a monitor all
SET ROLE regress_look_ana;
SELECT chart('look gdp');
SELECT dataset, caller_role, mechanism FROM dpngram.spending ORDER BY release;
SET ROLE "regress_look
bob";
SELECT chart('look gdp');
SET ROLE regress_look_eve;
SELECT * FROM dp_budget_report('look gdp');
SELECT * FROM dp_budget_report('no such dataset');
SELECT * FROM dp_budget_report(NULL);
SELECT count(*) FROM dpngram.spending;
SELECT count(*) FROM dpngram.running;
SET ROLE regress_look_stats;
SELECT chart('look zcdp');

-- a budget that renews: each period has a cap of its own
SET ROLE regress_look_ana;
SELECT count(*) FROM dp_ngrams('look.days', 'who', 'what', 0.5, 1e-7, max_length => 1, options => '{"period": "2026-05-01"}');
SELECT count(*) FROM dp_ngrams('look.days', 'who', 'what', 0.5, 1e-7, max_length => 1, options => '{"period": "2026-05-03"}');
SELECT count(*) FROM dp_ngrams('look.days', 'who', 'what', 0.2, 1e-8, max_length => 1, options => '{"period": "2026-05-03"}');
SELECT chart('look days');
SELECT report FROM dp_budget_report('look days') WHERE report ~ '^20';
SELECT count(*) FROM dp_budget_report('look days')
 WHERE report ~ '^of the period from 20\d\d-\d\d-\d\d 00:00:00\+00 to 20\d\d-\d\d-\d\d 00:00:00\+00$';

-- what is carried from a former dataset counts, by whom it was spent
SET ROLE regress_look_owner;
SELECT dp_unprotect('look gdp');
SELECT * FROM dp_budget_report('look gdp');
SELECT dp_protect('look.texts', 'who', 8, 1e-6, 'look gdp');
SELECT chart('look gdp');
SELECT release IS NOT NULL AS own, caller_role, mechanism, (price->>'mu2')::numeric > 0 AS priced
  FROM dpngram.spending WHERE dataset = 'look gdp' ORDER BY release;

-- the rows add up to the budget, lane by lane
SELECT b.dataset, l.lane, l.amount = (to_jsonb(b)->>(l.lane || '_spent'))::float8 AS adds_up
  FROM dpngram.budget b
 CROSS JOIN LATERAL (
	SELECT p.key AS lane, sum(p.value::numeric)::float8 AS amount
	  FROM dpngram.spending s CROSS JOIN LATERAL jsonb_each_text(s.price) p
	 WHERE s.dataset = b.dataset GROUP BY p.key) l
 WHERE b.grantee IS NULL AND b.period_from IS NULL AND b.dataset LIKE 'look %'
 ORDER BY 1, 2;

-- a sum that is carried counts in each period, and has none
SET ROLE regress_look_owner;
SELECT dp_unprotect('look zcdp');
SELECT dp_protect('look.plain', 'who', 4, 1e-6, 'look each', 'zcdp', options => '{"renews": "1 day", "time_col": "day"}');
SELECT chart('look each');
SELECT count(*), count(period_from) FROM dpngram.spending WHERE dataset = 'look each';

-- who called on another's dataset is not shown to whom a relation of it was given
CREATE TABLE look.given AS TABLE look.texts;
SELECT dp_attach('look gdp', 'look.given', 'who');
SELECT dp_detach('look gdp', 'look.given');
RESET ROLE;
ALTER TABLE look.given OWNER TO regress_look_eve;
SET ROLE regress_look_eve;
SELECT dp_protect('look.given', 'who', 8, 1e-6, 'look given');
SELECT chart('look given');
SELECT count(*) FROM dpngram.spending;
-- nor told to an accountant of theirs, who gets what was spent; to one of the former owner's it is
SELECT count(*) > 0 AS events, bool_and(e ? 'events') AS spent, bool_or(e ?| '{release,at,mechanism}') AS told,
	jsonb_agg(DISTINCT e -> 'carried_from') AS carried_from
  FROM jsonb_array_elements(dp_export_events('look given') -> 'events') e;
SET ROLE regress_look_stats;
SELECT jsonb_agg(DISTINCT e -> 'carried_from') FROM jsonb_array_elements(dp_export_events('look given') -> 'events') e;
SET ROLE regress_look_owner;
SELECT bool_and(e ?& '{release,at,mechanism}') AS told, jsonb_agg(DISTINCT e -> 'carried_from') AS carried_from
  FROM jsonb_array_elements(dp_export_events('look gdp') -> 'events') e;
SET ROLE regress_look_eve;
SELECT dp_unprotect('look given');

-- the chart's numbers and lines are its own, whatever the budget, the names and the settings
RESET ROLE;
ALTER TABLE look.given OWNER TO regress_look_owner;
SET ROLE regress_look_owner;
SET extra_float_digits = -15;
SELECT dp_protect('look.given', 'who', 1e308, 1e-6, E'look %s\n lane 99 %', 'basic');
SELECT chart(E'look %s\n lane 99 %');
SELECT dp_unprotect(E'look %s\n lane 99 %');
SELECT chart('look basic');
RESET extra_float_digits;

SELECT dp_unprotect('look gdp'), dp_unprotect('look each'), dp_unprotect('look basic'), dp_unprotect('look days');
RESET ROLE;
DROP FUNCTION chart(name), calls_by_hour(name);
DROP SCHEMA look CASCADE;
DROP ROLE regress_look_owner, regress_look_ana, "regress_look
bob", regress_look_eve, regress_look_stats;
