-- measured.sql: what scale.sh measures.
CREATE TABLE read_time (dataset text, method text, stage text, run int, seconds float8);
CREATE TABLE phase_time (dataset text, method text, place int, level int, round int, phase text, entered bigint,
	tokens bigint, seconds float8);
CREATE TABLE whole_call (dataset text, method text, copies int, work_mem text, workers int, run int, seconds float8,
	processor float8, contexts_mb float8, pages_mb float8, temp_mb float8, rows bigint);
CREATE TABLE dataset_tokens (dataset text PRIMARY KEY, tokens bigint);
