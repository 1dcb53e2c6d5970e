-- What an attacker tried: a secret, and a row that a policy hides, must never show
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
SET client_min_messages = warning;
CREATE ROLE regress_atk_owner;
CREATE ROLE regress_atk_ana;
CREATE SCHEMA atk AUTHORIZATION regress_atk_owner;
CREATE SCHEMA atk_ana AUTHORIZATION regress_atk_ana;
GRANT USAGE ON SCHEMA atk, atk_ana TO PUBLIC;

SET ROLE regress_atk_owner;
CREATE TABLE atk.raw (who int, what text, hidden bool);
INSERT INTO atk.raw SELECT i, 'some words', false FROM generate_series(1, 300) i;
INSERT INTO atk.raw SELECT i, 'secret', true FROM generate_series(301, 600) i;
ALTER TABLE atk.raw ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY shown ON atk.raw USING (NOT hidden);
CREATE TABLE atk.aliases (word text, alias text);
-- a function that finds its tables by a search_path of its own, as is usual
CREATE FUNCTION atk.alias(t text) RETURNS text LANGUAGE plpgsql SET search_path = atk AS
$$ BEGIN RETURN coalesce((SELECT alias FROM aliases WHERE word = t), t); END $$;
CREATE VIEW atk.aliased AS SELECT who, atk.alias(what) AS what FROM atk.raw;
CREATE VIEW atk.plain AS SELECT who, lower(what) AS what FROM atk.raw;
-- a function whose values stand in the text of a statement
CREATE FUNCTION atk.slow(t text) RETURNS text LANGUAGE plpgsql AS
$$ DECLARE r text; BEGIN EXECUTE format('SELECT %L FROM pg_sleep(0.01)', 'secret ' || t) INTO r; RETURN r; END $$;
CREATE VIEW atk.slowly AS SELECT who, atk.slow(what) AS what FROM atk.raw;
-- one that feigns a cancel
CREATE FUNCTION atk.feign(t text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'secret %', t USING ERRCODE = '57014'; END $$;
CREATE VIEW atk.feigned AS SELECT who, atk.feign(what) AS what FROM atk.raw;
SELECT dp_protect(r, 'who', 100, 1e-1, dataset => r::text)
FROM unnest('{atk.raw,atk.aliased,atk.plain,atk.slowly,atk.feigned}'::regclass[]) r;
SELECT dp_grant(r, 'regress_atk_ana') FROM unnest('{atk.raw,atk.aliased,atk.plain,atk.slowly,atk.feigned}'::text[]) r;

-- FORCE ROW LEVEL SECURITY holds also in a trigger fired by a foreign key's cascade
SET ROLE regress_atk_ana;
CREATE TABLE atk_ana.loot (t text);
GRANT ALL ON atk_ana.loot TO PUBLIC;
CREATE TABLE atk_ana.pk (i int PRIMARY KEY);
CREATE TABLE atk_ana.fk (i int REFERENCES atk_ana.pk ON DELETE CASCADE);
CREATE FUNCTION atk_ana.ask() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
	INSERT INTO atk_ana.loot SELECT ngram FROM dp_ngrams('atk.raw', 'who', 'what', 4, 1e-3, max_length => 1);
	RETURN OLD;
END $$;
CREATE TRIGGER ask BEFORE DELETE ON atk_ana.fk FOR EACH ROW EXECUTE FUNCTION atk_ana.ask();
INSERT INTO atk_ana.pk VALUES (1);
INSERT INTO atk_ana.fk VALUES (1);
DELETE FROM atk_ana.pk;
SELECT * FROM atk_ana.loot ORDER BY t;
TRUNCATE atk_ana.loot;

-- a cancel brings no context of the read with it, and a feigned one is masked
CREATE FUNCTION atk_ana.try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE state text; message text; detail text; hint text; context text;
BEGIN
	EXECUTE call;
	RETURN 'answered';
EXCEPTION WHEN query_canceled OR OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
		hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT;
	RETURN state || CASE WHEN concat(message, detail, hint, context) LIKE '%secret%' THEN ' and it leaks' ELSE '' END;
END $$;
SET statement_timeout = '1s';
SELECT atk_ana.try($$SELECT * FROM dp_ngrams('atk.slowly', 'who', 'what', 1, 1e-4)$$);
RESET statement_timeout;
SELECT atk_ana.try($$SELECT * FROM dp_ngrams('atk.feigned', 'who', 'what', 1, 1e-4)$$);

-- temporary objects stand in for nothing that the owner's functions name: the read does not see them
CREATE FUNCTION atk_ana.steal() RETURNS text LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO atk_ana.loot SELECT current_user || ' ' || what FROM atk.raw; RETURN 'stolen'; END $$;
CREATE TEMP VIEW aliases AS SELECT w AS word, atk_ana.steal() AS alias FROM (VALUES ('some words')) v (w);
GRANT ALL ON aliases TO PUBLIC;
SELECT ngram FROM dp_ngrams('atk.aliased', 'who', 'what', 4, 1e-3, max_length => 1);
SELECT count(*) FROM atk_ana.loot;
SELECT ngram FROM dp_ngrams('atk.plain', 'who', 'what', 4, 1e-3, max_length => 1);
SELECT ngram FROM dp_ngrams('atk.raw', 'who', 'what', 4, 1e-3, max_length => 1);
DROP VIEW aliases;
CREATE DOMAIN pg_temp.harmless AS text CHECK (atk_ana.steal() IS NOT NULL);
SELECT ngram FROM dp_ngrams('atk.aliased', 'who', 'what', 4, 1e-3, max_length => 1);
DISCARD TEMP;
SELECT ngram FROM dp_ngrams('atk.aliased', 'who', 'what', 4, 1e-3, max_length => 1);
SELECT count(*) FROM atk_ana.loot;

-- the text of the owner's functions means what it meant to the owner
SET ROLE regress_atk_owner;
CREATE FUNCTION atk.redact(t text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN regexp_replace(t, '\w+$', 'things'); END $$;
CREATE FUNCTION atk.first(t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE w text; BEGIN SELECT word INTO w FROM regexp_split_to_table(t, ' ') WITH ORDINALITY AS p (word, place) ORDER BY place; RETURN w; END $$;
CREATE FUNCTION atk.split(t text) RETURNS text[] LANGUAGE plpgsql AS $$ BEGIN RETURN ('{' || replace(t, ' ', ',NULL,') || '}')::text[]; END $$;
REVOKE EXECUTE ON FUNCTION atk.redact(text), atk.first(text), atk.split(text) FROM PUBLIC;
CREATE VIEW atk.redacted AS SELECT who, atk.redact(what) AS what, atk.split(what) AS parts, atk.first(what) AS first FROM atk.raw;
SELECT dp_protect('atk.redacted', 'who', 100, 1e-1, dataset => 'atk.redacted');
SELECT dp_grant('atk.redacted', 'regress_atk_ana');
SET ROLE regress_atk_ana;
SET standard_conforming_strings = off;
SET escape_string_warning = off;
SET array_nulls = off;
SET plpgsql.extra_errors = 'all';
SELECT ngram FROM dp_ngrams('atk.redacted', 'who', 'what', 4, 1e-3, max_length => 1);
SELECT ngram FROM dp_ngrams('atk.redacted', 'who', 'parts', 4, 1e-3, max_length => 1);
SELECT ngram FROM dp_ngrams('atk.redacted', 'who', 'first', 4, 1e-3, max_length => 1);
RESET standard_conforming_strings;
RESET escape_string_warning;
RESET array_nulls;
SHOW plpgsql.extra_errors;
RESET plpgsql.extra_errors;

-- statistics, which any role may read, say nothing of the read
BEGIN;
SELECT count(*) FROM dp_ngrams('atk.plain', 'who', 'what', 4, 1e-3, max_length => 1);
SELECT count(*) FROM pg_stat_xact_all_tables
WHERE schemaname = 'atk' AND seq_scan + seq_tup_read + coalesce(idx_tup_fetch, 0) > 0;
COMMIT;

-- the ledger is no place to store things
SELECT * FROM dp_ngrams('atk.plain', 'who', 'what', 1, 1e-6, tokenizer => 'config:' || repeat(' ', 100000) || 'english');
RESET ROLE;
SELECT relation, count(*) FROM dpngram.releases WHERE relation LIKE 'atk.%' AND mechanism = 'dp_ngrams' GROUP BY 1 ORDER BY 1;

-- a budget too large for the grid is kept as it is
SET ROLE regress_atk_owner;
CREATE TABLE atk.huge (who int, what text);
SELECT dp_protect('atk.huge', 'who', 1e300, 0, 'atk.huge');
RESET ROLE;
SELECT eps_pure_cap = 1e300 AS finite FROM dpngram.budget WHERE dataset = 'atk.huge';

SELECT dp_unprotect(r) FROM unnest('{atk.redacted,atk.raw,atk.aliased,atk.plain,atk.slowly,atk.feigned,atk.huge}'::text[]) r;
SET client_min_messages = error;
DROP SCHEMA atk, atk_ana CASCADE;
DROP ROLE regress_atk_owner, regress_atk_ana;
