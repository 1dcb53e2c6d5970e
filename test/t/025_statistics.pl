# 025_statistics.pl: a call leaves nothing of its read in the statistics of functions and of
# nested statements, where any role or a monitoring one would see how many rows there are.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $node = ledger_node('statistics', q{shared_preload_libraries = 'pg_stat_statements'},
	'pg_stat_statements.track = all', 'track_functions = all');
$node->safe_psql('postgres', q{
	CREATE EXTENSION dpngram;
	CREATE EXTENSION pg_stat_statements;
	CREATE ROLE ana LOGIN;
	CREATE TABLE t AS SELECT i AS who, 'good morning' AS what FROM generate_series(1, 300) i;
	CREATE FUNCTION tidy(word text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE tidied text;
	BEGIN
		SELECT lower(word) AS tidied INTO tidied;
		IF word = 'bad' THEN RAISE EXCEPTION 'bad'; END IF;
		RETURN tidied;
	END $$;
	CREATE VIEW v AS SELECT who, public.tidy(what) AS what FROM t;
	SELECT dp_protect('v', 'who', 8, 1e-5);
	SELECT dp_grant('v', 'ana');
	SELECT pg_stat_statements_reset();});

# What was counted of the view's function, and of statements that read the view or that it runs.
sub counted
{
	return $node->safe_psql('postgres', q{
		SELECT coalesce((SELECT sum(calls) FROM pg_stat_user_functions WHERE funcname = 'tidy'), 0),
			coalesce((SELECT sum(calls) FROM pg_stat_statements
				WHERE NOT toplevel AND query ~ 'tidied|FROM (public\.)?v\M'), 0)});
}

my $call = q{SET ROLE ana; SELECT count(*) > 0 FROM dp_ngrams('v', 'who', 'what', 1, 1e-6)};
is($node->safe_psql('postgres', $call), 't', 'a call is answered');
is(counted(), '0|0', 'and nothing is counted');
$node->safe_psql('postgres', q{INSERT INTO t VALUES (301, 'bad')});
is(sqlstate($node, $call), 'NG008', 'a call that fails at its last row');
is(counted(), '0|0', 'leaves as little');
$node->safe_psql('postgres', 'SELECT count(what) FROM v WHERE who <= 300');
is(counted(), '300|300', 'who reads the view is counted');
$node->stop;
done_testing();
