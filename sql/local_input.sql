-- ldp_frequent_terms: bad input costs nothing
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
SET client_min_messages = error;
CREATE ROLE regress_locin_ana;
CREATE SCHEMA lin;
GRANT USAGE ON SCHEMA lin TO regress_locin_ana;
CREATE TABLE lin.t (u int, term text, j json, "; DROP" text);
INSERT INTO lin.t SELECT i, 'lol', '{}', 'x' FROM generate_series(1, 30) i;
CREATE TABLE lin.bare (u int, term text);
SELECT dp_protect('lin.t', 'u', 100, 0, dataset => 'lin', columns => '{term,j,"; DROP"}', options => '{"public_user_count": true}');
SELECT dp_grant('lin', 'regress_locin_ana');

CREATE FUNCTION lin.call(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	state text; message text; detail text; hint text; n bigint;
BEGIN
	EXECUTE 'SELECT count(*) FROM ldp_frequent_terms(' || arguments || ')' INTO n;
	RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
		hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', state, message, nullif(detail, ''), nullif(hint, ''));
END $$;
CREATE FUNCTION lin.try(arguments text) RETURNS text LANGUAGE sql AS
	$$ SELECT lin.call($q$'lin.t', 'u', 'term', $q$ || arguments) $$;

-- arguments
SELECT arguments, lin.try(arguments) FROM unnest(ARRAY[
	$$0$$,
	$$-1$$,
	$$'NaN'$$,
	$$'Infinity'$$,
	$$NULL$$,
	$$1e-9$$,
	$$33$$,
	$$1, 0$$,
	$$1, NULL$$,
	$$1, 1000001$$,
	$$1, 5, 'magic'$$,
	$$1, 5, NULL$$,
	$$1, alphabet => ''$$,
	$$1, alphabet => NULL$$,
	$$1, alphabet => 'z-a'$$,
	$$1, alphabet => '-a'$$,
	$$1, alphabet => 'a-'$$,
	$$1, alphabet => 'a--'$$,
	$$1, alphabet => 'a\'$$,
	$$1, alphabet => 'a\n'$$,
	$$1, alphabet => U&'\0001-\+10FFFF'$$,
	$$1, max_length => 0$$,
	$$1, max_length => 1001$$,
	$$1, max_length => NULL$$,
	$$1, consistency => NULL$$,
	$$1, options => NULL$$,
	$$1, options => '[]'$$,
	$$1, options => '{"etta": 4}'$$,
	$$1, options => '{"eta": "4"}'$$,
	$$1, options => '{"eta": -1}'$$,
	$$1, options => '{"frontier": 0}'$$,
	$$1, options => '{"frontier": 2.5}'$$,
	$$1, options => '{"period": "2020-01-01"}'$$,
	$$1, 5, 'pem', options => '{"eta": 4}'$$,
	$$1, 5, 'rappor', options => '{"eta": 4}'$$,
	$$1, 5, 'rappor', options => '{"max_work": -1}'$$,
	$$1, 5, 'privtrie', options => '{"lifetime": 4}'$$
]) arguments;

-- relation and columns
SELECT arguments, lin.call(arguments) FROM unnest(ARRAY[
	$$NULL, 'u', 'term', 1$$,
	$$'lin.bare', 'u', 'term', 1$$,
	$$'lin.t', 'term', 'term', 1$$,
	$$'lin.t', 'u', 'u', 1$$,
	$$'lin.t', 'u', 'nowhere', 1$$,
	$$'lin.t', NULL, 'term', 1$$,
	$$'lin.t', 'u', NULL, 1$$
]) arguments;

-- work that a method doesn't take on is refused before it is charged
SELECT lin.try($$1, 5, 'rappor', alphabet => U&'\4E00-\9FFF'$$);
SELECT lin.try($$1, 5, 'rappor', max_length => 1000$$);
SELECT lin.try($$1e-5, 5, 'bsl'$$);

-- nothing was charged
SELECT count(*) FROM dpngram.releases WHERE dataset = 'lin' AND mechanism = 'ldp_frequent_terms';

-- what is no text has a text, too, and a column may be named anything
SELECT lin.call($$'lin.t', 'u', 'j', 1$$), lin.call($$'lin.t', 'u', '; DROP', 1$$);

-- not in a read-only transaction, nor by a stranger
BEGIN READ ONLY;
SELECT lin.try('1');
ROLLBACK;
SELECT dp_revoke('lin', 'regress_locin_ana');
GRANT ALL ON ALL FUNCTIONS IN SCHEMA lin TO regress_locin_ana;
SET ROLE regress_locin_ana;
SELECT lin.try('1');
RESET ROLE;

-- the price of a call that could not be made
SELECT * FROM dp_price('ldp_frequent_terms', 0, 0);
SELECT * FROM dp_price('ldp_frequent_terms', 1, NULL);
SELECT * FROM dp_price('ldp_frequent_terms', 1, 0, '{"k": 0}');

-- options of dp_protect
SELECT dp_protect('lin.bare', 'u', 1, 0, options => '{"public_user_count": "yes"}');

SELECT dp_unprotect('lin');
DROP SCHEMA lin CASCADE;
DROP ROLE regress_locin_ana;
