-- dp_doctor: what weakens a dataset's promise, and how to mend it.

CREATE FUNCTION @extschema@.dp_doctor(dataset name DEFAULT NULL)
	RETURNS TABLE (severity text, finding text, object text, detail text, remedy text)
	LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_doctor';
COMMENT ON FUNCTION @extschema@.dp_doctor(name) IS
	'what weakens a privacy budget, or all that the caller owns; reads only';

CREATE FUNCTION dpngram.doctor_checks()
	RETURNS TABLE (finding text, severity text, scope text, remedy text)
	LANGUAGE C IMMUTABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'dpngram_doctor_checks';
COMMENT ON FUNCTION dpngram.doctor_checks() IS 'what dp_doctor looks for';
