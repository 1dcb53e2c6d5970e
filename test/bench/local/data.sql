-- data.sql: who is asked for terms, and what the true answers are.
--
-- reddit is loaded: one term a user.  zipf are 100,000 users whose terms are drawn by a
-- Zipf law of exponent 1.1 over the same terms in the order of their frequency; a hash of
-- the user's number is the draw, so that everyone draws the same.  reddit7 is reddit with
-- every user seven times.

CREATE TABLE ranked AS
SELECT row_number() OVER (ORDER BY users DESC, term COLLATE "C") AS rank, term, users
FROM (SELECT term, count(*) AS users FROM reddit GROUP BY term) s;

CREATE TEMP TABLE law AS
SELECT term, sum(rank::float8 ^ -1.1) OVER (ORDER BY rank) AS upto FROM ranked;
CREATE INDEX ON law (upto) INCLUDE (term);
ANALYZE law;

CREATE TABLE zipf AS
SELECT id, drawn.term
FROM generate_series(1, 100000) AS id,
	LATERAL (SELECT ('x' || substr(md5('zipf ' || id), 1, 13))::bit(52)::bigint / 2 ^ 52 AS share) u,
	LATERAL (SELECT law.term FROM law
		WHERE upto >= share * (SELECT max(upto) FROM law) ORDER BY upto LIMIT 1) drawn;
ALTER TABLE zipf ADD PRIMARY KEY (id);

CREATE TABLE reddit7 AS
SELECT id + copy * 2000000 AS id, term FROM reddit, generate_series(0, 6) AS copy;
ALTER TABLE reddit7 ADD PRIMARY KEY (id);

VACUUM ANALYZE reddit;
VACUUM ANALYZE zipf;
VACUUM ANALYZE reddit7;

SELECT dp_protect(relation, 'id', 100000, 0, options => '{"public_user_count": true}')
FROM unnest('{reddit,zipf,reddit7}'::regclass[]) AS relation;

CREATE TABLE truth (dataset text, rank int, term text, users bigint, PRIMARY KEY (dataset, rank));
INSERT INTO truth
SELECT 'reddit', rank, term, users FROM ranked WHERE rank <= 1000
UNION ALL
SELECT 'reddit7', rank, term, 7 * users FROM ranked WHERE rank <= 1000
UNION ALL
SELECT 'zipf', * FROM (
	SELECT row_number() OVER (ORDER BY count(*) DESC, term COLLATE "C") AS rank, term, count(*)
	FROM zipf GROUP BY term ORDER BY rank LIMIT 1000) s;

CREATE TABLE population (ord int, dataset text PRIMARY KEY, users bigint);
INSERT INTO population
SELECT 1, 'reddit', count(*) FROM reddit
UNION ALL SELECT 2, 'reddit7', count(*) FROM reddit7
UNION ALL SELECT 3, 'zipf', count(*) FROM zipf;
