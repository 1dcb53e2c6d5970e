-- The next word: what follows a text by a list of n-grams
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
\set SHOW_CONTEXT never
CREATE ROLE regress_next_owner;
CREATE ROLE regress_next_ana;
CREATE SCHEMA "next ""words" AUTHORIZATION regress_next_owner;
GRANT USAGE ON SCHEMA "next ""words" TO regress_next_ana;
SET search_path = "next ""words", public;
SET ROLE regress_next_owner;

-- the parts of an n-gram; blanks part tokens, but for those after a backslash
SELECT g, ngram_prefix(g), ngram_last(g) FROM (VALUES ('a b c'), ('a'), (''), ('a\ b c\\ d'), ('a b\ c'), ('größe über'), ('\'), (' x'), ('x '), (NULL)) v (g);
SELECT ngram_prefix(g) || CASE WHEN ngram_prefix(g) = '' THEN '' ELSE ' ' END || ngram_last(g) = g AS whole
FROM ngrams(ARRAY['a b', 'c\d', 'e', '\', ' '], 3) g;

-- a distribution over n-grams of one length
CREATE TABLE dist (ngram text, probability float8);
INSERT INTO dist VALUES ('a b c', 0.2), ('a b d', 0.1), ('a b e', 0.1), ('b c a', 0.3), ('x y z', 0.1), ('größe über alles', 0.2);
SELECT * FROM dp_next_words('dist', 'A, b');
SELECT * FROM dp_next_words('dist', 'and so on: x y z a b', 2);
SELECT * FROM dp_next_words('dist', 'Größe ÜBER');
SELECT * FROM dp_next_words('dist', 'A b', 5, 'whitespace');
SELECT * FROM dp_next_words('dist', 'b');
SELECT * FROM dp_next_words('dist', 'b b');
SELECT * FROM dp_next_words('dist', '');
SELECT * FROM dp_next_words('dist', ARRAY['b', 'c']);

-- a list of n-grams of all lengths, as dp_ngrams gives it: back to shorter words where nothing follows the longer
CREATE TABLE list (n int, ngram text, weight float8, stddev float8);
INSERT INTO list VALUES (1, 'a', 8, 1), (1, 'b', 6, 1), (1, 'c', 2, 1), (2, 'a b', 3, 1), (2, 'b a', 2, 1), (2, 'b c', 1, 1), (3, 'a b c', 1, 1);
SELECT p, w.* FROM (VALUES ('x a b'), ('a b'), ('c b'), ('b'), ('c'), (''), ('b c')) v (p), dp_next_words('list', p) w;
SELECT p, w.* FROM (VALUES ('{a,b}'::text[]), ('{a,NULL,b}'), ('{a,b,NULL}'), ('{}')) v (p), dp_next_words('list', p, 1) w;
-- what is not above 0, or no number, does not follow
INSERT INTO list VALUES (3, 'a b a', 0, 1), (3, 'a b b', -1, 1), (3, 'a b d', NULL, 1), (3, 'a b e', 'NaN', 1), (3, 'a b f', 'Infinity', 1), (2, 'c c', 0, 1), (NULL, NULL, 1, NULL);
SELECT * FROM dp_next_words('list', 'a b');
SELECT * FROM dp_next_words('list', 'c', 1);
-- tokens with blanks
CREATE TABLE rooms AS SELECT ngram, 1::real AS weight FROM ngrams(ARRAY['hall', 'living room', 'back\yard', 'living room', 'bath'], 2) ngram;
SELECT * FROM dp_next_words('rooms', ARRAY['attic', 'living room']);
SELECT * FROM dp_next_words('rooms', ARRAY['hall']);
SELECT * FROM dp_next_words('rooms', 'hall');
CREATE TABLE pages AS SELECT ngram, count(*)::int AS probability FROM (VALUES ('{1,2,1,2,3}'::int[]), ('{2,3}')) v (p), ngrams(p, 2) ngram GROUP BY ngram;
SELECT * FROM dp_next_words('pages', ARRAY[7, 2]);

-- texts longer than any n-gram
INSERT INTO list SELECT 32, string_agg('w' || i, ' ' ORDER BY i), 1, 1 FROM generate_series(1, 32) i;
SELECT * FROM dp_next_words('list', (SELECT string_agg('w' || i, ' ' ORDER BY i) FROM generate_series(-5, 31) i));

-- with and without an index the same; the index is used, also on n-grams longer than a B-tree takes
CREATE MATERIALIZED VIEW "Big ""list" AS
	SELECT g AS ngram, count(*)::float8 AS probability FROM generate_series(1, 3000) i,
		ngrams('w' || i % 7 || ' w' || i % 11 || ' w' || i % 13 || CASE WHEN i % 1000 = 0 THEN ' ' || repeat(md5(i::text), 200) ELSE '' END, 2) g GROUP BY g;
CREATE VIEW prefixes AS SELECT DISTINCT ngram_prefix(ngram) AS p FROM "Big ""list";
CREATE TABLE before AS SELECT p, w.* FROM prefixes, dp_next_words('"Big ""list"', p, 3) w;
SELECT dp_index_next_words('"Big ""list"');
\d "Big ""list"
ANALYZE "Big ""list";
CREATE TABLE after AS SELECT p, w.* FROM prefixes, dp_next_words('"Big ""list"', p, 3) w;
SELECT count(*) > 20 AS many FROM before;
(TABLE before EXCEPT ALL TABLE after) UNION ALL (TABLE after EXCEPT ALL TABLE before);
SET enable_seqscan = off;
CREATE FUNCTION scans() RETURNS bigint LANGUAGE sql AS $$ SELECT pg_stat_get_xact_numscans('"Big ""list_next_words_idx"'::regclass) $$;
BEGIN;
SELECT word FROM dp_next_words('"Big ""list"', 'w1', 1);
SELECT scans() > 0 AS index_used;
COMMIT;
RESET enable_seqscan;
SELECT dp_index_next_words('"Big ""list"');
-- on a partitioned table, of a varchar under another collation
CREATE TABLE parted (ngram varchar(40) COLLATE "C", weight float8) PARTITION BY RANGE (weight);
CREATE TABLE parted1 PARTITION OF parted DEFAULT;
INSERT INTO parted VALUES ('one two', 1), ('one three', 3);
SELECT dp_index_next_words('parted');
SELECT count(*) FROM pg_index WHERE indrelid IN ('parted'::regclass, 'parted1'::regclass);
SELECT * FROM dp_next_words('parted', 'one');

-- views; and a plan that was kept does not outlive what it was made for
CREATE VIEW seen AS SELECT ngram, weight AS probability FROM list WHERE n = 2;
SELECT * FROM dp_next_words('seen', 'b');
SELECT * FROM dp_next_words('seen', 'b');
CREATE OR REPLACE VIEW seen AS SELECT ngram, weight AS probability FROM list WHERE ngram = 'b c';
SELECT * FROM dp_next_words('seen', 'b');
SELECT dp_index_next_words('seen');
ALTER TABLE dist RENAME TO moved;
SELECT * FROM dp_next_words('moved', 'a b', 1);
CREATE TABLE dist (ngram text, weight numeric);
INSERT INTO dist VALUES ('a b other', 1);
SELECT * FROM dp_next_words('dist', 'a b', 1);
DROP TABLE dist;
-- more relations than plans are kept for, and calls within calls
CREATE FUNCTION nested(t text) RETURNS text LANGUAGE sql AS $$ SELECT word FROM dp_next_words('list', t, 1) $$;
CREATE VIEW nesting AS SELECT 'x ' || nested('b') AS ngram, 1 AS weight;
SELECT * FROM dp_next_words('nesting', 'x');
DO $$
DECLARE
	got text;
BEGIN
	FOR i IN 1..40 LOOP
		EXECUTE format('CREATE TABLE t%s AS SELECT ''a b%s'' AS ngram, 1 AS probability', i, i);
		EXECUTE format('SELECT word FROM dp_next_words(''t%s'', ''a'')', i) INTO got;
		ASSERT got = 'b' || i;
		EXECUTE 'SELECT word FROM dp_next_words(''nesting'', ''x'')' INTO got;
		ASSERT got = 'a';
	END LOOP;
END $$;
SELECT * FROM dp_next_words('t1', 'a');
-- a call within a call must not drop the plan that is running
CREATE FUNCTION chosen() RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
	word text;
BEGIN
	EXECUTE format('SELECT word FROM dp_next_words(%L, ''a'', 1)', current_setting('regress.inner')) INTO word;
	RETURN word;
END $$;
CREATE VIEW choosing AS SELECT 'x ' || chosen() AS ngram, 1 AS weight;
DO $$
DECLARE
	got text;
BEGIN
	-- every place among the kept plans is once that of the outer call
	FOR i IN 1..40 LOOP
		PERFORM set_config('regress.inner', 't' || i, true);
		EXECUTE 'SELECT word FROM dp_next_words(''choosing'', ''x'')' INTO got;
		ASSERT got = 'b' || i;
	END LOOP;
END $$;

-- mistakes
CREATE TABLE wrong (ngram text, n int);
SELECT * FROM dp_next_words('wrong', 'a');
ALTER TABLE wrong ADD probability text;
SELECT * FROM dp_next_words('wrong', 'a');
ALTER TABLE wrong ADD weight float8, DROP probability, DROP ngram;
SELECT * FROM dp_next_words('wrong', 'a');
SELECT dp_index_next_words('wrong');
ALTER TABLE wrong ADD ngram int;
SELECT * FROM dp_next_words('wrong', 'a');
SELECT * FROM dp_next_words('list', 'a', 0);
SELECT * FROM dp_next_words('list', 'a', NULL);
SELECT * FROM dp_next_words('list', NULL::text);
SELECT * FROM dp_next_words(NULL, 'a');
SELECT * FROM dp_next_words('list', 'a', 1, 'magic');
SELECT * FROM dp_next_words('list', ARRAY[1.5]);
SELECT dp_index_next_words(NULL);

-- with the caller's own rights, also where another's call has left a plan
SET ROLE regress_next_ana;
SELECT * FROM dp_next_words('list', 'a');
SELECT dp_index_next_words('list');
SET ROLE regress_next_owner;
GRANT SELECT ON list TO regress_next_ana;
SET ROLE regress_next_ana;
SELECT * FROM dp_next_words('list', 'a', 1);
SELECT dp_index_next_words('list');
SET ROLE regress_next_owner;
ALTER TABLE list ENABLE ROW LEVEL SECURITY;
CREATE POLICY others ON list USING (ngram <> 'a b');
SET ROLE regress_next_ana;
SELECT * FROM dp_next_words('list', 'a', 1);
SET ROLE regress_next_owner;
SELECT * FROM dp_next_words('list', 'a', 1);

RESET ROLE;
SET client_min_messages = error;
DROP SCHEMA "next ""words" CASCADE;
DROP ROLE regress_next_owner, regress_next_ana;
