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

-- Partitions, views; users of other types, arrays of words.
SELECT * FROM push_test_compare('hashed', 'who', 'what', 4);
SELECT * FROM push_test_compare('seen', 'who', 'what', 4);
SELECT * FROM push_test_compare('users_of_text', 'who', 'what', 4, 5);

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
