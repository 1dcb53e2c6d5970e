-- The functions of the module, from the folder where it was built: nothing is
-- installed.
\set module `echo "$LEDGER_TEST_MODULE"`
CREATE EXTENSION dpngram;

-- Charges the first of the prices (rows of mu2, eps_pure, delta_add) that fits and
-- returns its index from 1; then sleeps and ends as told:
-- 'charged' leaves it at that, 'error' notes a failure and raises an error.
CREATE FUNCTION ledger_charge(relation regclass, prices float8[], seconds float8 DEFAULT 0,
	outcome text DEFAULT 'charged', parameters text DEFAULT '{}') RETURNS integer
AS :'module', 'ledger_test_charge' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- The same, marked PARALLEL SAFE, which it is not.
CREATE FUNCTION ledger_charge_parallel(relation regclass, prices float8[], seconds float8 DEFAULT 0,
	outcome text DEFAULT 'charged', parameters text DEFAULT '{}') RETURNS integer
AS :'module', 'ledger_test_charge' LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

-- Charges a price to the period that a moment is in.
CREATE FUNCTION ledger_charge_in(relation regclass, prices float8[], period text) RETURNS integer
AS :'module', 'ledger_test_charge_in' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- The period that a moment is in.
CREATE FUNCTION ledger_period(renews text, renewal text, time_zone text, moment timestamptz,
	OUT period_from timestamptz, OUT period_to timestamptz)
AS :'module', 'ledger_test_period' LANGUAGE C STRICT VOLATILE;

-- Charges an event of a kind, so many times, of a call that asks for epsilon and delta;
-- returns the release's number.
CREATE FUNCTION ledger_charge_event(relation regclass, kind text, amount float8, count int DEFAULT 1,
	epsilon float8 DEFAULT 1, delta float8 DEFAULT 0) RETURNS bigint
AS :'module', 'ledger_test_events' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- What ledger_open() tells the caller.
CREATE FUNCTION ledger_open(relation regclass, OUT dataset text, OUT user_col text,
	OUT owner text, OUT caller text, OUT columns text[])
AS :'module', 'ledger_test_open' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- Has a charge worker debit a pure epsilon of 1, asked as by a session with our version of
-- the library or with 0.1.0; whether it was debited.
CREATE FUNCTION ledger_ask(relation regclass, ours boolean) RETURNS boolean
AS :'module', 'ledger_test_ask' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
