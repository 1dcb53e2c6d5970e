-- A charge and the transaction that asked for it.
CREATE TABLE trans (who int, what text);
SELECT dp_protect('trans', 'who', 100, 0);

CREATE VIEW spent AS SELECT eps_pure_spent AS spent FROM dpngram.budget WHERE dataset = 'trans';
-- the end of a failed release is noted by a worker that nobody waits for
CREATE FUNCTION last_status(wanted text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	found text;
BEGIN
	FOR i IN 1..500 LOOP
		SELECT status INTO found FROM dpngram.releases WHERE dataset = 'trans' ORDER BY id DESC LIMIT 1;
		EXIT WHEN found = wanted;
		PERFORM pg_sleep(0.02);
	END LOOP;
	RETURN found;
END $$;

-- undone transactions leave the debit
BEGIN;
SELECT ledger_charge('trans', '{0,1,0}');
ROLLBACK;
TABLE spent;
SELECT last_status('charged');
BEGIN;
SAVEPOINT s;
SELECT ledger_charge('trans', '{0,1,0}');
ROLLBACK TO s;
TABLE spent;
COMMIT;
TABLE spent;
DO $$
BEGIN
	PERFORM ledger_charge('trans', '{0,1,0}');
	RAISE EXCEPTION 'out of it';
EXCEPTION WHEN OTHERS THEN
	RAISE NOTICE '%', SQLERRM;
END $$;
TABLE spent;

-- ends
SELECT ledger_charge('trans', '{0,1,0}');
SELECT last_status('charged');
SELECT ledger_charge('trans', '{0,1,0}', outcome => 'error');
SELECT last_status('failed');
DO $$
BEGIN
	PERFORM ledger_charge('trans', '{0,1,0}', outcome => 'error');
EXCEPTION WHEN OTHERS THEN
	RAISE NOTICE '%', SQLERRM;
END $$;
SELECT last_status('failed');
TABLE spent;

-- a cursor closed after one row
BEGIN;
DECLARE c CURSOR FOR SELECT ledger_charge('trans', '{0,1,0}') FROM generate_series(1, 1000);
FETCH 1 FROM c;
CLOSE c;
COMMIT;
TABLE spent;

-- every isolation level
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT 1;
SELECT ledger_charge('trans', '{0,1,0}');
COMMIT;
SELECT last_status('charged');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT ledger_charge('trans', '{0,1,0}'), ledger_charge('trans', '{0,1,0}');
COMMIT;
SELECT last_status('charged');
TABLE spent;

-- where nothing can be charged
BEGIN READ ONLY;
SELECT ledger_charge('trans', '{0,1,0}');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE TABLE many AS SELECT i FROM generate_series(1, 1000) i;
ALTER TABLE many SET (parallel_workers = 2);
SELECT count(ledger_charge_parallel('trans', '{0,1,0}')) FROM many;
\echo :LAST_ERROR_SQLSTATE
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
TABLE spent;

-- what this transaction itself made or changed, the charge worker can't see
BEGIN;
CREATE TABLE fresh (who int);
SELECT dp_protect('fresh', 'who', 1, 0);
SELECT ledger_charge('fresh', '{0,1,0}');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
CREATE ROLE regress_trans_ana;
BEGIN;
SELECT dp_grant('trans', 'regress_trans_ana');
SELECT ledger_charge('trans', '{0,1,0}');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
BEGIN;
SAVEPOINT s;
SELECT dp_grant('trans', 'regress_trans_ana');
ROLLBACK TO s;
SELECT ledger_charge('trans', '{0,1,0}');
COMMIT;
BEGIN;
SELECT dp_unprotect('trans');
SELECT ledger_charge('trans', '{0,1,0}');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;

-- a transaction that holds the dataset's row waits for its own worker, but not for ever
\set VERBOSITY sqlstate
SET dpngram.charge_timeout = 10;
\set VERBOSITY default
SET dpngram.charge_timeout = '300ms';
BEGIN;
SELECT count(*) FROM (SELECT FROM dpngram.dataset WHERE name = 'trans' FOR UPDATE) d;
SELECT ledger_charge('trans', '{0,1,0}');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
RESET dpngram.charge_timeout;
TABLE spent;

-- settings of the database or the session don't reach the worker
CREATE FUNCTION bad_settings(verb text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	setting text;
BEGIN
	FOREACH setting IN ARRAY ARRAY['default_transaction_read_only = on', 'statement_timeout = 1',
		'lock_timeout = 1', 'default_transaction_isolation = serializable', 'search_path = nowhere',
		'session_replication_role = replica'] LOOP
		EXECUTE format('ALTER DATABASE %I %s %s', current_database(), verb,
			CASE verb WHEN 'RESET' THEN split_part(setting, ' ', 1) ELSE setting END);
	END LOOP;
END $$;
SELECT bad_settings('SET');
SET statement_timeout = '10s';
SELECT ledger_charge('trans', '{0,1,0}');
RESET statement_timeout;
SELECT bad_settings('RESET');
TABLE spent;

-- an analyst's connection has no business in the tables
SELECT dp_grant('trans', 'regress_trans_ana');
SET ROLE regress_trans_ana;
SELECT ledger_charge('trans', '{0,1,0}');
SELECT session_role = session_user, caller_role, grantee, mechanism, eps_pure, status FROM dpngram.releases;
SELECT * FROM dpngram.release;
INSERT INTO dpngram.release_end VALUES (1, 'done');
RESET ROLE;
SELECT dp_unprotect('trans');
DROP TABLE trans, many CASCADE;
DROP FUNCTION last_status, bad_settings;
DROP VIEW spent;
DROP ROLE regress_trans_ana;

-- a worker does nothing for a session that has another version of the library
CREATE TABLE asked (who int);
SELECT dp_protect('asked', 'who', 100, 0);
SELECT ledger_ask('asked', true);
SELECT ledger_ask('asked', false);
SELECT mechanism, eps_pure FROM dpngram.releases WHERE dataset = 'asked' ORDER BY id;
SELECT dp_unprotect('asked');
DROP TABLE asked;
