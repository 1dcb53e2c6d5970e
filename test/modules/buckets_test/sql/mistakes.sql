-- A support that is not what was counted ends the call: it never makes fewer trials.
SELECT buckets_test_mistake('twice');
SELECT buckets_test_mistake('bucket');
