-- Documents that come in any order are grouped by user: the corpus is what reading in the
-- order of users makes, whatever the memory.

-- A corpus as one line a user, the user's documents in the order of their bytes.
CREATE FUNCTION line_of(line text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT string_agg(btrim(d), ' | ' ORDER BY btrim(d) COLLATE "C") FROM string_to_table(line, '|') d WHERE d <> ' ' AND d <> '' $$;
CREATE FUNCTION ordered(relation regclass, text_type text DEFAULT 'word', max_tokens int DEFAULT 0) RETURNS SETOF text
LANGUAGE sql AS
$$ SELECT user_hash || ': ' || line_of(string_agg(coalesce(token, '|'), ' ' ORDER BY place))
	FROM read_test_corpus(relation, 'who', 'note', text_type, max_tokens) GROUP BY user_number, user_hash $$;
CREATE FUNCTION grouped(relation regclass, memory bigint, paired boolean, words bigint, text_type text DEFAULT 'word',
	max_tokens int DEFAULT 0) RETURNS SETOF text
LANGUAGE sql AS
$$ SELECT user_hash || ': ' || line_of(string_agg(coalesce(token, '|'), ' ' ORDER BY place))
	FROM read_test_grouped(relation, 'who', 'note', text_type, max_tokens, memory, paired, words) GROUP BY user_number, user_hash $$;
-- How many users the order of users gives, and how many others every other way, within memory
-- and not, with a full vocabulary, with none and with one that some words find no room in.
CREATE FUNCTION compare(relation regclass, text_type text DEFAULT 'word', max_tokens int DEFAULT 0,
	OUT users bigint, OUT missing bigint, OUT too_many bigint)
LANGUAGE plpgsql AS $$
DECLARE way record; a bigint; b bigint;
BEGIN
	missing = 0; too_many = 0;
	CREATE TEMP TABLE reference AS SELECT * FROM ordered(relation, text_type, max_tokens) line;
	SELECT count(*) FROM reference INTO users;
	FOR way IN VALUES (0, false, 0), (4096, true, -1), (32768, false, 6000), (32768, true, 18000), (1048576, false, -1),
		(1048576, true, 100000), (100000000, false, -1)
	LOOP
		CREATE TEMP TABLE other AS SELECT * FROM grouped(relation, way.column1, way.column2, way.column3, text_type, max_tokens) line;
		SELECT count(*) FROM (TABLE reference EXCEPT ALL TABLE other) r INTO a;
		SELECT count(*) FROM (TABLE other EXCEPT ALL TABLE reference) r INTO b;
		missing = missing + a; too_many = too_many + b;
		DROP TABLE other;
	END LOOP;
	DROP TABLE reference;
END $$;

-- rows of each user far apart, of many lengths, in an order that is nobody's
CREATE TABLE mixed (who text, note text);
INSERT INTO mixed SELECT 'user' || (i * 7919) % 1009,
	(SELECT string_agg(CASE WHEN j % 3 = 0 THEN 'lengthyword' ELSE 'w' END || (i * j) % 97, ' ') FROM generate_series(1, 1 + i % 17) j) FROM generate_series(1, 5000) i;
SELECT * FROM compare('mixed');
SELECT * FROM compare('mixed', max_tokens => 9);
CREATE TABLE numbers AS SELECT (i * 7919) % 1009 AS who, ARRAY[i % 7, NULL, i % 5, NULL, NULL, i % 3] AS note
	FROM generate_series(1, 3000) i;
SELECT * FROM compare('numbers');
CREATE TABLE ids AS SELECT md5(who)::uuid AS who, note FROM mixed WHERE length(note) < 40;
SELECT * FROM compare('ids');
-- what the limits do: files, words without ids, and with them more elements
SELECT * FROM read_test_build('mixed', 'who', 'note', 'word', 0, 100000000, false, -1);
SELECT users, elements > 60000 AS more, ids BETWEEN 50 AND 150 AS some_ids, corpus_spilled, words_spilled
	FROM read_test_build('mixed', 'who', 'note', 'word', 0, 32768, false, 18000);
SELECT users, ids, corpus_spilled, words_spilled FROM read_test_build('mixed', 'who', 'note', 'word', 0, 0, true, 0);
-- grouped already, and one document a user
CREATE TABLE sorted AS SELECT * FROM mixed ORDER BY who, note;
SELECT * FROM compare('sorted');
CREATE TABLE singles AS SELECT i AS who, 'w' || i % 10 AS note FROM generate_series(1, 3000) i;
SELECT * FROM compare('singles');
-- nothing, and nobody
CREATE TABLE empty (who text, note text);
SELECT * FROM compare('empty');
INSERT INTO empty VALUES (NULL, 'x'), ('a', NULL), ('b', ''), ('c', '. !');
SELECT * FROM compare('empty');

-- a user who has almost everything, and long documents
CREATE TABLE huge (who text, note text);
INSERT INTO huge SELECT CASE WHEN i % 50 = 0 THEN 'u' || i % 13 ELSE 'much' END,
	(SELECT string_agg('w' || (i + j) % 300, ' ') FROM generate_series(1, 40) j) FROM generate_series(1, 6000) i;
INSERT INTO huge SELECT 'long' || i, repeat('many words ', 60000) FROM generate_series(1, 2) i;
SELECT * FROM compare('huge');

-- equal values of different bytes are one user
CREATE TABLE numerics (who numeric, note text);
INSERT INTO numerics SELECT ((i % 40) || CASE i % 3 WHEN 0 THEN '' WHEN 1 THEN '.0' ELSE '.000' END)::numeric, 'w' || i
	FROM generate_series(1, 6000) i;
SELECT * FROM compare('numerics');
CREATE TABLE floats (who float8, note text);
INSERT INTO floats SELECT CASE i % 5 WHEN 0 THEN 0.0 WHEN 1 THEN '-0' WHEN 2 THEN 'NaN' ELSE i % 7 END, 'w' || i
	FROM generate_series(1, 4000) i;
SELECT * FROM compare('floats');
CREATE TABLE padded (who char(4), note text);
INSERT INTO padded SELECT i % 10, 'w' || i FROM generate_series(1, 100) i;
SELECT * FROM compare('padded');
CREATE TYPE pair AS (a int, b text);
CREATE TABLE pairs (who pair, note text);
INSERT INTO pairs SELECT (nullif(i % 4, 0), nullif('b' || i % 3, 'b1'))::pair, 'w' || i FROM generate_series(1, 3000) i;
INSERT INTO pairs VALUES ((NULL, NULL), 'nobody'), (NULL, 'x');
SELECT * FROM compare('pairs');
CREATE TABLE lists (who text[], note text);
INSERT INTO lists SELECT ARRAY['a' || i % 5, repeat('b', i % 3 * 1000)], 'w' || i FROM generate_series(1, 3000) i;
SELECT * FROM compare('lists');
CREATE TABLE longs (who text, note text); -- toasted users
INSERT INTO longs SELECT (SELECT string_agg(md5((i % 4 + j * 10)::text), '') FROM generate_series(1, 200) j), 'w' || i
	FROM generate_series(1, 200) i;
SELECT * FROM compare('longs');
CREATE DOMAIN person AS varchar(300);
CREATE TABLE persons (who person, note text);
INSERT INTO persons SELECT repeat(chr(96 + i % 3), 250), 'w' || i FROM generate_series(1, 2000) i;
SELECT * FROM compare('persons');
-- a type that is ordered but not hashed: hash 0, and still told apart
CREATE TABLE moneys (who money, note text);
INSERT INTO moneys SELECT i % 300, 'w' || i FROM generate_series(1, 6000) i;
SELECT * FROM compare('moneys');
-- a type whose hash function goes by bytes also where the collation finds them equal
CREATE COLLATION nobody_minds (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE names (who name COLLATE nobody_minds, note text);
INSERT INTO names SELECT CASE i % 2 WHEN 0 THEN 'user ' ELSE 'USER ' END || i / 2 % 50, 'w' || i FROM generate_series(1, 3000) i;
SELECT count(DISTINCT user_number) FROM read_test_grouped('names', 'who', 'note', 'word', 0, 100000000, false, -1);
SELECT * FROM compare('names');

-- Users whose hashes collide are not merged: a type whose hash knows four values.  Its
-- comparison finds 10 to 19 equal, and so on; it runs as the owner.
CREATE TYPE clumsy;
SET client_min_messages = warning;
CREATE FUNCTION clumsy_in(cstring) RETURNS clumsy LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION clumsy_out(clumsy) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE clumsy (INPUT = clumsy_in, OUTPUT = clumsy_out, LIKE = int4);
RESET client_min_messages;
CREATE CAST (clumsy AS int4) WITHOUT FUNCTION;
CREATE CAST (int4 AS clumsy) WITHOUT FUNCTION;
CREATE TABLE seen (who text);
CREATE FUNCTION clumsy_cmp(clumsy, clumsy) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT AS
$$ BEGIN RETURN btint4cmp($1::int4 / 10, $2::int4 / 10); END $$;
CREATE FUNCTION clumsy_lt(clumsy, clumsy) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT public.clumsy_cmp($1, $2) < 0';
CREATE FUNCTION clumsy_le(clumsy, clumsy) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT public.clumsy_cmp($1, $2) <= 0';
CREATE FUNCTION clumsy_eq(clumsy, clumsy) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT public.clumsy_cmp($1, $2) = 0';
CREATE FUNCTION clumsy_ge(clumsy, clumsy) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT public.clumsy_cmp($1, $2) >= 0';
CREATE FUNCTION clumsy_gt(clumsy, clumsy) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT public.clumsy_cmp($1, $2) > 0';
CREATE FUNCTION clumsy_hash(clumsy) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1::int4 / 10 % 4';
CREATE FUNCTION clumsy_hash_extended(clumsy, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS 'SELECT ($1::int4 / 10 % 4)::bigint';
CREATE OPERATOR < (LEFTARG = clumsy, RIGHTARG = clumsy, FUNCTION = clumsy_lt);
CREATE OPERATOR <= (LEFTARG = clumsy, RIGHTARG = clumsy, FUNCTION = clumsy_le);
CREATE OPERATOR = (LEFTARG = clumsy, RIGHTARG = clumsy, FUNCTION = clumsy_eq, HASHES, MERGES, COMMUTATOR = =);
CREATE OPERATOR >= (LEFTARG = clumsy, RIGHTARG = clumsy, FUNCTION = clumsy_ge);
CREATE OPERATOR > (LEFTARG = clumsy, RIGHTARG = clumsy, FUNCTION = clumsy_gt);
CREATE OPERATOR CLASS clumsy_ops DEFAULT FOR TYPE clumsy USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 clumsy_cmp(clumsy, clumsy);
CREATE OPERATOR CLASS clumsy_hash_ops DEFAULT FOR TYPE clumsy USING hash AS
	OPERATOR 1 =, FUNCTION 1 clumsy_hash(clumsy), FUNCTION 2 clumsy_hash_extended(clumsy, bigint);
CREATE TABLE clumsies (who clumsy, note text);
INSERT INTO clumsies SELECT ((i * 7919) % 230)::clumsy, 'w' || i || repeat(' longer', 60) FROM generate_series(1, 1500) i;
SELECT count(DISTINCT who), count(DISTINCT who::int4) FROM clumsies;
SELECT * FROM compare('clumsies');
-- a hash function that goes with another equality than the order: it parts equal users, so it is not used
DROP OPERATOR FAMILY clumsy_hash_ops USING hash;
CREATE FUNCTION clumsy_same(clumsy, clumsy) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4eq';
CREATE FUNCTION clumsy_hash_same(clumsy) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'hashint4';
CREATE FUNCTION clumsy_hash_same_extended(clumsy, bigint) RETURNS bigint LANGUAGE internal IMMUTABLE STRICT AS 'hashint4extended';
CREATE OPERATOR === (LEFTARG = clumsy, RIGHTARG = clumsy, FUNCTION = clumsy_same, HASHES, COMMUTATOR = ===);
CREATE OPERATOR CLASS clumsy_hash_ops DEFAULT FOR TYPE clumsy USING hash AS
	OPERATOR 1 ===, FUNCTION 1 clumsy_hash_same(clumsy), FUNCTION 2 clumsy_hash_same_extended(clumsy, bigint);
\c -
SELECT count(DISTINCT user_number) FROM read_test_grouped('clumsies', 'who', 'note', 'word', 0, 100000000, false, -1);
SELECT * FROM compare('clumsies');
SET client_min_messages = warning;
CREATE ROLE regress_group_owner;
RESET client_min_messages;
GRANT ALL ON seen TO regress_group_owner;
ALTER TABLE clumsies OWNER TO regress_group_owner;
CREATE OR REPLACE FUNCTION clumsy_cmp(clumsy, clumsy) RETURNS int LANGUAGE plpgsql VOLATILE STRICT AS
$$ BEGIN INSERT INTO public.seen VALUES (current_user); RETURN btint4cmp($1::int4 / 10, $2::int4 / 10); END $$;
SELECT count(*) FROM read_test_grouped('clumsies', 'who', 'note', 'word', 0, 100000000, false, -1) WHERE token IS NULL;
SELECT DISTINCT * FROM seen;

SET client_min_messages = warning;
DROP TABLE mixed, numbers, ids, sorted, singles, empty, huge, numerics, floats, padded, pairs, lists, longs, persons, moneys,
	names, clumsies, seen;
DROP COLLATION nobody_minds;
DROP TYPE pair;
DROP TYPE clumsy CASCADE;
DROP DOMAIN person;
DROP FUNCTION compare, ordered, grouped, line_of;
DROP ROLE regress_group_owner;
