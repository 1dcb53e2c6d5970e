# kill -9 of the backend that calls, of the worker that charges and reads and of the postmaster,
# at 200 moments of a call: whatever was answered has its debit, for ever, and the
# ledger can be read and goes on.
#
# Of the moments 39 are chosen so that each phase of a call is met for certain, with
# each process that lives in it:
#
#	before		no worker has been asked for: the call waits for the dataset's lock
#	worker		the worker is at work and waits for the dataset's row
#	committed	the debit is committed, and the caller has not heard of it
#	read		the worker reads the relation
#	rows		rows arrive at the client
#
# The others are uniform over the course of a call, which is measured first.  Half of
# these are blind; in the other half caller and worker are stopped at the moment, looked
# at, and the one is killed while the others go on: that tells which phase it was.
#
# LEDGER_KILLS is the number of moments, SEED chooses others.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use LedgerNode;
use LedgerSession;
use LedgerWire;

my $kills = $ENV{LEDGER_KILLS} // 200;
my $seed = $ENV{SEED} // 20;
srand($seed);
note("SEED=$seed");

my $node = ledger_node('kill', 'shared_buffers = 2MB', 'max_wal_size = 32MB', 'min_wal_size = 32MB', 'autovacuum = off',
	'log_statement = none', 'restart_after_crash = on', 'synchronous_commit = off', 'wal_writer_delay = 10s');
ledger_functions($node, 'postgres');
$node->safe_psql('postgres', q{
	CREATE ROLE boss SUPERUSER LOGIN;
	CREATE TABLE t (who int, what text);
	CREATE TABLE words AS SELECT i AS who, repeat('some words that take their time ' || i || ' ', 60) AS what
		FROM generate_series(1, 2000) i;
	SELECT dp_protect('t', 'who', 1e6, 0, options => '{"min_epsilon": 0}');
	CREATE FUNCTION wait(t text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN t; END $$;
	CREATE VIEW slow AS SELECT who, wait(what) AS what FROM words;
	SELECT dp_protect('words', 'who', 1000, 1e-3), dp_protect('slow', 'who', 1000, 1e-3);
	CHECKPOINT;});

my ($postmaster, $observer, $holder, $client);
my ($op, $longest, %debited, %hit, %outcome, @wrong) = (0, 0);

sub pause
{
	select(undef, undef, undef, $_[0]);
	return;
}

# Waits until the condition is true, and returns what it was.
sub until_true
{
	my ($what, $condition) = @_;
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;

	while (1)
	{
		my $value = $condition->();
		return $value if $value;
		die "still not: $what" if time > $end;
		pause(0.001);
	}
}

sub children
{
	open my $file, '<', "/proc/$postmaster/task/$postmaster/children" or return;
	return split(' ', <$file> // '');
}

# The state of a process: T has stopped, Z and X are dead; empty if there is none.
sub state_of
{
	my ($pid) = @_;
	open my $file, '<', "/proc/$pid/stat" or return '';
	my $line = <$file> // '';

	return $line =~ /\) ([A-Za-z])/ ? $1 : '';
}

# Sessions on the server as it is now.
sub reconnect
{
	$postmaster = $node->{_pid};
	$_ //= LedgerSession->new($node, 'boss') for $observer, $holder;
	$_->reconnect for $observer, $holder;
	$client = until_true('a client', sub { LedgerWire->new($node, 'boss') });
	return;
}

# A call with its number in the log; its rows exceed what a socket holds.
sub call_sql
{
	my ($kind) = @_;

	$op++;
	return qq{SELECT ledger_charge('t', '{0,1,0}', seconds => 0.003, parameters => '{"op": $op}')} if $kind eq 'charge';
	return sprintf(q{SELECT count(*) FROM dp_ngrams('slow', 'who', 'what', 1, 1e-7, max_length => 1, max_tokens => %d)},
		1_000_000 + $op) if $kind eq 'long';
	return sprintf(q{SELECT n, repeat('x', 20000) FROM dp_ngrams('words', 'who', 'what', 1, 1e-7, max_length => 2,
		max_tokens => %d), generate_series(1, 20)}, 1_000_000 + $op);
}

my $log = q{SELECT coalesce(parameters->>'op', ((parameters->>'max_tokens')::int - 1000000)::text)
	FROM dpngram.release WHERE mechanism IN ('ledger_test', 'dp_ngrams')};
my $balances = q{SELECT bool_and(d.eps_pure_spent = coalesce(s.eps_pure, 0) AND d.mu2_spent = coalesce(s.mu2, 0)
		AND d.releases = s.n)
	FROM dpngram.dataset d JOIN (SELECT dataset, sum(eps_pure) AS eps_pure, sum(mu2) AS mu2, count(*) AS n
		FROM dpngram.release GROUP BY dataset) s ON s.dataset = d.id};

# The phase of the call as a session sees it that asks nothing of the stopped ones.
# It is not asked for longer than they can be missed: they may hold a lock inside.
sub phase
{
	$observer->start(qq{SELECT (SELECT wait_event FROM pg_stat_activity WHERE pid = $client->{pid}),
		EXISTS (SELECT FROM ($log AND id > (SELECT max(id) - 5 FROM dpngram.release)) r (op) WHERE op = '$op')});
	my $end = time + 0.5;
	until ($observer->ready)
	{
		return 'unseen' if time > $end;
		pause(0.0002);
	}
	my ($state, $rows) = $observer->outcome;
	my ($event, $committed) = @{ $rows->[0] };

	$client->listen(0);
	return $client->{ready} ? 'after' : $client->{rows} ? 'rows' : !$committed ? $event && $event eq 'Extension'
	  ? 'worker' : 'before' : $event && $event eq 'Extension' ? 'committed' : 'read';
}

# The worker of the call that was just sent, as soon as it is a process; undef if the
# call ends without one.
sub worker_of_call
{
	my %old = map { $_ => 1 } @_;

	while (1)
	{
		my ($new) = grep { !$old{$_} } children();
		return $new if $new;
		return unless $client->listen(0.0002);
	}
}

# A test that dies leaves no stopped process behind.
my %stopped;
END { kill 'CONT', keys %stopped }

# Stops a process for good or for a look; false if it was gone before.
sub stop_process
{
	my ($pid) = @_;
	my $state;

	kill 'STOP', $pid or return 0;
	$stopped{$pid} = 1;
	until_true("process $pid has stopped", sub { ($state = state_of($pid)) =~ /^[TZX]?$/ });
	return $state eq 'T';
}

# After the kill the client takes what still comes, the processes that there were
# end, and the server comes back.  What is wrong with the ledger then?
sub aftermath
{
	my ($name, $target, @processes) = @_;

	$client->finish;
	my $answered = $client->{rows};
	$_->drop for $observer, $holder;
	my $killed = time;
	until_true("$name: the old processes are gone", sub { !grep { state_of($_) =~ /[^ZX]/ } @processes });
	$longest = time - $killed if time - $killed > $longest;
	if ($target eq 'postmaster')
	{
		# until somebody collects the dead postmaster, it would count as alive
		until_true("$name: the postmaster is dead", sub { state_of($postmaster) =~ /^[ZX]?$/ });
		unlink $node->data_dir . '/postmaster.pid', sprintf('%s/.s.PGSQL.%d.lock', $node->host, $node->port);
		$node->start;
	}
	reconnect();
	my %now = map { $_->[0] => 1 } @{ $observer->run($log) };

	$outcome{ ($answered ? 'answered' : $now{$op} ? 'debited, not answered' : 'neither') }++;
	return "$name: answered, and no debit" if $answered && !$now{$op};
	return "$name: a debit is gone" if grep { !$now{$_} } keys %debited;
	return "$name: debits of other calls" if grep { $_ ne $op && !$debited{$_} } keys %now;
	return "$name: the log does not add up" unless $observer->value($balances);
	return "$name: a worker is left"
	  if $observer->value(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dpngram release'});
	return "$name: a temporary file is left" if $observer->value('SELECT count(*) FROM pg_ls_tmpdir()');
	%debited = %now;
	return;
}

# One round: a call, a moment, a kill.  moment() returns when it has come, with the
# worker's process, if it waited for that, and the phase, if it knows it.  False, if
# there was no process left to kill.
sub strike
{
	my ($name, $kind, $target, $look, $moment) = @_;
	my @old = children();

	$client->query(call_sql($kind));
	my ($worker, $phase) = $moment->(@old);
	my @processes = (children(), $client->{pid});
	my $victim = $target eq 'postmaster' ? undef : $target eq 'worker' ? $worker : $client->{pid};

	if (($target eq 'worker' && !$worker) || ($victim && !stop_process($victim)))
	{
		kill 'CONT', keys %stopped;
		%stopped = ();
		$client->finish;
		$debited{$op} = 1 if $client->{rows};
		return 0;
	}
	if ($look)
	{
		my %known = map { $_ => 1 } @old;

		stop_process($_) for $client->{pid}, grep { !$known{$_} } children();
		$phase //= phase();
	}
	$victim ? kill('KILL', $victim) : $node->kill9;
	kill 'CONT', keys %stopped;
	push @processes, keys %stopped;
	%stopped = ();
	$hit{$target}{ $phase // 'blind' }++;
	my $problem = aftermath($name, $target, @processes);
	push @wrong, $problem if $problem;
	return 1;
}

# Certain moments, by what makes a call wait there.
sub waits
{
	my ($pid, $event) = @_;
	return sub { $observer->value("SELECT count(*) FROM pg_stat_activity WHERE $pid AND wait_event IN ($event)") };
}

sub worker_waits
{
	my ($event) = @_;

	until_true('the worker waits', waits(q{backend_type = 'dpngram release'}, $event));
	return $observer->value(q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'dpngram release'});
}

my $lock_row = q{BEGIN; SELECT FROM dpngram.dataset WHERE name = 't' FOR UPDATE};
my %certain = (
	before => sub { until_true('the call waits', waits("pid = $client->{pid}", q{'object'})); return },
	worker => sub { return worker_waits(q{'transactionid', 'tuple'}) },
	committed => sub {
		worker_waits(q{'transactionid', 'tuple'});
		stop_process($client->{pid});
		$holder->must('ROLLBACK');
		until_true('the debit', sub { $observer->value("SELECT EXISTS (SELECT FROM ($log) r (op) WHERE op = '$op')") });
		return;
	},
	read => sub { return worker_waits(q{'PgSleep'}) },
	rows => sub {
		until_true('nobody takes the rows', waits("pid = $client->{pid}", q{'ClientWrite'}));
		$client->listen(1);
		die 'no row arrived' unless $client->{rows};
		return;
	});

# For these moments, before the call.
my %prepare = (
	before => q{BEGIN; SELECT dp_grant('t', 'pg_monitor')},
	worker => $lock_row,
	committed => $lock_row);

sub strike_certain
{
	my ($phase, $target) = @_;

	$holder->must($prepare{$phase}) if $prepare{$phase};
	strike("$target, $phase", $phase eq 'rows' ? 'ngrams' : $phase eq 'read' ? 'long' : 'charge',
		$target, 1, sub { my ($worker) = $certain{$phase}->(); return ($worker, $phase) })
	  or die "$target, $phase: nothing to kill";
	return;
}

# The worker of a debit that is on disk and can't say so: it waits for a standby.
sub strike_worker_after_commit
{
	$observer->must(q{ALTER SYSTEM SET synchronous_standby_names = 'nobody'}, 'SELECT pg_reload_conf()');
	until_true('the setting', sub { $holder->value('SHOW synchronous_standby_names') eq 'nobody' });
	strike('worker, committed', 'charge', 'worker', 0, sub {
		my $worker = worker_waits(q{'SyncRep'});

		$client->listen(0.05);
		push @wrong, 'answered before the standby has the debit' if $client->{rows};
		$observer->must('ALTER SYSTEM RESET ALL');
		return ($worker, 'committed');
	}) or die 'worker, committed: nothing to kill';
	push @wrong, 'worker, committed: no debit' unless $debited{$op};
	return;
}

# The course of a call: until its end, and the worker's beginning and life.
my (%course, $life);

sub measure
{
	my ($kind) = @_;
	my (@whole, @lives);

	for (1 .. 15)
	{
		my @old = children();
		my $start = time;

		$client->query(call_sql($kind));
		my $worker = worker_of_call(@old);
		my $born = time;
		while ($worker && state_of($worker) =~ /[^ZX]/)
		{
			$client->listen(0.0002) or pause(0.0002);
		}
		push @lives, time - $born;
		$client->finish;
		push @whole, time - $start;
		$debited{$op} = 1;
	}
	@whole = sort { $a <=> $b } @whole;
	@lives = sort { $a <=> $b } @lives;
	($course{$kind}, $life) = ($whole[7], $lives[7]);
	return;
}

# Uniform over the course of the call, or over the worker's life.
sub strike_random
{
	my ($target, $kind, $look) = @_;
	my $delay = rand() * 1.05 * ($target eq 'worker' ? $life : $course{$kind});

	return strike(sprintf('%s, %s, %.4f s', $target, $kind, $delay), $kind, $target, $look, sub {
		my $worker = $target eq 'worker' ? worker_of_call(@_) : undef;
		my $end = time + $delay;

		while ((my $left = $end - time) > 0)
		{
			$client->listen($left) or pause($left);
		}
		return $worker;
	});
}

reconnect();
measure($_) for qw(charge ngrams);
note(sprintf('course of a charge %.1f ms, of dp_ngrams %.1f ms, life of a worker %.1f ms',
		map { 1000 * $_ } @course{qw(charge ngrams)}, $life));

my $start = time;
my $struck = 0;
my @certain = ((map { [ $_, 'backend' ], [ $_, 'postmaster' ] } sort keys %certain), [ 'worker', 'worker' ], [ 'read', 'worker' ]);
for (1 .. 3)
{
	strike_certain(@$_) for @certain;
	strike_worker_after_commit();
	$struck += @certain + 1;
}
while ($struck < $kills && !@wrong)
{
	$struck++ if strike_random((qw(backend worker postmaster))[ $struck % 3 ], $struck % 2 ? 'ngrams' : 'charge', rand() < 0.5);
}
is_deeply(\@wrong, [], "$struck kills: what was answered has its debit, and the log adds up");
cmp_ok($longest, '<', 5, 'and no process outlived another by 5 seconds');
note(sprintf('%d kills in %.0f s; the last process was gone after at most %.2f s', $struck, time - $start, $longest));
for my $target (qw(backend worker postmaster))
{
	note("kill -9 of the $target: ", join(', ', map { "$_ $hit{$target}{$_}" } sort keys %{ $hit{$target} }));
}
note('calls: ', join(', ', map { "$_ $outcome{$_}" } sort keys %outcome));
for (@certain, [ 'committed', 'worker' ])
{
	my ($phase, $target) = @$_;
	cmp_ok($hit{$target}{$phase} // 0, '>=', 1, "the $target was killed in phase $phase");
}
is($observer->value('SELECT count(*) FROM dpngram.dataset d, dpngram.broken_chain(d.id)'), '0', 'the chain of digests is whole');
$client->query(call_sql('ngrams'));
$client->finish;
cmp_ok($client->{rows}, '>', 0, 'and the ledger goes on');
$node->stop;
done_testing();
