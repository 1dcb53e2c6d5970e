-- tables.sql: what was released, printed; n-grams are means of the runs, ± their standard
-- deviation.

CREATE FUNCTION amount(v float8) RETURNS text LANGUAGE sql AS $$ SELECT to_char(round(v), 'FM999,999') $$;
CREATE FUNCTION amount(mean float8, sd float8, runs bigint) RETURNS text LANGUAGE sql AS $$
	SELECT amount(mean) || CASE WHEN runs > 1 THEN ' ±' || amount(sd) ELSE '' END $$;
CREATE FUNCTION share(v float8) RETURNS text LANGUAGE sql AS $$ SELECT to_char(100 * v, 'FM990.00') || ' %' $$;

-- What a kind is called in tables and plots.
CREATE FUNCTION title(of_kind text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN method = 'dpne-mr' THEN 'dpne-mr ' || of_kind ELSE of_kind END FROM kind WHERE kind = of_kind $$;

-- Released n-grams that nobody wrote, of the calls whose n-grams were kept.
CREATE MATERIALIZED VIEW spurious AS
SELECT job.*, count(*) AS total, count(*) FILTER (WHERE users = 0) AS spurious, avg((users = 0)::int)::float8 AS share
FROM job JOIN found ON job = id JOIN truth ON truth.dataset = job.dataset AND truth.n = found.n AND truth.ngram = found.ngram
GROUP BY id;

-- Calls on one data set as the main table has them, and the same in one line.
CREATE VIEW calls AS
SELECT m.*, array_to_string(array_agg(amount(l.mean) ORDER BY l.n), ' ') AS lengths
FROM mean m JOIN mean l USING (dataset, kind, epsilon, t, bound, eta, c, pruning, length)
WHERE m.n IS NULL AND l.n IS NOT NULL
GROUP BY dataset, kind, epsilon, t, bound, eta, c, pruning, length, m.n, m.runs, m.mean, m.sd;

CREATE VIEW main AS
SELECT dataset, kind.ord, kind, c, calls.bound, calls.mean, calls.sd, runs, lengths, share AS spurious,
	calls.mean / first_value(calls.mean) OVER (PARTITION BY dataset ORDER BY kind.ord, calls.bound <> s.bound, c <> 1) AS times
FROM calls
	LEFT JOIN (SELECT dataset, kind, epsilon, t, bound, eta, c, pruning, avg(share) AS share
		FROM spurious GROUP BY dataset, kind, epsilon, t, bound, eta, c, pruning) x
		USING (dataset, kind, epsilon, t, bound, eta, c, pruning)
	JOIN setting s USING (dataset, epsilon, t) JOIN kind USING (kind)
WHERE dataset IN ('msnbc', 'git') AND eta = 0.01 AND pruning = 'both' AND kind NOT LIKE 'dpsu%' AND kind <> 'ratio'
	AND ((c = 1 OR abs(c - best_c) <= 0.1) AND calls.bound = s.bound
		OR c IN (1, best_c) AND calls.bound = 300 AND kind LIKE 'dpne%');

-- The calls of the setting by length; of dpsu-single those of all lengths.
CREATE VIEW plain AS
SELECT dataset, kind, n, mean, sd
FROM mean JOIN setting USING (dataset, epsilon, t, bound)
WHERE dataset IN ('msnbc', 'git') AND kind NOT IN ('ratio', 'dpne, unbounded') AND eta = 0.01 AND c = 1 AND pruning = 'both';

-- The share of the n-grams of at least K users that a call of T 9 releases: both counted
-- for each number of users first.
CREATE MATERIALIZED VIEW written AS
SELECT dataset, n, users, count(*) AS ngrams FROM truth WHERE users >= 10 GROUP BY dataset, n, users;
CREATE MATERIALIZED VIEW released AS
SELECT dataset, kind, n, users, count(*)::float8 / runs AS ngrams
FROM (SELECT id, dataset, kind, count(*) OVER (PARTITION BY dataset, kind) AS runs
		FROM job JOIN setting USING (dataset, epsilon, bound)
		WHERE job.t = 9 AND c = 1 AND eta = 0.01 AND pruning = 'both' AND kind IN ('dpne', 'balanced', 'adaptive')
			AND dataset IN ('msnbc', 'git')) j
	JOIN found ON job = id JOIN truth USING (dataset, n, ngram)
WHERE users >= 10
GROUP BY dataset, kind, n, users, runs;

CREATE VIEW coverage AS
SELECT dataset, kind, n, least_users, of, coalesce(hits, 0) / of AS share
FROM unnest('{10,20,30,50,70,100,200,300,500,700,1000}'::int[]) AS least_users,
	(SELECT DISTINCT dataset, kind FROM released) k,
	LATERAL (SELECT n, sum(ngrams)::float8 AS of FROM written w
		WHERE w.dataset = k.dataset AND users >= least_users GROUP BY n) w
	LEFT JOIN LATERAL (SELECT sum(ngrams) AS hits FROM released r
		WHERE (r.dataset, r.kind, r.n) = (k.dataset, k.kind, w.n) AND users >= least_users) r ON true;

-- Seconds of the fastest of three calls, work_mem 1 GB.
CREATE VIEW fastest AS
SELECT dataset, kind, work_mem, min(seconds) AS seconds, min(processor) AS processor, min(mb) AS mb
FROM measured GROUP BY dataset, kind, work_mem;

\echo
\echo ---- n-grams: msnbc eps 1, T 6; git eps 4, T 9; delta 1e-7, a tenth of it for the thresholds; mean of :runs runs ± sd, of 2 at other c and other Delta_0
\echo (spurious: share of the released n-grams that nobody wrote; passes: over the n-grams of the users, light ones
\echo  after the plus; the relation is read once)
SELECT dataset, title(kind) AS method, c, main.bound AS "Delta_0", amount(mean, sd, runs) AS total, lengths AS "by length",
	to_char(times, 'FM90.00') AS "times dpne", share(spurious) AS spurious, round(f.seconds::numeric, 1) AS seconds,
	CASE WHEN kind LIKE 'dpne%' THEN t::text ELSE t || ' + at most ' || 6 + 10 * (t - 1) END AS passes
FROM main JOIN setting USING (dataset) LEFT JOIN fastest f USING (dataset, kind)
WHERE coalesce(work_mem, '1GB') = '1GB'
ORDER BY dataset DESC, ord, main.bound, c;

\echo
\echo ---- speed: seconds and processor seconds of a call, the fastest of three, which took turns
SELECT f.dataset, f.work_mem, title(f.kind) AS method, round(f.seconds::numeric, 2) AS seconds,
	round((f.seconds / d.seconds)::numeric, 2) AS "times dpne", round(f.processor::numeric, 2) AS processor,
	round((f.processor / d.processor)::numeric, 2) AS "times dpne", round(f.mb) AS "peak MB"
FROM fastest f JOIN fastest d USING (dataset, work_mem) JOIN kind ON kind.kind = f.kind
WHERE d.kind = 'dpne' ORDER BY dataset DESC, work_mem DESC, ord;

\echo
\echo ---- a tenth of the users, mean of :runs runs; eps 1 on git, of 2
SELECT dataset, epsilon AS eps, title(kind) AS method, c, amount(mean, sd, runs) AS total, lengths AS "by length"
FROM calls JOIN kind USING (kind)
WHERE dataset LIKE '%tenth' OR (dataset, epsilon, t, eta, pruning) = ('git', 1, 9, 0.01, 'both') AND runs > 1
ORDER BY dataset DESC, ord, c;

\echo
\echo ---- T: total of 1 run (mean of :runs where T is that of the table above)
SELECT title(kind) || ', ' || calls.dataset AS method, 'T ' || calls.t AS t, amount(mean)
FROM calls JOIN setting s ON (s.dataset, s.epsilon, s.bound) = (calls.dataset, calls.epsilon, calls.bound) JOIN kind USING (kind)
WHERE calls.dataset IN ('msnbc', 'git') AND kind IN ('dpne', 'balanced', 'adaptive') AND c = 1 AND eta = 0.01 AND pruning = 'both'
ORDER BY calls.dataset DESC, ord, calls.t
\crosstabview method t amount

\echo
\echo ---- 50,000 users of ten random words; the same with one word common to all: n-grams released in each of 2 runs
SELECT dataset, title(kind) AS method, array_to_string(array_agg(released ORDER BY run), ' ') AS released
FROM (SELECT dataset, kind, run, sum(released) AS released FROM outcome WHERE dataset LIKE 'noise%' GROUP BY 1, 2, 3) s
	JOIN kind USING (kind)
GROUP BY dataset, kind, ord ORDER BY dataset, ord;

\echo
\echo ---- n-grams by length (figure 1), dpsu-single with the whole budget at each length: mean of :runs runs, of dpsu-* one run
SELECT title(kind) || ', ' || dataset AS method, n, amount(mean)
FROM plain JOIN kind USING (kind) WHERE n IS NOT NULL AND kind NOT LIKE '%forecast'
ORDER BY dataset DESC, ord, n
\crosstabview method n amount

\echo
\echo ---- both-side and single-side pruning (figure 4, left), single side 1 run
SELECT dataset, title(kind) AS method, pruning, amount(mean, sd, runs) AS total, lengths AS "by length"
FROM calls JOIN setting USING (dataset, epsilon, t, bound) JOIN kind USING (kind)
WHERE dataset IN ('msnbc', 'git') AND kind IN ('dpne', 'balanced', 'adaptive') AND c = 1 AND eta = 0.01
ORDER BY dataset DESC, ord, pruning;

\echo
\echo ---- the ratio c of the noise of one length to the next: by length, 1 run (figure 3, right)
SELECT dataset, title(kind) AS method, c, amount(mean) AS total, lengths AS "by length"
FROM calls JOIN setting USING (dataset, epsilon, t, bound) JOIN kind USING (kind)
WHERE dataset IN ('msnbc', 'git') AND kind IN ('dpne', 'ratio') AND pruning = 'both' AND eta = 0.01
	AND c IN (0.6, 0.8, 1, 1.2, 1.4, 1.6)
ORDER BY dataset DESC, ord, c;

\echo
\echo ---- coverage (figure 4, right): share of the n-grams used by at least K users that is released, T 9
SELECT title(kind) || ', ' || dataset || ', K = ' || least_users AS method, n, round(share::numeric, 3) AS share
FROM coverage JOIN kind USING (kind) WHERE least_users IN (10, 30, 100, 300, 1000)
ORDER BY dataset DESC, ord, least_users, n
\crosstabview method n share
\echo (n-grams of at least K users)
SELECT dataset || ', K = ' || least_users AS "data set", n, of
FROM coverage WHERE kind = 'dpne' AND least_users IN (10, 100, 1000) ORDER BY dataset DESC, least_users, n
\crosstabview "data set" n of
