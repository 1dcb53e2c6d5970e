-- msnbc.sql: trigrams of MSNBC page visits; 1 % of the visitors are public, the others
-- private.  Visitors with more than 400 pages are dropped, as in the DPNE paper.
--
-- A session of fewer than three pages has no trigram and can't move any release: such
-- visitors count as users, but are not read again and again.

CREATE TABLE msnbc_public AS SELECT * FROM msnbc WHERE visitor % 100 = 0 AND cardinality(pages) <= 400;
CREATE TABLE msnbc_order AS
SELECT visitor, pages, row_number() OVER (ORDER BY hashint4(visitor), visitor) AS place
FROM msnbc WHERE visitor % 100 <> 0 AND cardinality(pages) <= 400;
SELECT count(*) AS msnbc_users FROM msnbc_order \gset

CREATE TABLE msnbc_occurrences AS SELECT * FROM dp_public_ngrams('msnbc_public', 'pages', 3);
CREATE TABLE msnbc_users AS SELECT * FROM dp_public_ngrams('msnbc_public', 'pages', 3, user_col => 'visitor');

-- By the number of users
CREATE TABLE msnbc_size AS
SELECT users, 'msnbc_' || users AS relation
FROM unnest(ARRAY[10000, 30000, 100000, 300000, :msnbc_users]) AS users;
DO $$
DECLARE r msnbc_size;
BEGIN
	FOR r IN SELECT * FROM msnbc_size LOOP
		EXECUTE format('CREATE TABLE %I AS SELECT visitor, pages FROM msnbc_order
			WHERE place <= %s AND cardinality(pages) >= 3', r.relation, r.users);
		EXECUTE format('ANALYZE %I', r.relation);
		PERFORM dp_protect(r.relation::regclass, 'visitor', 1e5, 1e-2, options => '{"min_epsilon": 0}');
		EXECUTE format('CREATE TABLE %s_counts AS SELECT * FROM private_counts(%L, ''visitor'', ''pages'', 3)',
			r.relation, r.relation);
	END LOOP;
END $$;

SELECT add_case('msnbc_o', 'msnbc', 'occurrences', 'msnbc_' || :msnbc_users, 'visitor', 'pages', 3,
	:msnbc_users, 'msnbc_' || :msnbc_users || '_counts', 'msnbc_occurrences');
SELECT add_case('msnbc_u' || users, 'msnbc', 'users', relation, 'visitor', 'pages', 3, users,
	relation || '_counts', 'msnbc_users') FROM msnbc_size;

-- By the size of the vocabulary: the most frequent public trigrams
DO $$
BEGIN
	FOR i IN 1 .. 3 LOOP
		EXECUTE format('CREATE TABLE msnbc_v%s AS SELECT ngram, count FROM msnbc_users
			ORDER BY count DESC, ngram LIMIT %1$s', ('{100,300,1000}'::int[])[i]);
	END LOOP;
END $$;
SELECT add_case('msnbc_v' || v, 'msnbc', 'users', 'msnbc_' || :msnbc_users, 'visitor', 'pages', 3,
	:msnbc_users, 'msnbc_' || :msnbc_users || '_counts', 'msnbc_v' || v) FROM unnest('{100,300,1000}'::int[]) AS v;

-- By the quality of the public counts: Laplace noise of growing scale, not below one
SELECT setseed(0.1);
DO $$
BEGIN
	FOR i IN 1 .. 4 LOOP
		EXECUTE format('CREATE TABLE msnbc_q%s AS
			SELECT ngram, greatest(1, round(count + %1$s * sign(u) * ln(1 - abs(u))))::bigint AS count
			FROM (SELECT ngram, count, 2 * random() - 1 AS u FROM (SELECT * FROM msnbc_users ORDER BY ngram) o) s',
			('{3,10,30,100}'::int[])[i]);
	END LOOP;
END $$;
SELECT add_case('msnbc_q' || scale, 'msnbc', 'users', 'msnbc_' || :msnbc_users, 'visitor', 'pages', 3,
	:msnbc_users, 'msnbc_' || :msnbc_users || '_counts', 'msnbc_q' || scale) FROM unnest('{3,10,30,100}'::int[]) AS scale;

INSERT INTO point SELECT 'epsilon', id, e, e FROM unnest(ARRAY['msnbc_o', 'msnbc_u' || :msnbc_users]) AS id,
	unnest('{0.01,0.03,0.1,0.3,1,3,10}'::float8[]) AS e;
INSERT INTO point SELECT 'users', 'msnbc_u' || users, users, 0.1 FROM msnbc_size;
INSERT INTO point SELECT 'vocabulary', 'msnbc_v' || v, v, 0.1 FROM unnest('{100,300,1000}'::int[]) AS v;
INSERT INTO point SELECT 'vocabulary', 'msnbc_u' || :msnbc_users, count(*), 0.1 FROM msnbc_users;
INSERT INTO point SELECT 'public', 'msnbc_q' || q, q, 0.1 FROM unnest('{3,10,30,100}'::int[]) AS q;
INSERT INTO point SELECT 'public', 'msnbc_u' || :msnbc_users, 0, 0.1;
