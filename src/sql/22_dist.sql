/* Distributions over a public vocabulary. */

CREATE FUNCTION @extschema@.bayes_dp_dist(
	relation regclass,
	user_col name,
	text_col name,
	public_ngrams regclass,
	epsilon float8,
	delta float8,
	n int DEFAULT 3,
	method text DEFAULT 'shrinkage',
	counting text DEFAULT 'occurrences',
	max_count int DEFAULT NULL,
	max_contributions int DEFAULT NULL,
	max_norm float8 DEFAULT NULL,
	tune boolean DEFAULT false,
	sensitivity text DEFAULT NULL,
	tokenizer text DEFAULT 'word',
	max_tokens int DEFAULT NULL,
	options jsonb DEFAULT '{}')
RETURNS TABLE (ngram text, probability float8)
AS 'MODULE_PATHNAME', 'dpngram_bayes_dp_dist'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.bayes_dp_dist(regclass, name, name, regclass, float8, float8, int, text, text,
	int, int, float8, boolean, text, text, int, jsonb) IS
	'probabilities of public n-grams in a protected text column; debits the budget';
