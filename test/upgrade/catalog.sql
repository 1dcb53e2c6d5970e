-- Everything that the catalogs say of the extension, a line a fact, without OIDs: two
-- databases have the same extension iff this prints the same.
SET search_path = pg_catalog, pg_temp;
WITH RECURSIVE extension AS (
	SELECT * FROM pg_extension WHERE extname = 'dpngram'
), object (classid, objid) AS (
	SELECT d.classid, d.objid FROM extension e
	JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
	UNION
	SELECT 'pg_extension'::regclass, oid FROM extension
	UNION
	SELECT d.classid, d.objid FROM object o
	JOIN pg_depend d ON d.refclassid = o.classid AND d.refobjid = o.objid AND d.deptype IN ('i', 'a', 'P', 'S')
), named AS (
	SELECT o.classid, o.objid, i.type || ' ' || i.identity AS name
	FROM object o, pg_identify_object(o.classid, o.objid, 0) i
	-- TOAST tables and the internal triggers of foreign keys have OIDs in their names
	WHERE i.schema IS DISTINCT FROM 'pg_toast' AND NOT (o.classid = 'pg_trigger'::regclass
		AND (SELECT t.tgisinternal FROM pg_trigger t WHERE t.oid = o.objid))
), relation AS (
	SELECT n.name, c.* FROM named n JOIN pg_class c ON n.classid = 'pg_class'::regclass AND c.oid = n.objid
), columns AS (
	SELECT r.name || ' column ' || a.attname AS name, a.*, r.relkind,
		row_number() OVER (PARTITION BY r.oid ORDER BY a.attnum) AS place
	FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
), function AS (
	SELECT n.name, p.* FROM named n JOIN pg_proc p ON n.classid = 'pg_proc'::regclass AND p.oid = n.objid
), acl (name, list) AS (
	SELECT name, relacl FROM relation
	UNION ALL SELECT name, attacl FROM columns
	UNION ALL SELECT name, proacl FROM function
	UNION ALL SELECT n.name, s.nspacl FROM named n
		JOIN pg_namespace s ON n.classid = 'pg_namespace'::regclass AND s.oid = n.objid
	UNION ALL SELECT n.name || concat(' sub ', nullif(i.objsubid, 0)) || ' initially', i.initprivs
		FROM named n JOIN pg_init_privs i ON i.classoid = n.classid AND i.objoid = n.objid
), fact (name, fact, value) AS (
	SELECT name, 'exists', NULL FROM named
	UNION ALL
	SELECT n.name, 'depends', concat(d.deptype, ' ', r.type, ' ', r.identity)
	FROM named n
	JOIN pg_depend d ON d.classid = n.classid AND d.objid = n.objid AND d.refclassid <> 'pg_type'::regclass
	CROSS JOIN LATERAL pg_identify_object(d.refclassid, d.refobjid, d.refobjsubid) r
	UNION ALL
	SELECT n.name, 'comment', concat(nullif(c.objsubid, 0), ' ', c.description)
	FROM named n JOIN pg_description c ON c.classoid = n.classid AND c.objoid = n.objid
	UNION ALL
	SELECT a.name, 'privilege', concat(x.grantee::regrole, ' ', x.privilege_type, ' ', x.is_grantable,
		' by ', x.grantor::regrole)
	FROM acl a, aclexplode(a.list) x
	UNION ALL
	SELECT 'extension', k, v
	FROM extension e JOIN pg_namespace n ON n.oid = e.extnamespace, LATERAL (VALUES
		('version', e.extversion), ('schema', n.nspname), ('owner', e.extowner::regrole::text),
		('relocatable', e.extrelocatable::text)) f (k, v)
	UNION ALL
	SELECT 'extension', 'dumps', concat(t.relation::regclass, ' ', t.condition)
	FROM extension e, unnest(e.extconfig, e.extcondition) t (relation, condition)
	UNION ALL
	SELECT r.name, k, v FROM relation r, LATERAL (VALUES
		('kind', concat_ws(' ', r.relkind, r.relpersistence, r.relreplident)),
		('owner', r.relowner::regrole::text),
		('options', r.reloptions::text),
		('access method', (SELECT m.amname FROM pg_am m WHERE m.oid = r.relam)),
		('row security', concat(r.relrowsecurity, r.relforcerowsecurity))) f (k, v)
	WHERE v IS NOT NULL
	UNION ALL
	SELECT name, 'definition', concat_ws(' ', place, format_type(atttypid, atttypmod), attnotnull, attidentity,
		attgenerated, attcollation::regcollation, attstorage, attcompression, attstattarget)
	FROM columns WHERE relkind NOT IN ('i', 'S')
	UNION ALL
	SELECT c.name, 'default', pg_get_expr(d.adbin, d.adrelid)
	FROM columns c JOIN pg_attrdef d ON d.adrelid = c.attrelid AND d.adnum = c.attnum
	UNION ALL
	SELECT n.name, 'definition', concat(pg_get_constraintdef(c.oid), c.convalidated, c.condeferrable, c.condeferred)
	FROM named n JOIN pg_constraint c ON n.classid = 'pg_constraint'::regclass AND c.oid = n.objid
	UNION ALL
	SELECT r.name, 'definition', concat_ws(' ', pg_get_indexdef(i.indexrelid), i.indisvalid, i.indisready,
		i.indisclustered, i.indisreplident)
	FROM relation r JOIN pg_index i ON i.indexrelid = r.oid
	UNION ALL
	SELECT n.name, 'definition', concat_ws(' ', pg_get_triggerdef(t.oid), t.tgenabled)
	FROM named n JOIN pg_trigger t ON n.classid = 'pg_trigger'::regclass AND t.oid = n.objid
	UNION ALL
	SELECT n.name, 'definition', concat_ws(' ', pg_get_ruledef(r.oid), r.ev_enabled)
	FROM named n JOIN pg_rewrite r ON n.classid = 'pg_rewrite'::regclass AND r.oid = n.objid
	UNION ALL
	SELECT r.name, 'definition', concat_ws(' ', s.seqtypid::regtype, s.seqstart, s.seqincrement, s.seqmin,
		s.seqmax, s.seqcache, s.seqcycle)
	FROM relation r JOIN pg_sequence s ON s.seqrelid = r.oid
	UNION ALL
	SELECT name, 'definition', CASE prokind WHEN 'a' THEN 'aggregate' ELSE pg_get_functiondef(oid) END
	FROM function
	UNION ALL
	SELECT name, 'owner', proowner::regrole::text FROM function
	UNION ALL
	-- what is in the ledger's schema and none of the extension's
	SELECT 'schema dpngram', 'stranger', concat(i.type, ' ', i.identity)
	FROM (SELECT 'pg_class'::regclass AS classid, oid FROM pg_class WHERE relnamespace = 'dpngram'::regnamespace
		UNION ALL
		SELECT 'pg_proc'::regclass, oid FROM pg_proc WHERE pronamespace = 'dpngram'::regnamespace) s
	CROSS JOIN LATERAL pg_identify_object(s.classid, s.oid, 0) i
	WHERE (s.classid, s.oid) NOT IN (SELECT classid, objid FROM object)
)
SELECT line FROM (SELECT concat_ws(' | ', name, fact, replace(value, E'\n', ' ')) AS line FROM fact) l
ORDER BY line COLLATE "C";
