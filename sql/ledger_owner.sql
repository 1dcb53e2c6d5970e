-- The owner's functions: what they take, what they refuse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
RESET client_min_messages;
CREATE ROLE regress_led_owner;
CREATE ROLE regress_led_other;
CREATE ROLE regress_led_ana;
CREATE SCHEMA led AUTHORIZATION regress_led_owner;
GRANT USAGE ON SCHEMA led TO regress_led_ana, regress_led_other;

-- the result of one call, with its SQLSTATE, detail and hint
CREATE FUNCTION try(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	EXECUTE 'SELECT ' || call;
	RETURN 'fine';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', SQLSTATE || ' ' || SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;

SET ROLE regress_led_owner;
SET search_path = led, public;
CREATE TABLE t (who int, what text, place point, shape json);

-- epsilon, delta, shares, accounting
SELECT args, try(format('dp_protect(%s)', args)) FROM (VALUES
	('NULL, ''who'', 1, 0'),
	('''t'', NULL, 1, 0'),
	('''t'', ''who'', NULL, 0'),
	('''t'', ''who'', 1, NULL'),
	('''t'', ''who'', 0, 1e-6'),
	('''t'', ''who'', -1, 1e-6'),
	('''t'', ''who'', ''NaN'', 1e-6'),
	('''t'', ''who'', ''Infinity'', 1e-6'),
	('''t'', ''who'', 1, -1e-6'),
	('''t'', ''who'', 1, 1'),
	('''t'', ''who'', 1, ''NaN'''),
	('''t'', ''who'', 1, 1e-6, pure_share => 0'),
	('''t'', ''who'', 1, 1e-6, pure_share => 1'),
	('''t'', ''who'', 1, 1e-6, pure_share => NULL'),
	('''t'', ''who'', 1, 1e-6, delta_share => 0'),
	('''t'', ''who'', 1, 1e-6, delta_share => ''NaN'''),
	('''t'', ''who'', 1, 1e-6, accounting => ''rdp'''),
	('''t'', ''who'', 1, 1e-6, accounting => NULL'),
	('''t'', ''who'', 1, 1e-6, dataset => '''''),
	('''t'', ''who'', 1, 1e-6, options => ''{"carry": true}'''),
	('''t'', ''who'', 1, 1e-6, options => ''{"carry_forward": 0}'''),
	('''t'', ''who'', 1, 1e-6, options => ''{"carry_forward": false}'''),
	('''t'', ''who'', 1, 1e-6, options => ''[]'''),
	('''t'', ''who'', 1, 1e-6, options => NULL')) v(args);

-- the privacy unit and the columns
SELECT args, try(format('dp_protect(%s)', args)) FROM (VALUES
	('''t'', ''nobody'', 1, 1e-6'),
	('''t'', ''ctid'', 1, 1e-6'),
	('''t'', ''place'', 1, 1e-6'),
	('''t'', ''shape'', 1, 1e-6'),
	('''t'', ''who'', 1, 1e-6, columns => ''{}'''),
	('''t'', ''who'', 1, 1e-6, columns => ''{what,nothing}'''),
	('''t'', ''who'', 1, 1e-6, columns => ''{what,NULL}''')) v(args);
SELECT count(*) FROM dpngram.budget;

-- what can't be protected
CREATE SEQUENCE counter;
CREATE INDEX t_what ON t (what);
CREATE TYPE pair AS (who int, what text);
CREATE TEMP TABLE mine (who int);
SELECT relation, try(format('dp_protect(%L, %L, 1, 0)', relation, 'who'))
  FROM unnest('{counter,t_what,pair,mine}'::text[]) relation;
SELECT try($$dp_protect(0, 'who', 1, 0)$$);
SET ROLE regress_led_other;
SELECT try($$dp_protect('led.t', 'who', 1, 0)$$);
RESET ROLE;
SELECT try($$dp_protect('pg_catalog.pg_class', 'relname', 1, 0)$$);
SELECT try($$dp_protect('dpngram.release', 'id', 1, 0)$$);
SELECT try($$dp_protect('information_schema.tables', 'table_name', 1, 0)$$);
SET ROLE regress_led_owner;

-- names: like the relation as it is written here, unless given; unique while live
SELECT dp_protect('t', 'who', 1, 1e-6, columns => '{what,what}');
SELECT dataset, relation, grantee, status, epsilon, delta, accounting FROM dpngram.budget;
SELECT try($$dp_protect('t', 'who', 1, 1e-6)$$);
SELECT try($$dp_protect('t', 'who', 1, 1e-6, dataset => 'again')$$);
CREATE TABLE "odd ""name" ("The ""user" int);
SELECT try($$dp_protect('"odd ""name"', 'The "user', 1, 1e-6, dataset => 't')$$);
SELECT dp_protect('"odd ""name"', 'The "user', 1, 1e-6);
SELECT dataset, relation FROM dpngram.budget ORDER BY 1;
RESET search_path;
CREATE TABLE led.u (who int);
SELECT dp_protect('led.u', 'who', 1, 1e-6);
SELECT dataset, relation FROM dpngram.budget ORDER BY 1;
SELECT dp_unprotect('led.u');
SELECT dp_unprotect('"odd ""name"');
SET search_path = led, public;

-- partitions and children hold the same rows
CREATE TABLE parts (who int, what text) PARTITION BY RANGE (who);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (who);
CREATE TABLE parts_a1 PARTITION OF parts_a FOR VALUES FROM (0) TO (5);
CREATE TABLE parts_b PARTITION OF parts FOR VALUES FROM (10) TO (20);
SELECT dp_protect('parts_a', 'who', 1, 1e-6);
SELECT relation, try(format('dp_protect(%L, %L, 1, 0)', relation, 'who'))
  FROM unnest('{parts,parts_a1,parts_b}'::text[]) relation;
CREATE TABLE child (extra int) INHERITS (t);
SELECT try($$dp_protect('child', 'who', 1, 0)$$);

-- views: the promise holds for rows of one user, and two budgets don't know each other
CREATE VIEW v AS SELECT who, lower(what) AS what FROM t;
CREATE VIEW w AS SELECT * FROM v;
CREATE MATERIALIZED VIEW mv AS SELECT who, what FROM led.u, (SELECT 'x' AS what) x;
SELECT dp_protect('w', 'who', 1, 1e-6);
SELECT dp_protect('mv', 'who', 1, 1e-6, dataset => 'led_mv');
SELECT dp_protect('u', 'who', 1, 1e-6);
SELECT dataset, relation FROM dpngram.budget ORDER BY dataset;
SELECT dp_unprotect('w'), dp_unprotect('led_mv'), dp_unprotect('u'), dp_unprotect('parts_a'), dp_unprotect('parts_b');

-- grants
SELECT args, try(format('dp_grant(%s)', args)) FROM (VALUES
	('NULL, ''regress_led_ana'''),
	('''t'', NULL'),
	('''nothing'', ''regress_led_ana'''),
	('''t'', ''regress_led_nobody'''),
	('''t'', ''public'''),
	('''t'', ''regress_led_ana'', 2'),
	('''t'', ''regress_led_ana'', 0'),
	('''t'', ''regress_led_ana'', ''NaN'''),
	('''t'', ''regress_led_ana'', 1, 1e-5'),
	('''t'', ''regress_led_ana'', 1, -1')) v(args);
SELECT try($$dp_revoke('t', 'regress_led_ana')$$);
SELECT try($$dp_revoke('t', NULL)$$);
SELECT dp_grant('t', 'regress_led_ana', 0.5);
SELECT dataset, grantee, epsilon, delta, mu2_cap > 0 AS gauss, eps_pure_cap, delta_add_cap
  FROM dpngram.budget WHERE dataset = 't' ORDER BY grantee NULLS FIRST;
SELECT dp_grant('t', 'regress_led_ana', delta => 1e-7);
SELECT grantee, epsilon, delta FROM dpngram.budget WHERE grantee IS NOT NULL;
-- a grant of delta 0 is one of pure epsilon, and all of it
SELECT dp_grant('t', 'regress_led_ana', 0.25, 0);
SELECT grantee, epsilon, delta, mu2_cap, eps_pure_cap, delta_add_cap FROM dpngram.budget WHERE grantee IS NOT NULL;
SELECT dp_grant('t', 'regress_led_ana');
SELECT grantee FROM dpngram.budget WHERE dataset = 't';
-- a role that can't name the relation
RESET ROLE;
CREATE SCHEMA closed AUTHORIZATION regress_led_owner;
SET ROLE regress_led_owner;
CREATE TABLE closed.t (who int);
SELECT dp_protect('closed.t', 'who', 1, 0);
SELECT dp_grant('closed.t', 'regress_led_ana');
SELECT dp_unprotect('closed.t');

-- only the owner: not the analyst, nor a stranger
SET ROLE regress_led_ana;
SELECT try($$dp_grant('t', 'regress_led_other')$$);
SELECT try($$dp_revoke('t', 'regress_led_ana')$$);
SELECT try($$dp_unprotect('t')$$);
SELECT try($$dp_resume('t')$$);
SET ROLE regress_led_other;
SELECT try($$dp_unprotect('t')$$);
SELECT try($$dp_unprotect(NULL)$$);
SELECT try($$dp_resume('nothing')$$);
RESET ROLE;
GRANT regress_led_owner TO regress_led_other;
SET ROLE regress_led_other;
SELECT dp_revoke('t', 'regress_led_ana');
RESET ROLE;
REVOKE regress_led_owner FROM regress_led_other;
SELECT try($$dp_revoke('t', 'regress_led_ana')$$);

-- nothing in a read-only transaction
BEGIN READ ONLY;
SELECT dp_unprotect('t');
ROLLBACK;

-- every act is in the log, at no price
SELECT caller_role, grantee, mechanism, parameters - 'pure_share' - 'delta_share' AS parameters,
	mu2 + eps_pure + delta_add AS price, status
  FROM dpngram.releases WHERE dataset = 't' ORDER BY id;

-- a renamed relation keeps its dataset, and the log and views follow
SET ROLE regress_led_owner;
ALTER TABLE t RENAME TO renamed;
ALTER TABLE renamed RENAME COLUMN who TO person;
SELECT dataset, relation, status FROM dpngram.budget;
SELECT dp_resume('t');
-- a changed privacy unit or owner suspends it, until the owner says so
DROP VIEW w, v;
ALTER TABLE renamed ALTER COLUMN person TYPE bigint;
SELECT dataset, relation, status FROM dpngram.budget;
SELECT try($$dp_grant('t', 'regress_led_ana')$$);
SELECT * FROM dp_ngrams('renamed', 'person', 'what', 0.1, 1e-7);
SELECT dp_resume('t');
SELECT dataset, relation, status FROM dpngram.budget;
RESET ROLE;
GRANT CREATE ON SCHEMA led TO regress_led_other;
ALTER TABLE renamed OWNER TO regress_led_other;
SET ROLE regress_led_owner;
SELECT count(*) FROM dpngram.budget;
SELECT try($$dp_resume('t')$$);
SET ROLE regress_led_other;
SELECT dataset, relation, status FROM dpngram.budget;
SELECT dp_resume('t');
SELECT dataset, relation, status FROM dpngram.budget;
SELECT mechanism, parameters FROM dpngram.releases WHERE mechanism = 'dp_resume' ORDER BY id;

-- a new table of an old name inherits nothing; the old dataset stays its owner's
DROP TABLE renamed CASCADE;
RESET ROLE;
CREATE TABLE led.renamed (person bigint, what text);
SET search_path = led, public;
SELECT * FROM dp_ngrams('renamed', 'person', 'what', 0.1, 1e-7);
SELECT dataset, relation, status FROM dpngram.budget;
ALTER TABLE renamed OWNER TO regress_led_owner;
SET ROLE regress_led_owner;
SELECT count(*) FROM dpngram.budget;
SELECT try($$dp_resume('t')$$);
SELECT dp_protect('renamed', 'person', 1, 0);
SET ROLE regress_led_other;
SELECT try($$dp_resume('t')$$);
SELECT dp_unprotect('t');
RESET ROLE;

-- the log can only grow, whoever asks
SET search_path = pg_catalog;
UPDATE dpngram.release SET mu2 = 0;
DELETE FROM dpngram.release;
TRUNCATE dpngram.release;
UPDATE dpngram.release_end SET status = 'failed';
DELETE FROM dpngram.release_end;
TRUNCATE dpngram.release_end;
SET session_replication_role = replica;
DELETE FROM dpngram.release;
RESET session_replication_role;
SELECT dpngram.append_only();
RESET search_path;

-- every object has a comment of one line that does not read as a sentence: members of
-- the extension, columns, triggers, indexes and constraints that were given a name
WITH member AS (
	SELECT d.classid, d.objid
	  FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
	 WHERE e.extname = 'dpngram' AND d.deptype = 'e'
), relation AS (
	SELECT c.oid, c.relkind FROM member JOIN pg_class c ON classid = 'pg_class'::regclass AND objid = c.oid
	UNION ALL
	SELECT t.typrelid, 'c' FROM member JOIN pg_type t ON classid = 'pg_type'::regclass AND objid = t.oid
	 WHERE t.typrelid <> 0 AND EXISTS (SELECT FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c')
), object (classid, objid, objsubid) AS (
	-- types of rows and arrays are made with what they belong to
	SELECT classid, objid, 0 FROM member
	 WHERE classid <> 'pg_type'::regclass OR objid = 'dpngram.oue_estimate'::regtype
	UNION ALL
	SELECT 'pg_class'::regclass, a.attrelid, a.attnum
	  FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
	 WHERE r.relkind <> 'S'
	UNION ALL
	SELECT 'pg_trigger'::regclass, t.oid, 0 FROM relation r JOIN pg_trigger t ON t.tgrelid = r.oid WHERE NOT t.tgisinternal
	UNION ALL
	SELECT 'pg_class'::regclass, i.indexrelid, 0 FROM relation r JOIN pg_index i ON i.indrelid = r.oid
	 WHERE NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
	UNION ALL
	SELECT 'pg_constraint'::regclass, c.oid, 0 FROM relation r JOIN pg_constraint c ON c.conrelid = r.oid
	 WHERE c.contype = 'c' AND cardinality(c.conkey) > 1
)
SELECT pg_describe_object(o.classid, o.objid, o.objsubid) AS object, c.description
  FROM object o
  LEFT JOIN pg_description c ON (c.classoid, c.objoid, c.objsubid) = (o.classid, o.objid, o.objsubid)
 WHERE c.description IS NULL OR c.description ~ '^(?!Gaussian)[A-Z][a-z]|\.$|\n'
 ORDER BY 1;
-- and every argument of a function a name
SELECT p.oid::regprocedure AS nameless
  FROM pg_proc p
  JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
  JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
 WHERE e.extname = 'dpngram' AND (coalesce(cardinality(p.proargnames), 0) < p.pronargs OR '' = ANY (p.proargnames));

SELECT dp_unprotect('renamed');
SET client_min_messages = warning;
DROP TABLE mine;
DROP SCHEMA led CASCADE;
DROP SCHEMA closed CASCADE;
DROP FUNCTION try;
DROP ROLE regress_led_owner, regress_led_other, regress_led_ana;
