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
	ADD min_epsilon float8 CHECK (min_epsilon >= 0),
	ADD CONSTRAINT dataset_caps_check CHECK (CASE accounting
		WHEN 'gdp' THEN num_nulls(mu2_cap, eps_pure_cap, delta_add_cap) = 0
		WHEN 'zcdp' THEN num_nulls(rho_cap, rho_delta_cap) = 0
		WHEN 'basic' THEN num_nulls(basic_epsilon_cap, basic_delta_cap) = 0
		ELSE false END),
	ADD CONSTRAINT dataset_renews_check CHECK (num_nulls(renews, renewal, time_zone) IN (0, 3));

ALTER TABLE dpngram.relation
	DROP CONSTRAINT relation_dataset_fkey,
	ADD time_col text,
	ADD attached timestamptz NOT NULL DEFAULT clock_timestamp(),
	ADD detached timestamptz,
	ADD detached_after bigint,
	ADD CONSTRAINT relation_detached_check CHECK (num_nulls(detached, detached_after) IN (0, 2));

ALTER TABLE dpngram.relation_binding
	ADD timeline bigint,
	ADD time_attnum integer NOT NULL DEFAULT 0,
	ADD time_type oid NOT NULL DEFAULT 0,
	ADD children oid[] NOT NULL DEFAULT '{}',
	ADD children_until bigint[] NOT NULL DEFAULT '{}';

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

CREATE TABLE dpngram.carried (
	dataset integer NOT NULL,
	source integer NOT NULL,
	forgotten boolean NOT NULL,
	by_period boolean NOT NULL,
	releases bigint NOT NULL,
	PRIMARY KEY (dataset, source)
);
SELECT pg_catalog.pg_extension_config_dump('dpngram.carried', '');

