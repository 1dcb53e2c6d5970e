-- Sums by parts are merged above: each worker adds up the n-grams of the users that it
-- has met, and what they have is added up once more.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_sort = off;
ALTER TABLE hashed_0 SET (parallel_workers = 0);
ALTER TABLE hashed_1 SET (parallel_workers = 0);
ANALYZE hashed;

CREATE FUNCTION plan_nodes(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
		RETURN NEXT substring(line FROM '(Partial|Finalize|Parallel Append|Gather|Function Scan on unpacked_counts)');
	END LOOP;
END $$;

SELECT DISTINCT n FROM plan_nodes($q$
	SELECT g.key, g.content, pg_catalog.sum(g.weight)::pg_catalog.int8 FROM (
		SELECT r.who AS person, dpngram.exact_user_counts('\x'::bytea, r.who, r.what) AS c FROM hashed_0 r GROUP BY r.who
		UNION ALL
		SELECT r.who AS person, dpngram.exact_user_counts('\x'::bytea, r.who, r.what) AS c FROM hashed_1 r GROUP BY r.who) u,
		dpngram.unpacked_counts(u.c) g
	GROUP BY g.key, g.content$q$) n WHERE n IS NOT NULL ORDER BY n;
