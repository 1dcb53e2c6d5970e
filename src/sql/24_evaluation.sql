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
