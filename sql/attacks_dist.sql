-- What was tried on distributions and their building blocks, by analysts, owners and roles that may create things
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
CREATE ROLE regress_atd_owner;
CREATE ROLE regress_atd_ana;
CREATE ROLE regress_atd_eve;
CREATE SCHEMA atd AUTHORIZATION regress_atd_owner;
CREATE SCHEMA atd_ana AUTHORIZATION regress_atd_ana;
CREATE SCHEMA atd_eve AUTHORIZATION regress_atd_eve;
GRANT USAGE ON SCHEMA atd, atd_ana, atd_eve TO PUBLIC;
-- one statement's value, or its error; and whether either holds a value of the data
CREATE FUNCTION atd.try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE value text; state text; message text; detail text; hint text; context text;
BEGIN
	EXECUTE call INTO value;
	RETURN 'fine: ' || coalesce(value, 'nothing');
EXCEPTION WHEN query_canceled OR OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
		hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT;
	RETURN state || ' ' || message || CASE WHEN concat(message, detail, hint, context) LIKE '%secret%' THEN ' and it leaks' ELSE '' END;
END $$;

SET ROLE regress_atd_owner;
CREATE TABLE atd.said (who int, what text);
INSERT INTO atd.said SELECT i, 'secret words here' FROM generate_series(1, 300) i;
CREATE TABLE atd.vocabulary (ngram text, count bigint);
INSERT INTO atd.vocabulary VALUES ('secret words here', 1), ('a b c', 2);
GRANT SELECT ON atd.vocabulary TO PUBLIC;
CREATE FUNCTION atd.slow(t text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.01); RETURN t; END $$;
CREATE VIEW atd.slowly AS SELECT who, atd.slow(what) AS what FROM atd.said;
CREATE FUNCTION atd.fails(t text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'secret %', t; END $$;
CREATE VIEW atd.failing AS SELECT who, atd.fails(what) AS what FROM atd.said;
SELECT dp_protect(r, 'who', 100, 1e-1, dataset => r::text) FROM unnest('{atd.said,atd.slowly,atd.failing}'::regclass[]) r;
SELECT dp_grant(r, 'regress_atd_ana') FROM unnest('{atd.said,atd.slowly,atd.failing}'::text[]) r;
RESET ROLE;
-- calls that were charged since the last look
CREATE TABLE atd.seen (id bigint);
CREATE FUNCTION atd.charged() RETURNS bigint LANGUAGE sql AS $$
	WITH latest AS (SELECT id FROM dpngram.release r WHERE mechanism = 'bayes_dp_dist' AND id NOT IN (SELECT id FROM atd.seen)),
	noted AS (INSERT INTO atd.seen SELECT id FROM latest)
	SELECT count(*) FROM latest $$;
ALTER FUNCTION atd.charged() SECURITY DEFINER;
SELECT count(*) FROM (SELECT atd.charged()) c;

-- a public side that does things while it is read: with the rights of who asks, and before the charge
SET ROLE regress_atd_ana;
CREATE TABLE atd_ana.loot (t text);
GRANT ALL ON atd_ana.loot TO PUBLIC;
CREATE FUNCTION atd_ana.run(act text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN EXECUTE act; RETURN 'a b c'; END $$;
CREATE TABLE atd_ana.act (act text);
CREATE VIEW atd_ana.acting AS SELECT atd_ana.run(act) AS ngram, 1::bigint AS count FROM atd_ana.act;
CREATE FUNCTION atd_ana.ask(does text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM atd_ana.act;
	INSERT INTO atd_ana.act VALUES (does);
	RETURN atd.try($a$SELECT count(*) FROM bayes_dp_dist('atd.said', 'who', 'what', 'atd_ana.acting', 0.1, 1e-6)$a$);
END $$;
SELECT does, atd_ana.ask(does), atd.charged() FROM unnest(ARRAY[
	'SET LOCAL ROLE regress_atd_eve',
	'INSERT INTO atd_ana.loot SELECT what FROM atd.said',
	'ALTER TABLE atd_ana.act RENAME act TO acts',
	'SELECT dp_revoke(''atd.said'', ''regress_atd_ana'')',
	'SELECT 1 / 0']) does;
SELECT atd_ana.ask('SELECT count(*) FROM bayes_dp_dist(''atd.said'', ''who'', ''what'', ''atd.vocabulary'', 0.1, 1e-6)'), atd.charged();
SELECT atd_ana.ask('SELECT set_config(''transaction_read_only'', ''on'', true)'), current_setting('transaction_read_only');
SET statement_timeout = '300ms';
SELECT atd_ana.ask('SELECT pg_sleep(100)');
RESET statement_timeout;
SELECT atd_ana.ask('DROP VIEW atd_ana.acting'), atd.charged();
SELECT count(*) FROM atd_ana.loot;
-- one that grows as it is read is what it was when the statement began
CREATE TABLE atd_ana.growing (ngram text, count bigint);
INSERT INTO atd_ana.growing VALUES ('a b c', 1);
CREATE VIEW atd_ana.grows AS SELECT CASE WHEN atd_ana.run('INSERT INTO atd_ana.growing VALUES (''d e f'', 1)') IS NOT NULL THEN ngram END AS ngram, count FROM atd_ana.growing;
SELECT count(*), sum(probability) FROM bayes_dp_dist('atd.said', 'who', 'what', 'atd_ana.grows', 0.1, 1e-6);
-- types with functions of their own: a domain's run as who asks, an enum's cast is not asked
CREATE FUNCTION atd_ana.note(t text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO atd_ana.loot VALUES (current_user || ' ' || t); RETURN true; END $$;
CREATE DOMAIN atd_ana.checked AS text CHECK (atd_ana.note(VALUE));
CREATE VIEW atd_ana.typed AS SELECT 'a b c'::atd_ana.checked AS ngram, 1::bigint AS count;
SELECT atd.try($$SELECT count(*) FROM bayes_dp_dist('atd.said', 'who', 'what', 'atd_ana.typed', 0.1, 1e-6)$$);
SELECT DISTINCT t FROM atd_ana.loot;
TRUNCATE atd_ana.loot;
CREATE TYPE atd_ana.letters AS ENUM ('a');
CREATE FUNCTION atd_ana.spell(l atd_ana.letters) RETURNS text LANGUAGE sql AS $$ SELECT atd_ana.run('INSERT INTO atd_ana.loot VALUES (current_user)') $$;
CREATE CAST (atd_ana.letters AS text) WITH FUNCTION atd_ana.spell (atd_ana.letters) AS IMPLICIT;
CREATE VIEW atd_ana.spelt AS SELECT 'a'::atd_ana.letters AS ngram, 1::bigint AS count;
SELECT atd.try($$SELECT count(*) FROM bayes_dp_dist('atd.said', 'who', 'what', 'atd_ana.spelt', 0.1, 1e-6)$$);
TABLE atd_ana.loot;
-- what a policy hides from the analyst is no part of the vocabulary
SET ROLE regress_atd_owner;
CREATE TABLE atd.policed (ngram text, count bigint);
INSERT INTO atd.policed VALUES ('a b c', 1), ('hidden from her', 1);
ALTER TABLE atd.policed ENABLE ROW LEVEL SECURITY;
CREATE POLICY shown ON atd.policed USING (ngram NOT LIKE 'hidden%');
GRANT SELECT ON atd.policed TO PUBLIC;
SET ROLE regress_atd_ana;
SELECT ngram FROM bayes_dp_dist('atd.said', 'who', 'what', 'atd.policed', 0.1, 1e-6);

-- every execution is charged, however it is asked for; none draws twice
SELECT count(*) FROM (SELECT atd.charged()) c;
PREPARE ask AS SELECT count(*) FROM bayes_dp_dist('atd.said', 'who', 'what', 'atd.vocabulary', 0.1, 1e-6);
EXECUTE ask;
EXECUTE ask;
SELECT atd.charged() AS executed;
SELECT count(*) FROM generate_series(1, 3) i, LATERAL bayes_dp_dist('atd.said', 'who', 'what', 'atd.vocabulary', 0.1 + 0 * i, 1e-6);
SELECT atd.charged() AS lateral;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT ngram FROM bayes_dp_dist('atd.said', 'who', 'what', 'atd.vocabulary', 0.1, 1e-6);
FETCH ALL c;
MOVE ABSOLUTE 0 c;
FETCH ALL c;
ROLLBACK;
SELECT atd.charged() AS rolled_back;
CREATE FUNCTION atd_ana.undone() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
	BEGIN
		SELECT count(*) INTO n FROM bayes_dp_dist('atd.said', 'who', 'what', 'atd.vocabulary', 0.1, 1e-6);
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN NULL;
	END;
	RETURN n;
END $$;
SELECT atd_ana.undone();
SELECT atd.charged() AS undone;
EXPLAIN (COSTS OFF) EXECUTE ask;
SELECT atd.charged() AS explained;

-- a cancel and an error in the midst of the read are charged and tell nothing
SET statement_timeout = '500ms';
SELECT atd.try($$SELECT count(*) FROM bayes_dp_dist('atd.slowly', 'who', 'what', 'atd.vocabulary', 0.1, 1e-6)$$);
RESET statement_timeout;
SELECT atd.try($$SELECT count(*) FROM bayes_dp_dist('atd.failing', 'who', 'what', 'atd.vocabulary', 0.1, 1e-6)$$);
SELECT atd.charged();
-- nor do plans and statistics, which show what else the statement did
CREATE FUNCTION atd_ana.shown(call text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, WAL, TIMING OFF, COSTS OFF, SUMMARY OFF) ' || call LOOP
		IF line !~ 'Buffers|WAL|Planning' THEN RETURN NEXT line; END IF;
	END LOOP;
END $$;
SELECT replace(line, '.00', '') AS line FROM atd_ana.shown($$SELECT ngram FROM bayes_dp_dist('atd.said', 'who', 'what', 'atd.vocabulary', 0.1, 1e-6)$$) line;
BEGIN;
SELECT count(*) FROM bayes_dp_dist('atd.said', 'who', 'what', 'atd.vocabulary', 0.1, 1e-6);
SELECT relname FROM pg_stat_xact_all_tables WHERE relid = 'atd.said'::regclass AND seq_scan + seq_tup_read + coalesce(idx_tup_fetch, 0) > 0;
COMMIT;

-- what is not private is for the owner alone, whatever stands before the relation
CREATE VIEW atd_ana.mine AS SELECT * FROM atd.said;
CREATE FUNCTION atd_ana.owned() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS
$$ SELECT count(*) FROM kanon_ngrams('atd.said', 'who', 'what', 1) $$;
SET client_min_messages = error;
SELECT call, atd.try(format(call, relation)) FROM unnest(ARRAY[
	$$SELECT count(*) FROM kanon_ngrams(%L, 'who', 'what', 1)$$,
	$$SELECT count(*) FROM dp_membership_attack(%L, 'who', 'what', 'atd.vocabulary', 1, 1e-6, runs => 100)$$,
	$$SELECT count(*) FROM bayes_dp_dist(%L, 'who', 'what', 'atd.vocabulary', 1, 1e-6, method => 'local-sensitivity')$$,
	$$SELECT count(*) FROM dp_public_ngrams(%L, 'what')$$,
	$$SELECT count(*) FROM ngram_score('atd.vocabulary', %L, 'what')$$]) call, unnest('{atd.said,atd_ana.mine}'::text[]) relation;
SELECT atd.try('SELECT atd_ana.owned()');
-- the owner's view over one asks as who selects from it
SET ROLE regress_atd_owner;
CREATE VIEW atd.counted AS SELECT * FROM kanon_ngrams('atd.said', 'who', 'what', 1);
GRANT SELECT ON atd.counted TO PUBLIC;
SET ROLE regress_atd_ana;
SELECT atd.try('SELECT count(*) FROM atd.counted');

-- what reads a protected relation is not public
SET ROLE regress_atd_owner;
CREATE VIEW atd.row_wise AS SELECT row_to_json(s) ->> 'what' AS what FROM atd.said s;
CREATE VIEW atd.over_row_wise AS SELECT upper(what) AS what FROM atd.row_wise;
CREATE MATERIALIZED VIEW atd.row_wise_kept AS SELECT s::text AS what FROM atd.said s;
CREATE VIEW atd.counting AS SELECT count(*)::text AS what FROM atd.said;
CREATE VIEW atd.renamed (what) AS SELECT b FROM (TABLE atd.said) t (a, b);
CREATE VIEW atd.within AS SELECT (SELECT s.what FROM atd.said s LIMIT 1) AS what;
CREATE VIEW atd.whether AS SELECT 'yes'::text AS what WHERE EXISTS (SELECT FROM atd.said);
CREATE FUNCTION atd.texts() RETURNS SETOF text BEGIN ATOMIC SELECT row_to_json(s) ->> 'what' FROM atd.said s; END;
CREATE VIEW atd.called AS SELECT t AS what FROM atd.texts() t;
CREATE FUNCTION atd.texts_of_texts() RETURNS SETOF text BEGIN ATOMIC SELECT atd.texts(); END;
CREATE VIEW atd.called_twice AS SELECT t AS what FROM atd.texts_of_texts() t;
SELECT relation, atd.try(format('SELECT count(*) FROM dp_public_ngrams(%L, ''what'', 1)', relation))
FROM unnest('{atd.said,atd.row_wise,atd.over_row_wise,atd.row_wise_kept,atd.counting,atd.renamed,atd.within,atd.whether,atd.called,atd.called_twice}'::text[]) relation;
CREATE VIEW atd.row_wise_grams AS SELECT row_to_json(s) ->> 'what' AS ngram, 1::bigint AS count FROM atd.said s LIMIT 1;
SELECT atd.try($$SELECT count(*) FROM bayes_dp_dist('atd.said', 'who', 'what', 'atd.row_wise_grams', 0.1, 1e-6)$$);
-- a private function's result is public, and so is a table that a rule only writes from
CREATE VIEW atd.private AS SELECT ngram AS what FROM dp_ngrams('atd.said', 'who', 'what', 1, 1e-6, max_length => 1);
CREATE FUNCTION atd.privately() RETURNS SETOF text BEGIN ATOMIC SELECT what FROM atd.private; END;
CREATE VIEW atd.private_called AS SELECT t AS what FROM atd.privately() t;
CREATE TABLE atd.ruled (what text);
CREATE RULE also AS ON INSERT TO atd.ruled DO ALSO SELECT what FROM atd.said;
SELECT relation, atd.try(format('SELECT count(*) FROM dp_public_ngrams(%L, ''what'', 1) WHERE false', relation))
FROM unnest('{atd.private,atd.private_called,atd.ruled}'::text[]) relation;

-- a relation that changes its types between check and read
SET ROLE regress_atd_eve;
CREATE FUNCTION atd_eve.run(act text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN EXECUTE act; RETURN 'a b c'; END $$;
CREATE TABLE atd_eve.two AS SELECT 1 AS who, 'a b c'::text AS what, 7777777::bigint AS other;
CREATE VIEW atd_eve.swaps AS SELECT atd_eve.run('ALTER TABLE atd_eve.two RENAME what TO whatever') || rtrim(atd_eve.run('ALTER TABLE atd_eve.two RENAME other TO what'), 'a b c') AS ngram,
	1::float8 AS probability, 1::bigint AS count;
SELECT atd.try($$SELECT count(*) FROM ngram_score('atd_eve.swaps', 'atd_eve.two', 'what')$$);
SELECT atd.try($$SELECT count(*) FROM dp_membership_attack('atd_eve.two', 'who', 'what', 'atd_eve.swaps', 1, 1e-6, runs => 100)$$);
SELECT atd.try($$SELECT count(*) FROM bayes_dp_dist('atd_eve.two', 'who', 'what', 'atd_eve.swaps', 1, 1e-6, method => 'local-sensitivity')$$);
CREATE VIEW atd_eve.retypes AS SELECT atd_eve.run('ALTER TABLE atd_eve.two ALTER what TYPE bigint USING 7777777') AS ngram, 1::float8 AS probability, 1::bigint AS count;
SELECT atd.try($$SELECT count(*) FROM ngram_score('atd_eve.retypes', 'atd_eve.two', 'what')$$);
SELECT atd.try($$SELECT count(*) FROM dp_membership_attack('atd_eve.two', 'who', 'what', 'atd_eve.retypes', 1, 1e-6, runs => 100)$$);
CREATE VIEW atd_eve.drops AS SELECT atd_eve.run('DROP TABLE atd_eve.two CASCADE') AS ngram, 1::float8 AS probability, 1::bigint AS count;
SELECT regexp_replace(atd.try($$SELECT count(*) FROM ngram_score('atd_eve.drops', 'atd_eve.two', 'what')$$), '\d+ does', 'N does');
SELECT atd.try($$SELECT count(*) FROM dp_membership_attack('atd_eve.two', 'who', 'what', 'atd_eve.drops', 1, 1e-6, runs => 100)$$);

-- functions beside the extension's, of the same name and for a type that fits better
RESET ROLE;
SELECT extnamespace::regnamespace AS home FROM pg_extension WHERE extname = 'dpngram' \gset
GRANT CREATE ON SCHEMA :home TO regress_atd_eve;
SET ROLE regress_atd_eve;
CREATE FUNCTION :home.ngram_prefix(ngram varchar) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE 'ran as %', current_user; END $$;
CREATE FUNCTION :home.ngram_last(ngram varchar) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE 'ran as %', current_user; END $$;
SET ROLE regress_atd_ana;
CREATE TABLE atd_ana.varying (ngram varchar, probability float8);
INSERT INTO atd_ana.varying VALUES ('a b c', 1);
SELECT * FROM dp_next_words('atd_ana.varying', 'a b');
SELECT word FROM dp_next_words('atd_ana.varying', ARRAY['a', 'b']);
SELECT dp_index_next_words('atd_ana.varying');
RESET ROLE;
REVOKE CREATE ON SCHEMA :home FROM regress_atd_eve;
DROP FUNCTION :home.ngram_prefix(varchar), :home.ngram_last(varchar);
SET ROLE regress_atd_ana;
SET enable_seqscan = off;
SELECT count(*) AS index_scans FROM atd_ana.shown($$SELECT * FROM atd_ana.varying WHERE ngram_prefix(ngram) COLLATE "C" = 'a b'$$) line WHERE line ~ 'Index Scan';
RESET enable_seqscan;
-- a plan that the session keeps gives nobody the rows or rights of another role
SET ROLE regress_atd_owner;
CREATE TABLE atd.shared AS SELECT 'for ' || right(r, 3) AS ngram, 1::float8 AS probability, r AS whose FROM unnest('{regress_atd_ana,regress_atd_eve}'::text[]) r;
ALTER TABLE atd.shared ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON atd.shared USING (whose = current_user);
GRANT SELECT ON atd.shared TO regress_atd_ana, regress_atd_eve;
CREATE TABLE atd.granted AS SELECT 'a b c'::text AS ngram, 1::float8 AS probability;
GRANT SELECT ON atd.granted TO regress_atd_ana;
SET ROLE regress_atd_ana;
SELECT word FROM dp_next_words('atd.shared', 'for');
SELECT word FROM dp_next_words('atd.granted', 'a b');
SET ROLE regress_atd_eve;
SELECT word FROM dp_next_words('atd.shared', 'for');
SELECT atd.try($$SELECT word FROM dp_next_words('atd.granted', 'a b')$$);
-- names are data in no query
SET ROLE regress_atd_ana;
CREATE TABLE atd_ana."x'; DROP TABLE atd_ana.loot; --" AS SELECT 'a b c'::text AS ngram, 1::float8 AS probability, 'a b c'::text AS "t"" FROM atd.said; --";
SELECT * FROM dp_next_words('atd_ana."x''; DROP TABLE atd_ana.loot; --"', 'a b');
SELECT * FROM ngram_score('atd_ana."x''; DROP TABLE atd_ana.loot; --"', 'atd_ana."x''; DROP TABLE atd_ana.loot; --"', 't" FROM atd.said; --');
SELECT * FROM dp_public_ngrams('atd_ana."x''; DROP TABLE atd_ana.loot; --"', 't" FROM atd.said; --');
SELECT dp_index_next_words('atd_ana."x''; DROP TABLE atd_ana.loot; --"');
SELECT atd.try($$SELECT * FROM dp_public_ngrams('atd_ana.loot', 't" FROM atd.said; --')$$);
-- nor do operators, functions and types of the search_path
RESET ROLE;
CREATE SCHEMA atd_path AUTHORIZATION regress_atd_ana;
SET ROLE regress_atd_ana;
CREATE FUNCTION atd_path.ran(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'ran as %', current_user; END $$;
CREATE FUNCTION atd_path.ran(float8, float8) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'ran as %', current_user; END $$;
CREATE FUNCTION atd_path.div(float8, float8) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RAISE 'ran as %', current_user; END $$;
CREATE OPERATOR atd_path.= (FUNCTION = atd_path.ran, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR atd_path.> (FUNCTION = atd_path.ran, LEFTARG = float8, RIGHTARG = float8);
CREATE OPERATOR atd_path.< (FUNCTION = atd_path.ran, LEFTARG = float8, RIGHTARG = float8);
CREATE OPERATOR atd_path./ (FUNCTION = atd_path.div, LEFTARG = float8, RIGHTARG = float8);
CREATE FUNCTION atd_path.unnest(text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$ BEGIN RAISE 'ran as %', current_user; END $$;
CREATE FUNCTION atd_path.regexp_replace(text, text, text, text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'ran as %', current_user; END $$;
CREATE FUNCTION atd_path.generate_series(int, int) RETURNS SETOF int LANGUAGE plpgsql AS $$ BEGIN RAISE 'ran as %', current_user; END $$;
CREATE AGGREGATE atd_path.sum (float8) (SFUNC = atd_path.div, STYPE = float8);
CREATE COLLATION atd_path."C" FROM pg_catalog."POSIX";
CREATE DOMAIN atd_path.text AS pg_catalog.text CHECK (false);
CREATE DOMAIN atd_path.float8 AS pg_catalog.float8 CHECK (false);
CREATE DOMAIN atd_path.int8 AS pg_catalog.int8 CHECK (false);
SELECT set_config('search_path', 'atd_path, pg_catalog, ' || :'home', false) IS NOT NULL AS set;
SELECT * FROM dp_next_words('atd_ana.varying', 'a b'::pg_catalog.text);
SELECT * FROM dp_next_words('atd_ana.varying', ARRAY['a', 'b']::pg_catalog.text[]);
SELECT * FROM dp_public_ngrams('atd_ana.varying', 'ngram');
SELECT * FROM kanon_ngrams('atd_ana.varying', 'ngram', 'ngram', 1, 1);
SELECT * FROM ngram_score('atd_ana.varying', 'atd_ana.varying', 'ngram');
SELECT pg_catalog.count(*) FROM bayes_dp_dist('atd.said', 'who', 'what', 'atd.vocabulary', 0.1, 1e-6);
RESET search_path;

-- a token that ends with a backslash is one all the same
CREATE TABLE atd_ana.paths AS SELECT 'open C:\ dir now'::text AS t;
CREATE TABLE atd_ana.path_grams AS SELECT ngram, 0.5::float8 AS probability FROM dp_public_ngrams('atd_ana.paths', 't', 3, tokenizer => 'whitespace');
SELECT * FROM ngram_score('atd_ana.path_grams', 'atd_ana.paths', 't', 3, 'whitespace');
SELECT atd.try($$SELECT words FROM ngram_score('atd_ana.path_grams', 'atd_ana.paths', 't', 3, 'parser:default')$$);

-- states of aggregates, made by hand
SELECT call, state, atd.try(format('SELECT dpngram.' || call, state)) FROM unnest(ARRAY[
	'kl_accum(%L, 0.5, 0.5)', 'cross_entropy_accum(%L, 1, 0.5)', 'perplexity_accum(%L, 0.5)', 'evaluation_combine(''{0,0,0,0}'', %L)',
	'evaluation_combine(%1$L, %1$L)', 'kl_final(%L)', 'cross_entropy_final(%L)', 'perplexity_final(%L)']) call,
	unnest(ARRAY[NULL, '{}', '{1,2,3}', '{{1,2},{3,4}}', '{1,2,NULL,4}', '{1,2,3,4,5}', '[7:10]={1,0,3,0}', '{NaN,0,Infinity,0}', '{1e308,0,1e308,0}']) state;
SELECT atd.try('SELECT dpngram.kl_final(array_fill(1::float8, ARRAY[1000000]))');
-- values of types that have no tokens
SELECT value, atd.try(format('SELECT count(*) FROM dpngram.ngrams_of(%s, 1, ''word'', 0)', value))
FROM unnest(ARRAY['''unknown''', 'NULL', 'ROW(1, 2)', 'ARRAY[ROW(1)]', '''a''::cstring', '''1 2''::oidvector', 'ARRAY[''\x00''::bytea]', '1', '''a''::"char"', 'pg_sleep(0)']) value;

RESET ROLE;
SELECT dp_unprotect(r) FROM unnest('{atd.said,atd.slowly,atd.failing}'::text[]) r;
SET client_min_messages = error;
DROP SCHEMA atd, atd_ana, atd_eve, atd_path CASCADE;
DROP ROLE regress_atd_owner, regress_atd_ana, regress_atd_eve;
