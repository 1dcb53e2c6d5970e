-- truth.sql: how many users have an n-gram: all n-grams of 10 users at least, and all that
-- a call named, with 0 users where nobody wrote it.
--
-- An n-gram is looked for only where both of the n-grams that it is made of stand, one
-- length shorter: what 10 users have is made of what 10 users have, and dpne with pruning
-- of both sides releases no n-gram but of released ones.  kanon_ngrams knows the same, but
-- looks at all n-grams of all lengths, which takes many times as long on the commits.

SET work_mem = '2GB'; -- not all of which is taken

CREATE TABLE truth (dataset text, n int, ngram text, users bigint);

-- Temporary tables: spot(usr, place, token) is the text, a place being one more than that
-- of the token before; pair(usr, place, a, b) are the places where a k-gram may begin
-- whose first k - 1 tokens are gram a and whose last k - 1 are gram b.
CREATE PROCEDURE count_users(of_dataset text) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE wanted AS
	SELECT DISTINCT n, ngram FROM found JOIN job ON job.id = job WHERE dataset = of_dataset;
	CREATE TEMP TABLE gram AS
	SELECT row_number() OVER ()::int AS id, token AS ngram, token AS last FROM (SELECT DISTINCT token FROM spot) s;
	ANALYZE wanted, gram;
	CREATE TEMP TABLE pair AS
	SELECT usr, place, id AS a, 0 AS b FROM spot JOIN gram ON ngram = token;
	FOR k IN 1 .. 9 LOOP
		ANALYZE pair;
		CREATE TEMP TABLE longer AS
		SELECT row_number() OVER ()::int AS id, s.*
		FROM (SELECT a, b, users, concat_ws(' ', ga.ngram, gb.last) AS ngram, coalesce(gb.last, ga.last) AS last
			FROM (SELECT a, b, count(*) AS users FROM (SELECT DISTINCT a, b, usr FROM pair) d GROUP BY a, b) c
				JOIN gram ga ON ga.id = a LEFT JOIN gram gb ON gb.id = b) s
			LEFT JOIN wanted w ON w.n = k AND w.ngram = s.ngram
		WHERE users >= 10 OR w.n IS NOT NULL;
		INSERT INTO truth SELECT of_dataset, k, ngram, users FROM longer;
		ANALYZE longer;
		CREATE TEMP TABLE next_pair AS
		SELECT usr, place, id AS a, next AS b
		FROM (SELECT usr, place, id, lead(id) OVER w AS next, lead(place) OVER w AS next_place
			FROM pair JOIN longer USING (a, b) WINDOW w AS (ORDER BY place)) s
		WHERE next_place = place + 1;
		DROP TABLE gram, pair;
		CREATE TEMP TABLE gram AS SELECT id, ngram, last FROM longer;
		ALTER TABLE next_pair RENAME TO pair;
		DROP TABLE longer;
	END LOOP;
	INSERT INTO truth
	SELECT of_dataset, n, ngram, 0 FROM wanted
	EXCEPT SELECT dataset, n, ngram, 0 FROM truth;
	DROP TABLE wanted, gram, pair, spot;
END $$;

CREATE TEMP TABLE spot AS
SELECT visitor AS usr, (visitor::bigint << 20) + at AS place, page::text AS token
FROM msnbc, unnest(pages) WITH ORDINALITY AS p (page, at) WHERE cardinality(pages) <= 400;
CALL count_users('msnbc');

CREATE TEMP TABLE spot AS
SELECT usr, (doc << 20) + at AS place, token
FROM (SELECT author, message, row_number() OVER () AS doc FROM git_commits) g
	JOIN (SELECT author, row_number() OVER ()::int AS usr FROM (SELECT DISTINCT author FROM git_commits) d) u USING (author),
	ngrams(message, 1) WITH ORDINALITY AS t (token, at);
CALL count_users('git');

CREATE INDEX ON truth (dataset, n, ngram);
ANALYZE truth;
