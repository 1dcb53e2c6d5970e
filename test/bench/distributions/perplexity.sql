-- perplexity.sql: section 4.6's Table 1 on MSNBC.  A tenth of the private visitors is held
-- out; their sessions are the sentences.  A session counts if all its trigrams are in the
-- public vocabulary, the same for all rows (ngram_score has no back-off).
--
-- The private baseline and K-anonymity have n-grams without a probability.  These share
-- what is left of the mass and one occurrence more, in proportion to their public counts:
-- the mildest smoothing under which no perplexity is infinite.

CREATE TABLE held_out AS
SELECT visitor, pages FROM msnbc_order WHERE visitor % 10 = 1 AND cardinality(pages) >= 3;
CREATE TABLE train AS
SELECT visitor, pages FROM msnbc_order WHERE visitor % 10 <> 1 AND cardinality(pages) >= 3;
SELECT count(*) AS train_users, greatest(count(*) / 1000, 1) AS paper
FROM msnbc_order WHERE visitor % 10 <> 1 \gset
SELECT dp_protect('train', 'visitor', 1e5, 1e-2, options => '{"min_epsilon": 0}') \g /dev/null
CREATE TABLE train_counts AS SELECT * FROM private_counts('train', 'visitor', 'pages', 3);
SELECT add_case('train', 'msnbc', 'occurrences', 'train', 'visitor', 'pages', 3, :train_users,
	'train_counts', 'msnbc_occurrences') \g /dev/null

CREATE TABLE model (ngram text, probability float8);
CREATE TABLE perplexity_result (method text, setting text, draw int, perplexity float8);

CREATE FUNCTION score_model(of_method text, of_setting text, of_draw int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO perplexity_result
	SELECT of_method, of_setting, of_draw, exp(-sum(log_probability) / sum(words))
	FROM ngram_score('model', 'held_out', 'pages', 3) $$;

-- n-grams of fewer than k users left out, as kanon_ngrams does
CREATE FUNCTION score_counts(of_method text, k bigint) RETURNS void LANGUAGE sql AS $$
	TRUNCATE model;
	INSERT INTO model
	WITH kept AS (
		SELECT ngram, v.count AS public, CASE WHEN a.users IS NOT NULL THEN c.occurrences END AS count,
			sum(coalesce(c.occurrences, 0)) OVER () AS total
		FROM msnbc_occurrences v LEFT JOIN train_counts c USING (ngram)
			LEFT JOIN kanon_ngrams('train', 'visitor', 'pages', k, 3) a USING (ngram)),
	rest AS (
		SELECT max(total) + 1 AS total, max(total) + 1 - sum(count) AS mass, sum(public) FILTER (WHERE count IS NULL) AS public FROM kept)
	SELECT ngram, coalesce(kept.count, rest.mass * kept.public / rest.public) / rest.total FROM kept, rest;
	SELECT score_model(of_method, '', 1) $$;

CREATE FUNCTION score_release(of_method text, of_setting text, arguments text, delta float8, draw int)
	RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE model;
	EXECUTE format('INSERT INTO model SELECT * FROM bayes_dp_dist(''train'', ''visitor'', ''pages'',
		''msnbc_occurrences'', 0.2, %s, 3%s)', delta, arguments);
	PERFORM score_model(of_method, of_setting, draw);
END $$;

SET client_min_messages = error;
DO $$ BEGIN
	PERFORM score_counts('private baseline', 1);
	PERFORM score_counts('K-anonymity, K = 50', 50);
	TRUNCATE model;
	INSERT INTO model SELECT ngram, prior FROM truth_train;
	PERFORM score_model('public baseline', '', 1);
END $$;
SELECT score_release(method, setting, arguments, delta, draw)
FROM wanted_releases(:paper, :draws)
WHERE method !~ 'local|W = 1$' \g /dev/null
SELECT score_release('laplace-public, W = users/1000', 'W = ' || :paper,
	format($$, method => 'laplace-public', max_contributions => %s$$, :paper), 0, draw)
FROM generate_series(1, :draws) AS draw \g /dev/null
RESET client_min_messages;

CREATE TEMP TABLE perplexity_table AS
SELECT DISTINCT ON (method) method, setting, perplexity, sd
FROM (SELECT method, setting, avg(perplexity) AS perplexity, stddev_samp(perplexity) AS sd
	FROM perplexity_result GROUP BY method, setting) s
ORDER BY method, perplexity;

\echo
\echo ---- perplexity of held-out sessions, trigrams of MSNBC, epsilon 0.2 (delta as above)
SELECT count(log_probability) AS "sessions scored", count(*) AS "of", sum(words) FILTER (WHERE log_probability IS NOT NULL) AS "pages scored",
	(SELECT count(*) FROM msnbc_occurrences) AS trigrams, :train_users AS "private users"
FROM ngram_score('model', 'held_out', 'pages', 3);
SELECT method, setting, round(perplexity::numeric, 4) AS perplexity, round(sd::numeric, 4) AS sd
FROM perplexity_table ORDER BY perplexity_table.perplexity;

-- The order of the paper's table: each method of a line before each of the next.  Laplace
-- with public data stands there with its best W: at users/1000 a user would move the
-- weighted average by twice that, once for its own distribution and once for the public one.
CREATE TEMP TABLE wanted_order (line int, method text);
INSERT INTO wanted_order VALUES (1, 'private baseline'), (2, 'K-anonymity, K = 50'), (2, 'shrinkage'),
	(3, 'public baseline'), (4, 'laplace-public, best W'), (5, 'laplace, W = users/1000');
CREATE TEMP TABLE order_verdict AS
SELECT a.method || ' < ' || b.method AS what, pa.perplexity AS less, pb.perplexity AS more, pa.perplexity < pb.perplexity AS ok
FROM wanted_order a JOIN wanted_order b ON b.line = a.line + 1
	JOIN perplexity_table pa ON pa.method = a.method JOIN perplexity_table pb ON pb.method = b.method;
\echo
\echo ---- verdicts
SELECT what, round(less::numeric, 4) AS less, round(more::numeric, 4) AS more, CASE WHEN ok THEN 'ok' ELSE 'NOT OK' END AS verdict
FROM order_verdict ORDER BY 2, 3;
DO $$ BEGIN
	IF EXISTS (SELECT FROM order_verdict WHERE NOT ok) OR (SELECT count(*) FROM order_verdict) <> 6 THEN
		RAISE EXCEPTION 'the perplexities are not in the order that was promised';
	END IF;
END $$;
