-- What the reader makes of relations: which rows, in which order, as whom.

-- rows of one user come together; NULL users, NULL and empty texts are skipped
CREATE TABLE notes (who text, note text);
INSERT INTO notes VALUES ('b', 'x y'), ('a', 'k l'), ('b', 'z'), ('c', NULL), (NULL, 'm'),
	('d', ''), ('e', ' '), ('a', 'o');
SELECT user_number, place, token FROM read_test_corpus('notes', 'who', 'note')
	ORDER BY user_number, place;

-- a document longer than max_tokens is dropped whole, a user without any is not there
SELECT user_number, place, token FROM read_test_corpus('notes', 'who', 'note', max_tokens => 1)
	ORDER BY user_number, place;
CREATE TABLE sequences (who int, ids int[]);
INSERT INTO sequences VALUES (1, '{1,2,NULL,NULL,3}'), (1, '{NULL,4,NULL}'), (2, '{NULL}'),
	(3, '{5,6,7,8}'), (4, '{NULL,NULL,5,NULL,6,7}');
SELECT user_number, string_agg(coalesce(token, '|'), ' ' ORDER BY place)
	FROM read_test_corpus('sequences', 'who', 'ids', max_tokens => 3) GROUP BY 1 ORDER BY 1;
SELECT * FROM read_test_measure('sequences', 'who', 'ids', max_tokens => 2147483647);
SELECT * FROM read_test_measure('sequences', 'who', 'ids');

-- users are equal as their type says, and equal users have one hash
CREATE TABLE numerics (who numeric, note text);
INSERT INTO numerics SELECT w, 'x' FROM unnest('{1,1.0,1.00,NaN,NaN,-0.0,0}'::numeric[]) w;
SELECT count(*), count(DISTINCT user_hash) FROM
	(SELECT DISTINCT user_number, user_hash FROM read_test_corpus('numerics', 'who', 'note')) u;
CREATE TABLE floats (who float8, note text);
INSERT INTO floats SELECT w, 'x' FROM unnest('{0,-0,NaN,NaN,1,Infinity}'::float8[]) w;
SELECT * FROM read_test_measure('floats', 'who', 'note');
CREATE TABLE padded (who char(4), note text);
INSERT INTO padded VALUES ('a', 'x'), ('a   ', 'x'), ('b', 'x');
SELECT * FROM read_test_measure('padded', 'who', 'note');
CREATE TYPE pair AS (a int, b text);
CREATE TABLE pairs (who pair, note text);
INSERT INTO pairs VALUES ((1, NULL), 'x'), ((1, NULL), 'x'), ((NULL, NULL), 'x'), ((1, 'b'), 'x'), (NULL, 'x');
SELECT * FROM read_test_measure('pairs', 'who', 'note');
CREATE TABLE moneys (who money, note text);	-- ordered, but not hashed
INSERT INTO moneys VALUES (1, 'x'), (1, 'x'), (2, 'x');
SELECT count(*), count(DISTINCT user_hash) FROM
	(SELECT DISTINCT user_number, user_hash FROM read_test_corpus('moneys', 'who', 'note')) u;
CREATE TABLE arrays (who text[], note text);
INSERT INTO arrays VALUES ('{a,b}', 'x'), ('{a,b}', 'x'), ('{a}', 'x');
SELECT * FROM read_test_measure('arrays', 'who', 'note');
CREATE DOMAIN person AS varchar(300);
CREATE TABLE domains (who person, note text);
INSERT INTO domains SELECT repeat(chr(96 + i % 3), 250), 'x' FROM generate_series(1, 9) i;
SELECT * FROM read_test_measure('domains', 'who', 'note');
CREATE TABLE longs (who text, note text);	-- toasted users
INSERT INTO longs SELECT (SELECT string_agg(md5((i % 2 + j * 10)::text), '') FROM generate_series(1, 200) j), 'x'
	FROM generate_series(1, 6) i;
SELECT * FROM read_test_measure('longs', 'who', 'note');
-- one column may be both; names of any kind; dropped columns
SELECT * FROM read_test_measure('notes', 'who', 'who');
CREATE SCHEMA "a ""b"" c";
CREATE TABLE "a ""b"" c"."Select; r" (gone int, "r" text, "no te""s" text);
ALTER TABLE "a ""b"" c"."Select; r" DROP COLUMN gone;
INSERT INTO "a ""b"" c"."Select; r" VALUES ('u', 'x y');
SELECT * FROM read_test_measure('"a ""b"" c"."Select; r"', 'r', 'no te"s');

-- every kind of relation
CREATE VIEW view_notes AS SELECT upper(who) AS who, note FROM notes WHERE note <> 'z';
SELECT * FROM read_test_measure('view_notes', 'who', 'note');
CREATE MATERIALIZED VIEW kept_notes AS SELECT * FROM notes;
SELECT * FROM read_test_measure('kept_notes', 'who', 'note');
CREATE TABLE parted (who int, note text) PARTITION BY HASH (note);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT i % 10, 'word' || i FROM generate_series(1, 100) i;
SELECT * FROM read_test_measure('parted', 'who', 'note');
CREATE TABLE more_notes () INHERITS (notes);
INSERT INTO more_notes VALUES ('a', 'inherited');
SELECT * FROM read_test_measure('notes', 'who', 'note');
DROP TABLE more_notes;

-- a parallel plan gives the same
CREATE TABLE many (who int, note text);
INSERT INTO many SELECT i % 1000, 'w' || i % 7 || ' w' || i FROM generate_series(1, 20000) i;
ANALYZE many;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM read_test_measure('many', 'who', 'note');
SET max_parallel_workers_per_gather = 0;
SELECT * FROM read_test_measure('many', 'who', 'note');
RESET ALL;

-- ---- as whom, and under which settings ----
SET client_min_messages = warning;
CREATE ROLE regress_read_owner;
CREATE ROLE regress_read_analyst;
RESET client_min_messages;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO regress_read_analyst;
CREATE SCHEMA owned AUTHORIZATION regress_read_owner;
GRANT USAGE ON SCHEMA owned TO regress_read_analyst;

SET ROLE regress_read_owner;
CREATE TABLE owned.notes (who text, note text);
INSERT INTO owned.notes VALUES ('a', 'Red'), ('b', 'Blue');
CREATE FUNCTION owned.leave() RETURNS text LANGUAGE plpgsql AS
$$ BEGIN CREATE TEMP TABLE left_behind (a int); RETURN 'x'; END $$;
CREATE VIEW owned.leaving AS SELECT 'u' AS who, owned.leave() AS note;
CREATE VIEW owned.failing AS SELECT who, (1 / (length(note) - 3))::text AS note FROM owned.notes;

SET ROLE regress_read_analyst;
-- the analyst needs no privilege on the relation, and has none
SELECT * FROM owned.notes;
SELECT user_number, place, token FROM read_test_corpus('owned.notes', 'who', 'note');
-- the owner's function can't leave anything in the analyst's session
\set SHOW_CONTEXT never
SELECT * FROM read_test_corpus('owned.leaving', 'who', 'note');

-- an error within a subtransaction restores the role
DO $$
BEGIN
	PERFORM * FROM read_test_corpus('owned.failing', 'who', 'note');
EXCEPTION WHEN division_by_zero THEN
	RAISE INFO 'caught; user %', current_user;
END $$;

-- row-level security: the owner is subject to it only where it is forced
SET ROLE regress_read_owner;
ALTER TABLE owned.notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY one ON owned.notes USING (who = 'a');
SET ROLE regress_read_analyst;
SELECT users FROM read_test_measure('owned.notes', 'who', 'note');
SET ROLE regress_read_owner;
ALTER TABLE owned.notes FORCE ROW LEVEL SECURITY;
SET ROLE regress_read_analyst;
SELECT users FROM read_test_measure('owned.notes', 'who', 'note');
RESET ROLE;

-- the read sees what the calling statement sees
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT users FROM read_test_measure('notes', 'who', 'note');
INSERT INTO notes VALUES ('z', 'new');
SELECT users FROM read_test_measure('notes', 'who', 'note');
ROLLBACK;
WITH new AS (INSERT INTO notes VALUES ('z', 'new') RETURNING 1)
	SELECT users FROM read_test_measure('notes', 'who', 'note'), new;
DELETE FROM notes WHERE who = 'z';

-- users that don't arrive in order are an error: an index whose order has changed
CREATE TYPE shaky;
SET client_min_messages = warning;
CREATE FUNCTION shaky_in(cstring) RETURNS shaky LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION shaky_out(shaky) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE shaky (INPUT = shaky_in, OUTPUT = shaky_out, LIKE = int4);
CREATE CAST (shaky AS int4) WITHOUT FUNCTION;
RESET client_min_messages;
CREATE FUNCTION shaky_cmp(shaky, shaky) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS
	'SELECT pg_catalog.btint4cmp($1::pg_catalog.int4, $2::pg_catalog.int4)';
CREATE FUNCTION shaky_lt(shaky, shaky) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4lt';
CREATE FUNCTION shaky_le(shaky, shaky) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4le';
CREATE FUNCTION shaky_eq(shaky, shaky) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4eq';
CREATE FUNCTION shaky_ge(shaky, shaky) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4ge';
CREATE FUNCTION shaky_gt(shaky, shaky) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'int4gt';
CREATE OPERATOR < (LEFTARG = shaky, RIGHTARG = shaky, FUNCTION = shaky_lt);
CREATE OPERATOR <= (LEFTARG = shaky, RIGHTARG = shaky, FUNCTION = shaky_le);
CREATE OPERATOR = (LEFTARG = shaky, RIGHTARG = shaky, FUNCTION = shaky_eq);
CREATE OPERATOR >= (LEFTARG = shaky, RIGHTARG = shaky, FUNCTION = shaky_ge);
CREATE OPERATOR > (LEFTARG = shaky, RIGHTARG = shaky, FUNCTION = shaky_gt);
CREATE OPERATOR CLASS shaky_ops DEFAULT FOR TYPE shaky USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 shaky_cmp(shaky, shaky);
CREATE TABLE disordered (who shaky, note text);
INSERT INTO disordered VALUES ('1', 'x'), ('2', 'x'), ('1', 'x');
CREATE INDEX ON disordered (who);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
SELECT users FROM read_test_measure('disordered', 'who', 'note');
CREATE OR REPLACE FUNCTION shaky_cmp(shaky, shaky) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS
	'SELECT pg_catalog.btint4cmp($2::pg_catalog.int4, $1::pg_catalog.int4)';
SELECT users FROM read_test_measure('disordered', 'who', 'note');
RESET ALL;

SET client_min_messages = warning;
DROP TABLE notes, sequences, numerics, floats, padded, pairs, moneys, arrays, domains, longs,
	parted, many, disordered CASCADE;
DROP TYPE pair, shaky CASCADE;
DROP DOMAIN person;
DROP SCHEMA "a ""b"" c" CASCADE;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM regress_read_analyst;
DROP OWNED BY regress_read_owner, regress_read_analyst CASCADE;
DROP ROLE regress_read_owner, regress_read_analyst;
