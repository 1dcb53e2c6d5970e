-- The rows: what 0.2.0 would have written of everything that happened under 0.1.0.

-- The smallest epsilon of a call, as for a new dataset.
UPDATE dpngram.dataset SET min_epsilon = epsilon / 1000;

-- Which datasets began with whose spending.  The log names the last ended dataset of the
-- relation, which may have carried others.  Where it names none although there was one,
-- as the bindings tell, a superuser had it forgotten.
WITH RECURSIVE begun (dataset, source) AS (
	SELECT r.dataset, (r.parameters ->> 'carried_from')::integer
	FROM dpngram.release r WHERE r.mechanism = 'dp_protect'
), parent (dataset, source, forgotten) AS (
	SELECT dataset, source, false FROM begun
	WHERE source IN (SELECT id FROM dpngram.dataset)
	UNION ALL
	SELECT g.dataset, max(former.id), true
	FROM begun g
	JOIN dpngram.relation r ON r.dataset = g.dataset
	JOIN dpngram.relation_binding b ON b.relation = r.id
	JOIN dpngram.relation_binding fb ON (fb.system_identifier, fb.database, fb.relid)
		= (b.system_identifier, b.database, b.relid)
	JOIN dpngram.relation fr ON fr.id = fb.relation
	JOIN dpngram.dataset former ON former.id = fr.dataset
	WHERE g.source IS NULL AND former.ended IS NOT NULL AND former.id < g.dataset
	GROUP BY g.dataset
), line (dataset, source, forgotten) AS (
	SELECT * FROM parent
	UNION
	SELECT line.dataset, parent.source, line.forgotten
	FROM line JOIN parent ON parent.dataset = line.source AND NOT parent.forgotten
)
INSERT INTO dpngram.carried (dataset, source, forgotten, by_period, releases)
SELECT line.dataset, line.source, line.forgotten, false,
	(SELECT count(*) FROM dpngram.release r WHERE r.dataset = line.source)
FROM line;

-- Helpers of this script.  2^-100 is the quantum of all amounts.
CREATE FUNCTION dpngram.up(amount numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
	SELECT trim_scale(ceil(amount * 1267650600228229401496703205376)
		* 7.888609052210118054117285652827862296732064351090230047702789306640625e-31)
	$$;
-- A double's own value, by its bits: casts to numeric keep 15 digits.
CREATE FUNCTION dpngram.up(amount float8) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN amount = 0 THEN 0 ELSE dpngram.up(CASE
		WHEN shift < 0 THEN (significand >> least(-shift, 62))
			+ CASE WHEN significand & ((1::bigint << least(-shift, 62)) - 1) = 0 THEN 0 ELSE 1 END
		ELSE significand * 2::numeric ^ shift END
		* 7.888609052210118054117285652827862296732064351090230047702789306640625e-31) END
	FROM (SELECT (bits & ((1::bigint << 52) - 1))
				+ CASE WHEN bits >> 52 = 0 THEN 0 ELSE 1::bigint << 52 END AS significand,
			greatest(bits >> 52, 1)::integer - 975 AS shift
		FROM (SELECT ('x' || encode(float8send(amount), 'hex'))::bit(64)::bigint AS bits) b) d
	$$;
CREATE AGGREGATE dpngram.chain_of(record) (SFUNC = dpngram.row_digest, STYPE = bytea, INITCOND = '');

-- What 0.2.0 would have written, in all lanes.  A call's own price is that of its events:
-- Gaussian noise on the lattice, whose slack costs zCDP what the error of the spurious
-- n-grams' probability does.  That adds 10^-13 sqrt(n) to the mu of each later step of
-- dpne (tail_mu in src/ngram/plan.c), n being what a user may contribute to it, and so
-- makes at most (mu + tail)^2/2 of mu^2/2 for all steps, tail^2 being the sum of their
-- squares.  A dataset that began with the spending of others was debited what their
-- calls had cost.
WITH step AS (
	SELECT r.id, sum(k.keys::bigint) AS keys
	FROM dpngram.release r
	CROSS JOIN jsonb_array_elements_text(r.parameters -> 'max_contributions')
		WITH ORDINALITY AS k (keys, step)
	WHERE r.mechanism = 'dp_ngrams' AND r.parameters ->> 'method' = 'dpne' AND k.step > 1
	GROUP BY r.id
), tail AS (
	SELECT r.id, 1.00000000001e-13 * sqrt(coalesce(step.keys, 0)) AS mu
	FROM dpngram.release r LEFT JOIN step ON step.id = r.id
	WHERE r.mechanism IN ('dp_ngrams', 'dp_set_union')
), noise AS (
	SELECT r.*, t.id IS NULL AS pure,
		dpngram.up(1.00000000001 * t.mu * (sqrt(r.mu2) + t.mu / 2)) AS tail_rho
	FROM dpngram.release r LEFT JOIN tail t ON t.id = r.id
), own AS (
	SELECT n.id, n.dataset,
		dpngram.up(n.mu2 * 0.5 + CASE WHEN n.pure THEN n.eps_pure * n.eps_pure * 0.5
			ELSE n.tail_rho END) AS rho,
		n.delta_add AS rho_delta,
		dpngram.up(coalesce(n.epsilon, 0)) AS basic_epsilon,
		dpngram.up(coalesce(n.delta, 0)) AS basic_delta,
		CASE WHEN n.epsilon IS NULL THEN '[]' ELSE jsonb_build_array(
			jsonb_build_object('event', 'gaussian', 'mu2', n.mu2::float8),
			CASE WHEN n.pure
				THEN jsonb_build_object('event', 'pure', 'epsilon', n.eps_pure::float8)
				ELSE jsonb_build_object('event', 'lattice', 'epsilon', n.eps_pure::float8,
					'zcdp_rho', n.tail_rho::float8) END,
			jsonb_build_object('event', 'delta', 'delta', n.delta_add::float8)) END AS events
	FROM noise n
), begun AS (
	SELECT c.dataset, sum(o.rho) AS rho, sum(o.rho_delta) AS rho_delta,
		sum(o.basic_epsilon) AS basic_epsilon, sum(o.basic_delta) AS basic_delta
	FROM dpngram.carried c JOIN own o ON o.dataset = c.source
	JOIN dpngram.release r ON r.id = o.id AND r.epsilon IS NOT NULL
	WHERE NOT c.forgotten GROUP BY c.dataset
), priced AS (
	SELECT r.id, coalesce(b.rho, o.rho) AS rho, coalesce(b.rho_delta, o.rho_delta) AS rho_delta,
		coalesce(b.basic_epsilon, o.basic_epsilon) AS basic_epsilon,
		coalesce(b.basic_delta, o.basic_delta) AS basic_delta, o.events
	FROM dpngram.release r JOIN own o ON o.id = r.id
	LEFT JOIN begun b ON b.dataset = r.dataset AND r.mechanism = 'dp_protect'
)
UPDATE dpngram.release r SET rho = p.rho, rho_delta = p.rho_delta,
	basic_epsilon = p.basic_epsilon, basic_delta = p.basic_delta, events = p.events
FROM priced p WHERE p.id = r.id;

-- Numbers and digests: the columns are those of dpngram.broken_chain.
UPDATE dpngram.release r SET number = c.number, digest = c.digest
FROM (SELECT e.id, row_number() OVER w AS number,
		dpngram.chain_of(ROW(e.id, e.at, e.dataset, e.relation,
			e.session_role, e.caller_role, e.grantee, e.mechanism, e.parameters, e.epsilon, e.delta,
			e.mu2, e.eps_pure, e.delta_add, e.rho, e.rho_delta, e.basic_epsilon, e.basic_delta,
			e.seeded, e.timeline, e.lsn, e.events, e.period_from, e.period_to)) OVER w AS digest
	FROM dpngram.release e
	WINDOW w AS (PARTITION BY e.dataset ORDER BY e.id ROWS UNBOUNDED PRECEDING)) c
WHERE c.id = r.id;
DROP AGGREGATE dpngram.chain_of(record);
DROP FUNCTION dpngram.up(float8);
DROP FUNCTION dpngram.up(numeric);

UPDATE dpngram.dataset d SET rho_spent = s.rho, rho_delta_spent = s.rho_delta,
	basic_epsilon_spent = s.basic_epsilon, basic_delta_spent = s.basic_delta,
	releases = s.releases, chain = (SELECT l.digest FROM dpngram.release l
		WHERE l.dataset = d.id AND l.number = s.releases)
FROM (SELECT dataset, count(*) AS releases, sum(rho) AS rho, sum(rho_delta) AS rho_delta,
		sum(basic_epsilon) AS basic_epsilon, sum(basic_delta) AS basic_delta
	FROM dpngram.release GROUP BY dataset) s
WHERE s.dataset = d.id;

UPDATE dpngram.grantee g SET rho_spent = s.rho, rho_delta_spent = s.rho_delta,
	basic_epsilon_spent = s.basic_epsilon, basic_delta_spent = s.basic_delta
FROM (SELECT grantee, sum(rho) AS rho, sum(rho_delta) AS rho_delta,
		sum(basic_epsilon) AS basic_epsilon, sum(basic_delta) AS basic_delta
	FROM dpngram.release GROUP BY grantee) s
WHERE s.grantee = g.id;

UPDATE dpngram.relation r SET attached = d.created FROM dpngram.dataset d WHERE d.id = r.dataset;

-- What has been read of a relation's partitions and children; those of now stand for it.
UPDATE dpngram.relation_binding b SET children = ARRAY(
	WITH RECURSIVE down (relid) AS (
		SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = b.relid
		UNION SELECT i.inhrelid FROM down JOIN pg_inherits i ON i.inhparent = down.relid)
	SELECT relid FROM down);
UPDATE dpngram.relation_binding SET children_until = array_fill(0::bigint, ARRAY[cardinality(children)]);

-- A binding holds for the timeline on which its dataset was last heard of: where the
-- server was promoted or recovered since, its owner has the word.
UPDATE dpngram.relation_binding b SET timeline = coalesce((SELECT l.timeline
	FROM dpngram.relation r JOIN dpngram.release l ON l.dataset = r.dataset
	WHERE r.id = b.relation ORDER BY l.id DESC LIMIT 1), 0);

