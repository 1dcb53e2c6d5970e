# 061_newer_servers.pl: what PostgreSQL 17 and 18 changed for those who keep a budget, as
# doc/operations.md tells it.  Each finds first what the versions before do.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $node = ledger_node('newer', 'wal_level = logical');
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
my $releases = q{SELECT count(*) FROM dpngram.releases WHERE mechanism = 'dp_ngrams'};

$node->safe_psql('postgres', q{
	CREATE EXTENSION dpngram;
	CREATE ROLE ana LOGIN;
	CREATE ROLE clerk LOGIN;
	CREATE SCHEMA reports AUTHORIZATION ana;
	GRANT USAGE ON SCHEMA reports TO clerk;
	CREATE TEXT SEARCH CONFIGURATION reports.own (COPY = simple);
	CREATE TABLE t AS SELECT i AS who, 'some words'::text AS what FROM generate_series(1, 300) i;
	ANALYZE t;
	SELECT dp_protect('t', 'who', 20, 1e-3);
	SELECT dp_grant('t', 'ana');
	SET ROLE ana;
	SET search_path = reports, public;
	CREATE MATERIALIZED VIEW reports.short AS
		SELECT * FROM dp_ngrams('t', 'who', 'what', 1, 1e-6, tokenizer => 'config:own') WITH NO DATA;
	CREATE MATERIALIZED VIEW reports.full AS
		SELECT * FROM dp_ngrams('t', 'who', 'what', 1, 1e-6, tokenizer => 'config:reports.own') WITH NO DATA;});

# From 17 on a refresh has a search_path of its own; the table was found when the view was made.
is(sqlstate($node, 'SET search_path = reports; REFRESH MATERIALIZED VIEW short'),
	$version >= 170000 ? 'NG005' : '00000', 'a configuration without its schema, in a refresh');
is($node->safe_psql('postgres', $releases), $version >= 170000 ? 0 : 1, 'is not charged where it is not found');
is(sqlstate($node, 'REFRESH MATERIALIZED VIEW reports.full'), '00000', 'with its schema it is found');

SKIP:
{
	skip 'MAINTAIN and pg_createsubscriber came with PostgreSQL 17', 6 if $version < 170000;

	my $spent = $node->safe_psql('postgres', $releases);
	my @as_clerk = ('postgres', 'REFRESH MATERIALIZED VIEW reports.full', extra_params => [ '--username', 'clerk' ]);

	isnt($node->psql(@as_clerk), 0, 'a refresh by who may not');
	$node->safe_psql('postgres', 'GRANT MAINTAIN ON reports.full TO clerk');
	is($node->psql(@as_clerk), 0, 'and by who has MAINTAIN');
	is($node->safe_psql('postgres', $releases), $spent + 1, 'which pays');
	is($node->safe_psql('postgres', 'SELECT session_role, caller_role FROM dpngram.releases ORDER BY id DESC LIMIT 1'),
		'clerk|ana', 'for the owner of the view');

	# A standby that is made a subscriber is another cluster with a copy of the ledger, which it follows.
	my $copy = PostgreSQL::Test::Cluster->new('copy');
	$node->backup('copy');
	$copy->init_from_backup($node, 'copy', has_streaming => 1);
	$copy->set_standby_mode;
	$copy->start;
	$node->wait_for_catchup($copy);
	$copy->stop;
	command_ok([ 'pg_createsubscriber', '--pgdata', $copy->data_dir, '--publisher-server', $node->connstr('postgres'),
		'--socketdir', $copy->host, '--subscriber-port', $copy->port, '--database', 'postgres' ], 'pg_createsubscriber');
	$copy->start;
	is($copy->safe_psql('postgres', 'SELECT DISTINCT status FROM dpngram.budget'), 'suspended', 'suspends the copy');
	$copy->stop;
}

SKIP:
{
	skip 'pg_dump knows of statistics from PostgreSQL 18 on', 4 if $version < 180000;

	my $dump = "${PostgreSQL::Test::Utils::tmp_check}/statistics.sql";

	$node->command_ok([ 'pg_dump', '--no-data', '--statistics', '--table=t', "--file=$dump", 'postgres' ],
		'a dump without rows, but with statistics');
	like(slurp_file($dump), qr/some words/, 'has what the people wrote');
	$node->command_ok([ 'pg_dump', '--no-data', '--table=t', "--file=$dump", 'postgres' ], 'without statistics');
	unlike(slurp_file($dump), qr/some words/, 'it has not');
}
$node->stop;
done_testing();
