-- verdicts.sql: what the distributions have to reach; a failed one is a failed bench.

CREATE TEMP TABLE verdict (ord int, what text, reached float8, wanted text, ok boolean);

-- Against the paper's Laplace baseline, at epsilon 0.1 and all users.  It is asked of MSNBC,
-- which has users enough; the commits' reached values stand beside.
INSERT INTO verdict
SELECT 1, format('%s, counting %s: part of the divergence of "%s" that shrinkage avoids', s.corpus, s.counting, l.method),
	1 - s.kl / l.kl, CASE corpus WHEN 'msnbc' THEN 'at least ' || wanted END,
	CASE corpus WHEN 'msnbc' THEN 1 - s.kl / l.kl >= wanted END
FROM (VALUES ('laplace, W = users/1000', 0.85), ('laplace, best W', 0.6)) AS w (method, wanted)
	JOIN divergence l USING (method)
	JOIN divergence s USING (figure, corpus, counting, x)
WHERE figure = 'epsilon' AND x = 0.1 AND s.method = 'shrinkage';

-- Never worse than the public prior, beyond noise, wherever it was measured
INSERT INTO verdict
SELECT 2, format('%s, %s, counting %s: worst (mean + 3 sd) of "%s" over the public prior', s.figure, s.corpus, s.counting, s.method),
	max((s.kl + 3 * s.sd) / p.kl), 'at most 1.02', max((s.kl + 3 * s.sd) / p.kl) <= 1.02
FROM divergence s JOIN divergence p USING (figure, corpus, counting, x)
WHERE s.method IN ('shrinkage', 'shrinkage, delta 0') AND p.method = 'public prior'
GROUP BY s.figure, s.corpus, s.counting, s.method;

\echo
\echo ---- verdicts
SELECT what, round(reached::numeric, 3) AS reached, wanted, CASE WHEN ok THEN 'ok' WHEN NOT ok THEN 'NOT OK' END AS verdict
FROM verdict ORDER BY ord, what;
DO $$ BEGIN
	IF EXISTS (SELECT FROM verdict WHERE NOT ok) OR NOT EXISTS (SELECT FROM verdict) THEN
		RAISE EXCEPTION 'not all that was promised is reached';
	END IF;
END $$;
