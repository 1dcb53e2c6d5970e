-- The same history by our three accountings and by a library that shares no code with
-- them: Google's dp_accounting 0.4.4, whose values test/golden/accounting.py has made.
CREATE TABLE golden (history text, place int GENERATED ALWAYS AS IDENTITY, kind text, amount float8, count int, epsilon float8, delta float8);
INSERT INTO golden (history, kind, amount, count, epsilon, delta) VALUES
	-- 12 Gaussian releases of (0.5, 1e-8)
	('twelve', 'gaussian', 0.01027862273457003, 12, 6, 12e-8),
	-- Gaussian noise of many sizes, thresholds, and the lattice's slack
	('gaussian', 'gaussian', 0.01, 20, 10, 2e-7), ('gaussian', 'gaussian', 0.0625, 8, 9, 8e-8), ('gaussian', 'gaussian', 0.25, 2, 5, 2e-8),
	('gaussian', 'gaussian', 1, 1, 5.5, 1e-8), ('gaussian', 'delta', 1e-8, 31, 0, 31e-8), ('gaussian', 'lattice', 1e-9, 31, 1e-6, 0),
	-- both kinds of noise
	('mixed', 'gaussian', 0.25, 1, 2.5, 1e-7), ('mixed', 'laplace', 0.1, 10, 1, 0), ('mixed', 'delta', 1e-7, 1, 0, 1e-7),
	('many', 'gaussian', 0.25, 1, 2.5, 1e-7), ('many', 'laplace', 0.05, 30, 1.5, 0),
	('laplace', 'laplace', 0.2, 20, 4, 0),
	-- what is known to be pure and no more; selections
	('pure', 'gaussian', 0.25, 1, 2.5, 1e-7), ('pure', 'pure', 0.05, 30, 1.5, 0),
	('selection', 'gaussian', 0.25, 1, 2.5, 1e-7), ('selection', 'exponential', 0.05, 30, 1.5, 0),
	('selections', 'exponential', 0.5, 40, 20, 0);

-- a dataset a history; of the last one the beginning is carried forward from a former dataset
CREATE FUNCTION charge_golden(which text, first int, last int) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(ledger_charge_event(('golden_' || g.history)::regclass, g.kind, g.amount, g.count, g.epsilon, g.delta))
	FROM (SELECT *, row_number() OVER (ORDER BY place) AS n FROM golden WHERE history = which) g WHERE n BETWEEN first AND last $$;
SELECT format('CREATE TABLE golden_%s (who int, what text)', history) FROM golden GROUP BY history \gexec
SELECT count(dp_protect(('golden_' || history)::regclass, 'who', 1000, CASE history WHEN 'twelve' THEN 1e-7 ELSE 1e-6 END,
	pure_share => 0.05, delta_share => 0.5, dataset => ('golden_' || history)::name, options => '{"min_epsilon": 0}')) FROM (SELECT DISTINCT history FROM golden) h;
SELECT history, charge_golden(history, 1, CASE history WHEN 'gaussian' THEN 3 ELSE 100 END) AS charged FROM golden GROUP BY history ORDER BY history;
SELECT dp_unprotect('golden_gaussian');
SELECT dp_protect('golden_gaussian', 'who', 1000, 1e-6, pure_share => 0.05, delta_share => 0.5, options => '{"min_epsilon": 0}');
SELECT charge_golden('gaussian', 4, 100) AS charged;

-- the export: what the golden values were made from, to the last digit
CREATE FUNCTION without_times(document jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_set(document - 'dataset', '{events}', jsonb_agg(e - 'at' - 'release' ORDER BY (e->'release')::bigint))
	FROM jsonb_array_elements(document->'events') e $$;
SELECT jsonb_object_agg(history, without_times(dp_export_events(('golden_' || history)::name))) AS history
FROM (SELECT DISTINCT history FROM golden) h \gset
\set golden `cat "$LEDGER_TEST_HISTORY"`
SELECT key, value = :'history'::jsonb->key AS same FROM jsonb_each(:'golden'::jsonb) ORDER BY key;

-- low and high are bounds of the exact epsilon; rdp is the one by Renyi divergences, where the library has it
CREATE TABLE golden_values (history text, low float8, high float8, rdp float8);
INSERT INTO golden_values VALUES
	('many', 2.59103, 2.59105, '2.77618'),
	('pure', 2.59607, 2.59638, 'nan'),
	('mixed', 2.67670, 2.67672, '2.85950'),
	('twelve', 1.70043, 1.70044, '1.81161'),
	('laplace', 3.67091, 3.67093, '3.77690'),
	('gaussian', 7.81788, 7.81789, '8.31898'),
	('selection', 2.34463, 2.34494, 'nan'),
	('selections', 7.75472, 7.75513, 'nan');
CREATE VIEW golden_ours AS
SELECT v.*, b.epsilon_by_gdp AS gdp, b.epsilon_by_zcdp AS zcdp, b.epsilon_by_basic AS basic
FROM golden_values v JOIN dpngram.budget b ON b.dataset = 'golden_' || v.history;
SELECT history, low, high, rdp, round(gdp::numeric, 4) AS gdp, round(zcdp::numeric, 4) AS zcdp, round(basic::numeric, 4) AS basic
FROM golden_ours WHERE basic < 'Infinity' UNION ALL
SELECT history, low, high, rdp, round(gdp::numeric, 4), round(zcdp::numeric, 4), NULL FROM golden_ours WHERE basic = 'Infinity'
ORDER BY history;
-- none is less than the truth; of Gaussian noise gdp is the truth, and zcdp what Renyi orders between grid points would find
SELECT bool_and(gdp >= low) AS gdp, bool_and(zcdp >= low) AS zcdp, bool_and(basic >= low) AS basic,
	bool_and(gdp <= high) FILTER (WHERE history IN ('twelve', 'gaussian')) AS gdp_is_exact,
	bool_and(zcdp BETWEEN rdp - 1e-3 AND rdp) FILTER (WHERE history IN ('twelve', 'gaussian')) AS zcdp_is_renyi
FROM golden_ours;
-- the history is what was spent, to the last digit, carried forward or not
SELECT bool_and(d.mu2_spent = h.mu2 AND d.eps_pure_spent = h.eps_pure AND d.delta_add_spent = h.delta_add AND d.rho_spent = h.rho
	AND d.rho_delta_spent = h.rho_delta AND d.basic_epsilon_spent = h.basic_epsilon AND d.basic_delta_spent = h.basic_delta) AS whole
FROM dpngram.dataset d CROSS JOIN LATERAL (SELECT sum(mu2) AS mu2, sum(eps_pure) AS eps_pure, sum(delta_add) AS delta_add, sum(rho) AS rho,
	sum(rho_delta) AS rho_delta, sum(basic_epsilon) AS basic_epsilon, sum(basic_delta) AS basic_delta FROM dpngram.history(d.id)) h
WHERE d.name LIKE 'golden_%' AND d.ended IS NULL;
-- what a superuser had forgotten is not in it, nor what a former dataset spends afterwards
CREATE TABLE golden_second (who int, what text);
SELECT dp_unprotect('golden_gaussian');
SELECT dp_protect('golden_gaussian', 'who', 1000, 1e-6, options => '{"carry_forward": false, "min_epsilon": 0}');
SELECT dp_attach('golden_gaussian', 'golden_second', 'who');
SELECT ledger_charge_event('golden_gaussian', 'pure', 0.25) > 0 AS charged;
SELECT dp_detach('golden_gaussian', 'golden_second');
SELECT dp_protect('golden_second', 'who', 1000, 1e-6, options => '{"min_epsilon": 0}');
SELECT ledger_charge_event('golden_gaussian', 'pure', 0.5) > 0 AND ledger_charge_event('golden_second', 'laplace', 0.125, 2) > 0
	AND ledger_charge_event('golden_second', 'exponential', 0, 2) > 0 AND ledger_charge_event('golden_second', 'gaussian', 5e-324) > 0 AS charged;
SELECT d.dataset, e->'carried_from' AS carried_from, e->'events' AS events
FROM unnest('{golden_gaussian,golden_second}'::name[]) d (dataset), jsonb_array_elements(dp_export_events(dataset)->'events') e
ORDER BY 1, e->'release';

SELECT count(dp_unprotect(dataset::name)) FROM dpngram.budget WHERE dataset LIKE 'golden_%';
SET client_min_messages = warning;
DROP TABLE golden, golden_values, golden_second CASCADE;
SELECT format('DROP TABLE golden_%s', history) FROM unnest('{many,pure,mixed,twelve,laplace,gaussian,selection,selections}'::text[]) history \gexec
DROP FUNCTION charge_golden, without_times;
