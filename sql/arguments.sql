-- Each argument of the analyst's functions does what it says.  Sums and counts are
-- compared with bounds that chance leaves less than once in a million.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
CREATE SCHEMA arg;
-- 1000 users; each says the same four words, in one row
CREATE TABLE arg.few AS SELECT u, 'p q r s'::text AS body FROM generate_series(1, 1000) u;
-- 1000 users; each says the same 40 pairs of different words, a row each
CREATE TABLE arg.pairs AS SELECT u, format('w%s w%s', 2 * i, 2 * i + 1) AS body
	FROM generate_series(1, 1000) u, generate_series(1, 40) i;
SELECT dp_protect(t, 'u', 1000, 1e-2) FROM unnest('{arg.few,arg.pairs}'::regclass[]) t;

-- Are the weights of each length such a sum?  s n-grams of a user weigh sqrt(s) together.
CREATE FUNCTION arg.adds_up(bounds text, VARIADIC expected float8[]) RETURNS TABLE (n int, adds_up bool)
LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format($q$SELECT n, abs(sum(weight) - ($1)[n]) < 8 * sqrt(count(*)) * min(stddev)
		FROM dp_ngrams('arg.few', 'u', 'body', 8, 1e-6, max_length => 2, method => 'dpne', spurious => 1e-9, %s)
		GROUP BY n ORDER BY n$q$, bounds) USING expected;
END $$;
SELECT * FROM arg.adds_up('max_contributions => 100', 1000 * sqrt(4), 1000 * sqrt(3));
SELECT * FROM arg.adds_up('max_contributions => 2', 1000 * sqrt(2), 1000 * sqrt(2));
SELECT * FROM arg.adds_up('max_contributions_per_length => ''{3,1}''', 1000 * sqrt(3), 1000);
SELECT * FROM arg.adds_up('max_contributions => 2, max_contributions_per_length => ''{2,NULL}''', 1000 * sqrt(2), 1000 * sqrt(3));
SELECT abs(sum(weight) - 1000) < 8 * sqrt(2) * min(stddev) AS adds_up
FROM dp_ngrams('arg.few', 'u', 'body', 8, 1e-6, method => 'dpsu-single', max_length => 2, length => 2, max_contributions => 1);

-- the noise: one length to the next, divided among lengths or not; delta's part for it
SELECT n, round((stddev / first_value(stddev) OVER (ORDER BY n))::numeric, 4) AS ratio
FROM (SELECT n, min(stddev) AS stddev FROM dp_ngrams('arg.few', 'u', 'body', 8, 1e-6, max_length => 3, method => 'dpne', noise_ratio => 1.5) GROUP BY n) s
ORDER BY n;
CREATE TABLE arg.noise AS
SELECT method, min(stddev) AS stddev, count(DISTINCT stddev) AS distinct FROM unnest('{dpne,dpsu-all,dpsu-even}'::text[]) method,
	dp_ngrams('arg.few', 'u', 'body', 8, 1e-6, max_length => 3, method => method) GROUP BY method
UNION ALL
SELECT 'dpsu-single', min(stddev), count(DISTINCT stddev)
FROM dp_ngrams('arg.few', 'u', 'body', 8, 1e-6, max_length => 3, method => 'dpsu-single', length => 3);
SELECT method, round((stddev / (SELECT stddev FROM arg.noise WHERE method = 'dpsu-all'))::numeric, 4) AS ratio, "distinct"
FROM arg.noise ORDER BY method;
SELECT round((max(stddev) FILTER (WHERE share > 0.5) / max(stddev) FILTER (WHERE share < 0.5))::numeric, 2) AS ratio
FROM unnest('{0.1,0.9}'::float8[]) share, dp_ngrams('arg.few', 'u', 'body', 4, 1e-6, method => 'dpne', threshold_share => share);

-- the price is that of the noise, and delta_add the threshold's share
SELECT n, min(stddev) AS stddev INTO arg.priced FROM dp_ngrams('arg.few', 'u', 'body', 4, 1e-6, method => 'dpne', noise_ratio => 0.5, max_length => 4, threshold_share => 0.3) GROUP BY n;
SELECT epsilon, delta, abs(mu2 / (SELECT sum(1 / stddev ^ 2) FROM arg.priced) - 1) < 1e-12 AS noise_is_paid, round((delta_add / delta)::numeric, 6) AS threshold
FROM dpngram.releases WHERE relation = 'arg.few' ORDER BY id DESC LIMIT 1;
SELECT abs(sum(weight) - 1000) < 8 * sqrt(count(*)) * min(stddev) AS adds_up
FROM dp_set_union('arg.few', 'u', 'body', 2, 1e-5, max_contributions => 3, options => '{"threshold_share": 0.2}');
SELECT mechanism, epsilon, delta, round((delta_add / delta)::numeric, 6) AS threshold, parameters->'max_contributions' AS bounds
FROM dpngram.releases WHERE relation = 'arg.few' ORDER BY id DESC LIMIT 1;

-- spurious: of 80 words 72 bigrams that nobody wrote are expected, and none in a set union
CREATE FUNCTION arg.released(arguments text) RETURNS TABLE (n int, ngram text) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format($q$SELECT n, ngram FROM dp_ngrams('arg.pairs', 'u', 'body', 8, 1e-6, %s)$q$, arguments);
END $$;
CREATE VIEW arg.written AS SELECT DISTINCT body FROM arg.pairs;
SELECT count(*) FILTER (WHERE ngram IN (SELECT body FROM arg.written)) AS written,
	count(*) FILTER (WHERE ngram NOT IN (SELECT body FROM arg.written)) BETWEEN 20 AND 130 AS others
FROM arg.released('max_length => 2, spurious => 0.9') WHERE n = 2;
SELECT arguments, count(*) AS bigrams
FROM unnest('{"max_length => 2, spurious => 1e-9","max_length => 2, spurious => 0.9, method => ''dpsu-even''"}'::text[]) arguments,
	arg.released(arguments) WHERE n = 2 GROUP BY arguments ORDER BY arguments;

-- pruning: every end of a trigram is a bigram released, or not every
CREATE FUNCTION arg.ends(pruning text) RETURNS TABLE (trigrams bool, beginnings_missing bigint, ends_missing bool) LANGUAGE sql AS $$
	WITH r AS MATERIALIZED (SELECT * FROM arg.released(format('max_length => 3, spurious => 0.9, pruning => %L', pruning)))
	SELECT count(*) > 0, count(*) FILTER (WHERE regexp_replace(ngram, ' \S+$', '') NOT IN (SELECT ngram FROM r WHERE n = 2)),
		count(*) FILTER (WHERE regexp_replace(ngram, '^\S+ ', '') NOT IN (SELECT ngram FROM r WHERE n = 2)) > 0
	FROM r WHERE n = 3 $$;
SELECT * FROM arg.ends('both');
SELECT * FROM arg.ends('single');

-- the signatures, which can't change once views use them
SELECT proname, signature FROM pg_proc, regexp_split_to_table(pg_get_function_arguments(oid) || ', ' ||
	pg_get_function_result(oid), ', ') WITH ORDINALITY s (signature, place)
WHERE proname IN ('dp_ngrams', 'dp_set_union') ORDER BY proname, place;

SELECT dp_unprotect(t) FROM unnest('{arg.few,arg.pairs}'::text[]) t;
SET client_min_messages = error;
DROP SCHEMA arg CASCADE;
