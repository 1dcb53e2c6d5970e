-- figure.sql: one figure's table, and the data of its plot; :figure, :corpus, :counting.

\echo
\echo ---- :figure, :corpus, counting :counting
SELECT method, x, value FROM cell
WHERE figure = :'figure' AND corpus = :'corpus' AND counting = :'counting'
ORDER BY ord, x \crosstabview method x value
\set file :folder '/' :figure '_' :corpus '_' :counting '.dat'
\t on
\pset format unaligned
SELECT plot_data(:'figure', :'corpus', :'counting') \g :file
\pset format aligned
\t off
