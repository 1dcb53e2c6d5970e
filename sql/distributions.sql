-- Distributions over a public vocabulary: what is counted, what comes back, what it costs
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
CREATE ROLE regress_dist_owner;
CREATE ROLE regress_dist_ana;
CREATE SCHEMA dist AUTHORIZATION regress_dist_owner;
GRANT USAGE ON SCHEMA dist TO regress_dist_ana;
SET ROLE regress_dist_owner;

-- 400 users: a third "red green blue" twice, all "one two three"; texts with what is not counted
CREATE TABLE dist.said ("the User" text, "Körper" text, tags int[]);
INSERT INTO dist.said SELECT 'u' || i, 'One, two: THREE', ARRAY[1, 2, 3] FROM generate_series(1, 400) i;
INSERT INTO dist.said SELECT 'u' || i, 'red green blue; red green blue', NULL FROM generate_series(1, 400, 4) i;
INSERT INTO dist.said SELECT 'u' || i, 'straße über größe', ARRAY[2, 3, NULL, 1, 2, 3] FROM generate_series(1, 400, 2) i;
-- n-grams don't cross rows, nor tokens outside the vocabulary; nobody is nobody
INSERT INTO dist.said VALUES ('u1', 'two', NULL), ('u1', 'three', NULL), ('u2', 'one two x three', NULL),
	(NULL, 'one two three', '{1,2,3}'), ('u3', NULL, NULL), ('u4', '', '{}');
CREATE TABLE dist.public (ngram text, count bigint);
INSERT INTO dist.public VALUES ('one two three', 30), ('red green blue', 5), ('straße über größe', 1),
	('green blue red', 2), ('never said here', 7);
CREATE TABLE dist.public_tags (ngram varchar(20), count int);
INSERT INTO dist.public_tags VALUES ('1 2 3', 1), ('2 3 1', 1), ('3 1 2', 1);
SELECT dp_protect('dist.said', 'the User', 1e12, 1e-3, dataset => 'said', accounting => 'basic', options => '{"min_epsilon": 0}');
SELECT dp_grant('said', 'regress_dist_ana');
GRANT SELECT ON dist.public, dist.public_tags TO regress_dist_ana;

-- the analyst reads the answer, not the table
SET ROLE regress_dist_ana;
SELECT count(*) FROM dist.said;
SELECT count(*), abs(sum(probability) - 1) < 1e-9 AS sums_to_1, min(probability) > 0 AS positive
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1, 1e-6);

-- with next to no noise: what is counted.  Bytes order the rows.
CREATE TEMP TABLE nearly AS
SELECT ngram, round((100 * probability)::numeric) AS percent
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e6, 1e-6, max_contributions => 10, max_norm => 64);
TABLE nearly;
SELECT ngram, round((8 * probability)::numeric) AS eighths
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e6, 1e-6, counting => 'users', max_contributions => 10, max_norm => 64);
-- pure, and the baseline: Laplace noise
SELECT ngram, round((100 * probability)::numeric) AS percent
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e6, 0, max_norm => 64);
SELECT ngram, round((100 * probability)::numeric) AS percent
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e6, 0, method => 'laplace');
SELECT ngram, round((100 * probability)::numeric) AS percent
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e6, 0, method => 'laplace-public');
-- arrays are their own tokens, a null element parts
SELECT ngram, round((100 * probability)::numeric) AS percent
FROM bayes_dp_dist('dist.said', 'the User', 'tags', 'dist.public_tags', 1e6, 1e-6, max_contributions => 10, max_norm => 64);
-- other lengths and tokenizers
CREATE TEMP TABLE words (ngram text, count bigint);
INSERT INTO words VALUES ('One,', 1), ('red', 1), ('blue;', 1);
SELECT ngram, round((100 * probability)::numeric) AS percent
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'words', 1e6, 1e-6, n => 1, tokenizer => 'whitespace', max_contributions => 10, max_norm => 64);

-- bounds: one occurrence of an n-gram; one n-gram, or one occurrence, of a user
SELECT ngram, round((8 * probability)::numeric) AS eighths
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e6, 1e-6, max_count => 1, max_contributions => 10, max_norm => 64);
SELECT method, sum(round(probability * c)) = c AS sums
FROM (VALUES ('shrinkage', 1e-6, 400), ('laplace', 0, 400)) m (method, delta, c),
	LATERAL bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e6, delta, method => method,
		counting => 'users', max_contributions => 1)
GROUP BY method, c ORDER BY method;
-- a norm of 1: a user with two n-grams counts as 1/sqrt 2 of each, with three occurrences less
SELECT ngram, round((100 * probability)::numeric) AS percent
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e6, 1e-6, max_contributions => 10, max_norm => 1);
-- in l1 a user of two adds a half to each
SELECT ngram, round((100 * probability)::numeric) AS percent
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e6, 0, counting => 'users', max_norm => 1);

-- equations 1 to 5: with no noise to speak of and rho = 1 the logarithm is that of the counts
SELECT ngram, round((100 * probability)::numeric) AS percent
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e6, 1e-6, method => 'log-posterior',
	counting => 'users', options => '{"s": 10, "rho": 1}');
SELECT ngram, round((100 * probability)::numeric) AS percent
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e6, 1e-6, method => 'log-posterior',
	counting => 'users', options => '{"s": 10, "rho": 0.5}');
SELECT count(*), abs(sum(probability) - 1) < 1e-9 AS sums_to_1, min(probability) > 0 AS positive
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1, 1e-6, method => 'log-posterior', tune => true);

-- far too small an epsilon: the public distribution, nothing overflows.  Noise passes for counts in one run of 60.
SELECT delta, count(*) FILTER (WHERE public) >= 15 AS public, bool_and(sums_to_1) AS sums_to_1
FROM (SELECT delta, max(abs(probability - count / 45.0)) < 1e-6 AS public, abs(sum(probability) - 1) < 1e-9 AS sums_to_1
	FROM unnest('{0,1e-9}'::float8[]) delta, generate_series(1, 20) run,
		LATERAL bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e-6 + run * 1e-12, delta)
	JOIN dist.public USING (ngram) GROUP BY delta, run) s GROUP BY delta ORDER BY delta;
SELECT method, abs(sum(probability) - 1) < 1e-9 AS sums_to_1, min(probability) > 0 AS positive, max(probability) <= 1 AS finite
FROM unnest('{laplace,laplace-public}'::text[]) method,
	LATERAL bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e-3, 0, method => method) GROUP BY 1 ORDER BY 1;
-- tuned, the logarithms leave nothing but equation 1's prior
SELECT max(abs(probability - (count + 1) / 50.0)) < 1e-9 AS prior
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e-6, 1e-9, method => 'log-posterior', tune => true) JOIN dist.public USING (ngram);
SELECT tune, abs(sum(probability) - 1) < 1e-9 AS sums_to_1, min(probability) > 0 AS positive, max(probability) <= 1 AS finite
FROM unnest('{false,true}'::bool[]) tune,
	LATERAL bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e-6, 1e-9, method => 'log-posterior', tune => tune) GROUP BY 1 ORDER BY 1;

-- for the owner, the least epsilon and delta that there are
SET ROLE regress_dist_owner;
SET client_min_messages = error;
SELECT sensitivity, abs(sum(probability) - 1) < 1e-9 AS sums_to_1, min(probability) > 0 AS positive, max(probability) <= 1 AS finite
FROM unnest('{brute-force,worst-case}'::text[]) sensitivity,
	LATERAL bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1e-307, 1e-307, method => 'local-sensitivity',
		sensitivity => sensitivity, max_count => 100, options => '{"s": 1e9, "rho": 1}') GROUP BY 1 ORDER BY 1;
SET client_min_messages = warning;
SET ROLE regress_dist_ana;

-- nobody says anything of it; nobody at all; one user; a vocabulary of one
RESET ROLE;
CREATE TABLE dist.silent (u int, body text);
ALTER TABLE dist.silent OWNER TO regress_dist_owner;
CREATE TABLE dist.single (ngram text, count bigint);
INSERT INTO dist.single VALUES ('one two three', 1);
GRANT SELECT ON dist.single TO PUBLIC;
SET ROLE regress_dist_owner;
SELECT dp_protect('dist.silent', 'u', 1000, 1e-3, pure_share => 0.5, options => '{"min_epsilon": 0}');
CREATE FUNCTION dist.all_finite(relation regclass, public regclass) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', method, rows, sums_to_1, positive), ', ' ORDER BY method) FROM (
		SELECT method, count(*) AS rows, abs(sum(probability) - 1) < 1e-9 AS sums_to_1, min(probability) > 0 AS positive
		FROM (VALUES ('shrinkage', 1e-6), ('log-posterior', 1e-6), ('laplace', 0), ('laplace-public', 0), ('local-sensitivity', 1e-6)) m (method, delta),
			LATERAL bayes_dp_dist(relation, 'u', 'body', public, 1, delta, method => method) GROUP BY method) s
$$;
SET client_min_messages = error;
SELECT dist.all_finite('dist.silent', 'dist.public');
SELECT dist.all_finite('dist.silent', 'dist.single');
INSERT INTO dist.silent VALUES (1, 'not a word of it');
SELECT dist.all_finite('dist.silent', 'dist.public');
INSERT INTO dist.silent VALUES (1, 'one two three');
SELECT dist.all_finite('dist.silent', 'dist.public');
SELECT dist.all_finite('dist.silent', 'dist.single');
RESET client_min_messages;
SET client_min_messages = warning;

-- the printed mechanism: for the owner, with a warning, and not debited
CREATE TEMP TABLE before AS SELECT count(*) AS releases FROM dpngram.releases;
SELECT count(*), abs(sum(probability) - 1) < 1e-9 AS sums_to_1, min(probability) > 0 AS positive
FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1, 1e-6, method => 'local-sensitivity');
SELECT count(*) FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1, 1e-6, method => 'local-sensitivity',
	sensitivity => 'worst-case', options => '{"s": 0.1, "rho": 0.5, "unweighted_mean": true}');
SELECT count(*) - releases AS new FROM dpngram.releases, before GROUP BY releases;
-- with no noise, on four words: counts 0, 1, 3, 7 of 0, 1, 2, 4 users, C = 4, S = 2, rho = 1/2 in equations 1 to 5
CREATE TABLE dist.four (u int, body text);
INSERT INTO dist.four VALUES (1, 'b c c d d d d'), (2, 'c d'), (3, 'd'), (4, 'd');
CREATE TABLE dist.four_public (ngram text, count bigint);
INSERT INTO dist.four_public VALUES ('a', 7), ('b', 3), ('c', 1), ('d', 1);
SET client_min_messages = error;
WITH word AS (SELECT ngram, count AS public, c, n FROM dist.four_public
		JOIN (VALUES ('a', 0, 0), ('b', 1, 1), ('c', 3, 2), ('d', 7, 4)) v (of, c, n) ON of = ngram),
	logarithm AS (SELECT ngram, ln(1 + public) - avg(ln(1 + public)) OVER () AS mu, ln(1.0 + c) - avg(ln(1.0 + c)) OVER () AS x,
		least(1, 2 * n / 4.0) AS w FROM word),
	theta AS (SELECT ngram, unweighted, exp(0.5 * CASE WHEN unweighted THEN 1 ELSE w END * x + 0.5 * mu) AS e
		FROM logarithm, unnest('{false,true}'::bool[]) unweighted)
SELECT unweighted, count(*) AS words, max(abs(probability - e / total)) < 1e-14 AS as_printed
FROM (SELECT ngram, unweighted, e, sum(e) OVER (PARTITION BY unweighted) AS total FROM theta) t
JOIN LATERAL bayes_dp_dist('dist.four', 'u', 'body', 'dist.four_public', 1e300, 0.9, n => 1, method => 'local-sensitivity',
	max_count => 4, options => jsonb_build_object('s', 2, 'rho', 0.5, 'unweighted_mean', unweighted)) USING (ngram)
GROUP BY unweighted ORDER BY unweighted;
SET client_min_messages = warning;
SET ROLE regress_dist_ana;
SELECT count(*) FROM bayes_dp_dist('dist.said', 'the User', 'Körper', 'dist.public', 1, 1e-6, method => 'local-sensitivity');

-- what stands in the log: the method's parameters, and what was chosen by looking at what was released
SELECT parameters->>'method' AS method, parameters->>'public_ngrams' AS public_ngrams, used ? 'max_norm' AS norm, used ? 'rho' AS rho, status
FROM dpngram.releases WHERE mechanism = 'bayes_dp_dist' AND dataset = 'said' ORDER BY id DESC LIMIT 4;

-- the same rows whether they stay in memory or not, for every method
RESET ROLE;
CREATE FUNCTION dist.fingerprint(work text, method text, delta float8, tune bool) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('work_mem', work, true);
	RETURN (SELECT md5(string_agg(ngram || probability::text, '|')) FROM bayes_dp_dist('dist.many', 'u', 'body', 'dist.many_public', 1, delta,
		n => 2, method => method, tune => tune, max_contributions => 3));
END $$;
CREATE TABLE dist.many AS SELECT u, string_agg('w' || ((u * i * 7919) % 97), ' ' ORDER BY i) AS body
	FROM generate_series(1, 6000) u, generate_series(1, 12) i GROUP BY u;
CREATE TABLE dist.many_public AS SELECT * FROM (SELECT 'w' || a || ' w' || b AS ngram, 1 + (a * b) % 5 AS count
	FROM generate_series(0, 96) a, generate_series(0, 96) b) s;
SELECT dp_protect('dist.many', 'u', 1000, 1e-3, pure_share => 0.5, options => '{"min_epsilon": 0}');
SET dpngram.test_seed = 42;
SET client_min_messages = error;
SET hash_mem_multiplier = 1;
SELECT method, tune, dist.fingerprint('64kB', method, delta, tune) = dist.fingerprint('64MB', method, delta, tune) AS same,
	dist.fingerprint('64kB', method, delta, tune) IS NOT NULL AS answered
FROM (VALUES ('shrinkage', 1e-6, false), ('shrinkage', 0, false), ('log-posterior', 1e-6, false), ('log-posterior', 1e-6, true),
	('laplace', 0, false), ('laplace-public', 0, false), ('local-sensitivity', 1e-6, false)) m (method, delta, tune);
RESET hash_mem_multiplier;
RESET dpngram.test_seed;
RESET client_min_messages;

-- views and partitions
SET client_min_messages = error;
CREATE TABLE dist.parts (u int, body text) PARTITION BY RANGE (u);
CREATE TABLE dist.parts_low PARTITION OF dist.parts FOR VALUES FROM (0) TO (50);
CREATE TABLE dist.parts_high PARTITION OF dist.parts FOR VALUES FROM (50) TO (100);
INSERT INTO dist.parts SELECT i % 100, 'one two three' FROM generate_series(1, 300) i;
CREATE VIEW dist.seen AS SELECT u, body FROM dist.parts_low;
SELECT dp_protect('dist.parts', 'u', 1e12, 1e-3, dataset => 'parts', accounting => 'basic', options => '{"min_epsilon": 0}');
SELECT ngram, round((100 * probability)::numeric) AS percent
FROM bayes_dp_dist('dist.parts', 'u', 'body', 'dist.public', 1e6, 1e-6, max_contributions => 10, max_norm => 3);
SELECT dp_unprotect('parts');
SELECT dp_protect('dist.seen', 'u', 1e12, 1e-3, accounting => 'basic', options => '{"min_epsilon": 0}');
SELECT ngram, round((100 * probability)::numeric) AS percent
FROM bayes_dp_dist('dist.seen', 'u', 'body', 'dist.public', 1e6, 1e-6, max_contributions => 10, max_norm => 3);

-- laplace-public takes off a multiple of the public distribution in integers: here that is nothing of any n-gram
CREATE TABLE dist.long AS SELECT u, repeat('one two ', 2000) AS body FROM generate_series(1, 20) u;
CREATE TABLE dist.fine AS SELECT 'rare ' || i AS ngram, 1 AS count FROM generate_series(1, 3000) i;
INSERT INTO dist.fine VALUES ('one two', 1);
SELECT dp_protect('dist.long', 'u', 1e12, 1e-3, accounting => 'basic', options => '{"min_epsilon": 0}');
SELECT probability > 0.9 AS all_private
FROM bayes_dp_dist('dist.long', 'u', 'body', 'dist.fine', 1e9, 0, n => 2, method => 'laplace-public', max_contributions => 1048576)
WHERE ngram = 'one two';
-- where the scale of the noise is large, too, a call for all of a budget fits
CREATE TABLE dist.whole (u int, body text);
SELECT dp_protect('dist.whole', 'u', 1e-4, 0);
SELECT count(*) FROM bayes_dp_dist('dist.whole', 'u', 'body', 'dist.public', 1e-4, 0, method => 'laplace-public');
-- users of a type that has no hash function are parted for tuning, too
CREATE TABLE dist.bits AS SELECT i::bit(12) AS u, 'only this w' || i % 200 AS body FROM generate_series(1, 2000) i;
CREATE TABLE dist.bits_public AS SELECT 'w' || i AS ngram, 1 AS count FROM generate_series(0, 199) i;
INSERT INTO dist.bits_public VALUES ('only', 1), ('this', 1), ('that', 2000);
SELECT dp_protect('dist.bits', 'u', 1e12, 1e-3, accounting => 'basic', options => '{"min_epsilon": 0}');
SELECT min(probability) > 0.1 AS always_chosen_well
FROM generate_series(1, 12) run, LATERAL bayes_dp_dist('dist.bits', 'u', 'body', 'dist.bits_public',
	1000 + run, 1e-6, n => 1, method => 'log-posterior', tune => true) WHERE ngram IN ('only', 'this');

DROP SCHEMA dist CASCADE;
DROP OWNED BY regress_dist_ana, regress_dist_owner;
DROP ROLE regress_dist_ana;
DROP ROLE regress_dist_owner;
