-- Functions of the test module ledger_test.
\echo Use "CREATE EXTENSION ledger_test" to load this file. \quit

-- Charges the first of the prices (rows of mu2, eps_pure, delta_add) that fits and
-- returns its index from 1; then sleeps and ends as told: 'done' notes the end,
-- 'open' leaves the release charged, 'error' notes a failure and raises an error.
CREATE FUNCTION ledger_charge(relation regclass, prices float8[], seconds float8 DEFAULT 0,
		outcome text DEFAULT 'done', parameters text DEFAULT '{}')
	RETURNS integer LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'ledger_test_charge';

-- The same, marked PARALLEL SAFE, which it is not.
CREATE FUNCTION ledger_charge_parallel(relation regclass, prices float8[], seconds float8 DEFAULT 0,
		outcome text DEFAULT 'done', parameters text DEFAULT '{}')
	RETURNS integer LANGUAGE C STRICT VOLATILE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'ledger_test_charge';

-- What ledger_open() tells the caller.
CREATE FUNCTION ledger_open(relation regclass, OUT dataset text, OUT user_col text,
		OUT owner text, OUT caller text, OUT columns text[], OUT caps float8[])
	LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'ledger_test_open';
