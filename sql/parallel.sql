-- dp_ngrams with parallel workers: the rows are those of the session alone, for users and texts of many types
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
CREATE SCHEMA pl;
SET min_parallel_table_scan_size = 0;
SET dpngram.test_seed = 11;
SET client_min_messages = error;

-- Calls with 0 to 3 workers, by both methods and prunings, in memory and beyond: how many results
-- differ from that of the session alone, and whether that has rows.
CREATE FUNCTION pl.compare(relation text, words text, tokenizer text DEFAULT 'word', options text DEFAULT '')
RETURNS TABLE (calls bigint, others bigint, rows boolean) LANGUAGE plpgsql AS $$
DECLARE
	method text;
	memory text;
	workers int;
	result text;
	alone text;
BEGIN
	calls := 0;
	others := 0;
	rows := true;
	FOREACH method IN ARRAY '{"''dpne''","''dpne-mr''","''dpne'', pruning => ''single''","''dpne-mr'', pruning => ''single''"}'::text[] LOOP
		FOREACH memory IN ARRAY '{64MB,64kB}'::text[] LOOP
			PERFORM set_config('work_mem', memory, true);
			FOREACH workers IN ARRAY CASE memory WHEN '64MB' THEN '{0,1,3}'::int[] ELSE '{2}' END LOOP
				PERFORM set_config('dpngram.max_parallel_workers', workers::text, true);
				EXECUTE format('SELECT string_agg(r::text, '','') FROM dp_ngrams(%L, ''who'', %L, 4, 1e-6,
					max_length => 4, tokenizer => %L, method => %s %s) r', relation, words, tokenizer, method, options)
					INTO result;
				IF calls % 4 = 0 THEN
					alone := result;
				END IF;
				calls := calls + 1;
				others := others + (result IS DISTINCT FROM alone)::int;
				rows := rows AND length(result) > 1000;
			END LOOP;
		END LOOP;
	END LOOP;
	RETURN NEXT;
END $$;

-- texts of 300 users: few words, many words, none; words of all scripts; long ones, out of line
CREATE TABLE pl.texts AS
SELECT i % 301 AS n, i, CASE i % 7
	WHEN 0 THEN (SELECT string_agg('w' || (i * j) % 31, ' ') FROM generate_series(1, 1 + i % 20) j)
	WHEN 1 THEN 'größe Ελλάδα слово 日本 w' || i % 5
	WHEN 2 THEN ''
	WHEN 3 THEN (SELECT string_agg('w' || (i + j * j) % 17, ', ') FROM generate_series(1, 12) j)
	WHEN 4 THEN NULL
	ELSE 'the same phrase for all of them w' || i % 3 END AS what
FROM generate_series(1, 2100) i;
UPDATE pl.texts SET what = repeat(what || ' ', 400) WHERE i % 50 = 0;
UPDATE pl.texts SET what = repeat('a text that is longer than a message and a queue ', 40000) WHERE i = 1500;
ALTER TABLE pl.texts ADD stored text;
ALTER TABLE pl.texts ALTER stored SET STORAGE EXTERNAL;
UPDATE pl.texts SET stored = what;

-- users of types that are passed by value, of a fixed length, and of any
CREATE COLLATION pl.nobody_minds (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT format('CREATE TYPE pl.mood AS ENUM (%s)', string_agg(quote_literal('m' || i), ',')) FROM generate_series(0, 300) i \gexec
CREATE DOMAIN pl.short AS smallint;
CREATE TABLE pl.ints AS SELECT n AS who, what, stored FROM pl.texts;
CREATE TABLE pl.shorts AS SELECT n::pl.short AS who, what FROM pl.texts;
CREATE TABLE pl.names AS SELECT ('user ' || n) AS who, what FROM pl.texts;
CREATE TABLE pl.uuids AS SELECT md5(n::text)::uuid AS who, what FROM pl.texts;
-- equal values of different bytes are one user
CREATE TABLE pl.numerics AS SELECT CASE i % 2 WHEN 0 THEN n::numeric(9, 2) ELSE n::numeric END AS who, what FROM pl.texts;
CREATE TABLE pl.folded AS SELECT (CASE i % 2 WHEN 0 THEN 'user ' ELSE 'USER ' END || n) COLLATE pl.nobody_minds AS who, what FROM pl.texts;
CREATE TABLE pl.padded AS SELECT n::char(8) AS who, what FROM pl.texts;
CREATE TABLE pl.moods AS SELECT ('m' || n)::pl.mood AS who, what FROM pl.texts;
CREATE TABLE pl.pairs AS SELECT ARRAY[n, n % 3] AS who, what FROM pl.texts;
-- a type without a hash function
CREATE TABLE pl.moneys AS SELECT n::money AS who, what FROM pl.texts;
-- texts of other types
CREATE TABLE pl.arrays AS SELECT n AS who, string_to_array(what, ' ') AS what, ARRAY[i % 3, i % 4, NULL, i % 5, i % 3] AS numbers,
	i % 40 AS number, what::varchar AS long, (i % 40)::text::name AS name FROM pl.texts;
ANALYZE;

SELECT count(dp_protect(r::regclass, 'who', 10000, 1e-2, options => '{"min_epsilon": 0}')) FROM unnest('{pl.ints,pl.shorts,pl.names,pl.uuids,pl.numerics,pl.folded,
	pl.padded,pl.moods,pl.pairs,pl.moneys,pl.arrays}'::text[]) r;
SELECT r, c.* FROM unnest('{pl.ints,pl.shorts,pl.names,pl.uuids,pl.numerics,pl.folded,pl.padded,pl.moods,pl.pairs,pl.moneys,
	pl.arrays}'::text[]) r, pl.compare(r, 'what') c;
SELECT * FROM pl.compare('pl.ints', 'stored');
SELECT * FROM pl.compare('pl.ints', 'what', 'whitespace', ', max_tokens => 12');
SELECT * FROM pl.compare('pl.ints', 'what', 'word', ', max_contributions => 3');
SELECT * FROM pl.compare('pl.arrays', 'numbers');
SELECT * FROM pl.compare('pl.arrays', 'long', 'parser:default');
-- of values there are no n-grams of several words, and so fewer rows
SELECT calls, others FROM pl.compare('pl.arrays', 'number', 'item');
SELECT calls, others FROM pl.compare('pl.arrays', 'name', 'item');

-- nobody, nothing
CREATE TABLE pl.empty (who int, what text);
SELECT dp_protect('pl.empty', 'who', 10000, 1e-2, options => '{"min_epsilon": 0}');
SELECT * FROM pl.compare('pl.empty', 'what');
INSERT INTO pl.empty VALUES (1, NULL), (NULL, 'some words'), (2, ' ');
SELECT * FROM pl.compare('pl.empty', 'what');
INSERT INTO pl.empty VALUES (3, 'some words');
SELECT * FROM pl.compare('pl.empty', 'what');

-- the setting
SET dpngram.max_parallel_workers = 64;
SET dpngram.max_parallel_workers = -1;

SELECT count(dp_unprotect(r)) FROM unnest('{pl.ints,pl.shorts,pl.names,pl.uuids,pl.numerics,pl.folded,
	pl.padded,pl.moods,pl.pairs,pl.moneys,pl.arrays,pl.empty}'::text[]) r;
RESET dpngram.test_seed;
DROP SCHEMA pl CASCADE;
