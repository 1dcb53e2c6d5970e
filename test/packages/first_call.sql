-- first_call.sql: a superuser creates what is missing, an owner protects a table, an
-- analyst who can't read it asks for its phrases.  Prints one line if all went as it must.
\set ON_ERROR_STOP on
\pset tuples_only on
\pset format unaligned
CREATE EXTENSION IF NOT EXISTS dpngram;
SELECT count(*) = 0 AS without FROM pg_roles WHERE rolname = 'ana' \gset
\if :without
    CREATE ROLE archive;
    CREATE ROLE ana LOGIN;
\endif
CREATE SCHEMA archive AUTHORIZATION archive;
GRANT USAGE ON SCHEMA archive TO ana;

-- 500 people who all wrote the same two lines
SET SESSION AUTHORIZATION archive;
CREATE TABLE archive.notes AS
    SELECT 'author ' || a AS author, message
    FROM generate_series(1, 500) a,
        (VALUES ('the quick brown fox'), ('jumps over the lazy dog')) m (message);
SELECT dp_protect('archive.notes', 'author', epsilon => 8, delta => 1e-6, dataset => 'notes') \gset
SELECT dp_grant('notes', 'ana') \gset

SET SESSION AUTHORIZATION ana;
SELECT remaining_epsilon AS before FROM dpngram.budget \gset
SELECT count(*) AS rows FROM dp_ngrams('archive.notes', 'author', 'message', 2, 1e-7)
    WHERE ngram IN ('quick brown', 'the lazy dog', 'the quick brown fox') \gset
SELECT remaining_epsilon AS after FROM dpngram.budget \gset
SELECT 'first call: rows, and less of the budget'
    WHERE :rows > 0 AND :after::float8 < :before::float8;
