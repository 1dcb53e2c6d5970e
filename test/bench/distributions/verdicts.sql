-- verdicts.sql: what the distributions have to reach; a failed one is a failed bench.

CREATE TEMP TABLE verdict (ord int, what text, reached float8, wanted text, ok boolean);

-- Against the paper's Laplace baseline, at epsilon 0.1 and all users.  Asked of shrinkage
-- with its usual delta on MSNBC, which has users enough; what is reached elsewhere stands
-- beside.
INSERT INTO verdict
SELECT 1, format('%s, counting %s: part of the divergence of "%s" that %s avoids', s.corpus, s.counting, l.method, s.method),
	1 - s.kl / l.kl, CASE WHEN asked THEN 'at least ' || wanted END,
	CASE WHEN asked THEN 1 - s.kl / l.kl >= wanted END
FROM (VALUES ('laplace, W = users/1000', 0.85), ('laplace, best W', 0.6)) AS w (method, wanted)
	JOIN divergence l USING (method)
	JOIN divergence s USING (figure, corpus, counting, x),
	LATERAL (SELECT corpus = 'msnbc' AND s.method = 'shrinkage') a (asked)
WHERE figure = 'epsilon' AND x = 0.1 AND s.method IN ('shrinkage', 'shrinkage, delta 0');

-- Never worse than the public prior, beyond noise: no mean by more than 2 %.  Asked of
-- everything but Laplace noise on fewer users, where what bounding takes away can show.
INSERT INTO verdict
SELECT 2, format('%s, %s, counting %s: largest mean of "%s" over the public prior (worst draw %s)',
		s.figure, s.corpus, s.counting, s.method, round(max(s.worst / p.kl)::numeric, 3)),
	max(s.kl / p.kl), CASE WHEN asked THEN 'at most 1.02' END, CASE WHEN asked THEN max(s.kl / p.kl) <= 1.02 END
FROM divergence s JOIN divergence p USING (figure, corpus, counting, x),
	LATERAL (SELECT s.method = 'shrinkage' OR figure <> 'users') a (asked)
WHERE s.method IN ('shrinkage', 'shrinkage, delta 0') AND p.method = 'public prior'
GROUP BY s.figure, s.corpus, s.counting, s.method, asked;

\echo
\echo ---- verdicts
SELECT what, round(reached::numeric, 3) AS reached, wanted, CASE WHEN ok THEN 'ok' WHEN NOT ok THEN 'NOT OK' END AS verdict
FROM verdict ORDER BY ord, what;
DO $$ BEGIN
	IF EXISTS (SELECT FROM verdict WHERE NOT ok) OR NOT EXISTS (SELECT FROM verdict) THEN
		RAISE EXCEPTION 'not all that was promised is reached';
	END IF;
END $$;
