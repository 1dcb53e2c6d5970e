-- git.sql: trigrams of git commit subjects, with Wikipedia's as the public side.
--
-- Nearly all that a release takes here is to read 13 million words, of which the
-- vocabulary leaves one in fifty.  So each author's trigrams are looked up once and kept
-- as an array of numbers, which is released with n => 1: an element is then an n-gram,
-- and each method gets the very rows that it would count in the texts.  (The speed part
-- reads the texts.)

CREATE TABLE git_public AS SELECT * FROM dp_public_ngrams('articles', 'body', 3, 5);
CREATE TABLE git_words AS
SELECT ngram AS words, row_number() OVER (ORDER BY count DESC, ngram)::int AS number, count
FROM git_public ORDER BY count DESC, ngram LIMIT 60000;
SET work_mem = '256MB';
CREATE TABLE git_grams AS
SELECT author, array_agg(number) AS grams
FROM git_commits, ngrams(message, 3) AS g JOIN git_words ON words = g GROUP BY author;
RESET work_mem;
SELECT count(DISTINCT author) AS git_users FROM git_commits \gset
SELECT dp_protect('git_grams', 'author', 1e5, 1e-2, options => '{"min_epsilon": 0}');
CREATE TABLE git_counts AS SELECT * FROM private_counts('git_grams', 'author', 'grams', 1);

CREATE TABLE git_size AS SELECT v FROM unnest('{1000,3000,10000,30000,60000}'::int[]) AS v;
DO $$
DECLARE r git_size;
BEGIN
	FOR r IN SELECT * FROM git_size LOOP
		EXECUTE format('CREATE TABLE git_v%s AS SELECT number::text AS ngram, count FROM git_words WHERE number <= %1$s', r.v);
	END LOOP;
END $$;
SELECT add_case('git_o' || v, 'git', 'occurrences', 'git_grams', 'author', 'grams', 1, :git_users, 'git_counts', 'git_v' || v),
	add_case('git_u' || v, 'git', 'users', 'git_grams', 'author', 'grams', 1, :git_users, 'git_counts', 'git_v' || v)
FROM git_size;

INSERT INTO point SELECT 'epsilon', id, e, e FROM unnest('{git_o10000,git_u10000}'::text[]) AS id,
	unnest('{0.01,0.03,0.1,0.3,1,3,10}'::float8[]) AS e;
INSERT INTO point SELECT 'vocabulary', 'git_u' || v, v, 0.1 FROM git_size;
