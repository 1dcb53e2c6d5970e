-- dp_ngrams by each tokenizer.  What exactly each makes of a text is tested in
-- test/modules/read_test; here, that its tokens arrive in the answer.
CREATE EXTENSION IF NOT EXISTS dpngram;
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE ROLE regress_tok_owner;
CREATE ROLE regress_tok_analyst;
CREATE SCHEMA tok AUTHORIZATION regress_tok_owner;
CREATE SCHEMA "Tok ana" AUTHORIZATION regress_tok_analyst;
GRANT USAGE ON SCHEMA tok TO regress_tok_analyst;
SET ROLE regress_tok_owner;
CREATE TABLE tok.texts (who int, body text, list text[], day date);
INSERT INTO tok.texts SELECT i, 'It''s The Größte_Fox, <b x="y z">run\ning', ARRAY['a b', 'c\d', NULL, 'e'], '2024-02-29'
	FROM generate_series(1, 400) i;
SELECT dp_protect('tok.texts', 'who', 1000, 1e-1);
SELECT dp_grant('tok.texts', 'regress_tok_analyst');

SET ROLE regress_tok_analyst;
CREATE FUNCTION "Tok ana".grams(tokenizer text, text_col name DEFAULT 'body') RETURNS TABLE (n int, ngrams text)
LANGUAGE sql AS $$
	SELECT n, string_agg(ngram, ' | ' ORDER BY ngram COLLATE "C")
	FROM dp_ngrams('tok.texts', 'who', $2, 8, 1e-3, max_length => 2, spurious => 1e-6, tokenizer => $1)
	GROUP BY n ORDER BY n $$;
SELECT * FROM "Tok ana".grams('word');
SELECT * FROM "Tok ana".grams('whitespace');
SELECT * FROM "Tok ana".grams('parser:default');
SELECT * FROM "Tok ana".grams('config:pg_catalog.english');
-- a configuration is found in the search path of the call
CREATE TEXT SEARCH CONFIGURATION "Tok ana".mine (COPY = simple);
SELECT * FROM "Tok ana".grams('config:mine');
SET search_path = "Tok ana", public;
-- but the analyst's own is refused, and so is another's with a dictionary of the analyst's
SELECT * FROM "Tok ana".grams('config:mine');
CREATE TEXT SEARCH DICTIONARY "Tok ana".words (TEMPLATE = simple);
RESET ROLE;
CREATE TEXT SEARCH CONFIGURATION "Tok ana".theirs (COPY = simple);
SET ROLE regress_tok_analyst;
SELECT * FROM "Tok ana".grams('config:theirs');
RESET ROLE;
ALTER TEXT SEARCH CONFIGURATION "Tok ana".theirs ALTER MAPPING FOR asciiword WITH "Tok ana".words;
SET ROLE regress_tok_analyst;
SELECT * FROM "Tok ana".grams('config:theirs');
RESET search_path;
-- an array is cut already
SELECT * FROM "Tok ana".grams('whitespace', 'list');
SELECT * FROM "Tok ana".grams('magic', 'list');
-- a type without tokens has items
SELECT * FROM "Tok ana".grams('word', 'day');
SELECT item FROM dp_set_union('tok.texts', 'who', 'day', 4, 1e-3);
SELECT item FROM dp_set_union('tok.texts', 'who', 'body', 4, 1e-3);

RESET ROLE;
SELECT dp_unprotect('tok.texts');
SET client_min_messages = error;
DROP SCHEMA tok, "Tok ana" CASCADE;
DROP ROLE regress_tok_owner, regress_tok_analyst;
