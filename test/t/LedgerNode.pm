# LedgerNode.pm: a server with the extension and the functions of the test module
# ledger_test, for the TAP tests of the ledger.
#
# Needs the module built: make -C test/modules/ledger_test.
package LedgerNode;

use strict;
use warnings;
use Exporter 'import';
use File::Basename qw(dirname);
use File::Spec;
use File::Temp;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use Test::More;

our @EXPORT = qw(ledger_node ledger_functions spent status_of background finish sqlstate log_balances doctor_errors);

my $module = File::Spec->rel2abs(dirname(__FILE__) . '/../modules/ledger_test/ledger_test');

# A started server; @settings are lines of postgresql.conf.
sub ledger_node
{
	my ($name, @settings) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(allows_streaming => 1, extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ]);
	# allows_streaming leaves 10 connections, too few for twenty sessions at once
	$node->append_conf('postgresql.conf',
		join("\n", 'max_worker_processes = 128', 'max_connections = 100', @settings) . "\n");
	$node->start;
	return $node;
}

# The extension and the module's functions in a database.
sub ledger_functions
{
	my ($node, $database) = @_;

	$node->safe_psql($database, qq{
		CREATE EXTENSION IF NOT EXISTS dpngram;
		CREATE FUNCTION ledger_charge(relation regclass, prices float8[], seconds float8 DEFAULT 0,
			outcome text DEFAULT 'charged', parameters text DEFAULT '{}',
			epsilon float8 DEFAULT 1, delta float8 DEFAULT 0) RETURNS integer
		AS '$module', 'ledger_test_charge' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;});
	return;
}

# Pure epsilon that a dataset has spent, as the ledger's table says.
sub spent
{
	my ($node, $dataset, $database) = @_;

	return $node->safe_psql($database // 'postgres',
		"SELECT eps_pure_spent FROM dpngram.dataset WHERE name = '$dataset' AND ended IS NULL");
}

# Waits until the newest release has that status.
sub status_of
{
	my ($node, $status) = @_;

	return $node->poll_query_until('postgres',
		'SELECT status FROM dpngram.releases ORDER BY id DESC LIMIT 1', $status);
}

# Starts a statement in a session of its own; finish() waits for it and returns
# its output and its errors.
sub background
{
	my ($node, $sql, $database) = @_;
	my %job = (out => '', err => '', file => File::Temp->new);
	my @psql = ('psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-v', 'ON_ERROR_STOP=1',
		'-d', $node->connstr($database // 'postgres'), '-f', $job{file}->filename);

	# from a file: nobody feeds the session's standard input while it runs
	$job{file}->print($sql);
	$job{file}->flush;
	$job{run} = IPC::Run::start(\@psql, '<', '/dev/null', '>', \$job{out}, '2>', \$job{err},
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	return \%job;
}

sub finish
{
	my ($job) = @_;

	$job->{run}->finish;
	chomp($job->{out});
	return ($job->{out}, $job->{err});
}

# The SQLSTATE of one statement, 00000 if it succeeds.
sub sqlstate
{
	my ($node, $sql, $database) = @_;
	my ($out, $err) = finish(background($node, $sql, $database));

	return $err =~ /(?:ERROR|FATAL):  (\w{5}):/ ? $1 : '00000';
}

# In every dataset the log's amounts add up to what was spent.
sub log_balances
{
	my ($node, $database) = @_;

	return $node->safe_psql($database // 'postgres', q{
		SELECT count(*) > 0 AND bool_and((d.mu2_spent, d.eps_pure_spent, d.delta_add_spent)
			= (r.mu2, r.eps_pure, r.delta_add))
		FROM dpngram.dataset d JOIN (SELECT dataset, sum(mu2) AS mu2, sum(eps_pure) AS eps_pure,
			sum(delta_add) AS delta_add FROM dpngram.release GROUP BY dataset) r ON r.dataset = d.id});
}

# What dp_doctor calls an error; a private server's fsync is off, which is none of ours.
sub doctor_errors
{
	my ($node, $database) = @_;

	return $node->safe_psql($database // 'postgres', q{SELECT finding, object, detail FROM dp_doctor()
		WHERE severity = 'error' AND finding <> 'not-durable' ORDER BY 1, 2});
}

1;
