-- sabotages.sql: an audit that nothing can fail proves nothing, so each audit is
-- run against an engine that is broken on purpose (src/common/dp_audit.h), and
-- the claim that the sabotage violates must be found false.

-- Runs an audit under a sabotage; the claim must fail.
CREATE FUNCTION caught(sabotage text, by_whom text, violated text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v verdict;
BEGIN
    PERFORM audit_sabotage(sabotage);
    EXECUTE format('SELECT a.* FROM %s a WHERE claim LIKE %L', by_whom, '%' || violated)
        INTO STRICT v;
    PERFORM audit_sabotage('none');
    RETURN tap(NOT v.holds, format('sabotage "%s" is caught by %s: "%s" found false '
                                   '(measured %s, bound %s)', sabotage, by_whom, v.claim,
                                   v.measured, v.bound));
END
$$;

\echo '# sabotages'
SELECT caught(sabotage, by_whom, violated) FROM (VALUES
    ('undercount', 'audit_undercount(1.5, 0.01, 100000)',
     'mu of a bigram of one user is at most 1/sigma'),
    ('undercount', 'audit_spurious(3, ''both'', 6, 0.1, 0.5, 1.5, 1000)',
     'number of spurious rows over all runs'),
    ('partial', 'audit_spurious(2, ''both'', 12, 0.02, 0.5, 1.5, 1000)',
     'number of spurious rows over all runs'),
    ('partial', 'audit_spurious(3, ''single'', 6, 0.1, 0.5, 1.5, 1000)',
     'all members of V_k outside the support are as likely'),
    ('partial', 'audit_null_law(100, 10, 0.3, 10)', 'rate of nobody''s rows'),
    ('max-norm', 'audit_canary(2, 32, 16, 1.5, false, 0.98, 500, 0)',
     'mu of one user is at most 1/sigma'),
    ('max-norm', 'audit_canary(1, 1024, 16, 1.5, true, 0.98, 500, 0)',
     'mu of one user is at most 1/sigma'),
    ('max-norm', 'audit_novel(''dpne'', 1, 10, 10, 100, 500, 0)',
     'what one user alone wrote appears with probability at most delta_t'),
    ('max-norm', 'audit_squares(100, 0)', 'sum of a user''s squared weights is at most 1'),
    ('nearest', 'audit_squares(100, 0)', 'sum of a user''s squared weights is at most 1'),
    ('max-norm', 'audit_union_canary(''cumulative'', 512, 4, 4, false, 300, 0)',
     'mu of one user is at most the root of the debit'),
    ('max-norm', 'audit_union_novel(''cumulative'', 20, 20, 100, 1, 100, 0)',
     'what one user alone has appears with probability at most delta_t'),
    ('redrawn', 'audit_union_novel(''cumulative'', 10, 60, 100, 0.1, 200, 0)',
     'what one user alone has appears with probability at most delta_t'),
    ('nearest', 'audit_policy(''policy_laplace'', 4, 30, 200, 20, 0)',
     'a user moves the sums by no more than is paid for'),
    ('undebited', 'audit_union_price()',
     'cumulative, epsilon 1: the noise drawn costs at most the debit'),
    ('undebited', 'audit_union_price()',
     'sips, epsilon 10: the noise drawn costs at most the debit'),
    ('off-lattice', 'audit_null_law(100, 10, 0.3, 10)', 'last bits of both kinds have one law'),
    ('off-lattice', 'audit_null_law(100, 10, 0.3, 10)', 'last bits of nobody''s weights are uniform'),
    ('undebited', 'audit_call(20, 4, 1e-6, 5000, 0)',
     'mu of one user in a whole call is at most its price'),
    ('undebited', 'audit_price()',
     'sum of (2^20 / sigma)^2 over the levels drawn is at most the Gaussian lane'),
    ('undebited', 'audit_dist_price()', 'the noise drawn costs at most the debit'),
    ('undebited', 'audit_dist_gaussian(''shrinkage'', false, 3, 0, 0.5, 16, 1e-6, 100000, 0)',
     'mu of one user is at most the root of the debit'),
    ('unbounded', 'audit_dist_users(''log-posterior'', false, false, 500, 0)',
     'one user moves every step by at most 1'),
    ('unbounded', 'audit_dist_users(''log-posterior'', false, false, 500, 0)',
     'rows are within C and W'),
    ('unclipped', 'audit_dist_users(''shrinkage'', false, false, 500, 0)',
     'one user moves every step by at most 1'),
    ('unclipped', 'audit_dist_users(''shrinkage'', false, true, 500, 0)',
     'what one user moves in all steps is debited'),
    ('unclipped', 'audit_dist_gaussian(''shrinkage'', false, 1, 3.7, 0.05, 16, 1e-6, 50000, 0)',
     'mu of one user is at most the root of the debit'),
    ('two-lines', 'audit_dist_users(''log-posterior'', false, false, 500, 0)',
     'one user moves every step by at most 1'),
    ('exact-total', 'audit_dist_users(''laplace-public'', false, true, 500, 0)',
     'the same outcomes have the same answer, whoever is there'),
    ('same-halves', 'audit_dist_users(''log-posterior'', true, false, 200, 0)',
     'no user has a say in candidates and in the choice'),
    ('same-halves', 'audit_dist_users(''log-posterior'', true, false, 200, 0)',
     'what one user moves in all steps is debited'),
    ('little-noise', 'audit_dist_price()', 'the noise drawn costs at most the debit'),
    ('little-noise', 'audit_dist_gaussian(''shrinkage'', false, 4, 3.7, 0.05, 16, 1e-6, 500000, 0)',
     'mu of one user is at most the root of the debit'),
    ('little-noise', 'audit_dist_gaussian(''log-posterior'', false, 4, 0, 0.05, 16, 1e-6, 500000, 0)',
     'mu of one user is at most the root of the debit'),
    ('little-noise', 'audit_dist_pure(''laplace'', 1, 0, 0.05, 2, 2000000, 0)',
     'one user changes no event''s probability by more than e^epsilon'),
    ('max-norm', 'audit_rounds_canary(2, 32, 16, 0, 10, 0.67, 224, 100, 0)',
     'mu of one user is at most that of the rounds'),
    ('max-norm', 'audit_rounds_canary(2, 32, 16, 2, 10, 0.67, 10, 150, 0)',
     'mu of one user is at most that of the rounds'),
    ('max-norm', 'audit_rounds_novel(1, 10, 10, 0, 100, 0.05, 100, 0)',
     'what one user alone wrote appears with probability at most delta_t'),
    ('stale-norm', 'audit_rounds_canary(2, 32, 1, 0, 10, 0.67, 224, 60, 0)',
     'mu of one user is at most that of the rounds'),
    ('stale-norm', 'audit_rounds_canary(3, 10, 1, 0, 10, 0.67, 224, 60, 0)',
     'mu of one user is at most that of the rounds'),
    ('weighted', 'audit_rounds_law(2, ''both'', 40, 10, 150, 50, 30)',
     'nobody''s statistics have the noise''s law'),
    ('undercount', 'audit_rounds_law(2, ''both'', 40, 10, 150, 50, 10)',
     'numbers of nobody''s rows, bucket by bucket'),
    ('partial', 'audit_rounds_law(2, ''both'', 40, 10, 150, 50, 30)',
     'numbers of nobody''s rows, bucket by bucket'),
    ('partial', 'audit_rounds_law(3, ''single'', 20, 10, 150, 20, 30)',
     'nobody''s members of a bucket are as likely, from first to last'),
    ('unbiased', 'audit_rounds_law(2, ''both'', 40, 10, 150, 50, 30)',
     'weights and deviations of both kinds have one law'),
    ('unbiased', 'audit_rounds_law(3, ''both'', 24, 10, 150, 50, 60)',
     'weights and deviations of both kinds have one law'),
    ('off-lattice', 'audit_rounds_law(2, ''both'', 40, 10, 150, 50, 30)',
     'last bits of both kinds have one law'),
    ('off-lattice', 'audit_rounds_law(3, ''both'', 24, 10, 150, 50, 60)',
     'last bits of nobody''s statistics are uniform'),
    ('redrawn', 'audit_rounds_novel(1, 10, 60, 0, 100, 1, 20, 0)',
     'never more words of one user than count'),
    ('undebited', 'audit_rounds_price()',
     'sum of (2^20 / sigma)^2 over the rounds drawn is at most the Gaussian lane'),
    ('undebited', 'audit_rounds_price()', 'no more than each level says it used'))
    s(sabotage, by_whom, violated);

-- The comparison with the definition sees wrong weights, too.
SELECT random_corpus(40, 2, 10, 9);
SELECT audit_sabotage('nearest');
SELECT run('dpne', 'both', 2, 1 << 20, 0.3, 0.4, 1 << 24, NULL);
SELECT tap(EXISTS (SELECT differences(1, 'both')),
           'sabotage "nearest" is caught by the comparison with the definition');
SELECT audit_sabotage('none');

-- And that of dpne-mr whatever changes a real row.
SELECT caught(sabotage, 'audit_rounds_definition(200, 400, 30, 2, 10, 8, ''balanced'', ''both'', 4, 0.5, '
                        '1 << 28, 1, 1, 1 << 20)',
              'rows equal the definition''s, weights and deviations to the last bit')
FROM unnest('{max-norm,nearest,stale-norm,weighted,redrawn}'::text[]) sabotage;
