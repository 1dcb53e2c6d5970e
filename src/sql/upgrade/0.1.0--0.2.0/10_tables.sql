-- The upgrade from version 0.1.0 to 0.2.0: it ends with what the install script of 0.2.0
-- makes, and with every row of the old ledger in it (test/t/060_upgrade.pl compares).
\echo Use "ALTER EXTENSION dpngram UPDATE" to load this file. \quit

SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
SELECT pg_catalog.set_config('extra_float_digits', '1', true);

-- What is made here shall belong to the ledger's owner, whichever superuser upgrades.
SELECT set_config('role', r.rolname, true) FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
	WHERE c.oid = 'dpngram.dataset'::regclass AND r.rolsuper;

-- Nobody charges or reads the ledger meanwhile.  The order is that in which calls
-- take these tables, so that a call which is under way ends first.
LOCK TABLE dpngram.dataset, dpngram.relation, dpngram.relation_binding, dpngram.grantee,
	dpngram.grantee_binding, dpngram.release IN ACCESS EXCLUSIVE MODE;

-- Columns and constraints.

ALTER TABLE dpngram.dataset
	DROP CONSTRAINT dataset_accounting_check,
	ALTER mu2_cap DROP NOT NULL,
	ALTER eps_pure_cap DROP NOT NULL,
	ALTER delta_add_cap DROP NOT NULL,
	ALTER mu2_spent SET DEFAULT 0,
	ALTER eps_pure_spent SET DEFAULT 0,
	ALTER delta_add_spent SET DEFAULT 0,
	ADD rho_cap numeric CHECK (rho_cap >= 0),
	ADD rho_delta_cap numeric CHECK (rho_delta_cap >= 0),
	ADD basic_epsilon_cap numeric CHECK (basic_epsilon_cap >= 0),
	ADD basic_delta_cap numeric CHECK (basic_delta_cap >= 0),
	ADD rho_spent numeric NOT NULL DEFAULT 0 CHECK (rho_spent >= 0),
	ADD rho_delta_spent numeric NOT NULL DEFAULT 0 CHECK (rho_delta_spent >= 0),
	ADD basic_epsilon_spent numeric NOT NULL DEFAULT 0 CHECK (basic_epsilon_spent >= 0),
	ADD basic_delta_spent numeric NOT NULL DEFAULT 0 CHECK (basic_delta_spent >= 0),
	ADD renews interval,
	ADD renewal text CHECK (renewal IN ('calendar', 'rolling')),
	ADD time_zone text,
	ADD releases bigint NOT NULL DEFAULT 0,
	ADD chain bytea NOT NULL DEFAULT '',
	ADD public_user_count boolean NOT NULL DEFAULT false,
	ADD CONSTRAINT dataset_caps_check CHECK (CASE accounting
		WHEN 'gdp' THEN num_nulls(mu2_cap, eps_pure_cap, delta_add_cap) = 0
		WHEN 'zcdp' THEN num_nulls(rho_cap, rho_delta_cap) = 0
		WHEN 'basic' THEN num_nulls(basic_epsilon_cap, basic_delta_cap) = 0
		ELSE false END),
	ADD CONSTRAINT dataset_renews_check CHECK (num_nulls(renews, renewal, time_zone) IN (0, 3));
COMMENT ON TABLE dpngram.dataset IS 'one privacy budget: the sums of its releases in the lanes of every accounting, and the caps of its own';
COMMENT ON COLUMN dpngram.dataset.accounting IS 'how releases add up: gdp, zcdp or basic';
COMMENT ON COLUMN dpngram.dataset.renews IS 'length of the periods that have a budget each; NULL: one budget for ever';
COMMENT ON COLUMN dpngram.dataset.releases IS 'number of its rows in dpngram.release';
COMMENT ON COLUMN dpngram.dataset.chain IS 'digest of the last of them';
COMMENT ON COLUMN dpngram.dataset.public_user_count IS 'the owner declared how many users its relations have to be public, as releases under local differential privacy need';

ALTER TABLE dpngram.relation
	DROP CONSTRAINT relation_dataset_fkey,
	ADD time_col text,
	ADD attached timestamptz NOT NULL DEFAULT clock_timestamp(),
	ADD detached timestamptz,
	ADD detached_after bigint,
	ADD CONSTRAINT relation_detached_check CHECK (num_nulls(detached, detached_after) IN (0, 2));
COMMENT ON COLUMN dpngram.relation.time_col IS 'the column that tells a row''s period, where the budget renews';
COMMENT ON COLUMN dpngram.relation.detached IS 'when it was taken out of the dataset';
COMMENT ON COLUMN dpngram.relation.detached_after IS 'number of the dataset''s last release until then';

ALTER TABLE dpngram.relation_binding
	ADD timeline bigint,
	ADD time_attnum integer NOT NULL DEFAULT 0,
	ADD time_type oid NOT NULL DEFAULT 0,
	ADD children oid[] NOT NULL DEFAULT '{}',
	ADD children_until bigint[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN dpngram.relation_binding.children IS 'partitions and children that it had when it was read';
COMMENT ON COLUMN dpngram.relation_binding.children_until IS 'number of the dataset''s release by which each of them was gone; 0: still there';

ALTER TABLE dpngram.grantee
	DROP CONSTRAINT grantee_dataset_fkey,
	ADD rho_cap numeric,
	ADD rho_delta_cap numeric,
	ADD basic_epsilon_cap numeric,
	ADD basic_delta_cap numeric,
	ADD rho_spent numeric NOT NULL DEFAULT 0,
	ADD rho_delta_spent numeric NOT NULL DEFAULT 0,
	ADD basic_epsilon_spent numeric NOT NULL DEFAULT 0,
	ADD basic_delta_spent numeric NOT NULL DEFAULT 0;

ALTER TABLE dpngram.release
	DROP CONSTRAINT release_dataset_fkey,
	DROP CONSTRAINT release_grantee_fkey,
	DISABLE TRIGGER append_only,
	ADD rho numeric,
	ADD rho_delta numeric,
	ADD basic_epsilon numeric,
	ADD basic_delta numeric,
	ADD events jsonb,
	ADD period_from timestamptz,
	ADD period_to timestamptz,
	ADD number bigint,
	ADD digest bytea;
COMMENT ON COLUMN dpngram.release.events IS 'what the mechanism did, by which any accounting can price it';
COMMENT ON COLUMN dpngram.release.number IS 'its place among the dataset''s releases, from 1';
COMMENT ON COLUMN dpngram.release.digest IS 'SHA-256 of the previous release''s digest and this row';

CREATE TABLE dpngram.carried (
	dataset integer NOT NULL,
	source integer NOT NULL,
	forgotten boolean NOT NULL,
	by_period boolean NOT NULL,
	releases bigint NOT NULL,
	PRIMARY KEY (dataset, source)
);
COMMENT ON TABLE dpngram.carried IS 'whose spending a dataset carries: former datasets of its relations';
COMMENT ON COLUMN dpngram.carried.forgotten IS 'it began without that spending, by a superuser''s word';
COMMENT ON COLUMN dpngram.carried.by_period IS 'the source''s calls count each in its own period; else their sum was debited';
COMMENT ON COLUMN dpngram.carried.releases IS 'the source''s releases after this number are not counted';
SELECT pg_catalog.pg_extension_config_dump('dpngram.carried', '');

