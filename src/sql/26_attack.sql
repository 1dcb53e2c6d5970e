/* A privacy audit of releases of distributions. */

CREATE FUNCTION @extschema@.dp_membership_attack(
	relation regclass,
	user_col name,
	text_col name,
	public_ngrams regclass,
	epsilon float8,
	delta float8,
	n int DEFAULT 3,
	method text DEFAULT 'shrinkage',
	counting text DEFAULT 'occurrences',
	max_count int DEFAULT NULL,
	max_contributions int DEFAULT NULL,
	max_norm float8 DEFAULT NULL,
	tune boolean DEFAULT false,
	sensitivity text DEFAULT NULL,
	tokenizer text DEFAULT 'word',
	max_tokens int DEFAULT NULL,
	runs int DEFAULT 1000,
	confidence float8 DEFAULT 0.95,
	options jsonb DEFAULT '{}')
RETURNS TABLE (runs int, wins int, probability float8, epsilon_bound float8, confidence float8)
AS 'MODULE_PATHNAME', 'dpngram_membership_attack'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

COMMENT ON FUNCTION @extschema@.dp_membership_attack(regclass, name, name, regclass, float8, float8, int, text,
	text, int, int, float8, boolean, text, text, int, int, float8, jsonb) IS
	'how well releases of bayes_dp_dist tell who is in them; for the relation''s owner, not private';
