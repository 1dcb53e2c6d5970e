-- Building blocks over unprotected texts, and what distributions are judged by
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
\set SHOW_CONTEXT never
CREATE ROLE regress_eval_owner;
CREATE ROLE regress_eval_ana;
CREATE SCHEMA eval AUTHORIZATION regress_eval_owner;
GRANT USAGE ON SCHEMA eval TO regress_eval_ana;

--
-- ngrams()
--
SELECT ngrams('Fix the Build, fix THE build!', 2);
SELECT ngrams('Größe über_alles  straße', 2);
SELECT ngrams('It''s a  tab	 here', 2, 'whitespace');
SELECT ngrams('<b x="y z">run</b> far', 2, 'parser:pg_catalog.default');
SELECT ngrams('the quick foxes', 1, tokenizer => 'config:pg_catalog.english');
-- arrays: blanks and backslashes are escaped; a null or empty element parts
SELECT ngrams(ARRAY['a b', 'c\d', 'e', NULL, 'f', 'g', '', 'h'], 2);
SELECT ngrams('{{1,2},{3,NULL}}'::int[], 2);
SELECT ngrams('{9007199254740993,-1}'::bigint[], 2);
-- nothing: too short, empty, null
SELECT count(*) FROM ngrams('one two', 3);
SELECT count(*) FROM ngrams('', 1);
SELECT count(*) FROM ngrams('{}'::text[], 1);
SELECT count(*) FROM ngrams(NULL::text, 1);
SELECT count(*) FROM ngrams('a', NULL);
SELECT count(*) FROM ngrams('a', 1, NULL);
-- of other text types
SELECT ngrams('a b c'::varchar, 2) = ngrams('a b c'::char(9), 2) AS same;
-- in the select list, cut short by a limit, rescanned, and with another tokenizer in each row
SELECT id, ngrams(body, 2) FROM (VALUES (1, 'a b c'), (2, NULL), (3, 'd'), (4, 'e f g')) t (id, body);
SELECT (SELECT g FROM ngrams(body, 1) g LIMIT 1), (SELECT ngrams(body, 1) LIMIT 1) FROM (VALUES ('a b'), ('c d')) t (body);
SELECT t.tokenizer, g FROM (VALUES ('word'), ('whitespace'), ('word')) t (tokenizer), ngrams('A-b C', 1, t.tokenizer) g;
SELECT n, count(g) FROM generate_series(1, 4) n LEFT JOIN LATERAL ngrams('p q r', n) g ON true GROUP BY n ORDER BY n;
SELECT count(*), count(DISTINCT g), min(g), max(g) FROM ngrams(repeat('x y z ', 5000), 32) g;
-- domains; what has no tokens
CREATE DOMAIN eval.words AS text[];
SELECT dpngram.ngrams_of(ARRAY['a', 'b']::eval.words, 2, 'word', 0);
SELECT dpngram.ngrams_of('a b c'::text, 2, 'word', 2);
SELECT dpngram.ngrams_of('a b c'::text, 2, 'word', 3);
SELECT ngrams('a b', 0);
SELECT ngrams('a b', 33);
SELECT ngrams('a b', 1, 'magic');
SELECT ngrams('a b', 1, 'parser:none');
SELECT ngrams(ARRAY[1.5], 1);
SELECT ngrams('{}'::point[], 1);

--
-- dp_public_ngrams()
--
SET ROLE regress_eval_owner;
CREATE TABLE eval.articles ("The Author" text, "; body" text, tags int[], day int) PARTITION BY LIST (day);
CREATE TABLE eval.articles1 PARTITION OF eval.articles FOR VALUES IN (1);
CREATE TABLE eval.articles2 PARTITION OF eval.articles DEFAULT;
INSERT INTO eval.articles VALUES
	('ann', 'One two three. One two three!', '{1,2,3}', 1), ('ann', 'one TWO', '{2,3}', 2), ('bob', 'one two', '{2,3,NULL,2,3}', 1),
	('bob', 'zwei größe', NULL, 2), (NULL, 'one two', '{2,3}', 3), ('cid', NULL, '{}', 1), ('dan', '', '{4}', 2);
SELECT * FROM dp_public_ngrams('eval.articles', '; body', 2);
SELECT * FROM dp_public_ngrams('eval.articles', '; body', 2, user_col => 'The Author');
SELECT * FROM dp_public_ngrams('eval.articles', '; body');
SELECT * FROM dp_public_ngrams('eval.articles', '; body', 1, min_count => 3);
SELECT * FROM dp_public_ngrams('eval.articles', '; body', 2, max_tokens => 2);
SELECT * FROM dp_public_ngrams('eval.articles', '; body', 2, tokenizer => 'whitespace', min_count => 2);
SELECT * FROM dp_public_ngrams('eval.articles', 'tags', 2);
SELECT * FROM dp_public_ngrams('eval.articles', 'tags', 2, user_col => 'day');
-- rows come by bytes; n-grams that a collation holds for equal stay two
CREATE COLLATION eval.caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE VIEW eval.cased AS SELECT t COLLATE eval.caseless AS t FROM (VALUES ('B'), ('a'), ('A'), ('b')) v (t);
SELECT * FROM dp_public_ngrams('eval.cased', 't', 1, tokenizer => 'whitespace');
CREATE TABLE eval.nothing (body text);
SELECT * FROM dp_public_ngrams('eval.nothing', 'body');
CREATE MATERIALIZED VIEW eval.copied AS SELECT "; body" AS body FROM eval.articles;
SELECT count(*), sum(count) FROM dp_public_ngrams('eval.copied', 'body', 1);
-- mistakes
SELECT * FROM dp_public_ngrams(NULL, 'body');
SELECT * FROM dp_public_ngrams('eval.nothing', NULL);
SELECT * FROM dp_public_ngrams('eval.nothing', 'none');
SELECT * FROM dp_public_ngrams('eval.nothing', 'body', 0);
SELECT * FROM dp_public_ngrams('eval.nothing', 'body', min_count => 0);
SELECT * FROM dp_public_ngrams('eval.nothing', 'body', max_tokens => 0);
SELECT * FROM dp_public_ngrams('eval.nothing', 'body', tokenizer => 'magic');
SELECT * FROM dp_public_ngrams('eval.nothing', 'body', user_col => 'none');
SELECT * FROM dp_public_ngrams('eval.articles', 'day');
SELECT * FROM dp_public_ngrams(4294967295::oid::regclass, 'body');
-- with the caller's own rights
SET ROLE regress_eval_ana;
SELECT * FROM dp_public_ngrams('eval.nothing', 'body');
SELECT * FROM kanon_ngrams('eval.nothing', 'body', 'body', 1);
SET ROLE regress_eval_owner;
GRANT SELECT (body) ON eval.nothing TO regress_eval_ana;
SET ROLE regress_eval_ana;
SELECT * FROM dp_public_ngrams('eval.nothing', 'body');
SELECT * FROM kanon_ngrams('eval.nothing', 'body', 'body', 1);

--
-- what is protected is not public, whoever asks, and through whatever view or partition
--
SET ROLE regress_eval_owner;
CREATE TABLE eval.secret (who text, what text, day int) PARTITION BY LIST (day);
CREATE TABLE eval.secret1 PARTITION OF eval.secret DEFAULT;
CREATE TABLE eval.secret_leaf (who text, what text);
CREATE VIEW eval.said AS SELECT upper(what) AS what FROM eval.secret1;
CREATE MATERIALIZED VIEW eval.kept AS SELECT what FROM eval.said;
INSERT INTO eval.secret SELECT 'u' || i % 5, 'attack at dawn', 1 FROM generate_series(1, 20) i;
SELECT dp_protect('eval.secret', 'who', 100, 1e-3);
CREATE VIEW eval.released AS SELECT ngram FROM dp_ngrams('eval.secret', 'who', 'what', 1, 1e-6);
SELECT * FROM dp_public_ngrams('eval.secret', 'what');
SELECT * FROM dp_public_ngrams('eval.secret1', 'what');
SELECT * FROM dp_public_ngrams('eval.said', 'what');
SELECT * FROM dp_public_ngrams('eval.kept', 'what');
RESET ROLE;
SELECT * FROM dp_public_ngrams('eval.secret', 'what');
SET ROLE regress_eval_owner;
SELECT count(*) FROM dp_public_ngrams('eval.secret_leaf', 'what');
SELECT count(*) FROM dp_public_ngrams('eval.released', 'ngram');

--
-- kanon_ngrams()
--
SELECT * FROM kanon_ngrams('eval.secret', 'who', 'what', 5, 2);
SELECT * FROM kanon_ngrams('eval.secret', 'who', 'what', 6);
SELECT * FROM kanon_ngrams('eval.articles', 'The Author', '; body', 2, max_length => 3);
SELECT * FROM kanon_ngrams('eval.articles', 'The Author', '; body', 1, 2, 'whitespace', 2);
SELECT * FROM kanon_ngrams('eval.articles', 'The Author', 'tags', 2);
SELECT count(*) FROM dpngram.releases WHERE mechanism = 'kanon_ngrams';
SELECT * FROM kanon_ngrams('eval.articles', NULL, '; body', 1);
SELECT * FROM kanon_ngrams('eval.articles', 'none', '; body', 1);
SELECT * FROM kanon_ngrams('eval.articles', 'The Author', '; body', 0);
SELECT * FROM kanon_ngrams('eval.articles', 'The Author', '; body', 1, 33);
SELECT * FROM kanon_ngrams('eval.articles', 'The Author', 'day', 1);
-- members of the owner's role and superusers may, others not
GRANT SELECT ON eval.secret TO regress_eval_ana;
SET ROLE regress_eval_ana;
SELECT * FROM kanon_ngrams('eval.secret', 'who', 'what', 5, 1);
RESET ROLE;
SELECT * FROM kanon_ngrams('eval.secret', 'who', 'what', 5, 1);
GRANT regress_eval_owner TO regress_eval_ana;
SET ROLE regress_eval_ana;
SELECT * FROM kanon_ngrams('eval.secret', 'who', 'what', 5, 1);
RESET ROLE;
REVOKE regress_eval_owner FROM regress_eval_ana;

--
-- a search path in which everything stands first under another's name
--
CREATE SCHEMA evil AUTHORIZATION regress_eval_ana;
GRANT USAGE ON SCHEMA evil TO PUBLIC;
SET ROLE regress_eval_ana;
CREATE FUNCTION evil.caught() RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'caught by %', current_user; END $$;
CREATE FUNCTION evil.ngrams_of(value text, n int, tokenizer text, max_tokens int) RETURNS SETOF text LANGUAGE sql AS 'SELECT evil.caught(); SELECT NULL::text';
CREATE FUNCTION evil.ngrams(text text, n int, tokenizer text) RETURNS SETOF text LANGUAGE sql AS 'SELECT evil.caught(); SELECT NULL::text';
CREATE FUNCTION evil.ngram_prefix(t text) RETURNS text LANGUAGE sql AS 'SELECT evil.caught(); SELECT t';
CREATE FUNCTION evil.ngram_last(t text) RETURNS text LANGUAGE sql AS 'SELECT evil.caught(); SELECT t';
CREATE FUNCTION evil.generate_series(a int, b int) RETURNS SETOF int LANGUAGE sql AS 'SELECT evil.caught(); SELECT 1';
CREATE FUNCTION evil.unnest(a text[]) RETURNS SETOF text LANGUAGE sql AS 'SELECT evil.caught(); SELECT a[1]';
CREATE FUNCTION evil.compare(a anyelement, b anyelement) RETURNS bool LANGUAGE sql AS 'SELECT evil.caught(); SELECT true';
CREATE FUNCTION evil.big(a bigint, b bigint) RETURNS bool LANGUAGE sql AS 'SELECT evil.caught(); SELECT true';
CREATE FUNCTION evil.real(a float8, b float8) RETURNS bool LANGUAGE sql AS 'SELECT evil.caught(); SELECT true';
CREATE FUNCTION evil.over(a float8, b float8) RETURNS float8 LANGUAGE sql AS 'SELECT evil.caught(); SELECT a';
CREATE FUNCTION evil.same(a text, b text) RETURNS bool LANGUAGE sql AS 'SELECT evil.caught(); SELECT true';
CREATE OPERATOR evil.= (FUNCTION = evil.same, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR evil.>= (FUNCTION = evil.big, LEFTARG = bigint, RIGHTARG = bigint);
CREATE OPERATOR evil.> (FUNCTION = evil.real, LEFTARG = float8, RIGHTARG = float8);
CREATE OPERATOR evil.< (FUNCTION = evil.real, LEFTARG = float8, RIGHTARG = float8);
CREATE OPERATOR evil./ (FUNCTION = evil.over, LEFTARG = float8, RIGHTARG = float8);
CREATE AGGREGATE evil.count(*) (SFUNC = int8inc, STYPE = int8, INITCOND = '1000');
CREATE AGGREGATE evil.sum(float8) (SFUNC = float8pl, STYPE = float8, INITCOND = '1000');
CREATE COLLATION evil."C" (locale = 'C');
CREATE DOMAIN evil.float8 AS text;
SET ROLE regress_eval_owner;
CREATE TABLE eval.dist (ngram varchar, probability numeric, value float8);
INSERT INTO eval.dist VALUES ('attack at', 0.25), ('at dawn', 0.5), ('at dusk', 0.25);
SET search_path = evil, pg_catalog, public;
SELECT ngram, count FROM dp_public_ngrams('eval.copied', 'body', 1, 2);
SELECT ngram, users FROM kanon_ngrams('eval.secret', 'who', 'what', 5, 1);
SELECT words, round(pg_catalog.exp(log_probability)::numeric, 4) AS p FROM ngram_score('eval.dist', 'eval.secret', 'what', 2) LIMIT 1;
SELECT word, probability FROM dp_next_words('eval.dist', 'at');
RESET search_path;

--
-- the aggregates
--
SELECT round(kl_divergence(p, q)::numeric, 15) = round((0.5 * ln(2::numeric) + 0.5 * ln(2 / 3::numeric)), 15) AS kl FROM (VALUES (0.5, 0.25::float8), (0.5, 0.75)) v (p, q);
SELECT kl_divergence(0, 0) AS zero, kl_divergence(0, 0.5) AS none, kl_divergence(0.5, 0) AS infinite, kl_divergence(1, 1) AS same;
-- close to each other, and at the ends of what numbers there are
SELECT kl_divergence(0.3, 0.3 * (1 + 2e-16::float8)) AS "not 0";
SELECT kl_divergence(1e300, 1e-300) / (1e300 * 600 * ln(10::float8)) AS one, kl_divergence(1e-320, 1) < 0 AS tiny;
SELECT round(cross_entropy(c, p)::numeric, 12) = round(((3 * ln(2.0) + ln(4.0)) / 4)::numeric, 12) AS ce
FROM (VALUES (3::bigint, 0.5::numeric), (1, 0.25), (0, 0), (NULL, 0.1), (7, NULL)) v (c, p);
SELECT cross_entropy(1, 0) AS infinite, cross_entropy(0, 0) AS "null", cross_entropy(2, 1) AS zero;
SELECT perplexity(p) FROM (VALUES (0.25::float8), (0.25), (NULL), (0.25)) v (p);
SELECT perplexity(p) AS infinite FROM (VALUES (0.25), (0)) v (p);
-- no rows, or none without a null: NULL
SELECT kl_divergence(p, q), cross_entropy(p, q), perplexity(p) FROM (VALUES (NULL::float8, 1::float8), (NULL, NULL)) v (p, q);
SELECT kl_divergence(1, 1), cross_entropy(1, 1), perplexity(1) WHERE false;
-- a missing q that shall count
SELECT kl_divergence(p, q) AS ignored, kl_divergence(p, coalesce(q, 0)) AS counted FROM (VALUES (0.5, 0.5), (0.5, NULL)) v (p, q);
-- what is no probability
\set VERBOSITY sqlstate
SELECT kl_divergence(-0.1, 1);
SELECT kl_divergence(1, -1e-300);
SELECT kl_divergence('NaN', 1);
SELECT kl_divergence(1, 'Infinity');
SELECT cross_entropy(-1, 0.5);
SELECT cross_entropy('NaN', 0.5);
SELECT cross_entropy(1, 'NaN');
SELECT perplexity('-Infinity');
SELECT perplexity(1e-320);
SELECT cross_entropy(c, 0.5) FROM (VALUES (1.7e308), (1.7e308)) v (c);
\set VERBOSITY default
SELECT kl_divergence(0.5, -0.25);
SELECT cross_entropy(-1, 0.5);
-- DISTINCT, FILTER, ORDER BY, GROUP BY, windows
SELECT round(perplexity(DISTINCT p)::numeric, 12) AS d, perplexity(p) FILTER (WHERE p = 0.5) AS f, perplexity(p ORDER BY p) FILTER (WHERE p > 0.9) AS o
FROM (VALUES (0.5), (0.5), (0.125)) v (p);
SELECT i, round(perplexity(p) OVER (ORDER BY i)::numeric, 12) AS so_far, round(perplexity(p) OVER (ORDER BY i ROWS 1 PRECEDING)::numeric, 12) AS last_two
FROM (VALUES (1, 0.5), (2, 0.25), (3, 1)) v (i, p);
SELECT n, kl_divergence(p, q) FROM (VALUES (1, 0.5, 0.5), (2, 1, 1), (1, 0.5, 0.5)) v (n, p, q) GROUP BY ROLLUP (n) ORDER BY n;
-- the state by itself
SELECT dpngram.kl_accum('{0,0,0,0}', 1, 1), dpngram.evaluation_combine('{1,0,2,0}', '{3,0,4,1e-20}'), dpngram.perplexity_final('{0,0,0,0}');
SELECT dpngram.kl_accum('{0,0,0}', 1, 1);
SELECT dpngram.kl_accum('{0,0,NULL,0}', 1, 1);

-- in parallel, by partitions, and serially: the same to 1e-12, on a million rows of very different size
CREATE TABLE eval.pairs (part int, p float8, q float8) PARTITION BY LIST (part);
CREATE TABLE eval.pairs0 PARTITION OF eval.pairs FOR VALUES IN (0);
CREATE TABLE eval.pairs1 PARTITION OF eval.pairs FOR VALUES IN (1);
INSERT INTO eval.pairs SELECT i % 2, exp(-(i % 700)::float8), exp(-((i * 7919) % 650)::float8) FROM generate_series(1::bigint, 1000000) i;
-- large terms that cancel out: what plain sums would lose most of
INSERT INTO eval.pairs SELECT i % 2, 1e15, CASE WHEN i % 4 < 2 THEN 2e15 ELSE 0.5e15 END FROM generate_series(1, 1000) i;
ANALYZE eval.pairs;
CREATE FUNCTION eval.has(query text, node text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found bool := false;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		found := found OR line LIKE '%' || node || '%';
	END LOOP;
	RETURN found;
END $$;
\set judged 'SELECT kl_divergence(p, q) AS kl, cross_entropy(p, q) AS ce, perplexity(p) AS pp FROM eval.pairs'
SET max_parallel_workers_per_gather = 0;
CREATE TEMP TABLE serial AS :judged;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT eval.has(:'judged', 'Partial Aggregate') AS partial, eval.has(:'judged', 'Gather') AS gather;
CREATE TEMP TABLE parallel AS :judged;
SET enable_partitionwise_aggregate = on;
SET max_parallel_workers_per_gather = 0;
SELECT eval.has(:'judged', 'Partial Aggregate') AS partial, eval.has(:'judged', 'Append') AS append, eval.has(:'judged', 'Gather') AS gather;
CREATE TEMP TABLE by_partition AS :judged;
CREATE TEMP TABLE backwards AS SELECT kl_divergence(p, q ORDER BY p, q) AS kl, cross_entropy(p, q ORDER BY p) AS ce, perplexity(p ORDER BY p) AS pp FROM eval.pairs;
SELECT abs(s.kl / o.kl - 1) <= 1e-12 AS kl, abs(s.ce / o.ce - 1) <= 1e-12 AS ce, abs(s.pp / o.pp - 1) <= 1e-12 AS pp
FROM serial s, (TABLE parallel UNION ALL TABLE by_partition UNION ALL TABLE backwards) o;
DROP TABLE serial, parallel, by_partition, backwards;
-- ngrams() in parallel workers
SET max_parallel_workers_per_gather = 2;
CREATE TABLE eval.many (body text);
INSERT INTO eval.many SELECT 'word' || i % 10 || ' and more' FROM generate_series(1, 5000) i;
ANALYZE eval.many;
SELECT eval.has('SELECT ngrams(body, 2) FROM eval.many', 'Gather') AS gather;
SELECT * FROM dp_public_ngrams('eval.many', 'body', 2, 501);
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET enable_partitionwise_aggregate;

--
-- ngram_score()
--
CREATE TABLE eval.model (ngram text, probability float8);
INSERT INTO eval.model VALUES ('a b c', 0.2), ('a b d', 0.2), ('b c a', 0.3), ('c a b', 0.3), ('x x x', 0), ('x x y', 0.001);
CREATE TABLE eval.held_out (id int, body text, tokens text[]);
INSERT INTO eval.held_out VALUES (1, 'a b c', '{a,b,c}'), (2, 'A b c, a b d!', '{a,b,NULL,c}'), (3, 'a b', NULL), (4, NULL, '{a b,b,c}'),
	(5, 'a b e', '{a,b,c,NULL,a,b,d}'), (6, 'x x x', '{}'), (7, 'x x y', NULL), (8, 'b c a b c', NULL);
SELECT sentence, words, round(exp(log_probability)::numeric, 12) AS p FROM ngram_score('eval.model', 'eval.held_out', 'body');
SELECT sentence, words, round(exp(log_probability)::numeric, 12) AS p FROM ngram_score('eval.model', 'eval.held_out', 'tokens');
SELECT round(exp(-sum(log_probability) / sum(words))::numeric, 12) = round((16 ^ (1 / 9.0::float8))::numeric, 12) AS perplexity, count(log_probability) AS covered, count(*) AS sentences
FROM ngram_score('eval.model', 'eval.held_out', 'body') WHERE sentence <> 6;
-- unigrams: the probability itself, of what all add up to
CREATE TABLE eval.unigrams (ngram varchar(5), probability real);
INSERT INTO eval.unigrams VALUES ('a', 1), ('b', 2), ('größe', 1);
INSERT INTO eval.unigrams VALUES ('c', 0);
SELECT sentence, words, log_probability AS p FROM ngram_score('eval.unigrams', 'eval.held_out', 'body', 1) WHERE words > 0 AND sentence < 3;
CREATE VIEW eval.plain AS SELECT unnest(ARRAY['b a b', 'Größe', 'b c', 'd']) AS t;
SELECT sentence, words, round(exp(log_probability)::numeric, 12) AS p FROM ngram_score('eval.unigrams', 'eval.plain', 't', 1);
-- tokens with blanks
CREATE TABLE eval.escaped (ngram text, probability float8);
INSERT INTO eval.escaped VALUES ('a\ b b', 0.5), ('b c\\d', 0.25), ('b e', 0.75);
CREATE VIEW eval.rooms AS SELECT ARRAY['a b', 'b', 'c\d'] AS way;
SELECT words, round(exp(log_probability)::numeric, 12) AS p FROM ngram_score('eval.escaped', 'eval.rooms', 'way', 2);
SELECT count(*) FROM ngram_score('eval.nothing', 'eval.held_out', 'body');
CREATE TABLE eval.empty (ngram text, probability float8);
SELECT sentence, words, log_probability FROM ngram_score('eval.empty', 'eval.held_out', 'body', 4);
SELECT count(*) FROM ngram_score('eval.model', 'eval.nothing', 'body');
-- distributions that are none
CREATE TABLE eval.bad (ngram text, probability float8);
INSERT INTO eval.bad VALUES ('a b c', 0.5), ('a b c', 0.5);
SELECT * FROM ngram_score('eval.bad', 'eval.held_out', 'body');
SELECT * FROM ngram_score('eval.model', 'eval.held_out', 'body', 2);
UPDATE eval.bad SET ngram = NULL;
SELECT * FROM ngram_score('eval.bad', 'eval.held_out', 'body');
UPDATE eval.bad SET ngram = 'a b c', probability = NULL;
SELECT * FROM ngram_score('eval.bad', 'eval.held_out', 'body');
UPDATE eval.bad SET probability = -0.5;
SELECT * FROM ngram_score('eval.bad', 'eval.held_out', 'body');
UPDATE eval.bad SET probability = 'NaN';
SELECT * FROM ngram_score('eval.bad', 'eval.held_out', 'body');
UPDATE eval.bad SET probability = 1, ngram = '';
SELECT * FROM ngram_score('eval.bad', 'eval.held_out', 'body', 1);
ALTER TABLE eval.bad ALTER probability TYPE text;
SELECT * FROM ngram_score('eval.bad', 'eval.held_out', 'body');
ALTER TABLE eval.bad ALTER ngram TYPE int USING 1;
SELECT * FROM ngram_score('eval.bad', 'eval.held_out', 'body');
SELECT * FROM ngram_score('eval.model', 'eval.held_out', 'id');
SELECT * FROM ngram_score('eval.model', 'eval.held_out', 'none');
SELECT * FROM ngram_score('eval.model', 'eval.held_out', NULL);
SELECT * FROM ngram_score('eval.model', 'eval.held_out', 'body', 3, 'magic');
SET ROLE regress_eval_ana;
SELECT * FROM ngram_score('eval.model', 'eval.held_out', 'body');
RESET ROLE;
GRANT SELECT ON eval.held_out TO regress_eval_ana;
SET ROLE regress_eval_ana;
SELECT * FROM ngram_score('eval.model', 'eval.held_out', 'body');

RESET ROLE;
SELECT dp_unprotect('eval.secret');
SET client_min_messages = error;
DROP SCHEMA eval, evil CASCADE;
DROP ROLE regress_eval_owner, regress_eval_ana;
