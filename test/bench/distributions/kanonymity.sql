-- kanonymity.sql: section 4.5, the divergence of K-anonymity against K.
--
-- An n-gram of fewer than K users is not published and has no probability, under which
-- every divergence would be infinite; the paper does not say what it does.  Here all that
-- is left of the probability goes to those n-grams in proportion to their public counts,
-- which flatters K-anonymity: the mass that is left would have to be published as well.

SELECT count(*) AS msnbc_users FROM msnbc_order \gset
SET client_min_messages = error;
CREATE TABLE kanon_msnbc AS SELECT ngram, users
FROM kanon_ngrams('msnbc_' || :msnbc_users, 'visitor', 'pages', 1, 3) WHERE n = 3;
CREATE TABLE kanon_git AS SELECT ngram, users FROM kanon_ngrams('git_grams', 'author', 'grams', 1, 1);
RESET client_min_messages;

CREATE FUNCTION kanon_divergence(truth regclass, listed regclass)
	RETURNS TABLE (k int, kept bigint, kl float8) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('
	WITH t AS MATERIALIZED (SELECT p, prior, coalesce(users, 0) AS users FROM %s LEFT JOIN %s USING (ngram))
	SELECT k, kept, (SELECT kl_divergence(p, CASE WHEN users >= k THEN p ELSE prior / public * mass END) FROM t)
	FROM unnest(''{2,5,10,20,50,100,200,500,1000,2000,5000}''::int[]) AS k, LATERAL (
		SELECT sum(p) FILTER (WHERE users < k) AS mass, sum(prior) FILTER (WHERE users < k) AS public,
			count(*) FILTER (WHERE users >= k) AS kept FROM t) s', truth, listed);
END $$;

CREATE TABLE kanonymity AS
SELECT 'msnbc' AS corpus, * FROM kanon_divergence('truth_msnbc_u' || :msnbc_users, 'kanon_msnbc')
UNION ALL SELECT 'git', * FROM kanon_divergence('truth_git_u10000', 'kanon_git');

\echo
\echo ---- K-anonymity, counting users: KL divergence (n-grams that reach K); NOT differentially private
SELECT corpus, k, digits(kl, kl) || ' (' || kept || ')' FROM kanonymity ORDER BY corpus DESC, k \crosstabview
\t on
\pset format unaligned
SELECT string_agg(block, E'\n\n\n') FROM (
	SELECT '# "' || corpus || E'"\n' || string_agg(k || ' ' || kl, E'\n' ORDER BY k) AS block FROM kanonymity GROUP BY corpus) s
\set file :folder '/kanonymity.dat'
\g :file
\pset format aligned
\t off
