-- attempt.sql: what A-RAPPOR answers, be it an error.

CREATE FUNCTION attempt(dataset regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	terms bigint;
BEGIN
	SELECT count(*) INTO terms FROM ldp_frequent_terms(dataset, 'id', 'term', 4, 100, 'rappor', max_length => 10);
	RETURN terms || ' terms';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ': ' || SQLERRM;
END $$;
