-- Planning: a price told beforehand is the price debited, what is left is exact, and
-- as many more calls fit as was foretold.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
RESET client_min_messages;
CREATE ROLE regress_plan_owner;
CREATE ROLE regress_plan_ana;
CREATE ROLE regress_plan_bob;
CREATE ROLE regress_plan_eve;
CREATE ROLE regress_plan_stats;
CREATE ROLE regress_plan_team ROLE regress_plan_bob;
CREATE ROLE regress_plan_lab ROLE regress_plan_bob;
GRANT pg_read_all_stats TO regress_plan_stats;
CREATE SCHEMA plan AUTHORIZATION regress_plan_owner;
GRANT USAGE ON SCHEMA plan TO PUBLIC;

-- the result of one statement, with its SQLSTATE, detail and hint
CREATE FUNCTION try(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'fine';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', SQLSTATE || ' ' || SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;
-- the lanes of a dataset's last release, in its accounting
CREATE FUNCTION last_price(of text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT CASE d.accounting WHEN 'gdp' THEN jsonb_build_object('mu2', r.mu2, 'eps_pure', r.eps_pure, 'delta_add', r.delta_add)
		WHEN 'zcdp' THEN jsonb_build_object('rho', r.rho, 'rho_delta', r.rho_delta)
		ELSE jsonb_build_object('basic_epsilon', r.basic_epsilon, 'basic_delta', r.basic_delta) END
	FROM dpngram.dataset d JOIN dpngram.release r ON r.dataset = d.id
	WHERE d.name = of AND d.ended IS NULL AND r.epsilon IS NOT NULL ORDER BY r.number DESC LIMIT 1 $$;
-- what dp_price says, in the same form
CREATE FUNCTION told(function name, epsilon float8, delta float8, options jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_object_agg(lane, amount) FROM dp_price($1, $2, $3, $4) $$;
-- a call with its arguments from JSON
CREATE FUNCTION call(relation regclass, function text, epsilon float8, delta float8, options jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT FROM %I(%L, ''who'', ''what'', %L, %L%s)', function, relation, epsilon, delta,
		(SELECT string_agg(format(', %I => %L', key, CASE WHEN jsonb_typeof(value) = 'array'
			THEN translate(value::text, '[]', '{}') ELSE value #>> '{}' END), '') FROM jsonb_each(options)));
END $$;

SET ROLE regress_plan_owner;
CREATE TABLE plan.gdp (who int, what text);
INSERT INTO plan.gdp SELECT i, 'one two' FROM generate_series(1, 3) i;
CREATE TABLE plan.zcdp AS TABLE plan.gdp;
CREATE TABLE plan.basic AS TABLE plan.gdp;
SELECT dp_protect('plan.gdp', 'who', 10000, 0.9999, dataset => 'gdp', options => '{"min_epsilon": 0}');
SELECT dp_protect('plan.zcdp', 'who', 10000, 0.9999, dataset => 'zcdp', accounting => 'zcdp', options => '{"min_epsilon": 0}');
SELECT dp_protect('plan.basic', 'who', 10000, 0.9999, dataset => 'basic', accounting => 'basic', options => '{"min_epsilon": 0}');
RESET ROLE;

-- the price told for each set of arguments is that of the call, to the last digit
CREATE TABLE plan.calls (n int GENERATED ALWAYS AS IDENTITY, function text, epsilon float8, delta float8, options jsonb);
INSERT INTO plan.calls (function, epsilon, delta, options) VALUES
	('dp_ngrams', 1, 1e-7, '{}'),
	('dp_ngrams', 4, 1e-6, '{"max_length": 1}'),
	('dp_ngrams', 0.3, 1e-9, '{"max_length": 32, "max_contributions": 7}'),
	('dp_ngrams', 2, 1e-5, '{"method": "dpne", "noise_ratio": 0.7, "max_length": 4, "spurious": 0.2, "pruning": "single"}'),
	('dp_ngrams', 2, 1e-5, '{"method": "dpne", "noise_ratio": 1.6, "max_length": 9, "threshold_share": 0.5}'),
	('dp_ngrams', 2, 1e-5, '{"options": {"schedule": 1.3, "rounds": 3}, "max_length": 7, "pruning": "single"}'),
	('dp_ngrams', 2, 1e-5, '{"options": {"schedule": "adaptive", "rounds": 16}, "max_length": 32, "threshold_share": 0.5}'),
	('dp_ngrams', 2, 1e-5, '{"options": {"schedule": "balanced", "spurious_of": "forecast"}, "max_length": 1}'),
	('dp_ngrams', 2, 1e-5, '{"max_length": 3, "max_contributions_per_length": [3, null, 500]}'),
	('dp_ngrams', 2, 1e-5, '{"max_length": 3, "max_contributions_per_length": [3, 20, 500], "max_tokens": 5, "tokenizer": "whitespace"}'),
	('dp_ngrams', 1.5, 1e-8, '{"method": "dpsu-all", "max_length": 6}'),
	('dp_ngrams', 1.5, 1e-8, '{"method": "dpsu-even", "max_length": 6, "max_contributions": 10}'),
	('dp_ngrams', 1.5, 1e-8, '{"method": "dpsu-single", "length": 2, "threshold_share": 0.03}'),
	('dp_ngrams', 0.1, 0.01, '{"max_contributions": 1048576, "options": {}}'),
	('dp_ngrams', 30, 0.5, '{"max_length": 2}'),
	('dp_set_union', 1, 1e-7, '{}'),
	('dp_set_union', 0.7, 1e-12, '{"max_contributions": 1, "method": "weighted_gaussian"}'),
	('dp_set_union', 5, 1e-4, '{"max_contributions": 3000, "options": {"threshold_share": 0.6}}');
CREATE FUNCTION as_told(accounting text) RETURNS TABLE (calls bigint, beforehand bigint, by_dataset bigint) LANGUAGE plpgsql AS $$
DECLARE
	c record;
	prices jsonb[];
BEGIN
	SELECT 0, 0, 0 INTO calls, beforehand, by_dataset;
	FOR c IN SELECT * FROM plan.calls ORDER BY n LOOP
		prices := ARRAY[told(c.function, c.epsilon, c.delta, c.options || jsonb_build_object('accounting', accounting)),
			told(c.function, c.epsilon, c.delta, c.options || jsonb_build_object('dataset', accounting))];
		PERFORM call(('plan.' || accounting)::regclass, c.function, c.epsilon, c.delta, c.options);
		prices := prices || last_price(accounting);
		IF prices[1] <> prices[3] THEN
			RAISE WARNING 'call %: % told, % debited', c.n, prices[1], prices[3];
		END IF;
		calls := calls + 1;
		beforehand := beforehand + (prices[1] = prices[3])::int;
		by_dataset := by_dataset + (prices[2] = prices[3])::int;
	END LOOP;
	RETURN NEXT;
END $$;
SELECT accounting, told.* FROM unnest('{gdp,zcdp,basic}'::text[]) accounting, as_told(accounting) told;
-- gdp is what is meant by default, and a flat key may be one of the function's own options
SELECT told('dp_ngrams', 1, 1e-7, '{}') = told('dp_ngrams', 1, 1e-7, '{"accounting": "gdp"}') AS default,
	told('dp_set_union', 1, 1e-7, '{"threshold_share": 0.3}') = told('dp_set_union', 1, 1e-7, '{"options": {"threshold_share": 0.3}}')
		AND told('dp_ngrams', 1, 1e-7, '{"rounds": 3}') = told('dp_ngrams', 1, 1e-7, '{"options": {"rounds": 3}}') AS flat,
	told('dp_set_union', 1, 1e-7, '{"threshold_share": 0.3}') = told('dp_set_union', 1, 1e-7, '{}') AS no_matter;
-- what no call would take has no price; what doesn't change it is taken; nobody needs a right
SET ROLE regress_plan_eve;
SELECT function, options, try(format('SELECT FROM dp_price(%L, 1, 1e-7, %L)', function, options)) FROM (VALUES
	('dp_ngrams', '{"relation": "plan.gdp", "user_col": "x", "text_col": "y", "tokenizer": "nonsense"}'),
	('dp_ngrams', '{"max_lenght": 3}'),
	('dp_ngrams', '{"options": {"x": 1}}'),
	('dp_ngrams', '{"options": 1}'),
	('dp_ngrams', '{"options": null}'),
	('dp_ngrams', '{"max_length": 33}'),
	('dp_ngrams', '{"max_length": "x"}'),
	('dp_ngrams', '{"max_length": null}'),
	('dp_ngrams', '{"max_length": [1]}'),
	('dp_ngrams', '{"max_length": {"a": 1}}'),
	('dp_ngrams', '{"max_contributions_per_length": [1, [2]]}'),
	('dp_ngrams', '{"max_contributions_per_length": {"1": 2}}'),
	('dp_ngrams', '{"relation": "plan.nothing"}'),
	('dp_ngrams', '{"epsilon": 2}'),
	('dp_ngrams', '{"method": "dpsu-single"}'),
	('dp_set_union', '{"max_length": 3}'),
	('dp_set_union', '{"threshold_share": 1}'),
	('dp_ngrams', '{"accounting": "rdp"}'),
	('dp_ngrams', '{"accounting": 1}'),
	('dp_ngrams', '{"dataset": "nothing"}'),
	('dp_ngrams', '{"dataset": "gdp", "accounting": "gdp"}'),
	('dp_ngrams', '[]'),
	('dp_protect', '{}')) v (function, options);
SELECT args, try(format('SELECT FROM dp_price(%s)', args)) FROM unnest(ARRAY['NULL, 1, 1e-7', '''dp_ngrams'', NULL, 1e-7',
	'''dp_ngrams'', 1, NULL', '''dp_ngrams'', 1, 1e-7, NULL', '''dp_ngrams'', 0, 1e-7', '''dp_ngrams'', ''NaN'', 1e-7',
	'''dp_ngrams'', 1, 0', '''dp_ngrams'', 1e-12, 1e-12']) args;
RESET ROLE;
-- another function of that name is not ours, and its defaults are never evaluated
CREATE FUNCTION evil() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE EXCEPTION 'called'; END $$;
DO $$
DECLARE
	n int;
BEGIN
	FOREACH n IN ARRAY '{1,30}'::int[] LOOP
		EXECUTE format('CREATE FUNCTION dp_ngrams(epsilon float8, delta float8, %s) RETURNS int LANGUAGE sql AS ''SELECT 1''',
			(SELECT string_agg(format('a%s int DEFAULT evil()', i), ', ') FROM generate_series(1, n) i));
	END LOOP;
END $$;
SELECT told('dp_ngrams', 1, 1e-7, '{}') = told('dp_ngrams', 1, 1e-7, '{"max_length": 5}') AS ours;
SELECT count(*) AS others FROM pg_proc WHERE proname = 'dp_ngrams' AND prolang = (SELECT oid FROM pg_language WHERE lanname = 'sql');
DO $$
DECLARE
	f regprocedure;
BEGIN
	FOR f IN SELECT oid FROM pg_proc WHERE proname = 'dp_ngrams' AND prolang = (SELECT oid FROM pg_language WHERE lanname = 'sql') LOOP
		EXECUTE format('DROP FUNCTION %s', f);
	END LOOP;
END $$;
DROP FUNCTION evil();

-- a call for all of a fresh dataset has another price than elsewhere, and is told so
SELECT dp_unprotect(d) FROM unnest('{gdp,zcdp,basic}'::name[]) d;
SELECT dp_protect(('plan.' || a)::regclass, 'who', 4, 1e-6, dataset => a::name, accounting => a, options => '{"carry_forward": false, "min_epsilon": 0}')
FROM unnest('{gdp,zcdp,basic}'::text[]) a;
CREATE FUNCTION all_of_it(accounting text) RETURNS TABLE (as_elsewhere bool, as_told bool, then_left text, then_again text, then_told bool)
LANGUAGE plpgsql AS $$
DECLARE
	elsewhere jsonb := told('dp_ngrams', 4, 1e-6, jsonb_build_object('accounting', accounting));
	told jsonb := told('dp_ngrams', 4, 1e-6, jsonb_build_object('dataset', accounting));
BEGIN
	as_elsewhere := told = elsewhere;
	PERFORM call(('plan.' || accounting)::regclass, 'dp_ngrams', 4, 1e-6, '{}');
	as_told := told = last_price(accounting);
	SELECT string_agg(lane || CASE WHEN remaining < cap / 1000 THEN ' spent' ELSE ' left' END, ', ') FROM dp_remaining(accounting) INTO then_left;
	then_again := left(try(format('SELECT call(%L, %L, 4, 1e-6, %L)', 'plan.' || accounting, 'dp_ngrams', '{}')), 5);
	then_told := told('dp_ngrams', 4, 1e-6, jsonb_build_object('dataset', accounting)) = elsewhere;
	RETURN NEXT;
END $$;
SELECT accounting, a.* FROM unnest('{gdp,zcdp,basic}'::text[]) accounting, all_of_it(accounting) a;

-- what is left: exact, and of a capped grant the smaller of its own and the dataset's
CREATE FUNCTION fresh(mode text, epsilon float8, delta float8, grants float8[] DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM dp_unprotect(dataset::name) FROM dpngram.budget WHERE dataset = mode AND grantee IS NULL;
	PERFORM dp_protect(('plan.' || mode)::regclass, 'who', epsilon, delta, dataset => mode::name, accounting => mode, options => '{"carry_forward": false, "min_epsilon": 0}');
	PERFORM dp_grant(mode::name, r, e) FROM unnest('{regress_plan_ana,regress_plan_team,regress_plan_lab}'::name[], grants) v (r, e) WHERE e IS NOT NULL;
END $$;
SELECT fresh('gdp', 8, 1e-6, '{NULL}'), fresh('basic', 5, 0.5, '{2,1,1.5}'), dp_grant('gdp', 'regress_plan_ana');
SET ROLE regress_plan_owner;
CREATE FUNCTION plan.left(dataset text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT string_agg(format('%s of %s', remaining, cap), ', ') FROM dp_remaining(dataset) WHERE remaining = greatest(cap - spent, 0));
EXCEPTION WHEN undefined_object THEN
	RETURN SQLERRM;
END $$;
SELECT plan.left('basic');
SET ROLE regress_plan_ana;
SELECT plan.left('basic');
SET ROLE regress_plan_bob;
SELECT plan.left('basic');
SET ROLE regress_plan_eve;
SELECT plan.left('basic');
SET ROLE regress_plan_stats;
SELECT plan.left('basic');
SET ROLE regress_plan_ana;
SELECT call('plan.basic', 'dp_ngrams', 1.25, 0.125, '{}');
SELECT plan.left('basic');
SET ROLE regress_plan_owner;
SELECT call('plan.basic', 'dp_ngrams', 3.25, 0.125, '{}');
SELECT plan.left('basic');
SET ROLE regress_plan_ana;
SELECT plan.left('basic');
SET ROLE regress_plan_bob;
SELECT plan.left('basic');
SELECT call('plan.basic', 'dp_ngrams', 0.25, 0.0625, '{}');
SELECT plan.left('basic');
SELECT plan.left('gdp');
RESET ROLE;
SELECT bool_and(r.cap = l.cap AND r.spent = l.spent) AS exact, count(*) FROM dpngram.dataset d
CROSS JOIN LATERAL (VALUES ('mu2', d.mu2_cap, d.mu2_spent), ('eps_pure', d.eps_pure_cap, d.eps_pure_spent), ('delta_add', d.delta_add_cap, d.delta_add_spent),
	('basic_epsilon', d.basic_epsilon_cap, d.basic_epsilon_spent), ('basic_delta', d.basic_delta_cap, d.basic_delta_spent)) l (lane, cap, spent)
JOIN LATERAL dp_remaining(d.name::name) r ON r.lane = l.lane WHERE d.ended IS NULL AND d.name IN ('gdp', 'basic');
SELECT try('SELECT dp_remaining(NULL)');

-- the view: nobody's calls but one's own; nobody else's dataset
SET ROLE regress_plan_ana;
SELECT dataset, mechanism, epsilon, delta, price, calls_left FROM dpngram.outlook ORDER BY release;
SET ROLE regress_plan_owner;
SELECT dataset, mechanism, epsilon, delta, price, calls_left FROM dpngram.outlook WHERE dataset = 'basic' ORDER BY release;
SET ROLE regress_plan_eve;
SELECT count(*) FROM dpngram.outlook;
SELECT dpngram.calls_left('basic', '{1,1}');
SET ROLE regress_plan_stats;
SELECT count(*) FROM dpngram.outlook;
SELECT dpngram.calls_left('basic', '{0.5,0}'), dpngram.calls_left('basic', '{0,1e-1000}'), dpngram.calls_left('basic', '{0,0}'), dpngram.calls_left('basic', '{Infinity,0}');
SELECT price, try(format('SELECT dpngram.calls_left(''basic'', %L)', price)) FROM unnest('{"{1}","{1,-1}","{NaN,1}","{NULL,1}","{{1},{1}}"}'::text[]) price;
RESET ROLE;

-- calls until the budget is exhausted are as many as were foretold
CREATE FUNCTION until_exhausted(role name, relation regclass, function text, epsilon float8, delta float8, options jsonb) RETURNS TABLE (foretold bigint, made bigint, last text)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SET ROLE %I', role);
	PERFORM call(relation, function, epsilon, delta, options);
	SELECT calls_left INTO foretold FROM dpngram.outlook o WHERE o.dataset = substr(relation::text, 6) AND o.mechanism = function;
	made := 0;
	LOOP
		last := try(format('SELECT call(%L, %L, %L, %L, %L)', relation, function, epsilon, delta, options));
		EXIT WHEN last <> 'fine' OR made > 1000;
		made := made + 1;
	END LOOP;
	last := left(last, 5);
	RESET ROLE;
	RETURN NEXT;
END $$;
SET client_min_messages = error;
-- of two groups' grants each is spent to its end.  In zcdp one more call than foretold may
-- fit, at another price: with noise after the dataset's own division.
SELECT fresh(a, 6, 1e-6, '{6,3,2}') FROM unnest('{gdp,zcdp,basic}'::text[]) a;
SELECT accounting, role, u.* FROM unnest('{gdp,zcdp,basic}'::text[]) accounting, unnest('{regress_plan_bob,regress_plan_owner}'::name[]) role,
	until_exhausted(role, ('plan.' || accounting)::regclass, 'dp_ngrams', 0.75, 5e-8, '{"max_length": 3}') u;
SELECT grantee, basic_epsilon_spent FROM dpngram.budget WHERE dataset = 'basic' ORDER BY grantee NULLS FIRST;
SELECT fresh(a, 3, 1e-5) FROM unnest('{gdp,zcdp,basic}'::text[]) a;
SELECT accounting, u.* FROM unnest('{gdp,zcdp,basic}'::text[]) accounting,
	until_exhausted('regress_plan_owner', ('plan.' || accounting)::regclass, 'dp_set_union', 0.9, 1e-8, '{}') u;
RESET client_min_messages;

-- where the budget renews, all of this is about the period that a call reads
CREATE TABLE plan.days (who int, what text, at date);
ALTER TABLE plan.days OWNER TO regress_plan_owner;
SELECT dp_protect('plan.days', 'who', 4, 1e-6, dataset => 'days', options => '{"renews": "10 years", "time_col": "at"}');
SELECT dp_export_events('days')->'events' AS none_yet;
SELECT call('plan.days', 'dp_ngrams', 2, 1e-7, '{"options": {"period": "1985-03-01"}}');
SELECT lane, spent, remaining = cap AS untouched FROM dp_remaining('days');
SELECT calls_left = (SELECT min(div(r.remaining, p.amount)) FROM dp_remaining('days') r JOIN dp_price('dp_ngrams', 2, 1e-7) p USING (lane)) AS of_the_present
FROM dpngram.outlook WHERE dataset = 'days';
SELECT told('dp_ngrams', 4, 1e-6, '{"dataset": "days"}') = told('dp_ngrams', 4, 1e-6, '{"dataset": "days", "period": "1975-01-01"}') AS untouched,
	told('dp_ngrams', 4, 1e-6, '{"dataset": "days"}') = told('dp_ngrams', 4, 1e-6, '{"dataset": "days", "period": "1989-01-01"}') AS spent;
SELECT try($$SELECT told('dp_ngrams', 4, 1e-6, '{"dataset": "days", "period": "soon"}')$$), try($$SELECT told('dp_ngrams', 4, 1e-6, '{"dataset": "gdp", "period": "1975-01-01"}')$$);
SELECT * FROM until_exhausted('regress_plan_owner', 'plan.days', 'dp_ngrams', 1, 1e-7, '{}');
SELECT e->'period' FROM jsonb_array_elements(dp_export_events('days')->'events') e ORDER BY e->'release' LIMIT 1;

-- the export is the owner's, and of those who may read all statistics
SET ROLE regress_plan_ana;
SELECT try($$SELECT dp_export_events('gdp')$$);
SELECT try($$SELECT dp_export_events('nothing')$$), try($$SELECT dp_export_events(NULL)$$);
SELECT try('SELECT dpngram.exported(1, 1)'), try('SELECT dpngram.history(1)'), try($$SELECT dpngram.library_event('{}')$$);
SET ROLE regress_plan_stats;
SELECT jsonb_array_length(dp_export_events('gdp')->'events') > 0 AS exported;
RESET ROLE;
-- a call's steps, slack and threshold; with predictable noise it protects nobody
SELECT fresh('gdp', 8, 1e-6);
SELECT call('plan.gdp', 'dp_ngrams', 0.5, 1e-7, '{"max_length": 3, "method": "dpne", "noise_ratio": 0.5}'), call('plan.gdp', 'dp_ngrams', 0.5, 1e-7, '{"max_length": 3, "method": "dpne"}'),
	call('plan.gdp', 'dp_set_union', 0.5, 1e-7, '{}');
SET client_min_messages = error;
SET dpngram.test_seed = 7;
SELECT call('plan.gdp', 'dp_set_union', 0.5, 1e-7, '{}');
RESET dpngram.test_seed;
RESET client_min_messages;
SELECT e->>'mechanism' AS mechanism, e->>'class_name' AS class, string_agg(concat_ws(' of ', x->>'class_name', x->'event'->>'class_name',
	x->>'kind', x->>'count'), ', ' ORDER BY place) AS events
FROM jsonb_array_elements(dp_export_events('gdp')->'events') e LEFT JOIN jsonb_array_elements(e->'events') WITH ORDINALITY x (x, place) ON true
GROUP BY e ORDER BY e->'release';
SELECT abs(sum(coalesce((x->>'count')::int, 1) / coalesce(x->'event'->>'noise_multiplier', x->>'noise_multiplier')::float8 ^ 2) FILTER (WHERE x->>'kind' IS NULL)
	/ max(b.mu2_spent - seeded.mu2) - 1) < 1e-12 AS mu2, abs(sum((x->>'delta')::float8) / max(b.delta_add_spent - seeded.delta_add) - 1) < 1e-12 AS delta_add,
	abs(sum((x->>'epsilon')::float8) / max(b.eps_pure_spent - seeded.eps_pure) - 1) < 1e-9 AS eps_pure
FROM jsonb_array_elements(dp_export_events('gdp')->'events') e, jsonb_array_elements(e->'events') x, dpngram.budget b,
	(SELECT * FROM dpngram.releases WHERE dataset = 'gdp' AND seeded ORDER BY id DESC LIMIT 1) seeded WHERE b.dataset = 'gdp';
-- of every dataset that there ever was here, the history is what it has spent, to the last digit (periods carry each for itself)
SELECT d.id, d.name FROM dpngram.dataset d CROSS JOIN LATERAL (SELECT coalesce(sum(mu2), 0) AS mu2, coalesce(sum(eps_pure), 0) AS eps_pure,
	coalesce(sum(delta_add), 0) AS delta_add, coalesce(sum(rho), 0) AS rho, coalesce(sum(rho_delta), 0) AS rho_delta,
	coalesce(sum(basic_epsilon), 0) AS basic_epsilon, coalesce(sum(basic_delta), 0) AS basic_delta FROM dpngram.history(d.id)) h
WHERE d.renews IS NULL AND (d.mu2_spent, d.eps_pure_spent, d.delta_add_spent, d.rho_spent, d.rho_delta_spent, d.basic_epsilon_spent, d.basic_delta_spent)
	<> (h.mu2, h.eps_pure, h.delta_add, h.rho, h.rho_delta, h.basic_epsilon, h.basic_delta);

SELECT dp_unprotect(d) FROM unnest('{gdp,zcdp,basic,days}'::name[]) d;
SET client_min_messages = warning;
DROP SCHEMA plan CASCADE;
DROP FUNCTION try, last_price, told, call, as_told, all_of_it, fresh, until_exhausted;
DROP ROLE regress_plan_owner, regress_plan_ana, regress_plan_bob, regress_plan_eve, regress_plan_stats, regress_plan_team, regress_plan_lab;
