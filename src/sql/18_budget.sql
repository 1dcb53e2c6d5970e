-- The owner's functions for what changes about a dataset.

CREATE FUNCTION @extschema@.dp_set_budget(dataset name, epsilon float8, delta float8)
	RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_set_budget';
COMMENT ON FUNCTION @extschema@.dp_set_budget(name, float8, float8) IS 'raises a privacy budget';

CREATE FUNCTION @extschema@.dp_attach(dataset name, relation regclass, user_col name,
		columns name[] DEFAULT NULL, options jsonb DEFAULT '{}')
	RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_attach';
COMMENT ON FUNCTION @extschema@.dp_attach(name, regclass, name, name[], jsonb) IS
	'puts a further relation of the same people under a privacy budget';

CREATE FUNCTION @extschema@.dp_detach(dataset name, relation text)
	RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_detach';
COMMENT ON FUNCTION @extschema@.dp_detach(name, text) IS
	'takes a relation out of a privacy budget, which stays spent';

SELECT pg_catalog.set_config('search_path', '@extschema@, pg_temp', true);
