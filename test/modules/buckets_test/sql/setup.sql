-- The functions of the module, from the folder where it was built: nothing is
-- installed.  Only a superuser may call them.
\set module `echo "$BUCKETS_TEST_MODULE"`

-- Builds so many random worlds, and raises an error unless V_k in buckets is what
-- it is member by member: sizes, buckets, ranks, keys.  Returns the number of
-- members in all.  Seed 0 is a new one.
CREATE FUNCTION buckets_test_members(worlds int, seed bigint DEFAULT 0) RETURNS bigint
AS :'module' LANGUAGE C STRICT VOLATILE;
REVOKE ALL ON FUNCTION buckets_test_members FROM PUBLIC;

-- Draws from one random world with a fixed support again and again, and raises an
-- error unless members outside the support come alike, in binomial numbers.
-- Returns how many came in all.
CREATE FUNCTION buckets_test_spurious(words int, length int, single boolean, runs int,
	seed bigint DEFAULT 0) RETURNS bigint
AS :'module' LANGUAGE C STRICT VOLATILE;
REVOKE ALL ON FUNCTION buckets_test_spurious FROM PUBLIC;

-- Adds a member to the support twice, or with a bucket that is not its own.
CREATE FUNCTION buckets_test_mistake(mistake text, seed bigint DEFAULT 0) RETURNS void
AS :'module' LANGUAGE C STRICT VOLATILE;
REVOKE ALL ON FUNCTION buckets_test_mistake FROM PUBLIC;
