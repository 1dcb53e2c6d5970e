-- The membership attack: what it finds, who may make it, and that it finds no more than is claimed
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
CREATE ROLE regress_member_owner;
CREATE ROLE regress_member_ana;
CREATE SCHEMA member AUTHORIZATION regress_member_owner;
GRANT USAGE ON SCHEMA member TO regress_member_ana;

SET ROLE regress_member_owner;
CREATE TABLE member.public (ngram text, count bigint);
INSERT INTO member.public VALUES ('a b c', 10), ('b c d', 5), ('c d e', 1), ('x y z', 1);
CREATE TABLE member.empty_public (ngram text, count bigint);
CREATE TABLE member.nobody (u int, body text);
CREATE TABLE member.alone (u int, body text);
INSERT INTO member.alone VALUES (1, 'x y z');
CREATE TABLE member.many (u int, body text);
INSERT INTO member.many SELECT i, 'a b c d e' FROM generate_series(1, 200) i;
INSERT INTO member.many VALUES (100, 'a b c'), (100, 'x y z');

-- one row, and a warning each time
SELECT runs, wins BETWEEN 0 AND runs AS wins, probability BETWEEN 0 AND 1 AS probability,
	epsilon_bound, confidence
FROM dp_membership_attack('member.many', 'u', 'body', 'member.public', 0.01, 1e-6, runs => 10);
SET client_min_messages = error;

-- bad input
CREATE FUNCTION member.call(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text; detail text; state text;
BEGIN
	EXECUTE 'SELECT count(*) FROM dp_membership_attack(' || arguments || ')';
	RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' | ', state, message, nullif(detail, ''));
END $$;
SELECT arguments, member.call($$'member.many', 'u', 'body', $$ || arguments) FROM unnest(ARRAY[
	$$'member.public', 1, 1e-6, runs => 2$$,
	$$'member.public', 1, 1e-6, runs => 3$$,
	$$'member.public', 1, 1e-6, runs => 1$$,
	$$'member.public', 1, 1e-6, runs => 1000001$$,
	$$'member.public', 1, 1e-6, runs => NULL$$,
	$$'member.public', 1, 1e-6, confidence => 0.49$$,
	$$'member.public', 1, 1e-6, confidence => 1$$,
	$$'member.public', 1, 1e-6, confidence => 'NaN'$$,
	$$'member.public', 1, 1e-6, confidence => NULL$$,
	$$'member.public', 0, 1e-6$$,
	$$'member.public', 1e300, 1e-6$$,
	$$'member.public', 1, 1e-6, method => 'laplace'$$,
	$$'member.public', 1, 1e-6, method => 'magic'$$,
	$$'member.public', 1, 1e-6, tune => true, method => 'local-sensitivity'$$,
	$$'member.public', 1, 1e-6, options => '{"magic": 1}'$$,
	$$'member.public', 1, 1e-6, options => '{"period": "2020-01-01"}'$$,
	$$'member.public', 1, 1e-6, n => 2$$,
	$$'member.empty_public', 1, 1e-6$$,
	$$'member.many', 1, 1e-6$$]) AS arguments;
SELECT member.call($$'member.nobody', 'u', 'body', 'member.public', 1, 1e-6$$),
	member.call($$'member.many', 'u', 'text', 'member.public', 1, 1e-6$$),
	member.call($$'member.many', 'user', 'body', 'member.public', 1, 1e-6$$);

-- the owner alone, whoever else may read the table or spend its budget; the ledger hears nothing of it
SELECT dp_protect('member.many', 'u', 100, 1e-3, dataset => 'member_many');
SELECT dp_grant('member_many', 'regress_member_ana');
GRANT SELECT ON member.many, member.public TO regress_member_ana;
GRANT EXECUTE ON FUNCTION member.call TO regress_member_ana;
SET ROLE regress_member_ana;
SELECT member.call($$'member.many', 'u', 'body', 'member.public', 1, 1e-6$$);
SET ROLE regress_member_owner;
SELECT member.call($$'member.many', 'u', 'body', 'member.public', 1, 1e-6, runs => 2$$);
SELECT mechanism FROM dpngram.releases WHERE dataset = 'member_many' ORDER BY id;

-- with predictable noise the same again, in whatever order the rows lie
RESET ROLE;
SET dpngram.test_seed = 7;
CREATE TABLE member.found AS
SELECT method, r.* FROM (VALUES ('shrinkage', 1e-6), ('shrinkage', 0), ('log-posterior', 1e-6), ('laplace', 0),
	('laplace-public', 0), ('local-sensitivity', 1e-6)) m (method, delta),
	dp_membership_attack('member.many', 'u', 'body', 'member.public', 5, delta, method => method, runs => 100) r;
INSERT INTO member.found SELECT 'tuned', r.* FROM dp_membership_attack('member.many', 'u', 'body', 'member.public',
	5, 1e-6, method => 'log-posterior', tune => true, runs => 20) r;
CREATE TABLE member.shuffled AS SELECT * FROM member.many ORDER BY hashint4(u), body DESC;
SELECT count(*), count(DISTINCT wins) > 1 AS differ FROM member.found;
SELECT method, r.* FROM (VALUES ('shrinkage', 1e-6), ('shrinkage', 0), ('log-posterior', 1e-6), ('laplace', 0),
	('laplace-public', 0), ('local-sensitivity', 1e-6)) m (method, delta),
	dp_membership_attack('member.shuffled', 'u', 'body', 'member.public', 5, delta, method => method, runs => 100) r
EXCEPT SELECT * FROM member.found;
SELECT 'tuned', r.* FROM dp_membership_attack('member.shuffled', 'u', 'body', 'member.public',
	5, 1e-6, method => 'log-posterior', tune => true, runs => 20) r
EXCEPT SELECT * FROM member.found;
RESET dpngram.test_seed;

-- A user alone with one n-gram is as easy to find as any: no private method gives more than the epsilon it
-- claims, each wrong with a probability of 1e-6, and for some of them the attack finds much of it.
SELECT method, delta, epsilon_bound <= 1 AS claim_holds, epsilon_bound > least AS and_found, wins <= runs AS wins
FROM (VALUES ('shrinkage', 1e-6, -1), ('shrinkage', 0, -1), ('log-posterior', 1e-6, -1), ('laplace', 0, 0.7),
	('laplace-public', 0, 0.2)) m (method, delta, least),
	dp_membership_attack('member.alone', 'u', 'body', 'member.public', 1, delta, method => method,
		max_contributions => 1, max_norm => CASE WHEN method = 'shrinkage' THEN 1 END,
		runs => CASE WHEN method = 'shrinkage' THEN 3000 ELSE 50000 END, confidence => 0.999999);
-- with a chosen norm, with tuning, and where the user is one of many
SELECT method, relation, epsilon_bound <= 1 AS claim_holds
FROM (VALUES ('shrinkage', 1e-6, false), ('shrinkage', 0, false), ('log-posterior', 1e-6, false),
	('log-posterior', 1e-6, true), ('laplace', 0, false), ('laplace-public', 0, false)) m (method, delta, tune),
	(VALUES ('member.alone'), ('member.many')) t (relation),
	dp_membership_attack(relation, 'u', 'body', 'member.public', 1, delta, method => method, tune => tune,
		runs => 2000, confidence => 0.999999);

-- The paper's mechanism as printed scales its noise to the data.  Where all n-grams are frequent it adds next to
-- none, and a neighbour with one new n-gram stands out: the claimed epsilon is 1.
SELECT sensitivity, epsilon_bound > 5 AS claim_broken
FROM unnest('{brute-force,worst-case}'::text[]) AS sensitivity,
	dp_membership_attack('member.many', 'u', 'body', 'member.public', 1, 1e-6, method => 'local-sensitivity',
		sensitivity => sensitivity, runs => 50000, confidence => 0.999999);

-- gone
SET ROLE regress_member_owner;
SELECT dp_unprotect('member_many');
RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA member CASCADE;
DROP ROLE regress_member_owner, regress_member_ana;
