-- next_words.sql: n-grams of public text in SQL, and what the next word costs a call, on
-- Wikipedia's articles: with and without an index, beside B-trees.
\pset format unaligned
\pset tuples_only on
\pset fieldsep ' '
SET client_min_messages = error;

CREATE FUNCTION pg_temp.took(label text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz := clock_timestamp();
	result text;
BEGIN
	EXECUTE query INTO result;
	RETURN rpad(label, 52) || to_char(extract(epoch FROM clock_timestamp() - start), '999990.99') || ' s  ' || result;
END $$;

SELECT 'One pass over the texts; the same by a regular expression is what SQL has without the extension.';
SELECT pg_temp.took('ngrams() in the select list', $$SELECT count(g) || ' trigrams' FROM (SELECT ngrams(body, 3) g FROM articles OFFSET 0) s$$);
SELECT pg_temp.took('ngrams() in FROM', $$SELECT count(g) || ' trigrams' FROM articles, ngrams(body, 3) g$$);
SELECT pg_temp.took('regexp_split_to_table', $$SELECT count(g) || ' words' FROM articles, regexp_split_to_table(lower(body), '\W+') g$$);
SELECT pg_temp.took('dp_public_ngrams, 10 times at least', $$SELECT count(*) || ' trigrams' FROM dp_public_ngrams('articles', 'body', 3, 10)$$);

-- microseconds a call, over prefixes as they come and for the one that most words follow
CREATE TABLE trigrams AS
	SELECT ngram, count / sum(count::float8) OVER () AS probability FROM dp_public_ngrams('articles', 'body', 3, 10);
CREATE TABLE prefixes AS SELECT ngram_prefix(ngram) AS prefix FROM trigrams ORDER BY md5(ngram) LIMIT 5000;
CREATE TABLE busiest AS SELECT ngram_prefix(ngram) AS prefix FROM trigrams GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1;
CREATE FUNCTION pg_temp.calls(label text, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
	usual float8;
	most float8;
	got bigint;
BEGIN
	PERFORM dp_next_words('trigrams', 'one of');
	start := clock_timestamp();
	SELECT count(*) INTO got FROM (SELECT prefix FROM prefixes LIMIT n) p, dp_next_words('trigrams', 'as was said of ' || prefix);
	usual := extract(epoch FROM clock_timestamp() - start) / n;
	start := clock_timestamp();
	SELECT count(*) INTO got FROM generate_series(1, n) i, busiest, dp_next_words('trigrams', prefix, 5 + 0 * i);
	most := extract(epoch FROM clock_timestamp() - start) / n;
	RETURN rpad(label, 40) || to_char(1e6 * usual, '9999990.9') || to_char(1e6 * most, '9999990.9');
END $$;
SELECT 'dp_next_words on ' || count(*) || ' trigrams: microseconds a call, for any two words, and after "' || (TABLE busiest) || '"' FROM trigrams;
ANALYZE trigrams;
SELECT pg_temp.calls('without an index', 20);
CREATE INDEX beside ON trigrams ((ngram_prefix(ngram) COLLATE "C"), probability DESC) INCLUDE (ngram);
VACUUM ANALYZE trigrams;
SELECT pg_temp.calls('a B-tree that holds all, ' || pg_size_pretty(pg_relation_size('beside')), 5000);
DROP INDEX beside;
SELECT dp_index_next_words('trigrams');
VACUUM ANALYZE trigrams;
SELECT pg_temp.calls('dp_index_next_words, ' || pg_size_pretty(pg_relation_size('trigrams_next_words_idx')), 5000);
