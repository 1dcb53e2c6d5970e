# 044_logical_replication.pl: a subscriber's copy of the texts is under no budget, and a
# ledger that a subscription writes is none to spend.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use Manual;

my $publisher = ledger_node('publisher', 'wal_level = logical');
my $subscriber = ledger_node('subscriber', 'wal_level = logical');
my $call = q{SELECT ledger_charge('t', '{0,1,0}')};

# A database of the subscriber's, with the table and the extension, subscribed.
sub subscribe
{
	my ($database, $publication) = @_;
	my $connection = sprintf('host=%s port=%d dbname=postgres', $publisher->host, $publisher->port);

	$subscriber->safe_psql('postgres', "CREATE DATABASE $database");
	$subscriber->safe_psql($database, 'CREATE TABLE t (who int, what text)');
	ledger_functions($subscriber, $database);
	$subscriber->safe_psql($database, "CREATE SUBSCRIPTION $database CONNECTION '$connection' PUBLICATION $publication");
	$subscriber->wait_for_subscription_sync($publisher, $database, $database);
	return;
}

# The first role of each server has the same OID: bindings must not take the one for the other.
$publisher->safe_psql('postgres', 'CREATE ROLE ana LOGIN');
$subscriber->safe_psql('postgres', $_) for 'CREATE ROLE other LOGIN', 'CREATE ROLE ana LOGIN';
is($publisher->safe_psql('postgres', q{SELECT 'ana'::regrole::oid}), $subscriber->safe_psql('postgres', q{SELECT 'other'::regrole::oid}),
	'two roles of one number');

ledger_functions($publisher, 'postgres');
$publisher->safe_psql('postgres', q{
	CREATE TABLE t (who int, what text);
	INSERT INTO t SELECT i, 'some words' FROM generate_series(1, 5) i;
	SELECT dp_protect('t', 'who', 10, 1e-6, pure_share => 0.5);
	SELECT dp_grant('t', 'ana');
	SELECT ledger_charge('t', '{0,1,0}');
	CREATE PUBLICATION texts FOR TABLE t;
	CREATE PUBLICATION everything FOR ALL TABLES;});

# The texts alone.
subscribe('texts', 'texts');
is($subscriber->safe_psql('texts', 'SELECT count(*) FROM t'), '5', 'a subscriber has the texts');
is($subscriber->safe_psql('texts', 'TABLE dpngram.budget'), '', 'but no ledger');
is(sqlstate($subscriber, "SET ROLE ana; $call", 'texts'), 'NG002', 'so that nothing is answered there');
is(sqlstate($subscriber, q{SELECT * FROM dp_ngrams('t', 'who', 'what', 1, 1e-7)}, 'texts'), 'NG002', 'by dp_ngrams either');

# FOR ALL TABLES has the ledger's tables as well, bindings and all.
is($publisher->safe_psql('postgres', q{SELECT count(*) > 5 FROM pg_publication_tables WHERE pubname = 'everything' AND schemaname = 'dpngram'}),
	't', 'FOR ALL TABLES publishes the ledger');
subscribe('everything', 'everything');
is(spent($subscriber, 't', 'everything'), '1', 'the subscriber has the ledger');
my $status = q{SELECT DISTINCT status FROM dpngram.budget};
is($subscriber->safe_psql('everything', $status), 'suspended', 'suspended');
is(sqlstate($subscriber, $call, 'everything'), 'NG007', 'nothing is answered');
my ($rc, $out, $err) = $subscriber->psql('everything', q{SELECT dp_resume('t')});
like($err, qr/subscription/, 'nor can it be resumed while a subscription writes it');
$publisher->safe_psql('postgres', $call);
$publisher->wait_for_catchup('everything');
is(spent($subscriber, 't', 'everything'), '2', 'it follows the publisher');


# When the subscriber takes over.
$subscriber->safe_psql('everything', 'DROP SUBSCRIPTION everything');
is(sqlstate($subscriber, $call, 'everything'), 'NG007', 'without the subscription it is suspended still');
is(sqlstate($subscriber, q{SELECT dp_protect('t', 'who', 10, 1e-6, dataset => 'fresh')}, 'everything'), 'NG011',
	'and its table can not be had afresh');
$subscriber->safe_psql('everything', manual_block('sequences'));
$subscriber->safe_psql('everything', manual_block('resume'));
is($subscriber->safe_psql('everything', $status), 'active', 'until it is resumed');
is(sqlstate($subscriber, "SET ROLE ana; $call", 'everything'), '00000', 'then it goes on');
is(sqlstate($subscriber, "SET ROLE other; $call", 'everything'), 'NG003', 'for those whose names were granted, whatever their numbers');
is(spent($subscriber, 't', 'everything'), '3', 'from what the publisher had spent');
is(log_balances($subscriber, 'everything'), 't', 'the log adds up to what was spent');
is($subscriber->safe_psql('everything', 'SELECT b.* FROM dpngram.dataset d, dpngram.broken_chain(d.id) b'), '', 'and its chain is whole');

is(doctor_errors($subscriber, 'everything'), '', 'dp_doctor finds no error');

# A dataset of its own is not replicated into: the subscription fails, and says why.
$publisher->safe_psql('postgres', 'CREATE PUBLICATION ledger FOR TABLES IN SCHEMA dpngram');
$subscriber->safe_psql('everything', sprintf(q{CREATE SUBSCRIPTION again CONNECTION 'host=%s port=%d dbname=postgres'
	PUBLICATION ledger WITH (copy_data = false, disable_on_error = true)}, $publisher->host, $publisher->port));
$publisher->safe_psql('postgres', $call);
$subscriber->poll_query_until('everything', q{SELECT NOT subenabled FROM pg_subscription WHERE subname = 'again'})
  or die 'the subscription did not fail';
like(slurp_file($subscriber->logfile), qr/ERROR:  dataset "t" is this server's own and not replicated/, 'replication into a live dataset fails');
is(spent($subscriber, 't', 'everything'), '3', 'and changes nothing');
$subscriber->safe_psql('everything', 'DROP SUBSCRIPTION again');
$subscriber->safe_psql('texts', 'DROP SUBSCRIPTION texts');
$_->stop for $subscriber, $publisher;
done_testing();
