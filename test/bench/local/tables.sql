-- tables.sql: F-scores and counts, printed and written for the plots.  :folder is where
-- the plots' data go.

REFRESH MATERIALIZED VIEW judged;

CREATE FUNCTION share(v float8) RETURNS text LANGUAGE sql AS $$ SELECT to_char(v, 'FM990.00') $$;
CREATE FUNCTION share(mean float8, sd float8) RETURNS text LANGUAGE sql AS $$
	SELECT share(mean) || CASE WHEN sd >= 0.005 THEN ' ±' || share(sd) ELSE '' END $$;

-- One block for each method at each epsilon, which gnuplot finds by its name.
CREATE FUNCTION fscore_data(of_dataset text, asked boolean[]) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(block, E'\n\n\n' ORDER BY epsilon, ord, consistency DESC)
	FROM (SELECT epsilon, ord, consistency,
			format(E'# "%s%s, epsilon %s"\n', method, CASE WHEN NOT consistency AND method <> 'given' THEN ' without' END, epsilon)
				|| string_agg(at || ' ' || round(mean::numeric, 4) || ' ' || round(sd::numeric, 4), E'\n' ORDER BY at) AS block
		FROM fscore
		WHERE dataset = of_dataset AND k = 100 AND at IS NOT NULL AND (consistency = ANY (asked) OR method = 'given')
		GROUP BY epsilon, ord, method, consistency) s $$;

\echo
\echo ---- the data
SELECT dataset, p.users, p.terms, max(t.users) FILTER (WHERE rank = 10) AS "10th term", max(t.users) FILTER (WHERE rank = 50) AS "50th",
	max(t.users) FILTER (WHERE rank = 100) AS "100th"
FROM population p JOIN truth t USING (dataset) GROUP BY dataset, p.users, p.terms, ord ORDER BY ord;

\echo F-score of the first k terms of a ranking of 100 against the k terms that truly most users have, mean and standard
\echo deviation of the runs.  "given" is no method: the 1,000 terms that most users have are known, and every user answers
\echo about each of them.
\set dataset reddit
\ir fscores.sql
\set dataset zipf
\ir fscores.sql
\set dataset reddit7
\ir fscores.sql
\set dataset reddit4585
\ir fscores.sql

\echo
\echo ---- F-score at k = 50, epsilon 2, beside the number of users
SELECT method, format('%s: %s users, %s terms', dataset, users, terms) AS dataset, share(mean, sd) AS value
FROM fscore f JOIN population USING (dataset)
WHERE epsilon = 2 AND at = 50 AND k = 100 AND (consistency OR method = 'given') ORDER BY f.ord, population.ord
\crosstabview method dataset value

\echo
\echo ---- pem and treehist asked for 50 instead of 100, reddit, epsilon 2
SELECT method || ', k => ' || k AS call, at, share(mean, sd) AS value
FROM fscore WHERE dataset = 'reddit' AND method IN ('pem', 'treehist') AND epsilon = 2 AND at <= 50
ORDER BY method, k, at
\crosstabview call at value

\echo
\echo ---- consistency, reddit: mean over k, and at k = 50
SELECT method || CASE WHEN at IS NULL THEN ', mean' ELSE ', k = 50' END AS "of",
	'eps ' || epsilon || CASE WHEN consistency THEN '' ELSE ' off' END AS setting, share(mean, sd) AS value
FROM fscore WHERE dataset = 'reddit' AND method IN ('privtrie', 'ibsl', 'bsl') AND k = 100 AND (at IS NULL OR at = 50)
ORDER BY ord, at NULLS FIRST, epsilon, consistency DESC
\crosstabview of setting value

-- The first run of privtrie at epsilon 2, as an analyst sees it.
CREATE VIEW estimated AS
SELECT c.dataset, c.run, t.rank, t.term, t.users, f.frequency, f.stddev
FROM collection c JOIN truth t ON t.dataset = c.dataset AND t.rank <= 30
	LEFT JOIN found f ON f.collection = c.id AND f.term = t.term
WHERE method = 'privtrie' AND epsilon = 2 AND k = 100 AND consistency;

\echo
\echo ---- the 30 terms that most users have, and what one call of privtrie says of them (epsilon 2)
SELECT r.rank, r.term, r.users AS reddit, round(r.frequency) AS estimate, round(r.stddev) AS stddev,
	s.users AS reddit7, round(s.frequency) AS estimate, round(s.stddev) AS stddev
FROM estimated r JOIN estimated s USING (rank, run) WHERE r.dataset = 'reddit' AND s.dataset = 'reddit7' AND run = 1
ORDER BY rank;
SELECT dataset, count(frequency) || ' of ' || count(*) AS "found, all runs",
	share(avg((abs(frequency - users) <= stddev)::int) FILTER (WHERE frequency IS NOT NULL)) AS "within 1 stddev",
	share(avg((abs(frequency - users) <= 2 * stddev)::int) FILTER (WHERE frequency IS NOT NULL)) AS "within 2"
FROM estimated WHERE dataset IN ('reddit', 'reddit7') GROUP BY dataset ORDER BY dataset;

\t on
\pset format unaligned
\set file :folder '/terms_consistency.dat'
SELECT fscore_data('reddit', '{true,false}') \g :file
\set file :folder '/terms_counts.dat'
SELECT string_agg(block, E'\n\n\n' ORDER BY dataset)
FROM (SELECT dataset, '# "' || dataset || E'"\n' || string_agg(concat_ws(' ', rank, term, users,
		coalesce(round(frequency::numeric, 1)::text, '?'), coalesce(round(stddev::numeric, 1)::text, '?')), E'\n' ORDER BY rank) AS block
	FROM estimated WHERE run = 1 AND dataset IN ('reddit', 'reddit7') GROUP BY dataset) s \g :file
\pset format aligned
\t off
