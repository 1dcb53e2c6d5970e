# 033_many_callers.pl: 64 callers on a server with the default of 8 worker processes: all are
# answered, and the server's own needs find workers, too.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $clients = 64;
my $node = ledger_node('many', 'max_worker_processes = 8', 'min_parallel_table_scan_size = 0', 'parallel_setup_cost = 0',
	'parallel_tuple_cost = 0', 'dpngram.max_parallel_workers = 2');
$node->safe_psql('postgres', qq{
	CREATE EXTENSION dpngram;
	CREATE TABLE numbers AS SELECT generate_series(1, 200000) AS i;
	VACUUM ANALYZE numbers;
	DO \$\$ BEGIN
		FOR i IN 1 .. $clients LOOP
			EXECUTE format('CREATE TABLE t%s AS SELECT i AS who, ''good morning world'' AS what FROM generate_series(1, 200) i', i);
			PERFORM dp_protect(format('t%s', i)::regclass, 'who', 100, 1e-3, options => '{"min_epsilon": 0}');
		END LOOP;
	END \$\$;});

my $script = PostgreSQL::Test::Utils::tempdir() . '/calls.sql';
append_to_file($script, qq{SELECT count(*) FROM dp_ngrams(('t' || :client_id + 1)::regclass, 'who', 'what', 0.01, 1e-9, max_length => 2);\n});
my ($out, $err) = ('', '');
my $bench = IPC::Run::start([ 'pgbench', '-n', '-f', $script, '-c', $clients, '-j', 2, '-T', 10, '-d', $node->connstr('postgres') ],
	'<', \'', '>', \$out, '2>', \$err);
my ($most, $starved, $asked, $pumped) = (0, 0, 0, 1);
my $end = time + 9;

while (time < $end)
{
	my $workers = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dpngram release'});
	my $plan = $node->safe_psql('postgres', q{EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT count(*) FROM numbers});

	$most = $workers if $workers > $most;
	$asked++;
	$starved++ if $plan =~ /Workers Launched: 0/;
}
$bench->finish;
my ($answered) = $out =~ /transactions actually processed: (\d+)/;
unlike($err, qr/ERROR|FATAL|aborted/, 'no caller has an error');
cmp_ok($answered, '>=', $clients, 'every caller is answered');
is($node->safe_psql('postgres', qq{SELECT count(DISTINCT dataset) FROM dpngram.releases WHERE mechanism = 'dp_ngrams' AND status = 'done'}),
	$clients, 'on each dataset');
cmp_ok($most, '>=', 1, 'there are workers');
cmp_ok($most, '<=', 4, 'and never more than half of the server\'s');
cmp_ok($starved, '<', $asked, 'parallel queries find workers beside them');
note("$answered calls answered in 10 s; up to $most workers at a time; $starved of $asked parallel queries had no worker");

# told which setting, where there is no time to wait
my @jobs = map { background($node, "SET dpngram.charge_timeout = '100ms'; SELECT count(*) FROM dp_ngrams('t$_', 'who', 'what', 0.01, 1e-9, max_length => 2)") } 1 .. $clients;
my %ends = map { $_ => 0 } qw(answered told other);
foreach my $job (@jobs)
{
	my (undef, $message) = finish($job);
	$ends{ $message eq '' ? 'answered' : $message =~ /NG006: .*(?:dpngram.max_calls|max_worker_processes|charge_timeout)/s ? 'told' : 'other' }++;
}
is($ends{other}, 0, 'in a hurry: answered, or told which setting');
note(join(', ', map { "$_ $ends{$_}" } sort keys %ends));
is($node->safe_psql('postgres', q{SELECT count(*) FROM dpngram.releases WHERE mechanism = 'dp_ngrams' AND status = 'charged'}),
	'0', 'none was charged without an answer');

# A role that may have one slot: its second call waits for the first, and nobody else does.
$node->safe_psql('postgres', q{
	CREATE FUNCTION wait(word text) RETURNS text LANGUAGE plpgsql AS
	$$ BEGIN PERFORM pg_advisory_xact_lock_shared(33); RETURN word; END $$;
	CREATE VIEW slow AS SELECT who, wait(what) AS what FROM t1 WHERE who = 1;
	SELECT dp_protect('slow', 'who', 100, 1e-3);});
my $holder = background($node, q{SELECT pg_advisory_lock(33); SELECT pg_sleep(60);});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND granted})
	or die 'nobody holds the lock';
my @limited;
my $waiting = q{SELECT count(*) = 1 FROM pg_locks WHERE NOT granted AND locktype = 'advisory'};
foreach my $relation ('slow', 't2')
{
	push @limited, background($node, qq{SET dpngram.max_calls = 1; SET dpngram.charge_timeout = '60s';
		SELECT count(*) FROM dp_ngrams('$relation', 'who', 'what', 1, 1e-5, max_length => 1)});
	$node->poll_query_until('postgres', $waiting) or die 'nothing is read';
}
ok( $node->poll_query_until('postgres',
		q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'object' AND classid = 'pg_extension'::regclass AND database = 0 AND objsubid = 0}),
	'the second waits at the door');
$node->safe_psql('postgres', q{SELECT count(*) FROM dp_ngrams('t3', 'who', 'what', 1, 1e-5, max_length => 1)});
is($node->safe_psql('postgres', q{SELECT count(*) FROM dpngram.running}), '1', 'others are answered meanwhile');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted});
is((finish($_))[1], '', 'so is the role') foreach @limited;
finish($holder);

# A worker counts until it ends: not every function looks whether it is to end.
$node->safe_psql('postgres', q{
	CREATE FUNCTION busy(word text) RETURNS text LANGUAGE plpgsql AS
	$$ DECLARE a numeric := repeat('7', 60000)::numeric; BEGIN a := a*a-a*a+a*a-a*a+a*a-a*a+a*a-a*a+a*a-a*a; RETURN word; END $$;
	CREATE VIEW stubborn AS SELECT who, busy(what) AS what FROM t1;
	SELECT dp_protect('stubborn', 'who', 100, 1e-3);});
$most = 0;
foreach (1 .. 14)
{
	my (undef, undef, $message) = $node->psql('postgres',
		q{SET statement_timeout = '100ms'; SELECT count(*) FROM dp_ngrams('stubborn', 'who', 'what', 1, 1e-5, max_length => 1)});
	my $workers = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dpngram release' AND wait_event IS NULL});

	die $message if $message !~ /statement timeout/;
	$most = $workers if $workers > $most;
}
cmp_ok($most, '>=', 2, 'workers of cancelled calls may go on for a moment');
cmp_ok($most, '<=', 4, 'but count');

# A function of a view that calls for itself.
$node->safe_psql('postgres', q{
	CREATE FUNCTION nest(word text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE n int; BEGIN
		SELECT count(*) INTO n FROM public.dp_ngrams('public.nested', 'who', 'what', 1, 1e-5, max_length => 1); RETURN n::text; END $$;
	CREATE VIEW nested AS SELECT who, nest(what) AS what FROM t1;
	SELECT dp_protect('nested', 'who', 100, 1e-3);});
like((finish(background($node, q{SELECT count(*) FROM dp_ngrams('nested', 'who', 'what', 1, 1e-5, max_length => 1)})))[1],
	qr/NG008/, 'no call is made for a call');
is($node->safe_psql('postgres', q{SELECT count(*) FROM dpngram.releases WHERE dataset = 'nested' AND mechanism = 'dp_ngrams'}),
	'1', 'and nothing charged for it');
like(slurp_file($node->logfile), qr/failed with SQLSTATE 0A000/, 'the log has the reason');
$node->stop;
done_testing();
