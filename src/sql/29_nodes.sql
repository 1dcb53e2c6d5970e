/*
 * What a node counts for a coordinator: pieces of the statements that dp_ngrams writes
 * where its option "execution" is pushdown.  They stand in the schema dpngram, since that
 * has the same name on every server.  Their sums are exact: EXECUTE is nobody's but the
 * owner's until it is granted.
 */

CREATE FUNCTION dpngram.exact_counts_add(state internal, spec bytea, person "any", document "any")
RETURNS internal
AS 'MODULE_PATHNAME', 'dpngram_exact_counts_add'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION dpngram.exact_counts_end(state internal)
RETURNS bytea
AS 'MODULE_PATHNAME', 'dpngram_exact_counts_end'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE dpngram.exact_counts(spec bytea, person "any", document "any") (
	SFUNC = dpngram.exact_counts_add,
	STYPE = internal,
	FINALFUNC = dpngram.exact_counts_end,
	FINALFUNC_MODIFY = READ_WRITE,
	PARALLEL = SAFE);

COMMENT ON FUNCTION dpngram.exact_counts_add(internal, bytea, "any", "any") IS
'transition function of dpngram.exact_counts';
COMMENT ON FUNCTION dpngram.exact_counts_end(internal) IS
'final function of dpngram.exact_counts';
COMMENT ON AGGREGATE dpngram.exact_counts(bytea, "any", "any") IS
'exact sums of persons'' weights by n-gram, without noise: not private; for coordinators of dp_ngrams alone';

CREATE FUNCTION dpngram.exact_user_counts_add(state internal, spec bytea, person "any", document "any")
RETURNS internal
AS 'MODULE_PATHNAME', 'dpngram_exact_user_counts_add'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION dpngram.exact_user_counts_end(state internal)
RETURNS bytea
AS 'MODULE_PATHNAME', 'dpngram_exact_user_counts_end'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE dpngram.exact_user_counts(spec bytea, person "any", document "any") (
	SFUNC = dpngram.exact_user_counts_add,
	STYPE = internal,
	SSPACE = 20000,
	FINALFUNC = dpngram.exact_user_counts_end,
	FINALFUNC_MODIFY = READ_WRITE,
	PARALLEL = SAFE);

COMMENT ON FUNCTION dpngram.exact_user_counts_add(internal, bytea, "any", "any") IS
'transition function of dpngram.exact_user_counts';
COMMENT ON FUNCTION dpngram.exact_user_counts_end(internal) IS
'final function of dpngram.exact_user_counts';
COMMENT ON AGGREGATE dpngram.exact_user_counts(bytea, "any", "any") IS
'one person''s exact weights by n-gram, without noise: not private; for coordinators of dp_ngrams alone';

CREATE FUNCTION dpngram.unpacked_counts(counts bytea, OUT key bigint, OUT content bigint,
	OUT weight bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'dpngram_unpacked_counts'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 100;

COMMENT ON FUNCTION dpngram.unpacked_counts(bytea) IS
'the n-grams and weights that exact_counts or exact_user_counts has packed';

CREATE FUNCTION dpngram.exact_words_add(state internal, spec bytea, person "any", document "any")
RETURNS internal
AS 'MODULE_PATHNAME', 'dpngram_exact_words_add'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION dpngram.exact_words_end(state internal)
RETURNS text[]
AS 'MODULE_PATHNAME', 'dpngram_exact_words_end'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE dpngram.exact_words(spec bytea, person "any", document "any") (
	SFUNC = dpngram.exact_words_add,
	STYPE = internal,
	FINALFUNC = dpngram.exact_words_end,
	PARALLEL = SAFE);

COMMENT ON FUNCTION dpngram.exact_words_add(internal, bytea, "any", "any") IS
'transition function of dpngram.exact_words';
COMMENT ON FUNCTION dpngram.exact_words_end(internal) IS
'final function of dpngram.exact_words';
COMMENT ON AGGREGATE dpngram.exact_words(bytea, "any", "any") IS
'the texts of words whose keys are given: not private; for coordinators of dp_ngrams alone';

CREATE FUNCTION dpngram.exact_row_words(spec bytea, person "any", document "any")
RETURNS text[]
AS 'MODULE_PATHNAME', 'dpngram_exact_row_words'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;

COMMENT ON FUNCTION dpngram.exact_row_words(bytea, "any", "any") IS
'the texts of a row''s words whose keys are given: not private; for coordinators of dp_ngrams alone';

REVOKE EXECUTE ON FUNCTION
	dpngram.exact_counts_add(internal, bytea, "any", "any"),
	dpngram.exact_counts_end(internal),
	dpngram.exact_counts(bytea, "any", "any"),
	dpngram.exact_user_counts_add(internal, bytea, "any", "any"),
	dpngram.exact_user_counts_end(internal),
	dpngram.exact_user_counts(bytea, "any", "any"),
	dpngram.unpacked_counts(bytea),
	dpngram.exact_words_add(internal, bytea, "any", "any"),
	dpngram.exact_words_end(internal),
	dpngram.exact_words(bytea, "any", "any"),
	dpngram.exact_row_words(bytea, "any", "any")
FROM PUBLIC;
