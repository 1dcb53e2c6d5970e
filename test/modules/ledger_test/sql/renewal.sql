-- Budgets that renew: what is spent in one period, and what counts in it.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
CREATE ROLE regress_re_owner;
CREATE ROLE regress_re_ana;
CREATE ROLE regress_re_bob;
CREATE ROLE regress_re_team ROLE regress_re_bob;
CREATE SCHEMA re AUTHORIZATION regress_re_owner;
GRANT USAGE ON SCHEMA re TO regress_re_ana, regress_re_bob;

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
-- the most that fits a period, in pure epsilon by halves, and is charged by that
CREATE FUNCTION left_in(relation text, period text) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
	FOR halves IN REVERSE 24..1 LOOP
		BEGIN
			PERFORM ledger_charge_in(relation::regclass, ARRAY[0, halves * 0.5, 0], period);
			RETURN halves * 0.5;
		EXCEPTION WHEN SQLSTATE 'NG001' THEN NULL;
		END;
	END LOOP;
	RETURN 0;
END $$;

SET ROLE regress_re_owner;
SET search_path = re, public;
CREATE TABLE t (who int, what text, posted timestamptz, edited timestamptz, day date);
SELECT dp_protect('t', 'who', 10, 0, dataset => 'd', options => '{"renews": "1 day", "time_col": "posted"}');
RESET ROLE;
SELECT d.renews, d.renewal, d.time_zone, r.time_col, b.time_attnum, b.time_type::regtype
  FROM dpngram.dataset d JOIN dpngram.relation r ON r.dataset = d.id JOIN dpngram.relation_binding b ON b.relation = r.id
 WHERE d.name = 'd' AND d.ended IS NULL;
SET ROLE regress_re_owner;

-- each period has the whole budget, to the last bit, however often another was spent
SELECT ledger_charge_in('t', '{0,6,0}', '2020-01-01 10:00');
SELECT ledger_charge_in('t', '{0,4,0}', '2020-01-01');
SELECT try($$SELECT ledger_charge_in('t', '{0,5e-324,0}', '2020-01-01 23:59:59.999999')$$);
SELECT ledger_charge_in('t', '{0,10,0}', '2020-01-02');
SELECT ledger_charge_in('t', '{0,10,0}', '2019-12-31');
SELECT try($$SELECT ledger_charge_in('t', '{0,10.5,0}', '2020-01-03')$$);
-- a period to come, and today's, which is not complete
SELECT ledger_charge_in('t', '{0,10,0}', '2120-01-01');
BEGIN;
SELECT ledger_charge_in('t', '{0,1,0}', 'today');
SELECT period_from = date_trunc('day', now()) AS today FROM dpngram.releases ORDER BY id DESC LIMIT 1;
-- a call that asks for none gets yesterday, and that is what the view tells of
SELECT ledger_charge('t', '{0,2.5,0}');
SELECT period_from = date_trunc('day', now()) - interval '1 day' AS yesterday, period_to - period_from AS length
  FROM dpngram.releases ORDER BY id DESC LIMIT 1;
SELECT dataset, period_from = date_trunc('day', now()) - interval '1 day' AS yesterday, period_to - period_from AS length,
	eps_pure_cap, eps_pure_spent, eps_pure_remaining, spent_epsilon, remaining_epsilon, basic_epsilon_spent
  FROM dpngram.budget;
COMMIT;
SELECT mechanism, eps_pure, period_from, period_to FROM dpngram.releases WHERE dataset = 'd' AND period_from < '2020-01-02' ORDER BY id;
-- the dataset's row has the sum of all periods, as the log has
RESET ROLE;
SELECT d.eps_pure_spent, sum(r.eps_pure) = d.eps_pure_spent AS log FROM dpngram.dataset d JOIN dpngram.release r ON r.dataset = d.id
 WHERE d.name = 'd' AND d.ended IS NULL GROUP BY d.id;
SELECT * FROM dpngram.broken_chain((SELECT id FROM dpngram.dataset WHERE name = 'd' AND ended IS NULL));

-- What counts in a period is what read any of its rows: windows of another kind, put
-- into the log by hand, which meet the day by a microsecond or just don't.
CREATE FUNCTION put(spent numeric, reads_from timestamptz, reads_to timestamptz) RETURNS void LANGUAGE sql AS $$
	INSERT INTO dpngram.release (dataset, relation, session_role, caller_role, mechanism, parameters, epsilon, delta,
		mu2, eps_pure, delta_add, seeded, timeline, lsn, rho, rho_delta, basic_epsilon, basic_delta, events,
		period_from, period_to, number, digest)
	SELECT id, 're.t', '', '', 'by hand', '{}', 0, 0, 0, spent, 0, false, 1, '0/0', 0, 0, 0, 0, '[]', reads_from, reads_to,
		1000 + nextval('dpngram.release_id_seq'), '' FROM dpngram.dataset WHERE name = 'd' AND ended IS NULL $$;
SELECT put(5, '2020-01-20', '2020-01-31');
SELECT put(1, '2020-02-02', '2020-02-10');
SELECT put(1.5, '2020-01-20', '2020-02-01 00:00:00.000001');
SELECT put(2, '2020-02-01 23:59:59.999999', '2020-02-03');
SELECT put(3, '2020-01-25', '2020-02-20'), put(0.5, '2020-02-01 10:00', '2020-02-01 10:01');
SELECT left_in('t', '2020-02-01') AS "10 - 1.5 - 2 - 3 - 0.5", left_in('t', '2020-01-31') AS "10 - 1.5 - 3";
DROP FUNCTION put;

-- caps of roles are caps in each period; a group's is shared in each
SET ROLE regress_re_owner;
SELECT dp_grant('d', 'regress_re_ana', 3);
SELECT dp_grant('d', 'regress_re_team', 4);
SET ROLE regress_re_ana;
SELECT ledger_charge_in('t', '{0,3,0}', '2020-03-01');
SELECT try($$SELECT ledger_charge_in('t', '{0,0.5,0}', '2020-03-01')$$);
SELECT ledger_charge_in('t', '{0,3,0}', '2020-03-02');
BEGIN; -- that now() may not pass midnight
SELECT ledger_charge('t', '{0,1,0}');
SELECT try($$SELECT ledger_charge('t', '{0,2.5,0}')$$);
SELECT dataset, grantee, eps_pure_cap, eps_pure_spent, eps_pure_remaining FROM dpngram.budget WHERE grantee IS NOT NULL;
COMMIT;
SET ROLE regress_re_bob;
SELECT ledger_charge_in('t', '{0,4,0}', '2020-03-01');
SELECT try($$SELECT ledger_charge_in('t', '{0,0.5,0}', '2020-03-01')$$);
-- the dataset's own cap holds for all of them together
SET ROLE regress_re_owner;
SELECT left_in('t', '2020-03-01') AS "10 - 3 - 4", left_in('t', '2020-03-02') AS "10 - 3";
-- granting again is no refill of a period
SELECT dp_revoke('d', 'regress_re_ana');
SELECT dp_grant('d', 'regress_re_ana', 3.5);
SET ROLE regress_re_ana;
SELECT left_in('t', '2020-03-03') AS "3.5", left_in('t', '2020-03-02') AS "nothing: the dataset's";

-- a raised budget is raised in every period, for those that were exhausted too
SET ROLE regress_re_owner;
SELECT dp_set_budget('d', 12, 0);
SELECT left_in('t', '2020-01-01') AS "2", left_in('t', '2020-04-01') AS "12";
SELECT try($$SELECT dp_set_budget('d', 11, 0)$$);

-- what asks for a period where there is none, or for none that there is
SELECT period, try(format('SELECT ledger_charge_in(%L, %L, %L)', 't', '{0,0.5,0}', period))
  FROM unnest('{"",never,2020-13-01,2020-02-30,infinity,-infinity,4714-11-24 BC,294276-12-31,300000-01-01,2020-05-01 Europe/Atlantis}'::text[]) period;
SELECT dp_unprotect('d');

-- A rolling window: the same moment is the same window, a later one shares rows with it
-- until its length has passed.
CREATE TABLE rolling (who int, what text, posted timestamptz);
SELECT dp_protect('rolling', 'who', 10, 0, options => '{"renews": "2 seconds", "window": "rolling", "time_col": "posted"}');
BEGIN;
SELECT ledger_charge('rolling', '{0,9,0}');
SELECT period_to = now() + interval '1 microsecond' AS ends_now, period_to - period_from AS length
  FROM dpngram.releases WHERE dataset = 'rolling' ORDER BY id DESC LIMIT 1;
SELECT period_to = now() + interval '1 microsecond' AS ends_now, period_to - period_from AS length, eps_pure_spent
  FROM dpngram.budget WHERE dataset = 'rolling';
SELECT ledger_charge('rolling', '{0,1,0}');
SELECT try($$SELECT ledger_charge('rolling', '{0,0.5,0}')$$);
COMMIT;
SELECT pg_sleep(2.1);
SELECT ledger_charge('rolling', '{0,10,0}');
SELECT try($$SELECT ledger_charge_in('rolling', '{0,0.5,0}', 'now')$$);
SELECT dp_unprotect('rolling');

RESET search_path;
RESET ROLE;
DROP FUNCTION try, left_in;
SET client_min_messages = warning;
DROP SCHEMA re CASCADE;
DROP ROLE regress_re_owner, regress_re_ana, regress_re_bob, regress_re_team;
