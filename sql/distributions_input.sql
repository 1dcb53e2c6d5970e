-- bayes_dp_dist: bad input costs nothing, prices are told beforehand, a whole budget fits
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
SET client_min_messages = error;
CREATE ROLE regress_distin_ana;
CREATE SCHEMA din;
GRANT USAGE ON SCHEMA din TO regress_distin_ana;
CREATE TABLE din.t (u int, body text, j json);
INSERT INTO din.t SELECT i, 'a b c d', '{}' FROM generate_series(1, 30) i;
CREATE TABLE din.pub (ngram text, count bigint);
INSERT INTO din.pub VALUES ('a b c', 3), ('b c d', 2);
SELECT dp_protect('din.t', 'u', 10, 1e-5, dataset => 'din', columns => '{body,j}');
SELECT dp_grant('din', 'regress_distin_ana');

CREATE FUNCTION din.call(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	state text; message text; detail text; hint text; n bigint;
BEGIN
	EXECUTE 'SELECT count(*) FROM bayes_dp_dist(' || arguments || ')' INTO n;
	RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
		hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', state, message, nullif(detail, ''), nullif(hint, ''));
END $$;
CREATE FUNCTION din.try(arguments text) RETURNS text LANGUAGE sql AS
	$$ SELECT din.call($q$'din.t', 'u', 'body', 'din.pub', $q$ || arguments) $$;

-- arguments
SELECT arguments, din.try(arguments) FROM unnest(ARRAY[
	$$0, 1e-6$$,
	$$'NaN', 1e-6$$,
	$$'Infinity', 1e-6$$,
	$$NULL, 1e-6$$,
	$$1, 1$$,
	$$1, -1e-9$$,
	$$1, 'NaN'$$,
	$$1, NULL$$,
	$$1, 1e-300$$,
	$$1e-300, 0$$,
	$$1, 1e-6, 0$$,
	$$1, 1e-6, 33$$,
	$$1, 1e-6, NULL$$,
	$$1, 1e-6, method => 'magic'$$,
	$$1, 1e-6, method => NULL$$,
	$$1, 1e-6, method => 'laplace'$$,
	$$1, 1e-6, method => 'laplace-public'$$,
	$$1, 0, method => 'log-posterior'$$,
	$$1, 0, method => 'local-sensitivity'$$,
	$$1, 1e-6, counting => 'words'$$,
	$$1, 1e-6, max_count => 0$$,
	$$1, 1e-6, max_count => 2, counting => 'users'$$,
	$$1, 1e-6, max_contributions => 0$$,
	$$1, 1e-6, max_contributions => 1048577$$,
	$$1, 1e-6, max_norm => 0.5$$,
	$$1, 1e-6, max_norm => 'NaN'$$,
	$$1, 1e-6, max_norm => 1e6$$,
	$$1, 0, max_norm => 2, method => 'laplace'$$,
	$$1, 0, tune => true, method => 'laplace'$$,
	$$1, 1e-6, tune => NULL$$,
	$$1, 1e-6, sensitivity => 'brute-force'$$,
	$$1, 1e-6, sensitivity => 'none', method => 'local-sensitivity'$$,
	$$1, 1e-6, tokenizer => 'magic'$$,
	$$1, 1e-6, max_tokens => 0$$,
	$$1, 1e-6, options => '[]'$$,
	$$1, 1e-6, options => '{"s": 1}'$$,
	$$1, 1e-6, options => '{"norm_share": 0}'$$,
	$$1, 1e-6, options => '{"norm_share": "much"}'$$,
	$$1, 1e-6, max_norm => 2, options => '{"norm_share": 0.1}'$$,
	$$1, 1e-6, method => 'log-posterior', options => '{"s": 0}'$$,
	$$1, 1e-6, method => 'log-posterior', options => '{"s": 1e-300}'$$,
	$$1, 1e-6, method => 'local-sensitivity', options => '{"s": 1e300}'$$,
	$$1, 1e-6, method => 'log-posterior', options => '{"rho": 1.5}'$$,
	$$1, 1e-6, method => 'log-posterior', options => '{"m0": 1e300}'$$,
	$$1, 1e-6, method => 'log-posterior', tune => true, options => '{"s": 1}'$$,
	$$1, 1e-6, method => 'log-posterior', tune => true, options => '{"train_share": 1}'$$,
	$$1, 1e-6, options => '{"period": "2026-01-01"}'$$]) arguments;
-- columns and relations
SELECT arguments, din.call(arguments) FROM unnest(ARRAY[
	$$NULL, 'u', 'body', 'din.pub', 1, 1e-6$$,
	$$'din.t', NULL, 'body', 'din.pub', 1, 1e-6$$,
	$$'din.t', 'u', 'body', NULL, 1, 1e-6$$,
	$$'din.t', 'body', 'body', 'din.pub', 1, 1e-6$$,
	$$'din.t', 'u', 'u', 'din.pub', 1, 1e-6$$,
	$$'din.t', 'u', 'j', 'din.pub', 1, 1e-6$$,
	$$'din.t', 'u', 'nothing', 'din.pub', 1, 1e-6$$,
	$$'din.t', 'u', 'body', 'din.t', 1, 1e-6$$,
	$$'din.t', 'u', 'body', 'pg_class', 1, 1e-6$$,
	$$'din.t', 'u', 'body', 'din.nowhere', 1, 1e-6$$]) arguments;

-- the vocabulary
CREATE TABLE din.empty (ngram text, count bigint);
CREATE TABLE din.twice (ngram text, count bigint);
INSERT INTO din.twice VALUES ('a b c', 1), ('b c d', 1), ('a b c', 1);
CREATE TABLE din.zero (ngram text, count bigint);
INSERT INTO din.zero VALUES ('a b c', 0);
CREATE TABLE din.negative (ngram text, count bigint);
INSERT INTO din.negative VALUES ('a b c', 1), ('b c d', -1);
CREATE TABLE din.null_count (ngram text, count bigint);
INSERT INTO din.null_count VALUES ('a b c', NULL);
CREATE TABLE din.null_gram (ngram text, count bigint);
INSERT INTO din.null_gram VALUES (NULL, 1);
CREATE TABLE din.short (ngram text, count bigint);
INSERT INTO din.short VALUES ('a b', 1);
CREATE TABLE din.long (ngram text, count bigint);
INSERT INTO din.long VALUES ('a b c d', 1);
CREATE TABLE din.blanks (ngram text, count bigint);
INSERT INTO din.blanks VALUES ('a  b', 1);
CREATE TABLE din.trailing (ngram text, count bigint);
INSERT INTO din.trailing VALUES ('a b c ', 1);
CREATE TABLE din.nothing (ngram text, count bigint);
INSERT INTO din.nothing VALUES ('', 1);
CREATE TABLE din.typed (ngram int, count bigint);
CREATE TABLE din.typed_count (ngram text, count numeric);
CREATE TABLE din.named (gram text, count bigint);
SELECT public, din.call(format($$'din.t', 'u', 'body', %L, 1, 1e-6$$, public)) FROM unnest('{din.empty,din.twice,din.zero,din.negative,
	din.null_count,din.null_gram,din.short,din.long,din.blanks,din.trailing,din.nothing,din.typed,din.typed_count,din.named}'::text[]) public;
-- likewise by every method
SELECT method, count(*) AS vocabularies, count(DISTINCT error) AS errors,
	bool_and(error = din.call(format($$'din.t', 'u', 'body', %L, 1, 1e-6$$, public))) AS as_before
FROM unnest('{shrinkage,log-posterior,laplace,laplace-public,local-sensitivity}'::text[]) method,
	unnest('{din.empty,din.twice,din.zero,din.negative,din.null_count,din.null_gram,din.short,din.long,din.nothing}'::text[]) public,
	LATERAL din.call(format($$'din.t', 'u', 'body', %L, 1, %s, method => %L$$, public,
		CASE WHEN method LIKE 'laplace%' THEN 0 ELSE 1e-6 END, method)) error
GROUP BY method ORDER BY method;
-- what a budget protects is not public, nor what reads it
CREATE TABLE din.secret (u int, ngram text, count bigint);
INSERT INTO din.secret VALUES (1, 'a b c', 3);
CREATE VIEW din.seen AS SELECT ngram, count FROM din.secret;
SELECT dp_protect('din.secret', 'u', 1, 1e-6, dataset => 'din_secret');
SELECT public, din.call(format($$'din.t', 'u', 'body', %L, 1, 1e-6$$, public)) FROM unnest('{din.secret,din.seen}'::text[]) public;
-- the analyst reads it with rights of its own
SET ROLE regress_distin_ana;
SELECT din.try('1, 1e-6');
RESET ROLE;
GRANT SELECT ON din.pub TO regress_distin_ana;

-- nothing of all this was debited
SELECT count(*) FROM dpngram.releases WHERE mechanism = 'bayes_dp_dist' AND dataset = 'din';
SET ROLE regress_distin_ana;
SELECT din.try('1, 1e-6');
SELECT din.try('100, 1e-6');
SELECT din.try('100, 0');
RESET ROLE;
SELECT count(*) FROM dpngram.releases WHERE mechanism = 'bayes_dp_dist' AND dataset = 'din';

-- the price told is the price debited, in each accounting
CREATE TABLE din.calls (id int GENERATED ALWAYS AS IDENTITY, delta float8, options jsonb);
INSERT INTO din.calls (delta, options) VALUES (1e-6, '{}'), (1e-6, '{"max_norm": 4}'), (1e-6, '{"method": "log-posterior"}'),
	(1e-6, '{"method": "log-posterior", "tune": true}'), (0, '{}'), (0, '{"method": "laplace"}'), (0, '{"method": "laplace-public"}');
CREATE FUNCTION din.spend(of text, epsilon float8, delta float8, options jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format($q$SELECT FROM bayes_dp_dist('din.%s', 'u', 'body', 'din.pub', %s, %s%s)$q$, of, epsilon, delta,
		(SELECT string_agg(format(', %I => %L', key, value #>> '{}'), '') FROM jsonb_each(options)));
END $$;
CREATE FUNCTION din.told(of text, epsilon float8, delta float8, options jsonb) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_object_agg(lane, amount) FROM dp_price('bayes_dp_dist', epsilon, delta, options || jsonb_build_object('dataset', of)) $$;
CREATE FUNCTION din.paid(of text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT CASE d.accounting WHEN 'gdp' THEN jsonb_build_object('mu2', r.mu2, 'eps_pure', r.eps_pure, 'delta_add', r.delta_add)
		WHEN 'zcdp' THEN jsonb_build_object('rho', r.rho, 'rho_delta', r.rho_delta)
		ELSE jsonb_build_object('basic_epsilon', r.basic_epsilon, 'basic_delta', r.basic_delta) END
	FROM dpngram.dataset d JOIN dpngram.release r ON r.dataset = d.id
	WHERE d.name = of AND d.ended IS NULL AND r.epsilon IS NOT NULL ORDER BY r.number DESC LIMIT 1 $$;
CREATE TABLE din.din_gdp AS SELECT u, body FROM din.t;
CREATE TABLE din.din_pure AS TABLE din.din_gdp;
CREATE TABLE din.din_zcdp AS TABLE din.din_gdp;
CREATE TABLE din.din_basic AS TABLE din.din_gdp;
SELECT dp_protect('din.din_gdp', 'u', 100, 1e-3, dataset => 'din_gdp');
SELECT dp_protect('din.din_pure', 'u', 100, 1e-3, dataset => 'din_pure', pure_share => 0.5);
SELECT dp_protect('din.din_zcdp', 'u', 100, 1e-3, dataset => 'din_zcdp', accounting => 'zcdp');
SELECT dp_protect('din.din_basic', 'u', 100, 1e-3, dataset => 'din_basic', accounting => 'basic');
CREATE TABLE din.told_paid (of text, id int, told jsonb, paid jsonb);
\set ECHO none
SELECT format('INSERT INTO din.told_paid SELECT %1$L, %2$s, din.told(%1$L, 1, %3$s, %4$L), NULL', name, id, delta, options),
	format('DO $do$ BEGIN PERFORM din.spend(%L, 1, %s, %L); END $do$', name, delta, options),
	format('UPDATE din.told_paid SET paid = din.paid(%L) WHERE of = %1$L AND id = %s', name, id)
FROM unnest('{din_gdp,din_pure,din_zcdp,din_basic}'::text[]) name, din.calls ORDER BY name, id
\gexec
\set ECHO all
SELECT of, count(*), bool_and(told = paid) AS as_told FROM din.told_paid GROUP BY of ORDER BY of;
-- pure epsilon is debited where there is a lane for it, else as the Gaussian mechanism that it also is
SELECT of, id, (paid->>'mu2')::float8 > 0 AS mu2, (paid->>'eps_pure')::float8 > 1e-3 AS eps_pure
FROM din.told_paid WHERE of IN ('din_gdp', 'din_pure') AND id > 4 ORDER BY 1, 2;
SELECT DISTINCT e->>'event' AS event FROM dpngram.release r, jsonb_array_elements(r.events) e, dpngram.dataset d
WHERE d.id = r.dataset AND d.name IN ('din_gdp', 'din_pure', 'din_zcdp', 'din_basic') AND r.epsilon IS NOT NULL ORDER BY 1;
-- tuning costs nothing beyond the candidates
SELECT of, (SELECT (p.paid->>'mu2')::numeric / (q.paid->>'mu2')::numeric BETWEEN 0.999 AND 1.001 FROM din.told_paid p, din.told_paid q
	WHERE p.of = 'din_gdp' AND q.of = 'din_gdp' AND p.id = 4 AND q.id = 3) AS same FROM (VALUES ('din_gdp')) o (of);

-- all of a fresh dataset can be spent at once, and then no more
\set ECHO none
SELECT format('CREATE TABLE din.din_whole_%s_%s AS TABLE din.din_gdp', accounting, id),
	format($q$DO $do$ BEGIN PERFORM dp_protect('din.din_whole_%1$s_%2$s', 'u', 2, 1e-5, dataset => 'din_whole_%1$s_%2$s', accounting => %1$L); END $do$$q$,
		accounting, id)
FROM unnest('{gdp,zcdp,basic}'::text[]) accounting, din.calls WHERE delta > 0
\gexec
\set ECHO all
CREATE TABLE din.whole AS SELECT format('din_whole_%s_%s', accounting, id) AS of, accounting, options FROM unnest('{gdp,zcdp,basic}'::text[]) accounting, din.calls WHERE delta > 0;
CREATE FUNCTION din.spend_all(of text, options jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM din.spend(of, 2, 1e-5, options);
	RETURN 'fits';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
SELECT accounting, string_agg(din.spend_all(of, options), ' ' ORDER BY of) AS first FROM din.whole GROUP BY 1 ORDER BY 1;
SELECT accounting, string_agg(din.spend_all(of, options), ' ' ORDER BY of) AS second FROM din.whole GROUP BY 1 ORDER BY 1;
-- a dataset without delta bears Laplace noise alone
CREATE TABLE din.nodelta AS TABLE din.din_gdp;
SELECT dp_protect('din.nodelta', 'u', 1, 0, dataset => 'din_nodelta');
SELECT din.call($$'din.nodelta', 'u', 'body', 'din.pub', 1, 1e-6$$);
SELECT din.call($$'din.nodelta', 'u', 'body', 'din.pub', 1, 0$$);
SELECT din.call($$'din.nodelta', 'u', 'body', 'din.pub', 0.5, 0$$);
-- forecasts of what has no price
SELECT dp_price('bayes_dp_dist', 1, 1e-6, '{"method": "local-sensitivity"}');
SELECT count(*) FROM dp_price('bayes_dp_dist', 1, 1e-6);

DROP SCHEMA din CASCADE;
DROP OWNED BY regress_distin_ana;
DROP ROLE regress_distin_ana;
