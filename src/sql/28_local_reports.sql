/* Local differential privacy from clients: what is asked, reports, and what they say. */

CREATE FUNCTION @extschema@.ldp_round(
	method text,
	epsilon float8,
	k int DEFAULT 50,
	alphabet text DEFAULT 'a-z',
	max_length int DEFAULT 20,
	options jsonb DEFAULT '{}')
RETURNS jsonb
AS 'MODULE_PATHNAME', 'dpngram_ldp_begin'
LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.ldp_round(text, float8, int, text, int, jsonb) IS
'the first round of a collection of terms from clients: what they are asked, and how';

CREATE FUNCTION @extschema@.ldp_round(rounds jsonb[], reports regclass, report_col name DEFAULT 'report')
RETURNS jsonb
AS 'MODULE_PATHNAME', 'dpngram_ldp_round'
LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.ldp_round(jsonb[], regclass, name) IS
'the next round of a collection, by the rounds and reports so far; NULL when all has been asked';

CREATE FUNCTION @extschema@.ldp_encode(
	method text,
	term text,
	epsilon float8,
	round jsonb,
	secret bytea DEFAULT NULL)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'dpngram_ldp_encode'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.ldp_encode(text, text, float8, jsonb, bytea) IS
	'a client''s randomised report of its term; NULL where the round does not ask this client';

CREATE FUNCTION @extschema@.ldp_decode(rounds jsonb[], reports regclass, report_col name DEFAULT 'report')
RETURNS TABLE (term text, frequency float8, stddev float8)
AS 'MODULE_PATHNAME', 'dpngram_ldp_decode'
LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.ldp_decode(jsonb[], regclass, name) IS
	'the terms that most clients have, estimated from their reports';

-- One bit of each client.

CREATE FUNCTION @extschema@.oue_bit(truth boolean, epsilon float8) RETURNS boolean
	LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpngram_oue_bit';
COMMENT ON FUNCTION @extschema@.oue_bit(boolean, float8) IS 'a client''s randomised report of one bit';

CREATE TYPE dpngram.oue_estimate AS (count float8, stddev float8);
COMMENT ON TYPE dpngram.oue_estimate IS 'what oue_count returns: an unbiased estimate and its standard deviation';
COMMENT ON COLUMN dpngram.oue_estimate.count IS 'how many bits are true, estimated; it may be negative';
COMMENT ON COLUMN dpngram.oue_estimate.stddev IS 'standard deviation of the estimate';

CREATE FUNCTION dpngram.oue_accum(state float8[], answer boolean, epsilon float8) RETURNS float8[]
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpngram_oue_accum';
COMMENT ON FUNCTION dpngram.oue_accum(float8[], boolean, float8) IS 'transition function of oue_count';

CREATE FUNCTION dpngram.oue_combine(state float8[], other float8[]) RETURNS float8[]
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpngram_oue_combine';
COMMENT ON FUNCTION dpngram.oue_combine(float8[], float8[]) IS 'combine function of oue_count';

CREATE FUNCTION dpngram.oue_final(state float8[]) RETURNS dpngram.oue_estimate
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpngram_oue_final';
COMMENT ON FUNCTION dpngram.oue_final(float8[]) IS 'final function of oue_count';

CREATE AGGREGATE @extschema@.oue_count(answer boolean, epsilon float8) (
	SFUNC = dpngram.oue_accum, STYPE = float8[], INITCOND = '{0,0,0}',
	FINALFUNC = dpngram.oue_final, COMBINEFUNC = dpngram.oue_combine, PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.oue_count(boolean, float8) IS
	'how many clients'' bits are true, estimated from what oue_bit reported';
