-- statistics.sql: the statistical audits of the privacy claims, each wrong with
-- probability at most 1e-6 if the claim is true.
-- psql variables: "scale" multiplies the trials (1 in the short form), "power" is
-- the share of a true mu that canaries must find.

\echo '# canaries: what one user changes, from the released weights'
SELECT tap_verdict('level 2, a bigram of its own', v)
FROM audit_canary(2, 32, 1, 1.5, false, 0.98, 400 * :scale, :power) v;
SELECT tap_verdict('level 2, 16 bigrams of its own', v)
FROM audit_canary(2, 32, 16, 1.5, false, 0.98, 3000 * :scale, :power) v;
SELECT tap_verdict('level 2, 4 bigrams that others have too', v)
FROM audit_canary(2, 32, 4, 1.5, true, 0.98, 1500 * :scale, :power) v;
SELECT tap_verdict('level 2, few released', v)
FROM audit_canary(2, 32, 4, 1.5, false, 0.05, 1000 * :scale, 0) v;
SELECT tap_verdict('level 2, little noise', v)
FROM audit_canary(2, 32, 4, 0.4, false, 0.98, 500 * :scale, :power) v;
SELECT tap_verdict('level 1, a word that others have too', v)
FROM audit_canary(1, 1024, 1, 1.5, true, 0.98, 400 * :scale, :power) v;
SELECT tap_verdict('level 1, 16 words that others have too', v)
FROM audit_canary(1, 1024, 16, 1.5, true, 0.98, 3000 * :scale, :power) v;
SELECT tap_verdict('both levels of a call of (4, 1e-6)', v)
FROM audit_call(20, 4, 1e-6, 5000 * :scale, :power - 0.1) v;

\echo '# a bigram of one user, against the rate of nobody''s'
SELECT tap_verdict('|V_2| counted exactly', v)
FROM audit_undercount(1.5, 0.01, 200000 * :scale) v;

\echo '# novel n-grams, delta_t = 0.05'
SELECT tap_verdict('dpne, t = 1', v) FROM audit_novel('dpne', 1, 10, 1, 100, 2000 * :scale, 0) v;
SELECT tap_verdict('dpne, t = 2', v) FROM audit_novel('dpne', 1, 10, 2, 100, 2000 * :scale, 0) v;
SELECT tap_verdict('dpne, t = D = 10', v)
FROM audit_novel('dpne', 1, 10, 10, 100, 2000 * :scale, 0.045) v;
SELECT tap_verdict('dpne, D = 10 of 40 words', v)
FROM audit_novel('dpne', 1, 10, 40, 50, 2000 * :scale, 0.045) v;
SELECT tap_verdict('dpsu-all, t = 1', v)
FROM audit_novel('dpsu-all', 3, 10, 1, 100, 2000 * :scale, 0) v;
SELECT tap_verdict('dpsu-all, t = 3', v)
FROM audit_novel('dpsu-all', 3, 10, 2, 100, 2000 * :scale, 0) v;
SELECT tap_verdict('dpsu-all, t = D = 30', v)
FROM audit_novel('dpsu-all', 3, 10, 11, 100, 1000 * :scale, 0.045) v;
SELECT tap_verdict('dpsu-even, t = 1', v)
FROM audit_novel('dpsu-even', 3, 10, 1, 100, 2000 * :scale, 0) v;
SELECT tap_verdict('dpsu-even, t = 2', v)
FROM audit_novel('dpsu-even', 3, 10, 2, 100, 2000 * :scale, 0) v;
SELECT tap_verdict('dpsu-even, t = D = 10 at each length', v)
FROM audit_novel('dpsu-even', 3, 10, 12, 100, 1000 * :scale, 0.045) v;
SELECT tap_verdict('dpsu-single, t = D = 10', v)
FROM audit_novel('dpsu-single', 3, 10, 12, 100, 1000 * :scale, 0.045) v;

\echo '# set unions: canaries through all rounds, novel items at delta_t = 0.05, policies, the debit'
SELECT tap_verdict('cumulative, all released in the last round', v)
FROM audit_union_canary('cumulative', 512, 4, 4, false, 1000 * :scale, :power) v;
SELECT tap_verdict('cumulative, lists that shrink', v)
FROM audit_union_canary('cumulative', 512, 4, 4, true, 1000 * :scale, 0.5) v;
SELECT tap_verdict('sips, lists that shrink', v)
FROM audit_union_canary('sips', 512, 4, 4, true, 1000 * :scale, 0.5) v;
SELECT tap_verdict(format('%s, t = %s', method, t), v)
FROM unnest('{cumulative,sips,weighted_gaussian,policy_gaussian,policy_laplace,
             weighted_laplace}'::text[]) method,
     unnest('{1,2}'::int[]) t,
     audit_union_novel(method, 20, t, 1000 / t, 1, 100 * :scale, 0) v;
SELECT tap_verdict(format('%s, t = D = 20', method), v)
FROM (VALUES ('cumulative', 0.04), ('sips', 0.043), ('weighted_gaussian', 0.045),
             ('policy_gaussian', 0.045), ('policy_laplace', 0.045),
             ('weighted_laplace', 0.045)) m(method, at_least),
     audit_union_novel(method, 20, 20, 100, 1, 200 * :scale, at_least) v;
SELECT tap_verdict(format('cumulative, D = 10 of %s words, epsilon %s', t, epsilon), v)
FROM (VALUES (10, 0.1), (60, 0.1), (60, 4)) m(t, epsilon),
     audit_union_novel('cumulative', 10, t, 6000 / (10 * t) * 10, epsilon, 100 * :scale, 0) v;
SELECT tap_verdict('Gaussian policy, fine lattice', v)
FROM audit_policy('policy_gaussian', 40, 1, 200, 100 * :scale, 0) v;
SELECT tap_verdict('Gaussian policy, fine lattice, adversary', v)
FROM audit_policy('policy_gaussian', 44, 30, 200, 10 * :scale, 0) v;
SELECT tap_verdict('Gaussian policy, coarse lattice, adversary', v)
FROM audit_policy('policy_gaussian', 8, 30, 800, 20, 1.02) v;
SELECT tap_verdict('Laplace policy', v)
FROM audit_policy('policy_laplace', 20, 1, 200, 100 * :scale, 0) v;
SELECT tap_verdict('Laplace policy, coarse lattice, adversary', v)
FROM audit_policy('policy_laplace', 4, 30, 200, 20 * :scale, 0) v;
SELECT tap_verdict(format('single, epsilon %s, delta %s', epsilon, delta), v)
FROM (VALUES (1, 0.01, 12), (0.2, 0.05, 12), (3, 0.001, 8)) e(epsilon, delta, words),
     audit_single(epsilon, delta, words, 20000 * :scale) v;
SELECT tap_verdict('set unions', v) FROM audit_union_price() v;

\echo '# null law'
SELECT tap_verdict('null law at rate 0.3', v) FROM audit_null_law(100, 10, 0.3, 100 * :scale) v;
SELECT tap_verdict('null law at rate 0.005', v) FROM audit_null_law(200, 10, 0.005, 100 * :scale) v;
SELECT tap_verdict('null law at rate 0.9', v) FROM audit_null_law(100, 10, 0.9, 50 * :scale) v;

\echo '# spurious n-grams: V_k member by member'
SELECT tap_verdict(format('level %s, %s, %s written', level, pruning, share), v)
FROM (VALUES (2, 'both', 12, 0.02, 0.5, 4000), (2, 'both', 12, 0.97, 0.9, 8000),
             (2, 'single', 12, 0.5, 0.5, 4000),
             (3, 'both', 6, 0.1, 0.5, 4000), (3, 'both', 5, 0.97, 0.9, 8000),
             (3, 'single', 6, 0.1, 0.5, 4000), (3, 'single', 5, 0.9, 0.9, 4000),
             (4, 'both', 5, 0.3, 0.9, 2000), (4, 'single', 4, 0.3, 0.7, 2000))
         a(level, pruning, words, share, eta, runs),
     audit_spurious(level, pruning, words, share, eta, 1.5, runs * :scale) v;

\echo '# price and contribution'
SELECT tap_verdict('many plans', v) FROM audit_price() v;
SELECT tap_verdict('one user', v) FROM audit_squares(1500, 30 * :scale) v;
SELECT tap_verdict('3 of 10', v) FROM audit_bounding(10, 3, 100000 * :scale) v;
