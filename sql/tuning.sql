-- Private tuning: with next to no noise, the candidate is chosen that fits the users best
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
SET client_min_messages = error;
CREATE SCHEMA tuning;
CREATE TABLE tuning.public (ngram text, count bigint);
INSERT INTO tuning.public VALUES ('a b c', 900), ('b c d', 90), ('c d e', 9), ('x y z', 1);
-- those who write most what the public side has least, those who write all of it evenly, and a few of whom it is
-- best to believe what the public side says
CREATE TABLE tuning.unlike (u int, body text);
INSERT INTO tuning.unlike SELECT i, concat_ws(' . ', CASE WHEN i % 100 < 5 THEN 'a b c' END,
	CASE WHEN i % 100 < 20 THEN 'b c d' END, CASE WHEN i % 100 < 50 THEN 'c d e' END, 'x y z')
FROM generate_series(0, 3999) i;
CREATE TABLE tuning.even (u int, body text);
INSERT INTO tuning.even SELECT i, (ARRAY['a b c', 'b c d', 'c d e', 'x y z'])[i % 4 + 1]
FROM generate_series(0, 3999) i;
CREATE TABLE tuning.few (u int, body text);
INSERT INTO tuning.few SELECT i, 'a b c' FROM generate_series(1, 40) i;

-- What each of the 80 candidates costs the users: the paper's equations 1 to 5 in SQL, with C = 1, a constant
-- m0 = 0.7, and the counts that half of the users have.
CREATE FUNCTION tuning.costs(relation regclass) RETURNS TABLE (s float8, rho float8, cost float8)
LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format($query$
	WITH kind AS (SELECT body, count(*) AS users FROM %s GROUP BY body),
		has AS (SELECT ngram, body, users FROM tuning.public JOIN kind ON body LIKE '%%' || ngram || '%%'),
		side AS (SELECT p.ngram, ln(1 + p.count::float8) - avg(ln(1 + p.count::float8)) OVER () AS prior,
				0.5 * coalesce((SELECT sum(h.users) FROM has h WHERE h.ngram = p.ngram), 0)::float8 AS users
			FROM tuning.public p),
		candidate AS (SELECT 10.0::float8 ^ (i - 3) AS s, rho::float8
			FROM generate_series(0, 7) i, unnest('{0,.02,.05,.1,.2,.35,.5,.65,.8,.95}'::float8[]) rho),
		posterior AS (SELECT c.s, c.rho, ngram,
				c.rho * least(1, c.s * users) * (ln(1 + users) - 0.7) + (1 - c.rho) * prior AS eta
			FROM candidate c, side),
		theta AS (SELECT e.s, e.rho, ngram, eta - ln(sum(exp(eta)) OVER (PARTITION BY e.s, e.rho)) AS ln_theta
			FROM posterior e),
		each_kind AS (SELECT e.s, e.rho, h.body, h.users, least(-avg(ln_theta), ln(4) + 3) AS cost
			FROM theta e JOIN has h USING (ngram) GROUP BY 1, 2, 3, 4)
	SELECT k.s, k.rho, sum(k.users * k.cost) / sum(k.users) FROM each_kind k GROUP BY 1, 2$query$, relation);
END $$;

SELECT dp_protect(relation::regclass, 'u', 5000, 0.5, dataset => relation)
FROM unnest('{tuning.unlike,tuning.even,tuning.few}'::name[]) relation;
SELECT relation, count(*) AS ngrams, abs(sum(probability) - 1) < 1e-9 AS sums_to_1
FROM unnest('{tuning.unlike,tuning.even,tuning.few}'::text[]) relation,
	bayes_dp_dist(relation, 'u', 'body', 'tuning.public', 2000, 0.1, method => 'log-posterior', tune => true,
		options => '{"m0": 0.7, "train_share": 0.5}')
GROUP BY 1 ORDER BY 1;
-- As good as the best, but for the chance of who is in which half; and most are worse than that.
SELECT dataset, (used->>'rho')::float8 > 0.5 AS rather_private, chosen.cost < min_cost + 0.05 AS as_good_as_the_best,
	count(*) FILTER (WHERE c.cost > min_cost + 0.05) AS worse
FROM dpngram.releases r,
	LATERAL (SELECT min(t.cost) AS min_cost FROM tuning.costs(r.dataset) t) least,
	LATERAL (SELECT t.cost FROM tuning.costs(r.dataset) t
		WHERE abs(t.s / (used->>'s')::float8 - 1) < 1e-3 AND abs(t.rho - (used->>'rho')::float8) < 1e-3) chosen,
	tuning.costs(r.dataset) c
WHERE r.dataset LIKE 'tuning.%' AND r.mechanism = 'bayes_dp_dist'
GROUP BY dataset, used, chosen.cost, min_cost ORDER BY dataset;

-- gone
SELECT dp_unprotect('tuning.unlike'), dp_unprotect('tuning.even'), dp_unprotect('tuning.few');
SET client_min_messages = warning;
DROP SCHEMA tuning CASCADE;
