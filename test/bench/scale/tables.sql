-- tables.sql: what scale.sh has measured, as tables.
\pset footer off

\echo
\echo '---- the floor: one pass that reads, tokenises and interns (the quickest of three passes each, one process)'
WITH stages AS (SELECT dataset, stage, min(seconds) AS seconds FROM read_time GROUP BY 1, 2),
parts AS (
	SELECT dataset, max(seconds) FILTER (WHERE stage = 'query') AS query, max(seconds) FILTER (WHERE stage = 'tokens') AS cut,
		max(seconds) FILTER (WHERE stage = 'words') AS words, max(seconds) FILTER (WHERE stage = 'documents') AS documents,
		max(seconds) FILTER (WHERE stage = 'corpus') AS corpus
	FROM stages GROUP BY 1)
SELECT p.dataset, x.part, round(x.seconds::numeric, 3) AS seconds, round((x.seconds * 1e9 / t.tokens)::numeric, 1) AS "ns a token"
FROM parts p JOIN dataset_tokens t USING (dataset), LATERAL (VALUES
	(1, 'read: the query alone', query), (2, 'tokenise', cut - query), (3, 'intern', words - cut), (4, 'floor', words),
	(5, 'store documents', documents - words), (6, 'group by user', corpus - documents), (7, 'all of reading', corpus)) x(place, part, seconds)
ORDER BY p.dataset DESC, x.place;

\echo '---- where the time goes (one process, work_mem 1 GB, the clock on)'
SELECT dataset, method, CASE WHEN level = 0 THEN '' ELSE level::text END AS level,
	CASE WHEN round > 0 AND phase = 'round' THEN count(*) || ' rounds' ELSE phase END AS phase,
	round(sum(seconds)::numeric, 3) AS seconds,
	round((100 * sum(seconds) / sum(sum(seconds)) OVER (PARTITION BY dataset, method))::numeric, 1) AS "%",
	CASE WHEN level > 0 THEN max(p.tokens) END AS "live tokens",
	CASE WHEN level > 0 AND max(p.tokens) > 0 THEN round((sum(seconds) * 1e9 / max(p.tokens))::numeric, 1) END AS "ns a live token"
FROM phase_time p GROUP BY dataset, method, level, phase, round > 0
HAVING sum(seconds) >= 0.0005 ORDER BY dataset DESC, method, min(place);

\echo '---- by phase'
SELECT dataset, method, CASE WHEN level = 0 AND phase ~ '^read' THEN 'read, tokenise, intern, store'
	WHEN level = 0 THEN phase WHEN phase IN ('noise', 'spurious') THEN phase ELSE 'count, level ' || level END AS part,
	round(sum(seconds)::numeric, 3) AS seconds,
	round((100 * sum(seconds) / sum(sum(seconds)) OVER (PARTITION BY dataset, method))::numeric, 1) AS "%"
FROM phase_time GROUP BY 1, 2, 3 ORDER BY dataset DESC, method, min(place);

\echo '---- whole calls: one process (the quickest of three) beside the floor'
WITH f AS (
	SELECT dataset, min(seconds) FILTER (WHERE stage = 'words') AS floor, min(seconds) FILTER (WHERE stage = 'corpus') AS reading
	FROM read_time GROUP BY 1),
w AS (
	SELECT dataset, method, workers, work_mem, min(seconds) AS seconds, max(contexts_mb) AS contexts, max(pages_mb) AS pages,
		max(temp_mb) AS temp, round(avg(rows)) AS rows
	FROM whole_call WHERE copies = 1 AND dataset IN ('msnbc', 'git') GROUP BY 1, 2, 3, 4)
SELECT w.dataset, w.method, w.work_mem, w.workers + 1 AS processes, round(w.seconds::numeric, 2) AS seconds,
	round((w.seconds / f.floor)::numeric, 2) AS "times the floor", round((w.seconds / f.reading)::numeric, 2) AS "times all of reading", round(w.contexts) AS "MB by contexts", round(w.pages) AS "MB by kernel",
	round(w.temp) AS "temp MB", w.rows
FROM w LEFT JOIN f USING (dataset) ORDER BY w.dataset DESC, w.method, w.work_mem, w.workers;

\echo '---- growth: git commits, one process, work_mem' :limit 'and hash_mem_multiplier 1'
WITH g AS (
	SELECT method, copies, min(seconds) AS seconds, min(processor) AS processor, max(contexts_mb) AS contexts, max(pages_mb) AS pages,
		max(temp_mb) AS temp, max(rows) AS rows
	FROM whole_call WHERE dataset = 'growth' GROUP BY 1, 2)
SELECT method, copies, round(copies * t.tokens / 1e6, 1) AS "M tokens", round(seconds::numeric, 2) AS seconds,
	round((seconds * 1e9 / (copies * t.tokens))::numeric) AS "ns a token",
	round((seconds / copies / first_value(seconds / copies) OVER (PARTITION BY method ORDER BY copies))::numeric, 2) AS "to the first",
	round(contexts) AS "MB by contexts", round(pages) AS "MB by kernel", round(temp) AS "temp MB", rows
FROM g, dataset_tokens t WHERE t.dataset = 'git' ORDER BY method, copies;

\echo '---- a hundred million tokens and more in 256 MB, one process'
SELECT method, round(copies * t.tokens / 1e6, 1) AS "M tokens", round((seconds / 60)::numeric, 2) AS minutes, round(contexts_mb) AS "MB by contexts",
	round(pages_mb) AS "MB by kernel", round(temp_mb) AS "temp MB", rows
FROM whole_call, dataset_tokens t WHERE whole_call.dataset = 'large' AND t.dataset = 'git' ORDER BY method;

\echo '---- two processes beside one (git commits, work_mem 256 MB; by turns, the quickest of each)'
WITH p AS (SELECT method, copies, workers, min(seconds) AS seconds, max(pages_mb) AS pages FROM whole_call WHERE dataset = 'pair' GROUP BY 1, 2, 3)
SELECT a.method, a.copies, round(a.copies * t.tokens / 1e6, 1) AS "M tokens", round(a.seconds::numeric, 2) AS one, round(b.seconds::numeric, 2) AS two,
	round((a.seconds / b.seconds)::numeric, 2) AS "times as fast", round(a.pages) AS "MB, one", round(b.pages) AS "MB, both"
FROM p a JOIN p b ON (a.method, a.copies, a.workers, b.workers) = (b.method, b.copies, 0, 1), dataset_tokens t WHERE t.dataset = 'git'
ORDER BY 1, 2;
