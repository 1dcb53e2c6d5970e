# 021_nothing_read.pl: a call reads no row before its charge is committed, and none
# if it is refused.  The relation is a view whose function counts its rows in a
# sequence, which no rollback takes back.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $node = ledger_node('unread');
$node->safe_psql('postgres', q{
	CREATE EXTENSION dpngram;
	CREATE ROLE ana LOGIN;
	CREATE ROLE stranger LOGIN;
	CREATE SEQUENCE reads;
	CREATE FUNCTION counted(t text, seconds float8) RETURNS text LANGUAGE plpgsql AS
	$$ BEGIN PERFORM nextval('public.reads'), pg_sleep(seconds); RETURN t; END $$;
	CREATE TABLE t AS SELECT i AS who, 'some words'::text AS what FROM generate_series(1, 300) i;
	CREATE VIEW watched AS SELECT who, public.counted(what, 0) AS what FROM t;
	CREATE VIEW slow AS SELECT who, public.counted(what, 60) AS what FROM t;
	CREATE VIEW young AS SELECT * FROM watched;
	SELECT dp_protect(v, 'who', 2, 1e-5) FROM unnest('{watched,slow}'::regclass[]) v;
	SELECT dp_grant(v, 'ana') FROM unnest('{watched,slow}'::text[]) v;});

sub reads
{
	return $node->safe_psql('postgres', 'SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM reads');
}

sub call
{
	my ($relation, $arguments) = @_;
	return "SELECT count(*) FROM dp_ngrams('$relation', 'who', 'what', $arguments);";
}

# Runs a script whose call must be refused with that SQLSTATE.
sub refused
{
	my ($name, $state, $script) = @_;
	my $before = reads();

	is(sqlstate($node, "SET dpngram.charge_timeout = '300ms'; $script"), $state, "$name: refused");
	is(reads(), $before, "$name: nothing read");
	return;
}

my $good = call('watched', '1, 1e-6');
is(sqlstate($node, "SET ROLE ana; $good"), '00000', 'a call');
is(reads(), 300, 'reads every row, once');

refused('beyond the budget', 'NG001', 'SET ROLE ana; ' . call('watched', '2, 1e-6'));
refused('a role not granted', 'NG003', "SET ROLE stranger; $good");
refused('an argument out of its domain', 'NG005', 'SET ROLE ana; ' . call('watched', '1, 1e-6, spurious => 0'));
refused('another privacy unit', 'NG004', "SELECT count(*) FROM dp_ngrams('watched', 'what', 'what', 1, 1e-6)");
refused('a read-only transaction', '25006', "SET ROLE ana; BEGIN READ ONLY; $good");
refused('a dataset not committed yet', 'NG009',
	"BEGIN; SELECT dp_protect('young', 'who', 2, 1e-5); " . call('young', '1, 1e-6'));

my $lock = background($node, q{BEGIN; SELECT FROM dpngram.dataset FOR UPDATE; SELECT pg_sleep(60);});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'})
  or die 'the rows were not locked';
refused('a locked ledger row', 'NG006', "SET ROLE ana; $good");
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
finish($lock);

# the first row is being read: its debit can be seen by others
my $before = reads();
my $job = background($node, 'SET ROLE ana; ' . call('slow', '1, 1e-6'));
$node->poll_query_until('postgres', "SELECT last_value > $before FROM reads") or die 'nothing was read';
is($node->safe_psql('postgres', q{SELECT mu2_spent > 0 FROM dpngram.dataset WHERE name = 'slow'}), 't',
	'the charge is committed when the first row is read');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity
	WHERE query LIKE '%dp_ngrams%' AND pid <> pg_backend_pid()});
finish($job);
$node->stop;

# one slot, which the server's own launcher takes
$node->append_conf('postgresql.conf', 'max_worker_processes = 1');
$node->start;
refused('no free worker', 'NG006', "SET ROLE ana; $good");
$node->stop;
done_testing();
