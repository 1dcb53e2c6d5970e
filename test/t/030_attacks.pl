# 030_attacks.pl: what others can do to an owner: keep the dataset's lock from
# dp_revoke, or take a restored dataset over.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

# The one slot is the launcher's: no worker of ours ever gets any.
my $node = ledger_node('attacks', 'max_worker_processes = 1');
$node->safe_psql('postgres', q{
	CREATE EXTENSION dpngram;
	CREATE ROLE owner_role LOGIN;
	CREATE ROLE ana LOGIN;
	CREATE ROLE stranger LOGIN;
	CREATE SCHEMA s;
	GRANT ALL ON SCHEMA s TO PUBLIC;
	SET ROLE owner_role;
	CREATE TABLE s.t AS SELECT 1 AS who, 'a'::text AS what;
	SELECT dp_protect('s.t', 'who', 10, 1e-3, 'd');
	SELECT dp_grant('d', 'ana');});

my $waiting = background($node, q{
	SET ROLE ana;
	SET dpngram.charge_timeout = '1h';
	SELECT * FROM dp_ngrams('s.t', 'who', 'what', 1, 1e-6);});
my $call = q{FROM pg_stat_activity WHERE query LIKE '%dp_ngrams%' AND wait_event_type = 'Extension'};
ok($node->poll_query_until('postgres',
	"SELECT count(*) = 1 $call"),
	'a call waits for a free worker');
is(sqlstate($node, q{SET lock_timeout = '20s'; SET ROLE owner_role; SELECT dp_revoke('d', 'ana')}),
	'00000', 'its owner can revoke the grant meanwhile');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $call");
finish($waiting);
is($node->safe_psql('postgres', q{SELECT mu2_spent FROM dpngram.budget WHERE dataset = 'd'}), '0',
	'nothing was charged');

# A ledger restored without its tables: a new table of an old name is a stranger's.
my $dump = "$PostgreSQL::Test::Utils::tmp_check/ledger.sql";
command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '--exclude-table=s.t', '-f', $dump ],
	'a dump without the table');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $dump ], 'restored');
$node->safe_psql('restored', q{SET ROLE stranger; CREATE TABLE s.t (who int, what text)});
for my $act ("dp_unprotect('d')", "dp_resume('d')", "dp_grant('d', 'stranger')")
{
	is(sqlstate($node, "SET ROLE stranger; SELECT $act", 'restored'), '42501',
		"whoever makes a table of that name can not call $act");
}
is(sqlstate($node, q{SET ROLE owner_role; SELECT dp_resume('d')}, 'restored'), '42501',
	'nor does the old owner get a budget for the table of another');
$node->safe_psql('restored', q{ALTER TABLE s.t OWNER TO owner_role});
is(sqlstate($node, q{SET ROLE owner_role; SELECT dp_resume('d')}, 'restored'), '00000',
	'the owner of both resumes it');
$node->stop;
done_testing();
