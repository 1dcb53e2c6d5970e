# On a standby nothing can be charged, and so nothing be read; after promotion both can.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $primary = ledger_node('primary');
ledger_functions($primary, 'postgres');
$primary->safe_psql('postgres', q{
	CREATE TABLE t (who int, what text);
	SELECT dp_protect('t', 'who', 10, 0);
	SELECT ledger_charge('t', '{0,1,0}');});
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));

my ($rc, $out, $err) = $standby->psql('postgres', q{SELECT ledger_charge('t', '{0,1,0}')});
like($err, qr/cannot charge a privacy budget during recovery/, 'refused on a standby');
is(sqlstate($standby, q{SELECT ledger_charge('t', '{0,1,0}')}), '25006', 'by its SQLSTATE');
is(sqlstate($standby, q{SELECT * FROM dp_ngrams('t', 'who', 'what', 1, 1e-7)}), '25006', 'dp_ngrams as well');
is(sqlstate($standby, q{SELECT dp_unprotect('t')}), '25006', 'nor can the owner change anything there');
is($standby->safe_psql('postgres', q{SELECT spent_epsilon, status FROM dpngram.budget}), '1|active',
	'but the budget can be seen');

$primary->stop;
$standby->promote;
is(sqlstate($standby, q{SELECT ledger_charge('t', '{0,1,0}')}), '00000', 'after promotion a call is charged');
is(spent($standby, 't'), '2', 'on top of what the primary had charged');
is($standby->safe_psql('postgres', q{SELECT timeline FROM dpngram.releases WHERE mechanism = 'ledger_test' ORDER BY id}),
	"1\n2", 'the log tells the timelines apart');
$standby->stop;
done_testing();
