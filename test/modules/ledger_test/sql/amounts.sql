-- Amounts are exact: what fits, fits to the last bit, and what does not, does not.
CREATE TABLE amounts (who int, what text);

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

-- the number of the double next above x > 0
CREATE FUNCTION next_up(x float8) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	b bit(64) := ('x' || encode(float8send(x), 'hex'))::bit(64);
	i bigint := b::bigint + 1;
	m numeric := (i & ((1::bigint << 52) - 1))::numeric + 2::numeric ^ 52;
	e int := (i >> 52)::int - 1075;
BEGIN
	RETURN (CASE WHEN e >= 0 THEN m * 2::numeric ^ e ELSE m / 2::numeric ^ (-e) END)::text::float8;
END $$;
SELECT next_up(1) = 1::float8 + 2::float8 ^ -52, next_up(0.1) > 0.1::float8;

-- the caps: shares of epsilon and delta, and the Gaussian lane between them
SELECT dp_protect('amounts', 'who', 8, 1e-6);
SELECT mu2_cap, eps_pure_cap, delta_add_cap FROM dpngram.budget WHERE dataset = 'amounts';
CREATE FUNCTION caps(of text) RETURNS float8[] LANGUAGE sql AS $$
	SELECT ARRAY[mu2_cap, eps_pure_cap, delta_add_cap]::float8[] FROM dpngram.dataset WHERE name = of AND ended IS NULL $$;
-- dG(epsilon - cap, sqrt(cap)) + cap <= delta, by the epsilon that the caps come to
SELECT dpngram.lanes_epsilon(mu2_cap, eps_pure_cap, delta_add_cap, delta) BETWEEN 8 - 1e-9 AND 8 AS tight
  FROM dpngram.dataset WHERE name = 'amounts' AND ended IS NULL;

-- all of the fresh budget in one call, then nothing more, not even the smallest amount
SELECT ledger_charge('amounts', caps('amounts'));
SELECT mu2_spent = mu2_cap AND eps_pure_spent = eps_pure_cap AND delta_add_spent = delta_add_cap AS all,
	mu2_remaining, eps_pure_remaining, delta_add_remaining, remaining_epsilon,
	spent_epsilon BETWEEN 8 - 1e-9 AND 8 AS spent
  FROM dpngram.budget WHERE dataset = 'amounts';
SELECT try($$SELECT ledger_charge('amounts', '{5e-324,0,0}')$$);
SELECT try($$SELECT ledger_charge('amounts', '{0,5e-324,0}')$$);
SELECT try($$SELECT ledger_charge('amounts', '{0,0,5e-324}')$$);
SELECT try($$SELECT ledger_charge('amounts', '{0,0,0}')$$);
SELECT dp_unprotect('amounts');

-- one unit in the last place over the cap is too much, in each lane
SELECT dp_protect('amounts', 'who', 8, 1e-6, options => '{"carry_forward": false}');
SELECT left(try(format('SELECT ledger_charge(%L, %L)', 'amounts', ARRAY[next_up(caps[1]), 0, 0])), 5),
	left(try(format('SELECT ledger_charge(%L, %L)', 'amounts', ARRAY[0, next_up(caps[2]), 0])), 5),
	left(try(format('SELECT ledger_charge(%L, %L)', 'amounts', ARRAY[0, 0, next_up(caps[3])])), 5)
  FROM caps('amounts') caps;
SELECT dp_unprotect('amounts');

-- a sum of doubles would drift; this one does not: ten times 0.1 is a little more than 1
SELECT dp_protect('amounts', 'who', 1, 0, options => '{"carry_forward": false, "min_epsilon": 0}');
SELECT mu2_cap, eps_pure_cap, delta_add_cap, remaining_epsilon FROM dpngram.budget WHERE dataset = 'amounts';
SELECT count(ledger_charge('amounts', '{0,0.1,0}')) FROM generate_series(1, 9);
SELECT try($$SELECT ledger_charge('amounts', '{0,0.1,0}')$$);
SELECT try($$SELECT ledger_charge('amounts', '{0,0.09999,0}')$$);
SELECT sum(eps_pure) = (SELECT eps_pure_spent FROM dpngram.dataset WHERE name = 'amounts' AND ended IS NULL) AS exact
  FROM dpngram.release WHERE dataset = (SELECT id FROM dpngram.dataset WHERE name = 'amounts' AND ended IS NULL);
-- no Gaussian lane without delta
SELECT try($$SELECT ledger_charge('amounts', '{1e-9,0,0}')$$);

-- of several prices the first that fits is taken; if none does, the first one's lane is named
SELECT ledger_charge('amounts', '{1,0,0,0,1e-6,0,0,0,0}');
SELECT try($$SELECT ledger_charge('amounts', '{0,1,0,1,0,0}')$$);
-- what is no price
SELECT try(format('SELECT ledger_charge(%L, %L)', 'amounts', prices))
  FROM unnest('{"{-1,0,0}","{0,NaN,0}","{0,0,Infinity}","{}"}'::text[]) prices;
SELECT try($$SELECT ledger_charge('amounts', '{0,0,0}', parameters => '{"a":')$$);
-- a call that asks for no epsilon and no delta would be free in accounting basic
SELECT epsilon, delta, try(format('SELECT ledger_charge_event(%L, %L, 0, 1, %L, %L)', 'amounts', 'pure', epsilon, delta))
  FROM (VALUES (0::float8, 0::float8), ('NaN', 0), (1, 'NaN'), ('Infinity', 0), (-1, 0), (1, -1e-9), (0, 1e-9), (1e-9, 0)) v (epsilon, delta);
SELECT dp_unprotect('amounts');

-- protecting again carries forward what was spent, and says so in the log
SELECT dp_protect('amounts', 'who', 1, 0, options => '{"min_epsilon": 0}');
SELECT eps_pure_spent, remaining_epsilon, spent_epsilon FROM dpngram.budget WHERE dataset = 'amounts';
SELECT mechanism, eps_pure, parameters ? 'carried_from' AS carried FROM dpngram.releases
 WHERE dataset = 'amounts' ORDER BY id DESC LIMIT 1;
SELECT dp_unprotect('amounts');
-- also under another name, and where it exceeds the new budget
SELECT dp_protect('amounts', 'who', 0.5, 1e-9, dataset => 'other');
SELECT eps_pure_spent > eps_pure_cap AS over, eps_pure_remaining, remaining_epsilon, spent_epsilon
  FROM dpngram.budget WHERE dataset = 'other';
SELECT try($$SELECT ledger_charge('amounts', '{0,1e-9,0}')$$);
SELECT try($$SELECT ledger_charge('amounts', '{1e-9,0,0}')$$);
SELECT dp_unprotect('other');

-- an amount is rounded up to the quantum in each lane that it has part in, however small; and one
-- whose square is no number takes an infinite rho
CREATE TABLE small (who int, what text);
SELECT dp_protect('small', 'who', 8, 1e-6, accounting => 'zcdp', options => '{"min_epsilon": 0}');
SELECT count(ledger_charge_event('small', kind, 5e-324)) FROM unnest('{gaussian,laplace,exponential,pure,delta}'::text[]) kind;
SELECT events->0->>'event' AS event, (mu2 * 2::numeric ^ 100)::int AS mu2, (eps_pure * 2::numeric ^ 100)::int AS eps_pure,
	(delta_add * 2::numeric ^ 100)::int AS delta_add, (rho * 2::numeric ^ 100)::int AS rho, (rho_delta * 2::numeric ^ 100)::int AS rho_delta
  FROM dpngram.release r JOIN dpngram.dataset d ON d.id = r.dataset
 WHERE d.name = 'small' AND r.epsilon IS NOT NULL ORDER BY r.id;
SELECT dp_unprotect('small');
SELECT dp_protect('small', 'who', 1e300, 0, options => '{"carry_forward": false, "min_epsilon": 0}');
SELECT ledger_charge_event('small', 'pure', 1e200) > 0 AS charged;
SELECT rho_spent, epsilon_by_zcdp, epsilon_by_gdp FROM dpngram.budget WHERE dataset = 'small';
SELECT dp_unprotect('small');
SELECT dp_protect('small', 'who', 1e300, 0.5, accounting => 'zcdp', options => '{"min_epsilon": 0}');
SELECT rho_remaining, remaining_epsilon FROM dpngram.budget WHERE dataset = 'small';
SELECT try($$SELECT ledger_charge('small', '{1e-9,0,0}')$$);
SELECT dp_unprotect('small');

-- what remains is rounded down
SELECT dpngram.remainder(1, 0.25) AS exact, dpngram.remainder(1, 1e-18) < 1 AS down,
	dpngram.remainder(1, 2) AS overdrawn, dpngram.remainder(NULL, 1) AS uncapped;

-- in every dataset the log adds up to what was spent
SELECT count(*) > 0 AND bool_and((d.mu2_spent, d.eps_pure_spent, d.delta_add_spent) = (r.mu2, r.eps_pure, r.delta_add)) AS balanced
  FROM dpngram.dataset d
  JOIN (SELECT dataset, sum(mu2) AS mu2, sum(eps_pure) AS eps_pure, sum(delta_add) AS delta_add
		  FROM dpngram.release GROUP BY dataset) r ON r.dataset = d.id;

DROP TABLE amounts, small;
DROP FUNCTION try, next_up, caps;
