-- 120,000 users whose ids are made to have one hash, as an attacker would, beside as many ordinary ones: the
-- former are sorted by the type's comparison, so a call takes little more time.
\set QUIET on
SET client_min_messages = error;
CREATE TABLE colliding AS SELECT (i::bigint << 32) | (i # 5) AS who, 'word' || i % 7 || ' ' || repeat('ab cd ef ', 10) AS what
FROM generate_series(1, 120000) i;
CREATE TABLE ordinary AS SELECT who # (who >> 20) AS who, what FROM colliding;
VACUUM ANALYZE colliding, ordinary;
SELECT count(DISTINCT hashint8extended(who, 0)) AS hashes, count(DISTINCT who) AS users FROM colliding;
SELECT count(DISTINCT hashint8extended(who, 0)) AS hashes, count(DISTINCT who) AS users FROM ordinary;
SELECT dp_protect(r, 'who', 1000, 1e-2) FROM unnest('{colliding,ordinary}'::regclass[]) r \g /dev/null

CREATE TEMP TABLE took (users text, seconds numeric);
CREATE PROCEDURE pg_temp.time_calls() LANGUAGE plpgsql AS $$
DECLARE
	relation text;
	start timestamptz;
BEGIN
	FOR round IN 1 .. 3 LOOP
		FOREACH relation IN ARRAY '{ordinary,colliding}'::text[] LOOP
			start := clock_timestamp();
			PERFORM count(*) FROM dp_ngrams(relation::regclass, 'who', 'what', 4, 1e-6, max_length => 2, method => 'dpne');
			INSERT INTO took VALUES (relation, extract(epoch FROM clock_timestamp() - start));
		END LOOP;
	END LOOP;
END $$;
CALL pg_temp.time_calls();
SELECT users, round(min(seconds), 2) AS least, round(max(seconds), 2) AS most,
	round(min(seconds) / (SELECT min(seconds) FROM took WHERE users = 'ordinary'), 2) AS "times ordinary"
FROM took GROUP BY 1 ORDER BY 2;
DROP TABLE colliding, ordinary;
