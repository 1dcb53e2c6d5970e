-- The histograms of all levels are the same, n-gram for n-gram and weight for weight.
SELECT * FROM push_test_compare('texts', 'who', 'what', 6);
SELECT * FROM push_test_compare('texts', 'who', 'what', 6, single => true);
SELECT seed, bool_and(different = 0) AS same, bool_and(ngrams > 0) AS any
FROM generate_series(1, 10) seed, push_test_compare('texts', 'who', 'what', 4, seed => seed, single => seed % 2 = 0)
GROUP BY seed ORDER BY seed;

-- Users with more n-grams than the bound have the same ones chosen.
SELECT bound, bool_and(different = 0) AS same
FROM unnest(ARRAY[1, 2, 7, 30]) bound, push_test_compare('texts', 'who', 'what', 4, bound) GROUP BY bound ORDER BY bound;

-- Documents that are too long, other tokenizers.
SELECT max_tokens, tokenizer, bool_and(different = 0) AS same, sum(ngrams) > 0 AS any
FROM unnest(ARRAY[0, 1, 5]) max_tokens, unnest(ARRAY['word', 'whitespace']) tokenizer,
	push_test_compare('texts', 'who', 'what', 3, tokenizer => tokenizer, max_tokens => max_tokens)
GROUP BY 1, 2 ORDER BY 1, 2;

-- Partitions, a materialized view; users of other types, arrays of words.
SELECT * FROM push_test_compare('hashed', 'who', 'what', 4);
SELECT * FROM push_test_compare('seen', 'who', 'what', 4);
SELECT * FROM push_test_compare('users_of_text', 'who', 'what', 4, 5);
CREATE VIEW looked_through AS TABLE texts;
SELECT * FROM push_test_compare('looked_through', 'who', 'what', 4);

-- Within little memory.
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT * FROM push_test_compare('texts', 'who', 'what', 5);
RESET work_mem;
RESET hash_mem_multiplier;

-- With parallel workers, which may merge sums.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM push_test_compare('hashed', 'who', 'what', 4);
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- All users at once, in any order, within little memory, is the sum of all users.
CREATE TABLE numbered AS
	SELECT draw(3000, 'who', i::text) AS who, (SELECT string_agg('w' || draw(40, i::text, j::text), ' ') FROM generate_series(1, 10) j) AS what
	FROM generate_series(1, 6000) i;
SELECT push_test_spec(1, 0) AS spec_1, push_test_spec(2, 30) AS spec_2, push_test_spec(3, 30) AS spec_3 \gset
CREATE FUNCTION both_ways(spec bytea) RETURNS TABLE (n bigint, same bool) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format($q$
		WITH at_once AS (SELECT c.* FROM (SELECT dpngram.exact_counts(%1$L::bytea, who, what) p FROM numbered) s, dpngram.unpacked_counts(p) c),
			by_user AS (SELECT key, content, sum(weight)::bigint FROM (SELECT dpngram.exact_user_counts(%1$L::bytea, who, what) p FROM numbered GROUP BY who) s,
				dpngram.unpacked_counts(p) c GROUP BY key, content)
		SELECT (SELECT count(*) FROM at_once), NOT EXISTS (TABLE at_once EXCEPT TABLE by_user) AND NOT EXISTS (TABLE by_user EXCEPT TABLE at_once)$q$, spec);
END $$;
SELECT * FROM both_ways(:'spec_1'), both_ways(:'spec_2') AS second, both_ways(:'spec_3') AS third;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT * FROM both_ways(:'spec_1'), both_ways(:'spec_2') AS second, both_ways(:'spec_3') AS third;
RESET work_mem;
RESET hash_mem_multiplier;

-- Whoever stops in the middle leaves nothing behind.
SET enable_sort = off;
SET work_mem = '64kB';
SELECT count(*) FROM (SELECT dpngram.exact_counts(:'spec_1'::bytea, who, what) FROM numbered GROUP BY who % 3 LIMIT 1) s;
RESET work_mem;
RESET enable_sort;

-- The words of S_1 alone are told, each once.
SELECT cardinality(dpngram.exact_words(:'spec_2'::bytea, who, what)) AS words FROM numbered;
SELECT count(DISTINCT word) AS words, count(*) > 30 AS more FROM (SELECT unnest(dpngram.exact_row_words(:'spec_2'::bytea, who, what)) AS word FROM numbered) s;
