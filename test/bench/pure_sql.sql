-- pure_sql.sql: the level-by-level algorithm written in SQL alone, for speed only:
-- the noise is a Box-Muller draw from random() and protects nobody.
--
-- sigma and rho of level 1 are by default those of eps 1, delta 1e-7, T 6, Delta_0 10 at
-- threshold share 0.5; spurious n-grams are left out, which only helps it.  One row a user:
-- a user's documents are parted by a NULL token.

CREATE OR REPLACE FUNCTION pure_sql_noise(sigma float8) RETURNS float8
LANGUAGE sql VOLATILE AS
$$ SELECT sigma * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) $$;

-- z with P(N(0, 1) > z) = p, for p below 0.1: the tail's asymptotic series, iterated
CREATE OR REPLACE FUNCTION pure_sql_quantile(p float8) RETURNS float8
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	z float8 := sqrt(-2 * ln(p));
BEGIN
	FOR i IN 1 .. 30 LOOP
		z := sqrt(-2 * ln(p * z * sqrt(2 * pi()) / (1 - 1 / z ^ 2 + 3 / z ^ 4 - 15 / z ^ 6 + 52 / z ^ 8)));
	END LOOP;
	RETURN z;
END $$;

CREATE OR REPLACE FUNCTION pure_sql_dpne(relation regclass, user_col name, tokens_col name,
	max_length int, max_contributions int, max_tokens int DEFAULT 400, sigma float8 DEFAULT 11.7789,
	rho float8 DEFAULT 67.818) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	released bigint := 0;
	n bigint;
	candidates numeric;
	previous bigint;
BEGIN
	DROP TABLE IF EXISTS pos, kept, grams, last_level, last_kept;
	EXECUTE format('CREATE TEMP TABLE pos AS SELECT %1$I AS u, t.i, t.token::text AS gram, t.token::text AS token
		FROM %2$s, unnest(%3$I) WITH ORDINALITY t(token, i) WHERE cardinality(%3$I) <= %4$s', user_col, relation, tokens_col, max_tokens);
	FOR k IN 1 .. max_length LOOP
		CREATE TEMP TABLE grams AS
		WITH d AS (SELECT DISTINCT u, gram FROM pos WHERE gram IS NOT NULL),
		r AS (SELECT u, gram, row_number() OVER (PARTITION BY u ORDER BY random()) AS nth,
				count(*) OVER (PARTITION BY u) AS s FROM d)
		SELECT gram, sum(1 / sqrt(least(s, max_contributions))) AS weight
		FROM r WHERE nth <= max_contributions GROUP BY gram;
		CREATE TEMP TABLE kept AS
		SELECT gram, weight FROM (SELECT gram, weight + pure_sql_noise(sigma) AS weight FROM grams) s
		WHERE weight > rho;
		GET DIAGNOSTICS n = ROW_COUNT;
		released := released + n;
		EXIT WHEN k = max_length OR n = 0;
		-- |V_k+1|: pairs of grams that overlap in all but one word
		IF k = 1 THEN
			candidates := n * n::numeric;
		ELSE
			SELECT coalesce(sum(l.c * r.c), 0) INTO candidates
			FROM (SELECT regexp_replace(gram, '^[^ ]+ ', '') AS y, count(*) AS c FROM kept GROUP BY 1) l
			JOIN (SELECT regexp_replace(gram, ' [^ ]+$', '') AS y, count(*) AS c FROM kept GROUP BY 1) r USING (y);
		END IF;
		EXIT WHEN candidates = 0;
		rho := sigma * pure_sql_quantile(0.01 * least(1, n / candidates::float8));
		CREATE TEMP TABLE last_kept AS
		SELECT p.u, p.i, p.token, p.gram, kept.gram IS NOT NULL AS alive FROM pos p LEFT JOIN kept USING (gram);
		DROP TABLE pos;
		CREATE TEMP TABLE pos AS
		SELECT u, i, CASE WHEN alive AND lead(alive) OVER w THEN token || ' ' || lead(gram) OVER w END AS gram, token
		FROM last_kept WINDOW w AS (PARTITION BY u ORDER BY i);
		DROP TABLE last_kept, grams, kept;
	END LOOP;
	RETURN released;
END $$;
