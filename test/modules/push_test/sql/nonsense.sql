-- Whatever is called a specification or a node's counts: an error, or an answer; no crash.
CREATE TABLE few AS SELECT who, what FROM texts WHERE who < 5;

-- What the functions make of it, or the error's code.
CREATE FUNCTION try(query text, spec bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
	EXECUTE format(query, quote_literal(spec) || '::bytea') INTO result;
	RETURN 'an answer';
EXCEPTION WHEN OTHERS THEN
	RETURN sqlstate;
END $$;

CREATE FUNCTION tries(spec bytea) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT try(q, spec) FROM unnest(ARRAY[
		'SELECT dpngram.exact_counts(%s, who, what) FROM few',
		'SELECT max(c) FROM (SELECT dpngram.exact_user_counts(%s, who, what)::text c FROM few GROUP BY who) s',
		'SELECT dpngram.exact_words(%s, who, what) FROM few',
		'SELECT max(dpngram.exact_row_words(%s, who, what)) FROM few',
		'SELECT count(*) FROM dpngram.unpacked_counts(%s)']) q $$;

-- The true ones.  Whether such bytes can pass for a node's counts hangs on what the C library
-- says of characters, of which a specification has a digest.
SELECT level, words, (array_agg(tries))[1:4] AS tries, (array_agg(tries))[5] IN ('an answer', 'NG005') AS known FROM unnest(ARRAY[1, 2, 4]) level, unnest(ARRAY[0, 30]) words, tries(push_test_spec(level, words))
GROUP BY 1, 2 ORDER BY 1, 2;

-- Cut short at each length, and one byte changed at each place.
SELECT tries, count(*) > 0 AS any FROM generate_series(0, length(push_test_spec(3, 5)) - 1) n,
	tries(substr(push_test_spec(3, 5), 1, n)) GROUP BY 1 ORDER BY 1;
SELECT bool_and(tries IN ('an answer', 'NG005', 'NG010')) AS known
FROM generate_series(0, length(push_test_spec(3, 5)) - 1, 2) n, unnest(ARRAY[0, 1, 255]) b,
	tries(set_byte(push_test_spec(3, 5), n, b));
-- Longer, and bytes at random.
SELECT DISTINCT tries FROM tries(push_test_spec(3, 5) || '\x00'::bytea) ORDER BY 1;
SELECT bool_and(tries IN ('an answer', 'NG005')) AS known FROM generate_series(1, 500) i,
	tries(substr(decode(repeat(md5(i::text), 20), 'hex'), 1, i % 300));
-- A name in no known encoding is in no message.
SELECT set_byte(spec, position('word'::bytea IN spec) - 1, 246) AS spec FROM push_test_spec(3, 5) spec \gset
SELECT dpngram.exact_counts(:'spec'::bytea, who, what) FROM few;

-- Other columns than the coordinator's.
SELECT try('SELECT dpngram.exact_counts(%s, what, who) FROM few', push_test_spec(1, 0)),
	try('SELECT dpngram.exact_counts(%s, who::bigint, what) FROM few', push_test_spec(1, 0));

-- One specification for all rows, one user for all rows of a group.
SELECT dpngram.exact_counts(CASE WHEN who > 0 THEN '\x'::bytea END, who, what) FROM few;
SELECT try('SELECT dpngram.exact_user_counts(%s, who, what) FROM few', push_test_spec(1, 0));
SELECT dpngram.exact_counts(NULL, who, what) IS NULL AS none FROM few;
SELECT dpngram.exact_counts('\x', who, what) OVER (ORDER BY who) FROM few;
SELECT dpngram.exact_row_words(convert_to(what, 'UTF8'), who, what) FROM few;
