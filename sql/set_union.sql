-- dp_set_union: its methods, their options, and what they are debited
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
SET client_min_messages = warning;
CREATE SCHEMA su;
-- 600 users who share three values, and each of whom has two of their own
CREATE TABLE su.shared AS
SELECT u, v FROM generate_series(1, 600) u, LATERAL unnest(ARRAY['red', 'green', 'blue', 'own ' || u, 'other ' || u]) v;
INSERT INTO su.shared VALUES (NULL, 'red'), (1, NULL), (NULL, NULL), (2, 'red');
CREATE TABLE su.one AS SELECT u, CASE WHEN u % 3 = 0 THEN 'own ' || u ELSE (ARRAY['red', 'green'])[u % 3] END AS v FROM generate_series(1, 900) u;
CREATE TABLE su.alone AS SELECT 1 AS u, 'v' || i AS v FROM generate_series(1, 50) i;
CREATE TABLE su.nobody (u int, v text);
CREATE TABLE su.nulls AS SELECT u, NULL::text AS v FROM generate_series(1, 20) u;
CREATE VIEW su.methods AS
SELECT m, CASE m WHEN 'single' THEN 1 ELSE 5 END AS bound
FROM unnest('{cumulative,sips,weighted_gaussian,policy_gaussian,policy_laplace,weighted_laplace,single}'::text[]) m;
SELECT dp_protect(('su.' || t)::regclass, 'u', 1000, 0.5, pure_share => 0.5)
FROM unnest('{shared,one,alone,nobody,nulls}'::text[]) t;

-- what all share is found, what one alone has is not (seeded: a policy's sums are a few deviations above the threshold)
SET client_min_messages = error;
SET dpngram.test_seed = 1;
SELECT m, (SELECT string_agg(item, ', ' ORDER BY item COLLATE "C") FROM dp_set_union('su.shared', 'u', 'v', 4, 1e-6, max_contributions => bound, method => m)) AS items
FROM su.methods WHERE m <> 'single';
SELECT m, (SELECT string_agg(item, ', ' ORDER BY item COLLATE "C") FROM dp_set_union('su.one', 'u', 'v', 4, 1e-6, max_contributions => 1, method => m)) AS items
FROM su.methods;
RESET dpngram.test_seed;
SET client_min_messages = warning;
-- a relation of one user, of nobody, of nulls alone
SELECT m, t, (SELECT count(*) FROM dp_set_union(('su.' || t)::regclass, 'u', 'v', 1, 1e-9, max_contributions => bound, method => m)) AS items
FROM su.methods, unnest('{alone,nobody,nulls}'::text[]) t ORDER BY t, m;
-- the default
SELECT count(*) FROM dp_set_union('su.shared', 'u', 'v', 1, 1e-6);
SELECT parameters, used FROM dpngram.releases ORDER BY id DESC LIMIT 1;

-- Weights: the estimate is right, its noise as told, all on the lattice; policies' sums stop at Gamma, and method single has none.
CREATE TABLE su.weights AS
SELECT m, w.* FROM su.methods, LATERAL dp_set_union('su.shared', 'u', 'v', 4, 1e-6, max_contributions => 3, method => m) w WHERE m IN ('sips', 'weighted_gaussian', 'weighted_laplace')
UNION ALL SELECT 'cumulative', w.* FROM dp_set_union('su.shared', 'u', 'v', 4, 1e-6, max_contributions => 3) w
UNION ALL SELECT 'policy', w.* FROM unnest('{policy_gaussian,policy_laplace}'::text[]) m, LATERAL dp_set_union('su.one', 'u', 'v', 4, 1e-6, max_contributions => 3, method => m) w
UNION ALL SELECT 'single', w.* FROM dp_set_union('su.one', 'u', 'v', 4, 1e-6, max_contributions => 1, method => 'single') w;
SELECT m, bool_and(stddev > 0) AS noise, bool_and(abs(weight) < 600) AS bounded FROM su.weights GROUP BY m ORDER BY m;
SELECT m, bool_and(weight * 1048576 = trunc(weight * 1048576)) AS on_lattice FROM su.weights WHERE m <> 'cumulative' GROUP BY m ORDER BY m;
-- one item each: the weight is the number of users
SELECT m, count(*), bool_and(abs(weight - 300) < 12 * stddev) AS right
FROM unnest('{cumulative,sips,weighted_gaussian,weighted_laplace}'::text[]) m, LATERAL dp_set_union('su.one', 'u', 'v', 4, 1e-6, max_contributions => 1, method => m)
GROUP BY m ORDER BY m;
-- a policy adds nothing beyond Gamma
SELECT m, bool_and(weight < 100) AS cut
FROM unnest('{policy_gaussian,policy_laplace}'::text[]) m, LATERAL dp_set_union('su.one', 'u', 'v', 4, 1e-6, max_contributions => 1, method => m, options => '{"alpha": 10}')
GROUP BY m ORDER BY m;


-- Seeded: the same rows in any order of the table, with any work_mem; other noise in every round.
CREATE TABLE su.many AS SELECT u, 'w' || (u * i % 211) AS v FROM generate_series(1, 2000) u, generate_series(1, 20) i;
CREATE FUNCTION su.rows(m text) RETURNS text LANGUAGE sql AS $$
	SELECT md5(string_agg(w::text, '|' ORDER BY item COLLATE "C")) FROM dp_set_union('su.many', 'u', 'v', 4, 1e-6, max_contributions => 12, method => m) w
$$;
SELECT dp_protect('su.many', 'u', 1000, 0.5, pure_share => 0.5);
SET dpngram.test_seed = 5;
SET client_min_messages = error;
CREATE TABLE su.first AS SELECT m, su.rows(m) AS r FROM su.methods WHERE m <> 'single';
CREATE TABLE su.shuffled AS SELECT * FROM su.many ORDER BY md5(u || v);
TRUNCATE su.many;
INSERT INTO su.many SELECT * FROM su.shuffled;
SET work_mem = 64;
SET hash_mem_multiplier = 1;
SELECT m, r IS NOT NULL AS rows, su.rows(m) = r AS same FROM su.first ORDER BY m;
SET client_min_messages = warning;
RESET work_mem;
RESET hash_mem_multiplier;
RESET dpngram.test_seed;

-- The price told is the price debited, in each accounting; with Gaussian noise
-- a call for all of a fresh dataset fits.
CREATE TABLE su.compared (accounting text, m text, whole bool, told text, debited text);
CREATE PROCEDURE su.compare(of_accounting text, call record, whole bool) LANGUAGE plpgsql AS $$
DECLARE
	eps float8 := CASE WHEN whole THEN 8 ELSE 1 END;
	del float8 := CASE WHEN whole THEN 1e-5 ELSE 1e-6 END;
	terms jsonb := jsonb_build_object('method', call.m, 'max_contributions', call.bound);
	expected text;
BEGIN
	CREATE TABLE su.priced AS SELECT 1 AS u, 'x'::text AS v;
	PERFORM dp_protect('su.priced', 'u', 8, 1e-5, accounting => of_accounting,
		pure_share => CASE WHEN of_accounting = 'gdp' AND NOT whole THEN 0.5 ELSE 0.001 END);
	COMMIT;
	SELECT string_agg(lane || ' ' || amount, ', ' ORDER BY lane) INTO expected
		FROM dp_price('dp_set_union', eps, del, terms || '{"dataset": "su.priced"}');
	PERFORM FROM dp_set_union('su.priced', 'u', 'v', eps, del, max_contributions => call.bound, method => call.m);
	INSERT INTO su.compared SELECT of_accounting, call.m, whole, expected, string_agg(lane || ' ' || spent, ', ' ORDER BY lane)
		FROM dp_remaining('su.priced');
	PERFORM dp_unprotect('su.priced');
	DROP TABLE su.priced;
	COMMIT;
END $$;
DO $$
DECLARE
	accounting text; call record;
BEGIN
	FOREACH accounting IN ARRAY '{gdp,zcdp,basic}'::text[] LOOP
		FOR call IN SELECT * FROM su.methods LOOP
			CALL su.compare(accounting, call, false);
			IF call.m LIKE '%gaussian' OR call.m IN ('cumulative', 'sips') THEN
				CALL su.compare(accounting, call, true);
			END IF;
		END LOOP;
	END LOOP;
END $$;
SELECT accounting, whole, count(*), bool_and(told = debited) AS as_told FROM su.compared GROUP BY accounting, whole ORDER BY accounting, whole;
-- with next to nothing in the pure lane: as Gaussian
SELECT m, (SELECT string_agg(lane, ', ' ORDER BY lane) FROM dp_price('dp_set_union', 0.1, 1e-7, jsonb_build_object('method', m, 'max_contributions', bound)) WHERE amount > 0) AS lanes
FROM su.methods ORDER BY m;
CREATE TABLE su.whole AS SELECT 1 AS u, 'x'::text AS v;
SELECT dp_protect('su.whole', 'u', 3, 1e-6);
SELECT m, amount.* FROM su.methods, LATERAL (SELECT string_agg(lane, ', ' ORDER BY lane) AS lanes FROM dp_price('dp_set_union', 0.05, 1e-7, jsonb_build_object('dataset', 'su.whole', 'method', m, 'max_contributions', bound)) WHERE amount > 0) amount ORDER BY m;
SELECT dp_unprotect('su.whole');

-- bad arguments: a clear error for each, and nothing charged
CREATE FUNCTION su.call(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	state text; message text; detail text; hint text;
BEGIN
	EXECUTE 'SELECT count(*) FROM dp_set_union(''su.shared'', ''u'', ''v'', ' || arguments || ')';
	RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', state, message, nullif(detail, ''), nullif(hint, ''));
END $$;
CREATE TABLE su.before AS SELECT count(*) FROM dpngram.releases;
SELECT arguments, su.call(arguments) FROM unnest(ARRAY[
	$$1, 1e-6, method => 'greedy'$$,
	$$1, 1e-6, method => 'Cumulative'$$,
	$$1, 1e-6, method => ''$$,
	$$1, 1e-6, method => 'single'$$,
	$$1, 1e-6, 2, 'single'$$,
	$$1, 1e-6, 0$$,
	$$1, 1e-6, 1048577$$,
	$$1, 1e-6, NULL$$,
	$$0, 1e-6$$,
	$$1, 0, method => 'weighted_laplace'$$,
	$$1, 1, method => 'single'$$,
	$$1, 1e-300$$,
	$$1, 1e-300, method => 'policy_gaussian'$$,
	$$1, 1e-300, method => 'policy_laplace'$$,
	$$1, 1e-20, 1, 'single'$$,
	$$1e-12, 1e-12, method => 'policy_gaussian'$$,
	$$1e-15, 1e-6, method => 'weighted_laplace'$$,
	$$1, 1e-6, options => '{"alpha": 3}'$$,
	$$1, 1e-6, method => 'policy_gaussian', options => '{"alpha": 0}'$$,
	$$1, 1e-6, method => 'policy_laplace', options => '{"alpha": 11}'$$,
	$$1, 1e-6, method => 'policy_laplace', options => '{"alpha": "many"}'$$,
	$$1, 1e-6, method => 'weighted_laplace', options => '{"threshold_share": 0.5}'$$,
	$$1, 1e-6, options => '{"threshold_share": 1}'$$,
	$$1, 1e-6, options => '{"rounds": 3}'$$]) arguments;
SELECT count(*) - (SELECT count FROM su.before) AS charged FROM dpngram.releases;
-- epsilon beyond all reason, either way
SELECT m, count(DISTINCT epsilon) AS priced FROM su.methods, unnest('{1e-4,1e-2,1e3,1e6}'::float8[]) epsilon,
	LATERAL dp_price('dp_set_union', epsilon, 1e-6, jsonb_build_object('method', m, 'max_contributions', bound))
GROUP BY m ORDER BY m;

SELECT count(dp_unprotect('su.' || t)) FROM unnest('{shared,one,alone,nobody,nulls,many}'::text[]) t;
DROP SCHEMA su CASCADE;
