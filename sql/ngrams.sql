-- dp_ngrams and dp_set_union: methods, parameters and the shape of the answer
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
SET client_min_messages = warning;
CREATE ROLE regress_ng_owner;
CREATE ROLE regress_ng_analyst;
CREATE SCHEMA ng AUTHORIZATION regress_ng_owner;
GRANT USAGE ON SCHEMA ng TO regress_ng_analyst;
SET ROLE regress_ng_owner;
-- 400 users who share a phrase, each with some words of their own
CREATE TABLE ng.posts (author int, body text, tags text[], lang text);
INSERT INTO ng.posts
SELECT u, 'The quick brown fox, it doesn''t jump u' || u || ' v' || u,
	ARRAY['red', 'dark blue', 'u' || u], CASE WHEN u % 100 = 0 THEN 'lang ' || u ELSE 'en us' END
FROM generate_series(1, 400) u;
INSERT INTO ng.posts VALUES (1, NULL, NULL, NULL), (NULL, 'the quick brown fox', '{red}', 'en us'), (2, '', '{}', ''),
	(3, ' ... !', ARRAY['red', NULL, 'dark blue', ''], NULL);
SELECT dp_protect('ng.posts', 'author', 1000, 1e-2);
SELECT dp_grant('ng.posts', 'regress_ng_analyst');
SET ROLE regress_ng_analyst;
SELECT count(*) FROM ng.posts;

-- the phrase is found, no user's own words are
SELECT n, ngram FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6, spurious => 1e-6);
SELECT n, ngram FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6, spurious => 1e-6, pruning => 'single');
SELECT n, ngram FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6, max_length => 3, method => 'dpsu-all');
SELECT n, ngram FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6, max_length => 3, method => 'dpsu-even');
SELECT n, ngram FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6, max_length => 3, method => 'dpsu-single', length => 2);

-- weights: 400 users with 9 words each; of their 8 bigrams 6 are admitted
SELECT n, bool_and(abs(weight - CASE n WHEN 1 THEN 400 / sqrt(9) ELSE 400 / sqrt(6) END) < 8 * stddev),
	count(DISTINCT stddev)
FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6, max_length => 2, method => 'dpne', spurious => 1e-6)
GROUP BY n ORDER BY n;
-- all on the lattice of multiples of 2^-20
SELECT bool_and(weight * 1048576 = trunc(weight * 1048576)) FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6, method => 'dpne');

-- arrays are sequences of tokens; a blank is escaped; a null or empty element parts the sequence
SELECT n, ngram FROM dp_ngrams('ng.posts', 'author', 'tags', 4, 1e-6, spurious => 1e-6);
-- values of a column
SELECT item FROM dp_set_union('ng.posts', 'author', 'lang', 4, 1e-6);
SELECT count(*) FROM dp_set_union('ng.posts', 'author', 'tags', 4, 1e-6);
SELECT count(*) FROM dp_set_union('ng.posts', 'author', 'lang', 4, 1e-6, method => 'weighted_gaussian', options => '{"threshold_share": 0.5}');

-- one user's contribution to a length is bounded
SELECT n, count(*) > 0 FROM dp_ngrams('ng.posts', 'author', 'body', 8, 1e-6, max_length => 2, max_contributions => 2) GROUP BY n ORDER BY n;
SELECT count(*) > 0 FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6, max_length => 2, max_contributions_per_length => '{8,NULL}');
-- longer documents are dropped
SELECT count(*) FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6, max_tokens => 8);
SELECT count(*) > 0 FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6, max_tokens => 9);

-- noise: two calls differ; with a seed they don't, and the release is marked
SELECT (SELECT array_agg(weight) FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6, spurious => 1e-6)) =
	(SELECT array_agg(weight) FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6, spurious => 1e-6)) AS same;
SET dpngram.test_seed = 1;
RESET ROLE;
SET dpngram.test_seed = 1;
SELECT (SELECT array_agg(weight) FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6)) =
	(SELECT array_agg(weight) FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6)) AS same;
RESET dpngram.test_seed;
SELECT seeded, count(*) FROM dpngram.releases WHERE mechanism LIKE 'dp_%' AND relation = 'ng.posts' AND mechanism IN ('dp_ngrams', 'dp_set_union') GROUP BY seeded ORDER BY seeded;

-- one call, one draw: a join, a scroll cursor and a second look don't draw again
SET ROLE regress_ng_analyst;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT weight FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6, max_length => 1);
FETCH 1 FROM c \gset first_
MOVE ABSOLUTE 0 FROM c;
FETCH 1 FROM c \gset second_
SELECT :first_weight = :second_weight AS same;
COMMIT;
EXPLAIN (COSTS OFF) SELECT * FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6);
RESET ROLE;
SELECT mechanism, count(*) FROM dpngram.releases WHERE relation = 'ng.posts' AND mechanism IN ('dp_ngrams', 'dp_set_union') GROUP BY mechanism ORDER BY mechanism;

-- a session that wants to know how far its call has come
SET client_min_messages = notice;
SET dpngram.progress = on;
SELECT count(*) > 0 AS released FROM dp_ngrams('ng.posts', 'author', 'body', 4, 1e-6, max_length => 2);
RESET dpngram.progress;
SET client_min_messages = warning;

SELECT dp_unprotect('ng.posts');
DROP SCHEMA ng CASCADE;
DROP ROLE regress_ng_owner, regress_ng_analyst;
