# A copy of the ledger does not spend the budget a second time by itself.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $node = ledger_node('restore');
$node->safe_psql('postgres', q{
	CREATE ROLE owner_role LOGIN;
	CREATE ROLE ana LOGIN;
	CREATE ROLE leaver LOGIN;
	CREATE ROLE stranger LOGIN;});
$node->safe_psql('postgres', 'CREATE DATABASE live');
ledger_functions($node, 'live');
$node->safe_psql('live', q{
	CREATE SCHEMA s AUTHORIZATION owner_role;
	GRANT USAGE ON SCHEMA s TO PUBLIC;
	SET ROLE owner_role;
	CREATE TABLE s.t (gone int, who int, what text);
	ALTER TABLE s.t DROP COLUMN gone;
	CREATE TABLE s.old (who int);
	SELECT dp_protect('s.t', 'who', 10, 1e-6, dataset => 'd', columns => '{what}');
	SELECT dp_grant('d', 'ana', 5);
	SELECT dp_grant('d', 'leaver');
	SELECT dp_protect('s.old', 'who', 10, 0, dataset => 'o');
	SELECT ledger_charge('s.t', '{0.5,0,1e-9}');
	SELECT ledger_charge('s.old', '{0,4,0}');
	SELECT dp_unprotect('o');
	CREATE TABLE s.daily (who int, posted timestamptz);
	SELECT dp_protect('s.daily', 'who', 10, 0, options => '{"renews": "1000 years", "time_col": "posted"}');
	SELECT ledger_charge('s.daily', '{0,9,0}');
	SELECT dp_unprotect('s.daily');
	SELECT dp_protect('s.daily', 'who', 10, 0, dataset => 'daily', options => '{"renews": "1000 years", "time_col": "posted"}');
	SELECT ledger_charge('s.daily', '{0,0.5,0}');
	SET ROLE ana;
	SELECT ledger_charge('s.t', '{0.25,0,0}');});

my $call = q{SELECT ledger_charge('s.t', '{0.125,0,0}')};
my $state = q{SELECT status, mu2_spent, delta_add_spent FROM dpngram.budget WHERE dataset = 'd' AND grantee IS NULL};
my $sums = q{SELECT id, name, ended IS NULL, mu2_spent, eps_pure_spent, delta_add_spent FROM dpngram.dataset ORDER BY id};

sub call_as
{
	my ($role, $database) = @_;
	return sqlstate($node, "SET ROLE $role; $call", $database);
}

# dump and restore; one analyst's role is gone by then
my $dump = "$PostgreSQL::Test::Utils::tmp_check/live.sql";
command_ok([ 'pg_dump', '-d', $node->connstr('live'), '-f', $dump ], 'pg_dump');
my $text = slurp_file($dump);
like($text, qr/^COPY dpngram\.release /m, 'the release log is dumped');
unlike($text, qr/_binding/, 'no binding is dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->safe_psql('live', 'SET ROLE owner_role; SELECT dp_revoke($$d$$, $$leaver$$)');
$node->safe_psql('postgres', 'DROP ROLE leaver');
command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $dump ], 'restore');

is($node->safe_psql('restored', $sums), $node->safe_psql('live', $sums), 'what was spent is restored');
is($node->safe_psql('restored', $state), 'suspended|0.75|1e-09', 'the restored dataset is suspended');
is(call_as('ana', 'restored'), 'NG007', 'refused for the analyst');
is(call_as('owner_role', 'restored'), 'NG007', 'refused for the owner');
is(call_as('stranger', 'restored'), 'NG003', 'a stranger learns no more than before');
is(sqlstate($node, q{SELECT dp_protect('s.t', 'who', 10, 1e-6, dataset => 'fresh')}, 'restored'),
	'NG011', 'it can not be had afresh by protecting again');
is(sqlstate($node, q{SET ROLE ana; SELECT dp_resume('d')}, 'restored'), '42501', 'the analyst can not resume it');
is($node->safe_psql('restored', 'SELECT count(*) FROM dpngram.release') ,
	$node->safe_psql('live', 'SELECT count(*) - 1 FROM dpngram.release'), 'refused calls are not logged as releases');

my ($rc, $out, $err) = $node->psql('restored', q{SET ROLE owner_role; SELECT dp_resume('d')});
is($rc, 0, 'the owner resumes it');
like($err, qr/WARNING:  the grant of role "leaver" is revoked/, 'with a warning for a role that is gone');
is($node->safe_psql('restored', $state), 'active|0.75|1e-09', 'it is active again, with what it had spent');
is(call_as('ana', 'restored'), '00000', 'the analyst may call');
is($node->safe_psql('restored', q{SELECT grantee, mu2_spent FROM dpngram.budget WHERE grantee IS NOT NULL}),
	'ana|0.375', 'under her own grant, which is not refilled');
is($node->safe_psql('restored', q{SELECT parameters FROM dpngram.releases WHERE mechanism = 'dp_resume'}),
	'{"reason": "The ledger was restored from a dump."}', 'the log says so');
is(log_balances($node, 'restored'), 't', 'the log adds up to what was spent');
is(call_as('ana', 'live'), '00000', 'the original was never suspended');

# a budget that renews: the period's spending, its own and what it carries, and the column of time
is(sqlstate($node, q{SELECT ledger_charge('s.daily', '{0,0.5,0}')}, 'restored'), 'NG007', 'a renewing dataset is suspended, too');
$node->safe_psql('restored', q{ALTER TABLE s.daily ADD COLUMN later timestamptz; SET ROLE owner_role; SELECT dp_resume('daily')});
is(sqlstate($node, q{SELECT ledger_charge('s.daily', '{0,1,0}')}, 'restored'), 'NG001', 'its period has spent what it had');
is(sqlstate($node, q{SELECT ledger_charge('s.daily', '{0,0.5,0}')}, 'restored'), '00000', 'and no more');
is($node->safe_psql('restored', q{SELECT eps_pure_spent, period_to - period_from > interval '300000 days' FROM dpngram.budget WHERE dataset = 'daily'}),
	'10|t', 'as the view tells');

# a relation that was protected before the dump still carries its past
($rc, $out, $err) = $node->psql('restored', q{SET ROLE owner_role; SELECT dp_protect('s.old', 'who', 10, 0)});
like($err, qr/carries forward/, 'protecting again after a restore carries forward');
is($node->safe_psql('restored', q{SELECT eps_pure_spent FROM dpngram.budget WHERE dataset = 's.old'}), '4', 'what was spent');

# a database made from a template has all OIDs alike, but is another database
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE live');
is($node->safe_psql('copy', $state), 'suspended|0.875|1e-09', 'a copy by template is suspended');
is(call_as('ana', 'copy'), 'NG007', 'refused for the analyst');
is(call_as('stranger', 'copy'), 'NG003', 'and for a stranger as ever');
is(call_as('ana', 'live'), '00000', 'the original goes on');
$node->safe_psql('copy', q{SET ROLE owner_role; SELECT dp_resume('d')});
is(call_as('ana', 'copy'), '00000', 'a resumed copy goes on');
is($node->safe_psql('copy', q{SELECT status FROM dpngram.budget WHERE dataset = 'd' AND grantee IS NULL}), 'active', 'and says so');

# a table dropped and restored under its name: only dp_resume ties it to its past
$node->safe_psql('live', 'DROP TABLE s.t');
$node->safe_psql('live', 'CREATE TABLE s.t (who int, what text); ALTER TABLE s.t OWNER TO owner_role');
is(call_as('owner_role', 'live'), 'NG002', 'a new table of the old name is not protected');
$node->safe_psql('live', q{SET ROLE owner_role; SELECT dp_resume('d')});
is(call_as('ana', 'live'), '00000', 'until its owner says that it is the old one');
is($node->safe_psql('live', $state), 'active|1.125|1e-09', 'and all of it was spent from one budget');

# after a rename, a dump has the new name as soon as there was a charge
$node->safe_psql('live', 'ALTER TABLE s.t RENAME TO t2; ALTER TABLE s.t2 RENAME who TO person');
$node->safe_psql('live', q{SELECT ledger_charge('s.t2', '{0.125,0,0}')});
is($node->safe_psql('live', q{SELECT r.schema, r.name, r.user_col FROM dpngram.relation r
	JOIN dpngram.dataset d ON d.id = r.dataset WHERE d.name = 'd'}), 's|t2|person', 'names follow a rename');
$node->stop;
done_testing();
