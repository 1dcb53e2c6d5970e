-- What version 0.1.0 was asked to do for ledger-0.1.0.sql, the dump of it that
-- test/t/060_upgrade.pl upgrades: every kind of row that its ledger could hold.  Two of
-- the calls fail, as they should.  With 0.1.0 installed, as a superuser:
--
--	createdb ledger
--	psql -X -d ledger -f state-0.1.0.sql
--	pg_dump ledger | grep -vE '^\\(un)?restrict' > ledger-0.1.0.sql
SET client_min_messages = warning;
CREATE ROLE upgrade_owner;
CREATE ROLE upgrade_ana;
CREATE ROLE upgrade_group;
CREATE ROLE upgrade_member IN ROLE upgrade_group;
CREATE ROLE upgrade_leaver;
CREATE EXTENSION dpngram;
CREATE SCHEMA s AUTHORIZATION upgrade_owner;
GRANT USAGE ON SCHEMA s TO PUBLIC;

SET ROLE upgrade_owner;
CREATE TABLE s.talk (who int, said text, hidden text);
INSERT INTO s.talk SELECT i % 30, CASE i % 3 WHEN 0 THEN 'good morning to you' WHEN 1 THEN 'good night'
	ELSE 'Grüß Gott, good morning' END, 'x' FROM generate_series(1, 90) i;
CREATE TABLE s."odd ""name" ("the user" text, what text);
INSERT INTO s."odd ""name" SELECT 'u' || i, 'yes' FROM generate_series(1, 20) i;
CREATE TABLE s.dropped (who int, what text);
CREATE TABLE s.pure (who int, what text);
CREATE TABLE s.broken (who int, what text);
INSERT INTO s.broken VALUES (1, 'x');
CREATE VIEW s.view AS SELECT who, what, 1 / (who - 1) AS fails FROM s.broken;
CREATE VIEW s.failing AS SELECT who, what || fails AS what FROM s.view;

-- one live dataset with all kinds of grants and calls
SELECT dp_protect('s.talk', 'who', 40, 1e-5, dataset => 'talk', columns => '{said}');
SELECT dp_grant('talk', 'upgrade_ana', 8, 2e-6);
SELECT dp_grant('talk', 'upgrade_group');
SELECT dp_grant('talk', 'upgrade_leaver', 1);
SELECT count(*) FROM dp_ngrams('s.talk', 'who', 'said', 2, 1e-7);
SELECT count(*) FROM dp_ngrams('s.talk', 'who', 'said', 1, 1e-7, max_length => 3, noise_ratio => 1.3,
	max_contributions_per_length => '{10,20,NULL}');
SET ROLE upgrade_ana;
SELECT count(*) FROM dp_ngrams('s.talk', 'who', 'said', 1.5, 2e-7, max_length => 4, method => 'dpsu-even');
SELECT count(*) FROM dp_ngrams('s.talk', 'who', 'said', 0.3, 1e-7, max_length => 2, method => 'dpsu-all');
SELECT count(*) FROM dp_set_union('s.talk', 'who', 'said', 0.5, 1e-7, max_contributions => 3);
SELECT count(*) FROM dp_ngrams('s.talk', 'who', 'said', 100, 1e-7); -- more than there is
SET ROLE upgrade_member;
SELECT count(*) FROM dp_ngrams('s.talk', 'who', 'said', 1, 1e-8, method => 'dpsu-single', length => 2);
BEGIN;
SELECT count(*) FROM dp_ngrams('s.talk', 'who', 'said', 0.25, 1e-8, max_length => 1);
ROLLBACK; -- stays charged, without an end
SET ROLE upgrade_leaver;
SELECT count(*) FROM dp_ngrams('s.talk', 'who', 'said', 0.75, 1e-8, max_length => 1);
SET ROLE upgrade_owner;
SELECT dp_revoke('talk', 'upgrade_leaver');
RESET ROLE;
SET dpngram.test_seed = 42;
SELECT count(*) FROM dp_ngrams('s.talk', 'who', 'said', 1, 1e-7, max_length => 2);
RESET dpngram.test_seed;

-- a call for all there is, by the dataset's own shares
SET ROLE upgrade_owner;
SELECT dp_protect('s."odd ""name"', 'the user', 1, 1e-6, pure_share => 0.01, delta_share => 0.5);
SELECT count(*) FROM dp_ngrams('s."odd ""name"', 'the user', 'what', 1, 1e-6);
ALTER TABLE s."odd ""name" RENAME TO "odder ""name";

-- spending that was carried forward twice
SELECT dp_unprotect('s."odd ""name"');
SELECT dp_protect('s."odder ""name"', 'the user', 4, 8e-6, dataset => 'odd 2');
SELECT count(*) FROM dp_set_union('s."odder ""name"', 'the user', 'what', 0.5, 1e-7);
SELECT dp_unprotect('odd 2');
SELECT dp_protect('s."odder ""name"', 'the user', 9, 9e-6, dataset => 'odd 3');
SELECT count(*) FROM dp_set_union('s."odder ""name"', 'the user', 'what', 0.25, 1e-7);

-- spending that a superuser had forgotten, carried and uncarried before
CREATE TABLE s.forgot (who int, what text);
INSERT INTO s.forgot SELECT i, 'no' FROM generate_series(1, 20) i;
SELECT dp_protect('s.forgot', 'who', 2, 1e-6, dataset => 'forgot 1');
SELECT count(*) FROM dp_set_union('s.forgot', 'who', 'what', 1, 1e-7);
SELECT dp_unprotect('forgot 1');
SELECT dp_protect('s.forgot', 'who', 3, 1e-6, dataset => 'forgot 2');
SELECT count(*) FROM dp_set_union('s.forgot', 'who', 'what', 0.5, 1e-7);
SELECT dp_unprotect('forgot 2');
RESET ROLE;
SELECT dp_protect('s.forgot', 'who', 4, 1e-6, dataset => 'forgot 3', options => '{"carry_forward": false}');
SELECT count(*) FROM dp_set_union('s.forgot', 'who', 'what', 0.125, 1e-7);

-- pure epsilon only, a failed release, a relation that was dropped, one resumed
SET ROLE upgrade_owner;
SELECT dp_protect('s.pure', 'who', 5, 0, dataset => 'pure');
SELECT dp_protect('s.failing', 'who', 5, 1e-6, dataset => 'failing');
SELECT dp_grant('failing', 'upgrade_ana', delta => 1e-7);
SELECT count(*) FROM dp_ngrams('s.failing', 'who', 'what', 1, 1e-7);
SELECT pg_sleep(0.5);
ALTER TABLE s.pure ALTER COLUMN who TYPE bigint;
SELECT dp_resume('pure');
SELECT dp_protect('s.dropped', 'who', 5, 1e-6, dataset => 'dropped');
SELECT count(*) FROM dp_ngrams('s.dropped', 'who', 'what', 1, 1e-7, max_length => 1);
DROP TABLE s.dropped;
RESET ROLE;
SELECT id, dataset, mechanism, status FROM dpngram.releases ORDER BY id;
