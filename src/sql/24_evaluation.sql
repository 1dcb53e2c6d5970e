-- Building blocks over n-grams of texts that need no protection, and what distributions
-- are judged by.  Whether a role may read a relation is decided by PostgreSQL itself.

CREATE FUNCTION @extschema@.ngrams(text text, n int, tokenizer text DEFAULT 'word')
	RETURNS SETOF text LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 100
	AS 'MODULE_PATHNAME', 'dpngram_ngrams';
COMMENT ON FUNCTION @extschema@.ngrams(text, int, text) IS
	'all n-grams of a text, with repeats and in order';

CREATE FUNCTION @extschema@.ngrams(tokens anyarray, n int)
	RETURNS SETOF text LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 100
	AS 'MODULE_PATHNAME', 'dpngram_ngrams';
COMMENT ON FUNCTION @extschema@.ngrams(anyarray, int) IS
	'all n-grams of an array of tokens, with repeats and in order; a null element parts the array';

CREATE FUNCTION dpngram.ngrams_of(value "any", n int, tokenizer text, max_tokens int)
	RETURNS SETOF text LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 100
	AS 'MODULE_PATHNAME', 'dpngram_ngrams';
COMMENT ON FUNCTION dpngram.ngrams_of("any", int, text, int) IS
	'all n-grams of a value of any type that has tokens, unless it has more than max_tokens (0: any number)';

CREATE FUNCTION @extschema@.dp_public_ngrams(relation regclass, text_col name, n int DEFAULT 3,
		min_count bigint DEFAULT 1, user_col name DEFAULT NULL, tokenizer text DEFAULT 'word',
		max_tokens int DEFAULT NULL)
	RETURNS TABLE (ngram text, count bigint) LANGUAGE C STABLE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_public_ngrams';
COMMENT ON FUNCTION @extschema@.dp_public_ngrams(regclass, name, int, bigint, name, text, int) IS
	'n-grams of a public relation with exact counts, of occurrences or of users; refuses what a privacy budget protects';

CREATE FUNCTION @extschema@.kanon_ngrams(relation regclass, user_col name, text_col name, k bigint,
		max_length int DEFAULT 5, tokenizer text DEFAULT 'word', max_tokens int DEFAULT NULL)
	RETURNS TABLE (n int, ngram text, users bigint) LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_kanon_ngrams';
COMMENT ON FUNCTION @extschema@.kanon_ngrams(regclass, name, name, bigint, int, text, int) IS
	'n-grams of at least k users with their exact number: k-anonymity, NOT differentially private; for the relation''s owner';
