-- distributions.sql: the audits of releases of distributions, in integers over random
-- neighbours and by the likelihood ratio of two worlds; after functions.sql.
-- psql variables: "scale" multiplies the trials (1 in the short form).

\echo '# what one user moves'
SELECT tap_verdict(format('%s%s%s', method, CASE WHEN tune THEN ', tuned' END, CASE WHEN pure THEN ', pure' END), v)
FROM (VALUES ('shrinkage', false, false), ('shrinkage', false, true), ('log-posterior', false, false),
             ('log-posterior', true, false), ('laplace', false, true), ('laplace-public', false, true))
         a(method, tune, pure),
     audit_dist_users(method, tune, pure, 2000 * :scale, 0.99) v;

\echo '# what is drawn, and what is debited'
SELECT tap_verdict('many plans', v) FROM audit_dist_price() v;

-- Trials enough that a call that cost 1.05 times its debit would be found (sabotages.sql).
\echo '# two worlds, Gaussian noise: L is given, or 0 if chosen'
SELECT tap_verdict(format('%s of %s n-grams, L %s', method, size, max_norm), v)
FROM (VALUES ('shrinkage', 1, 1, 0.05), ('shrinkage', 1, 3.7, 0.05), ('shrinkage', 4, 3.7, 0.05),
             ('shrinkage', 3, 0, 0.05), ('shrinkage', 3, 0, 0.5),
             ('log-posterior', 1, 0, 0.05), ('log-posterior', 4, 0, 0.05), ('log-posterior', 9, 0, 0.05))
         a(method, size, max_norm, share),
     audit_dist_gaussian(method, false, size, max_norm, share, 16, 1e-6, 250000 * least(:scale, 10), 0.945) v;
SELECT tap_verdict('log-posterior, tuned', v)
FROM audit_dist_gaussian('log-posterior', true, 2, 0, 0.05, 16, 1e-6, 20000 * least(:scale, 10), 0) v;

\echo '# two worlds, Laplace noise'
SELECT tap_verdict(format('%s of %s n-grams, L %s', method, size, max_norm), v)
FROM (VALUES ('laplace', 1, 0, 0.05), ('laplace', 3, 0, 0.05), ('laplace-public', 1, 0, 0.05),
             ('laplace-public', 2, 0, 0.5), ('shrinkage', 1, 3.7, 0.05), ('shrinkage', 2, 0, 0.5))
         a(method, size, max_norm, share),
     -- several n-grams share what a user adds, and so do the events: more trials to see it all
     audit_dist_pure(method, size, max_norm, share, 2,
         CASE WHEN size = 1 THEN 400000 * least(:scale, 10) ELSE 1600000 * least(:scale, 2.5) END::bigint, 0.87) v;

\echo '# membership attacks'
SELECT tap_verdict(format('%s%s', method, CASE WHEN tune THEN ', tuned' END), v)
FROM (VALUES ('shrinkage', false, 1e-6, 10000), ('shrinkage', false, 0, 10000),
             ('log-posterior', false, 1e-6, 10000), ('log-posterior', true, 1e-6, 4000),
             ('laplace', false, 0, 10000), ('laplace-public', false, 0, 10000),
             ('local-sensitivity', false, 1e-6, 10000)) a(method, tune, delta, runs),
     audit_dist_memory(method, tune, delta, runs) v;
