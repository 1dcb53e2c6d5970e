-- Bad input: a clear error for each, and nothing charged
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
SET client_min_messages = error;
\set VERBOSITY default
CREATE SCHEMA bad;
CREATE TABLE bad.t (u int, body text, n numeric, j json, tags int[]);
CREATE TABLE bad.unprotected (u int, body text);
INSERT INTO bad.t SELECT i, 'a b c', i, '{}', ARRAY[1, 2] FROM generate_series(1, 10) i;
CREATE ROLE regress_bad_stranger;
GRANT USAGE ON SCHEMA bad TO regress_bad_stranger;
SELECT dp_protect('bad.t', 'u', 10, 1e-5, columns => '{body,n,tags}');

CREATE FUNCTION bad.call(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	state text; message text; detail text; hint text; n bigint;
BEGIN
	EXECUTE 'SELECT count(*) FROM dp_ngrams(' || arguments || ')' INTO n;
	RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
		hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', state, message, nullif(detail, ''), nullif(hint, ''));
END $$;

SELECT arguments, bad.call(arguments) FROM unnest(ARRAY[
	$$'bad.t', 'u', 'body', 0, 1e-6$$,
	$$'bad.t', 'u', 'body', -1, 1e-6$$,
	$$'bad.t', 'u', 'body', 'NaN', 1e-6$$,
	$$'bad.t', 'u', 'body', 'Infinity', 1e-6$$,
	$$'bad.t', 'u', 'body', NULL, 1e-6$$,
	$$'bad.t', 'u', 'body', 1, 0$$,
	$$'bad.t', 'u', 'body', 1, 1$$,
	$$'bad.t', 'u', 'body', 1, -1e-6$$,
	$$'bad.t', 'u', 'body', 1, 'NaN'$$,
	$$'bad.t', 'u', 'body', 1, 1e-300$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, max_length => 0$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, max_length => 33$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, spurious => 0$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, spurious => 1$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, spurious => 'NaN'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, method => 'magic'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, pruning => 'none'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, tokenizer => 'magic'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, tokenizer => 'parser:nowhere'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, tokenizer => 'config:nowhere'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, tokenizer => 'config:'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, method => 'dpne', noise_ratio => 0$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, method => 'dpne', noise_ratio => 'Infinity'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, noise_ratio => 1.5$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, threshold_share => 1$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, max_contributions => 0$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, max_contributions => 1048577$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, max_contributions_per_length => '{1,2}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, max_contributions_per_length => '{NULL,2,2,2,2}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, max_contributions_per_length => '{1,2,0,2,2}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, max_contributions_per_length => '{{1,2},{3,4}}', max_length => 4$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, max_tokens => 0$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, length => 2$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, method => 'dpsu-single'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, method => 'dpsu-single', length => 6$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, method => 'dpne', options => '{"rounds": 3}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, method => 'dpsu-all', options => '{"schedule": "adaptive"}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '{"rounds": 0}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '{"rounds": 17}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '{"rounds": 2.5}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '{"rounds": 1e400}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '{"rounds": "many"}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '{"schedule": "fair"}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '{"schedule": 0}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '{"schedule": 1e400}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '{"schedule": 1e-30}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '{"schedule": null}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '{"schedule": [1.1]}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '{"spurious_of": "all"}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '{"spurious_of": 1}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '{"round": 3}'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => '[]'$$,
	$$'bad.t', 'u', 'body', 1, 1e-6, options => NULL$$,
	$$'bad.t', 'u', 'nothing', 1, 1e-6$$,
	$$'bad.t', 'u', 'ctid', 1, 1e-6$$,
	$$'bad.t', 'u', 'j', 1, 1e-6$$,
	$$'bad.t', 'u', 'n', 1, 1e-6$$,
	$$'bad.t', 'body', 'body', 1, 1e-6$$,
	$$'bad.t', 'ctid', 'body', 1, 1e-6$$,
	$$'bad.unprotected', 'u', 'body', 1, 1e-6$$,
	$$0::oid::regclass, 'u', 'body', 1, 1e-6$$,
	$$NULL, 'u', 'body', 1, 1e-6$$,
	$$'pg_catalog.pg_class', 'relname', 'relname', 1, 1e-6$$,
	$$'bad.t', 'u', 'body', 11, 1e-6$$,
	$$'bad.t', 'u', 'body', 1, 1e-2$$
]) AS arguments;

-- a role that was not granted
SET ROLE regress_bad_stranger;
SELECT * FROM dp_ngrams('bad.t', 'u', 'body', 1, 1e-6);
SELECT * FROM dp_ngrams('bad.t', 'u', 'nothing', 1, 1e-6);
RESET ROLE;
-- dp_set_union
SELECT * FROM dp_set_union('bad.t', 'u', 'body', 1, 1e-6, method => 'greedy');
SELECT * FROM dp_set_union('bad.t', 'u', 'body', 1, 1e-6, options => '{"threshold_share": 2}');
SELECT * FROM dp_set_union('bad.t', 'u', 'body', 1, 1e-6, options => '{"threshold_share": "a"}');
SELECT * FROM dp_set_union('bad.t', 'u', 'body', 1, 1e-6, options => '{"eta": 1}');

-- nothing was charged, and the whole budget still fits in one call, but not twice
SELECT count(*) FROM dpngram.releases WHERE relation = 'bad.t' AND mechanism IN ('dp_ngrams', 'dp_set_union');
SELECT bad.call($$'bad.t', 'u', 'body', 10, 1e-5$$);
SELECT bad.call($$'bad.t', 'u', 'body', 10, 1e-5$$) LIKE 'NG001%' AS refused;

SELECT dp_unprotect('bad.t');

-- a dataset without delta has nothing for Gaussian noise; the log tells which share was taken
CREATE TABLE bad.pure AS SELECT 1 AS u, 'a b'::text AS body;
SELECT dp_protect('bad.pure', 'u', 1, 0);
SELECT bad.call($$'bad.pure', 'u', 'body', 1, 1e-6$$);
SELECT dp_unprotect('bad.pure');
CREATE TABLE bad.share AS SELECT 1 AS u, 'a b'::text AS body;
SELECT dp_protect('bad.share', 'u', 1, 1e-6);
SELECT count(*) FROM dp_ngrams('bad.share', 'u', 'body', 0.1, 1e-7, threshold_share => 0.125);
SELECT count(*) FROM dp_ngrams('bad.share', 'u', 'body', 0.1, 9e-7, threshold_share => 0.5);
SELECT parameters->'threshold_share' AS asked, round((used->>'threshold_share')::numeric, 6) AS used
FROM dpngram.releases WHERE relation = 'bad.share' AND mechanism = 'dp_ngrams' ORDER BY id;
SELECT dp_unprotect('bad.share');

-- one call for the whole budget of a fresh dataset fits, whatever its shares and the call's own
CREATE TABLE bad.fresh (u int, body text);
CREATE PROCEDURE bad.whole_budget() LANGUAGE plpgsql AS $$
DECLARE
	b record; answer text; refused int := 0; calls int := 0;
BEGIN
	FOR b IN SELECT * FROM (VALUES (0.1, 1e-9), (4, 1e-6), (50, 0.1)) budget (epsilon, delta),
		unnest('{1e-5,0.001,0.5}'::float8[]) pure_share, unnest('{0.01,0.25,0.9}'::float8[]) delta_share,
		(VALUES ($o$threshold_share => 0.5$o$), ($o$max_contributions => 20000$o$),
			($o$method => 'dpsu-all', max_length => 32, noise_ratio => 2$o$)) call (options)
	LOOP
		PERFORM dp_protect('bad.fresh', 'u', b.epsilon, b.delta, pure_share => b.pure_share,
			delta_share => b.delta_share, options => '{"carry_forward": false}');
		COMMIT;
		answer := bad.call(format($o$'bad.fresh', 'u', 'body', %s, %s, %s$o$, b.epsilon, b.delta, b.options));
		IF answer <> 'answered' THEN
			RAISE WARNING '%: %', b, answer;
			refused := refused + 1;
		END IF;
		calls := calls + 1;
		PERFORM dp_unprotect('bad.fresh');
		COMMIT;
	END LOOP;
	RAISE WARNING '% calls, % refused', calls, refused;
END $$;
SET client_min_messages = warning;
CALL bad.whole_budget();
SET client_min_messages = error;
DROP SCHEMA bad CASCADE;
DROP ROLE regress_bad_stranger;
