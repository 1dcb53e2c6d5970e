-- Frequent terms under local differential privacy: who is asked, what is found, what it costs
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
CREATE ROLE regress_local_owner;
CREATE ROLE regress_local_ana;
CREATE SCHEMA loc AUTHORIZATION regress_local_owner;
GRANT USAGE ON SCHEMA loc TO regress_local_ana;
SET ROLE regress_local_owner;

-- 6,000 users with a term, and 600 of whom none has one that can be reported
CREATE TABLE loc.typed ("the User" text, "Wort" text);
INSERT INTO loc.typed SELECT 'u' || i, (ARRAY['lol', 'lol', 'lol', 'brb', 'brb', 'afk'])[1 + i % 6] FROM generate_series(1, 6000) i;
INSERT INTO loc.typed SELECT 'v' || i, (ARRAY[NULL, '', 'LOL', 'no one', 'größe', repeat('x', 2000)])[1 + i % 6] FROM generate_series(1, 600) i;
-- rows of nobody, and more rows of users who have a term already
INSERT INTO loc.typed SELECT NULL, 'nobody' FROM generate_series(1, 5000) i;
INSERT INTO loc.typed SELECT 'u' || i, NULL FROM generate_series(1, 6000) i;
INSERT INTO loc.typed SELECT 'u' || i, 'lol' FROM generate_series(6, 6000, 6) i;

-- the number of users must have been declared public
SELECT dp_protect('loc.typed', 'the User', 1e6, 0, dataset => 'loc typed secretly', options => '{"min_epsilon": 0}');
SELECT dp_grant('loc typed secretly', 'regress_local_ana');
SET ROLE regress_local_ana;
SELECT * FROM ldp_frequent_terms('loc.typed', 'the User', 'Wort', 8);
SELECT * FROM dp_price('ldp_frequent_terms', 8, 0, '{"dataset": "loc typed secretly"}');
SET ROLE regress_local_owner;
SELECT count(*) FROM dpngram.releases WHERE mechanism = 'ldp_frequent_terms' AND dataset = 'loc typed secretly';
SELECT dp_unprotect('loc typed secretly');
SELECT dp_protect('loc.typed', 'the User', 1e6, 0, dataset => 'loc typed', options => '{"public_user_count": true, "min_epsilon": 0}');
SELECT dp_grant('loc typed', 'regress_local_ana');

-- the analyst reads the answer, not the table; next to no noise at this epsilon but for the bits' own
SET ROLE regress_local_ana;
SELECT count(*) FROM loc.typed;
CREATE FUNCTION pg_temp.found(method text, OUT terms text[], OUT near boolean) LANGUAGE sql AS $$
	SELECT array_agg(term ORDER BY frequency DESC), bool_and(abs(frequency - truth) < 6 * stddev)
	FROM ldp_frequent_terms('loc.typed', 'the User', 'Wort', 16, 3, method, max_length => 4)
	LEFT JOIN (VALUES ('lol', 3000), ('brb', 2000), ('afk', 1000)) v(term, truth) USING (term) $$;
SELECT m AS method, f.* FROM unnest('{privtrie,ibsl,pem,treehist}'::text[]) m, pg_temp.found(m) f;

-- all users report, also those without a term, and each once
SELECT DISTINCT used FROM dpngram.releases WHERE mechanism = 'ldp_frequent_terms' AND dataset = 'loc typed';

-- a call's price is epsilon, whatever the groups that its users are divided into; calls add up
SELECT mechanism, parameters ->> 'method' AS method, eps_pure, mu2, delta_add FROM dpngram.releases
WHERE mechanism = 'ldp_frequent_terms' AND dataset = 'loc typed' ORDER BY id;
SELECT * FROM dp_price('ldp_frequent_terms', 16, 0, '{"method": "ibsl", "k": 3, "alphabet": "a-f"}');
SELECT * FROM dp_price('ldp_frequent_terms', 2, 0, '{"accounting": "zcdp"}');
SELECT * FROM dp_price('ldp_frequent_terms', 2, 0, '{"accounting": "basic", "dataset": null}');
SELECT * FROM dp_price('ldp_frequent_terms', 2, 0, '{"accounting": "basic"}');
SELECT * FROM dp_price('ldp_frequent_terms', 2, 1e-6);

-- Unicode, and characters that need a backslash
RESET ROLE;
SET ROLE regress_local_owner;
CREATE TABLE loc.signs (u int, t text, many text[]);
INSERT INTO loc.signs SELECT i, (ARRAY['größe', 'c-d', 'a\b', '日本'])[1 + i % 4], ARRAY['日本', 'c d', NULL, 'x']
FROM generate_series(1, 4000) i;
SELECT dp_protect('loc.signs', 'u', 1e6, 0, dataset => 'loc signs', options => '{"public_user_count": true, "min_epsilon": 0}');
SELECT term FROM ldp_frequent_terms('loc.signs', 'u', 't', 16, 4, alphabet => 'a-zöß\-\\日本', max_length => 6) ORDER BY term COLLATE "C";
SELECT term FROM ldp_frequent_terms('loc.signs', 'u', 't', 16, 1, alphabet => '本日', max_length => 3);
SELECT term FROM ldp_frequent_terms('loc.signs', 'u', 't', 16, 1, alphabet => '一-鿿', max_length => 3);
-- of several terms of a user one is taken, each as likely as the others
SELECT term, frequency BETWEEN 800 AND 1900 AS a_third FROM ldp_frequent_terms('loc.signs', 'u', 'many', 16, 3, alphabet => 'a-z 日本', max_length => 3)
ORDER BY term COLLATE "C";

-- users are asked in an order of chance: who comes first among the rows has no other term than who comes last
CREATE TABLE loc.sorted (u int PRIMARY KEY, t text);
INSERT INTO loc.sorted SELECT i, (ARRAY['early', 'late'])[1 + i / 6001] FROM generate_series(1, 12000) i;
SELECT dp_protect('loc.sorted', 'u', 1e6, 0, dataset => 'loc sorted', options => '{"public_user_count": true, "min_epsilon": 0}');
SELECT m, term, abs(frequency - 6000) < 6 * stddev AS near
FROM unnest('{privtrie,ibsl,pem,treehist}'::text[]) m, ldp_frequent_terms('loc.sorted', 'u', 't', 8, 2, m, max_length => 5) ORDER BY m, term;

-- where the pure lane is short, a call is debited as the Gaussian mechanism that it is no worse than
CREATE TABLE loc.little (u int, t text);
INSERT INTO loc.little SELECT i, 'x' FROM generate_series(1, 100) i;
SELECT dp_protect('loc.little', 'u', 4, 1e-6, dataset => 'loc little', options => '{"public_user_count": true}');
SELECT count(*) <= 5 AS answered FROM ldp_frequent_terms('loc.little', 'u', 't', 0.5, 5);
SELECT eps_pure, round(mu2::numeric, 4) AS mu2 FROM dpngram.releases WHERE mechanism = 'ldp_frequent_terms' AND dataset = 'loc little';
SELECT * FROM ldp_frequent_terms('loc.little', 'u', 't', 8, 5);

-- nobody at all
CREATE TABLE loc.nothing (u int, t text);
SELECT dp_protect('loc.nothing', 'u', 100, 0, dataset => 'loc nothing', options => '{"public_user_count": true, "min_epsilon": 0}');
SELECT m, (SELECT count(*) FROM ldp_frequent_terms('loc.nothing', 'u', 't', 1, 5, m, max_length => 6)) FROM unnest('{privtrie,ibsl,bsl,pem,treehist,rappor}'::text[]) m;
INSERT INTO loc.nothing SELECT i, NULL FROM generate_series(1, 3) i;
SELECT m, (SELECT count(*) <= 5 FROM ldp_frequent_terms('loc.nothing', 'u', 't', 1, 5, m, max_length => 6)) FROM unnest('{privtrie,ibsl,bsl,pem,treehist,rappor}'::text[]) m;

-- periods: each has its own budget, and its own users
CREATE TABLE loc.daily (u int, t text, at date);
INSERT INTO loc.daily SELECT i, CASE WHEN i <= 3000 THEN 'old' ELSE 'new' END, CASE WHEN i <= 3000 THEN date '2020-01-01' ELSE date '2020-01-02' END
FROM generate_series(1, 6000) i;
SELECT dp_protect('loc.daily', 'u', 20, 0, dataset => 'loc daily',
	options => '{"public_user_count": true, "renews": "1 day", "time_col": "at", "time_zone": "UTC"}');
SELECT term FROM ldp_frequent_terms('loc.daily', 'u', 't', 16, 1, options => '{"period": "2020-01-01"}');
SELECT term FROM ldp_frequent_terms('loc.daily', 'u', 't', 16, 1, options => '{"period": "2020-01-02"}');
SELECT used FROM dpngram.releases WHERE mechanism = 'ldp_frequent_terms' AND dataset = 'loc daily';
SELECT term FROM ldp_frequent_terms('loc.daily', 'u', 't', 16, 1, options => '{"period": "2020-01-02"}');

-- rappor's work is bounded; what it answers is told when it has been charged
SELECT count(*) > 0 AS answered FROM ldp_frequent_terms('loc.typed', 'the User', 'Wort', 8, 3, 'rappor', max_length => 4);
SELECT * FROM ldp_frequent_terms('loc.typed', 'the User', 'Wort', 8, 3, 'rappor', max_length => 4, options => '{"max_work": 1000}');
SELECT count(*) FROM dpngram.releases WHERE dataset = 'loc typed' AND parameters ->> 'method' = 'rappor' AND status <> 'done';

-- the same seed, the same answer
RESET ROLE;
SET dpngram.test_seed = 7;
SET client_min_messages = error;
CREATE TEMP TABLE first AS SELECT * FROM ldp_frequent_terms('loc.typed', 'the User', 'Wort', 2, 20);
CREATE TEMP TABLE second AS SELECT * FROM ldp_frequent_terms('loc.typed', 'the User', 'Wort', 2, 20);
SELECT count(*) AS differ FROM (TABLE first EXCEPT TABLE second) d;
SET dpngram.test_seed = 0;
CREATE TEMP TABLE third AS SELECT * FROM ldp_frequent_terms('loc.typed', 'the User', 'Wort', 2, 20);
SELECT count(*) > 0 AS differ FROM (TABLE first EXCEPT TABLE third) d;
SET client_min_messages = warning;

-- against the truth: for the owner alone
SET ROLE regress_local_owner;
SELECT * FROM frequent_terms_fscore('{lol,brb,zzz,lol}', 'loc.typed', 'the User', 'Wort', 2);
SELECT * FROM frequent_terms_fscore('{lol}', 'loc.typed', 'the User', 'Wort');
SELECT * FROM frequent_terms_fscore('{}', 'loc.typed', 'the User', 'Wort', 3);
SELECT * FROM frequent_terms_fscore('{lol,NULL,brb}', 'loc.typed', 'the User', 'Wort', 2);
SELECT * FROM frequent_terms_fscore(NULL, 'loc.typed', 'the User', 'Wort', 3);
SELECT * FROM frequent_terms_fscore('{lol}', 'loc.typed', 'the User', 'Wort', 0);
SELECT * FROM frequent_terms_fscore('{lol}', 'loc.typed', 'the User', 'nowhere');
-- of an array, each element is a term, as it is for ldp_frequent_terms
SELECT * FROM frequent_terms_fscore('{日本,c d,x}', 'loc.signs', 'u', 'many');
-- blanks at the end of character(n) belong to no term; a name, an enum, a domain are text
CREATE TYPE loc.mood AS ENUM ('sad', 'glad');
CREATE DOMAIN loc.word AS text CHECK (value <> '');
CREATE DOMAIN loc.words AS loc.word[];
CREATE TABLE loc.types (u uuid, padded char(10), short name, mood loc.mood, word loc.word, words loc.words, pads char(5)[]);
INSERT INTO loc.types SELECT md5(i::text)::uuid, w, w, w::loc.mood, w, ARRAY[w], ARRAY[w]
FROM (SELECT i, (ARRAY['sad', 'glad'])[1 + i % 2] FROM generate_series(1, 4000) i) s (i, w);
SELECT dp_protect('loc.types', 'u', 1e6, 0, dataset => 'loc types', options => '{"public_user_count": true, "min_epsilon": 0}');
SELECT c AS "column", f.*
FROM unnest('{padded,short,mood,word,words,pads}'::name[]) c,
	LATERAL (SELECT array_agg(term) FROM ldp_frequent_terms('loc.types', 'u', c, 16, 2, alphabet => 'a-z ', max_length => 6)) found (terms),
	frequent_terms_fscore(terms, 'loc.types', 'u', c, 2) f;
SET ROLE regress_local_ana;
SELECT * FROM frequent_terms_fscore('{lol}', 'loc.typed', 'the User', 'Wort');

DROP FUNCTION pg_temp.found(text);
RESET ROLE;
SET client_min_messages = error;
SELECT dp_unprotect(d) FROM unnest('{loc typed,loc signs,loc little,loc nothing,loc daily,loc types,loc sorted}'::name[]) d;
DROP SCHEMA loc CASCADE;
DROP ROLE regress_local_ana, regress_local_owner;
