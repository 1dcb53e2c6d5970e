-- frame.sql: releases to be made and judged, as rows of a table that several sessions
-- work off, so that every figure comes from the same few lines.
--
-- Of a grid (W of the Laplace baselines, S of local-sensitivity) every point is drawn
-- once; the best is then drawn as often as the methods without a grid.

-- What is released: a relation's n-grams over a vocabulary, and what they are judged by.
CREATE TABLE bench_case (
	id text PRIMARY KEY,
	corpus text,
	counting text,
	relation text,     -- private, protected
	user_col text,
	text_col text,
	n int,
	users bigint,      -- of the corpus, those without any n-gram included
	vocabulary text,   -- the public side: ngram, count
	truth text);       -- ngram, p (private), prior (public), count (public)

CREATE TABLE public_prior (case_id text PRIMARY KEY, kl float8);

CREATE TABLE point (figure text, case_id text REFERENCES bench_case, x float8, epsilon float8);

CREATE TABLE job (
	id int GENERATED ALWAYS AS IDENTITY,
	case_id text, epsilon float8, method text, setting text,
	arguments text, delta float8, draw int);

CREATE TABLE result (
	case_id text, epsilon float8, method text, setting text, rho float8, draw int, kl float8);

CREATE FUNCTION private_counts(relation text, user_col text, text_col text, n int)
	RETURNS TABLE (ngram text, occurrences bigint, users bigint) LANGUAGE plpgsql
	SET work_mem = '256MB' AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT g, sum(c)::bigint, count(*)
		FROM (SELECT %2$I, g, count(*) AS c FROM %1$s, ngrams(%3$I, %4$s) AS g GROUP BY 1, 2) s
		GROUP BY g', relation, user_col, text_col, n);
END $$;

-- A case whose private counts stand in a table and whose public counts in another.
CREATE FUNCTION add_case(id text, corpus text, counting text, relation text, user_col text, text_col text,
	n int, users bigint, counts text, vocabulary text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO bench_case VALUES (id, corpus, counting, relation, user_col, text_col, n, users,
		vocabulary, 'truth_' || id);
	EXECUTE format('CREATE TABLE truth_%s AS
		SELECT ngram, c / sum(c) OVER () AS p, count::float8 / sum(count) OVER () AS prior, count
		FROM (SELECT ngram, coalesce(t.%s, 0)::float8 AS c, v.count
			FROM %s v LEFT JOIN %s t USING (ngram)) s', id, counting, vocabulary, counts);
	EXECUTE format('INSERT INTO public_prior SELECT %L, kl_divergence(p, prior) FROM truth_%s', id, id);
END $$;

-- The releases of one case at one epsilon.  "paper" is the paper's W, users / 1000.
CREATE FUNCTION wanted_releases(paper bigint, draws int)
	RETURNS TABLE (method text, setting text, arguments text, delta float8, draw int) LANGUAGE sql AS $$
	SELECT method, setting, arguments, delta, draw
	FROM (VALUES
		('shrinkage', '', '', 1e-6),
		('shrinkage, delta 0', '', '', 0),
		('log-posterior', '', $a$, method => 'log-posterior'$a$, 1e-6),
		('log-posterior, tune', '', $a$, method => 'log-posterior', tune => true$a$, 1e-6),
		('laplace, W = users/1000', 'W = ' || paper,
			format($a$, method => 'laplace', max_contributions => %s$a$, paper), 0),
		('laplace-public, W = 1', 'W = 1', $a$, method => 'laplace-public', max_contributions => 1$a$, 0))
		AS fixed (method, setting, arguments, delta), generate_series(1, draws) AS draw
	UNION ALL
	SELECT method || ', best W', 'W = ' || w,
		format($a$, method => %L, max_contributions => %s$a$, method, w), 0, 1
	FROM unnest('{laplace,laplace-public}'::text[]) AS method, unnest('{1,2,5,10,20,50}'::int[]) AS w
	UNION ALL
	-- S of 1 and more is never best (with C = 1 it is all the same); rho: see run_job
	SELECT 'local-sensitivity, ' || sensitivity, 'S = ' || s,
		format($a$, method => 'local-sensitivity', sensitivity => %L, max_contributions => %s,
			options => '{"s": %s, "rho": 1}'$a$, sensitivity, greatest(paper, 1), s), 1e-6, 1
	FROM unnest('{brute-force,worst-case}'::text[]) AS sensitivity, unnest('{0.001,0.01,0.1}'::float8[]) AS s
$$;

-- Shrinkage of few users is drawn ten times as often: it is fast, and rare draws matter.
CREATE FUNCTION plan_jobs(draws int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO job (case_id, epsilon, method, setting, arguments, delta, draw)
	SELECT case_id, epsilon, w.*
	FROM (SELECT DISTINCT case_id, epsilon FROM point) p JOIN bench_case c ON c.id = case_id,
		wanted_releases(greatest(c.users / 1000, 1), 10 * draws) w
	WHERE (draw <= draws OR (method LIKE 'shrinkage%' AND corpus = 'msnbc' AND users <= 100000))
		AND NOT (case_id LIKE 'msnbc_q%' AND method LIKE 'laplace, %') -- has no public side
	ORDER BY method, setting, case_id, epsilon, draw
$$;

-- The further draws of the best of each grid.
CREATE FUNCTION plan_best(draws int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO job (case_id, epsilon, method, setting, arguments, delta, draw)
	SELECT case_id, epsilon, method, setting, arguments, delta, d
	FROM (SELECT DISTINCT ON (case_id, epsilon, method) case_id, epsilon, method, setting FROM result
		WHERE method ~ 'best|local' ORDER BY case_id, epsilon, method, kl) best
		JOIN job USING (case_id, epsilon, method, setting), generate_series(2, draws) AS d
	ORDER BY method, setting, case_id, epsilon, d
$$;

-- One release and its divergence.  The printed posterior at rho = 1 holds that of every
-- rho: eta(rho) = rho eta(1) + (1 - rho) log(alpha + 1), equations 2 to 4, noise included.
CREATE FUNCTION run_job(j job) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c bench_case;
	released text;
BEGIN
	SELECT * INTO STRICT c FROM bench_case WHERE id = j.case_id;
	released := format('bayes_dp_dist(%L, %L, %L, %L, %s, %s, %s, counting => %L%s) d JOIN %s t USING (ngram)',
		c.relation, c.user_col, c.text_col, c.vocabulary, j.epsilon, j.delta, c.n, c.counting, j.arguments, c.truth);
	IF j.method LIKE 'local-sensitivity%' THEN
		EXECUTE format('INSERT INTO result
			WITH d AS MATERIALIZED (SELECT p, ln(probability) AS l, ln(count + 1.0::float8) AS m FROM %s)
			SELECT $1, $2, $3, $4, rho, $5, kl
			FROM unnest(''{0.02,0.05,0.1,0.2,0.35,0.5,0.65,0.8,0.95}''::float8[]) AS rho, LATERAL (
				SELECT sum(CASE WHEN p > 0 THEN p * (ln(p) - rho * l - (1 - rho) * m) END)
					+ ln(sum(exp(rho * l + (1 - rho) * m))) FROM d) s (kl)', released)
			USING j.case_id, j.epsilon, j.method, j.setting, j.draw;
	ELSE
		EXECUTE format('INSERT INTO result
			SELECT $1, $2, $3, $4, NULL, $5, kl_divergence(p, probability) FROM %s', released)
			USING j.case_id, j.epsilon, j.method, j.setting, j.draw;
	END IF;
END $$;

-- What of the jobs after "first" one of several workers does.
CREATE PROCEDURE work_off(first int, worker int, workers int) LANGUAGE plpgsql AS $$
DECLARE
	j job;
BEGIN
	FOR j IN SELECT * FROM job WHERE id > first AND id % workers = worker ORDER BY id LOOP
		PERFORM run_job(j);
		COMMIT;
	END LOOP;
END $$;

-- Mean and standard deviation of each method at each point, its best setting where it has
-- a grid; the public prior, which has no noise, beside.
CREATE VIEW divergence AS
WITH each AS (
	SELECT case_id, epsilon, method, setting, rho, avg(kl) AS kl, coalesce(stddev_samp(kl), 0) AS sd,
		max(kl) AS worst, count(*) AS draws
	FROM result GROUP BY case_id, epsilon, method, setting, rho),
best AS (
	SELECT DISTINCT ON (case_id, epsilon, method) *
	FROM each ORDER BY case_id, epsilon, method, draws DESC, kl)
SELECT figure, corpus, counting, x, epsilon, method, concat_ws(', ', nullif(setting, ''), 'rho = ' || rho) AS setting,
	kl, sd, worst
FROM point JOIN bench_case ON id = case_id JOIN best USING (case_id, epsilon)
UNION ALL
SELECT figure, corpus, counting, x, epsilon, 'public prior', '', prior.kl, 0, prior.kl
FROM point JOIN bench_case ON id = case_id JOIN public_prior prior USING (case_id);

-- A number with as many decimals as a mean deserves: two above one, five below 0.01
CREATE FUNCTION digits(v float8, mean float8) RETURNS text LANGUAGE sql AS $$
	SELECT to_char(v, CASE WHEN mean >= 1 THEN 'FM999990.00' WHEN mean >= 0.01 THEN 'FM0.0000' ELSE 'FM0.00000' END) $$;
