# 046_sizing.pl: the queries of the manual's sections on sizes and monitoring, and what the
# manual says of the size of the ledger.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use Manual;

my $node = ledger_node('sizing', 'autovacuum = off', 'fsync = on', 'dpngram.max_parallel_workers = 0');
my $calls = 300;

$node->safe_psql('postgres', $_) for manual_block('setup'), manual_block('monitor-role'), q{
	GRANT USAGE ON SCHEMA archive TO PUBLIC;
	INSERT INTO archive.commits SELECT i, 'Fix the build, again' FROM generate_series(1, 100) i;
	SET ROLE archive;
	SELECT dp_set_budget('commits', 1000, 1e-3);};

sub as
{
	my ($role, $sql) = @_;
	return $node->safe_psql('postgres', $sql, extra_params => [ '-U', $role ]);
}

is($node->safe_psql('postgres', manual_block('tokens')), 400, 'tokens are counted');

is(as('monitor', manual_block('temporary')), '', 'there are no temporary files');
my $call = q{SELECT count(*) FROM dp_ngrams('archive.commits', 'author', 'message', 0.01, 1e-9);} . "\n";
sub state_now
{
	my ($wal) = $node->safe_psql('postgres', q{SELECT pg_current_wal_insert_lsn() - '0/0'});
	my ($bytes) = $node->safe_psql('postgres',
		q{SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = 'dpngram'::regnamespace AND relkind = 'r'});
	return ($wal, $bytes);
}
as('ana', $call x 20);    # tables have their first pages, and the WAL their images
my ($wal, $bytes) = state_now();
as('ana', $call x $calls);
my ($wal_then, $bytes_then) = state_now();
my ($wal_each, $bytes_each) = map { $_ / $calls } $wal_then - $wal, $bytes_then - $bytes;
note sprintf('%.0f bytes and %.0f of WAL a release', $bytes_each, $wal_each);
cmp_ok($bytes_each, '>', 750, 'a release takes 1.5 kB of the ledger, at least half of it');
cmp_ok($bytes_each, '<', 3000, 'and twice that at most');
cmp_ok($wal_each, '<', 5000, 'a release takes 2.5 kB of WAL, twice that at most');
like($node->safe_psql('postgres', manual_block('ledger-size')), qr/^\d+ kB\|\d+$/, 'the size of the ledger');

my $metrics = as('monitor', manual_block('metrics'));
like($metrics, qr/^commits\|\|1\|0\.\d+$/m, 'metrics: the budget');
like($metrics, qr/^commits\|dp_ngrams\|done\|320\|[\d.]+$/m, 'metrics: releases');
like($metrics, qr/^0\|0(?:\.0+)?\n\d+$/m, 'metrics: nothing is running; workers are free');
cmp_ok((split /\n/, $metrics)[-1], '>', 100, 'and not counted as if they were sessions');
unlike(as('monitor', manual_block('monitor')), qr/charged|failed/, 'no release failed, none is without an end');
my $findings = $node->safe_psql('postgres', manual_block('monitor-doctor'));
is($findings, '', 'the doctor finds no error');

# the formulas of time and files, beside the table of growing data that they are drawn from
my ($growth) = manual_text('benchmarks.md') =~ /^\*\*Growth\.\*\*(.*?)^!\[/ms;
my %limit = ('dpne' => [ 240, 45 ], 'dpne-mr' => [ 580, 60 ]);
my @grown = $growth =~ /^\| (`dpne.*) \|$/mg;
cmp_ok(scalar(@grown), '>=', 8, 'there are such measurements');
for (@grown)
{
	my ($method, undef, $tokens, undef, $ns, undef, undef, $files) = map { s/[`,]//gr } split / \| /;

	cmp_ok($ns, '<=', $limit{$method}[0], "$method: time for $tokens million tokens");
	cmp_ok($files / $tokens, '<=', 1.02 * $limit{$method}[1], "$method: files of $tokens million tokens");
}

# suspended, as every monitor must see
$node->safe_psql('postgres', 'ALTER TABLE archive.commits OWNER TO CURRENT_USER');
like(as('monitor', manual_block('metrics')), qr/^commits\|\|0\|/m, 'metrics: a suspended dataset is not active');
like($node->safe_psql('postgres', manual_block('monitor-doctor')), qr/^error\|suspended\|/m, 'and the doctor says so');
$node->stop;
done_testing();
