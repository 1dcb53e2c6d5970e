# 050_doctor.pl: what dp_doctor finds on a crippled server, on a standby, and of the
# server's own settings; and that its table of findings is the manual's.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $protected = q{
	CREATE ROLE owner_role;
	CREATE ROLE stranger;
	CREATE SCHEMA s AUTHORIZATION owner_role;
	SET ROLE owner_role;
	CREATE TABLE s.t AS SELECT i AS who, 'some words'::text AS what FROM generate_series(1, 57) i;
	SELECT dp_protect('s.t', 'who', 10, 1e-3, 'd');};

my %provoked;

# The rows of one finding, and what is noted as provoked if there are any.
sub found
{
	my ($node, $finding, $columns) = @_;
	my $rows = $node->safe_psql('postgres', "SET ROLE owner_role; SELECT "
		. ($columns // 'severity, object, detail') . " FROM dp_doctor('d') WHERE finding = '$finding'");

	$provoked{$finding} = 1 if $rows ne '';
	return $rows;
}

# Gives the commands that are a finding's remedies; says what is found then.
sub mend
{
	my ($node, $finding) = @_;

	for my $remedy (split /\n/, found($node, $finding, 'remedy'))
	{
		$node->safe_psql('postgres', $remedy);
	}
	$node->reload;
	return $node->poll_query_until('postgres', "SELECT count(*) FROM dp_doctor('d') WHERE finding = '$finding'", '0');
}

# The server's settings, as the test cluster has them (fsync is off) and some more.
my $node = ledger_node('doctor', 'wal_level = logical', 'log_temp_files = 0', 'trace_sort = on',
	'shared_preload_libraries = auto_explain', 'auto_explain.log_min_duration = 0', 'auto_explain.log_analyze = on');
ledger_functions($node, 'postgres');
$node->safe_psql('postgres', $protected);
is(found($node, 'not-durable'), 'error|setting fsync|is off for the server', 'fsync off');
ok(mend($node, 'not-durable'), 'is mended by the command');
is(found($node, 'log-row-counts'), join("\n",
	'warning|setting auto_explain.log_min_duration|is 0 for the server',
	'warning|setting log_temp_files|is 0 for the server',
	'warning|setting trace_sort|is on for the server'), 'settings that write row counts into the log');
$node->safe_psql('postgres', q{SELECT count(*) FROM dp_ngrams('s.t', 'who', 'what', 1, 1e-4)});
like(slurp_file($node->logfile), qr/FROM s\.t r WHERE.*\n.*rows=57(?:\.00)? /, 'which they do');
ok(mend($node, 'log-row-counts'), 'are mended by the commands');
my $mended = -s $node->logfile;
$node->safe_psql('postgres', q{SELECT count(*) FROM dp_ngrams('s.t', 'who', 'what', 1, 1e-4)});
unlike(slurp_file($node->logfile, $mended), qr/FROM s\.t r WHERE|tuple sort|rows=57(?:\.00)? /, 'and write them no more');
like(found($node, 'log-statements'), qr/^notice\|setting log_statement\|is all for the server$/m, 'log_statement');
$node->safe_psql('postgres', q{ALTER DATABASE postgres SET log_statement = 'none'});
unlike(found($node, 'log-statements'), qr/log_statement/, 'a database can have another value');
$node->safe_psql('postgres', q{ALTER ROLE stranger IN DATABASE postgres SET log_statement = 'mod'});
like(found($node, 'log-statements', 'detail, remedy'),
	qr/^is mod for role stranger in this database\|ALTER ROLE stranger IN DATABASE postgres RESET log_statement$/m,
	'and a role in it');
ok(mend($node, 'log-statements'), 'mended by the commands');

# A slot that decodes the database, a role that can make itself a member of any other.
$node->safe_psql('postgres', q{SELECT pg_create_logical_replication_slot('spy', 'pgoutput')});
is(found($node, 'logical-slot'), 'warning|replication slot spy|decodes every change of this database', 'a logical slot');
ok(mend($node, 'logical-slot'), 'is mended by the command');
SKIP:
{
	$provoked{createrole} = 1;
	skip 'CREATEROLE is no way to any role from PostgreSQL 16 on', 2
		if $node->safe_psql('postgres', 'SHOW server_version_num') >= 160000;
	$node->safe_psql('postgres', 'ALTER ROLE stranger CREATEROLE');
	is(found($node, 'createrole'), 'warning|role stranger|has CREATEROLE', 'CREATEROLE');
	ok(mend($node, 'createrole'), 'is mended by the command');
}

# A view that checks its reader's own rights opens nothing.
SKIP:
{
	skip 'views have no security_invoker before PostgreSQL 15', 3
		if $node->safe_psql('postgres', 'SHOW server_version_num') < 150000;
	$node->safe_psql('postgres', q{
		GRANT USAGE ON SCHEMA s TO stranger;
		SET ROLE owner_role;
		CREATE VIEW s.v WITH (security_invoker) AS SELECT what FROM s.t;
		GRANT SELECT ON s.v TO stranger;});
	is(sqlstate($node, 'SET ROLE stranger; TABLE s.v'), '42501', 'a view with security_invoker can not be read');
	is(found($node, 'view-readable') . '+' . found($node, 'view-over-relation'), '+notice|view s.v|reads table s.t',
		'and is not found to be');
	$node->safe_psql('postgres', 'ALTER VIEW s.v RESET (security_invoker)');
	is(found($node, 'view-readable'), 'warning|view s.v|reads table s.t and can be read by role stranger',
		'without it, it is');
	$node->safe_psql('postgres', 'DROP VIEW s.v');
}

# Functions of other extensions: those on the list tell of rows, those left out refuse.
for my $extension (qw(pgstattuple pageinspect))
{
	SKIP:
	{
		skip "no extension $extension here", 2 unless $node->safe_psql('postgres',
			"SELECT count(*) FROM pg_available_extensions WHERE name = '$extension'");
		$node->safe_psql('postgres', "CREATE EXTENSION $extension");
		$node->safe_psql('postgres', q{
			GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO stranger;
			GRANT USAGE ON SCHEMA s TO stranger;});
		if ($extension eq 'pgstattuple')
		{
			is($node->safe_psql('postgres', q{SET ROLE stranger; SELECT tuple_count FROM pgstattuple('s.t')}), '57',
				'pgstattuple counts the rows for whoever may call it');
			like(found($node, 'reading-function'),
				qr/^warning\|role stranger\|may call public\.pgstattuple\(regclass\), which counts the rows of any table$/m,
				'and is found');
		}
		else
		{
			is(sqlstate($node, q{SET ROLE stranger; SELECT get_raw_page('s.t', 0)}), '42501',
				'pageinspect asks for a superuser');
			unlike(found($node, 'reading-function'), qr/get_raw_page/, 'and is not found');
		}
		$node->safe_psql('postgres', "DROP EXTENSION $extension");
	}
}

# The worker that was tried is gone, and no check failed.
is(found($node, 'no-free-worker'), '', 'there is a free worker');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'dpngram probe'}),
	'the worker that was tried has ended');
is(found($node, 'unknown'), '', 'every check could be made');

# A standby, and after its promotion.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby, 'replay', $node->lsn('flush'));
is(found($standby, 'unknown'), 'error|check no-free-worker|no background worker can be tried during recovery',
	'on a standby no worker can be tried, and all else can');
is(found($standby, 'standby'), 'notice|server|is in recovery, so that calls are refused', 'which it says');
is(found($standby, 'suspended'), '', 'a standby is not suspended');
$node->stop;
$standby->promote;
is(found($standby, 'suspended', 'severity, object, detail, remedy'),
	'error|relation s.t|The server was promoted, or recovered to an earlier point: debits may be lost.|'
	. "SELECT dp_resume('d')", 'a promoted one is');
ok(mend($standby, 'suspended'), 'and is mended by the command');
is(found($standby, 'standby') . found($standby, 'unknown'), '', 'it is no standby any more');
$standby->stop;

# No free worker: the one slot is the launcher's.
my $crippled = ledger_node('crippled', 'max_worker_processes = 1', "dpngram.charge_timeout = '200ms'");
ledger_functions($crippled, 'postgres');
$crippled->safe_psql('postgres', $protected);
is(found($crippled, 'no-free-worker'),
	'error|background worker|none was free within dpngram.charge_timeout', 'no free worker');
is(sqlstate($crippled, q{SELECT * FROM dp_ngrams('s.t', 'who', 'what', 1, 1e-4)}), 'NG006', 'calls fail');
is(found($crippled, 'few-workers', 'severity, object, detail, remedy'),
	'notice|setting max_worker_processes|is 1, of which calls may take 1 and parallel queries 8|'
	. 'ALTER SYSTEM SET max_worker_processes = 41', 'few workers');
is(sqlstate($crippled, q{SET dpngram.charge_timeout = '1h'; SET statement_timeout = '300ms'; SELECT * FROM dp_doctor('d')}),
	'57014', 'a cancel is no finding');
$crippled->safe_psql('postgres', found($crippled, 'few-workers', 'remedy'));
$crippled->restart;
is(found($crippled, 'no-free-worker') . found($crippled, 'few-workers'), '', 'both are mended by the command');

# The manual's table is the code's.
my $table = $crippled->safe_psql('postgres',
	q{SELECT format('%s|%s|%s', finding, severity, remedy) FROM dpngram.doctor_checks()});
my @manual = map { /^\| `([a-z-]+)` \| (\w+) \| .+ \| (.+) \|$/ ? "$1|$2|$3" : () }
	split /\n/, slurp_file("$ENV{TESTDIR}/doc/doctor.md");
is(join("\n", @manual), $table, 'doc/doctor.md lists the findings, with severity and remedy');
$crippled->stop;

# What no test provokes may never be found.
my $expected = slurp_file("$ENV{TESTDIR}/expected/doctor.out");
my @missed = grep { !$provoked{$_} && $expected !~ /^(?:error|warning|notice)\|\Q$_\E\|/m }
	map { /^([^|]+)/ } split /\n/, $table;
is("@missed", '', 'each finding was provoked, here or in sql/doctor.sql');
done_testing();
