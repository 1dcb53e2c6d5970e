-- What everyone may see, and the owner's functions.
GRANT USAGE ON SCHEMA dpngram TO PUBLIC;
GRANT SELECT ON dpngram.budget, dpngram.releases TO PUBLIC;

-- Who may call these is checked by them: it depends on the relation's owner.

CREATE FUNCTION @extschema@.dp_protect(relation regclass, user_col name, epsilon float8, delta float8,
		dataset name DEFAULT NULL, accounting text DEFAULT 'gdp', pure_share float8 DEFAULT 0.001,
		delta_share float8 DEFAULT 0.25, columns name[] DEFAULT NULL, options jsonb DEFAULT '{}')
	RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_protect';

CREATE FUNCTION @extschema@.dp_unprotect(dataset name)
	RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_unprotect';

CREATE FUNCTION @extschema@.dp_grant(dataset name, role name, epsilon float8 DEFAULT NULL, delta float8 DEFAULT NULL)
	RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_grant';

CREATE FUNCTION @extschema@.dp_revoke(dataset name, role name)
	RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_revoke';

CREATE FUNCTION @extschema@.dp_resume(dataset name)
	RETURNS void LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_resume';

