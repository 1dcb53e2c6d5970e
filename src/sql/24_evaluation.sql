-- Building blocks over n-grams of texts that need no protection, and what distributions
-- are judged by.  Whether a role may read a relation is decided by PostgreSQL itself.

CREATE FUNCTION @extschema@.ngrams(text text, n int, tokenizer text DEFAULT 'word')
	RETURNS SETOF text LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 100
	AS 'MODULE_PATHNAME', 'dpngram_ngrams';
COMMENT ON FUNCTION @extschema@.ngrams(text, int, text) IS 'all n-grams of a text, with repeats and in order';

CREATE FUNCTION @extschema@.ngrams(tokens anyarray, n int)
	RETURNS SETOF text LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 100
	AS 'MODULE_PATHNAME', 'dpngram_ngrams';
COMMENT ON FUNCTION @extschema@.ngrams(anyarray, int) IS 'all n-grams of an array of tokens, with repeats and in order';

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
	'n-grams of a public relation with exact counts; refuses what a privacy budget protects';

CREATE FUNCTION @extschema@.kanon_ngrams(relation regclass, user_col name, text_col name, k bigint,
		max_length int DEFAULT 5, tokenizer text DEFAULT 'word', max_tokens int DEFAULT NULL)
	RETURNS TABLE (n int, ngram text, users bigint) LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_kanon_ngrams';
COMMENT ON FUNCTION @extschema@.kanon_ngrams(regclass, name, name, bigint, int, text, int) IS
	'n-grams of at least k users, by k-anonymity; for the relation''s owner, not private';

-- What the aggregates are made of.  Their states are arrays of four numbers, an ordinary
-- type, which parallel workers hand over as it is: only states of type internal have
-- serial and deserial functions.

CREATE FUNCTION dpngram.kl_accum(state float8[], p float8, q float8) RETURNS float8[]
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpngram_kl_accum';
COMMENT ON FUNCTION dpngram.kl_accum(float8[], float8, float8) IS 'transition function of kl_divergence';

CREATE FUNCTION dpngram.kl_final(state float8[]) RETURNS float8
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpngram_kl_final';
COMMENT ON FUNCTION dpngram.kl_final(float8[]) IS 'final function of kl_divergence';

CREATE FUNCTION dpngram.cross_entropy_accum(state float8[], count float8, p float8) RETURNS float8[]
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpngram_cross_entropy_accum';
COMMENT ON FUNCTION dpngram.cross_entropy_accum(float8[], float8, float8) IS 'transition function of cross_entropy';

CREATE FUNCTION dpngram.cross_entropy_final(state float8[]) RETURNS float8
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpngram_cross_entropy_final';
COMMENT ON FUNCTION dpngram.cross_entropy_final(float8[]) IS 'final function of cross_entropy';

CREATE FUNCTION dpngram.perplexity_accum(state float8[], p float8) RETURNS float8[]
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpngram_perplexity_accum';
COMMENT ON FUNCTION dpngram.perplexity_accum(float8[], float8) IS 'transition function of perplexity';

CREATE FUNCTION dpngram.perplexity_final(state float8[]) RETURNS float8
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpngram_perplexity_final';
COMMENT ON FUNCTION dpngram.perplexity_final(float8[]) IS 'final function of perplexity';

CREATE FUNCTION dpngram.evaluation_combine(state float8[], other float8[]) RETURNS float8[]
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpngram_evaluation_combine';
COMMENT ON FUNCTION dpngram.evaluation_combine(float8[], float8[]) IS
	'combine function of kl_divergence, cross_entropy and perplexity';

CREATE AGGREGATE @extschema@.kl_divergence(p float8, q float8) (
	SFUNC = dpngram.kl_accum, STYPE = float8[], INITCOND = '{0,0,0,0}',
	FINALFUNC = dpngram.kl_final, COMBINEFUNC = dpngram.evaluation_combine, PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.kl_divergence(float8, float8) IS
	'divergence of distribution q from p after Kullback and Leibler, in nats: the sum of p ln(p / q)';

CREATE AGGREGATE @extschema@.cross_entropy(count float8, p float8) (
	SFUNC = dpngram.cross_entropy_accum, STYPE = float8[], INITCOND = '{0,0,0,0}',
	FINALFUNC = dpngram.cross_entropy_final, COMBINEFUNC = dpngram.evaluation_combine, PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.cross_entropy(float8, float8) IS
	'cross-entropy of counts under distribution p, in nats: minus the mean of ln p';

CREATE AGGREGATE @extschema@.perplexity(p float8) (
	SFUNC = dpngram.perplexity_accum, STYPE = float8[], INITCOND = '{0,0,0,0}',
	FINALFUNC = dpngram.perplexity_final, COMBINEFUNC = dpngram.evaluation_combine, PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.perplexity(float8) IS
	'perplexity of what has the probabilities p: exp of minus the mean of ln p';

CREATE FUNCTION @extschema@.ngram_score(dist regclass, relation regclass, text_col name,
		n int DEFAULT 3, tokenizer text DEFAULT 'word')
	RETURNS TABLE (sentence bigint, words int, log_probability float8)
	LANGUAGE C STABLE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_ngram_score';
COMMENT ON FUNCTION @extschema@.ngram_score(regclass, regclass, name, int, text) IS
	'how likely each text of a relation is under a distribution over n-grams';

-- The parts of an n-gram.

-- The cost keeps the planner from calling it for every pair of a join.
CREATE FUNCTION @extschema@.ngram_prefix(ngram text) RETURNS text
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10 AS 'MODULE_PATHNAME', 'dpngram_ngram_prefix';
COMMENT ON FUNCTION @extschema@.ngram_prefix(text) IS 'all tokens of an n-gram but the last';

CREATE FUNCTION @extschema@.ngram_last(ngram text) RETURNS text
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpngram_ngram_last';
COMMENT ON FUNCTION @extschema@.ngram_last(text) IS 'the last token of an n-gram';

-- The next word.

CREATE FUNCTION @extschema@.dp_next_words(dist regclass, prefix text, k int DEFAULT 5,
		tokenizer text DEFAULT 'word')
	RETURNS TABLE (word text, probability float8) LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 5
	AS 'MODULE_PATHNAME', 'dpngram_next_words';
COMMENT ON FUNCTION @extschema@.dp_next_words(regclass, text, int, text) IS
	'the words most likely to follow a text, by a relation of n-grams';

CREATE FUNCTION @extschema@.dp_next_words(dist regclass, prefix anyarray, k int DEFAULT 5)
	RETURNS TABLE (word text, probability float8) LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 5
	AS 'MODULE_PATHNAME', 'dpngram_next_words';
COMMENT ON FUNCTION @extschema@.dp_next_words(regclass, anyarray, int) IS
	'the tokens most likely to follow an array of tokens, by a relation of n-grams';

CREATE FUNCTION @extschema@.dp_index_next_words(dist regclass)
	RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_index_next_words';
COMMENT ON FUNCTION @extschema@.dp_index_next_words(regclass) IS
	'creates the index that makes dp_next_words fast';
