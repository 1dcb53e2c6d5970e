-- ldp_encode against servers that ask for more than they should
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
CREATE SCHEMA lcl;

-- A client's permanent bits, as whoever has many of its reports can see them: a bit of a
-- filter is set in .56 of the reports or in .28.  Both errors are below 1e-11.
CREATE FUNCTION lcl.permanent(term text, alphabet text, max_length int, lifetime float8) RETURNS bool[] LANGUAGE sql AS $$
	WITH asked AS (SELECT ldp_round('rappor', 2, alphabet => alphabet, max_length => max_length,
			options => jsonb_build_object('lifetime', lifetime)) AS round),
		reports AS (SELECT ldp_encode('rappor', term, 2, round, '\x000102030405060708090a0b0c0d0e0f') -> 'bits' AS bits
			FROM asked, generate_series(1, 600))
	SELECT array_agg(ones > 252 ORDER BY part, bit)
	FROM (SELECT part, bit, count(*) FILTER (WHERE ('x' || (bits ->> part))::bit(64)::int8 >> bit & 1 = 1) AS ones
		FROM reports, generate_series(0, 2) part, generate_series(0, 63) bit GROUP BY part, bit) b $$;
CREATE FUNCTION lcl.differ(one bool[], other bool[]) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM unnest(one, other) v(x, y) WHERE x <> y $$;

-- the same in every report of a collection; others, about 63 of 192, where the symbols of
-- the term may be others, even if those of this term are not: which terms that is so of
-- must not be seen
WITH same AS (SELECT t, lcl.permanent(t, 'a-z', 6, 8) AS bits FROM unnest('{abc,abcdef,NULL}'::text[]) t)
SELECT t AS term, lcl.differ(bits, lcl.permanent(t, 'a-z', 6, 8)) AS again,
	lcl.differ(bits, lcl.permanent(t, 'za-y', 6, 8)) AS spelled_otherwise,
	lcl.differ(bits, lcl.permanent(t, 'a-z{', 6, 8)) > 20 AS larger_alphabet,
	lcl.differ(bits, lcl.permanent(t, 'a-rt-z', 6, 8)) > 20 AS smaller_alphabet,
	lcl.differ(bits, lcl.permanent(t, 'a-z', 5, 8)) > 20 AS shorter,
	lcl.differ(bits, lcl.permanent(t, 'a-z', 6, 8.01)) > 20 AS longer_life
FROM same ORDER BY t;

-- a client is silent about nodes above or below those that it answers about
SELECT nodes, r ->> 'bits' ~ answers AS silent FROM (VALUES
	('["^a", "^ab", "=a", "^b", "^", "^a"]', '^[01]--[01]--$'),
	('["=ab", "^ab", "^a", "=a", "^abc", "=abcd"]', '^[01]--[01][01]-$'),
	('["^abc", "=ab", "^abd", "=abde"]', '^[01][01][01]-$')) v(nodes, answers),
	ldp_encode('privtrie', 'abc', 1, ldp_round('privtrie', 1) || jsonb_build_object('nodes', nodes::jsonb, 'from', 0, 'to', 1 << 20),
		'\x000102030405060708090a0b0c0d0e0f') r;

-- a client answers for its own epsilon only
SELECT ldp_encode('pem', 'abc', 1, ldp_round('pem', 1) || '{"epsilon": 30}');
SELECT ldp_encode('pem', 'abc', 1, ldp_round('treehist', 1));
SELECT ldp_encode('rappor', 'abc', 1, ldp_round('rappor', 1, max_length => 6) || '{"lifetime": 33}', '\x000102030405060708090a0b0c0d0e0f');
SELECT ldp_encode('rappor', 'abc', 1, ldp_round('rappor', 1, max_length => 6, options => '{"lifetime": 8}'));

-- one bit: NULL is no less private than false, .269 of them are reported as true
SELECT count(answer) AS reports, count(*) FILTER (WHERE answer) BETWEEN 4980 AND 5780 AS as_false FROM (SELECT oue_bit(NULL, 1) AS answer FROM generate_series(1, 20000)) b;
SELECT oue_bit(true, NULL);
DROP SCHEMA lcl CASCADE;
