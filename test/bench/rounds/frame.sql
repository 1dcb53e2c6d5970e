-- frame.sql: calls to be made, as rows of a table that several sessions work off.
--
-- Tables and plots ask for the calls that they need (plan.sql); what several ask for is
-- made once.  delta is 1e-7 and a tenth of it goes to the thresholds throughout.

-- A data set, and the column arguments of its calls.
CREATE TABLE dataset (
	dataset text PRIMARY KEY, relation regclass, user_col name, text_col name, max_tokens int);

-- A kind of call.  "unbounded" is dpne that bounds a user's n-grams of length 1 alone.
CREATE TABLE kind (
	ord int GENERATED ALWAYS AS IDENTITY, kind text PRIMARY KEY, method text, options jsonb, unbounded boolean);
INSERT INTO kind (kind, method, options, unbounded) VALUES
	('dpne', 'dpne', '{}', false),
	('dpne, unbounded', 'dpne', '{}', true),
	('balanced', 'dpne-mr', '{"schedule": "balanced"}', false),
	('adaptive', 'dpne-mr', '{"schedule": "adaptive"}', false),
	('balanced, forecast', 'dpne-mr', '{"schedule": "balanced", "spurious_of": "forecast"}', false),
	('adaptive, forecast', 'dpne-mr', '{"schedule": "adaptive", "spurious_of": "forecast"}', false),
	('ratio', 'dpne-mr', '{}', false),
	('dpsu-all', 'dpsu-all', '{}', false),
	('dpsu-even', 'dpsu-even', '{}', false),
	('dpsu-single', 'dpsu-single', '{}', false);

-- length is 0 but for dpsu-single; keep: the n-grams themselves are wanted, too.
CREATE TABLE job (
	id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	dataset text REFERENCES dataset, kind text REFERENCES kind, epsilon numeric, t int, bound int, eta numeric, c numeric,
	pruning text, length int, run int, keep boolean,
	UNIQUE (dataset, kind, epsilon, t, bound, eta, c, pruning, length, run));

CREATE TABLE yield (job int, n int, released bigint, PRIMARY KEY (job, n));
CREATE TABLE found (job int, n int, ngram text);

CREATE FUNCTION ask(dataset text, kind text, epsilon numeric, t int, bound int, runs int, eta numeric DEFAULT 0.01,
	c numeric DEFAULT 1, pruning text DEFAULT 'both', length int DEFAULT 0, keep boolean DEFAULT false)
RETURNS void LANGUAGE sql AS $$
	INSERT INTO job (dataset, kind, epsilon, t, bound, eta, c, pruning, length, run, keep)
	SELECT $1, $2, $3, $4, $5, $7, $8, $9, $10, run, $11 FROM generate_series(1, runs) AS run
	ON CONFLICT (dataset, kind, epsilon, t, bound, eta, c, pruning, length, run)
		DO UPDATE SET keep = job.keep OR EXCLUDED.keep
$$;

CREATE FUNCTION call_of(j job) RETURNS text LANGUAGE sql AS $$
	SELECT format('dp_ngrams(%L, %L, %L, %s, 1e-7, max_length => %s, method => %L, max_contributions => %s, '
			|| 'max_contributions_per_length => %L, spurious => %s, pruning => %L, noise_ratio => %s, length => %L, '
			|| 'max_tokens => %L, options => %L)',
		relation, user_col, text_col, j.epsilon, j.t, method, j.bound,
		CASE WHEN unbounded THEN j.bound || array_fill(NULL::int, ARRAY[j.t - 1]) END, j.eta, j.pruning,
		CASE WHEN j.kind = 'ratio' THEN 1 ELSE j.c END, nullif(j.length, 0), max_tokens,
		CASE WHEN j.kind = 'ratio' THEN jsonb_build_object('schedule', j.c) ELSE options END)
	FROM dataset, kind WHERE dataset.dataset = j.dataset AND kind.kind = j.kind
$$;

-- One of several workers' share.
CREATE PROCEDURE work_off_calls(worker int, workers int) LANGUAGE plpgsql AS $$
DECLARE
	j job;
BEGIN
	FOR j IN SELECT * FROM job WHERE id % workers = worker ORDER BY id LOOP
		EXECUTE format('WITH gram AS MATERIALIZED (SELECT n, ngram FROM %s), '
				|| 'kept AS (INSERT INTO found SELECT %s, n, ngram FROM gram WHERE %L) '
				|| 'INSERT INTO yield SELECT %2$s, n, count(*) FROM gram GROUP BY n',
			call_of(j), j.id, j.keep);
		COMMIT;
	END LOOP;
END $$;

-- Lengths of which nothing was released are there, with 0.
CREATE VIEW outcome AS
SELECT job.*, k AS n, coalesce(released, 0) AS released
FROM job CROSS JOIN LATERAL generate_series(greatest(length, 1), CASE length WHEN 0 THEN t ELSE length END) AS k
	LEFT JOIN yield ON yield.job = id AND n = k;

-- The runs of a call: mean and standard deviation, by length, and of the total (n is null).
CREATE VIEW mean AS
SELECT dataset, kind, epsilon, t, bound, eta, c, pruning, length, n, count(*) AS runs,
	avg(released)::float8 AS mean, coalesce(stddev_samp(released), 0)::float8 AS sd
FROM (SELECT dataset, kind, epsilon, t, bound, eta, c, pruning, length, run, n, released FROM outcome
		UNION ALL
		SELECT dataset, kind, epsilon, t, bound, eta, c, pruning, length, run, NULL, sum(released) FROM outcome
		GROUP BY dataset, kind, epsilon, t, bound, eta, c, pruning, length, run) s
GROUP BY dataset, kind, epsilon, t, bound, eta, c, pruning, length, n;
