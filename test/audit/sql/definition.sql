-- definition.sql: the engine against the definition, integer for integer.
--
-- The reference is written in plain SQL from Algorithms 1, 5 and 6 of the DPNE
-- paper, on strings, with V_k built member by member.  S_{k-1} is what the
-- engine released, noise and spurious n-grams and all; given that, level k's
-- histogram, |V_k| and support are a function of the data and must agree.

SELECT '# random corpora from the seed ' || :seed || coalesce(setseed(:seed)::text, '');

-- the corpus under test, and its texts as arrays of words
CREATE TABLE corpus (usr text, body text);
CREATE VIEW document AS
    SELECT row_number() OVER () AS id, usr, string_to_array(btrim(body), ' ') AS word
    FROM corpus WHERE usr IS NOT NULL AND btrim(body) <> '';

CREATE TABLE trace (kind text, level int, ngram text, weight bigint);

-- G_k: each user's distinct n-grams of k words
CREATE FUNCTION grams(k int) RETURNS TABLE (usr text, ngram text) LANGUAGE sql STABLE AS $$
    SELECT DISTINCT d.usr, array_to_string(d.word[i : i + k - 1], ' ')
    FROM document d, generate_series(1, cardinality(d.word) - k + 1) AS i
$$;

-- V_k = (S_1 x S_{k-1}) n (S_{k-1} x S_1); single-sided S_{k-1} x S_1
CREATE FUNCTION valid(k int, pruning text) RETURNS SETOF text LANGUAGE sql STABLE AS $$
    WITH word AS (SELECT ngram FROM trace WHERE kind = 'released' AND level = 1),
         shorter AS (SELECT ngram FROM trace WHERE kind = 'released' AND level = k - 1),
         left_side AS (SELECT s.ngram || ' ' || w.ngram FROM shorter s, word w),
         right_side AS (SELECT w.ngram || ' ' || s.ngram FROM shorter s, word w)
    (SELECT * FROM left_side INTERSECT SELECT * FROM right_side)
    UNION
    (SELECT * FROM left_side WHERE pruning = 'single')
$$;

-- the largest integer w with s w^2 <= 2^40, that is floor(2^20 / sqrt(s))
CREATE FUNCTION unit_weight(s bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT floor(sqrt((1099511627776 / s)::numeric))::bigint
$$;

-- the histogram of level k, without bounds
CREATE FUNCTION reference(k int, pruning text) RETURNS TABLE (ngram text, weight bigint)
LANGUAGE sql STABLE AS $$
    WITH pruned AS (
        SELECT g.usr, g.ngram FROM grams(k) g
        WHERE k = 1 OR g.ngram IN (SELECT valid(k, pruning))),
    weighted AS (
        SELECT p.ngram, unit_weight(count(*) OVER (PARTITION BY p.usr)) AS w FROM pruned p)
    SELECT w.ngram, sum(w.w)::bigint FROM weighted w GROUP BY w.ngram
$$;

-- What differs between the trace and the reference at level k; nothing should.
CREATE FUNCTION differences(k int, pruning text) RETURNS SETOF text LANGUAGE sql STABLE AS $$
    WITH engine AS (SELECT ngram, weight FROM trace WHERE kind = 'histogram' AND level = k),
         truth AS MATERIALIZED (SELECT * FROM reference(k, pruning)),
         valid AS MATERIALIZED (SELECT valid(k, pruning) AS ngram WHERE k > 1)
    SELECT format('engine only: %s %s', ngram, weight)
        FROM (SELECT * FROM engine EXCEPT ALL SELECT * FROM truth) e
    UNION ALL
    SELECT format('reference only: %s %s', ngram, weight)
        FROM (SELECT * FROM truth EXCEPT ALL SELECT * FROM engine) t
    UNION ALL
    SELECT format('%s of level %s is %s, not %s', kind, level, weight, n)
        FROM trace, LATERAL (SELECT CASE kind WHEN 'support' THEN (SELECT count(*) FROM truth)
                                              ELSE (SELECT count(*) FROM valid) END) c(n)
        WHERE level = k AND (kind = 'support' OR (kind = 'candidates' AND k > 1)) AND weight <> n
    UNION ALL
    SELECT format('not in V_k: %s', ngram) FROM trace
        WHERE kind = 'released' AND level = k AND k > 1
              AND ngram NOT IN (SELECT v.ngram FROM valid v)
    UNION ALL
    SELECT format('not in the support: %s', ngram) FROM trace
        WHERE kind = 'released' AND level = k AND k = 1
              AND ngram NOT IN (SELECT ngram FROM truth)
    UNION ALL
    SELECT format('released twice: %s', ngram) FROM trace
        WHERE kind = 'released' AND level = k GROUP BY ngram HAVING count(*) > 1
$$;

-- A random corpus: users, documents a user, words a document, size of the
-- vocabulary (words are not equally likely, so that n-grams repeat).
CREATE FUNCTION random_corpus(users int, documents int, words int, vocabulary int) RETURNS void
LANGUAGE sql AS $$
    TRUNCATE corpus;
    INSERT INTO corpus
    SELECT 'user ' || u,
           (SELECT string_agg('w' || floor(vocabulary * random() ^ 2), ' ')
            FROM generate_series(1, (u + d + words * random())::int % (words + 1)))
    FROM generate_series(1, users) u, generate_series(1, documents) d
    ORDER BY random();
$$;

-- One run over the corpus into the trace.  sigma and threshold in units of weight.
CREATE FUNCTION run(method text, pruning text, max_length int, bound bigint, sigma float8,
                    threshold float8, memory bigint, seed bigint) RETURNS void
LANGUAGE sql AS $$
    TRUNCATE trace;
    INSERT INTO trace
    SELECT t.* FROM (SELECT CASE WHEN method IN ('dpsu-all', 'dpsu-single') THEN 1
                                 ELSE max_length END AS steps) s,
        audit_trace('corpus', 'usr', 'body', 'whitespace', method, pruning, max_length,
                    array_fill(bound, ARRAY[steps]),
                    array_fill(ceil(sigma * 1048576)::bigint, ARRAY[steps]),
                    array_fill((threshold * 1048576)::bigint, ARRAY[steps]), 0.3, memory, seed) t;
$$;

CREATE TABLE tally (test text, runs int DEFAULT 0, levels int DEFAULT 0, entries bigint DEFAULT 0,
                    spurious int DEFAULT 0, spilled bigint DEFAULT 0, differences int DEFAULT 0, example text);

-- dpne on random corpora of many shapes: every level that was reached is compared.
CREATE FUNCTION compare_levels(label text, prunings text[], corpora int, shapes int[],
                               memory bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    shape int[];
    k int;
    pruning text;
    found text[];
BEGIN
    INSERT INTO tally (test) VALUES (label);
    FOR i IN 1 .. corpora LOOP
        FOREACH shape SLICE 1 IN ARRAY shapes LOOP
            PERFORM random_corpus(shape[1], shape[2], shape[3], shape[4]);
            FOREACH pruning IN ARRAY prunings LOOP
                PERFORM run('dpne', pruning, 5, 1 << 20, 0.3, 0.4, memory, NULL);
                UPDATE tally SET runs = runs + 1, spilled = spilled +
                    (SELECT weight FROM trace WHERE kind = 'corpus spilled') WHERE test = label;
                FOR k IN SELECT level FROM trace WHERE kind = 'support' LOOP
                    SELECT array_agg(d) INTO found FROM differences(k, pruning) d;
                    UPDATE tally SET levels = levels + 1,
                        entries = entries + (SELECT count(*) FROM trace
                                             WHERE kind = 'histogram' AND level = k),
                        spurious = spurious + (SELECT count(*) FROM trace t
                            WHERE kind = 'released' AND level = k AND ngram NOT IN
                                (SELECT ngram FROM trace WHERE kind = 'histogram' AND level = k)),
                        differences = differences + coalesce(cardinality(found), 0),
                        example = coalesce(example, found[1])
                    WHERE test = label;
                END LOOP;
            END LOOP;
        END LOOP;
    END LOOP;
END
$$;

SELECT compare_levels('both-side pruning', '{both}', :corpora,
                      '{{5,3,8,4},{40,2,10,9},{1,4,12,5},{200,1,6,30},{12,1,60,3},{3,1,3,2}}',
                      1 << 24);
SELECT compare_levels('single-side pruning', '{single}', :corpora,
                      '{{5,3,8,4},{40,2,10,9},{1,4,12,5},{60,1,6,12},{12,1,60,3},{3,1,3,2}}',
                      1 << 24);
SELECT compare_levels('both-side, everything spilled', '{both}', :corpora,
                      '{{5,3,8,4},{40,2,10,9},{200,1,6,30}}', 0);
SELECT compare_levels('single-side, everything spilled', '{single}', :corpora,
                      '{{5,3,8,4},{40,2,10,9},{60,1,6,12}}', 0);

SELECT tap(differences = 0 AND runs > 0 AND spilled = CASE WHEN test ~ 'spilled' THEN runs ELSE 0 END,
           format('dpne equals Algorithm 1, %s: %s runs, %s levels, %s histogram entries%s', test,
                  runs, levels, entries, ': ' || example))
FROM tally ORDER BY test;
SELECT tap(bool_and(levels > 3 * runs AND spurious > runs),
           format('these runs had %s spurious n-grams, and most went beyond level 3',
                  sum(spurious)))
FROM tally;

-- the longest n-grams, with both prunings
TRUNCATE corpus;
INSERT INTO corpus
SELECT u, (SELECT string_agg('w' || i * i % 7 + i % 2, ' ') FROM generate_series(u % 3, 34) i)
FROM generate_series(1, 9) u;
SELECT run('dpne', 'both', 32, 1 << 20, 0.1, 0.2, 1 << 24, NULL);
SELECT tap((SELECT max(level) FROM trace WHERE kind = 'released') = 32
           AND (SELECT sum(count) FROM (SELECT (SELECT count(*) FROM differences(k, 'both'))
                                        FROM generate_series(1, 32) k) d) = 0,
           'n-grams of up to 32 words equal the definition, both-side');
SELECT run('dpne', 'single', 12, 1 << 20, 0.1, 0.2, 1 << 24, NULL);
SELECT tap((SELECT max(level) FROM trace WHERE kind = 'released') = 12
           AND (SELECT sum(count) FROM (SELECT (SELECT count(*) FROM differences(k, 'single'))
                                        FROM generate_series(1, 12) k) d) = 0,
           'n-grams of up to 12 words equal the definition, single-side');

-- spill ---------------------------------------------------------------------

-- Enough distinct bigrams that histograms spill, and their partitions again.
SELECT random_corpus(400, 4, 60, 150);
CREATE TABLE unspilled AS SELECT * FROM trace WITH NO DATA;
SELECT run('dpne', 'both', 3, 1 << 20, 0.02, 0.1, 1 << 28, 7);
INSERT INTO unspilled SELECT * FROM trace;
SELECT tap(bool_and(weight = 0), 'with enough memory nothing is written to disk')
FROM trace WHERE kind LIKE '% spilled';
SELECT run('dpne', 'both', 3, 1 << 20, 0.02, 0.1, 4096, 7);
SELECT tap(sum(weight) FILTER (WHERE kind = 'corpus spilled') = 1
           AND sum(weight) FILTER (WHERE kind = 'depth spilled') >= 2,
           format('with 4 kB the corpus is on disk, and %s records of histograms, %s deep',
                  sum(weight) FILTER (WHERE kind = 'records spilled'),
                  sum(weight) FILTER (WHERE kind = 'depth spilled')))
FROM trace;
SELECT tap((SELECT count(*) FROM differences(k, 'both')) = 0,
           format('spilled twice over, level %s equals the definition', k))
FROM generate_series(1, 2) k;
SELECT tap(count(*) = 0, 'the spilled run gave the rows and the inside of the other')
FROM ((SELECT * FROM trace EXCEPT ALL SELECT * FROM unspilled)
      UNION ALL (SELECT * FROM unspilled EXCEPT ALL SELECT * FROM trace)) d
WHERE kind NOT LIKE '% spilled';
