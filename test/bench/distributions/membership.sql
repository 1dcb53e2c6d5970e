-- membership.sql: Figure 6, the membership inference attack on the visitor who contributes
-- most, and what it proves.  For methods that are called private the proven epsilon must
-- not exceed the claimed one.

SELECT 'msnbc_' || count(*) AS private, greatest(count(*) / 1000, 1) AS paper FROM msnbc_order \gset
SET client_min_messages = error;
CREATE TABLE attack AS
SELECT m.ord, m.method, m.private, e AS epsilon, a.*
FROM (VALUES
	(1, 'shrinkage', true, 'shrinkage', 1e-6, NULL, '{}'),
	(2, 'laplace, W = users/1000', true, 'laplace', 0, :paper, '{}'),
	(3, 'laplace, W = 10', true, 'laplace', 0, 10, '{}'),
	(4, 'local-sensitivity, brute-force', false, 'local-sensitivity', 1e-6, :paper, '{"s": 0.001, "rho": 0.5}'))
		AS m (ord, method, private, name, delta, w, options),
	unnest('{0.1,0.3,1,3,10,30,100}'::float8[]) AS e,
	LATERAL dp_membership_attack(:'private', 'visitor', 'pages', 'msnbc_users', e, m.delta, 3, m.name,
		counting => 'users', max_contributions => m.w, runs => 200,
		confidence => 0.999, options => m.options::jsonb) AS a;
RESET client_min_messages;

\echo
\echo ---- membership inference, 200 runs: probability that the release with the user is closer to the user (proven epsilon, confidence 0.999)
SELECT method, epsilon, round(probability::numeric, 3) || ' (' || round(epsilon_bound::numeric, 2) || ')'
FROM attack ORDER BY ord, epsilon \crosstabview
\t on
\pset format unaligned
SELECT string_agg(block, E'\n\n\n' ORDER BY ord) FROM (
	SELECT ord, '# "' || method || E'"\n' || string_agg(epsilon || ' ' || probability || ' ' || epsilon_bound, E'\n' ORDER BY epsilon) AS block
	FROM attack GROUP BY ord, method) s
\set file :folder '/membership.dat'
\g :file
\pset format aligned
\t off

-- What breaks the printed mechanism: everybody has one trigram, all of them frequent, but
-- for one visitor who has a rare one, too.  Without that visitor next to no noise is added.
CREATE TABLE frequent AS
SELECT ngram, count(*) FROM (SELECT array_to_string(pages[1:3], ' ') AS ngram FROM :"private") s
GROUP BY ngram HAVING count(*) >= 1000;
CREATE TABLE rare AS SELECT ngram, 1 AS count FROM msnbc_users WHERE ngram NOT IN (SELECT ngram FROM frequent)
ORDER BY msnbc_users.count, ngram LIMIT 1;
CREATE TABLE rare_public AS SELECT * FROM frequent UNION ALL SELECT * FROM rare;
CREATE TABLE rare_private AS
SELECT visitor, pages[1:3] AS pages FROM :"private" JOIN frequent ON ngram = array_to_string(pages[1:3], ' ');
INSERT INTO rare_private SELECT 0, string_to_array(ngram, ' ')::int[] FROM rare;
INSERT INTO rare_private SELECT 0, string_to_array(ngram, ' ')::int[] FROM frequent WHERE ngram = (SELECT max(ngram) FROM frequent);

SET client_min_messages = error;
CREATE TABLE rare_attack AS
SELECT ord, m.method, private, e AS epsilon, a.*
FROM (VALUES
	(1, 'shrinkage', true, 'shrinkage', NULL),
	(2, 'log-posterior', true, 'log-posterior', NULL),
	(3, 'local-sensitivity, brute-force', false, 'local-sensitivity', 'brute-force'),
	(4, 'local-sensitivity, worst-case', false, 'local-sensitivity', 'worst-case'))
		AS m (ord, method, private, name, sensitivity),
	unnest('{0.1,0.3,1,3}'::float8[]) AS e,
	LATERAL dp_membership_attack('rare_private', 'visitor', 'pages', 'rare_public', e, 1e-6, 3, m.name,
		sensitivity => m.sensitivity, runs => 2000, confidence => 0.999) AS a;
RESET client_min_messages;
\echo
\echo ---- a neighbour with one rare trigram, 2,000 runs: proven epsilon by claimed epsilon
SELECT method, epsilon, round(epsilon_bound::numeric, 2) FROM rare_attack ORDER BY ord, epsilon \crosstabview
\t on
\pset format unaligned
SELECT string_agg(block, E'\n\n\n' ORDER BY ord) FROM (
	SELECT ord, '# "' || method || E'"\n' || string_agg(epsilon || ' ' || epsilon_bound, E'\n' ORDER BY epsilon) AS block
	FROM rare_attack GROUP BY ord, method) s
\set file :folder '/membership_rare.dat'
\g :file
\pset format aligned
\t off

\echo
\echo ---- verdicts
CREATE TEMP TABLE attack_verdict AS
SELECT method || ': most of the claimed epsilon that is proven' AS what, max(epsilon_bound / epsilon) AS reached,
	'at most 1' AS wanted, bool_and(epsilon_bound <= epsilon) AS ok
FROM (SELECT method, private, epsilon, epsilon_bound FROM attack
	UNION ALL SELECT method, private, epsilon, epsilon_bound FROM rare_attack) s
WHERE private GROUP BY method
UNION ALL
SELECT method || ': least of the claimed epsilon that is proven against the rare trigram, up to 1', min(epsilon_bound / epsilon),
	'above 2', bool_and(epsilon_bound > 2 * epsilon)
FROM rare_attack WHERE NOT private AND epsilon <= 1 GROUP BY method;
SELECT what, round(reached::numeric, 3) AS reached, wanted, CASE WHEN ok THEN 'ok' ELSE 'NOT OK' END AS verdict
FROM attack_verdict ORDER BY what;
DO $$ BEGIN
	IF EXISTS (SELECT FROM attack_verdict WHERE NOT ok) OR NOT EXISTS (SELECT FROM attack_verdict) THEN
		RAISE EXCEPTION 'the audits do not show what they should';
	END IF;
END $$;
