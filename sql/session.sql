-- The session that asks is not the one that reads: what an analyst can set, make or look at in
-- it says and changes nothing of a read.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
\set SHOW_CONTEXT never
CREATE ROLE regress_ses_owner;
CREATE ROLE regress_ses_ana;
CREATE SCHEMA ses AUTHORIZATION regress_ses_owner;
CREATE SCHEMA ses_ana AUTHORIZATION regress_ses_ana;
GRANT USAGE ON SCHEMA ses TO PUBLIC;
-- what a call answers, in one line
CREATE FUNCTION ses.words(relation text, options text DEFAULT '{}', epsilon float8 DEFAULT 4, tokenizer text DEFAULT 'word') RETURNS text LANGUAGE plpgsql AS $$
DECLARE found text;
BEGIN
	SELECT coalesce(string_agg(ngram, ' ' ORDER BY ngram COLLATE "C"), 'nothing') INTO found
	  FROM dp_ngrams(relation::regclass, 'who', 'what', epsilon, 1e-4, max_length => 1, options => options::jsonb, tokenizer => tokenizer);
	RETURN found;
EXCEPTION WHEN query_canceled OR OTHERS THEN RETURN SQLSTATE;
END $$;
GRANT EXECUTE ON FUNCTION ses.words TO PUBLIC;

-- ---- settings ----
-- TimeZone and DateStyle don't move rows from one period to another
SET ROLE regress_ses_owner;
CREATE TABLE ses.ev (who int, what text, at timestamptz, written text);
INSERT INTO ses.ev SELECT i, 'launch codes', '2026-03-03 12:00+00', '03/04/2026' FROM generate_series(1, 300) i;
CREATE VIEW ses.by_day AS SELECT who, what, at::date AS day FROM ses.ev;
CREATE VIEW ses.by_text AS SELECT who, what, written::date AS day FROM ses.ev;
SELECT dp_protect('ses.by_day', 'who', 4, 1e-3, options => '{"renews": "1 day", "time_col": "day"}'),
	dp_protect('ses.by_text', 'who', 4, 1e-3, options => '{"renews": "1 month", "time_col": "day"}'),
	dp_grant('ses.by_day', 'regress_ses_ana'), dp_grant('ses.by_text', 'regress_ses_ana');
SET ROLE regress_ses_ana;
SELECT ses.words('ses.by_day', '{"period": "2026-03-03"}'), ses.words('ses.by_day', '{"period": "2026-03-03"}') AS again;
SET timezone = 'Pacific/Kiritimati';
SELECT ses.words('ses.by_day', '{"period": "2026-03-04"}');
SET timezone = '<X>+100';
SELECT ses.words('ses.by_day', '{"period": "2026-02-27"}'), ses.words('ses.by_day', '{"period": "2026-03-07"}');
RESET timezone;
SET datestyle = 'ISO, DMY';
SELECT ses.words('ses.by_text', '{"period": "2026-04-01"}');
SET datestyle = 'ISO, MDY';
SELECT ses.words('ses.by_text', '{"period": "2026-04-01"}'), ses.words('ses.by_text', '{"period": "2026-03-01"}');
RESET datestyle;

-- default_text_search_config is not the analyst's to choose, neither to show what a policy hides nor to fail
SET ROLE regress_ses_owner;
CREATE TABLE ses.notes (who int, what text);
INSERT INTO ses.notes SELECT i, CASE WHEN i % 2 = 0 THEN 'hello there' ELSE 'confidential merger plan' END FROM generate_series(1, 600) i;
INSERT INTO ses.notes VALUES (1000, 'write to bob@example.org');
ALTER TABLE ses.notes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON ses.notes USING (NOT to_tsvector(what) @@ to_tsquery('confidential'));
SELECT dp_protect('ses.notes', 'who', 40, 1e-2), dp_grant('ses.notes', 'regress_ses_ana');
SET ROLE regress_ses_ana;
CREATE TEXT SEARCH CONFIGURATION ses_ana.nothing (PARSER = default);
SET default_text_search_config = 'ses_ana.nothing';
SELECT ses.words('ses.notes');
CREATE TEXT SEARCH DICTIONARY ses_ana.sub (TEMPLATE = simple);
CREATE TEXT SEARCH DICTIONARY ses_ana.thesaurus (TEMPLATE = thesaurus, DictFile = thesaurus_sample, Dictionary = ses_ana.sub);
CREATE TEXT SEARCH CONFIGURATION ses_ana.trap (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION ses_ana.trap ALTER MAPPING FOR email WITH ses_ana.thesaurus;
DROP TEXT SEARCH DICTIONARY ses_ana.sub;
SET default_text_search_config = 'ses_ana.trap';
SELECT ses.words('ses.notes');
RESET default_text_search_config;
SELECT ses.words('ses.notes', tokenizer => 'config:ses_ana.trap') AS refused;
-- where the owner's own dictionary breaks in the middle of a read, a text that needs it has no words
RESET ROLE;
CREATE TEXT SEARCH DICTIONARY ses.sub (TEMPLATE = simple);
CREATE TEXT SEARCH DICTIONARY ses.thesaurus (TEMPLATE = thesaurus, DictFile = thesaurus_sample, Dictionary = ses.sub);
CREATE TEXT SEARCH CONFIGURATION ses.owners (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION ses.owners ALTER MAPPING FOR email WITH ses.thesaurus;
CREATE FUNCTION ses.breaking(t text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS
$$ BEGIN IF t LIKE '%@%' THEN DROP TEXT SEARCH DICTIONARY IF EXISTS ses.sub; END IF; RETURN t; END $$;
CREATE TABLE ses.mails AS SELECT i AS who, CASE WHEN i < 40 THEN 'write to bob@example.org' ELSE 'hello there' END AS what FROM generate_series(1, 300) i;
CREATE VIEW ses.broken AS SELECT who, ses.breaking(what) AS what FROM ses.mails;
SELECT dp_protect('ses.broken', 'who', 40, 1e-2), dp_grant('ses.broken', 'regress_ses_ana');
SET ROLE regress_ses_ana;
SELECT ses.words('ses.broken', epsilon => 8, tokenizer => 'config:ses.owners');
-- and the read was rolled back
SELECT count(*) AS still_there FROM pg_ts_dict WHERE dictname = 'sub';

-- ---- isolation levels ----
SET ROLE regress_ses_owner;
CREATE TABLE ses.dated (who int, what text, at timestamptz);
INSERT INTO ses.dated SELECT i, 'good morning world ' || i, timestamptz '2026-01-01 12:00+00' + (i % 200) * interval '1 day' FROM generate_series(1, 4000) i;
CREATE INDEX ON ses.dated (at);
CREATE TABLE ses.said AS SELECT i AS who, CASE WHEN i = 300 THEN 'hiv' WHEN i % 2 = 0 THEN 'flu' ELSE 'cold' END AS what FROM generate_series(1, 300) i;
CREATE TABLE ses.codes (word text PRIMARY KEY, label text);
INSERT INTO ses.codes VALUES ('flu', 'influenza'), ('cold', 'common cold'), ('hiv', 'virus'), ('measles', 'rubeola');
GRANT SELECT ON ses.codes TO PUBLIC;
CREATE VIEW ses.labelled AS SELECT t.who, c.label AS what FROM ses.said t LEFT JOIN ses.codes c ON c.word = t.what;
SELECT dp_protect('ses.dated', 'who', 8, 1e-2, options => '{"renews": "1 day", "time_col": "at"}'), dp_protect('ses.labelled', 'who', 40, 1e-2),
	dp_grant('ses.dated', 'regress_ses_ana'), dp_grant('ses.labelled', 'regress_ses_ana');
SET ROLE regress_ses_ana;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_memoize = off;
SET enable_material = off;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT ses.words('ses.dated', '{"period": "2026-05-05"}', 1), ses.words('ses.labelled');
SELECT count(*) AS told FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relnamespace = 'ses'::regnamespace;
COMMIT;
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_memoize;
RESET enable_material;
-- the read sees what is committed, and not what the caller's own transaction wrote
SET ROLE regress_ses_owner;
BEGIN;
INSERT INTO ses.said VALUES (301, 'mumps');
SELECT ses.words('ses.labelled') AS without_it;
ROLLBACK;
BEGIN;
INSERT INTO ses.notes VALUES (7, 'mine');
SELECT count(*) FROM dp_ngrams('ses.notes', 'who', 'what', 4, 1e-4);
ROLLBACK;
CREATE TABLE ses.parted (who int, what text) PARTITION BY LIST (who);
CREATE TABLE ses.part PARTITION OF ses.parted DEFAULT;
SELECT dp_protect('ses.parted', 'who', 4, 1e-3);
BEGIN;
INSERT INTO ses.part VALUES (7, 'mine');
SELECT count(*) FROM dp_ngrams('ses.parted', 'who', 'what', 4, 1e-4);
ROLLBACK;

-- ---- temporary objects ----
CREATE TABLE ses.raw AS SELECT i AS who, 'secret' AS what FROM generate_series(1, 300) i;
CREATE TABLE ses.banned (word text);
CREATE FUNCTION ses.ok(t text) RETURNS boolean LANGUAGE plpgsql SET search_path = ses AS
$$ BEGIN RETURN NOT EXISTS (SELECT FROM banned WHERE word = t); END $$;
CREATE DOMAIN ses.clean AS text CHECK (ses.ok(VALUE));
CREATE TYPE ses.rec AS (w ses.clean);
CREATE TYPE ses.drange AS RANGE (subtype = ses.clean);
CREATE VIEW ses.v_domain AS SELECT who, what::ses.clean::text AS what FROM ses.raw;
CREATE VIEW ses.v_array AS SELECT who, ('{' || what || '}')::ses.clean[] AS what FROM ses.raw;
CREATE VIEW ses.v_rec AS SELECT who, ('(' || what || ')')::ses.rec::text AS what FROM ses.raw;
CREATE VIEW ses.v_json AS SELECT who, to_jsonb(jsonb_populate_record(NULL::ses.rec, jsonb_build_object('w', what))) ->> 'w' AS what FROM ses.raw;
CREATE VIEW ses.v_range AS SELECT who, ('[' || what || ',' || what || ']')::ses.drange::text AS what FROM ses.raw;
SELECT dp_protect(v, 'who', 8, 1e-2, dataset => v::text), dp_grant(v::text::name, 'regress_ses_ana')
FROM unnest('{ses.v_domain,ses.v_array,ses.v_rec,ses.v_json,ses.v_range}'::regclass[]) v;
SET ROLE regress_ses_ana;
CREATE TABLE ses_ana.loot (t text);
GRANT ALL ON ses_ana.loot TO PUBLIC;
GRANT USAGE ON SCHEMA ses_ana TO PUBLIC;
CREATE FUNCTION ses_ana.steal() RETURNS text LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO ses_ana.loot SELECT current_user || ': ' || who || ' ' || what FROM ses.raw; RETURN 'none'; END $$;
CREATE TEMP VIEW banned AS SELECT ses_ana.steal() AS word;
GRANT ALL ON banned TO PUBLIC;
SELECT v, ses.words(v) FROM unnest('{ses.v_domain,ses.v_array,ses.v_rec,ses.v_json,ses.v_range}'::text[]) v;
SELECT count(*) FROM ses_ana.loot;
DISCARD TEMP;

-- ---- what a read leaves behind: nothing ----
SET ROLE regress_ses_owner;
CREATE SEQUENCE ses.calls;
GRANT ALL ON ses.calls TO PUBLIC;
CREATE FUNCTION ses.tidy(t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE c refcursor; d text; r record;
BEGIN
	OPEN c FOR SELECT word FROM ses.codes ORDER BY word;
	FETCH c INTO d;
	FOR r IN SELECT word FROM ses.codes LOOP PERFORM random(), nextval('ses.calls'); END LOOP;
	RETURN t;
END $$;
CREATE VIEW ses.tidied AS SELECT who, ses.tidy(what) AS what FROM ses.said;
SELECT dp_protect('ses.tidied', 'who', 400, 1e-1, options => '{"min_epsilon": 0}'), dp_grant('ses.tidied', 'regress_ses_ana');
SET ROLE regress_ses_ana;
CREATE FUNCTION ses_ana.portal() RETURNS int LANGUAGE plpgsql AS
$$ DECLARE c refcursor; BEGIN OPEN c FOR SELECT 1; CLOSE c; RETURN substring(c::text FROM '\d+')::int; END $$;
SELECT ses.words('ses.tidied') AS warm, ses_ana.portal() AS portal \gset
SELECT setseed(0.25);
SELECT random() AS first, random() AS second \gset
BEGIN;
SELECT setseed(0.25);
SELECT random() = :first AS first;
SELECT ses.words('ses.tidied');
SELECT random() = :second AS second, ses_ana.portal() - :portal AS portals;
SELECT count(*) AS cursors FROM pg_cursors WHERE statement LIKE '%codes%';
SELECT count(*) AS locks FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
 WHERE l.pid = pg_backend_pid() AND c.relnamespace = 'ses'::regnamespace;
SAVEPOINT s;
SELECT currval('ses.calls');
ROLLBACK TO s;
COMMIT;

-- the worker's session was begun by the server's superuser, and nobody becomes that in it
SET ROLE regress_ses_owner;
CREATE FUNCTION ses.who(t text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN RETURN (session_user = 'regress_ses_owner') || ' ' || (current_user = 'regress_ses_owner') || ' ' || current_setting('is_superuser'); END $$;
CREATE FUNCTION ses.rise(t text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RESET SESSION AUTHORIZATION; RETURN current_user; END $$;
CREATE FUNCTION ses.ascend(t text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('session_authorization', 'default', false); RETURN current_user; END $$;
CREATE VIEW ses.who_v AS SELECT who, ses.who(what) AS what FROM ses.said;
CREATE VIEW ses.rise_v AS SELECT who, ses.rise(what) AS what FROM ses.said;
CREATE VIEW ses.ascend_v AS SELECT who, ses.ascend(what) AS what FROM ses.said;
SELECT dp_protect('ses.who_v', 'who', 400, 1e-1), dp_protect('ses.rise_v', 'who', 400, 1e-1), dp_protect('ses.ascend_v', 'who', 400, 1e-1);
SELECT ses.words('ses.who_v'), ses.words('ses.rise_v'), ses.words('ses.ascend_v');

-- EXPLAIN shows the same of a call that fails, however many rows there were
SET ROLE regress_ses_owner;
CREATE TABLE ses.few AS SELECT i AS who, repeat('words ', 100) AS what FROM generate_series(1, 20) i;
CREATE TABLE ses.many AS SELECT i AS who, repeat('words ', 100) AS what FROM generate_series(1, 4000) i;
ANALYZE ses.many;
CREATE FUNCTION ses.fails(who int, most int) RETURNS int LANGUAGE plpgsql AS
$$ BEGIN IF who = most THEN RAISE EXCEPTION 'someone is %', who; END IF; RETURN who; END $$;
CREATE VIEW ses.few_v AS SELECT ses.fails(who, 20) AS who, what FROM ses.few;
CREATE VIEW ses.many_v AS SELECT ses.fails(who, 4000) AS who, what FROM ses.many;
SELECT dp_protect('ses.few_v', 'who', 400, 1e-1), dp_protect('ses.many_v', 'who', 400, 1e-1),
	dp_grant('ses.few_v', 'regress_ses_ana'), dp_grant('ses.many_v', 'regress_ses_ana');
SET ROLE regress_ses_ana;
-- (the ledger's own pages, which do not depend on them, count a little as it grows)
CREATE FUNCTION ses_ana.buffers(relation text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
	EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, FORMAT json) SELECT ses.words(%L)', relation) INTO plan;
	plan := plan -> 0 -> 'Plan';
	RETURN (plan ->> 'Shared Hit Blocks')::bigint + (plan ->> 'Shared Read Blocks')::bigint
		+ (plan ->> 'Temp Read Blocks')::bigint + (plan ->> 'Temp Written Blocks')::bigint;
END $$;
SELECT ses.words('ses.few_v'), ses.words('ses.many_v');
SELECT abs(min(ses_ana.buffers('ses.few_v')) - min(ses_ana.buffers('ses.many_v'))) < 10 AS same, (SELECT relpages > 250 FROM pg_class WHERE oid = 'ses.many'::regclass) AS of_many
  FROM generate_series(1, 8);

-- ---- made-up users of one hash are sorted, not taken one by one ----
SET ROLE regress_ses_owner;
CREATE TABLE ses.colliding AS SELECT (i::bigint << 32) | (i # 5) AS who, 'word' || i % 7 || ' ' || repeat('ab cd ef ', 10) AS what FROM generate_series(1, 20000) i;
CREATE TABLE ses.ordinary AS SELECT i::bigint AS who, 'word' || i % 7 || ' ' || repeat('ab cd ef ', 10) AS what FROM generate_series(1, 20000) i;
INSERT INTO ses.colliding SELECT who, 'twice' FROM ses.colliding;
INSERT INTO ses.ordinary SELECT who, 'twice' FROM ses.ordinary;
SELECT count(DISTINCT hashint8extended(who, 0)) FROM ses.colliding;
SELECT dp_protect('ses.colliding', 'who', 4000, 1e-1), dp_protect('ses.ordinary', 'who', 4000, 1e-1);
RESET ROLE;
SET work_mem = '64kB';
SET statement_timeout = '60s';
SET client_min_messages = error;
SET dpngram.test_seed = 3;
SELECT (SELECT array_agg(d ORDER BY d.ngram) FROM dp_ngrams('ses.colliding', 'who', 'what', 4, 1e-4, max_length => 2, method => 'dpne') d)
	= (SELECT array_agg(d ORDER BY d.ngram) FROM dp_ngrams('ses.ordinary', 'who', 'what', 4, 1e-4, max_length => 2, method => 'dpne') d) AS same_rows;
RESET dpngram.test_seed;
SET client_min_messages = warning;
RESET statement_timeout;
RESET work_mem;

-- ---- names of datasets, and the smallest call ----
SET ROLE regress_ses_ana;
CREATE TABLE ses_ana.x (who int, what text);
SELECT dp_protect('ses_ana.x', 'who', 1, 1e-6, dataset => 'ses.future');
SET search_path = ses_ana, public;
SELECT dp_protect('ses_ana.x', 'who', 1, 1e-6, dataset => 'future');
SET ROLE regress_ses_owner;
SET search_path = ses, public;
SET client_min_messages = notice;
CREATE TABLE ses.future (who int, what text);
SELECT dp_protect('ses.future', 'who', 1, 1e-6);
SELECT dp_protect('ses.raw', 'who', 8, 1e-3, options => '{"min_epsilon": 9}');
SELECT dp_protect('ses.raw', 'who', 8, 1e-3, options => '{"min_epsilon": -1}');
SELECT dp_protect('ses.raw', 'who', 8, 1e-3, options => '{"min_epsilon": "NaN"}');
SET client_min_messages = warning;
SET client_min_messages = error;
SELECT dp_protect('ses.raw', 'who', 8, 1e-3, dataset => 'raw');
SET client_min_messages = warning;
RESET search_path;
SELECT ses.words('ses.raw', epsilon => 0.0079), ses.words('ses.raw', epsilon => 0.008);
SELECT count(*) FROM dp_ngrams('ses.raw', 'who', 'what', 1e-3, 1e-6);
SELECT * FROM dp_price('dp_ngrams', 0.001, 1e-6, '{"dataset": "raw"}');
SELECT count(*) FROM dpngram.releases WHERE dataset = 'raw' AND mechanism = 'dp_ngrams';

RESET ROLE;
DO $$ BEGIN PERFORM dp_unprotect(d.name::name) FROM dpngram.dataset d WHERE d.ended IS NULL AND d.owner LIKE 'regress_ses%' OR d.name = 'ses.broken' AND d.ended IS NULL; END $$;
DROP SCHEMA ses, ses_ana CASCADE;
DROP OWNED BY regress_ses_owner, regress_ses_ana;
DROP ROLE regress_ses_owner, regress_ses_ana;
