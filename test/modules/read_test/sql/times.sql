-- The rows of a stretch of time: which are read, and how they are found
SET timezone = 'Europe/Paris';
SET datestyle = 'ISO, YMD';
CREATE DOMAIN moment AS timestamptz;
CREATE DOMAIN later_moment AS moment CHECK (VALUE > '1900-01-01');
CREATE TABLE timed AS
SELECT i AS who, 'one two'::text AS what, t AS "a ""time""", t::timestamp AS local, t::date AS day, t::later_moment AS special
  FROM generate_series(1, 40000) i, LATERAL (SELECT timestamptz '2026-01-01' + i * interval '1 minute') v(t);
INSERT INTO timed VALUES (0, 'no time', NULL, NULL, NULL, NULL), (-1, 'ever', 'infinity', 'infinity', 'infinity', 'infinity'), (-2, 'ever', '-infinity', '-infinity', '-infinity', NULL);
-- 1,440 minutes a day, the first of which is before and the last of which is after
SELECT c AS column, b.users, b.tokens FROM unnest(ARRAY['a "time"', 'local', 'day', 'special']::name[]) c,
	read_test_between('timed', 'who', 'what', 'word', 0, c, '2026-01-10 00:00', '2026-01-11 00:00') b;
SELECT users FROM read_test_between('timed', 'who', 'what', 'word', 0, 'local', '2026-01-10 00:00', '2026-01-10 00:00:00.000001');
SELECT users FROM read_test_between('timed', 'who', 'what', 'word', 0, 'local', '2026-01-10 00:00', '2026-01-10 00:00');
SELECT users FROM read_test_between('timed', 'who', 'what', 'word', 0, 'local', '2026-01-10 00:00:00.000001', '2026-01-10 00:02');
SELECT users FROM read_test_between('timed', 'who', 'what', 'word', 0, 'local', '2025-01-01', '2025-02-01');
SELECT users FROM read_test_between('timed', 'who', 'what', 'word', 0, 'day', '2020-01-01', '9999-12-31');

-- an index on the column is used, and partitions that hold other times are left alone
CREATE INDEX ON timed ("a ""time""");
CREATE INDEX ON timed (local);
CREATE INDEX ON timed (day);
CREATE INDEX ON timed (special);
ANALYZE timed;
BEGIN;
SELECT seq_scan AS seq_before, coalesce(idx_scan, 0) AS idx_before FROM pg_stat_xact_user_tables WHERE relname = 'timed' \gset
SELECT sum(users) FROM unnest(ARRAY['a "time"', 'local', 'day', 'special']::name[]) c,
	read_test_between('timed', 'who', 'what', 'word', 0, c, '2026-01-10 00:00', '2026-01-11 00:00');
SELECT seq_scan - :seq_before AS seq_scans, idx_scan - :idx_before >= 4 AS by_index FROM pg_stat_xact_user_tables WHERE relname = 'timed';
COMMIT;
CREATE TABLE parts (who int, what text, at timestamptz) PARTITION BY RANGE (at);
CREATE TABLE parts_09 PARTITION OF parts FOR VALUES FROM ('2026-01-09') TO ('2026-01-10');
CREATE TABLE parts_10 PARTITION OF parts FOR VALUES FROM ('2026-01-10') TO ('2026-01-11');
CREATE TABLE parts_more PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT who, what, "a ""time""" FROM timed;
ANALYZE parts;
BEGIN;
CREATE TEMP TABLE before AS SELECT relname, seq_scan FROM pg_stat_xact_user_tables;
SELECT users FROM read_test_between('parts', 'who', 'what', 'word', 0, 'at', '2026-01-10 00:00', '2026-01-11 00:00');
SELECT relname, a.seq_scan - b.seq_scan AS scans FROM pg_stat_xact_user_tables a JOIN before b USING (relname) WHERE relname LIKE 'parts%' ORDER BY relname;
COMMIT;

-- operators of the reader's own schema, or of the owner's, are not asked
CREATE SCHEMA evil;
CREATE FUNCTION evil.never(timestamptz, timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$;
CREATE OPERATOR evil.>= (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = evil.never);
CREATE OPERATOR evil.< (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = evil.never);
SET search_path = evil, public, pg_catalog;
SELECT users FROM read_test_between('parts', 'who', 'what', 'word', 0, 'at', '2026-01-10 00:00', '2026-01-11 00:00');
RESET search_path;

SET client_min_messages = warning;
DROP TABLE timed, parts;
DROP DOMAIN moment CASCADE;
DROP SCHEMA evil CASCADE;
