-- demo.sql: the main job on real text, from a protected table to private phrases.
-- Run by demo.sh.  What must be refused is checked, so that the demo can fail.
\set ON_ERROR_STOP on
\pset pager off
\pset footer off
\pset format wrapped
\pset columns 100
\pset null '-'

CREATE EXTENSION dpngram;
CREATE ROLE data_owner LOGIN;
CREATE ROLE analyst LOGIN;
CREATE SCHEMA debian AUTHORIZATION data_owner;
GRANT USAGE ON SCHEMA debian TO analyst;

SET ROLE data_owner;
CREATE TABLE debian.changelogs (author text, package text, entry text);
RESET ROLE;
COPY debian.changelogs FROM :'rows';
\c - data_owner

\echo
\echo == The owner puts the table under a budget and lets the analyst spend it
\set ECHO queries
SELECT dp_protect('debian.changelogs', 'author', epsilon => 5, delta => 1e-6);
SELECT dp_grant('debian.changelogs', 'analyst');
\set ECHO none

\c - analyst
\echo
\echo == The analyst can not read the table
\set ON_ERROR_STOP off
\set ECHO queries
SELECT * FROM debian.changelogs LIMIT 1;
\set ECHO none
SELECT :'SQLSTATE' = '42501' AS refused \gset
\set ON_ERROR_STOP on
\if :refused
\else
DO $$ BEGIN RAISE 'the analyst could read the table'; END $$;
\endif

\echo
\echo == The analyst asks for its phrases
\timing on
\set ECHO queries
CREATE TEMPORARY TABLE phrases AS
SELECT * FROM dp_ngrams('debian.changelogs', 'author', 'entry', 4, 1e-7, max_contributions => 100);
\timing off
SELECT n AS length, count(*) AS phrases FROM phrases GROUP BY n ORDER BY n;
\set ECHO none

\echo
\echo == The weightiest phrases of each length
SELECT n AS length, ngram AS phrase, round(weight::numeric, 1) AS weight,
       round(stddev::numeric, 1) AS stddev
  FROM (SELECT *, row_number() OVER (PARTITION BY n ORDER BY weight DESC) AS place FROM phrases) p
 WHERE place <= 10
 ORDER BY n, place;

SELECT count(*) >= 10 AS enough FROM phrases WHERE n = 2 \gset
\if :enough
\else
DO $$ BEGIN RAISE 'fewer than 10 bigrams'; END $$;
\endif

\echo
\echo == What it cost
\set ECHO queries
SELECT dataset, epsilon, delta, spent_epsilon, remaining_epsilon FROM dpngram.budget;
\set ECHO none

\echo
\echo == A second call like it is beyond the budget
\set ON_ERROR_STOP off
\set ECHO queries
SELECT * FROM dp_ngrams('debian.changelogs', 'author', 'entry', 4, 1e-7);
\set ECHO none
SELECT :'SQLSTATE' = 'NG001' AS refused \gset
\set ON_ERROR_STOP on
\if :refused
\else
DO $$ BEGIN RAISE 'a call beyond the budget was not refused'; END $$;
\endif

\echo
\echo == A rolled back call has been paid for
SELECT spent_epsilon AS before FROM dpngram.budget \gset
\set ECHO queries
SELECT spent_epsilon FROM dpngram.budget;
BEGIN;
SELECT count(*) FROM dp_ngrams('debian.changelogs', 'author', 'entry', 0.5, 1e-7);
ROLLBACK;
SELECT spent_epsilon FROM dpngram.budget;
\set ECHO none
SELECT spent_epsilon > :before AS charged FROM dpngram.budget \gset
\if :charged
\else
DO $$ BEGIN RAISE 'ROLLBACK brought the budget back'; END $$;
\endif

\echo
\echo == Every release is on record
\set ECHO queries
SELECT at, session_role, mechanism, epsilon, delta, status FROM dpngram.releases ORDER BY at;
\set ECHO none

\echo
\echo == And as a chart, for the owner: what was spent by whom, when
\c - data_owner
\set ECHO queries
SELECT * FROM dp_budget_report('debian.changelogs');
\set ECHO none
\echo
