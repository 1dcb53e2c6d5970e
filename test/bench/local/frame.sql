-- frame.sql: collections to be made, as rows of a table that several sessions work off,
-- and how what they found is judged.
--
-- A collection of k terms is a ranking: its first rows are judged for every smaller k.

CREATE TABLE collection (
	id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	dataset text, method text, epsilon float8, k int, consistency boolean, run int);

CREATE TABLE found (collection int, rank int, term text, frequency float8, stddev float8);

-- What is asked of each method.  PEM and TreeHist search for k candidates, so they are
-- asked for 50, too.  RAPPOR can't be asked of more than the small population, and is told
-- that terms have 10 characters at most, as all but 4 of its 100 most frequent have.
CREATE FUNCTION plan_collections(runs int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO collection (dataset, method, epsilon, k, consistency, run)
	SELECT w.*, run
	FROM generate_series(1, runs) AS run, (
		SELECT dataset, method, epsilon, 100 AS k, true AS consistency
		FROM unnest('{reddit4585,reddit7,reddit,zipf}'::text[]) AS dataset,
			unnest('{privtrie,ibsl,bsl,pem,treehist,rappor}'::text[]) AS method,
			generate_series(1, 4) AS epsilon
		WHERE (method <> 'rappor' OR dataset = 'zipf') AND (dataset IN ('zipf', 'reddit') OR epsilon = 2)
		UNION ALL
		SELECT 'reddit', method, epsilon, 100, false
		FROM unnest('{privtrie,ibsl,bsl}'::text[]) AS method, generate_series(1, 4) AS epsilon
		UNION ALL
		SELECT 'reddit', method, 2, 50, true FROM unnest('{pem,treehist}'::text[]) AS method) w
	ORDER BY dataset, method, epsilon, k, consistency, run
$$;

-- One of several workers' share.
CREATE PROCEDURE collect(worker int, workers int) LANGUAGE plpgsql AS $$
DECLARE
	c collection;
BEGIN
	FOR c IN SELECT * FROM collection WHERE id % workers = worker ORDER BY id LOOP
		INSERT INTO found
		SELECT c.id, t.rank, t.term, t.frequency, t.stddev
		FROM ldp_frequent_terms(c.dataset::regclass, 'id', 'term', c.epsilon, c.k, c.method,
				consistency => c.consistency, max_length => CASE c.method WHEN 'rappor' THEN 10 ELSE 20 END)
			WITH ORDINALITY AS t (term, frequency, stddev, rank);
		COMMIT;
	END LOOP;
END $$;

-- What could be had at most, nearly: the 1,000 terms that most users have are known, and
-- every user answers about each of them, so that nothing has to be found.  An answer is
-- kept with probability 1/2 and made up with p (optimised unary encoding); the sums are
-- drawn by their normal approximation.
CREATE FUNCTION draw_given(runs int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM setseed(0.5);
	INSERT INTO collection (dataset, method, epsilon, k, consistency, run)
	SELECT dataset, 'given', epsilon, 100, false, run
	FROM (SELECT DISTINCT dataset, epsilon FROM collection) s, generate_series(1, runs) AS run
	ORDER BY dataset, epsilon, run;
	INSERT INTO found
	SELECT *
	FROM (SELECT id, row_number() OVER (PARTITION BY id ORDER BY estimate DESC) AS rank, term, estimate, sd
		FROM (SELECT c.id, t.term, sd,
				t.users + sd * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) AS estimate
			FROM collection c JOIN population p USING (dataset) JOIN truth t USING (dataset),
				LATERAL (SELECT 1 / (exp(epsilon) + 1) AS q) a,
				LATERAL (SELECT sqrt(t.users * 0.25 + (p.users - t.users) * q * (1 - q)) / (0.5 - q) AS sd) b
			WHERE c.method = 'given') s) ranking
	WHERE rank <= 100;
END $$;

-- F-score of a ranking's first k rows against the k terms that truly most users have;
-- ties in the truth are broken by the terms' bytes, as in frequent_terms_fscore().
CREATE MATERIALIZED VIEW judged AS
SELECT c.*, at, 2.0 * s.hits / (s.given + at) AS fscore
FROM collection c, generate_series(10, 100, 10) AS at,
	LATERAL (SELECT count(*) AS given, count(t.rank) AS hits
		FROM found f LEFT JOIN truth t ON t.dataset = c.dataset AND t.term = f.term AND t.rank <= at
		WHERE f.collection = c.id AND f.rank <= at) s
WHERE at <= c.k WITH NO DATA;

CREATE TABLE shown (method text PRIMARY KEY, ord int GENERATED ALWAYS AS IDENTITY);
INSERT INTO shown (method) VALUES ('privtrie'), ('ibsl'), ('bsl'), ('pem'), ('treehist'), ('rappor'), ('given');

-- Mean and standard deviation of the runs at each k (at), and of the mean over all k.
CREATE VIEW fscore AS
SELECT dataset, method, ord, epsilon, k, consistency, at, avg(fscore) AS mean,
	coalesce(stddev_samp(fscore), 0) AS sd, count(*) AS runs
FROM (SELECT dataset, method, epsilon, k, consistency, run, at, fscore FROM judged
		UNION ALL
		SELECT dataset, method, epsilon, k, consistency, run, NULL, avg(fscore) FROM judged GROUP BY 1, 2, 3, 4, 5, 6) s
	JOIN shown USING (method)
GROUP BY dataset, method, ord, epsilon, k, consistency, at;
