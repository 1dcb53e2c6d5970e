-- Budgets that renew: which period a call reads that asks for none, what counts in
-- a period, and what is spent now (src/ledger/period.c).

CREATE FUNCTION dpngram.present_period(renews interval, renewal text, time_zone text,
		OUT period_from timestamptz, OUT period_to timestamptz)
	LANGUAGE C STABLE STRICT PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'dpngram_present_period';
COMMENT ON FUNCTION dpngram.present_period(interval, text, text) IS
	'the period that a call reads that asks for none: the last complete one of the calendar, or the window that ends now';

CREATE VIEW dpngram.counted AS
SELECT r.dataset, r.grantee, r.period_from, r.period_to,
	r.mu2, r.eps_pure, r.delta_add, r.rho, r.rho_delta, r.basic_epsilon, r.basic_delta
FROM dpngram.release r
UNION ALL
SELECT c.dataset, NULL::integer, r.period_from, r.period_to,
	r.mu2, r.eps_pure, r.delta_add, r.rho, r.rho_delta, r.basic_epsilon, r.basic_delta
FROM dpngram.carried c
JOIN dpngram.release r ON r.dataset = c.source AND r.number <= c.releases
WHERE c.by_period AND NOT c.forgotten AND r.epsilon IS NOT NULL;
COMMENT ON VIEW dpngram.counted IS
	'what counts in the periods of a dataset: its releases, and the calls of former datasets that it carries by period';
COMMENT ON COLUMN dpngram.counted.dataset IS 'number of the dataset';
COMMENT ON COLUMN dpngram.counted.grantee IS 'number of the grant that was used; NULL: by right of ownership, or carried';
COMMENT ON COLUMN dpngram.counted.period_from IS 'the rows that were read are not older';
COMMENT ON COLUMN dpngram.counted.period_to IS 'the rows that were read are older than this';
COMMENT ON COLUMN dpngram.counted.mu2 IS 'price in mu squared';
COMMENT ON COLUMN dpngram.counted.eps_pure IS 'price in pure epsilon';
COMMENT ON COLUMN dpngram.counted.delta_add IS 'price in additive delta';
COMMENT ON COLUMN dpngram.counted.rho IS 'price in rho, by zCDP';
COMMENT ON COLUMN dpngram.counted.rho_delta IS 'price in additive delta, by zCDP';
COMMENT ON COLUMN dpngram.counted.basic_epsilon IS 'price in epsilon, by plain sums';
COMMENT ON COLUMN dpngram.counted.basic_delta IS 'price in delta, by plain sums';

-- What a call that asks for no period finds spent.  One row a dataset, with grantee
-- NULL, and one a grant.
CREATE VIEW dpngram.spent_now AS
SELECT o.dataset, o.grantee, p.period_from, p.period_to,
	CASE WHEN o.renews IS NULL THEN o.mu2_spent ELSE s.mu2 END AS mu2_spent,
	CASE WHEN o.renews IS NULL THEN o.eps_pure_spent ELSE s.eps_pure END AS eps_pure_spent,
	CASE WHEN o.renews IS NULL THEN o.delta_add_spent ELSE s.delta_add END AS delta_add_spent,
	CASE WHEN o.renews IS NULL THEN o.rho_spent ELSE s.rho END AS rho_spent,
	CASE WHEN o.renews IS NULL THEN o.rho_delta_spent ELSE s.rho_delta END AS rho_delta_spent,
	CASE WHEN o.renews IS NULL THEN o.basic_epsilon_spent ELSE s.basic_epsilon END AS basic_epsilon_spent,
	CASE WHEN o.renews IS NULL THEN o.basic_delta_spent ELSE s.basic_delta END AS basic_delta_spent
FROM (
	SELECT d.id AS dataset, NULL::integer AS grantee, d.renews, d.renewal, d.time_zone,
		d.mu2_spent, d.eps_pure_spent, d.delta_add_spent, d.rho_spent, d.rho_delta_spent,
		d.basic_epsilon_spent, d.basic_delta_spent
	FROM dpngram.dataset d
	UNION ALL
	SELECT g.dataset, g.id, d.renews, d.renewal, d.time_zone,
		g.mu2_spent, g.eps_pure_spent, g.delta_add_spent, g.rho_spent, g.rho_delta_spent,
		g.basic_epsilon_spent, g.basic_delta_spent
	FROM dpngram.grantee g JOIN dpngram.dataset d ON d.id = g.dataset
) o
CROSS JOIN LATERAL dpngram.present_period(o.renews, o.renewal, o.time_zone) p
CROSS JOIN LATERAL (
	SELECT coalesce(sum(c.mu2), 0) AS mu2, coalesce(sum(c.eps_pure), 0) AS eps_pure,
		coalesce(sum(c.delta_add), 0) AS delta_add, coalesce(sum(c.rho), 0) AS rho,
		coalesce(sum(c.rho_delta), 0) AS rho_delta, coalesce(sum(c.basic_epsilon), 0) AS basic_epsilon,
		coalesce(sum(c.basic_delta), 0) AS basic_delta
	FROM dpngram.counted c
	WHERE c.dataset = o.dataset AND (o.grantee IS NULL OR c.grantee = o.grantee)
		AND c.period_from < p.period_to AND c.period_to > p.period_from
) s;
COMMENT ON VIEW dpngram.spent_now IS
	'what datasets and grants have spent; where the budget renews, in the period of a call that asks for none';
COMMENT ON COLUMN dpngram.spent_now.dataset IS 'number of the dataset';
COMMENT ON COLUMN dpngram.spent_now.grantee IS 'number of the grant; NULL: all of the dataset';
COMMENT ON COLUMN dpngram.spent_now.period_from IS 'where the budget renews: the row tells of this period';
COMMENT ON COLUMN dpngram.spent_now.period_to IS 'where the budget renews: the end of that period, not included';
COMMENT ON COLUMN dpngram.spent_now.mu2_spent IS 'what was spent in mu squared';
COMMENT ON COLUMN dpngram.spent_now.eps_pure_spent IS 'what was spent in pure epsilon';
COMMENT ON COLUMN dpngram.spent_now.delta_add_spent IS 'what was spent in additive delta';
COMMENT ON COLUMN dpngram.spent_now.rho_spent IS 'what was spent in rho, by zCDP';
COMMENT ON COLUMN dpngram.spent_now.rho_delta_spent IS 'what was spent in additive delta, by zCDP';
COMMENT ON COLUMN dpngram.spent_now.basic_epsilon_spent IS 'what was spent in epsilon, by plain sums';
COMMENT ON COLUMN dpngram.spent_now.basic_delta_spent IS 'what was spent in delta, by plain sums';
