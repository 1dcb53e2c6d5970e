-- The hash chain (src/ledger/chain.c).
CREATE FUNCTION dpngram.row_digest(previous bytea, entry record) RETURNS bytea
	LANGUAGE C STABLE STRICT PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_row_digest';
REVOKE EXECUTE ON FUNCTION dpngram.row_digest(bytea, record) FROM PUBLIC;
COMMENT ON FUNCTION dpngram.row_digest(bytea, record) IS 'SHA-256 of a digest and a row''s text';

-- The columns and their order are those of ENTRY_VALUES in src/ledger/catalog.c.
CREATE FUNCTION dpngram.broken_chain(of_dataset integer)
	RETURNS TABLE (release bigint, problem text) LANGUAGE sql STABLE STRICT PARALLEL UNSAFE
	AS $$
	SELECT c.id, CASE WHEN c.number <> c.previous_number + 1 THEN 'releases before it are missing'
			ELSE 'it was changed, or the one before it' END
	  FROM (SELECT r.*, lag(r.digest, 1, ''::bytea) OVER w AS previous,
				lag(r.number, 1, 0::bigint) OVER w AS previous_number
			  FROM dpngram.release r WHERE r.dataset = of_dataset
			WINDOW w AS (ORDER BY r.number)) c
	 WHERE c.number <> c.previous_number + 1
		OR c.digest <> dpngram.row_digest(c.previous, ROW(c.id, c.at, c.dataset, c.relation,
			c.session_role, c.caller_role, c.grantee, c.mechanism, c.parameters, c.epsilon, c.delta,
			c.mu2, c.eps_pure, c.delta_add, c.rho, c.rho_delta, c.basic_epsilon, c.basic_delta,
			c.seeded, c.timeline, c.lsn, c.events, c.period_from, c.period_to))
	UNION ALL
	SELECT NULL, 'the last releases are missing, or were added'
	  FROM dpngram.dataset d
	  LEFT JOIN LATERAL (SELECT r.number, r.digest FROM dpngram.release r
			WHERE r.dataset = d.id ORDER BY r.number DESC LIMIT 1) l ON true
	 WHERE d.id = of_dataset
		AND (d.releases <> coalesce(l.number, 0) OR d.chain <> coalesce(l.digest, ''))
	$$;
REVOKE EXECUTE ON FUNCTION dpngram.broken_chain(integer) FROM PUBLIC;
COMMENT ON FUNCTION dpngram.broken_chain(integer) IS
	'where a dataset''s log is not what the charges wrote; no rows if it is';

