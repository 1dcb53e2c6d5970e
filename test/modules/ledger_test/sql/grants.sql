-- Whose grant pays, and who sees what.
CREATE ROLE regress_gr_owner;
CREATE ROLE regress_gr_ana;
CREATE ROLE regress_gr_bob;
CREATE ROLE regress_gr_eve;
CREATE ROLE regress_gr_stats;
CREATE ROLE regress_gr_team ROLE regress_gr_ana, regress_gr_bob;
CREATE ROLE regress_gr_lab ROLE regress_gr_bob;
GRANT pg_read_all_stats TO regress_gr_stats;
CREATE SCHEMA gr AUTHORIZATION regress_gr_owner;
GRANT USAGE ON SCHEMA gr TO PUBLIC;

SET ROLE regress_gr_owner;
CREATE TABLE gr.t (who int, what text);
SELECT dp_protect('gr.t', 'who', 10, 0, dataset => 'd');
SELECT dp_grant('d', 'regress_gr_ana', 3);
SELECT dp_grant('d', 'regress_gr_team', 2);
SELECT dp_grant('d', 'regress_gr_lab');

-- one's own grant is used, though a group's would have room
SET ROLE regress_gr_ana;
SELECT ledger_charge('gr.t', '{0,2,0}');
SELECT ledger_charge('gr.t', '{0,2,0}');
SELECT ledger_charge('gr.t', '{0,1,0}');
SELECT ledger_charge('gr.t', '{0,1e-30,0}');
-- else a group's; its cap is shared; the next group's if the first has no room
SET ROLE regress_gr_bob;
SELECT ledger_charge('gr.t', '{0,1.5,0}');
SELECT ledger_charge('gr.t', '{0,1,0}');
-- what is left of the first group's is still used
SELECT ledger_charge('gr.t', '{0,0.5,0}');
RESET ROLE;
SELECT grantee, eps_pure_cap, eps_pure_spent, eps_pure_remaining, spent_epsilon, remaining_epsilon
  FROM dpngram.budget WHERE dataset = 'd' ORDER BY grantee NULLS FIRST;
SELECT caller_role, grantee, eps_pure FROM dpngram.releases WHERE mechanism = 'ledger_test' AND dataset = 'd' ORDER BY id;
-- no grant at all
SET ROLE regress_gr_eve;
SELECT ledger_charge('gr.t', '{0,1,0}');
\echo :LAST_ERROR_SQLSTATE
-- the owner needs none and pays alike; so does a superuser
SET ROLE regress_gr_owner;
SELECT ledger_charge('gr.t', '{0,1,0}');
RESET ROLE;
SELECT ledger_charge('gr.t', '{0,1,0}');
SELECT grantee, eps_pure_spent FROM dpngram.budget WHERE dataset = 'd' ORDER BY grantee NULLS FIRST;
-- the dataset's own cap holds for everybody
SELECT ledger_charge('gr.t', '{0,5,0}');

-- who sees what
CREATE FUNCTION seen() RETURNS TABLE (budget text, releases bigint, others bigint) LANGUAGE sql SECURITY INVOKER AS $$
	SELECT (SELECT string_agg(coalesce(grantee, '-'), ' ' ORDER BY grantee NULLS FIRST) FROM dpngram.budget WHERE dataset = 'd'),
		(SELECT count(*) FROM dpngram.releases WHERE dataset = 'd'),
		(SELECT count(*) FROM dpngram.releases WHERE dataset = 'd'
			AND NOT pg_has_role(caller_role, 'USAGE')) $$;
SET ROLE regress_gr_owner;
SELECT * FROM seen();
SET ROLE regress_gr_ana;
SELECT * FROM seen();
SET ROLE regress_gr_bob;
SELECT * FROM seen();
SET ROLE regress_gr_eve;
SELECT * FROM seen();
SET ROLE regress_gr_stats;
SELECT * FROM seen();
RESET ROLE;
SELECT * FROM seen();
-- a cheap function in the filter sees no row that the view hides
SET ROLE regress_gr_eve;
CREATE FUNCTION pg_temp.peek(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS
	$$ BEGIN RAISE NOTICE 'seen %', $1; RETURN true; END $$;
SELECT count(*) FROM dpngram.releases WHERE pg_temp.peek(mechanism);
SELECT count(*) FROM dpngram.budget WHERE pg_temp.peek(dataset);
DROP FUNCTION pg_temp.peek;
RESET ROLE;

-- revoking and granting again is no refill, nor is a renamed role
SET ROLE regress_gr_owner;
SELECT dp_revoke('d', 'regress_gr_ana');
SET ROLE regress_gr_ana;
SELECT count(*) FROM dpngram.budget WHERE grantee = 'regress_gr_ana';
RESET ROLE;
ALTER ROLE regress_gr_ana RENAME TO regress_gr_anna;
SET ROLE regress_gr_owner;
SELECT dp_grant('d', 'regress_gr_anna', 4);
SET ROLE regress_gr_anna;
SELECT ledger_charge('gr.t', '{0,2,0}');
SET ROLE regress_gr_owner;
SELECT grantee, eps_pure_cap, eps_pure_spent FROM dpngram.budget WHERE dataset = 'd' ORDER BY grantee NULLS FIRST;

-- a new role of an old name inherits nothing
RESET ROLE;
DROP ROLE regress_gr_team;
CREATE ROLE regress_gr_team ROLE regress_gr_bob;
SET ROLE regress_gr_owner;
SELECT dp_revoke('d', 'regress_gr_lab');
SET ROLE regress_gr_bob;
SELECT ledger_charge('gr.t', '{0,0.1,0}');
SET ROLE regress_gr_owner;
SELECT dp_grant('d', 'regress_gr_team', 1);
SELECT grantee, eps_pure_cap, eps_pure_spent FROM dpngram.budget WHERE dataset = 'd' ORDER BY grantee NULLS FIRST, eps_pure_cap;
SET ROLE regress_gr_bob;
SELECT ledger_charge('gr.t', '{0,0.1,0}');
-- the dropped role's grant can be revoked by its name
SET ROLE regress_gr_owner;
SELECT dp_revoke('d', 'regress_gr_team');
SELECT dp_revoke('d', 'regress_gr_team');
SELECT dp_revoke('d', 'regress_gr_team');

-- current_user decides, session_user is noted
RESET ROLE;
CREATE FUNCTION gr.by_owner() RETURNS integer LANGUAGE sql SECURITY DEFINER
	AS $$ SELECT public.ledger_charge('gr.t', '{0,0.1,0}') $$;
ALTER FUNCTION gr.by_owner() OWNER TO regress_gr_owner;
SET SESSION AUTHORIZATION regress_gr_eve;
SELECT gr.by_owner();
RESET SESSION AUTHORIZATION;
SELECT session_role, caller_role, grantee FROM dpngram.releases WHERE dataset = 'd' ORDER BY id DESC LIMIT 1;

-- what ledger_open tells
SELECT dataset, user_col, owner, caller = current_user AS caller, columns FROM ledger_open('gr.t');

-- after the end the owner still sees the log, the analyst his own part of it
SET ROLE regress_gr_owner;
SELECT dp_unprotect('d');
SELECT count(*) > 10 AS log, count(*) FILTER (WHERE mechanism = 'dp_unprotect') AS ended FROM dpngram.releases WHERE dataset = 'd';
SELECT count(*) FROM dpngram.budget;
SET ROLE regress_gr_bob;
SELECT count(*) FROM dpngram.releases;
SELECT ledger_charge('gr.t', '{0,0.1,0}');
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
DROP FUNCTION seen;
SET client_min_messages = warning;
DROP SCHEMA gr CASCADE;
DROP ROLE regress_gr_owner, regress_gr_anna, regress_gr_bob, regress_gr_eve, regress_gr_stats, regress_gr_team, regress_gr_lab;
