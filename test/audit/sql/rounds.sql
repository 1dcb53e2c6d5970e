-- rounds.sql: the audits of dpne-mr; statistical ones are wrong with probability at most
-- 1e-6 if the claim is true.
-- psql variables: as in statistics.sql, and "corpora" the number of random worlds, "seed"
-- what they are made from.

SELECT '# random worlds from the seed ' || :seed || coalesce(setseed(:seed)::text, '');

\echo '# dpne-mr against its definition, row for row'
SELECT tap_verdict(format('%s words, T = %s, %s rounds, D1 = %s, %s, %s%s', words, t, rounds, d1,
                          schedule, pruning, CASE WHEN memory < 1 << 28 THEN ', little memory' ELSE '' END), v)
FROM (VALUES (8, 100, 20, 4, 10, 5, 'balanced', 'both', 8, 0.05, 1 << 28),
             (8, 100, 20, 4, 10, 100, 'adaptive', 'single', 8, 0.05, 1 << 28),
             (200, 400, 30, 2, 10, 8, 'balanced', 'both', 4, 0.5, 1 << 28),
             (12, 300, 12, 3, 1, 300, '0.8', 'both', 2, 1, 1 << 28),
             (12, 300, 12, 3, 16, 10, '1.3', 'single', 3, 1, 1 << 28),
             (5, 200, 40, 6, 4, 300, 'adaptive', 'both', 20, 0.01, 1 << 28),
             (30, 100, 60, 3, 4, 30, 'balanced', 'both', 8, 0.5, 1 << 16),
             (30, 100, 60, 3, 4, 30, '1.3', 'single', 8, 0.5, 1 << 16),
             (30, 50, 60, 3, 3, 30, '1', 'both', 8, 0.5, 0))
         a(words, users, tokens, t, rounds, d1, schedule, pruning, mu, eta, memory),
     audit_rounds_definition(words, users, tokens, t, rounds, d1, schedule, pruning, mu, eta,
                             memory, CASE memory WHEN 0 THEN 1 ELSE :corpora END,
                             (random() * 1e15)::bigint, CASE rounds WHEN 16 THEN 7 ELSE 1 << 20 END) v;

\echo '# what one user changes in a level'
SELECT tap_verdict(format('level %s, %s', level, what), v)
FROM (VALUES (2, 'an n-gram of its own', 32, 1, 0, 10, 0.67, 224, 150, :power),
             (2, 'an n-gram of its own, few released', 32, 1, 0, 4, 1.5, 2, 100, 0),
             (2, '16 n-grams of its own', 32, 16, 0, 10, 1.5, 224, 300, 0.5),
             (2, '8 n-grams, winners, losers and between', 32, 8, 2, 10, 1, 224, 300, 0.5),
             (2, '4 n-grams, the same, few released', 32, 4, 4, 10, 0.67, 2, 300, 0),
             (3, 'an n-gram of its own', 10, 1, 0, 10, 0.67, 224, 150, :power),
             (3, '4 n-grams, winners, losers and between', 10, 4, 2, 10, 1, 224, 200, 0.5))
         a(level, what, words, size, push, rounds, mu, eta, runs, power),
     audit_rounds_canary(level, words, size, push, rounds, mu, eta, runs * :scale, power) v;

\echo '# what one user changes in a call, whose budget the user may steer'
SELECT tap_verdict(format('%s, %s users a word', schedule, word_users), v)
FROM (VALUES ('adaptive', 20, 10, 10000, 0.6), ('adaptive', 8, 3, 10000, 0),
             ('balanced', 10, 3, 5000, 0.5), ('1.2', 6, 3, 5000, 0))
         a(schedule, word_users, gram_users, runs, power),
     audit_rounds_call(schedule, word_users, gram_users, 12, 1e-6, runs * :scale, power) v;

\echo '# novel words'
SELECT tap_verdict(format('T = %s, %s novel words of %s beside %s that all share, delta_t = %s', t,
                          words, d1, shared, delta_t), v)
FROM (VALUES (1, 10, 1, 0, 0.05, 1000, 0), (1, 10, 2, 0, 0.05, 1000, 0),
             (1, 10, 1, 9, 0.05, 1000, 0), (1, 10, 2, 8, 0.05, 1000, 0),
             (1, 10, 10, 0, 0.05, 1000, 0.04), (1, 10, 10, 10, 0.05, 1000, 0),
             (1, 10, 60, 0, 0.05, 1000, 0.04), (1, 20, 20, 0, 0.05, 500, 0),
             (1, 10, 10, 0, 0.002, 1000, 0), (2, 10, 10, 0, 0.05, 500, 0),
             (3, 10, 2, 8, 0.05, 500, 0), (1, 10, 60, 0, 1, 20, 0))
         a(t, d1, words, shared, delta_t, runs, at_least),
     audit_rounds_novel(t, d1, words, shared, 100, delta_t, runs * :scale, at_least) v;

\echo '# n-grams that nobody has, bucket by bucket'
SELECT tap_verdict(format('level %s, %s, %s rounds, eta %s', level, pruning, rounds, eta), v)
FROM (VALUES (2, 'both', 40, 10, 50, 100), (2, 'both', 40, 4, 15, 150),
             (2, 'single', 40, 10, 10, 100), (2, 'both', 40, 1, 20, 200),
             (3, 'both', 24, 10, 50, 150), (3, 'both', 24, 3, 20, 150),
             (3, 'single', 20, 10, 20, 100))
         a(level, pruning, words, rounds, eta, runs),
     audit_rounds_law(level, pruning, words, rounds, 150, eta, runs * :scale) v;

\echo '# price'
SELECT tap_verdict('plans of dpne-mr', v) FROM audit_rounds_price() v;
