-- The functions of the module, from the folder where it was built: nothing is
-- installed.  Only a superuser may call them: they read as any owner.
\set module `echo "$READ_TEST_MODULE"`

-- The tokens of a value; NULL where no n-gram may pass.
CREATE FUNCTION read_test_tokens(value anyelement, tokenizer text) RETURNS text[]
AS :'module' LANGUAGE C STRICT VOLATILE;
REVOKE ALL ON FUNCTION read_test_tokens FROM PUBLIC;

-- The corpus that a relation becomes when read as its owner.  Users are
-- numbered as they arrive; a NULL token ends a document.
CREATE FUNCTION read_test_corpus(relation regclass, user_col name, text_col name,
	tokenizer text DEFAULT 'word', max_tokens int DEFAULT 0)
RETURNS TABLE (user_number int, user_hash bigint, place int, token text)
AS :'module' LANGUAGE C STRICT VOLATILE;
REVOKE ALL ON FUNCTION read_test_corpus FROM PUBLIC;

-- The same by way of a corpus: rows are read in any order and grouped within that many bytes, with a
-- vocabulary of so many bytes (-1: no limit); words that found no room there are spelled by their keys.
CREATE FUNCTION read_test_grouped(relation regclass, user_col name, text_col name, tokenizer text,
	max_tokens int, memory bigint, paired boolean, words bigint)
RETURNS TABLE (user_number int, user_hash bigint, place int, token text)
AS :'module' LANGUAGE C STRICT VOLATILE;
REVOKE ALL ON FUNCTION read_test_grouped FROM PUBLIC;
-- The same corpus, but only counted: elements are positions, or five for a word without an id.
CREATE FUNCTION read_test_build(relation regclass, user_col name, text_col name, tokenizer text,
	max_tokens int, memory bigint, paired boolean, words bigint,
	OUT users bigint, OUT elements bigint, OUT ids bigint, OUT corpus_spilled boolean, OUT words_spilled boolean)
AS :'module' LANGUAGE C STRICT VOLATILE;
REVOKE ALL ON FUNCTION read_test_build FROM PUBLIC;
-- The same as read_test_corpus(), but only counted.
CREATE FUNCTION read_test_measure(relation regclass, user_col name, text_col name,
	tokenizer text DEFAULT 'word', max_tokens int DEFAULT 0,
	OUT users bigint, OUT tokens bigint, OUT distinct_tokens bigint)
AS :'module' LANGUAGE C STRICT VOLATILE;
REVOKE ALL ON FUNCTION read_test_measure FROM PUBLIC;

-- The same of the rows whose time lies within bounds.
CREATE FUNCTION read_test_between(relation regclass, user_col name, text_col name,
	tokenizer text, max_tokens int, time_col name, time_from text, time_to text,
	OUT users bigint, OUT tokens bigint, OUT distinct_tokens bigint)
AS :'module', 'read_test_measure' LANGUAGE C STRICT VOLATILE;
REVOKE ALL ON FUNCTION read_test_between FROM PUBLIC;

-- Interns the decimal numbers below n in several rounds and raises an error
-- unless ids, strings and hashes are what they must be.
CREATE FUNCTION read_test_vocabulary(n int, rounds int) RETURNS void
AS :'module' LANGUAGE C STRICT VOLATILE;
REVOKE ALL ON FUNCTION read_test_vocabulary FROM PUBLIC;
