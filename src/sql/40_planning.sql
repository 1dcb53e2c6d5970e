-- Planning: what a call would cost, what is left, and the history in the words of
-- a public accounting library.

CREATE FUNCTION @extschema@.dp_price(function name, epsilon float8, delta float8, options jsonb DEFAULT '{}')
	RETURNS TABLE (lane text, amount numeric) LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_price';
COMMENT ON FUNCTION @extschema@.dp_price(name, float8, float8, jsonb) IS
	'what a call would be debited, without making it';

CREATE FUNCTION @extschema@.dp_remaining(dataset name)
	RETURNS TABLE (lane text, cap numeric, spent numeric, remaining numeric)
	LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_remaining';
COMMENT ON FUNCTION @extschema@.dp_remaining(name) IS
	'what the caller may still spend of a privacy budget, lane by lane';

CREATE FUNCTION @extschema@.dp_export_events(dataset name)
	RETURNS jsonb LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_export_events';
COMMENT ON FUNCTION @extschema@.dp_export_events(name) IS
	'the releases of a privacy budget as events of Google''s library dp_accounting';

SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);

-- Asked by the view below, with its reader's rights.
CREATE FUNCTION dpngram.calls_left(dataset name, price numeric[])
	RETURNS bigint LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_calls_left';
COMMENT ON FUNCTION dpngram.calls_left(name, numeric[]) IS
	'how many more calls at a price, given lane by lane, the caller could make';

CREATE VIEW dpngram.outlook WITH (security_barrier) AS
SELECT d.name AS dataset,
	r.mechanism,
	r.id AS release,
	r.at,
	r.epsilon,
	r.delta,
	d.accounting,
	CASE d.accounting
		WHEN 'gdp' THEN jsonb_build_object('mu2', r.mu2, 'eps_pure', r.eps_pure, 'delta_add', r.delta_add)
		WHEN 'zcdp' THEN jsonb_build_object('rho', r.rho, 'rho_delta', r.rho_delta)
		ELSE jsonb_build_object('basic_epsilon', r.basic_epsilon, 'basic_delta', r.basic_delta)
		END AS price,
	dpngram.calls_left(d.name::name, CASE d.accounting
		WHEN 'gdp' THEN ARRAY[r.mu2, r.eps_pure, r.delta_add]
		WHEN 'zcdp' THEN ARRAY[r.rho, r.rho_delta]
		ELSE ARRAY[r.basic_epsilon, r.basic_delta]
		END) AS calls_left
FROM dpngram.dataset d
JOIN dpngram.dataset_state s ON s.id = d.id
CROSS JOIN LATERAL (
	SELECT DISTINCT ON (l.mechanism) l.*
	FROM dpngram.release l
	LEFT JOIN dpngram.grantee_state h ON h.id = l.grantee
	WHERE l.dataset = d.id AND l.epsilon IS NOT NULL AND l.caller_role = current_user
		AND (s.owned OR h.held)
	ORDER BY l.mechanism, l.number DESC
) r
WHERE d.ended IS NULL
	AND (s.owned OR EXISTS (SELECT FROM dpngram.grantee_state h
		WHERE h.dataset = d.id AND h.live AND h.held));
COMMENT ON VIEW dpngram.outlook IS
	'the reader''s last call of each mechanism on each dataset, and how many more like it fit';
COMMENT ON COLUMN dpngram.outlook.dataset IS 'the budget that was debited';
COMMENT ON COLUMN dpngram.outlook.mechanism IS 'the function that was called';
COMMENT ON COLUMN dpngram.outlook.release IS 'number of the release, as in dpngram.releases';
COMMENT ON COLUMN dpngram.outlook.at IS 'when it was charged';
COMMENT ON COLUMN dpngram.outlook.epsilon IS 'as asked for';
COMMENT ON COLUMN dpngram.outlook.delta IS 'as asked for';
COMMENT ON COLUMN dpngram.outlook.accounting IS 'how the releases of the dataset add up';
COMMENT ON COLUMN dpngram.outlook.price IS 'what it was debited, in the lanes of that accounting';
COMMENT ON COLUMN dpngram.outlook.calls_left IS 'how many more calls at exactly this price fit, of the reader''s; NULL where the price is 0';
GRANT SELECT ON dpngram.outlook TO PUBLIC;

-- One of a release's events (src/ledger/accounting.c) as an object of dp_accounting
-- 0.4.4: the class's name and the arguments that make it.  The library has no event
-- for what is only known to be (epsilon, delta) differentially private; its class for
-- such a bound is DifferentialPrivacyParameters.
CREATE FUNCTION dpngram.library_event(event jsonb) RETURNS jsonb
	LANGUAGE sql STABLE STRICT PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp
	SET extra_float_digits = 1
	AS $$
	SELECT CASE WHEN event ? 'count' THEN jsonb_build_object('class_name', 'SelfComposedDpEvent',
			'event', one.object, 'count', event->'count') ELSE one.object END
	  FROM (SELECT CASE event->>'event'
			WHEN 'gaussian' THEN jsonb_build_object('class_name', 'GaussianDpEvent',
				'noise_multiplier', 1 / sqrt(greatest((event->>'mu2')::float8, 1e-300)))
			WHEN 'laplace' THEN jsonb_build_object('class_name', 'LaplaceDpEvent',
				'noise_multiplier', 1 / greatest((event->>'epsilon')::float8, 1e-300))
			ELSE jsonb_build_object('class_name', 'DifferentialPrivacyParameters',
				'epsilon', coalesce(event->'epsilon', '0'), 'delta', coalesce(event->'delta', '0'),
				'kind', event->'event')
			END) one (object)
	$$;
REVOKE EXECUTE ON FUNCTION dpngram.library_event(jsonb) FROM PUBLIC;
COMMENT ON FUNCTION dpngram.library_event(jsonb) IS 'an event of a release in the words of dp_accounting';

-- The releases that a dataset's spending is made of: its own and those of the datasets
-- whose spending it carries, of each as far as it is counted.
CREATE FUNCTION dpngram.history(of_dataset integer) RETURNS SETOF dpngram.release
	LANGUAGE sql STABLE STRICT PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	AS $$
	SELECT r.*
	  FROM (SELECT of_dataset AS dataset, 9223372036854775807 AS releases
			UNION ALL
			SELECT c.source, c.releases FROM dpngram.carried c
			 WHERE c.dataset = of_dataset AND NOT c.forgotten) p
	  JOIN dpngram.release r ON r.dataset = p.dataset AND r.number <= p.releases
	 WHERE r.epsilon IS NOT NULL
	 ORDER BY r.id
	$$;
REVOKE EXECUTE ON FUNCTION dpngram.history(integer) FROM PUBLIC;
COMMENT ON FUNCTION dpngram.history(integer) IS 'the releases that make up what a dataset has spent';

-- What dp_export_events returns; doc/events.md describes it.  Of a carried dataset that
-- is not the reader's it has what was spent, and not which calls of whose spent it.
CREATE FUNCTION dpngram.exported(of_dataset integer, reader oid) RETURNS jsonb
	LANGUAGE sql STABLE STRICT PARALLEL UNSAFE
	SET search_path = pg_catalog, pg_temp
	SET timezone = 'UTC'
	AS $$
	SELECT jsonb_build_object('class_name', 'ComposedDpEvent', 'dataset', d.name,
			'accounting', d.accounting, 'epsilon', to_jsonb(d.epsilon), 'delta', to_jsonb(d.delta),
			'events', coalesce(jsonb_agg(release.object ORDER BY release.id)
				FILTER (WHERE release.id IS NOT NULL), '[]'))
	  FROM dpngram.dataset d
	  LEFT JOIN LATERAL (
		SELECT r.id, CASE WHEN readable.yes
					THEN jsonb_build_object('release', r.id, 'at', r.at, 'mechanism', r.mechanism) ELSE '{}' END
				|| CASE WHEN s.id = d.id THEN '{}'
					ELSE jsonb_build_object('carried_from', CASE WHEN readable.yes THEN s.name END) END
				|| CASE WHEN r.period_from IS NULL THEN '{}'
					ELSE jsonb_build_object('period', jsonb_build_array(r.period_from, r.period_to)) END
				|| CASE WHEN r.seeded THEN jsonb_build_object('class_name', 'NonPrivateDpEvent')
					ELSE jsonb_build_object('class_name', 'ComposedDpEvent', 'events', (
						SELECT coalesce(jsonb_agg(dpngram.library_event(e.event) ORDER BY e.place), '[]')
						  FROM jsonb_array_elements(r.events) WITH ORDINALITY e (event, place)
						 WHERE greatest((e.event->>'mu2')::float8, (e.event->>'epsilon')::float8,
							(e.event->>'delta')::float8) > 0)) END
		  FROM dpngram.history(of_dataset) r JOIN dpngram.dataset s ON s.id = r.dataset
		 CROSS JOIN LATERAL (
			SELECT s.id = d.id OR pg_has_role(reader, 'pg_read_all_stats', 'USAGE') OR EXISTS (
				SELECT FROM dpngram.relation x
				  LEFT JOIN dpngram.relation_binding b ON b.relation = x.id
					AND b.database = (SELECT oid FROM pg_database WHERE datname = current_database())
				  LEFT JOIN pg_class c ON c.oid = b.relid
				  LEFT JOIN pg_roles o ON o.rolname = s.owner
				 WHERE x.dataset = s.id AND x.detached IS NULL
					AND pg_has_role(reader, coalesce(c.relowner, b.owner, o.oid), 'USAGE')) AS yes
			) readable
		) release (id, object) ON true
	 WHERE d.id = of_dataset
	 GROUP BY d.id
	$$;
REVOKE EXECUTE ON FUNCTION dpngram.exported(integer, oid) FROM PUBLIC;
COMMENT ON FUNCTION dpngram.exported(integer, oid) IS 'the history of a dataset in the words of dp_accounting';

SELECT pg_catalog.set_config('search_path', '@extschema@, pg_temp', true);
