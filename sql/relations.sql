-- Every kind of relation, odd names, row security, edge cases of the data
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
SET client_min_messages = error;
CREATE ROLE regress_rel_owner;
CREATE ROLE regress_rel_analyst;
CREATE SCHEMA "my ""odd"" schema" AUTHORIZATION regress_rel_owner;
GRANT USAGE ON SCHEMA "my ""odd"" schema" TO regress_rel_analyst;
SET search_path = "my ""odd"" schema", public;
SET ROLE regress_rel_owner;

CREATE FUNCTION words(relation regclass, user_col name, text_col name) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(ngram, ', ' ORDER BY n, ngram COLLATE "C")
	FROM dp_ngrams(relation, user_col, text_col, 8, 1e-3, max_length => 2, spurious => 1e-6) $$;

-- quoted identifiers, also hostile ones
CREATE TABLE "a ""b; DROP TABLE x" ("User Name" varchar, "; DROP --" text);
INSERT INTO "a ""b; DROP TABLE x" SELECT 'user ' || i, 'Hello World' FROM generate_series(1, 200) i;
SELECT dp_protect('"a ""b; DROP TABLE x"', 'User Name', 100, 1e-1, dataset => 'odd');
SELECT dp_grant('odd', 'regress_rel_analyst');
-- a view, whose other column can't be named
CREATE TABLE base (who int, what text, secret text);
INSERT INTO base SELECT i, 'good morning', 'bad' FROM generate_series(1, 200) i;
CREATE VIEW v AS SELECT who, upper(what) AS what FROM base;
SELECT dp_protect('v', 'who', 100, 1e-1, dataset => 'view');
SELECT dp_grant('view', 'regress_rel_analyst');
CREATE MATERIALIZED VIEW mv AS SELECT who, what || ' dear' AS what FROM base;
SELECT dp_protect('mv', 'who', 100, 1e-1, dataset => 'mv');
SELECT dp_grant('mv', 'regress_rel_analyst');
-- a partitioned table, users across partitions
CREATE TABLE parts (who bigint, what text, day int) PARTITION BY LIST (day);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO parts SELECT i, 'over there', 1 + d FROM generate_series(1, 200) i, generate_series(0, 1) d;
SELECT dp_protect('parts', 'who', 100, 1e-1, dataset => 'parts');
SELECT dp_grant('parts', 'regress_rel_analyst');
SELECT dp_protect('parts1', 'who', 100, 1e-1, dataset => 'part1');
-- row security: the owner sees all, unless it is forced
CREATE TABLE rls (who uuid, what text);
INSERT INTO rls SELECT md5(i::text)::uuid, 'row security' FROM generate_series(1, 200) i;
ALTER TABLE rls ENABLE ROW LEVEL SECURITY;
SELECT dp_protect('rls', 'who', 100, 1e-1, dataset => 'rls');
SELECT dp_grant('rls', 'regress_rel_analyst');
-- inheritance
CREATE TABLE parent (who text, what text);
CREATE TABLE child () INHERITS (parent);
INSERT INTO child SELECT 'u' || i, 'from child' FROM generate_series(1, 200) i;
SELECT dp_protect('parent', 'who', 100, 1e-1, dataset => 'parent');
SELECT dp_grant('parent', 'regress_rel_analyst');
-- a generated column, a domain, char(n), an array of a domain's base
CREATE DOMAIN phrase AS text;
CREATE TABLE typed (who name, p phrase, c char(20), a bigint[], s smallint[], g text GENERATED ALWAYS AS (p || ' all') STORED);
INSERT INTO typed SELECT 'u' || i, 'domain text', 'fixed width', '{7,8,7}', '{1,1}' FROM generate_series(1, 200) i;
SELECT dp_protect('typed', 'who', 200, 1e-1, dataset => 'typed');
SELECT dp_grant('typed', 'regress_rel_analyst');
-- columns that are computed when they are read, from PostgreSQL 18 on
SELECT CASE WHEN current_setting('server_version_num')::int >= 180000 THEN 'VIRTUAL' ELSE 'STORED' END AS kind \gset
CREATE TABLE computed (id int, who int GENERATED ALWAYS AS (id / 2) :kind, t text, what text GENERATED ALWAYS AS (t || ' too') :kind);
INSERT INTO computed (id, t) SELECT i, 'virtually' FROM generate_series(2, 401) i;
SELECT dp_protect('computed', 'who', 100, 1e-1, dataset => 'computed');
SELECT dp_grant('computed', 'regress_rel_analyst');

SET ROLE regress_rel_analyst;
SELECT words('"a ""b; DROP TABLE x"', 'User Name', '; DROP --');
SELECT words('v', 'who', 'what');
SELECT words('v', 'who', 'secret');
SELECT words('mv', 'who', 'what');
SELECT words('parts', 'who', 'what');
SELECT words('rls', 'who', 'what');
SELECT words('parent', 'who', 'what');
SELECT words('typed', 'who', 'p');
SELECT words('typed', 'who', 'c');
SELECT words('typed', 'who', 'a');
SELECT words('typed', 'who', 's');
SELECT words('typed', 'who', 'g');
SELECT words('computed', 'who', 'what');
-- 200 users of two rows each, whose two words weigh 1/sqrt(2)
SELECT ngram, weight BETWEEN 80 AND 200 AS of_users FROM dp_ngrams('computed', 'who', 'what', 8, 1e-3, method => 'dpne', max_length => 1, spurious => 1e-6);
SET ROLE regress_rel_owner;
ALTER TABLE rls FORCE ROW LEVEL SECURITY;
SET ROLE regress_rel_analyst;
SELECT words('rls', 'who', 'what');
SET row_security = off;
SELECT words('rls', 'who', 'what');
RESET row_security;

-- a foreign table: postgres_fdw to the same server, as whom peer authentication lets in: who ran initdb
RESET ROLE;
SELECT format('CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
	split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database()) AS create_server \gset
\set ECHO none
:create_server;
\set ECHO all
GRANT USAGE ON FOREIGN SERVER loop TO regress_rel_owner;
SELECT format('CREATE USER MAPPING FOR regress_rel_owner SERVER loop OPTIONS (user %L, password_required ''false'')', oid::regrole) AS create_mapping FROM pg_roles WHERE oid = 10 \gset
\set ECHO none
:create_mapping;
\set ECHO all
SET ROLE regress_rel_owner;
CREATE FOREIGN TABLE remote (who int, what text) SERVER loop OPTIONS (schema_name 'my "odd" schema', table_name 'base');
SELECT dp_protect('remote', 'who', 100, 1e-1, dataset => 'remote');
SELECT dp_grant('remote', 'regress_rel_analyst');
SET ROLE regress_rel_analyst;
SELECT words('remote', 'who', 'what');
RESET ROLE;

-- edge cases: empty, all null, one user, one token, nothing but blanks
SET ROLE regress_rel_owner;
CREATE TABLE edge (who int, what text, list int[]);
SELECT dp_protect('edge', 'who', 1000, 1e-1, dataset => 'edge');
SELECT dp_ngrams('edge', 'who', 'what', 8, 1e-3);
SELECT dp_ngrams('edge', 'who', 'what', 8, 1e-3, method => 'dpsu-all');
INSERT INTO edge SELECT NULL, NULL, NULL FROM generate_series(1, 100);
INSERT INTO edge SELECT NULL, 'a', '{1}' FROM generate_series(1, 100);
INSERT INTO edge SELECT i, NULL, NULL FROM generate_series(1, 100) i;
INSERT INTO edge SELECT i, '   ', '{}' FROM generate_series(1, 100) i;
INSERT INTO edge SELECT i, '_ __ ?', '{NULL,NULL}' FROM generate_series(1, 100) i;
SELECT dp_ngrams('edge', 'who', 'what', 8, 1e-3);
SELECT dp_ngrams('edge', 'who', 'list', 8, 1e-3, pruning => 'single');
TRUNCATE edge;
INSERT INTO edge VALUES (1, repeat('only one user ', 10000), '{1}');
SELECT dp_ngrams('edge', 'who', 'what', 1, 1e-6);
TRUNCATE edge;
INSERT INTO edge SELECT i, 'token', '{1}' FROM generate_series(1, 500) i;
SELECT n, ngram FROM dp_ngrams('edge', 'who', 'what', 8, 1e-3, max_length => 32, spurious => 1e-6);
-- every user says the same word again and again: one n-gram of every length
TRUNCATE edge;
INSERT INTO edge SELECT i, repeat('ha ', 40), '{1}' FROM generate_series(1, 500) i;
SELECT n, length(ngram) FROM dp_ngrams('edge', 'who', 'what', 50, 1e-3, max_length => 32, spurious => 1e-6);
-- a text of 100 MB, and a token of 1 MB
TRUNCATE edge;
INSERT INTO edge SELECT i, 'long text', '{1}' FROM generate_series(1, 300) i;
INSERT INTO edge VALUES (301, repeat('long text ', 10 * 1024 * 1024), '{1}'), (302, repeat('x', 1024 * 1024), '{1}');
SELECT n, ngram FROM dp_ngrams('edge', 'who', 'what', 8, 1e-3, max_length => 2, spurious => 1e-6);

-- equality of users is that of their type
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE cased (who text COLLATE ignore_case, what text);
INSERT INTO cased SELECT CASE WHEN i % 2 = 0 THEN 'Ana' ELSE 'aNA' END, 'word' || i FROM generate_series(1, 1000) i;
INSERT INTO cased SELECT CASE WHEN i % 2 = 0 THEN 'Ana' ELSE 'aNA' END, 'same' FROM generate_series(1, 1000) i;
SELECT dp_protect('cased', 'who', 1000, 1e-1, dataset => 'cased');
-- one person, however written: the most that her word weighs is 1
SELECT count(*) FROM dp_ngrams('cased', 'who', 'what', 1, 1e-6);

RESET ROLE;
SELECT dp_unprotect(d) FROM unnest('{odd,view,mv,parts,rls,parent,typed,computed,remote,edge,cased}'::text[]) d;
SET client_min_messages = error;
DROP SCHEMA "my ""odd"" schema" CASCADE;
DROP SERVER loop CASCADE;
DROP ROLE regress_rel_owner, regress_rel_analyst;
