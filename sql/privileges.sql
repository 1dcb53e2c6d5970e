-- What an analyst can't do
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
SET client_min_messages = warning;
CREATE ROLE regress_priv_owner;
CREATE ROLE regress_priv_ana;
CREATE ROLE regress_priv_bob;
CREATE SCHEMA priv AUTHORIZATION regress_priv_owner;
GRANT USAGE ON SCHEMA priv TO regress_priv_ana, regress_priv_bob;
CREATE SCHEMA evil AUTHORIZATION regress_priv_ana;
GRANT USAGE ON SCHEMA evil TO PUBLIC;

SET ROLE regress_priv_owner;
CREATE TABLE priv.raw (who int, what text);
INSERT INTO priv.raw SELECT i, 'Some Words' FROM generate_series(1, 200) i;
-- the owner's view calls an unqualified function
SET search_path = priv, pg_catalog;
CREATE VIEW priv.texts AS SELECT who, lower(what) AS what FROM priv.raw;
CREATE FUNCTION priv.helper(t text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN lower(t); END $$;
CREATE VIEW priv.helped AS SELECT who, priv.helper(what) AS what FROM priv.raw;
RESET search_path;
SELECT dp_protect('priv.texts', 'who', 100, 1e-1);
SELECT dp_grant('priv.texts', 'regress_priv_ana');
SELECT dp_protect('priv.helped', 'who', 100, 1e-1);
SELECT dp_grant('priv.helped', 'regress_priv_ana');

-- the analyst's own functions stand first in the search path and are never called by the read
SET ROLE regress_priv_ana;
CREATE TABLE evil.loot (t text);
GRANT INSERT ON evil.loot TO PUBLIC;
CREATE FUNCTION evil.lower(t text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO evil.loot VALUES (t); RETURN t; END $$;
CREATE FUNCTION evil.int4lt(a int, b int) RETURNS bool LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO evil.loot VALUES (a::text); RETURN pg_catalog.int4lt(a, b); END $$;
CREATE OPERATOR evil.< (FUNCTION = evil.int4lt, LEFTARG = int, RIGHTARG = int);
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA evil TO PUBLIC;
SET search_path = evil, pg_catalog, public;
SELECT n, ngram FROM dp_ngrams('priv.texts', 'who', 'what', 4, 1e-3, max_length => 2, spurious => 1e-6);
SELECT n, ngram FROM dp_ngrams('priv.helped', 'who', 'what', 4, 1e-3, max_length => 2, spurious => 1e-6);
SELECT count(*) FROM evil.loot;
RESET search_path;

-- the raw tables, the ledger, another privacy unit, the noise, another's releases
SELECT * FROM priv.raw;
SELECT * FROM priv.texts;
SELECT * FROM dpngram.dataset;
SELECT * FROM dpngram.release;
SELECT * FROM dpngram.grantee;
UPDATE dpngram.dataset SET mu2_spent = 0;
SELECT * FROM dp_ngrams('priv.texts', 'what', 'what', 1, 1e-3);
SET dpngram.test_seed = 42;
-- of the ledger the analyst has the views and nothing else
SELECT oid::regclass AS open, has_table_privilege(oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') AS changeable
FROM pg_class WHERE relnamespace = 'dpngram'::regnamespace AND CASE
	WHEN relkind = 'S' THEN has_sequence_privilege(oid, 'USAGE, SELECT, UPDATE')
	WHEN relkind IN ('r', 'v') THEN has_table_privilege(oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
		OR has_any_column_privilege(oid, 'SELECT, INSERT, UPDATE, REFERENCES')
END ORDER BY relname;
SELECT count(*) > 0 AS own FROM dpngram.releases;
SELECT dataset FROM dpngram.budget ORDER BY 1;
SELECT dp_grant('priv.texts', 'regress_priv_bob');
SELECT dp_unprotect('priv.texts');
SELECT dp_protect('priv.raw', 'who', 100, 1e-1);
SET ROLE regress_priv_bob;
SELECT count(*) FROM dpngram.releases;
SELECT count(*) FROM dpngram.budget;
SELECT * FROM dp_ngrams('priv.texts', 'who', 'what', 1, 1e-3);

-- no error, NOTICE or message of the read reaches the analyst, and the release stays charged
SET ROLE regress_priv_owner;
CREATE FUNCTION priv.chatty(t text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN RAISE NOTICE 'secret %', t; RAISE WARNING 'secret %', t; RAISE INFO 'secret %', t; RETURN t; END $$;
CREATE VIEW priv.loud AS SELECT who, priv.chatty(what) AS what FROM priv.raw;
CREATE VIEW priv.broken AS SELECT who, (1 / (who - 7))::text || what AS what FROM priv.raw;
CREATE FUNCTION priv.throws(t text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'secret %', t USING DETAIL = 'secret', HINT = 'secret'; END $$;
CREATE VIEW priv.throwing AS SELECT who, priv.throws(what) AS what FROM priv.raw;
CREATE FUNCTION priv.cancels(t text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'secret %', t USING ERRCODE = 'query_canceled'; END $$;
CREATE VIEW priv.canceling AS SELECT who, priv.cancels(what) AS what FROM priv.raw;
SELECT dp_protect(v, 'who', 100, 1e-1) FROM unnest('{priv.loud,priv.broken,priv.throwing,priv.canceling}'::regclass[]) v;
SELECT dp_grant(v, 'regress_priv_ana') FROM unnest('{priv.loud,priv.broken,priv.throwing,priv.canceling}'::text[]) v;
SET ROLE regress_priv_ana;
SET client_min_messages = debug1;
SELECT n, ngram FROM dp_ngrams('priv.loud', 'who', 'what', 4, 1e-3, max_length => 2, spurious => 1e-6);
SET client_min_messages = warning;
\set VERBOSITY sqlstate
SELECT * FROM dp_ngrams('priv.broken', 'who', 'what', 4, 1e-3);
SELECT * FROM dp_ngrams('priv.throwing', 'who', 'what', 4, 1e-3);
SELECT * FROM dp_ngrams('priv.canceling', 'who', 'what', 4, 1e-3);
\set VERBOSITY default
DO $$
DECLARE message text; detail text; hint text; context text;
BEGIN
	PERFORM dp_ngrams('priv.throwing', 'who', 'what', 4, 1e-3);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT,
		context = PG_EXCEPTION_CONTEXT;
	RAISE WARNING '%', message;
	IF concat(message, detail, hint, context) ILIKE '%secret%' THEN RAISE WARNING 'it leaks'; END IF;
END $$;
RESET ROLE;
SELECT relation, count(*), bool_and(mu2 > 0) FROM dpngram.releases
WHERE relation IN ('priv.broken', 'priv.throwing') AND mechanism = 'dp_ngrams' GROUP BY relation ORDER BY relation;
-- EXPLAIN shows no buffers of the read
SET ROLE regress_priv_ana;
CREATE FUNCTION evil.buffers() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF)
		SELECT * FROM dp_ngrams('priv.texts', 'who', 'what', 4, 1e-3, max_length => 1)
	LOOP
		IF line ~ 'temp (read|written)' THEN RETURN NEXT line; END IF;
	END LOOP;
END $$;
SET work_mem = '64kB';
SELECT evil.buffers();
RESET ROLE;

SELECT dp_unprotect(v) FROM unnest('{priv.texts,priv.helped,priv.loud,priv.broken,priv.throwing,priv.canceling}'::text[]) v;
SET client_min_messages = error;
DROP SCHEMA priv, evil CASCADE;
DROP ROLE regress_priv_owner, regress_priv_ana, regress_priv_bob;
