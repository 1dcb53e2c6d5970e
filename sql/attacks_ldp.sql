-- Local differential privacy under attack: rounds, reports and states that nobody published, and what
-- an owner's names and a client's errors may do.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
SET client_min_messages = error;
CREATE SCHEMA atl;
CREATE TABLE atl.reports (report jsonb, other text);

-- the state, message, detail and hint of an error, or the answer
CREATE FUNCTION atl.try(query text, OUT answer text) LANGUAGE plpgsql AS $$
DECLARE
	state text; message text; detail text; hint text;
BEGIN
	EXECUTE query INTO answer;
	answer := 'answered ' || coalesce(left(answer, 60), 'NULL');
EXCEPTION WHEN query_canceled OR OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
		hint = PG_EXCEPTION_HINT;
	answer := concat_ws(' | ', state, left(message, 80), nullif(detail, ''), nullif(hint, ''));
END $$;
-- a client's answer that shows no random bits
CREATE FUNCTION atl.encode(round jsonb, term text DEFAULT 'abc') RETURNS text LANGUAGE sql AS $$
	SELECT atl.try(format('SELECT translate(ldp_encode(%L, %L, 1, %L, %L) ->> %L, %L, %L)', 'privtrie', term, round,
		'\x' || repeat('ab', 16), 'bits', '01', 'bb')) $$;
CREATE FUNCTION atl.decode(rounds text, reports text DEFAULT 'atl.reports', report_col text DEFAULT 'report')
	RETURNS text LANGUAGE sql AS $$
	SELECT atl.try(format('SELECT count(*) FROM ldp_decode(%s, %L, %L)', rounds, reports, report_col)) $$;
-- a published round that asks every client
CREATE FUNCTION atl.round(change jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT ldp_round('privtrie', 1, 5, 'a-e', 5) || '{"from": 0, "to": 1048576}' || change $$;

-- rounds that nobody published: what a client makes of them
SELECT left(change::text, 50) AS change, atl.encode(atl.round(change)) FROM unnest(ARRAY[
	'{"nodes": []}', '{"nodes": {}}', '{"nodes": null}', '{"nodes": "^a"}', '{"nodes": [["^a"]]}', '{"nodes": [1]}', '{"nodes": [""]}',
	'{"nodes": ["a"]}', '{"nodes": ["^z"]}', '{"nodes": ["^abcdef"]}', '{"nodes": ["=abcde", "=abcdea"]}',
	'{"nodes": ["^", "=", "^a", "^a", "^ab", "=a", "=b"]}',
	'{"k": 0}', '{"k": 1.5}', '{"k": 1e400}', '{"k": "NaN"}', '{"epsilon": 1e400}', '{"epsilon": 1e-400}', '{"epsilon": 2}', '{"eta": 1e400}',
	'{"max_length": 0}', '{"max_length": 1001}', '{"alphabet": ""}', '{"alphabet": "b-e"}', '{"alphabet": 5}',
	'{"method": "bsl"}', '{"method": "magic"}', '{"method": "pem"}', '{"round": 0}', '{"round": 2147483648}',
	'{"from": -1}', '{"from": 0.5}', '{"to": 1048577}', '{"to": 1e300}', '{"frontier": 1e9}', '{"lifetime": -1}'
]::jsonb[]) change;
SELECT round, atl.encode(round) FROM unnest('{null, 5, "\"x\"", [], "{}", "[{}]"}'::jsonb[]) round;
SELECT atl.encode(atl.round('{}'), term) = atl.encode(atl.round('{}'), 'abc') AS same_shape
FROM unnest(ARRAY[NULL, '', repeat('a', 1001), repeat('a', 1000000), 'z']) term;
SELECT atl.encode(atl.round('{"max_length": 1000}') ||
	jsonb_build_object('nodes', jsonb_build_array('^' || repeat('a', 1000), '=' || repeat('a', 1000), '^b')), repeat('a', 1000));
SELECT atl.encode(atl.round('{"max_length": 1000}') || jsonb_build_object('nodes', jsonb_build_array('^' || repeat('a', 1001))));

-- rounds of no collection
SELECT rounds, atl.decode(rounds) FROM unnest(ARRAY[
	$$NULL$$, $$'{}'$$, $$'{NULL}'$$, $$ARRAY[[ldp_round('pem', 1)]]$$, $$'[5:5]={"{}"}'$$,
	$$ARRAY[ldp_round('pem', 1), ldp_round('pem', 1)]$$, $$ARRAY[ldp_round('pem', 1), ldp_round('pem', 1) || '{"round": 2}']$$,
	$$ARRAY[ldp_round('pem', 1) || '{"round": 2}']$$, $$ARRAY[atl.round('{}')]$$, $$ARRAY[ldp_round('privtrie', 1)]$$
]) rounds;
-- the second round has another alphabet, of the same size, or other limits: reports would be taken for what they don't say
CREATE TABLE atl.two AS SELECT f.r AS first, ldp_round(ARRAY[f.r], 'atl.reports') AS second
FROM (SELECT ldp_round('privtrie', 1, 5, 'a-e', 5) AS r) f;
SELECT change, atl.decode(format('ARRAY[%L::jsonb, %L]', first, second || change)) FROM atl.two, unnest(ARRAY[
	'{}', '{"alphabet": "abcde"}', '{"k": 6}', '{"max_length": 6}', '{"eta": 4}', '{"frontier": 7}', '{"consistency": false}', '{"epsilon": 2}'
]::jsonb[]) change;

-- reports that nobody sent are left out, whatever they are
INSERT INTO atl.reports SELECT r::jsonb FROM unnest(ARRAY[NULL, 'null', '[]', '5', '"x"', '{}', '{"round": 1}', '{"round": 1, "place": -1}',
	'{"round": 1e400, "place": 1e400}', '{"round": 1, "place": 1048576, "seed": 1, "value": 1}', '{"round": 1, "place": 5, "seed": 18446744073709551616, "value": 1}',
	'{"round": 1, "place": 5, "seed": 1.5, "value": 1}', '{"round": 1, "place": 5, "seed": 1, "value": 4294967295}', '{"round": 2, "place": 5, "seed": 1, "value": 1}',
	'{"round": 1, "place": 5, "bits": ["zz", "", ""]}', '{"round": 1, "place": 5, "bits": {"a": 1}}', '{"round": 1, "place": 5, "bits": [[], [], []]}']) r;
INSERT INTO atl.reports SELECT (repeat('[', 1000) || repeat(']', 1000))::jsonb;
INSERT INTO atl.reports SELECT jsonb_build_object('round', 1, 'place', 5, 'bits', repeat('1', 1000000), 'seed', 10::numeric ^ 1000, 'value', 0);
SET client_min_messages = notice;
SELECT m, atl.decode(format('ARRAY[ldp_round(%L, 1, max_length => 6)]', m)) FROM unnest('{privtrie,pem,treehist,rappor}'::text[]) m;
SET client_min_messages = error;
SELECT atl.decode($$ARRAY[ldp_round('pem', 1)]$$, 'atl.reports', c) FROM unnest('{nowhere,other,ctid,reports}'::text[]) c;
SELECT atl.decode($$ARRAY[ldp_round('pem', 1)]$$, '4294967295');

-- a client that meets another round each time holds one of them
SELECT max(held) FROM (
	SELECT ldp_encode('pem', 'abc', 1, ldp_round('pem', 1, i)) AS report,
		(SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'dpngram round' AND i > 0) AS held
	FROM generate_series(1, 5) i OFFSET 0) e;

-- nothing that a caller writes goes on when it is cancelled, a long list of ranges of few characters neither
SET statement_timeout = 20;
SELECT atl.try($$SELECT ldp_round('privtrie', 1, 5, repeat(U&'\D7FF-\E000', 32766), 5)$$);
RESET statement_timeout;

-- an epsilon that can't be divided is refused before it is debited
CREATE TABLE atl.t (u int, t text, j json);
INSERT INTO atl.t SELECT i, (ARRAY['lol', 'lol', 'brb'])[1 + i % 3] FROM generate_series(1, 40) i;
SELECT dp_protect('atl.t', 'u', 100, 0, dataset => 'atl', options => '{"public_user_count": true, "min_epsilon": 0}');
SELECT m, atl.try(format($$SELECT count(*) >= 0 FROM ldp_frequent_terms('atl.t', 'u', 't', %s, 5, %L)$$, epsilon, m))
FROM unnest('{bsl,rappor}'::text[], '{2e-5,2e-6}'::float8[]) v(m, epsilon);
SELECT atl.try($$SELECT ldp_round('rappor', 1e-5, options => '{"lifetime": 1e-4}')$$), atl.try($$SELECT ldp_round('rappor', 1e-6)$$);
SELECT count(*) FROM dpngram.releases WHERE dataset = 'atl' AND mechanism = 'ldp_frequent_terms';
SELECT m, atl.try(format($$SELECT count(*) >= 0 FROM ldp_frequent_terms('atl.t', 'u', 't', %s, 5, %L)$$, epsilon, m))
FROM unnest('{bsl,ibsl,rappor}'::text[], '{4e-5,1e-6,4e-6}'::float8[]) v(m, epsilon);

-- what the ledger keeps of an alphabet is short, however it is written
CREATE TABLE atl.long AS SELECT string_agg(chr(c), '' ORDER BY -c) AS alphabet FROM generate_series(256, 55295) c;
SELECT count(*) >= 0 AS answered FROM atl.long, ldp_frequent_terms('atl.t', 'u', 't', 1, 5, alphabet => alphabet);
SELECT parameters - 'alphabet_sha256' AS parameters, parameters ->> 'alphabet_sha256' = encode(sha256(convert_to(alphabet, 'UTF8')), 'hex') AS hash
FROM dpngram.releases, atl.long WHERE dataset = 'atl' ORDER BY id DESC LIMIT 1;

-- whatever becomes of the transaction, a call stays debited, and what a view's functions raise reaches nobody
CREATE ROLE regress_atl_ana;
GRANT USAGE ON SCHEMA atl TO regress_atl_ana;
CREATE FUNCTION atl.loud(t text) RETURNS text LANGUAGE plpgsql AS
	$$ BEGIN RAISE INFO 'someone has %', t; RAISE NOTICE 'someone has %', t; RETURN t; END $$;
CREATE FUNCTION atl.failing(t text) RETURNS text LANGUAGE plpgsql AS
	$$ BEGIN IF t = 'brb' THEN RAISE EXCEPTION 'someone has %', t; END IF; RETURN t; END $$;
CREATE VIEW atl.loud AS SELECT u, atl.loud(t) AS t FROM atl.t;
CREATE VIEW atl.failing AS SELECT u, atl.failing(t) AS t FROM atl.t;
SELECT dp_protect(v, 'u', 16, 0, dataset => v::text, options => '{"public_user_count": true}') FROM unnest('{atl.loud,atl.failing}'::regclass[]) v;
SELECT dp_grant(d, 'regress_atl_ana') FROM unnest('{atl.loud,atl.failing}'::text[]) d;
SET ROLE regress_atl_ana;
SET client_min_messages = notice;
BEGIN;
SELECT count(*) >= 0 AS answered FROM ldp_frequent_terms('atl.loud', 'u', 't', 2);
ROLLBACK;
BEGIN;
SAVEPOINT before;
SELECT count(*) >= 0 AS answered FROM ldp_frequent_terms('atl.loud', 'u', 't', 2);
ROLLBACK TO before;
DECLARE c CURSOR FOR SELECT count(*) >= 0 AS answered FROM ldp_frequent_terms('atl.loud', 'u', 't', 2);
FETCH c;
ROLLBACK;
PREPARE ask AS SELECT count(*) >= 0 AS answered FROM ldp_frequent_terms('atl.loud', 'u', 't', 2);
EXECUTE ask;
EXECUTE ask;
DO $$ BEGIN PERFORM ldp_frequent_terms('atl.loud', 'u', 't', 2); RAISE EXCEPTION 'no'; EXCEPTION WHEN raise_exception THEN NULL; END $$;
EXECUTE ask;
EXECUTE ask;
EXECUTE ask;
SELECT count(*), sum(epsilon) FROM dpngram.releases WHERE dataset = 'atl.loud';
\set VERBOSITY terse
SELECT * FROM ldp_frequent_terms('atl.failing', 'u', 't', 2);
\set VERBOSITY default
SELECT epsilon, used FROM dpngram.releases WHERE dataset = 'atl.failing';
-- nor may the analyst read the rows by another door
\set VERBOSITY terse
SELECT ldp_encode('pem', t, 32, ldp_round('pem', 32)) FROM atl.t;
SELECT * FROM ldp_decode(ARRAY[ldp_round('pem', 1)], 'atl.reports');
SELECT ldp_round(ARRAY[ldp_round('privtrie', 1)], 'atl.reports');
SELECT * FROM frequent_terms_fscore('{lol}', 'atl.t', 'u', 't');
\set VERBOSITY default
DEALLOCATE ask;
RESET ROLE;
SET client_min_messages = error;
SELECT dp_unprotect(d) FROM unnest('{atl.loud,atl.failing}'::text[]) d;

-- the truth: relations and columns of any name, none that there is not
CREATE TEMP TABLE given AS TABLE atl.t;
CREATE TEMP TABLE truth AS TABLE atl.t;
CREATE TABLE atl."a""b; DROP" ("truth" int, "given" text, "$1" text, "k" text, "%I" text);
INSERT INTO atl."a""b; DROP" SELECT u, t, t, t, t FROM atl.t;
SELECT r, u, c, f.* FROM (VALUES ('given', 'u', 't'), ('truth', 'u', 't'), ('pg_temp.given', 'u', 't'), ('atl."a""b; DROP"', 'truth', 'given'),
	('atl."a""b; DROP"', 'truth', '$1'), ('atl."a""b; DROP"', 'truth', 'k'), ('atl."a""b; DROP"', 'truth', '%I')) v(r, u, c),
	frequent_terms_fscore('{lol}', r::regclass, u, c, 1) f;
SELECT arguments, atl.try('SELECT f::text FROM frequent_terms_fscore(' || arguments || ') f') FROM unnest(ARRAY[
	$$'{lol}', 'atl.t', 'u', 't', 0$$, $$'{lol}', 'atl.t', 'u', 't', -1$$, $$'{lol}', 'atl.t', 'nowhere', 't'$$, $$'{lol}', 'atl.t', 'u', 'ctid'$$,
	$$'{lol}', '4294967295', 'u', 't'$$, $$'{lol}', 'atl.t', 'j', 't'$$, $$'{lol}', NULL, 'u', 't'$$
]) arguments;

-- states that are none of oue_count's
SELECT s, atl.try(format('SELECT dpngram.oue_final(%L)', s)) FROM unnest('{"{0,0,0}","{NaN,5,2}","{1,NaN,2}","{1,2,3}","{1,Infinity,2}","{1,2,-1}","{1,2}","{}","{{1,2,1}}","{1,2,NULL}","{9,1e16,0}"}'::text[]) s;
SELECT atl.try(format('SELECT dpngram.oue_accum(%L, true, %L)', s, e)) FROM unnest('{"{1,5,2}","{1,5,2}","{1,5,2}","{1,5,2}"}'::text[], '{1,2,NaN,1e308}'::float8[]) v(s, e);
SELECT atl.try($$SELECT dpngram.oue_combine('{1,5,2}', '{2,5,2}')$$), atl.try($$SELECT dpngram.oue_combine('{1,5,2}', '{2,0,0}')$$);

DROP TABLE pg_temp.given, pg_temp.truth;
SELECT dp_unprotect('atl');
DROP SCHEMA atl CASCADE;
DROP ROLE regress_atl_ana;
