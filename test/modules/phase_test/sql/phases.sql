-- Every moment of a call belongs to one phase, and the levels to their rounds.
CREATE TABLE phase_texts AS
SELECT i AS who, (SELECT string_agg('w' || (i * j) % 97, ' ') FROM generate_series(1, 20) j) AS what FROM generate_series(1, 2000) i;
SET client_min_messages = error;
SELECT dp_protect('phase_texts', 'who', 100, 1e-2);
\c
SET client_min_messages = error;
SET dpngram.max_parallel_workers = 0;

-- each stage of reading meets all tokens, and nothing comes out
SELECT phase.stage('tokens');
SELECT count(*) FROM phase.dp_ngrams('phase_texts', 'who', 'what', 4, 1e-6, max_length => 3);
SELECT phase.tokens();
SELECT phase.stage('words');
SELECT count(*) FROM phase.dp_ngrams('phase_texts', 'who', 'what', 4, 1e-6, max_length => 3);
SELECT phase.stage('everything');
SELECT phase.stage('all');

SELECT phase.start(true);
SELECT count(*) > 97 AS released FROM phase.dp_ngrams('phase_texts', 'who', 'what', 4, 1e-6, max_length => 3, options => '{"rounds": 4}');
SELECT phase.stop() AS seconds \gset
SELECT level, CASE WHEN level > 1 THEN max(round) END AS rounds, CASE WHEN level < 3 THEN max(tokens) END AS tokens FROM phase.times() GROUP BY 1 ORDER BY 1;
SELECT abs(sum(seconds) / :seconds - 1) < 1e-6 AS every_moment, bool_and(seconds >= 0) AS forward FROM phase.times();
SELECT phase FROM phase.times() WHERE level = 2 GROUP BY 1 ORDER BY 1;

-- the same rows as the extension's own
SET dpngram.test_seed = 5;
SELECT md5(string_agg(r::text, ',')) AS watched FROM phase.dp_ngrams('phase_texts', 'who', 'what', 4, 1e-6, max_length => 3) r \gset
\c
SET client_min_messages = error;
SET dpngram.test_seed = 5;
SELECT md5(string_agg(r::text, ',')) = :'watched' AS same FROM dp_ngrams('phase_texts', 'who', 'what', 4, 1e-6, max_length => 3) r;
RESET dpngram.test_seed;
SELECT dp_unprotect('phase_texts');
DROP TABLE phase_texts;
