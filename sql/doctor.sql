-- dp_doctor: each finding provoked once.  Findings of a crippled server (no worker,
-- no fsync, another timeline, a standby) are in test/t/050_doctor.pl.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS dpngram;
CREATE ROLE regress_doc_owner;
CREATE ROLE regress_doc_ana;
CREATE ROLE regress_doc_bob;
CREATE ROLE regress_doc_group;
GRANT regress_doc_group TO regress_doc_bob;
CREATE SCHEMA doc AUTHORIZATION regress_doc_owner;

SET ROLE regress_doc_owner;
CREATE TABLE doc.t (who int, what text) PARTITION BY RANGE (who);
CREATE TABLE doc.t1 PARTITION OF doc.t FOR VALUES FROM (0) TO (1000);
INSERT INTO doc.t SELECT i, 'some words' FROM generate_series(1, 100) i;
CREATE TABLE doc.base (who int, what text);
CREATE VIEW doc.v AS SELECT who, lower(what) AS what FROM doc.base;
SELECT dp_protect('doc.t', 'who', 10, 1e-3, 'd');
SELECT dp_protect('doc.v', 'who', 10, 1e-3, 'v');
SELECT dp_grant('d', 'regress_doc_ana');
-- a view of answers is none of the rows
CREATE VIEW doc.answers AS SELECT * FROM dp_ngrams('doc.t', 'who', 'what', 1, 1e-4);
GRANT SELECT ON doc.answers TO PUBLIC;
RESET ROLE;
-- for the hash chain
SELECT count(*) > 0 AS answered FROM dp_ngrams('doc.t', 'who', 'what', 1, 1e-4);

-- what can't be helped on a clean dataset, but for findings of this very server
\pset format unaligned
SET ROLE regress_doc_owner;
SELECT d.* FROM dp_doctor() d JOIN dpngram.doctor_checks() c USING (finding)
 WHERE c.scope = 'dataset' AND finding <> 'schema-open';
SELECT count(*) AS unknown FROM dp_doctor() WHERE finding = 'unknown';
RESET ROLE;

-- what the owner of both datasets is told beyond that; and what is left when all
-- remedies that are commands have been followed
SET ROLE regress_doc_owner;
CREATE TABLE doc.before AS SELECT * FROM dp_doctor();
CREATE FUNCTION doc.news() RETURNS SETOF doc.before LANGUAGE sql SECURITY DEFINER AS
$$ SELECT * FROM public.dp_doctor()
    WHERE (finding, object, detail) NOT IN (SELECT finding, object, detail FROM doc.before) $$;
REVOKE EXECUTE ON FUNCTION doc.news FROM PUBLIC;
RESET ROLE;
CREATE FUNCTION doc.found() RETURNS SETOF doc.before LANGUAGE sql AS
$$ SELECT severity, finding, object, detail, regexp_replace(remedy, 'pg_toast_\d+', 'pg_toast_n') FROM doc.news() $$;
CREATE FUNCTION doc.left_over() RETURNS TABLE (finding text, object text) LANGUAGE plpgsql AS $$
DECLARE
	command text;
BEGIN
	FOR command IN SELECT DISTINCT remedy FROM doc.news()
		WHERE remedy ~ '^(REVOKE|ALTER|DROP) ' AND remedy !~ '^ALTER EXTENSION'
	LOOP
		EXECUTE command;
	END LOOP;
	RETURN QUERY SELECT n.finding, n.object FROM doc.news() n;
END $$;
SELECT * FROM doc.found();

-- who can read the relation: an analyst; PUBLIC; others, by column, membership or ownership
BEGIN;
GRANT SELECT ON doc.t TO regress_doc_ana;
GRANT SELECT (what, who) ON doc.t1 TO regress_doc_bob;
GRANT SELECT ON doc.t TO regress_doc_group;
GRANT SELECT (who) ON doc.base TO regress_doc_bob;
GRANT regress_doc_owner TO regress_doc_group;
SELECT * FROM doc.found();
-- nobody is missed who can read by PostgreSQL's own word
WITH found AS MATERIALIZED (SELECT * FROM doc.found()), relation AS (SELECT unnest('{doc.t,doc.v,doc.base}'::text[]) AS name)
SELECT count(*) AS readers, count(*) FILTER (WHERE NOT EXISTS (SELECT FROM found
	WHERE object = 'role ' || rolname AND detail ~ ('(table|view) ' || name || '(;|$)'))) AS missed
  FROM pg_roles, relation WHERE rolname ~ '^regress_doc_' AND rolname <> 'regress_doc_owner'
	AND has_any_column_privilege(rolname, name, 'SELECT');
SELECT * FROM doc.left_over();
ROLLBACK;
BEGIN;
GRANT SELECT ON doc.t TO PUBLIC;
ALTER TABLE doc.t1 OWNER TO regress_doc_bob;
GRANT pg_read_all_data TO regress_doc_ana;
SELECT * FROM doc.found();
SELECT * FROM doc.left_over();
ROLLBACK;

-- TOAST and statistics; TRIGGER and REFERENCES
BEGIN;
DO $$ BEGIN EXECUTE (SELECT format('GRANT SELECT ON %s TO regress_doc_bob', reltoastrelid::regclass)
	FROM pg_class WHERE oid = 'doc.t1'::regclass); END $$;
GRANT SELECT ON pg_statistic TO PUBLIC;
GRANT SELECT (stxdmcv) ON pg_statistic_ext_data TO regress_doc_bob;
GRANT TRIGGER, INSERT ON doc.t1 TO regress_doc_bob;
GRANT REFERENCES (who) ON doc.t TO regress_doc_bob;
SELECT * FROM doc.found();
SELECT * FROM doc.left_over();
ROLLBACK;

-- views over it: readable, through another, for nobody else
BEGIN;
SET ROLE regress_doc_owner;
CREATE VIEW doc.open AS SELECT count(*) FROM doc.t;
CREATE VIEW doc.upon AS SELECT * FROM doc.open;
CREATE MATERIALIZED VIEW doc.stored AS SELECT what FROM doc.v;
CREATE VIEW doc.closed AS SELECT what FROM doc.base;
GRANT SELECT ON doc.upon, doc.stored TO regress_doc_bob, PUBLIC;
SELECT * FROM doc.found();
RESET ROLE;
SELECT * FROM doc.left_over();
ROLLBACK;

-- rules, and functions that run as the owner
BEGIN;
SET ROLE regress_doc_owner;
CREATE TABLE doc.copy (who int, what text);
CREATE RULE copy AS ON INSERT TO doc.base DO ALSO INSERT INTO doc.copy VALUES (NEW.who, NEW.what);
CREATE FUNCTION doc.reads() RETURNS bigint LANGUAGE sql SECURITY DEFINER
BEGIN ATOMIC SELECT count(*) FROM doc.t; END;
CREATE FUNCTION doc.may_read() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM doc.t';
CREATE FUNCTION doc.asks() RETURNS bigint LANGUAGE sql SECURITY DEFINER
BEGIN ATOMIC SELECT count(*) FROM dp_ngrams('doc.t', 'who', 'what', 1, 1e-4); END;
CREATE FUNCTION doc.private() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM doc.t';
REVOKE EXECUTE ON FUNCTION doc.private() FROM PUBLIC;
RESET ROLE;
SELECT * FROM doc.found();
SELECT * FROM doc.left_over();
ROLLBACK;

-- functions that others own and the relation uses: in its view, a default, an index, a trigger
BEGIN;
CREATE FUNCTION doc.f(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1';
ALTER FUNCTION doc.f OWNER TO regress_doc_bob;
CREATE FUNCTION doc.g() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
ALTER FUNCTION doc.g OWNER TO regress_doc_bob;
SET ROLE regress_doc_owner;
CREATE INDEX ON doc.t1 (doc.f(what));
CREATE TRIGGER g BEFORE INSERT ON doc.base FOR EACH ROW EXECUTE FUNCTION doc.g();
CREATE OR REPLACE VIEW doc.v AS SELECT who, doc.f(what) AS what FROM doc.base;
RESET ROLE;
SELECT * FROM doc.found();
SELECT * FROM doc.left_over();
ROLLBACK;

-- replication; another dataset of the same rows
BEGIN;
CREATE PUBLICATION regress_doc_one FOR TABLE doc.t1;
CREATE PUBLICATION regress_doc_all FOR ALL TABLES;
SET ROLE regress_doc_owner;
CREATE VIEW doc.third AS SELECT * FROM doc.t;
SELECT dp_protect('doc.third', 'who', 1, 0, 'third');
SELECT dp_protect('doc.base', 'who', 1, 0, 'base');
RESET ROLE;
SELECT * FROM doc.found();
SELECT * FROM doc.left_over();
ROLLBACK;

-- a view that is defined anew; row-level security; extended statistics; a foreign table
CREATE OR REPLACE VIEW doc.v AS SELECT who, upper(what) AS what FROM doc.base;
SET ROLE regress_doc_owner;
SELECT * FROM doc.found();
RESET ROLE;
SELECT dp_unprotect('v');
SELECT dp_protect('doc.v', 'who', 10, 1e-3, 'v');
BEGIN;
ALTER TABLE doc.t ENABLE ROW LEVEL SECURITY;
CREATE STATISTICS doc.s (mcv) ON who, what FROM doc.t1;
CREATE STATISTICS doc.harmless (ndistinct) ON who, what FROM doc.t1;
CREATE FOREIGN DATA WRAPPER regress_doc_wrapper;
CREATE SERVER regress_doc_server FOREIGN DATA WRAPPER regress_doc_wrapper;
CREATE FOREIGN TABLE doc.far (who int, what text) SERVER regress_doc_server;
ALTER FOREIGN TABLE doc.far OWNER TO regress_doc_owner;
GRANT USAGE ON FOREIGN SERVER regress_doc_server TO regress_doc_bob;
SET ROLE regress_doc_owner;
SELECT dp_protect('doc.far', 'who', 1, 0, 'far');
RESET ROLE;
SELECT * FROM doc.found();
SELECT * FROM doc.left_over();
ROLLBACK;

-- row counts, if a server keeps them from everyone
BEGIN;
REVOKE SELECT ON pg_class FROM PUBLIC;
DO $$ DECLARE f regprocedure; BEGIN
	FOR f IN SELECT oid FROM pg_proc WHERE proname ~ '^pg_stat_get_.*(tuples|since)|^pg_(relation|table|total_relation)_size' LOOP
		EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);
	END LOOP;
END $$;
SELECT object, detail FROM dp_doctor('d') WHERE finding = 'row-counts';
REVOKE EXECUTE ON FUNCTION pg_indexes_size(regclass) FROM PUBLIC;
SELECT object, detail FROM dp_doctor('d') WHERE finding = 'row-counts';
ROLLBACK;

-- roles that get at everything
BEGIN;
CREATE ROLE regress_doc_super SUPERUSER;
GRANT regress_doc_super TO regress_doc_bob;
GRANT pg_read_all_data TO regress_doc_bob;
GRANT pg_read_server_files TO regress_doc_bob;
GRANT pg_execute_server_program TO regress_doc_group;
GRANT pg_monitor TO regress_doc_bob;
ALTER ROLE regress_doc_group REPLICATION;
SELECT * FROM doc.found();
SELECT * FROM doc.left_over();
ROLLBACK;
-- functions that read files; the schema of ours
BEGIN;
GRANT EXECUTE ON FUNCTION pg_read_file(text) TO regress_doc_bob;
GRANT EXECUTE ON FUNCTION lo_import(text) TO PUBLIC;
DO $$ BEGIN EXECUTE (SELECT format('GRANT CREATE ON SCHEMA %I TO regress_doc_bob', extnamespace::regnamespace)
	FROM pg_extension WHERE extname = 'dpngram'); END $$;
SELECT * FROM doc.found();
SELECT * FROM doc.left_over();
ROLLBACK;

-- settings of the server's log, and of ours
BEGIN;
ALTER ROLE regress_doc_bob SET log_executor_stats = 'TRUE';
ALTER ROLE regress_doc_bob SET log_min_messages = 'notice';
ALTER ROLE regress_doc_bob SET log_temp_files = 0;
ALTER ROLE regress_doc_bob SET log_statement = 'mod';
ALTER ROLE regress_doc_bob SET log_min_duration_statement = '1s';
ALTER ROLE regress_doc_bob SET log_min_duration_sample = -1;
ALTER ROLE regress_doc_bob SET debug_print_plan = on;
ALTER ROLE regress_doc_bob SET debug_print_parse = off;
ALTER ROLE regress_doc_bob SET auto_explain.log_min_duration = 0;
ALTER ROLE regress_doc_bob SET dpngram.test_seed = 42;
SELECT * FROM doc.found();
SELECT * FROM doc.left_over();
ROLLBACK;

-- the ledger: chain, sums, what a server that went back would show
BEGIN;
SET LOCAL dpngram.test_seed = 42;
SELECT count(*) > 0 AS answered FROM dp_ngrams('doc.t', 'who', 'what', 1, 1e-4);
ROLLBACK;
SELECT * FROM doc.found();
INSERT INTO doc.before SELECT * FROM dp_doctor('d') WHERE finding = 'seeded-release';
BEGIN;
ALTER TABLE dpngram.release DISABLE TRIGGER append_only;
UPDATE dpngram.release SET mu2 = 0 WHERE mechanism = 'dp_ngrams' AND NOT seeded
   AND dataset = (SELECT id FROM dpngram.dataset WHERE name = 'd' AND ended IS NULL);
SELECT severity, finding, regexp_replace(object, '\d+', 'n') AS object, detail, remedy FROM dp_doctor('d')
 WHERE finding IN ('chain-broken', 'log-mismatch', 'ledger-altered');
ROLLBACK;
BEGIN;
ALTER TABLE dpngram.release DISABLE TRIGGER append_only;
DELETE FROM dpngram.release WHERE mechanism = 'dp_ngrams'
   AND dataset = (SELECT id FROM dpngram.dataset WHERE name = 'd' AND ended IS NULL);
SELECT finding, regexp_replace(object, '\d+', 'n') AS object, detail FROM dp_doctor('d')
 WHERE finding IN ('chain-broken', 'log-mismatch', 'ledger-altered');
ROLLBACK;
BEGIN;
ALTER TABLE dpngram.release DISABLE TRIGGER append_only;
UPDATE dpngram.release SET lsn = 'FFFFFFFF/0' WHERE mechanism = 'dp_ngrams';
SELECT severity, finding, object, detail, remedy FROM dp_doctor('d') WHERE finding = 'went-back';
ROLLBACK;
-- what hangs on its tables, who else has rights on them or owns them
BEGIN;
DROP TRIGGER append_only ON dpngram.release_end;
ALTER TABLE dpngram.relation_binding ENABLE TRIGGER bindings_stay;
CREATE RULE nothing AS ON INSERT TO dpngram.release DO INSTEAD NOTHING;
CREATE TRIGGER other BEFORE UPDATE ON dpngram.dataset FOR EACH STATEMENT EXECUTE FUNCTION suppress_redundant_updates_trigger();
ALTER TABLE dpngram.grantee_binding SET UNLOGGED;
ALTER TABLE dpngram.grantee ENABLE ROW LEVEL SECURITY;
CREATE TABLE doc.child () INHERITS (dpngram.release);
GRANT SELECT, UPDATE ON dpngram.dataset TO regress_doc_bob;
GRANT UPDATE (revoked) ON dpngram.grantee TO PUBLIC;
GRANT pg_write_all_data TO regress_doc_group;
GRANT SELECT ON dpngram.release_id_seq TO regress_doc_bob;
GRANT EXECUTE ON FUNCTION dpngram.broken_chain TO regress_doc_bob;
GRANT SELECT ON dpngram.dataset_state TO PUBLIC;
ALTER FUNCTION dpngram.append_only() OWNER TO regress_doc_bob;
ALTER TABLE dpngram.carried OWNER TO regress_doc_bob;
UPDATE pg_extension SET extversion = '0.0.1' WHERE extname = 'dpngram';
SELECT severity, finding, object, CASE finding WHEN 'not-updated' THEN regexp_replace(detail, '[0-9]+\.[0-9]+\.[1-9]?[0-9]*', 'n', 'g') ELSE detail END AS detail, remedy
  FROM doc.found();
SELECT * FROM doc.left_over();
ROLLBACK;

-- suspended: the relation's owner has changed, and then it is gone
BEGIN;
ALTER TABLE doc.t OWNER TO regress_doc_bob;
SELECT severity, finding, object, detail, remedy FROM dp_doctor('d') WHERE finding = 'suspended';
DROP TABLE doc.t CASCADE;
SELECT severity, finding, object, detail, remedy FROM dp_doctor('d') WHERE finding = 'suspended';
ROLLBACK;

-- a view of statistics as clusters had it before it was mended
BEGIN;
SET LOCAL allow_system_table_mods = on;
DO $do$ BEGIN EXECUTE format('CREATE OR REPLACE VIEW pg_catalog.pg_stats_ext WITH (security_barrier) AS %s',
	replace(pg_get_viewdef('pg_stats_ext'::regclass), $$pg_has_role(c.relowner, 'USAGE'::text)$$, 'true')); END $do$;
SELECT * FROM doc.found();
SELECT * FROM doc.left_over();
ROLLBACK;

-- a check that fails is a finding itself, and the others are still made
BEGIN;
ALTER TABLE dpngram.release RENAME COLUMN seeded TO renamed;
GRANT SELECT ON doc.t TO regress_doc_ana;
SELECT * FROM doc.found() WHERE finding <> 'chain-broken';
ROLLBACK;

-- nothing is left of all that; it can be called where nothing can be written
SET ROLE regress_doc_owner;
SELECT * FROM doc.found();
BEGIN READ ONLY;
SELECT * FROM doc.found();
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT * FROM doc.found();
ROLLBACK;

-- for its owner only
SET ROLE regress_doc_ana;
SELECT * FROM dp_doctor('d');
SELECT * FROM dp_doctor();
SELECT * FROM dp_doctor('nothing');
RESET ROLE;
SELECT count(*) > 0 AS superuser FROM dp_doctor('d');

SELECT dp_unprotect('d'), dp_unprotect('v');
DROP SCHEMA doc CASCADE;
DROP ROLE regress_doc_owner, regress_doc_ana, regress_doc_bob, regress_doc_group;
