# 024_leaks.pl: a session that makes a hundred calls, in memory and beyond it, alone and with
# a worker, and some that fail or are cancelled, has in the end what it had after the first.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use LedgerSession;

my $node = ledger_node('leaks', 'hash_mem_multiplier = 1', 'autovacuum = off');

# t is long enough that workers are worth while
$node->safe_psql('postgres', q{
	CREATE EXTENSION dpngram;
	CREATE TABLE t AS SELECT i AS who, (SELECT string_agg('w' || (i * j) % 97, ' ') FROM generate_series(1, 20) j) AS what
		FROM generate_series(1, 6000) i;
	VACUUM ANALYZE t;
	CREATE FUNCTION fail(who int, what text) RETURNS text LANGUAGE plpgsql AS
		$$ BEGIN IF who = 5000 THEN RAISE 'here'; END IF; RETURN what; END $$;
	CREATE VIEW failing AS SELECT who, fail(who, what) AS what FROM t;
	CREATE FUNCTION wait(who int, what text) RETURNS text LANGUAGE plpgsql AS
		$$ BEGIN IF who = 5000 THEN PERFORM pg_sleep(600); END IF; RETURN what; END $$;
	CREATE VIEW waiting AS SELECT who, wait(who, what) AS what FROM t;
	SELECT dp_protect(r, 'who', 10000, 1e-2, options => '{"min_epsilon": 0}') FROM unnest('{t,failing,waiting}'::regclass[]) r;});

my $session = LedgerSession->new($node, $node->safe_psql('postgres', 'SELECT current_user'),
	'SET work_mem = 64');
$session->connect or die 'no session';
my $pid = $session->{pid};

my %sqlstate = (t => '00000', failing => 'NG008', waiting => '57014');
my $calls = 0;
my @unexpected;

sub call
{
	my ($relation, $function, $arguments) = @_;

	$session->must("SET statement_timeout = '" . ($relation eq 'waiting' ? '500ms' : 0) . "'");
	$session->run("SELECT count(*) FROM $function('$relation', 'who', 'what', 4, 1e-6$arguments)");
	$calls++;
	push @unexpected, "$relation $arguments: $session->{state}" if $session->{state} ne $sqlstate{$relation};
	return;
}

# Twelve calls, of each kind.
sub round_of_calls
{
	foreach my $method (qw(dpne dpne-mr))
	{
		my $arguments = ", max_length => 3, method => '$method'";

		foreach my $memory (qw(64kB 64MB))
		{
			$session->must("SET work_mem = '$memory'");
			foreach my $workers (0, 1)
			{
				$session->must("SET dpngram.max_parallel_workers = $workers");
				call('t', 'dp_ngrams', $arguments);
			}
		}
		$session->must("SET work_mem = '64kB'");
		call('failing', 'dp_ngrams', $arguments);
	}
	$session->must("SET work_mem = '64kB'", 'SET dpngram.max_parallel_workers = 0');
	call('waiting', 'dp_ngrams', '');
	call('t', 'dp_set_union', ', 9');
	return;
}

# Bytes of all memory contexts, and by the context's name those that a caller of ours has made.
sub contexts
{
	my $own = $session->value(q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'dpngram%'});
	return ($session->value('SELECT sum(total_bytes) FROM pg_backend_memory_contexts'), $own);
}

# What the backend has open, but for relations, which the server keeps open as it pleases.
sub descriptors
{
	my @open = map { readlink($_) // () } glob("/proc/$pid/fd/*");
	return scalar(grep { /pgsql_tmp/ || !m{/(?:base|global|pg_[a-z]+)/} } @open);
}

round_of_calls() for 1 .. 2;
my ($bytes_before) = contexts();
my $descriptors_before = descriptors();
round_of_calls() for 1 .. 8;
my ($bytes_after, $own) = contexts();

is("@unexpected", '', "$calls calls end as they should");
cmp_ok($calls, '>=', 100, 'a hundred calls');
cmp_ok($bytes_after, '<=', $bytes_before + 64 * 1024, 'the memory contexts hold what they held after a few');
is($own, 0, 'and none of them is of a call');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, 'no temporary file is left');
cmp_ok(descriptors(), '<=', $descriptors_before, 'nor anything open');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'"), 0,
	'no worker is left');
note "$bytes_before bytes, then $bytes_after; $descriptors_before descriptors, then " . descriptors();
$session->drop;
$node->stop;
done_testing();
