/* Frequent terms under local differential privacy. */

CREATE FUNCTION @extschema@.ldp_frequent_terms(
	relation regclass,
	user_col name,
	term_col name,
	epsilon float8,
	k int DEFAULT 50,
	method text DEFAULT 'privtrie',
	alphabet text DEFAULT 'a-z',
	max_length int DEFAULT 20,
	consistency boolean DEFAULT true,
	options jsonb DEFAULT '{}')
RETURNS TABLE (term text, frequency float8, stddev float8)
AS 'MODULE_PATHNAME', 'dpngram_frequent_terms'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.ldp_frequent_terms(regclass, name, name, float8, int, text, text, int, boolean,
	jsonb) IS 'terms that most users have in a protected column, by randomised answers; debits the budget';

CREATE FUNCTION @extschema@.frequent_terms_fscore(
	terms text[],
	relation regclass,
	user_col name,
	term_col name,
	k int DEFAULT NULL)
RETURNS TABLE ("precision" float8, recall float8, fscore float8)
LANGUAGE plpgsql STABLE CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
	-- with its schema, or a temporary table would be taken for a part of the query
	source text := (SELECT format('%I.%I', n.nspname, c.relname)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.oid = relation AND pg_has_role(c.relowner, 'USAGE'));
	missing name := (SELECT name FROM unnest(ARRAY[user_col, term_col]) name
		WHERE NOT EXISTS (SELECT FROM pg_attribute a
			WHERE a.attrelid = relation AND a.attname = name AND a.attnum > 0 AND NOT a.attisdropped) LIMIT 1);
	is_array boolean := EXISTS (SELECT FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
		WHERE a.attrelid = relation AND a.attname = term_col AND t.typcategory = 'A');
	value text := '(r.%2$I)::text';
	elements text := '';
BEGIN
	IF terms IS NULL OR relation IS NULL OR user_col IS NULL OR term_col IS NULL THEN
		RAISE EXCEPTION 'terms, relation, user_col and term_col must not be null'
			USING ERRCODE = 'NG005';
	END IF;
	IF k < 1 THEN
		RAISE EXCEPTION 'argument "k" is out of its domain' USING ERRCODE = 'NG005', DETAIL = '"k" must be positive.';
	END IF;
	IF source IS NULL THEN
		RAISE EXCEPTION 'only the owner of the relation may use frequent_terms_fscore'
			USING ERRCODE = 'insufficient_privilege', DETAIL = 'Its result is not differentially private.';
	END IF;
	IF missing IS NOT NULL THEN
		RAISE EXCEPTION 'column "%" does not exist or may not be queried', missing USING ERRCODE = 'NG010';
	END IF;
	IF is_array THEN
		value := 'e.element::text';
		elements := ' CROSS JOIN LATERAL unnest(r.%2$I) e (element)';
	END IF;
	RETURN QUERY EXECUTE format(
		'WITH given AS (SELECT DISTINCT t FROM unnest($1) t WHERE t IS NOT NULL),
			wanted AS (SELECT coalesce($2, (SELECT count(*)::int FROM given)) AS k),
			held AS (SELECT ' || value || ' COLLATE "C" AS t, r.%1$I AS u FROM %3$s r' || elements || '),
			truth AS (SELECT t FROM held WHERE u IS DISTINCT FROM NULL AND t <> ''''
				GROUP BY t ORDER BY count(DISTINCT u) DESC, t LIMIT (SELECT k FROM wanted)),
			hits AS (SELECT count(*)::float8 AS n FROM given JOIN truth USING (t)),
			sizes AS (SELECT (SELECT count(*) FROM given) AS given, (SELECT count(*) FROM truth) AS truth)
		SELECT hits.n / nullif(sizes.given, 0), hits.n / nullif(sizes.truth, 0),
			coalesce(2 * hits.n / nullif(sizes.given + sizes.truth, 0), 0)
		FROM hits, sizes', user_col, term_col, source) USING terms, k;
END
$function$;
COMMENT ON FUNCTION @extschema@.frequent_terms_fscore(text[], regclass, name, name, int) IS
	'precision and recall of terms against the truth; for the relation''s owner, not private';
