-- data.sql: who is asked for terms, and what the true answers are.
--
-- reddit is loaded: one term a user.  zipf are 100,000 users whose terms are drawn by a
-- Zipf law of exponent 1.1 over the same terms in the order of their frequency; a hash of
-- the user's number is the draw, so that everyone draws the same.  reddit7 is reddit with
-- every user seven times.  reddit4585 has the paper's numbers, of users as well as of
-- terms: the users of the 4,585 most frequent terms, again and again up to 7,613,851.

CREATE TABLE ranked AS
SELECT row_number() OVER (ORDER BY users DESC, term COLLATE "C") AS rank, term, users
FROM (SELECT term, count(*) AS users FROM reddit GROUP BY term) s;
ANALYZE reddit, ranked;

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

CREATE TABLE reddit4585 AS
SELECT id + copy * 2000000 AS id, term
FROM reddit JOIN ranked USING (term), generate_series(0, 11) AS copy
WHERE rank <= 4585 ORDER BY copy, id LIMIT 7613851;
ALTER TABLE reddit4585 ADD PRIMARY KEY (id);

VACUUM ANALYZE zipf;
VACUUM ANALYZE reddit;
VACUUM ANALYZE reddit7;
VACUUM ANALYZE reddit4585;

SELECT dp_protect(relation, 'id', 100000, 0, options => '{"public_user_count": true}')
FROM unnest('{zipf,reddit,reddit7,reddit4585}'::regclass[]) AS relation;

CREATE TABLE population (ord int, dataset text PRIMARY KEY, users bigint, terms bigint);
CREATE TABLE truth (dataset text, rank int, term text, users bigint, PRIMARY KEY (dataset, rank));

-- What is true of a data set: its users, its terms, the 1,000 terms that most users have.
CREATE FUNCTION look_up(number int, dataset regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TEMP TABLE counted AS SELECT term, count(*) AS users FROM %s GROUP BY term', dataset);
	INSERT INTO population SELECT number, dataset::text, sum(users), count(*) FROM counted;
	INSERT INTO truth
	SELECT dataset::text, row_number() OVER (ORDER BY users DESC, term COLLATE "C") AS rank, term, users
	FROM counted ORDER BY rank LIMIT 1000;
	DROP TABLE counted;
END $$;

SELECT look_up(1, 'zipf'), look_up(2, 'reddit'), look_up(3, 'reddit7'), look_up(4, 'reddit4585');
