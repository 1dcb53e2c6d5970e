-- verdicts.sql: the orders that the paper's F-scores have and these must have, too; a
-- failed one is a failed bench.
--
-- A mean over k must be greater.  At each k a method may be below the other by no more than
-- two standard errors of the difference of the two means, since runs scatter and values
-- tie.  A method's standard deviation is that of its runs at that k, or that pooled over
-- all k if the runs happen to agree better there.

CREATE TEMP TABLE rivals (better text, worse text, epsilon int[]);
INSERT INTO rivals VALUES
	('privtrie', 'ibsl', '{2,3,4}'), ('ibsl', 'bsl', '{2,3,4}'),
	('privtrie', 'pem', '{2,3,4}'), ('privtrie', 'treehist', '{2,3,4}'), ('privtrie', 'ibsl', '{1}');

CREATE TEMP TABLE curve AS
SELECT *, greatest(sd ^ 2, avg(sd ^ 2) OVER (PARTITION BY dataset, method, epsilon)) / runs AS variance
FROM fscore WHERE k = 100 AND consistency;

CREATE TEMP TABLE margin AS
SELECT b.dataset, better, worse, b.epsilon, b.at, b.mean - w.mean AS margin, 2 * sqrt(b.variance + w.variance) AS scatter
FROM rivals r JOIN curve b ON b.method = better AND b.epsilon = ANY (r.epsilon)
	JOIN curve w ON w.method = worse AND (w.dataset, w.epsilon) = (b.dataset, b.epsilon) AND w.at IS NOT DISTINCT FROM b.at;

CREATE TEMP TABLE verdict (ord int, what text, reached float8, wanted text, ok boolean);

-- Asked of the real data; what the others have stands beside.
INSERT INTO verdict
SELECT 1, format('%s, epsilon %s: mean over k of %s less %s', dataset, epsilon, better, worse), margin,
	CASE WHEN asked THEN CASE WHEN epsilon = 1 THEN 'at least 0' ELSE 'above 0' END END,
	CASE WHEN asked THEN margin > 0 OR (epsilon = 1 AND margin = 0) END
FROM margin, LATERAL (SELECT dataset = 'reddit' AS asked) a WHERE at IS NULL;

INSERT INTO verdict
SELECT 2, format('%s, epsilon %s: least at any k of %s less %s (k = %s)', dataset, epsilon, better, worse,
	(array_agg(at ORDER BY margin))[1]), min(margin),
	CASE WHEN asked THEN format('at least -2 standard errors, here %s',
		(array_agg(to_char(-scatter, 'FM0.000') ORDER BY margin))[1]) END,
	CASE WHEN asked THEN bool_and(margin >= -scatter) END
FROM margin, LATERAL (SELECT dataset = 'reddit' AND epsilon > 1 AS asked) a WHERE at IS NOT NULL
GROUP BY dataset, epsilon, better, worse, asked;

-- The paper's figure, on data with the paper's numbers of users and terms, but for the
-- scatter of the runs.
INSERT INTO verdict
SELECT 3, format('%s, epsilon 2: F-score of privtrie at k = 50', dataset), mean,
	CASE WHEN asked THEN format('at least 0.8 - 2 standard errors, here %s', to_char(2 * sqrt(variance), 'FM0.000')) END,
	CASE WHEN asked THEN mean >= 0.8 - 2 * sqrt(variance) END
FROM curve, LATERAL (SELECT dataset = 'reddit4585' AS asked) a
WHERE method = 'privtrie' AND epsilon = 2 AND at = 50;

\echo
\echo ---- verdicts
SELECT what, round(reached::numeric, 3) AS reached, wanted, CASE WHEN ok THEN 'ok' WHEN NOT ok THEN 'NOT OK' END AS verdict
FROM verdict ORDER BY ord, what;
DO $$ BEGIN
	IF EXISTS (SELECT FROM verdict WHERE NOT ok) OR (SELECT count(*) FROM verdict WHERE ok IS NOT NULL) <> 26 THEN
		RAISE EXCEPTION 'not all that was promised is reached';
	END IF;
END $$;
