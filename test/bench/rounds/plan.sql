-- plan.sql: the calls that the tables and plots are made of; :runs is how often one is made
-- where a mean and a standard deviation are wanted.

CREATE TABLE setting (dataset text PRIMARY KEY, epsilon numeric, t int, bound int, best_c numeric);
INSERT INTO setting VALUES ('msnbc', 1, 6, 10, 0.8), ('git', 4, 9, 100, 1.3),
	('msnbc, a tenth', 1, 6, 10, 0.8), ('git, a tenth', 4, 9, 100, 1.3);
CREATE TEMP VIEW whole AS SELECT * FROM setting WHERE dataset IN ('msnbc', 'git');

-- The main table, whose n-grams are held against the truth; dpne also about its best c,
-- and as the best that it gets from other bounds on users.
SELECT ask(dataset, kind, epsilon, t, bound, :runs, keep => true)
FROM whole, unnest('{dpne,balanced,adaptive,"balanced, forecast","adaptive, forecast"}'::text[]) AS kind;
SELECT ask(dataset, 'dpne', epsilon, t, bound, CASE d WHEN 0 THEN :runs ELSE 2 END, c => best_c + d, keep => d = 0)
FROM whole, unnest('{-0.1,0,0.1}'::numeric[]) AS d;
SELECT ask(dataset, kind, epsilon, t, 300, 2, c => c)
FROM whole, unnest('{dpne,"dpne, unbounded"}'::text[]) AS kind, unnest(ARRAY[1, best_c]) AS c;

-- small data; eps 1 on git; nothing in common
SELECT ask(dataset, kind, epsilon, t, bound, :runs)
FROM setting, unnest('{dpne,balanced,adaptive}'::text[]) AS kind WHERE dataset LIKE '%tenth';
SELECT ask('git', kind, 1, 9, 100, 2) FROM unnest('{dpne,balanced,adaptive}'::text[]) AS kind;
SELECT ask('git', 'dpne', 1, 9, 100, 2, c => 1.3);
SELECT ask(dataset, kind, 4, 5, 100, 2)
FROM unnest('{noise,"noise, a common word"}'::text[]) AS dataset,
	unnest('{dpne,balanced,adaptive,"adaptive, forecast"}'::text[]) AS kind;

-- T; T = 9 on MSNBC is for the coverage, too
SELECT ask(dataset, kind, epsilon, other, bound, 1, keep => other = 9)
FROM whole, unnest('{dpne,balanced,adaptive}'::text[]) AS kind, generate_series(3, 9) AS other
WHERE other <> t;

-- figure 1
SELECT ask(dataset, kind, epsilon, t, bound, 1)
FROM whole, unnest('{dpsu-all,dpsu-even}'::text[]) AS kind;
SELECT ask(dataset, 'dpsu-single', epsilon, t, bound, 1, length => k)
FROM whole, LATERAL generate_series(1, t) AS k;

-- figure 2: the bound on users, and epsilon
SELECT ask(dataset, kind, epsilon, t, other, 1)
FROM whole, unnest('{dpne,balanced,adaptive,dpsu-all,dpsu-even}'::text[]) AS kind,
	LATERAL (SELECT unnest(CASE dataset WHEN 'git' THEN '{10,30,100,300,1000}' ELSE '{1,3,10,30,100}' END::int[]) AS other) b
WHERE kind NOT LIKE 'dpsu%' OR other IN (1, 100, 10, 1000);
SELECT ask(dataset, kind, other, t, bound, 1)
FROM whole, unnest('{dpne,balanced,adaptive,dpsu-all,dpsu-even}'::text[]) AS kind, unnest('{0.5,1,2,4,8}'::numeric[]) AS other;

-- figure 3: eta and c
SELECT ask(dataset, kind, epsilon, t, bound, 1, eta => other)
FROM whole, unnest('{dpne,balanced,adaptive}'::text[]) AS kind, unnest('{0.001,0.01,0.1}'::numeric[]) AS other;
SELECT ask(dataset, kind, epsilon, t, bound, 1, c => other)
FROM whole, unnest('{dpne,ratio}'::text[]) AS kind, unnest('{0.6,0.8,1,1.2,1.4,1.6}'::numeric[]) AS other;

-- figure 4: pruning
SELECT ask(dataset, kind, epsilon, t, bound, 1, pruning => 'single')
FROM whole, unnest('{dpne,balanced,adaptive}'::text[]) AS kind;

SELECT count(*) || ' calls of dp_ngrams' AS planned FROM job;
