-- The functions of the module.  phase.dp_ngrams is dp_ngrams in the library that has a clock; in
-- a session that calls it the extension's own library must not be loaded.
\set lib `echo "$PHASE_TEST_MODULE"`
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS dpngram;
\c
SET client_min_messages = error;
CREATE SCHEMA phase;

SELECT format('CREATE FUNCTION phase.dp_ngrams(%s) RETURNS %s AS %L, %L LANGUAGE c VOLATILE',
	pg_get_function_arguments(oid), pg_get_function_result(oid), :'lib', prosrc) AS definition
FROM pg_proc WHERE proname = 'dp_ngrams' AND prosrc = 'dpngram_dp_ngrams' \gset
:definition;

CREATE FUNCTION phase.start(clock bool) RETURNS void AS :'lib', 'phase_start' LANGUAGE c;
CREATE FUNCTION phase.stop() RETURNS float8 AS :'lib', 'phase_stop' LANGUAGE c;
CREATE FUNCTION phase.stage(text) RETURNS void AS :'lib', 'phase_stage' LANGUAGE c;
CREATE FUNCTION phase.tokens() RETURNS bigint AS :'lib', 'phase_tokens' LANGUAGE c;
CREATE FUNCTION phase.times(OUT place int, OUT level int, OUT round int, OUT phase text, OUT entered bigint,
	OUT tokens bigint, OUT seconds float8) RETURNS SETOF record AS :'lib', 'phase_times' LANGUAGE c;
CREATE FUNCTION phase.memory(OUT samples bigint, OUT contexts_before bigint, OUT contexts bigint,
	OUT pages_before bigint, OUT pages bigint) RETURNS record AS :'lib', 'phase_memory' LANGUAGE c;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA phase FROM PUBLIC;
