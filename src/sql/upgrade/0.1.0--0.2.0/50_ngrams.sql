/* What has other defaults now. */

CREATE OR REPLACE FUNCTION @extschema@.dp_ngrams(
	relation regclass,
	user_col name,
	text_col name,
	epsilon float8,
	delta float8,
	max_length int DEFAULT 5,
	method text DEFAULT 'dpne-mr',
	max_contributions int DEFAULT 100,
	max_contributions_per_length int[] DEFAULT NULL,
	spurious float8 DEFAULT 0.01,
	pruning text DEFAULT 'both',
	noise_ratio float8 DEFAULT 1,
	length int DEFAULT NULL,
	tokenizer text DEFAULT 'word',
	max_tokens int DEFAULT NULL,
	threshold_share float8 DEFAULT 0.1,
	options jsonb DEFAULT '{}')
RETURNS TABLE (n int, ngram text, weight float8, stddev float8)
AS 'MODULE_PATHNAME', 'dpngram_dp_ngrams'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

CREATE OR REPLACE FUNCTION @extschema@.dp_set_union(
	relation regclass,
	user_col name,
	item_col name,
	epsilon float8,
	delta float8,
	max_contributions int DEFAULT 100,
	method text DEFAULT 'cumulative',
	options jsonb DEFAULT '{}')
RETURNS TABLE (item text, weight float8, stddev float8)
AS 'MODULE_PATHNAME', 'dpngram_dp_set_union'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
