# A debit stands whatever becomes of the session, the transaction or the server.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

# The server's own commits may be lost in a crash; the ledger's must not be.
my $node = ledger_node('durable', 'synchronous_commit = off', 'wal_writer_delay = 10s');
ledger_functions($node, 'postgres');
$node->safe_psql('postgres', q{
	CREATE TABLE t (who int, what text);
	INSERT INTO t SELECT i, 'some words' FROM generate_series(1, 100) i;
	SELECT dp_protect('t', 'who', 100, 0);});

sub running_query
{
	return "FROM pg_stat_activity WHERE query LIKE '%ledger_charge%' AND pid <> pg_backend_pid()";
}

# Starts a call that works for a minute and waits until it was charged.
sub call_at_work
{
	my ($price, $want) = @_;
	my $job = background($node, "SELECT ledger_charge('t', '{0,$price,0}', seconds => 60)");

	$node->poll_query_until('postgres',
		"SELECT eps_pure_spent = $want FROM dpngram.dataset WHERE name = 't'")
	  or die 'the call was not charged';
	return $job;
}

my ($out, $err);

my $job = call_at_work(1, 1);
$node->safe_psql('postgres', 'SELECT pg_cancel_backend(pid) ' . running_query());
($out, $err) = finish($job);
like($err, qr/57014/, 'statement cancelled during the run');
is(spent($node, 't'), '1', 'a cancelled call stays charged');
ok(status_of($node, 'failed'), 'and its release is noted as failed');

$job = call_at_work(2, 3);
$node->safe_psql('postgres', 'SELECT pg_terminate_backend(pid) ' . running_query());
($out, $err) = finish($job);
like($err, qr/57P01/, 'session terminated during the run');
is(spent($node, 't'), '3', 'a terminated call stays charged');

$job = call_at_work(4, 7);
$node->stop('immediate');
finish($job);
$node->start;
is(spent($node, 't'), '7', 'a call whose server crashed stays charged');
is($node->safe_psql('postgres', 'SELECT status FROM dpngram.releases ORDER BY id DESC LIMIT 1'),
	'charged', 'its release has no end');

# a crash at once after the answer, with nothing in between that would flush WAL
for my $round (1 .. 3)
{
	$node->safe_psql('postgres', "SELECT ledger_charge('t', '{0,1,0}', outcome => 'open')");
	$node->stop('immediate');
	$node->start;
	is(spent($node, 't'), 7 + $round, "crash $round right after the charge");
}

$node->safe_psql('postgres', q{
	CREATE MATERIALIZED VIEW mv AS SELECT ledger_charge('t', '{0,1,0}') WITH NO DATA});
is(spent($node, 't'), '10', 'WITH NO DATA calls nothing');
$node->safe_psql('postgres', 'EXPLAIN ANALYZE SELECT 1; EXPLAIN REFRESH MATERIALIZED VIEW mv');
is(spent($node, 't'), '10', 'nor does EXPLAIN');
$node->safe_psql('postgres', 'BEGIN; REFRESH MATERIALIZED VIEW mv; ROLLBACK');
is(spent($node, 't'), '11', 'a rolled back REFRESH MATERIALIZED VIEW stays charged');

is(log_balances($node), 't', 'the log adds up to what was spent');
is($node->safe_psql('postgres', 'SELECT count(DISTINCT timeline) FROM dpngram.release'), '1',
	'one timeline');
$node->stop;
done_testing();
