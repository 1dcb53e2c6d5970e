-- V_k in buckets against V_k member by member: lengths 2 to 4, both prunings,
-- weights with ties, products that under- and overflow, edges at predictions.
-- An error names the seed; buckets_test_members(20000, seed) brings it back.
SELECT buckets_test_members(20000) > 500000 AS many_members;
