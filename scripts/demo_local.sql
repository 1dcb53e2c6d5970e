-- demo_local.sql: terms from clients who don't trust the server with them.  Run by
-- demo.sh in a folder with words.txt, one word a line, each of which stands for a client.
-- The words come in by a view without rows, whose trigger keeps randomised reports only.
\set ON_ERROR_STOP on
\pset pager off
\pset footer off
\pset format wrapped
\pset columns 100

CREATE SCHEMA collected AUTHORIZATION analyst;
\c - analyst
SET search_path = collected, public;

\echo == Terms from clients: what they are asked is published
\set ECHO queries
CREATE TABLE collection AS SELECT ldp_round('pem', 4, k => 10, max_length => 10) AS round;
TABLE collection;
CREATE TABLE reports (report jsonb NOT NULL);
CREATE VIEW inbox AS SELECT NULL::text AS word WHERE false;
CREATE FUNCTION keep_report() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO reports SELECT ldp_encode('pem', NEW.word, 4, round) FROM collection;
    RETURN NULL;
END $$;
CREATE TRIGGER keep_report INSTEAD OF INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION keep_report();
\set ECHO none

\echo
\echo == Each client sends its word through the view, and a randomised report is stored
\set ECHO queries
\copy inbox FROM 'words.txt'
SELECT count(*) AS reports FROM reports;
SELECT report FROM reports LIMIT 3;
\set ECHO none

\echo
\echo == What most clients have, from the reports alone: ten are asked for, those within a few stddev of 0 are noise
\set ECHO queries
CREATE TABLE found AS
SELECT term, round(frequency) AS clients, round(stddev) AS stddev
  FROM collection, ldp_decode(ARRAY[round], 'reports');
TABLE found ORDER BY clients DESC;
\set ECHO none

-- "debian" or "update" comes in a thousand entries of any machine's changelogs
SELECT count(*) >= 3 AS enough FROM found WHERE clients > 3 * stddev \gset
\if :enough
\else
DO $$ BEGIN RAISE 'fewer than 3 terms found'; END $$;
\endif
\echo
