-- files.sql: the data of the plots, into :folder.  A file has a block for each curve, which
-- gnuplot finds by its name: data set and method.

CREATE FUNCTION block(dataset text, kind text, more text, lines text[]) RETURNS text LANGUAGE sql AS $$
	SELECT format(E'# "%s, %s%s"\n%s', dataset, title(kind), more, array_to_string(lines, E'\n')) $$;

-- The calls that differ from the setting of the data set in no more than one thing.
CREATE VIEW point AS
SELECT m.dataset, kind, ord, m.n, mean, sd, m.epsilon, m.t, m.bound, eta, c, pruning,
	(m.epsilon <> s.epsilon)::int + (m.t <> s.t)::int + (m.bound <> s.bound)::int + (eta <> 0.01)::int + (c <> 1)::int
		+ (pruning <> 'both')::int AS off
FROM mean m JOIN setting s USING (dataset) JOIN kind USING (kind)
WHERE dataset IN ('msnbc', 'git') AND kind NOT LIKE '%forecast' AND kind <> 'dpne, unbounded';

\t on
\pset format unaligned

\set file :folder '/rounds_lengths.dat'
SELECT string_agg(block, E'\n\n\n' ORDER BY dataset DESC, ord)
FROM (SELECT dataset, ord, block(dataset, kind, '', array_agg(concat_ws(' ', n, round(mean::numeric, 1), round(sd::numeric, 1)) ORDER BY n))
	FROM point WHERE off = 0 AND n IS NOT NULL AND kind <> 'ratio' GROUP BY dataset, ord, kind) s \g :file

\set file :folder '/rounds_pruning.dat'
SELECT string_agg(block, E'\n\n\n' ORDER BY dataset DESC, ord, pruning)
FROM (SELECT dataset, ord, pruning, block(dataset, kind, ', ' || pruning,
		array_agg(concat_ws(' ', n, round(mean::numeric, 1), round(sd::numeric, 1)) ORDER BY n))
	FROM point WHERE off - (pruning <> 'both')::int = 0 AND n IS NOT NULL AND kind IN ('dpne', 'balanced', 'adaptive')
	GROUP BY dataset, ord, kind, pruning) s \g :file

-- Totals against one parameter: the value on the axis, the mean, the standard deviation.
CREATE FUNCTION totals(parameter text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(block, E'\n\n\n' ORDER BY dataset DESC, ord)
	FROM (SELECT dataset, ord, block(dataset, kind, '', array_agg(concat_ws(' ', x, round(mean::numeric, 1), round(sd::numeric, 1)) ORDER BY x))
		FROM (SELECT p.*, CASE parameter WHEN 'bound' THEN p.bound WHEN 'epsilon' THEN p.epsilon WHEN 'eta' THEN eta WHEN 'c' THEN c ELSE p.t END AS x,
				off - CASE parameter WHEN 'bound' THEN (p.bound <> s.bound)::int WHEN 'epsilon' THEN (p.epsilon <> s.epsilon)::int
					WHEN 'eta' THEN (eta <> 0.01)::int WHEN 'c' THEN (c <> 1)::int ELSE (p.t <> s.t)::int END AS others
			FROM point p JOIN setting s USING (dataset)) v
		WHERE n IS NULL AND others = 0 AND kind <> 'dpsu-single' AND (kind <> 'ratio' OR parameter = 'c')
		GROUP BY dataset, ord, kind HAVING count(*) > 1 OR parameter = 'c') s
$$;
\set file :folder '/rounds_bound.dat'
SELECT totals('bound') \g :file
\set file :folder '/rounds_epsilon.dat'
SELECT totals('epsilon') \g :file
\set file :folder '/rounds_eta.dat'
SELECT totals('eta') \g :file
\set file :folder '/rounds_c.dat'
SELECT totals('c') \g :file
\set file :folder '/rounds_t.dat'
SELECT totals('t') \g :file

\set file :folder '/rounds_coverage.dat'
SELECT string_agg(block, E'\n\n\n' ORDER BY dataset DESC, ord, n)
FROM (SELECT dataset, ord, n, block(dataset, kind, ', length ' || n,
		array_agg(concat_ws(' ', least_users, round(share::numeric, 4), of) ORDER BY least_users))
	FROM coverage JOIN kind USING (kind) GROUP BY dataset, ord, kind, n) s \g :file

-- What k-anonymity would publish: the n-grams of so many users.
\set file :folder '/rounds_kanonymity.dat'
SELECT string_agg(block, E'\n\n\n' ORDER BY dataset DESC, least_users)
FROM (SELECT dataset, least_users, format(E'# "%s, K = %s"\n%s', dataset, least_users, string_agg(n || ' ' || of, E'\n' ORDER BY n)) AS block
	FROM coverage WHERE kind = 'dpne' AND least_users IN (30, 100) GROUP BY dataset, least_users) s \g :file

\pset format aligned
\t off
