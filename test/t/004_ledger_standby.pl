# 004_ledger_standby.pl: on a standby nothing can be charged, and so nothing be read.  A
# promoted server goes on only after dp_resume: debits may be lost, unless the standby was
# a synchronous one.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use Manual;

my $primary = ledger_node('primary');
ledger_functions($primary, 'postgres');
$primary->safe_psql('postgres', q{
	CREATE ROLE archive;
	CREATE ROLE ana LOGIN;
	CREATE FUNCTION told(what text) RETURNS text LANGUAGE plpgsql AS
	$$ BEGIN RAISE LOG 'a row was read'; RETURN what; END $$;
	CREATE TABLE t (who int, what text);
	INSERT INTO t SELECT i, 'some words' FROM generate_series(1, 5) i;
	CREATE VIEW v AS SELECT who, public.told(what) AS what FROM t;
	ALTER VIEW v OWNER TO archive;
	GRANT SELECT ON t TO archive;
	SELECT dp_protect('t', 'who', 10, 0);
	SELECT ledger_charge('t', '{0,1,0}');
	SET ROLE archive;
	SELECT dp_protect('v', 'who', 10, 1e-6);
	SELECT dp_grant('v', 'ana');});

sub standby
{
	my ($name, $of) = @_;
	$of->backup($name);
	my $standby = PostgreSQL::Test::Cluster->new($name);
	$standby->init_from_backup($of, $name, has_streaming => 1);
	$standby->start;
	$of->wait_for_catchup($standby, 'replay', $of->lsn('flush'));
	return $standby;
}

my $call = q{SELECT ledger_charge('t', '{0,1,0}')};
my $read = q{SET ROLE ana; SELECT * FROM dp_ngrams('v', 'who', 'what', 1, 1e-7)};
my $standby = standby('standby', $primary);

# A standby refuses before it looks at anything else.
my ($rc, $out, $err) = $standby->psql('postgres', $call);
like($err, qr/cannot charge a privacy budget during recovery/, 'refused on a standby');
is(sqlstate($standby, $call), '25006', 'by its SQLSTATE');
is(sqlstate($standby, $read), '25006', 'dp_ngrams as well');
is(sqlstate($standby, q{SELECT * FROM dp_ngrams('pg_class', 'who', 'what', 1, 1e-7)}), '25006', 'whatever the relation');
is(sqlstate($standby, $_), '25006', "$_: refused")
  for q{SELECT dp_unprotect('t')}, q{SELECT dp_resume('t')}, q{SELECT dp_protect('t', 'who', 1, 0)}, q{SELECT dp_grant('t', 'ana')}, q{SELECT dp_revoke('t', 'ana')};
unlike(slurp_file($standby->logfile), qr/a row was read/, 'and reads no row');
is($standby->safe_psql('postgres', q{SELECT spent_epsilon, status FROM dpngram.budget WHERE dataset = 't'}), '1|active',
	'but the budget can be seen');
is($standby->safe_psql('postgres', $_->[0]), $_->[1], "and $_->[2]")
  for [ q{SELECT remaining FROM dp_remaining('t') WHERE lane = 'eps_pure'}, '9', 'what is left' ],
  [ q{SELECT calls_left FROM dpngram.outlook WHERE dataset = 't'}, '9', 'how many more calls fit' ],
  [ q{SELECT count(*) FROM dp_price('dp_ngrams', 1, 1e-7, '{"dataset": "v"}')}, '3', 'what a call costs' ],
  [ q{SELECT jsonb_array_length(dp_export_events('t')->'events')}, '1', 'the history' ];
is(sqlstate($primary, $read), '00000', 'the primary answers');
like(slurp_file($primary->logfile), qr/a row was read/, 'and reads rows');

# A call whose standby was away: its debit is not on the promoted server, which says so.
$standby->stop;
is(sqlstate($primary, $call), '00000', 'a call that the standby does not get');
is(spent($primary, 't'), '2', 'is debited on the primary');
$primary->stop('immediate');
$standby->start;
$standby->promote;
is(spent($standby, 't'), '1', 'and not on the promoted standby');
is($standby->safe_psql('postgres', q{SELECT DISTINCT status FROM dpngram.budget}), 'suspended', 'where all is suspended');
is(sqlstate($standby, $_), 'NG007', 'and refused') for $call, $read;
($rc, $out, $err) = $standby->psql('postgres', $call);
like($err, qr/DETAIL:  The server was promoted, or recovered to an earlier point/, 'for this reason');
unlike(slurp_file($standby->logfile), qr/a row was read/, 'no row was read');
my $tmp = PostgreSQL::Test::Utils::tempdir();
append_to_file("$tmp/resume.sql", manual_block('resume'));
{
	local $ENV{PGHOST} = $standby->host;
	local $ENV{PGPORT} = $standby->port;
	my ($resumed) = run_command([ 'bash', '-c', "cd '$tmp'; " . manual_block('resume-all') ]);
	like($resumed, qr/^ t +\|.*^ v +\|/ms, 'until all is resumed');
}
is(sqlstate($standby, $_), '00000', 'then calls are answered') for $call, $read;
is(spent($standby, 't'), '2', 'and debited on top of what the primary had charged');
is($standby->safe_psql('postgres', q{SELECT timeline, parameters ->> 'reason' FROM dpngram.releases WHERE mechanism = 'dp_resume' AND dataset = 't'}),
	'2|The server was promoted, or recovered to an earlier point: debits may be lost.', 'the log tells of it');
is($standby->safe_psql('postgres', q{SELECT timeline FROM dpngram.releases WHERE mechanism = 'ledger_test' ORDER BY id}),
	"1\n2", 'and tells the timelines apart');
is(log_balances($standby), 't', 'the log adds up to what was spent');
$standby->restart;
is(sqlstate($standby, $call), '00000', 'a restart is no promotion');

# A synchronous standby has every debit whose call was answered, replayed there or not.
my $second = standby('second', $standby);
$standby->append_conf('postgresql.conf', "synchronous_standby_names = 'second'\n");
$standby->reload;
$second->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
is(sqlstate($standby, $call), '00000', 'a call under synchronous replication');
my $answered = spent($standby, 't');
$standby->stop('immediate');
$second->promote;
is(spent($second, 't'), $answered, 'its debit is on the promoted standby');

# While there is none, no call is answered: the debit may stand, the rows are not read.
$second->safe_psql('postgres', manual_block('resume'));
$second->append_conf('postgresql.conf', "synchronous_standby_names = 'none'\n");
my $reads = () = slurp_file($second->logfile) =~ /a row was read/g;
$second->reload;
is(sqlstate($second, "SET dpngram.charge_timeout = '500ms'; SET synchronous_commit = off; $_"), 'NG006', 'no call is answered without the standby')
  for $call, $read;
my $later = () = slurp_file($second->logfile) =~ /a row was read/g;
is($later, $reads, 'nor a row read');
$second->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
$second->reload;
is(sqlstate($second, $call), '00000', 'until it is not waited for any more');
is(log_balances($second), 't', 'the log adds up to what was spent');
is(doctor_errors($second), '', 'dp_doctor finds no error');
$second->stop;
done_testing();
