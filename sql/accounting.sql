-- The three accountings: what a history comes to in each, how many calls a budget holds
-- until the ledger refuses, and what a dataset's numbers mean in each.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
CREATE ROLE regress_acc_ana;
CREATE SCHEMA acc;
GRANT USAGE ON SCHEMA acc TO regress_acc_ana;
CREATE TABLE acc.t (who int, what text);
INSERT INTO acc.t SELECT i, 'a b c' FROM generate_series(1, 5) i;

-- protects the table anew, without what it lost before
CREATE FUNCTION fresh(mode text, epsilon float8, delta float8, pure_share float8 DEFAULT 0.001, delta_share float8 DEFAULT 0.25)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM dp_unprotect('acc') FROM dpngram.budget WHERE dataset = 'acc' AND grantee IS NULL;
	PERFORM dp_protect('acc.t', 'who', epsilon, delta, dataset => 'acc', accounting => mode, pure_share => pure_share,
		delta_share => delta_share, options => '{"carry_forward": false, "min_epsilon": 0}');
END $$;
-- one call: fine, or its SQLSTATE and the lane that is short
CREATE FUNCTION call(epsilon float8, delta float8, arguments text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE format('SELECT FROM dp_ngrams(''acc.t'', ''who'', ''what'', %L, %L %s)', epsilon, delta, arguments);
	RETURN 'fine';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' ', SQLSTATE, substring(detail FROM 'lane \w+'));
END $$;
-- calls until the first that is refused
CREATE FUNCTION holds(epsilon float8, delta float8, arguments text DEFAULT '', OUT calls int, OUT refused text) LANGUAGE plpgsql AS $$
BEGIN
	calls := 0;
	LOOP
		refused := call(epsilon, delta, arguments);
		EXIT WHEN refused <> 'fine' OR calls = 1000;
		calls := calls + 1;
	END LOOP;
END $$;

-- 12 calls of (0.5, 1e-8) as one epsilon at delta 1e-7: basic 6, zCDP 1.81, GDP 1.70.  A tenth of each
-- call's delta pays for its threshold; with next to nothing for it zCDP is 1.8116 and GDP 1.7004.
-- The sum of the deltas is more than 1e-7, which plain sums can't make good.
CREATE TABLE acc.twelve (share float8, max_length int, calls bigint, sum numeric, basic float8, zcdp numeric, gdp numeric);
DO $$
DECLARE
	c record;
	fine bigint;
BEGIN
	FOR c IN SELECT * FROM unnest('{0.1,0.00001}'::float8[]) share, unnest('{1,5}'::int[]) max_length LOOP
		PERFORM fresh('gdp', 3, 1e-7, delta_share => 0.7);
		COMMIT;
		SELECT count(*) INTO fine FROM generate_series(1, 12)
		WHERE call(0.5, 1e-8, format(', threshold_share => %s, max_length => %s', c.share, c.max_length)) = 'fine';
		INSERT INTO acc.twelve SELECT c.share, c.max_length, fine, b.basic_epsilon_spent::numeric, b.epsilon_by_basic,
			round(b.epsilon_by_zcdp::numeric, 4), round(b.epsilon_by_gdp::numeric, 4) FROM dpngram.budget b WHERE b.dataset = 'acc';
	END LOOP;
END $$;
TABLE acc.twelve;

-- a budget of (4, 1e-6) holds 15 calls of (1, 1e-7) in gdp, 13 in zcdp and 4 in basic
CREATE TABLE acc.held (mode text, max_length int, calls int, refused text, spent bool);
DO $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT * FROM unnest('{gdp,zcdp,basic}'::text[]) mode, unnest('{1,5}'::int[]) max_length LOOP
		PERFORM fresh(c.mode, 4, 1e-6);
		COMMIT;
		INSERT INTO acc.held SELECT c.mode, c.max_length, h.* FROM holds(1, 1e-7, format(', max_length => %s', c.max_length)) h;
		-- what was refused cost nothing, and what was spent is within the budget
		UPDATE acc.held SET spent = b.spent_epsilon <= 4 AND b.basic_epsilon_spent = calls FROM dpngram.budget b
		WHERE b.dataset = 'acc' AND mode = c.mode AND max_length = c.max_length;
	END LOOP;
END $$;
TABLE acc.held;

-- one call for all of a fresh dataset fits, and then not the smallest, whatever its arguments and the dataset's shares
CREATE TABLE acc.whole (mode text, shares float8, arguments text, whole text, refused text);
DO $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT mode, s.* FROM unnest('{gdp,zcdp,basic}'::text[]) mode, (VALUES (0.001, ''), (0.001, ', max_length => 1'),
			(0.001, ', method => ''dpsu-even'', max_length => 3'), (0.001, ', threshold_share => 0.7'),
			(0.0001, ''), (0.5, ''), (0.9, '')) s (shares, arguments) LOOP
		PERFORM fresh(c.mode, 4, 1e-6, c.shares, greatest(c.shares, 0.01));
		COMMIT;
		INSERT INTO acc.whole SELECT c.mode, c.shares, c.arguments, call(4, 1e-6, c.arguments);
		UPDATE acc.whole SET refused = call(1e-3, 1e-9) WHERE refused IS NULL;
	END LOOP;
END $$;
SELECT shares, arguments, string_agg(format('%s: %s, %s', mode, whole, refused), '; ' ORDER BY mode DESC) FROM acc.whole GROUP BY 1, 2 ORDER BY 1, 2;

-- grants with a cap of their own, in the lanes of the dataset; raised budgets
CREATE FUNCTION as_ana(epsilon float8, delta float8, OUT calls int, OUT refused text) LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL ROLE regress_acc_ana;
	SELECT h.* INTO calls, refused FROM holds(epsilon, delta) h;
	RESET ROLE;
END $$;
CREATE TABLE acc.capped (mode text, who text, calls int, refused text);
DO $$
DECLARE
	m text;
BEGIN
	FOREACH m IN ARRAY '{gdp,zcdp,basic}'::text[] LOOP
		PERFORM fresh(m, 4, 1e-6);
		PERFORM dp_grant('acc', 'regress_acc_ana', 2, 5e-7);
		COMMIT;
		INSERT INTO acc.capped SELECT m, 'ana, up to (2, 5e-7)', h.* FROM as_ana(0.5, 5e-8) h;
		INSERT INTO acc.capped SELECT m, 'then the owner', h.* FROM holds(1, 1e-7) h;
		PERFORM dp_set_budget('acc', 5, 2e-6);
		COMMIT;
		INSERT INTO acc.capped SELECT m, 'ana, after it was raised', h.* FROM as_ana(0.5, 5e-8) h;
		INSERT INTO acc.capped SELECT m, 'the owner, then', h.* FROM holds(1, 1e-7) h;
	END LOOP;
END $$;
TABLE acc.capped;
SELECT accounting, grantee, epsilon, delta, basic_epsilon_spent FROM dpngram.budget WHERE dataset = 'acc' ORDER BY grantee NULLS FIRST;

-- a budget is raised lane by lane, and that is in the log
CREATE FUNCTION set_budget(mode text, epsilon float8, delta float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	PERFORM fresh(mode, 4, 1e-6);
	PERFORM dp_set_budget('acc', epsilon, delta);
	RETURN (SELECT concat_ws(' ', parameters, epsilon_by_basic) FROM dpngram.releases r JOIN dpngram.budget b USING (dataset)
		WHERE dataset = 'acc' AND mechanism = 'dp_set_budget' ORDER BY id DESC LIMIT 1);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' ', SQLSTATE, SQLERRM, substring(detail FROM 'lane \w+'));
END $$;
SELECT mode, epsilon, delta, set_budget(mode, epsilon, delta) FROM unnest('{gdp,zcdp,basic}'::text[]) mode,
	(VALUES (4, 1e-6), (4.5, 2e-6), (3.9, 1e-6), (4, 9e-7), (5, 5e-7), (3.9, 1e-5), (5, 0)) v (epsilon, delta);

-- delta 0: pure epsilon alone, and no Gaussian call; zcdp has no such budget
SELECT fresh('gdp', 4, 0);
SELECT mu2_cap, eps_pure_cap, delta_add_cap, remaining_epsilon FROM dpngram.budget WHERE dataset = 'acc';
SELECT call(1, 1e-7);
SELECT dp_set_budget('acc', 5, 1e-6);
SELECT dp_set_budget('acc', 5, 0);
SELECT eps_pure_cap FROM dpngram.budget WHERE dataset = 'acc';
SELECT fresh('basic', 4, 0);
SELECT call(1, 1e-7);
SELECT dp_set_budget('acc', 4, 1e-6);
SELECT call(1, 1e-7);
SELECT fresh('zcdp', 4, 0);

-- pure_share and delta_share, where the accounting has such lanes; the caps come to the budget
CREATE TABLE acc.shares (accounting text, pure_share numeric, delta_share numeric, come_to float8);
DO $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT * FROM unnest('{gdp,zcdp,basic}'::text[]) mode, unnest('{0.001,0.125,0.5,0.99}'::float8[]) shares LOOP
		PERFORM fresh(c.mode, 8, 1e-6, c.shares, 1 - c.shares);
		INSERT INTO acc.shares SELECT accounting, round(eps_pure_cap / 8, 12), round(coalesce(delta_add_cap, rho_delta_cap) / 1e-6, 12),
			CASE accounting WHEN 'gdp' THEN dpngram.lanes_epsilon(mu2_cap, eps_pure_cap, delta_add_cap, delta)
				WHEN 'zcdp' THEN dpngram.zcdp_epsilon(rho_cap, rho_delta_cap, delta) ELSE basic_epsilon_cap::float8 END
		FROM dpngram.dataset WHERE name = 'acc' AND ended IS NULL;
	END LOOP;
END $$;
SELECT accounting, pure_share, delta_share, come_to BETWEEN 8 - 1e-12 AND 8 AS come_to_it FROM acc.shares;

-- how much a Gaussian step of mu costs at delta 1e-7: by the conversion of Canonne, Kamath and Steinke, and exactly
SELECT string_agg(mu::text, ' | ') AS mu, string_agg(round(dpngram.zcdp_epsilon((mu * mu / 2)::numeric, 0, 1e-7)::numeric, decimals)::text, ' | ') AS zcdp,
	string_agg(round(dpngram.lanes_epsilon((mu * mu)::numeric, 0, 0, 1e-7)::numeric, decimals)::text, ' | ') AS gdp
FROM (VALUES (0.1::float8, 3), (0.25, 3), (0.5, 3), (0.753, 3), (1, 3), (2, 2)) v (mu, decimals);
-- a mix: mu 0.5 and 30 pure steps of 0.05, which zcdp is for
SELECT round(dpngram.lanes_epsilon(0.25, 30 * 0.05, 0, 1e-6)::numeric, 2) AS gdp,
	round(dpngram.zcdp_epsilon(0.125 + 30 * 0.05 ^ 2 / 2, 0, 1e-6)::numeric, 2) AS zcdp,
	round(dpngram.zcdp_epsilon(0.125 + 30 * 0.05 ^ 2 / 8, 0, 1e-6)::numeric, 2) AS zcdp_exponential;

SELECT dp_unprotect('acc');
DROP SCHEMA acc CASCADE;
DROP FUNCTION fresh, call, holds, as_ana, set_budget;
DROP ROLE regress_acc_ana;
