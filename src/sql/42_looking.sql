-- Looking at what goes on: the releases that are being computed, and what a budget was
-- spent on, as rows and as a chart.
--
-- Whoever reads these sees in them what dpngram.releases and dpngram.budget show, no more.

SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);

-- A release that is being computed has a lock of its own (src/ledger/running.c), by whose
-- number the log is asked: but for the OFFSETs all of it would be read for each.
CREATE VIEW dpngram.running WITH (security_barrier) AS
SELECT r.id AS release,
	r.dataset,
	r.relation,
	r.mechanism,
	r.session_role,
	r.caller_role,
	r.grantee,
	l.pid,
	r.at AS charged,
	clock_timestamp() - r.at AS running_for,
	r.epsilon,
	r.delta,
	r.parameters
FROM (
	SELECT k.pid, k.objid::bigint + (k.objsubid::bigint & 65535) * 4294967296 AS release
	FROM pg_locks k
	WHERE k.locktype = 'object' AND k.classid = 'dpngram.release'::regclass AND k.granted
		AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())
	OFFSET 0
) l
CROSS JOIN LATERAL (SELECT * FROM dpngram.releases e WHERE e.id = l.release OFFSET 0) r;
COMMENT ON VIEW dpngram.running IS
	'releases that are being computed now, of those that the reader sees in dpngram.releases';
COMMENT ON COLUMN dpngram.running.release IS 'number of the release, as in dpngram.releases';
COMMENT ON COLUMN dpngram.running.dataset IS 'the budget that was debited';
COMMENT ON COLUMN dpngram.running.relation IS 'the relation that is read';
COMMENT ON COLUMN dpngram.running.mechanism IS 'the function that was called';
COMMENT ON COLUMN dpngram.running.session_role IS 'session_user of the caller';
COMMENT ON COLUMN dpngram.running.caller_role IS 'current_user of the caller';
COMMENT ON COLUMN dpngram.running.grantee IS 'the role whose grant is used; NULL: by right of ownership';
COMMENT ON COLUMN dpngram.running.pid IS 'process of the session, for pg_cancel_backend(); what was debited stays debited';
COMMENT ON COLUMN dpngram.running.charged IS 'when it was charged';
COMMENT ON COLUMN dpngram.running.running_for IS 'how long it has been running since';
COMMENT ON COLUMN dpngram.running.epsilon IS 'as asked for';
COMMENT ON COLUMN dpngram.running.delta IS 'as asked for';
COMMENT ON COLUMN dpngram.running.parameters IS 'its arguments';
GRANT SELECT ON dpngram.running TO PUBLIC;

-- Calls alone, without owners' acts; of a dataset's own and of what it carries.  Owning a
-- relation that came from another's dataset does not show who called there: of carried
-- calls the reader sees those of datasets that are the reader's, too.  What is carried as
-- a sum counts in every period of a budget that renews, so it has none here.
CREATE VIEW dpngram.spending WITH (security_barrier) AS
SELECT d.name AS dataset,
	r.id AS release,
	r.at,
	r.caller_role,
	r.mechanism,
	CASE WHEN p.by_period THEN r.period_from END AS period_from,
	CASE WHEN p.by_period THEN r.period_to END AS period_to,
	CASE d.accounting
		WHEN 'gdp' THEN jsonb_build_object('mu2', r.mu2, 'eps_pure', r.eps_pure, 'delta_add', r.delta_add)
		WHEN 'zcdp' THEN jsonb_build_object('rho', r.rho, 'rho_delta', r.rho_delta)
		ELSE jsonb_build_object('basic_epsilon', r.basic_epsilon, 'basic_delta', r.basic_delta)
		END AS price
FROM dpngram.dataset d
JOIN dpngram.dataset_state s ON s.id = d.id
CROSS JOIN LATERAL (
	SELECT d.id AS source, true AS by_period, 9223372036854775807 AS releases
	UNION ALL
	SELECT c.source, c.by_period, c.releases
	FROM dpngram.carried c WHERE c.dataset = d.id AND NOT c.forgotten
) p
JOIN dpngram.dataset_state o ON o.id = p.source
JOIN dpngram.release r ON r.dataset = p.source AND r.number <= p.releases AND r.epsilon IS NOT NULL
LEFT JOIN dpngram.grantee_state h ON h.id = r.grantee AND r.dataset = d.id
WHERE d.ended IS NULL
	AND ((s.owned AND o.owned) OR (h.held AND EXISTS (SELECT FROM pg_roles c
		WHERE c.rolname = r.caller_role AND pg_has_role(c.oid, 'USAGE'))));
COMMENT ON VIEW dpngram.spending IS
	'the calls that present budgets were spent on, carried ones included, of those that the reader may see';
COMMENT ON COLUMN dpngram.spending.dataset IS 'the budget that they count in';
COMMENT ON COLUMN dpngram.spending.release IS 'number of the release, as in dpngram.releases';
COMMENT ON COLUMN dpngram.spending.at IS 'when it was charged';
COMMENT ON COLUMN dpngram.spending.caller_role IS 'current_user of the caller';
COMMENT ON COLUMN dpngram.spending.mechanism IS 'the function that was called';
COMMENT ON COLUMN dpngram.spending.period_from IS 'the rows it read are not older, where the budget renews; NULL: it counts in every period';
COMMENT ON COLUMN dpngram.spending.period_to IS 'the rows it read are older than this, where the budget renews; NULL: it counts in every period';
COMMENT ON COLUMN dpngram.spending.price IS 'what it was debited, in the lanes of the budget''s accounting';
GRANT SELECT ON dpngram.spending TO PUBLIC;

SELECT pg_catalog.set_config('search_path', '@extschema@, pg_temp', true);

CREATE FUNCTION @extschema@.dp_budget_report(dataset name)
	RETURNS TABLE (report text) LANGUAGE C VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'dpngram_budget_report';
COMMENT ON FUNCTION @extschema@.dp_budget_report(name) IS
	'a chart in text of what was spent of a privacy budget, by whom and when';
