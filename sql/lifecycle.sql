-- What becomes of a budget when its relation, columns, schema, roles and owner are
-- renamed, handed on or dropped: none of it frees what was spent.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
RESET client_min_messages;
CREATE ROLE regress_life_owner;
CREATE ROLE regress_life_heir;
CREATE ROLE regress_life_ana;
CREATE ROLE regress_life_bob;
CREATE ROLE regress_life_team;
GRANT regress_life_team TO regress_life_bob;
CREATE SCHEMA life AUTHORIZATION regress_life_owner;
GRANT ALL ON SCHEMA life TO regress_life_heir, regress_life_ana, regress_life_bob;

-- one call of (0.5, 1e-8) as the present role: fine, or its error
CREATE FUNCTION spend(relation text, unit text DEFAULT 'who', item text DEFAULT 'what') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE format('SELECT count(*) FROM dp_ngrams(%L, %L, %L, 0.5, 1e-8, max_length => 1)', relation, unit, item);
	RETURN 'fine';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' | ', SQLSTATE || ' ' || SQLERRM, nullif(detail, ''));
END $$;
-- how many such calls each live dataset and each grant has paid for
CREATE VIEW calls AS
SELECT d.name, NULL AS role, round(d.basic_epsilon_spent / 0.5, 1) AS calls, d.id
  FROM dpngram.dataset d WHERE d.ended IS NULL
UNION ALL
SELECT d.name, g.role, round(g.basic_epsilon_spent / 0.5, 1), d.id
  FROM dpngram.dataset d JOIN dpngram.grantee g ON g.dataset = d.id WHERE d.ended IS NULL;
-- and what their owner sees of them
CREATE FUNCTION seen() RETURNS TABLE (dataset text, relation text, grantee text, status text)
LANGUAGE sql AS $$ SELECT dataset, relation, grantee, status FROM dpngram.budget ORDER BY 1, 3 NULLS FIRST $$;

SET ROLE regress_life_owner;
CREATE TABLE life.t (who int, what text, other text);
INSERT INTO life.t SELECT i, 'a b', 'c' FROM generate_series(1, 100) i;
SELECT dp_protect('life.t', 'who', 4, 1e-6, dataset => 'd', columns => '{what}');
SELECT dp_grant('d', 'regress_life_ana', 1);
SELECT dp_grant('d', 'regress_life_team');
SET ROLE regress_life_ana;
SELECT spend('life.t'), spend('life.t', item => 'other');
RESET ROLE;
SELECT name, role, calls FROM calls ORDER BY 1, 2 NULLS FIRST;

-- renames of relation, schema, columns and roles change nothing
ALTER TABLE life.t RENAME TO t2;
ALTER SCHEMA life RENAME TO life2;
ALTER TABLE life2.t2 RENAME COLUMN who TO person;
ALTER ROLE regress_life_ana RENAME TO regress_life_anna;
ALTER ROLE regress_life_owner RENAME TO regress_life_boss;
SET ROLE regress_life_anna;
SELECT spend('life2.t2', 'person');
SELECT spend('life2.t2', 'who');
-- the log keeps a caller's name of the time: its own earlier calls it can't find any more, its owner can
SELECT caller_role, grantee, relation FROM dpngram.releases;
SET ROLE regress_life_boss;
SELECT caller_role, grantee, relation FROM dpngram.releases WHERE mechanism = 'dp_ngrams' ORDER BY id;
RESET ROLE;
SELECT name, role, calls FROM calls ORDER BY 1, 2 NULLS FIRST;
SELECT schema, name, user_col, columns FROM dpngram.relation WHERE dataset = (SELECT min(id) FROM calls);
SET ROLE regress_life_boss;
SELECT * FROM seen();
-- of the text columns names decide, as the owner gave them
ALTER TABLE life2.t2 RENAME COLUMN what TO was;
SET ROLE regress_life_anna;
SELECT spend('life2.t2', 'person'), spend('life2.t2', 'person', 'was');
SET ROLE regress_life_boss;
ALTER TABLE life2.t2 RENAME COLUMN was TO what;

-- a new role of an old name has no grant; one that was dropped leaves its spending behind
RESET ROLE;
ALTER ROLE regress_life_anna RENAME TO regress_life_gone;
CREATE ROLE regress_life_anna;
GRANT USAGE ON SCHEMA life2 TO regress_life_anna;
SET ROLE regress_life_anna;
SELECT spend('life2.t2', 'person');
RESET ROLE;
REVOKE ALL ON SCHEMA life2 FROM regress_life_gone;
DROP ROLE regress_life_gone;
CREATE ROLE regress_life_gone;
GRANT USAGE ON SCHEMA life2 TO regress_life_gone;
SET ROLE regress_life_gone;
SELECT spend('life2.t2', 'person');
SET ROLE regress_life_boss;
SELECT dp_revoke('d', 'regress_life_anna');
SELECT dp_grant('d', 'regress_life_anna', 1);
SELECT name, role, calls FROM calls ORDER BY 1, 2 NULLS FIRST;
RESET ROLE;
SELECT name, role, calls FROM calls ORDER BY 1, 2 NULLS FIRST, 3;

-- membership: bob spends by the team's grant, until he is no member
SET ROLE regress_life_bob;
SELECT spend('life2.t2', 'person');
RESET ROLE;
REVOKE regress_life_team FROM regress_life_bob;
SET ROLE regress_life_bob;
SELECT spend('life2.t2', 'person');
-- a membership without INHERIT: only after SET ROLE
RESET ROLE;
ALTER ROLE regress_life_bob NOINHERIT;
GRANT regress_life_team TO regress_life_bob;
SET ROLE regress_life_bob;
SELECT spend('life2.t2', 'person');
RESET ROLE;
GRANT USAGE ON SCHEMA life2 TO regress_life_team;
SET ROLE regress_life_team;
SELECT spend('life2.t2', 'person');
RESET ROLE;
-- revoked, the role's spending stays, and granting again is no refill
SET ROLE regress_life_boss;
SELECT dp_revoke('d', 'regress_life_team');
SET ROLE regress_life_team;
SELECT spend('life2.t2', 'person');
SET ROLE regress_life_boss;
SELECT dp_grant('d', 'regress_life_team', 1);
SET ROLE regress_life_team;
SELECT spend('life2.t2', 'person');
RESET ROLE;
SELECT name, role, calls FROM calls WHERE role = 'regress_life_team';

-- handed on: suspended, until the new owner says so; nobody else can
REASSIGN OWNED BY regress_life_boss TO regress_life_heir;
SET ROLE regress_life_anna;
SELECT spend('life2.t2', 'person');
SET ROLE regress_life_boss;
SELECT * FROM seen();
SELECT dp_resume('d');
SET ROLE regress_life_heir;
SELECT * FROM seen();
SELECT dp_resume('d');
SELECT * FROM seen();
SET ROLE regress_life_anna;
SELECT spend('life2.t2', 'person');
RESET ROLE;
SELECT name, role, calls FROM calls WHERE role IS NULL ORDER BY name;

-- the column of the privacy unit dropped: suspended; one of the same name must be resumed
ALTER TABLE life2.t2 ADD COLUMN backup int;
UPDATE life2.t2 SET backup = person;
ALTER TABLE life2.t2 DROP COLUMN person;
SET ROLE regress_life_anna;
SELECT spend('life2.t2', 'person');
SET ROLE regress_life_heir;
SELECT dp_resume('d');
ALTER TABLE life2.t2 RENAME COLUMN backup TO person;
SELECT dp_resume('d');
SET ROLE regress_life_anna;
SELECT spend('life2.t2', 'person');
RESET ROLE;
SELECT name, role, calls FROM calls WHERE role IS NULL ORDER BY name;

-- a second relation of the same people: one budget
SET ROLE regress_life_heir;
CREATE TABLE life2.more (person int, what text);
INSERT INTO life2.more SELECT i, 'x' FROM generate_series(1, 100) i;
SELECT dp_attach('d', 'life2.more', 'person');
SELECT dp_attach('d', 'life2.more', 'person');
SELECT dp_attach('d', 'life2.more', 'nobody');
SELECT dp_attach('d', 'life2.more', NULL);
SELECT dp_attach('none', 'life2.more', 'person');
SET ROLE regress_life_anna;
SELECT spend('life2.more', 'person');
SELECT dp_attach('d', 'life2.more', 'person');
SELECT dp_detach('d', 'life2.more');
RESET ROLE;
SELECT name, role, calls FROM calls WHERE role IS NULL ORDER BY name;
-- one of them dropped or handed on: the other goes on
ALTER TABLE life2.more OWNER TO regress_life_boss;
SET ROLE regress_life_anna;
SELECT spend('life2.more', 'person');
SELECT spend('life2.t2', 'person');
SET ROLE regress_life_heir;
SELECT * FROM seen();
-- and the dataset is nobody's, for nobody owns both
SELECT dp_revoke('d', 'regress_life_anna');
SET ROLE regress_life_boss;
SELECT dp_revoke('d', 'regress_life_anna');
RESET ROLE;
ALTER TABLE life2.more OWNER TO regress_life_heir;
SET ROLE regress_life_heir;
DROP TABLE life2.more;
SELECT * FROM seen();
SET ROLE regress_life_anna;
SELECT spend('life2.t2', 'person');
SET ROLE regress_life_heir;
SELECT dp_resume('d');
SELECT dp_detach('d', 'life2.more');
SELECT dp_detach('d', 'life2.more');
SELECT dp_detach('d', NULL);
SELECT dp_detach('d', 'life2.t2');
SELECT * FROM seen();
RESET ROLE;
SELECT name, role, calls FROM calls WHERE role IS NULL ORDER BY name;

-- taken out and protected by itself, a relation carries what its dataset had spent
SET ROLE regress_life_heir;
CREATE TABLE life2.more (person int, what text);
SELECT dp_attach('d', 'life2.more', 'person');
SELECT dp_detach('d', 'life2.more');
SET ROLE regress_life_anna;
SELECT spend('life2.more', 'person');
SET ROLE regress_life_heir;
SELECT dp_protect('life2.more', 'person', 4, 1e-6, dataset => 'e');
RESET ROLE;
SELECT name, role, calls FROM calls WHERE role IS NULL ORDER BY name;
-- taken up again, it brings what it spent meanwhile, and only that: the rest is the dataset's own
SET ROLE regress_life_heir;
SELECT spend('life2.more', 'person');
SELECT dp_attach('d', 'life2.more', 'person');
SELECT dp_unprotect('e');
SELECT dp_attach('d', 'life2.more', 'person');
SELECT dp_set_budget('d', 8, 1e-6);
SELECT dp_attach('d', 'life2.more', 'person');
RESET ROLE;
SELECT name, role, calls FROM calls WHERE role IS NULL ORDER BY name;

-- dropped: the dataset is suspended and stays its owner's; a new table of that name must be resumed
SET ROLE regress_life_heir;
SELECT dp_detach('d', 'life2.more');
DROP TABLE life2.t2;
SELECT * FROM seen();
CREATE TABLE life2.t2 (person int, what text);
SET ROLE regress_life_anna;
SELECT spend('life2.t2', 'person');
SET ROLE regress_life_heir;
SELECT dp_resume('d');
SET ROLE regress_life_anna;
SELECT spend('life2.t2', 'person');
RESET ROLE;
SELECT name, role, calls FROM calls WHERE role IS NULL ORDER BY name;

-- raising the budget: no lane may fall, and it is in the log
SET ROLE regress_life_heir;
SELECT dp_set_budget('d', 7, 1e-6);
SELECT dp_set_budget('d', 8, 1e-7);
SELECT dp_set_budget('d', 8, 0);
SELECT dp_set_budget('d', 'NaN', 1e-6);
SELECT dp_set_budget('d', NULL, 1e-6);
SELECT dp_set_budget('none', 9, 1e-6);
SELECT dp_set_budget('d', 9, 2e-6);
SET ROLE regress_life_anna;
SELECT dp_set_budget('d', 10, 2e-6);
SET ROLE regress_life_heir;
SELECT epsilon, delta, eps_pure_cap, delta_add_cap FROM dpngram.budget WHERE dataset = 'd' AND grantee IS NULL;
SELECT caller_role, parameters, mu2 FROM dpngram.releases WHERE mechanism = 'dp_set_budget' ORDER BY id;
-- ended and begun again: carried forward, also by a partition of the former table
SELECT dp_unprotect('d');
CREATE TABLE life2.whole (person int, what text) PARTITION BY LIST (person);
ALTER TABLE life2.whole ATTACH PARTITION life2.t2 FOR VALUES IN (1);
SELECT dp_protect('life2.whole', 'person', 9, 2e-6, dataset => 'whole');
RESET ROLE;
SELECT name, role, calls FROM calls WHERE role IS NULL ORDER BY name;
-- two datasets over the same rows, by ATTACH PARTITION afterwards: refused at the call
SET ROLE regress_life_heir;
ALTER TABLE life2.whole DETACH PARTITION life2.t2;
SELECT dp_protect('life2.t2', 'person', 9, 2e-6, dataset => 'part', delta_share => 0.3);
ALTER TABLE life2.whole ATTACH PARTITION life2.t2 FOR VALUES IN (1);
SELECT spend('life2.t2', 'person'), spend('life2.whole', 'person');
RESET ROLE;

-- the log of every dataset is whole and adds up
SELECT d.name, b.* FROM dpngram.dataset d, dpngram.broken_chain(d.id) b;
SELECT count(*) > 0 AS checked, bool_and(d.releases = r.n AND (d.mu2_spent, d.eps_pure_spent, d.delta_add_spent, d.rho_spent,
		d.rho_delta_spent, d.basic_epsilon_spent, d.basic_delta_spent)
	= (r.mu2, r.eps_pure, r.delta_add, r.rho, r.rho_delta, r.basic_epsilon, r.basic_delta)) AS balanced
  FROM dpngram.dataset d
  JOIN (SELECT dataset, count(*) AS n, sum(mu2) AS mu2, sum(eps_pure) AS eps_pure, sum(delta_add) AS delta_add, sum(rho) AS rho,
		sum(rho_delta) AS rho_delta, sum(basic_epsilon) AS basic_epsilon, sum(basic_delta) AS basic_delta
		FROM dpngram.release GROUP BY dataset) r ON r.dataset = d.id;

SELECT dp_unprotect(d) FROM unnest('{whole,part}'::text[]) d;
SET client_min_messages = warning;
DROP SCHEMA life2 CASCADE;
DROP VIEW calls;
DROP FUNCTION spend, seen;
DROP OWNED BY regress_life_boss, regress_life_heir, regress_life_bob, regress_life_team, regress_life_anna, regress_life_gone;
DROP ROLE regress_life_boss, regress_life_heir, regress_life_bob, regress_life_team, regress_life_anna, regress_life_gone;
