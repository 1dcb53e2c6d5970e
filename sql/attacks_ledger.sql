-- What owners and analysts tried on the ledger: a budget that is not debited, or freed
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
CREATE ROLE regress_atl_owner;
CREATE ROLE regress_atl_ana;
CREATE ROLE regress_atl_gone;
CREATE SCHEMA atl AUTHORIZATION regress_atl_owner;
GRANT USAGE ON SCHEMA atl TO PUBLIC;
-- one call, as (calls' epsilon, delta): fine, or its error
CREATE FUNCTION atl.spend(relation text, epsilon float8 DEFAULT 1, delta float8 DEFAULT 1e-7, item text DEFAULT 'what') RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT count(*) FROM dp_ngrams(%L, ''who'', %L, %L, %L, max_length => 1)', relation, item, epsilon, delta);
	RETURN 'fine';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE VIEW atl.spent AS SELECT name, basic_epsilon_spent::float8 AS epsilon FROM dpngram.dataset WHERE ended IS NULL AND name LIKE 'atl.%';
GRANT SELECT ON atl.spent TO PUBLIC;
SET ROLE regress_atl_owner;

-- a child of two parents: its rows are under one budget
CREATE TABLE atl.mother (who int, what text);
CREATE TABLE atl.father (who int, what text);
CREATE TABLE atl.child () INHERITS (atl.mother, atl.father);
INSERT INTO atl.child SELECT i, 'word' FROM generate_series(1, 100) i;
SELECT dp_protect('atl.mother', 'who', 4, 1e-6, 'atl.mother');
SELECT atl.spend('atl.mother');
SELECT dp_protect('atl.father', 'who', 4, 1e-6, 'atl.father');
SELECT dp_unprotect('atl.mother');
SELECT dp_protect('atl.father', 'who', 4, 1e-6, 'atl.father');
TABLE atl.spent;
SELECT dp_unprotect('atl.father');

-- a table whose dataset has ended comes to a protected one: what it lost must be taken over first
CREATE TABLE atl.whole (who int, what text) PARTITION BY LIST (who);
CREATE TABLE atl.rest PARTITION OF atl.whole DEFAULT PARTITION BY LIST (who);
CREATE TABLE atl.part PARTITION OF atl.rest DEFAULT;
CREATE TABLE atl.single (who int, what text);
INSERT INTO atl.single SELECT 1, 'word' FROM generate_series(1, 10);
SELECT dp_protect('atl.whole', 'who', 4, 1e-6, 'atl.whole');
SELECT dp_protect('atl.single', 'who', 4, 1e-6, 'atl.single');
SELECT atl.spend('atl.whole'), atl.spend('atl.single', 2);
SELECT dp_unprotect('atl.single');
ALTER TABLE atl.whole ATTACH PARTITION atl.single FOR VALUES IN (1);
SELECT * FROM dp_ngrams('atl.whole', 'who', 'what', 1, 1e-7);
SELECT severity, finding, object, detail, remedy FROM dp_doctor('atl.whole') WHERE finding = 'suspended';
SELECT dp_resume('atl.whole');
TABLE atl.spent;
SELECT dp_resume('atl.whole');
SELECT atl.spend('atl.whole', 0.5);
-- a partition leaves: it has lost what was spent on the whole, at any depth
ALTER TABLE atl.rest DETACH PARTITION atl.part;
SELECT dp_protect('atl.part', 'who', 4, 1e-6, 'atl.part');
TABLE atl.spent ORDER BY name;
-- each goes on by itself, and what both lost counts when they meet again
SELECT atl.spend('atl.part', 0.25), atl.spend('atl.whole', 0.125);
SELECT dp_unprotect('atl.part');
ALTER TABLE atl.rest ATTACH PARTITION atl.part DEFAULT;
SELECT atl.spend('atl.whole', 0.125);
SELECT dp_resume('atl.whole');
SELECT atl.spend('atl.whole', 0.0625);
TABLE atl.spent ORDER BY name;
-- so has one that goes to another protected table
CREATE TABLE atl.archive (who int, what text) PARTITION BY LIST (who);
SELECT dp_protect('atl.archive', 'who', 4, 1e-6, 'atl.archive');
ALTER TABLE atl.whole DETACH PARTITION atl.single;
ALTER TABLE atl.archive ATTACH PARTITION atl.single FOR VALUES IN (1);
SELECT atl.spend('atl.archive');
SELECT dp_resume('atl.archive');
TABLE atl.spent ORDER BY name;
SELECT atl.spend('atl.archive', 0.03125);
SELECT dp_unprotect('atl.whole'), dp_unprotect('atl.archive');
-- a dataset whose table is gone takes up another with a past of its own
CREATE TABLE atl.first (who int, what text);
CREATE TABLE atl.second (who int, what text);
SELECT dp_protect('atl.second', 'who', 4, 1e-6, 'atl.second');
SELECT atl.spend('atl.second', 2);
SELECT dp_unprotect('atl.second');
SELECT dp_protect('atl.first', 'who', 4, 1e-6, 'atl.first');
SELECT atl.spend('atl.first');
DROP TABLE atl.first;
ALTER TABLE atl.second RENAME TO first;
SELECT dp_resume('atl.first');
TABLE atl.spent;
SELECT dp_unprotect('atl.first');

-- by a view the rows get another budget: legal, but with a warning, also when the first has ended
CREATE VIEW atl.view AS SELECT who, what FROM atl.first;
SELECT dp_protect('atl.view', 'who', 4, 1e-6, 'atl.view');
SELECT dp_protect('atl.first', 'who', 4, 1e-6, 'atl.first');
SELECT dp_unprotect('atl.view'), dp_unprotect('atl.first');

-- a stranger sees no row of the views, nor does a cheap function in the condition
RESET ROLE;
CREATE ROLE regress_atl_stranger;
CREATE SCHEMA atl_stranger AUTHORIZATION regress_atl_stranger;
SET ROLE regress_atl_owner;
SELECT dp_protect('atl.part', 'who', 8, 1e-6, 'atl.part');
SELECT atl.spend('atl.part');
SET ROLE regress_atl_stranger;
CREATE FUNCTION atl_stranger.tell(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS
$$ BEGIN RAISE WARNING 'secret %', t; RETURN true; END $$;
SELECT count(*) FROM dpngram.budget WHERE dataset LIKE 'atl%' AND atl_stranger.tell(dataset);
SELECT count(*) FROM dpngram.releases WHERE dataset LIKE 'atl%' AND atl_stranger.tell(parameters::text);
SELECT count(*) FROM dpngram.outlook WHERE dataset LIKE 'atl%' AND atl_stranger.tell(price::text);
SELECT count(*) FROM dp_doctor();
SELECT * FROM dp_doctor('atl.part');
SELECT * FROM dp_remaining('atl.part');
SELECT * FROM dp_price('dp_ngrams', 1, 1e-7, '{"dataset": "atl.part"}');
SELECT dp_export_events('atl.part');
SELECT dpngram.calls_left('atl.part', '{1,1,1}');

-- evaluated while it is planned, a call is debited as well, each time
SET ROLE regress_atl_owner;
CREATE FUNCTION atl.constant() RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$ BEGIN RETURN atl.spend('atl.part'); END $$;
SELECT name, epsilon FROM atl.spent WHERE name = 'atl.part';
EXPLAIN (COSTS OFF) SELECT 1 WHERE atl.constant() = 'fine';
SELECT name, epsilon FROM atl.spent WHERE name = 'atl.part';

-- an owner's acts undone leave no gap in the log, and undo no debit of others
BEGIN;
SAVEPOINT first;
SELECT dp_grant('atl.part', 'regress_atl_ana');
ROLLBACK TO first;
SELECT dp_set_budget('atl.part', 9, 1e-6);
SAVEPOINT second;
SELECT dp_unprotect('atl.part');
ROLLBACK TO second;
SELECT atl.spend('atl.part');
COMMIT;
SELECT array_agg(number ORDER BY id) AS numbers FROM dpngram.releases WHERE dataset = 'atl.part'
	AND id >= (SELECT max(id) FROM dpngram.releases WHERE dataset = 'atl.part' AND mechanism = 'dp_protect');
SELECT name, epsilon FROM atl.spent WHERE name = 'atl.part';
SELECT dp_unprotect('atl.part');

-- the log says what was asked for, whatever the session's settings
SET extra_float_digits = -15;
SELECT dp_protect('atl.mother', 'who', 4.56, 1.23456789e-6, 'atl.mother');
SELECT dp_grant('atl.mother', 'regress_atl_ana', 2.125);
SELECT dp_set_budget('atl.mother', 4.78, 1.3e-6);
RESET extra_float_digits;
SELECT mechanism, parameters - '{carried_from,user_col,accounting}'::text[] AS parameters FROM dpngram.releases
WHERE dataset = 'atl.mother' AND number <= 3 AND id > (SELECT max(id) - 3 FROM dpngram.releases WHERE dataset = 'atl.mother') ORDER BY id;
SELECT dp_unprotect('atl.mother');

-- a session that ends on any error gets the same error as others
CREATE TABLE atl.t (who int, what text);
INSERT INTO atl.t SELECT i, 'word' FROM generate_series(1, 100) i;
CREATE VIEW atl.fails AS SELECT who, (1 / (who - 7))::text || what AS what FROM atl.t;
SELECT dp_protect('atl.fails', 'who', 4, 1e-6, 'atl.fails');
SELECT dp_grant('atl.fails', 'regress_atl_ana');
SET ROLE regress_atl_ana;
SELECT atl.spend('atl.fails');

-- a restored ledger knows roles by name: a grant of a dropped role is not that of the new one of its name
SET ROLE regress_atl_owner;
SELECT dp_protect('atl.t', 'who', 4, 1e-6, 'atl.t');
SELECT dp_grant('atl.t', 'regress_atl_gone');
RESET ROLE;
DROP ROLE regress_atl_gone;
CREATE ROLE regress_atl_gone;
SET ROLE regress_atl_owner;
SELECT dp_grant('atl.t', 'regress_atl_gone', 0.01, 1e-8);
RESET ROLE;
DELETE FROM dpngram.relation_binding b USING dpngram.relation r, dpngram.dataset d
WHERE r.id = b.relation AND d.id = r.dataset AND d.name = 'atl.t';
DELETE FROM dpngram.grantee_binding b USING dpngram.grantee g, dpngram.dataset d
WHERE g.id = b.grantee AND d.id = g.dataset AND d.name = 'atl.t';
SET ROLE regress_atl_owner;
SELECT dp_resume('atl.t');
SELECT grantee, epsilon FROM dpngram.budget WHERE dataset = 'atl.t' ORDER BY grantee NULLS FIRST;
SET ROLE regress_atl_gone;
SELECT atl.spend('atl.t');
SET ROLE regress_atl_owner;
SELECT dp_revoke('atl.t', 'regress_atl_gone');
SET ROLE regress_atl_gone;
SELECT atl.spend('atl.t', 0.001, 1e-9);
RESET ROLE;

SELECT d.name, b.* FROM dpngram.dataset d, dpngram.broken_chain(d.id) b WHERE d.name LIKE 'atl.%';
SELECT dp_unprotect(name) FROM atl.spent ORDER BY name;
SET client_min_messages = error;
DROP SCHEMA atl, atl_stranger CASCADE;
DROP ROLE regress_atl_owner, regress_atl_ana, regress_atl_gone, regress_atl_stranger;
