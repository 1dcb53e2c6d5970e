-- fscores.sql: the F-scores on one data set, and the data of its plot; :dataset.

\echo
\echo ---- F-score, :dataset
SELECT 'eps ' || epsilon || ': ' || method AS method, coalesce(at::text, 'mean') AS k, share(mean, sd) AS value
FROM fscore WHERE dataset = :'dataset' AND k = 100 AND (consistency OR method = 'given')
ORDER BY epsilon, ord, at NULLS LAST \crosstabview method k value
\set file :folder '/terms_fscore_' :dataset '.dat'
\t on
\pset format unaligned
SELECT fscore_data(:'dataset', '{true}') \g :file
\pset format aligned
\t off
