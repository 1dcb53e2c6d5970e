-- tables.sql: the divergences, printed, written for the plots, and held against what the
-- design promises.  :folder is where the plots' data go.

CREATE TABLE shown (ord int GENERATED ALWAYS AS IDENTITY, method text);
INSERT INTO shown (method) VALUES ('shrinkage'), ('shrinkage, delta 0'), ('log-posterior, tune'), ('log-posterior'),
	('laplace, best W'), ('laplace, W = users/1000'), ('laplace-public, best W'), ('laplace-public, W = 1'),
	('local-sensitivity, brute-force'), ('local-sensitivity, worst-case'), ('public prior');

CREATE VIEW cell AS
SELECT divergence.*, ord, digits(kl, kl) || CASE WHEN sd > 0 THEN ' ±' || digits(sd, kl) ELSE '' END AS value
FROM divergence JOIN shown USING (method);

-- One block for each method, which gnuplot finds by its name.
CREATE FUNCTION plot_data(of_figure text, of_corpus text, of_counting text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(block, E'\n\n\n' ORDER BY ord)
	FROM (SELECT ord, '# "' || method || E'"\n' || string_agg(x || ' ' || kl || ' ' || sd, E'\n' ORDER BY x) AS block
		FROM cell WHERE figure = of_figure AND corpus = of_corpus AND counting = of_counting
		GROUP BY ord, method) s $$;

\echo
\echo KL divergence from the private distribution, in nats: mean and standard deviation of the draws.
\echo Delta is 1e-6 for shrinkage, log-posterior and local-sensitivity, else 0.  Of a grid the best W, or S and rho, is
\echo chosen by the divergence itself, which no analyst could do.  local-sensitivity is NOT differentially private.

\set figure epsilon
\set corpus msnbc
\set counting occurrences
\ir figure.sql
\set counting users
\ir figure.sql
\set corpus git
\ir figure.sql
\set counting occurrences
\ir figure.sql
\set figure users
\set corpus msnbc
\set counting users
\ir figure.sql
\set figure vocabulary
\ir figure.sql
\set corpus git
\ir figure.sql
\set figure public
\set corpus msnbc
\ir figure.sql

\echo
\echo ---- the settings that were best, by epsilon
SELECT corpus || ', ' || counting || ': ' || method AS "of", x, setting FROM cell
WHERE figure = 'epsilon' AND method ~ 'best W|local' ORDER BY corpus DESC, counting, ord, x \crosstabview
