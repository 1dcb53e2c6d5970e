-- functions.sql: the audit library's functions, and TAP output.
-- psql variable "library": the path of dpngram_audit, without suffix.

CREATE TYPE verdict AS (claim text, holds boolean, measured float8, bound float8, trials bigint);

CREATE FUNCTION audit_sabotage(name text) RETURNS void
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_canary(level int, words int, size int, sigma float8, others boolean,
                             rate float8, runs bigint, power float8) RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_call(words int, epsilon float8, delta float8, runs bigint, power float8)
    RETURNS SETOF verdict AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_undercount(sigma float8, p float8, runs bigint) RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_novel(method text, max_length int, bound int, words int, users int,
                            runs bigint, at_least float8) RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_union_novel(method text, bound int, words int, users int, epsilon float8,
                                  runs bigint, at_least float8) RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_union_canary(method text, words int, size int, epsilon float8,
                                   dropping boolean, runs bigint, power float8)
    RETURNS SETOF verdict AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_union_price() RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_single(epsilon float8, delta float8, words int, runs bigint)
    RETURNS SETOF verdict AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_policy(method text, bits int, choices int, users int, duels bigint,
                             at_least float8) RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_null_law(words int, sigma float8, rate float8, runs bigint)
    RETURNS SETOF verdict AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_spurious(level int, pruning text, words int, share float8, eta float8,
                               sigma float8, runs bigint) RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_price() RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_squares(up_to int, samples int) RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_bounding(s int, bound int, runs bigint) RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_order() RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_trace(relation regclass, user_col name, text_col name, tokenizer text,
                            method text, pruning text, max_length int, bound bigint[],
                            sigma bigint[], threshold bigint[], spurious float8, memory bigint,
                            seed bigint)
    RETURNS TABLE (kind text, level int, ngram text, weight bigint)
    AS :'library' LANGUAGE C;
CREATE FUNCTION audit_dist_users(method text, tune boolean, pure boolean, pairs bigint, at_least float8)
    RETURNS SETOF verdict AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_dist_price() RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_dist_gaussian(method text, tune boolean, size int, max_norm float8,
                                    share float8, epsilon float8, delta float8, runs bigint,
                                    power float8) RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_dist_pure(method text, size int, max_norm float8, share float8,
                                epsilon float8, runs bigint, power float8) RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_dist_memory(method text, tune boolean, delta float8, runs int)
    RETURNS SETOF verdict AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_rounds_definition(words int, users int, tokens int, max_length int,
                                        rounds int, bound int, schedule text, pruning text,
                                        mu float8, eta float8, memory bigint, runs int,
                                        seed bigint, cap int)
    RETURNS SETOF verdict AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_rounds_price() RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_rounds_law(level int, pruning text, words int, rounds int, sigma float8,
                                 eta float8, runs bigint) RETURNS SETOF verdict
    AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_rounds_canary(level int, words int, size int, push int, rounds int,
                                    mu float8, eta float8, runs bigint, power float8)
    RETURNS SETOF verdict AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_rounds_call(schedule text, word_users int, gram_users int, epsilon float8,
                                  delta float8, runs bigint, power float8)
    RETURNS SETOF verdict AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION audit_rounds_novel(max_length int, bound int, words int, shared int, users int,
                                   delta_t float8, runs bigint, at_least float8)
    RETURNS SETOF verdict AS :'library' LANGUAGE C STRICT;

-- TAP -----------------------------------------------------------------------

CREATE SEQUENCE tap_number;

CREATE FUNCTION tap(passed boolean, name text) RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN coalesce(passed, false) THEN 'ok ' ELSE 'not ok ' END
           || nextval('tap_number') || ' - ' || name
$$;

-- One line a verdict: the claim, what was measured, the bound, the trials.
CREATE FUNCTION tap_verdict(audit text, v verdict) RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT tap((v).holds, format('%s: %s (measured %s, bound %s, N %s)', audit, (v).claim,
                                 (v).measured, (v).bound, (v).trials))
$$;
