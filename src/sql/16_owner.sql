-- What everyone may see, and the owner's functions.
GRANT USAGE ON SCHEMA dpngram TO PUBLIC;
GRANT SELECT ON dpngram.budget, dpngram.releases TO PUBLIC;

-- Who may call these is checked by them: it depends on the relation's owner.

CREATE FUNCTION @extschema@.dp_protect(relation regclass, user_col name, epsilon float8, delta float8,
		dataset name DEFAULT NULL, accounting text DEFAULT 'gdp', pure_share float8 DEFAULT 0.001,
		delta_share float8 DEFAULT 0.25, columns name[] DEFAULT NULL, options jsonb DEFAULT '{}')
	RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_protect';
COMMENT ON FUNCTION @extschema@.dp_protect(regclass, name, float8, float8, name, text, float8, float8, name[], jsonb) IS
	'puts a relation under a privacy budget';

CREATE FUNCTION @extschema@.dp_unprotect(dataset name)
	RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_unprotect';
COMMENT ON FUNCTION @extschema@.dp_unprotect(name) IS 'ends a privacy budget; its releases stay in the log';

CREATE FUNCTION @extschema@.dp_grant(dataset name, role name, epsilon float8 DEFAULT NULL, delta float8 DEFAULT NULL)
	RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_grant';
COMMENT ON FUNCTION @extschema@.dp_grant(name, name, float8, float8) IS
	'lets a role spend a privacy budget, up to a cap of its own if given';

CREATE FUNCTION @extschema@.dp_revoke(dataset name, role name)
	RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_revoke';
COMMENT ON FUNCTION @extschema@.dp_revoke(name, name) IS 'takes a role''s grant of a privacy budget away';

CREATE FUNCTION @extschema@.dp_resume(dataset name)
	RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_resume';
COMMENT ON FUNCTION @extschema@.dp_resume(name) IS
	'binds a suspended privacy budget to its relation and roles again, after a restore or a copy';

