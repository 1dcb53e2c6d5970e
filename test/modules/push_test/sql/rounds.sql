-- In rounds, with biases that n-grams get at random after each, nothing among them.
SELECT * FROM push_test_compare('texts', 'who', 'what', 4, rounds => 4);
SELECT * FROM push_test_compare('texts', 'who', 'what', 4, rounds => 3, single => true, bound => 6);
SELECT seed, bool_and(different = 0) AS same
FROM generate_series(11, 16) seed, push_test_compare('texts', 'who', 'what', 3, rounds => 2, seed => seed)
GROUP BY seed ORDER BY seed;
SELECT * FROM push_test_compare('hashed', 'who', 'what', 3, rounds => 3);
