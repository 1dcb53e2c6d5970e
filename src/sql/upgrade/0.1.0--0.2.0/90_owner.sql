-- A ledger whose owner is no superuser could not be given new functions as its owner's.
DO $$
DECLARE
	owner regrole := (SELECT relowner FROM pg_class WHERE oid = 'dpngram.dataset'::regclass);
	object record;
BEGIN
	FOR object IN
		SELECT upper(o.type) AS kind, o.identity
		FROM pg_depend d
		JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
		LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
		LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
		LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND t.oid = d.objid
		CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, 0) o
		WHERE e.extname = 'dpngram' AND d.deptype = 'e'
			-- from PostgreSQL 18 on tables' row types and all types' arrays are members, too
			AND t.typcategory IS DISTINCT FROM 'A'
			AND NOT EXISTS (SELECT FROM pg_class r WHERE r.oid = t.typrelid AND r.relkind <> 'c')
			AND o.type IN ('table', 'view', 'function', 'aggregate', 'type')
			AND coalesce(c.relowner, p.proowner, t.typowner) <> owner
	LOOP
		EXECUTE format('ALTER %s %s OWNER TO %s', object.kind, object.identity, owner);
	END LOOP;
END $$;
