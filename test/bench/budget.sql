-- budget.sql: three histories of calls and what they have spent, by each accounting, after
-- every call, as dpngram.budget tells it: as tables, into :folder for the plot, and held
-- against what the manual says of them.
--
-- The table is small, because prices don't depend on it.

SET client_min_messages = warning;
CREATE TABLE histories (who int, said text);
INSERT INTO histories SELECT i, 'one two three' FROM generate_series(1, 20) i;
CREATE TABLE public_words AS SELECT ngram, 1 AS count FROM unnest('{one,two,three}'::text[]) ngram;
CREATE TABLE spent (history text, accounting text, calls int, epsilon float8, PRIMARY KEY (history, accounting, calls));

-- A dataset of the table, without what the one before it lost.
CREATE FUNCTION begin_history(accounting text, epsilon float8, delta float8, pure_share float8, delta_share float8) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM dp_unprotect('histories') FROM dpngram.budget WHERE dataset = 'histories' AND grantee IS NULL;
	PERFORM dp_protect('histories', 'who', epsilon, delta, accounting => accounting, pure_share => pure_share, delta_share => delta_share,
		options => '{"carry_forward": false}');
END $$;

CREATE FUNCTION gaussian(epsilon float8, delta float8, threshold_share float8 DEFAULT 0.1) RETURNS void LANGUAGE sql AS $$
	SELECT count(*) FROM dp_ngrams('histories', 'who', 'said', epsilon, delta, threshold_share => threshold_share) $$;
CREATE FUNCTION pure(epsilon float8) RETURNS void LANGUAGE sql AS $$
	SELECT count(*) FROM bayes_dp_dist('histories', 'who', 'said', 'public_words', epsilon, 0, method => 'laplace', n => 1) $$;

-- Calls of (1, 1e-7) until a dataset of (4, 1e-6) refuses the next: one dataset an accounting.
DO $$
DECLARE
	mode text;
	made int;
BEGIN
	FOREACH mode IN ARRAY '{gdp,zcdp,basic}'::text[] LOOP
		PERFORM begin_history(mode, 4, 1e-6, 0.001, 0.25);
		COMMIT;
		made := 0;
		LOOP
			INSERT INTO spent SELECT 'held', mode, made, spent_epsilon FROM dpngram.budget WHERE dataset = 'histories';
			BEGIN
				PERFORM gaussian(1, 1e-7);
			EXCEPTION WHEN SQLSTATE 'NG001' THEN
				EXIT;
			END;
			made := made + 1;
		END LOOP;
	END LOOP;
END $$;

-- The same history in all three: twelve calls of (0.5, 1e-8), and the sum of their epsilons,
-- which holds at the sum of their deltas.
CREATE PROCEDURE meter(history text, calls int) LANGUAGE sql AS $$
	INSERT INTO spent SELECT history, a.accounting, calls, a.epsilon
	FROM dpngram.budget, LATERAL (VALUES ('gdp', epsilon_by_gdp), ('zcdp', epsilon_by_zcdp), ('basic', basic_epsilon_spent::float8)) a (accounting, epsilon)
	WHERE dataset = 'histories' $$;
DO $$
BEGIN
	PERFORM begin_history('gdp', 4, 1e-7, 0.001, 0.7);
	COMMIT;
	CALL meter('twelve', 0);
	FOR i IN 1 .. 12 LOOP
		PERFORM gaussian(0.5, 1e-8);
		CALL meter('twelve', i);
	END LOOP;
END $$;

-- One call of mu 0.5, which is (2.25, 1e-6), and thirty pure ones of 0.05.
DO $$
BEGIN
	PERFORM begin_history('gdp', 10, 1e-6, 0.5, 0.25);
	COMMIT;
	CALL meter('mixed', 0);
	PERFORM gaussian(2.25, 1e-6, 0.00001);
	CALL meter('mixed', 1);
	FOR i IN 1 .. 30 LOOP
		PERFORM pure(0.05);
		CALL meter('mixed', 1 + i);
	END LOOP;
END $$;

\echo
\echo ---- held: epsilon spent of a budget of (4, 1e-6) after so many calls of (1, 1e-7), one dataset an accounting
SELECT accounting, calls, round(epsilon::numeric, 2) AS epsilon FROM spent WHERE history = 'held' AND calls > 0 ORDER BY calls, accounting \crosstabview accounting calls
\echo ---- twelve: calls of (0.5, 1e-8); gdp and zcdp at delta 1e-7, basic at the sum of the deltas
SELECT accounting, calls, round(epsilon::numeric, 2) AS epsilon FROM spent WHERE history = 'twelve' AND calls > 0 ORDER BY calls, accounting \crosstabview accounting calls
\echo ---- mixed: a call of (2.25, 1e-6) and pure ones of 0.05; at delta 1e-6
SELECT accounting, calls, round(epsilon::numeric, 2) AS epsilon FROM spent WHERE history = 'mixed' AND calls % 5 = 1 ORDER BY calls, accounting \crosstabview accounting calls

\t on
\pset format unaligned
\set file :folder '/budget.dat'
SELECT string_agg(block, E'\n\n\n' ORDER BY history, accounting)
FROM (SELECT history, accounting, format(E'# "%s, %s"\n%s', history, accounting,
		string_agg(calls || ' ' || round(epsilon::numeric, 4), E'\n' ORDER BY calls)) AS block
	FROM spent GROUP BY history, accounting) s \g :file
\pset format aligned
\t off

-- What doc/budgets.md and doc/privacy.md say of these histories; a call's own errors are within half a hundredth.
CREATE TEMP TABLE said (what text, reached numeric, written numeric);
INSERT INTO said SELECT 'calls that a budget holds, ' || accounting, max(calls), written
FROM spent JOIN (VALUES ('gdp', 15), ('zcdp', 13), ('basic', 4)) w (accounting, written) USING (accounting) WHERE history = 'held' GROUP BY 1, 3;
INSERT INTO said SELECT history || ', ' || accounting, round(epsilon::numeric, 2), written
FROM spent JOIN (VALUES ('twelve', 12, 'gdp', 1.70), ('twelve', 12, 'zcdp', 1.81), ('twelve', 12, 'basic', 6),
	('mixed', 31, 'gdp', 3.91), ('mixed', 31, 'zcdp', 2.79), ('mixed', 31, 'basic', 3.75)) w (history, calls, accounting, written)
	USING (history, calls, accounting);
\echo ---- beside what the manual says
SELECT what, reached, written, CASE WHEN abs(reached - written) <= 0.005 THEN 'ok' ELSE 'NOT OK' END AS verdict FROM said;
DO $$ BEGIN
	IF (SELECT count(*) FROM said WHERE abs(reached - written) <= 0.005) < 9 THEN
		RAISE EXCEPTION 'the manual says otherwise';
	END IF;
END $$;
SELECT dp_unprotect('histories') \g /dev/null
