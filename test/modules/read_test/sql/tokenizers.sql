-- What each tokenizer makes of values of each type.

-- word: letters, digits and apostrophes, lower-cased
SELECT read_test_tokens('Hello, World! foo_bar don''t 12x3'::text, 'word');
SELECT read_test_tokens('''quoted'' '' '''' a'''::text, 'word');
SELECT read_test_tokens('É_ÀB Straße ΑΒΓ дом-ДОМ x×y'::text, 'word');
SELECT read_test_tokens(E'tab\tnewline\nno\u00a0break'::text, 'word');
SELECT read_test_tokens('漢字 かな, 漢字。終'::text, 'word');
SELECT read_test_tokens('astral 𝐀bc 😀 end'::text, 'word');
SELECT read_test_tokens(''::text, 'word');
SELECT read_test_tokens('... --- ...'::text, 'word');

-- whitespace: what stands between blanks, unchanged
SELECT read_test_tokens(E'  Hello,\tWorld!\n foo\\bar  É '::text, 'whitespace');
SELECT read_test_tokens(E'wide\u2003blank'::text, 'whitespace');
SELECT read_test_tokens('   '::text, 'whitespace');

-- parser: every token that is not blank, its own blanks escaped
SELECT read_test_tokens('The quick foxes, at <a href="x y">http://b.org/c</a>'::text, 'parser:default');
SELECT read_test_tokens('foo-bar'::text, 'parser:pg_catalog.default');

-- config: lexemes in order, one a position
SELECT read_test_tokens('The quick foxes, running'::text, 'config:english');
SELECT read_test_tokens('The quick foxes, running'::text, 'config:pg_catalog.simple');

CREATE SCHEMA "other place";
CREATE TEXT SEARCH CONFIGURATION "other place"."My Config" (COPY = simple);
SELECT read_test_tokens('The Fox'::text, 'config:"other place"."My Config"');
SET search_path = "other place", public;
SELECT read_test_tokens('The Fox'::text, 'config:"My Config"');
RESET search_path;

-- several variants at one position: the first
CREATE TEXT SEARCH DICTIONARY "other place".isp (TEMPLATE = ispell,
	DictFile = ispell_sample, AffFile = ispell_sample);
CREATE TEXT SEARCH CONFIGURATION "other place".variants (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION "other place".variants
	ALTER MAPPING FOR asciiword WITH "other place".isp, simple;
SELECT ts_lexize('"other place".isp', 'footballklubber');
SELECT read_test_tokens('one footballklubber rebookings two'::text, 'config:"other place".variants');

-- positions stop at 16383 in a tsvector, but not here
SELECT cardinality(t), t[20001:] FROM
	read_test_tokens(repeat('Word ', 20000) || 'the end', 'config:simple') t;

-- a text of several pieces gives the tokens of one, also where there is no blank
SELECT cardinality(t), t[2000001:] FROM
	read_test_tokens(repeat('word ', 2000000) || 'the end', 'parser:default') t;
SELECT cardinality(t), length(array_to_string(t, '')) FROM
	read_test_tokens(repeat('é', 3000000), 'parser:default') t;

-- other types of text
CREATE DOMAIN words AS varchar(100);
SELECT read_test_tokens('Ab c'::words, 'word');
SELECT read_test_tokens('Ab c'::varchar, 'word');
SELECT read_test_tokens('Ab c'::char(10), 'word');
SELECT read_test_tokens('Ab_c'::name, 'word');

-- arrays: each element a token, NULL and empty elements are boundaries
SELECT read_test_tokens(ARRAY['A b', '', 'c\d', NULL, 'É'], 'word');
SELECT read_test_tokens(ARRAY['a ', '  ', 'b']::char(3)[], 'word');
SELECT read_test_tokens(ARRAY['a', 'b c']::name[], 'word');
SELECT read_test_tokens(ARRAY['x y']::words[], 'word');
SELECT read_test_tokens(ARRAY[1, NULL, -32768]::int2[], 'word');
SELECT read_test_tokens(ARRAY[1, NULL, -2147483648]::int4[], 'whitespace');
SELECT read_test_tokens(ARRAY[NULL, -9223372036854775808, 7]::int8[], 'parser:default');
SELECT read_test_tokens(ARRAY[[1, 2], [3, 4]], 'word');
SELECT read_test_tokens('{}'::int[], 'word');
CREATE DOMAIN numbers AS int[];
SELECT read_test_tokens('{3,4}'::numbers, 'word');

-- item: the value as it stands
SELECT read_test_tokens('A b\c'::text, 'item');
SELECT read_test_tokens('ab  '::char(6), 'item');
SELECT read_test_tokens(''::text, 'item');
SELECT read_test_tokens(1.50, 'item');
SELECT read_test_tokens(-7, 'item');
SELECT read_test_tokens(ARRAY['a b', NULL], 'item');
SELECT read_test_tokens('{"b": 1}'::jsonb, 'item');

-- what is refused
\set SHOW_CONTEXT never
SELECT read_test_tokens('a'::text, 'words');
SELECT read_test_tokens('a'::text, 'Word');
SELECT read_test_tokens('a'::text, '');
SELECT read_test_tokens('a'::text, 'parser:');
SELECT read_test_tokens('a'::text, 'parser:nowhere');
SELECT read_test_tokens('a'::text, 'parser:nowhere.default');
SELECT read_test_tokens('a'::text, 'config:nowhere');
SELECT read_test_tokens('a'::text, 'config:"');
SELECT read_test_tokens(ARRAY['a'], 'words');
SELECT read_test_tokens(1, 'word');
SELECT read_test_tokens(1.5, 'word');
SELECT read_test_tokens('a'::"char", 'word');
SELECT read_test_tokens('[]'::json, 'word');
SELECT read_test_tokens(ARRAY[1.5], 'word');
SELECT read_test_tokens(ARRAY['\x00'::bytea], 'word');
DO $$
BEGIN
	PERFORM read_test_tokens('a'::text, 'words');
EXCEPTION WHEN SQLSTATE 'NG005' THEN
	RAISE INFO 'unknown tokenizer: %', SQLSTATE;
END $$;
DO $$
BEGIN
	PERFORM read_test_tokens(1.5, 'word');
EXCEPTION WHEN SQLSTATE 'NG010' THEN
	RAISE INFO 'type without tokens: %', SQLSTATE;
END $$;

-- a broken configuration is an error when it is named, not when it meets a word
CREATE TEXT SEARCH DICTIONARY "other place".inner_dict (TEMPLATE = simple);
CREATE TEXT SEARCH DICTIONARY "other place".thesaurus (TEMPLATE = thesaurus,
	DictFile = thesaurus_sample, Dictionary = '"other place".inner_dict');
CREATE TEXT SEARCH CONFIGURATION "other place".broken (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION "other place".broken
	ALTER MAPPING FOR asciiword WITH "other place".thesaurus;
DROP TEXT SEARCH DICTIONARY "other place".inner_dict;
SELECT read_test_tokens('12'::text, 'config:"other place".broken');

-- the vocabulary
SELECT read_test_vocabulary(100000, 3);
SELECT read_test_vocabulary(0, 1);

DROP DOMAIN words, numbers;
DROP SCHEMA "other place" CASCADE;
