-- The functions of the module, from the folder where it was built, and texts at random.
\set module `echo "$PUSH_TEST_MODULE"`
CREATE EXTENSION dpngram;

CREATE FUNCTION push_test_compare(relation regclass, user_col name, text_col name, levels int DEFAULT 4,
	bound int DEFAULT 1000, single bool DEFAULT false, rounds int DEFAULT 0, seed bigint DEFAULT 1,
	tokenizer text DEFAULT 'word', max_tokens int DEFAULT 0)
RETURNS TABLE (level int, ngrams bigint, compared bigint, different bigint)
AS :'module' LANGUAGE C STRICT VOLATILE;
REVOKE ALL ON FUNCTION push_test_compare FROM PUBLIC;

CREATE FUNCTION push_test_spec(level int, words int) RETURNS bytea
AS :'module' LANGUAGE C STRICT VOLATILE;
REVOKE ALL ON FUNCTION push_test_spec FROM PUBLIC;

-- Numbers that are the same everywhere, below n.
CREATE FUNCTION draw(n int, VARIADIC seed text[]) RETURNS int
LANGUAGE sql IMMUTABLE AS $$ SELECT (('x' || left(md5(array_to_string(seed, ' ')), 7))::bit(28)::int % n) $$;

-- Texts of Zipf-like words, many of them not ASCII, with signs between that part nothing.
CREATE FUNCTION a_text(seed int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg((ARRAY['der', 'Öl', 'ЖУК', 'naïve', 'ß', '東京', 'I''m', 'x', 'ΣΑΣ', 'e'])[1 + least(draw(10, seed::text, i::text), draw(10, i::text, seed::text))]
			|| CASE WHEN draw(5, i::text, 'n', seed::text) = 0 THEN draw(40, 'm', seed::text, i::text)::text ELSE '' END,
		(ARRAY[' ', ', ', '_', E'\n'])[1 + draw(4, 's', seed::text, i::text)] ORDER BY i)
	FROM generate_series(1, draw(14, 'length', seed::text)) i $$;

-- Each user has many rows, in no order; some rows have no user or no text.
CREATE TABLE texts AS
	SELECT CASE WHEN draw(50, 'u', i::text) > 0 THEN draw(60, 'user', i::text) END AS who,
		CASE WHEN draw(20, 't', i::text) > 0 THEN a_text(i) END AS what
	FROM generate_series(1, 1500) i;
CREATE TABLE hashed (LIKE texts) PARTITION BY HASH (who);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE hashed_2 PARTITION OF hashed FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO hashed SELECT * FROM texts;
CREATE MATERIALIZED VIEW seen AS SELECT who::numeric / 10 AS who, string_to_array(what, ' ') AS what FROM texts;
CREATE TABLE users_of_text AS SELECT 'person ' || who AS who, what::varchar(1000) FROM texts;
