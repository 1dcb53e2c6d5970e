-- unions.sql: how many words each method of dp_set_union finds in the commits' messages, at
-- (1, 1e-7): the mean of five calls and their spread; seconds are of one process.
\pset footer off
SET client_min_messages = warning;
SET dpngram.max_parallel_workers = 0;
CREATE TABLE author_words AS SELECT DISTINCT author, word FROM git_commits, ngrams(message, 1) AS word;
-- with "single" a user has one value: any of theirs
CREATE TABLE author_word AS SELECT DISTINCT ON (author) author, word FROM author_words ORDER BY author, random();
ANALYZE author_words, author_word;
SELECT dp_protect('author_words', 'author', 3000, 1e-2), dp_protect('author_word', 'author', 3000, 1e-2) \g /dev/null
SELECT count(DISTINCT author) AS authors, count(DISTINCT word) AS words, count(*) AS pairs FROM author_words;

CREATE TABLE found (method text, seconds float8, words bigint);
DO $$
DECLARE
	started timestamptz;
	one bigint;
	m text;
BEGIN
	FOR run IN 1 .. 5 LOOP
		FOREACH m IN ARRAY '{cumulative,sips,policy_gaussian,weighted_gaussian,policy_laplace,weighted_laplace,single}'::text[] LOOP
			started := clock_timestamp();
			EXECUTE format('SELECT count(*) FROM dp_set_union(%L, %L, %L, 1, 1e-7, method => %L, max_contributions => %s)',
				CASE m WHEN 'single' THEN 'author_word' ELSE 'author_words' END, 'author', 'word', m,
				CASE m WHEN 'single' THEN 1 ELSE 100 END) INTO one;
			INSERT INTO found VALUES (m, extract(epoch FROM clock_timestamp() - started), one);
		END LOOP;
	END LOOP;
END $$;
SELECT method, round(avg(words)) AS words, round(stddev_samp(words), 1) AS "sd of a call",
	round(min(seconds)::numeric, 2) AS "seconds, best of five"
FROM found GROUP BY method ORDER BY avg(words) DESC;

-- The order that the manual tells: a failed check is a failed bench.
DO $$
BEGIN
	IF (SELECT array_agg(method ORDER BY words DESC) FROM (SELECT method, avg(words) AS words FROM found GROUP BY method) m)
		<> '{cumulative,sips,policy_gaussian,weighted_gaussian,policy_laplace,single,weighted_laplace}' THEN
		RAISE EXCEPTION 'the methods are in another order';
	END IF;
END $$;
