-- The law of what is released of what nobody has.  In each world one bucket has no
-- support, one is half, one nearly, one wholly in the support.
SELECT buckets_test_spurious(20, 2, false, 10000) > 0 AS pairs;
SELECT buckets_test_spurious(20, 2, true, 10000) > 0 AS pairs_single;
SELECT buckets_test_spurious(7, 3, false, 10000) > 0 AS triples;
SELECT buckets_test_spurious(7, 3, true, 10000) > 0 AS triples_single;
SELECT buckets_test_spurious(6, 4, false, 10000) > 0 AS quadruples;
SELECT buckets_test_spurious(6, 4, true, 10000) > 0 AS quadruples_single;

-- A support that is sorted on disk.
SET work_mem = '64kB';
SELECT buckets_test_spurious(150, 2, false, 40) > 0 AS spilled;
