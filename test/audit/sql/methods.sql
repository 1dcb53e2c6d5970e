-- methods.sql: bounds, the set unions of the dpsu methods, and what a release
-- must not depend on: the order of rows and the memory.  After definition.sql.

SELECT '# random corpora from the seed ' || :seed || coalesce(setseed(:seed)::text, '');

-- bounds --------------------------------------------------------------------

-- One user: what is counted is seen n-gram by n-gram.
TRUNCATE corpus;
INSERT INTO corpus
SELECT 'only', 'a b c d e f g ' || i % 3 FROM generate_series(1, 9) i;
CREATE TABLE bounded (bound bigint, level int, kept bigint, weights bigint[]);
CREATE FUNCTION run_bounds() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR b IN 1 .. 14 LOOP
        PERFORM run('dpne', 'both', 3, b, 1e-6, 0, 1 << 24, NULL);
        INSERT INTO bounded
        SELECT b, level, count(*), array_agg(DISTINCT weight)
        FROM trace WHERE kind = 'histogram' GROUP BY level;
    END LOOP;
END
$$;
SELECT run_bounds();
SELECT tap(count(*) = 14 AND bool_and(kept = least(bound, 10)),
           'one user counts for min(bound, distinct) words, bounds 1 to 14')
FROM bounded WHERE level = 1;
SELECT tap(count(*) > 20 AND bool_and(weights = ARRAY[unit_weight(kept)] AND kept <= bound),
           'each with the weight floor(2^20 / sqrt(kept)), at all levels')
FROM bounded;

-- A list so long that it is bounded while it grows: the same words, forwards and backwards.
CREATE TABLE long_lists (run int, ngram text, weight bigint);
CREATE FUNCTION run_long() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 0 .. 1 LOOP
        TRUNCATE corpus;
        INSERT INTO corpus
        SELECT 'only', string_agg(w::text, ' ' ORDER BY CASE WHEN i = 0 THEN w ELSE -w END)
        FROM generate_series(1, 300000) w, generate_series(1, 2);
        PERFORM run('dpne', 'both', 1, 7, 1e-6, 0, 1 << 24, 11);
        INSERT INTO long_lists SELECT i, ngram, weight FROM trace WHERE kind = 'histogram';
    END LOOP;
END
$$;
SELECT run_long();
SELECT tap(count(*) = 14 AND count(DISTINCT ngram) = 7 AND bool_and(weight = unit_weight(7)),
           'of 300,000 words of one user the same 7 count, in whatever order they come')
FROM long_lists;

-- Many users: the sum of all weights tells whether each was bounded by itself.
SELECT random_corpus(80, 3, 12, 9);
CREATE FUNCTION bounded_total(k int, bound bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT sum(least(n, bound) * unit_weight(least(n, bound)))::bigint
    FROM (SELECT count(*) AS n FROM grams(k) g
          WHERE k = 1 OR ngram IN (SELECT valid(k, 'both')) GROUP BY usr) u
$$;
CREATE TABLE totals (bound bigint, level int, engine bigint, truth bigint);
CREATE FUNCTION run_totals() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    b bigint;
BEGIN
    FOREACH b IN ARRAY '{1,2,3,5,8,13,100}'::bigint[] LOOP
        PERFORM run('dpne', 'both', 3, b, 0.2, 0.3, 1 << 24, NULL);
        INSERT INTO totals
        SELECT b, level, sum(weight), bounded_total(level, b)
        FROM trace WHERE kind = 'histogram' GROUP BY level;
    END LOOP;
END
$$;
SELECT run_totals();
SELECT tap(count(*) = 7, format('80 users, bounds 1 to 100: the weights of level %s add up', level))
FROM totals WHERE engine = truth GROUP BY level ORDER BY level;
SELECT tap(count(DISTINCT level) = 3, 'at three levels') FROM totals;

-- set unions ----------------------------------------------------------------

-- All n-grams of the lengths of a method, with its weights; no V_k there.
CREATE FUNCTION union_reference(shortest int, longest int)
RETURNS TABLE (ngram text, weight bigint) LANGUAGE sql STABLE AS $$
    WITH g AS (SELECT g.usr, g.ngram FROM generate_series(shortest, longest) k, grams(k) g),
         w AS (SELECT g.ngram, unit_weight(count(*) OVER (PARTITION BY g.usr)) AS w FROM g)
    SELECT ngram, sum(w)::bigint FROM w GROUP BY ngram
$$;

-- The engine's rows against a reference, with noise of one lattice unit: exact
-- histogram by weights, every n-gram released, at its weight but for the noise.
CREATE FUNCTION union_differences(l int, shortest int, longest int) RETURNS bigint
LANGUAGE sql STABLE AS $$
    WITH truth AS MATERIALIZED (SELECT * FROM union_reference(shortest, longest)),
         engine AS (SELECT weight FROM trace WHERE kind = 'histogram' AND level = l),
         rows AS (SELECT ngram, weight FROM trace
                  WHERE kind = 'released' AND level BETWEEN shortest AND longest)
    SELECT (SELECT count(*) FROM (SELECT weight FROM engine EXCEPT ALL SELECT weight FROM truth) a)
         + (SELECT count(*) FROM (SELECT weight FROM truth EXCEPT ALL SELECT weight FROM engine) b)
         + (SELECT count(*) FROM truth t FULL JOIN rows r USING (ngram)
            WHERE t.weight IS NULL OR r.weight IS NULL OR abs(t.weight - r.weight) > 12)
         + (SELECT count(*) FROM trace
            WHERE kind = 'released' AND level <> cardinality(string_to_array(ngram, ' ')))
$$;

CREATE FUNCTION compare_unions(memory bigint) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. 3 LOOP
        PERFORM random_corpus(30 * i, 2, 9, 6 * i);
        PERFORM run('dpsu-all', 'both', 4, 1 << 20, 1e-6, 0, memory, NULL);
        RETURN NEXT tap(union_differences(4, 1, 4) = 0,
                        format('dpsu-all equals Algorithm 6 over all lengths, corpus %s, memory %s',
                               i, memory));
        PERFORM run('dpsu-even', 'both', 4, 1 << 20, 1e-6, 0, memory, NULL);
        RETURN NEXT tap((SELECT sum(union_differences(k, k, k)) FROM generate_series(1, 4) k) = 0,
                        format('dpsu-even equals it length by length, corpus %s, memory %s',
                               i, memory));
        PERFORM run('dpsu-single', 'both', 3, 1 << 20, 1e-6, 0, memory, NULL);
        RETURN NEXT tap(union_differences(3, 3, 3) = 0,
                        format('dpsu-single equals it for one length, corpus %s, memory %s',
                               i, memory));
    END LOOP;
END
$$;
SELECT compare_unions(1 << 24);
SELECT compare_unions(0);

-- what a release does not depend on -----------------------------------------

CREATE TABLE first_run (LIKE trace);
CREATE FUNCTION same_rows(method text, pruning text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    different int := 0;
    rows int;
BEGIN
    FOR i IN 1 .. 6 LOOP
        -- rows in another order, and so the words' ids too
        CREATE TEMP TABLE shuffled AS SELECT * FROM corpus ORDER BY random();
        TRUNCATE corpus;
        INSERT INTO corpus SELECT * FROM shuffled;
        DROP TABLE shuffled;
        PERFORM run(method, pruning, 4, 7, 0.5, 1, CASE WHEN i % 2 = 0 THEN 0 ELSE 1 << 24 END, 11);
        IF i = 1 THEN
            TRUNCATE first_run;
            INSERT INTO first_run SELECT * FROM trace;
        END IF;
        different := different + (SELECT count(*)
            FROM ((SELECT * FROM trace EXCEPT ALL SELECT * FROM first_run)
                  UNION ALL (SELECT * FROM first_run EXCEPT ALL SELECT * FROM trace)) d
            WHERE kind NOT LIKE '% spilled');
    END LOOP;
    rows := (SELECT count(*) FROM first_run WHERE kind = 'released');
    RETURN NEXT tap(different = 0 AND rows > 20,
        format('%s, %s: %s rows are the same in any order of the table and any memory',
               method, pruning, rows));
    PERFORM run(method, pruning, 4, 7, 0.5, 1, 1 << 24, 12);
    RETURN NEXT tap(EXISTS (SELECT * FROM trace EXCEPT SELECT * FROM first_run),
        format('%s, %s: and others under another seed', method, pruning));
END
$$;
SELECT random_corpus(150, 3, 12, 25);
SELECT same_rows(method, pruning)
FROM (VALUES ('dpne', 'both'), ('dpne', 'single'), ('dpsu-all', 'both'), ('dpsu-even', 'both'),
             ('dpsu-single', 'both')) m(method, pruning);

SELECT tap_verdict('a user''s rows in any order', v) FROM audit_order() v;
