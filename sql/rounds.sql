-- dp_ngrams by method dpne-mr: its options, what the log says of it, and that memory
-- and the order of rows don't matter.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
CREATE SCHEMA mr;
-- 600 users; each says a phrase that all share, one of three that many share, and words of the user's own
CREATE TABLE mr.posts AS
SELECT u AS who, format('we all live in a yellow submarine %s u%s v%s',
	(ARRAY['with our friends', 'on the sea', 'of green'])[1 + u % 3], u, u) AS body
FROM generate_series(1, 600) u;
SELECT dp_protect('mr.posts', 'who', 5000, 1e-2, options => '{"min_epsilon": 0}');

-- it is what dp_ngrams does by default
SELECT n, ngram FROM dp_ngrams('mr.posts', 'who', 'body', 8, 1e-6, max_length => 9, spurious => 1e-9) WHERE n IN (1, 8, 9);
SELECT parameters - 'max_contributions' AS parameters, used - 'mu2' AS used, jsonb_array_length(used->'mu2') AS lengths
FROM dpngram.releases WHERE relation = 'mr.posts' ORDER BY id DESC LIMIT 1;

-- every schedule, number of rounds and way of pruning finds the shared phrase, and no user's own words;
-- what the noise took is within what was debited, and no more than a hair is left where all lengths were reached
CREATE FUNCTION mr.call(options jsonb, arguments text DEFAULT '', OUT phrase bool, OUT own bigint, OUT paid bool, OUT spent numeric, OUT good bool)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TEMP TABLE answer AS SELECT * FROM dp_ngrams(''mr.posts'', ''who'', ''body'', 20, 1e-6, spurious => 1e-9, options => %L %s)',
		options, arguments);
	SELECT bool_or(ngram = 'in a yellow submarine'), count(*) FILTER (WHERE ngram ~ '[uv][0-9]'), bool_and(weight > 0 AND stddev > 0)
	INTO phrase, own, good FROM answer;
	SELECT sum(x) <= mu2::numeric, round(sum(x) / mu2::numeric, 1) INTO paid, spent
	FROM dpngram.releases r, LATERAL (SELECT x::numeric FROM jsonb_array_elements_text(r.used->'mu2') x) m
	WHERE r.id = (SELECT max(id) FROM dpngram.releases WHERE relation = 'mr.posts') GROUP BY mu2;
	DROP TABLE answer;
END $$;
SELECT options, c.* FROM unnest(ARRAY['{"schedule": "balanced"}', '{"schedule": "adaptive"}', '{"schedule": 1}', '{"schedule": 0.9}', '{"schedule": 1.2}',
	'{"rounds": 1}', '{"rounds": 2}', '{"rounds": 5}', '{"rounds": 16, "schedule": "adaptive"}',
	'{"spurious_of": "forecast"}', '{"spurious_of": "forecast", "schedule": "adaptive"}']::jsonb[]) options, mr.call(options) c;
SELECT pruning, c.* FROM unnest('{both,single}'::text[]) pruning, mr.call('{"schedule": "adaptive"}', format(', pruning => %L', pruning)) c;
-- lengths that nothing has leave their part
SELECT phrase, own, paid, spent < 1 AS left, good FROM mr.call('{}', ', max_length => 32') c;
-- one length alone takes all
SELECT n, count(*) FILTER (WHERE ngram !~ '^[uv][0-9]') AS shared, count(*) FILTER (WHERE ngram ~ '^[uv][0-9]') AS own
FROM dp_ngrams('mr.posts', 'who', 'body', 8, 1e-6, max_length => 1) GROUP BY n;
SELECT used->'steps' AS steps, abs((used->'mu2'->>0)::numeric / mu2 - 1) < 1e-5 AS all FROM dpngram.releases WHERE relation = 'mr.posts' ORDER BY id DESC LIMIT 1;

-- level 1 leaves what further rounds would add little to, but for fewer than ten words
CREATE TABLE mr.three AS SELECT u AS who, 'one two three'::text AS body FROM generate_series(1, 600) u;
SELECT dp_protect('mr.three', 'who', 5000, 1e-2, options => '{"min_epsilon": 0}');
SELECT count(*) FILTER (WHERE n = 1) AS words FROM dp_ngrams('mr.posts', 'who', 'body', 20, 1e-6, max_length => 2);
SELECT count(*) FILTER (WHERE n = 1) AS words FROM dp_ngrams('mr.three', 'who', 'body', 20, 1e-6, max_length => 2);
SELECT relation, round((used->'mu2'->>0)::numeric / mu2::numeric, 1) AS level_1 FROM dpngram.releases
WHERE id IN (SELECT max(id) FROM dpngram.releases WHERE relation IN ('mr.posts', 'mr.three') GROUP BY relation) ORDER BY relation;

-- bounds: of level 1 what max_contributions says, of others what is named
SELECT count(*) >= 0 AS answered FROM unnest('{NULL,"{7,NULL,5}","{7,6,5}"}'::text[]) bounds,
	LATERAL (SELECT FROM dp_ngrams('mr.posts', 'who', 'body', 1, 1e-6, max_length => 3, max_contributions => 50,
		max_contributions_per_length => bounds::int[])) c;
SELECT bounds FROM (SELECT id, parameters->'max_contributions' AS bounds FROM dpngram.releases WHERE relation = 'mr.posts' ORDER BY id DESC LIMIT 3) r
ORDER BY id;

-- under one seed the rows are the same whatever the memory and the order of the scan
SET dpngram.test_seed = 42;
SET client_min_messages = error;
CREATE FUNCTION mr.digest(memory text, arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	digest text;
BEGIN
	PERFORM set_config('work_mem', memory, false), set_config('hash_mem_multiplier', '1', false);
	EXECUTE format('SELECT count(*) || md5(string_agg(g::text, '','' ORDER BY n, ngram)) FROM dp_ngrams(''mr.many'', ''who'', ''body'', 8, 1e-6, spurious => 0.5 %s) g',
		arguments) INTO digest;
	RETURN digest;
END $$;
SELECT setseed(0.5);
CREATE TABLE mr.many AS
SELECT u AS who, string_agg('w' || floor(random() ^ 3 * 400), ' ') AS body FROM generate_series(1, 1500) u, generate_series(1, 40) GROUP BY u;
SELECT dp_protect('mr.many', 'who', 5000, 1e-2, options => '{"min_epsilon": 0}');
SELECT arguments, count(DISTINCT mr.digest(memory, arguments)) FROM unnest('{64kB,1MB,64MB}'::text[]) memory,
	unnest(ARRAY['', ', pruning => ''single''', ', options => ''{"schedule": "adaptive", "rounds": 4}''']) arguments GROUP BY arguments ORDER BY arguments;
SELECT mr.digest('4MB', '') AS before \gset
CREATE TABLE mr.turned AS TABLE mr.many ORDER BY who DESC;
TRUNCATE mr.many;
INSERT INTO mr.many TABLE mr.turned ORDER BY who DESC;
SELECT mr.digest('4MB', '') = :'before' AS same;
RESET dpngram.test_seed;
SET client_min_messages = warning;
RESET work_mem;
RESET hash_mem_multiplier;

-- nobody, one user, texts without a word
CREATE TABLE mr.few (who int, body text);
SELECT dp_protect('mr.few', 'who', 5000, 1e-2, options => '{"min_epsilon": 0}');
SELECT count(*) FROM dp_ngrams('mr.few', 'who', 'body', 8, 1e-6);
INSERT INTO mr.few VALUES (1, 'a b c d e f g a b c d'), (NULL, 'a b'), (2, NULL), (3, ''), (3, ' - ');
SELECT count(*) FROM dp_ngrams('mr.few', 'who', 'body', 1, 1e-12);
SELECT count(*) FROM dp_ngrams('mr.few', 'who', 'body', 1, 1e-12, options => '{"schedule": "adaptive"}');
SELECT used->'steps' AS steps FROM dpngram.releases WHERE relation = 'mr.few' ORDER BY id DESC LIMIT 1;

-- where a forecast is nothing at all, since every longer n-gram is predicted to be too light, it is taken for one n-gram
CREATE TABLE mr.light AS SELECT u AS who, CASE WHEN u <= 10 THEN 'a b' WHEN u <= 20 THEN 'b c' ELSE 'b' END AS body FROM generate_series(1, 30000) u;
SELECT dp_protect('mr.light', 'who', 1000, 0.5, options => '{"min_epsilon": 0}');
SELECT string_agg(ngram, ', ' ORDER BY n, ngram) FROM dp_ngrams('mr.light', 'who', 'body', 50, 1e-6, max_length => 3, spurious => 1e-6, options => '{"spurious_of": "forecast", "rounds": 1}');
SELECT used->'steps' AS steps FROM dpngram.releases WHERE relation = 'mr.light' ORDER BY id DESC LIMIT 1;

SELECT dp_unprotect(t) FROM unnest('{mr.posts,mr.three,mr.many,mr.few,mr.light}'::text[]) t;
DROP SCHEMA mr CASCADE;
