-- The ledger's views.
--
-- The upgrade runs this as well, so a view keeps its columns and gets new ones at the
-- end: others' views may depend on it.  REPLACE can't meet a stranger's object in a
-- schema that the install script made.
--
-- The functions of the views run as whoever reads the view: pg_has_role() asks
-- about that role, and those of ours must be PUBLIC's to call.

CREATE OR REPLACE FUNCTION dpngram.lanes_epsilon(mu2 numeric, eps_pure numeric, delta_add numeric, delta float8)
	RETURNS float8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'dpngram_lanes_epsilon';
COMMENT ON FUNCTION dpngram.lanes_epsilon(numeric, numeric, numeric, float8) IS
	'the epsilon that amounts of the three lanes come to at this delta';

CREATE OR REPLACE FUNCTION dpngram.zcdp_epsilon(rho numeric, rho_delta numeric, delta float8)
	RETURNS float8 LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'dpngram_zcdp_epsilon';
COMMENT ON FUNCTION dpngram.zcdp_epsilon(numeric, numeric, float8) IS
	'the epsilon that amounts of the lanes of zcdp come to at this delta';

CREATE OR REPLACE FUNCTION dpngram.binding_matches(system_identifier bigint, database oid, relid oid,
		user_attnum integer, user_type oid, owner oid, timeline bigint, time_attnum integer,
		time_type oid)
	RETURNS boolean LANGUAGE C STABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'dpngram_binding_matches';
COMMENT ON FUNCTION dpngram.binding_matches(bigint, oid, oid, integer, oid, oid, bigint, integer, oid) IS
	'is what a binding says true of this cluster, database and relation?';

CREATE OR REPLACE VIEW dpngram.dataset_state AS
SELECT d.id,
	string_agg(format('%I.%I', coalesce(n.nspname, r.schema::name), coalesce(c.relname, r.name::name)),
		', ' ORDER BY r.id) AS relation,
	bool_and(m.bound) AS bound,
	pg_has_role('pg_read_all_stats', 'USAGE')
		OR bool_or(coalesce(pg_has_role(coalesce(c.relowner, b.owner, o.oid), 'USAGE'),
			(SELECT s.rolsuper FROM pg_roles s WHERE s.rolname = current_user))) AS owned,
	bool_or(m.bound) AS partly
FROM dpngram.dataset d
JOIN dpngram.relation r ON r.dataset = d.id AND r.detached IS NULL
LEFT JOIN dpngram.relation_binding b ON b.relation = r.id
	AND b.database = (SELECT db.oid FROM pg_database db WHERE db.datname = current_database())
LEFT JOIN pg_class c ON c.oid = b.relid
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_roles o ON o.rolname = d.owner
CROSS JOIN LATERAL (SELECT coalesce(dpngram.binding_matches(b.system_identifier, b.database, b.relid,
	b.user_attnum, b.user_type, b.owner, b.timeline, b.time_attnum, b.time_type), false) AS bound) m
GROUP BY d.id;
COMMENT ON VIEW dpngram.dataset_state IS 'present names of datasets'' relations, and whether the reader owns them';
COMMENT ON COLUMN dpngram.dataset_state.id IS 'number of the dataset';
COMMENT ON COLUMN dpngram.dataset_state.relation IS 'its relations by their present names';
COMMENT ON COLUMN dpngram.dataset_state.bound IS 'all of them are those that it was made for';
COMMENT ON COLUMN dpngram.dataset_state.owned IS 'the reader owns one of them, or may see everything';
COMMENT ON COLUMN dpngram.dataset_state.partly IS 'some of them are those that it was made for';

CREATE OR REPLACE VIEW dpngram.grantee_state AS
SELECT g.id, g.dataset, coalesce(a.rolname, g.role::name) AS role, g.revoked IS NULL AS live,
	coalesce(pg_has_role(a.oid, 'USAGE'), false) AS held
FROM dpngram.grantee g
LEFT JOIN dpngram.grantee_binding b ON b.grantee = g.id
LEFT JOIN pg_roles a ON CASE WHEN b.grantee IS NULL THEN a.rolname = g.role ELSE a.oid = b.role END;
COMMENT ON VIEW dpngram.grantee_state IS 'present names of grants'' roles, and whether the reader may use them';
COMMENT ON COLUMN dpngram.grantee_state.id IS 'number of the grant';
COMMENT ON COLUMN dpngram.grantee_state.dataset IS 'number of the dataset';
COMMENT ON COLUMN dpngram.grantee_state.role IS 'the role by its present name';
COMMENT ON COLUMN dpngram.grantee_state.live IS 'the grant was not taken away';
COMMENT ON COLUMN dpngram.grantee_state.held IS 'the reader is the role, or a member of it';

CREATE FUNCTION dpngram.remainder(cap numeric, spent numeric) RETURNS float8
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'dpngram_remainder';
COMMENT ON FUNCTION dpngram.remainder(numeric, numeric) IS 'what is left of a lane, rounded down';

CREATE OR REPLACE VIEW dpngram.budget WITH (security_barrier) AS
SELECT d.name AS dataset,
	s.relation,
	l.role::text AS grantee,
	CASE WHEN s.bound THEN 'active' WHEN s.partly THEN 'partly suspended'
		ELSE 'suspended' END AS status,
	l.epsilon,
	l.delta,
	d.accounting,
	l.mu2_cap::float8 AS mu2_cap,
	l.mu2_spent::float8 AS mu2_spent,
	dpngram.remainder(l.mu2_cap, l.mu2_spent) AS mu2_remaining,
	l.eps_pure_cap::float8 AS eps_pure_cap,
	l.eps_pure_spent::float8 AS eps_pure_spent,
	dpngram.remainder(l.eps_pure_cap, l.eps_pure_spent) AS eps_pure_remaining,
	l.delta_add_cap::float8 AS delta_add_cap,
	l.delta_add_spent::float8 AS delta_add_spent,
	dpngram.remainder(l.delta_add_cap, l.delta_add_spent) AS delta_add_remaining,
	CASE d.accounting WHEN 'gdp' THEN e.gdp WHEN 'zcdp' THEN e.zcdp ELSE e.basic END AS spent_epsilon,
	CASE d.accounting
		WHEN 'gdp' THEN CASE
			WHEN l.mu2_spent = 0 AND l.eps_pure_spent = 0 AND l.delta_add_spent = 0 THEN l.epsilon
			WHEN l.mu2_spent > l.mu2_cap OR l.eps_pure_spent > l.eps_pure_cap
				OR l.delta_add_spent > l.delta_add_cap THEN 0
			ELSE dpngram.lanes_epsilon(l.mu2_cap - l.mu2_spent, l.eps_pure_cap - l.eps_pure_spent,
				l.delta_add_cap - l.delta_add_spent, l.delta) END
		WHEN 'zcdp' THEN CASE
			WHEN l.rho_spent = 0 AND l.rho_delta_spent = 0 THEN l.epsilon
			WHEN l.rho_spent > l.rho_cap OR l.rho_delta_spent > l.rho_delta_cap THEN 0
			ELSE dpngram.zcdp_epsilon(l.rho_cap - l.rho_spent, l.rho_delta_cap - l.rho_delta_spent,
				l.delta) END
		ELSE CASE WHEN l.basic_delta_spent > l.basic_delta_cap THEN 0
			ELSE dpngram.remainder(l.basic_epsilon_cap, l.basic_epsilon_spent) END
		END AS remaining_epsilon,
	l.rho_cap::float8 AS rho_cap,
	l.rho_spent::float8 AS rho_spent,
	dpngram.remainder(l.rho_cap, l.rho_spent) AS rho_remaining,
	l.rho_delta_cap::float8 AS rho_delta_cap,
	l.rho_delta_spent::float8 AS rho_delta_spent,
	dpngram.remainder(l.rho_delta_cap, l.rho_delta_spent) AS rho_delta_remaining,
	l.basic_epsilon_cap::float8 AS basic_epsilon_cap,
	l.basic_epsilon_spent::float8 AS basic_epsilon_spent,
	dpngram.remainder(l.basic_epsilon_cap, l.basic_epsilon_spent) AS basic_epsilon_remaining,
	l.basic_delta_cap::float8 AS basic_delta_cap,
	l.basic_delta_spent::float8 AS basic_delta_spent,
	dpngram.remainder(l.basic_delta_cap, l.basic_delta_spent) AS basic_delta_remaining,
	e.basic AS epsilon_by_basic,
	e.zcdp AS epsilon_by_zcdp,
	e.gdp AS epsilon_by_gdp,
	l.period_from,
	l.period_to
FROM dpngram.dataset d
JOIN dpngram.dataset_state s ON s.id = d.id
CROSS JOIN LATERAL (
	SELECT NULL::name AS role, d.epsilon, d.delta, d.mu2_cap, d.eps_pure_cap, d.delta_add_cap,
		d.rho_cap, d.rho_delta_cap, d.basic_epsilon_cap, d.basic_delta_cap, n.*
	FROM dpngram.spent_now n
	WHERE n.dataset = d.id AND n.grantee IS NULL AND ( s.owned OR EXISTS (SELECT FROM dpngram.grantee_state h
		WHERE h.dataset = d.id AND h.live AND h.held))
	UNION ALL
	SELECT h.role, g.epsilon, g.delta, g.mu2_cap, g.eps_pure_cap, g.delta_add_cap,
		g.rho_cap, g.rho_delta_cap, g.basic_epsilon_cap, g.basic_delta_cap, n.*
	FROM dpngram.grantee g JOIN dpngram.grantee_state h ON h.id = g.id
	JOIN dpngram.spent_now n ON n.dataset = d.id AND n.grantee = g.id
	WHERE g.dataset = d.id AND h.live AND g.epsilon IS NOT NULL AND (s.owned OR h.held)
) l
CROSS JOIN LATERAL (
	SELECT dpngram.lanes_epsilon(l.mu2_spent, l.eps_pure_spent, l.delta_add_spent, l.delta) AS gdp,
		dpngram.zcdp_epsilon(l.rho_spent, l.rho_delta_spent, l.delta) AS zcdp,
		CASE WHEN l.basic_delta_spent::float8 <= l.delta THEN l.basic_epsilon_spent::float8
			ELSE 'infinity' END AS basic
) e
WHERE d.ended IS NULL;
COMMENT ON VIEW dpngram.budget IS
	'budgets the reader owns or may spend; a row with a grantee is that role''s own cap within the dataset''s';
COMMENT ON COLUMN dpngram.budget.dataset IS 'the name by which the owner''s functions know the budget';
COMMENT ON COLUMN dpngram.budget.relation IS 'the protected relation, by its present name';
COMMENT ON COLUMN dpngram.budget.grantee IS 'NULL: the dataset''s budget; else the role whose own cap the row tells';
COMMENT ON COLUMN dpngram.budget.status IS 'active, or (with some of its relations or all) suspended until its owner calls dp_resume';
COMMENT ON COLUMN dpngram.budget.epsilon IS 'the budget as it was given';
COMMENT ON COLUMN dpngram.budget.delta IS 'the budget as it was given';
COMMENT ON COLUMN dpngram.budget.accounting IS 'how releases add up: gdp, as Gaussian mechanisms; zcdp, as zero-concentrated differential privacy; basic, as sums';
COMMENT ON COLUMN dpngram.budget.mu2_cap IS 'Gaussian lane: bound of the sum of mu squared';
COMMENT ON COLUMN dpngram.budget.mu2_spent IS 'Gaussian lane: what releases have cost';
COMMENT ON COLUMN dpngram.budget.mu2_remaining IS 'Gaussian lane: what is left';
COMMENT ON COLUMN dpngram.budget.eps_pure_cap IS 'lane of pure epsilon: bound of its sum';
COMMENT ON COLUMN dpngram.budget.eps_pure_spent IS 'lane of pure epsilon: what releases have cost';
COMMENT ON COLUMN dpngram.budget.eps_pure_remaining IS 'lane of pure epsilon: what is left';
COMMENT ON COLUMN dpngram.budget.delta_add_cap IS 'lane of additive delta: bound of its sum';
COMMENT ON COLUMN dpngram.budget.delta_add_spent IS 'lane of additive delta: what releases have cost';
COMMENT ON COLUMN dpngram.budget.delta_add_remaining IS 'lane of additive delta: what is left';
COMMENT ON COLUMN dpngram.budget.spent_epsilon IS 'what was spent, as one epsilon at the budget''s delta, by the budget''s accounting';
COMMENT ON COLUMN dpngram.budget.remaining_epsilon IS 'what the remaining lanes come to, as one epsilon at the budget''s delta';
COMMENT ON COLUMN dpngram.budget.rho_cap IS 'lane of zCDP: bound of the sum of rho';
COMMENT ON COLUMN dpngram.budget.rho_spent IS 'lane of zCDP: what releases have cost';
COMMENT ON COLUMN dpngram.budget.rho_remaining IS 'lane of zCDP: what is left';
COMMENT ON COLUMN dpngram.budget.rho_delta_cap IS 'lane of additive delta beside zCDP: bound of its sum';
COMMENT ON COLUMN dpngram.budget.rho_delta_spent IS 'lane of additive delta beside zCDP: what releases have cost';
COMMENT ON COLUMN dpngram.budget.rho_delta_remaining IS 'lane of additive delta beside zCDP: what is left';
COMMENT ON COLUMN dpngram.budget.basic_epsilon_cap IS 'epsilon in accounting basic: bound of the sum';
COMMENT ON COLUMN dpngram.budget.basic_epsilon_remaining IS 'epsilon in accounting basic: what is left';
COMMENT ON COLUMN dpngram.budget.basic_delta_cap IS 'delta in accounting basic: bound of the sum';
COMMENT ON COLUMN dpngram.budget.basic_delta_remaining IS 'delta in accounting basic: what is left';
COMMENT ON COLUMN dpngram.budget.basic_epsilon_spent IS 'the sum of the releases'' epsilons, as asked for';
COMMENT ON COLUMN dpngram.budget.basic_delta_spent IS 'the sum of the releases'' deltas, as asked for';
COMMENT ON COLUMN dpngram.budget.epsilon_by_basic IS 'what the same history comes to by plain sums; infinite where the sum of the deltas exceeds delta';
COMMENT ON COLUMN dpngram.budget.epsilon_by_zcdp IS 'what the same history comes to, at the budget''s delta, by zCDP';
COMMENT ON COLUMN dpngram.budget.epsilon_by_gdp IS 'what the same history comes to, at the budget''s delta, by exact Gaussian composition';
COMMENT ON COLUMN dpngram.budget.period_from IS 'where the budget renews: the row tells of this period, which a call that asks for none reads';
COMMENT ON COLUMN dpngram.budget.period_to IS 'where the budget renews: the end of that period, not included';

CREATE OR REPLACE VIEW dpngram.releases WITH (security_barrier) AS
SELECT r.id,
	r.at,
	d.name AS dataset,
	r.relation,
	r.session_role,
	r.caller_role,
	h.role::text AS grantee,
	r.mechanism,
	r.parameters,
	r.epsilon,
	r.delta,
	r.mu2::float8 AS mu2,
	r.eps_pure::float8 AS eps_pure,
	r.delta_add::float8 AS delta_add,
	r.seeded,
	coalesce(e.status, 'charged') AS status,
	e.at AS ended,
	e.used,
	r.timeline,
	r.lsn,
	r.rho::float8 AS rho,
	r.rho_delta::float8 AS rho_delta,
	r.events,
	r.period_from,
	r.period_to,
	r.number,
	r.digest
FROM dpngram.release r
JOIN dpngram.dataset d ON d.id = r.dataset
JOIN dpngram.dataset_state s ON s.id = d.id
LEFT JOIN dpngram.grantee_state h ON h.id = r.grantee
LEFT JOIN dpngram.release_end e ON e.release = r.id
WHERE s.owned OR (h.held AND EXISTS (SELECT FROM pg_roles c
	WHERE c.rolname = r.caller_role AND pg_has_role(c.oid, 'USAGE')));
COMMENT ON VIEW dpngram.releases IS
	'releases and owners'' acts of the datasets the reader owns, and the reader''s own releases under its grants';
COMMENT ON COLUMN dpngram.releases.id IS 'number of the release, which the server log names too';
COMMENT ON COLUMN dpngram.releases.at IS 'when it was charged';
COMMENT ON COLUMN dpngram.releases.dataset IS 'the budget that was debited';
COMMENT ON COLUMN dpngram.releases.relation IS 'the relation that was read, by its name at the time';
COMMENT ON COLUMN dpngram.releases.session_role IS 'session_user of the caller';
COMMENT ON COLUMN dpngram.releases.caller_role IS 'current_user of the caller, who must have been granted the dataset';
COMMENT ON COLUMN dpngram.releases.grantee IS 'the role whose grant was used; NULL: by right of ownership';
COMMENT ON COLUMN dpngram.releases.mechanism IS 'the function that was called, an owner''s as well';
COMMENT ON COLUMN dpngram.releases.parameters IS 'its arguments';
COMMENT ON COLUMN dpngram.releases.epsilon IS 'as asked for; NULL for an owner''s act';
COMMENT ON COLUMN dpngram.releases.delta IS 'as asked for; NULL for an owner''s act';
COMMENT ON COLUMN dpngram.releases.mu2 IS 'price in the Gaussian lane';
COMMENT ON COLUMN dpngram.releases.eps_pure IS 'price in the lane of pure epsilon';
COMMENT ON COLUMN dpngram.releases.delta_add IS 'price in the lane of additive delta';
COMMENT ON COLUMN dpngram.releases.seeded IS 'the noise was predictable (dpngram.test_seed)';
COMMENT ON COLUMN dpngram.releases.status IS 'charged while no end is known, then done or failed; the price stands in any case';
COMMENT ON COLUMN dpngram.releases.ended IS 'when it ended, as far as that is known';
COMMENT ON COLUMN dpngram.releases.used IS 'what it made of its price, as far as that is known; never a refund';
COMMENT ON COLUMN dpngram.releases.timeline IS 'timeline of the server at the charge: tells a restored ledger from its original';
COMMENT ON COLUMN dpngram.releases.lsn IS 'position in the write-ahead log at the charge';
COMMENT ON COLUMN dpngram.releases.rho IS 'price in rho, if the accounting is zcdp';
COMMENT ON COLUMN dpngram.releases.rho_delta IS 'price in additive delta, if the accounting is zcdp';
COMMENT ON COLUMN dpngram.releases.events IS 'what the mechanism did, by which any accounting can price it';
COMMENT ON COLUMN dpngram.releases.period_from IS 'the rows it read are not older, where the budget renews';
COMMENT ON COLUMN dpngram.releases.period_to IS 'the rows it read are older than this, where the budget renews';
COMMENT ON COLUMN dpngram.releases.number IS 'its place among the dataset''s releases';
COMMENT ON COLUMN dpngram.releases.digest IS 'hash over this and all earlier releases of the dataset';

