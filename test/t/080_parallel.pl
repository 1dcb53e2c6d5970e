# 080_parallel.pl: parallel workers of dp_ngrams: the rows are those of the session alone,
# whatever becomes of the workers, and nothing of them is left behind or told.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $node = ledger_node('parallel', 'min_parallel_table_scan_size = 0', 'max_parallel_workers_per_gather = 0',
	'dpngram.max_parallel_workers = 2', 'log_temp_files = -1');
$node->safe_psql('postgres', q{
	CREATE EXTENSION dpngram;
	CREATE ROLE ana LOGIN;
	CREATE TABLE t AS SELECT i % 3001 AS who, (SELECT string_agg('w' || (i * j) % 97, ' ') FROM generate_series(1, 10) j) AS what
		FROM generate_series(1, 9000) i;
	CREATE TABLE slow AS SELECT i AS who, 'one two three ' || i AS what FROM generate_series(1, 400) i;
	CREATE FUNCTION wait(t text) RETURNS text LANGUAGE plpgsql PARALLEL RESTRICTED AS
	$$ BEGIN PERFORM pg_sleep(0.01); RETURN t; END $$;
	CREATE VIEW sleepy AS SELECT who, wait(what) AS what FROM slow;
	CREATE FUNCTION counted(t text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN t; END $$;
	CREATE VIEW unsafe AS SELECT who, counted(what) AS what FROM t;
	CREATE FUNCTION careful(t text) RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS
	$$ BEGIN BEGIN RETURN t; EXCEPTION WHEN OTHERS THEN RETURN NULL; END; END $$;
	CREATE VIEW mislabelled AS SELECT who, careful(what) AS what FROM t;
	CREATE VIEW broken AS SELECT who, what || 1 / (who - 17) AS what FROM t;
	CREATE TABLE big AS SELECT i % 20011 AS who, (SELECT string_agg('w' || (i * j) % 9973, ' ') FROM generate_series(1, 25) j) AS what
		FROM generate_series(1, 60000) i;
	VACUUM ANALYZE;
	SELECT dp_protect(v, 'who', 1000, 1e-2) FROM unnest('{t,sleepy,unsafe,mislabelled,broken,big}'::regclass[]) v;
	SELECT dp_grant(v, 'ana') FROM unnest('{t,sleepy,unsafe,mislabelled,broken,big}'::text[]) v;});

my $settings = 'SET client_min_messages = error; SET dpngram.test_seed = 5;';

sub call
{
	my ($relation, $more) = @_;
	return "dp_ngrams('$relation', 'who', 'what', 4, 1e-6, max_length => 3" . ($more // '') . ')';
}

sub rows
{
	my ($set, $call) = @_;
	return $node->safe_psql('postgres',
		"$settings $set SELECT count(*) || ' ' || md5(string_agg(r::text, ',')) FROM $call r");
}

sub workers
{
	return "FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND query = 'dp_ngrams'";
}

sub nobody_left
{
	my ($name) = @_;
	$node->poll_query_until('postgres', 'SELECT count(*) = 0 ' . workers()) or die 'a worker stays';
	is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), 0, "$name: no worker and no file is left");
	return;
}

# any number of workers, in memory and beyond
foreach my $method (qw(dpne dpne-mr))
{
	foreach my $pruning (qw(both single))
	{
		my $call = call('t', ", method => '$method', pruning => '$pruning'");
		my $alone = rows('SET dpngram.max_parallel_workers = 0;', $call);

		like($alone, qr/^[1-9]\d\d+ /, "$method, $pruning: rows");
		foreach my $n (1, 2, 3, 8)
		{
			is(rows("SET dpngram.max_parallel_workers = $n;", $call), $alone, "$method, $pruning: the same with $n workers");
		}
		is(rows("SET work_mem = '64kB';", $call), $alone, "$method, $pruning: and with 64 kB each");
	}
}
nobody_left('calls');

# Starts a call on the view that sleeps, and waits until its workers are there; the workers' pids.
sub sleepy_call
{
	my ($sql) = @_;
	my $job = background($node, $sql);

	$node->poll_query_until('postgres', 'SELECT count(*) = 2 ' . workers())
	  or die 'no workers came';
	return ($job, split(/\n/, $node->safe_psql('postgres', 'SELECT pid ' . workers())));
}

my $sleepy = call('sleepy');
my $quick = rows('SET dpngram.max_parallel_workers = 0;', $sleepy);
my $query = "$settings SELECT count(*) || ' ' || md5(string_agg(r::text, ',')) FROM $sleepy r";

my ($job, @pids) = sleepy_call($query);
is(scalar(@pids), 2, 'two workers are at work');
my ($out, $err) = finish($job);
is($out, $quick, 'and the rows are those of one process');

# a worker that is terminated or cancelled: the session begins again, alone
foreach my $how (qw(terminate cancel))
{
	($job, @pids) = sleepy_call("BEGIN; SAVEPOINT s; $query; RELEASE s; COMMIT");
	$node->safe_psql('postgres', "SELECT pg_${how}_backend($pids[1])");
	($out, $err) = finish($job);
	is($out, $quick, "a worker was made to $how: the same rows");
	is($err, '', "a worker was made to $how: and no word of it");
	is($node->safe_psql('postgres', 'SELECT status FROM dpngram.releases ORDER BY id DESC LIMIT 1'), 'done',
		"a worker was made to $how: the release is done");
	nobody_left("a worker was made to $how");
}

# the session is cancelled, or ends
($job) = sleepy_call($query);
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND query LIKE '%sleepy%' AND pid <> pg_backend_pid()});
($out, $err) = finish($job);
like($err, qr/57014: canceling statement due to user request/, 'a call is cancelled');
nobody_left('cancelled');
($job) = sleepy_call($query);
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND query LIKE '%sleepy%' AND pid <> pg_backend_pid()});
($out, $err) = finish($job);
like($err, qr/connection/, 'a session is terminated');
nobody_left('terminated');
is(sqlstate($node, "SET statement_timeout = 500; $query"), '57014', 'a call runs out of time');
nobody_left('out of time');

# at any moment of a call: while workers start, read, group, count, in rounds, and while they leave
my %states;
for (my $ms = 2; $ms < 1500; $ms *= 1.4)
{
	my $at = int($ms);

	$states{ sqlstate($node, "SET work_mem = '64kB'; SET statement_timeout = $at; SELECT count(*) FROM " . call('big')) } = 1;
}
ok($states{57014}, 'a call runs out of time at any moment');
delete @states{qw(57014 00000)};
is(join(' ', keys %states), '', 'and in no other way');
nobody_left('at any moment');

# A worker that is ended once noise was drawn, as progress tells: to begin again would be a second
# draw.  One that is ended before is as if it had not been.
my $telling = 'SET client_min_messages = notice; SET dpngram.progress = on; SET work_mem = \'64kB\';';
my $ended = 'SELECT count(pg_terminate_backend(pid)) ' . workers();
my ($hit, $told_err) = (0, '');
for (1 .. 20)
{
	my $job = background($node, "$telling SELECT count(*) FROM " . call('big', ', max_length => 5') =~ s/, max_length => 3//r);

	$job->{run}->pump until $job->{err} =~ /length 2 of 5|ERROR/ || !$job->{run}->pumpable;
	$hit = $node->safe_psql('postgres', $ended);
	(undef, $told_err) = finish($job);
	last if $hit && $told_err =~ /ERROR/;
}
like($told_err, qr/NG008/, 'a worker is ended after noise was drawn: the call fails');
is(() = $told_err =~ /length 1 of 5/g, 1, 'and does not begin again');
is($node->safe_psql('postgres', 'SELECT status FROM dpngram.releases ORDER BY id DESC LIMIT 1'), 'failed', 'the release has failed');
nobody_left('ended after noise was drawn');
($job, @pids) = sleepy_call(($query =~ s/client_min_messages = error/client_min_messages = notice/r) =~ s/^/SET dpngram.progress = on; /r);
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pids[1])");
($out, $err) = finish($job);
is($out, $quick, 'a worker is ended before noise was drawn: the same rows');
like($err, qr/length 2 of 3/, 'and progress is told');
nobody_left('ended before noise was drawn');

# errors of the leader are masked as ever, and the caller's exception block holds
is(sqlstate($node, "$settings SELECT count(*) FROM " . call('broken')), 'NG008', 'a view that fails');
is($node->safe_psql('postgres', $settings . q{
	CREATE TEMP TABLE seen (state text, n bigint);
	DO $do$
	BEGIN
		INSERT INTO seen VALUES ('before', 0);
		BEGIN
			INSERT INTO seen SELECT 'never', count(*) FROM } . call('broken') . q{;
		EXCEPTION WHEN OTHERS THEN
			INSERT INTO seen VALUES (SQLSTATE, 0);
		END;
		BEGIN
			INSERT INTO seen SELECT 'then', count(*) FROM } . call('t') . q{;
		EXCEPTION WHEN OTHERS THEN
			INSERT INTO seen VALUES (SQLSTATE, 1);
		END;
	END $do$;
	SELECT string_agg(state || ' ' || (n > 100), ',' ORDER BY state) FROM seen}),
	'NG008 false,before false,then true', 'within blocks that catch errors');
nobody_left('errors');

# temporary files that only one process may write so much of
my $alone = rows('SET dpngram.max_parallel_workers = 0;', call('big'));
my $start = -s $node->logfile;
$node->safe_psql('postgres', q{ALTER DATABASE postgres SET temp_file_limit = '300kB'});
is(sqlstate($node, "$settings SET work_mem = '64kB'; SELECT count(*) FROM " . call('big')),
	'NG008', 'files beyond the limit');
$node->safe_psql('postgres', q{ALTER DATABASE postgres RESET temp_file_limit});
my $told = substr(slurp_file($node->logfile), $start);
like($told, qr/failed with SQLSTATE 53400/, 'files beyond the limit: that is logged');
nobody_left('files beyond the limit');
is(rows(q{SET work_mem = '64kB';}, call('big')), $alone, 'files within it');

# no workers to be had; queries that may not run in parallel mode, and one that lies
my $t = call('t');
my $rows = rows('SET dpngram.max_parallel_workers = 0;', $t);
is(rows('SET max_parallel_workers = 0;', $t), $rows, 'no worker allowed');
is(rows('', call('unsafe')), $rows, 'a view with an unsafe function');
is(rows('', call('mislabelled')), $rows, 'a view with a function that is not what it says');
is(rows(q{SET default_transaction_isolation = 'serializable';}, $t), $rows, 'serializable');
is(rows(q{SET default_transaction_isolation = 'repeatable read';}, $t), $rows, 'repeatable read');
is(rows('SET max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;', $t), $rows,
	'costs that would make any query parallel');

# statements of all kinds around it
is($node->safe_psql('postgres', "$settings " . qq{
	BEGIN;
	CREATE TABLE made AS SELECT * FROM $t;
	CREATE MATERIALIZED VIEW kept AS SELECT * FROM $t WITH NO DATA;
	REFRESH MATERIALIZED VIEW kept;
	DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT * FROM $t;
	COMMIT;
	FETCH FORWARD 3 FROM c;
	MOVE BACKWARD ALL IN c;
	CREATE TABLE plan (line text);
	DO \$\$ DECLARE l text; BEGIN FOR l IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM dp_ngrams(''t'', ''who'', ''what'', 4, 1e-6, max_length => 3)' LOOP INSERT INTO plan VALUES (l); END LOOP; END \$\$;
	SELECT count(*) > 0 FROM plan;
	SELECT (SELECT count(*) || ' ' || md5(string_agg(r::text, ',')) FROM made r) = '$rows',
		(SELECT count(*) || ' ' || md5(string_agg(r::text, ',')) FROM kept r) = '$rows';}) =~ /t\nt\|t$/, 1,
	'CREATE TABLE AS, REFRESH, cursors, EXPLAIN ANALYZE');
nobody_left('statements');

# all slots taken: charges need one, so take all but that
$node->append_conf('postgresql.conf', "max_worker_processes = 2\n");
$node->restart;
is(rows('', $t), $rows, 'few slots');
my @log = grep { !/ statement: |test_seed/ } split(/\n/, slurp_file($node->logfile));
is(scalar(grep { /leak|one two three/ } @log), 0, 'nothing leaks, and nothing of the data is told');
$node->stop;
done_testing();
