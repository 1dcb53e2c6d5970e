# Many sessions, few workers, foreign locks: nobody is let through unpaid, nobody
# waits for ever.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use LedgerNode;

my $node = ledger_node('race');
ledger_functions($node, 'postgres');
$node->safe_psql('postgres', q{
	CREATE TABLE t (who int);
	CREATE TABLE u (who int);
	SELECT dp_protect('t', 'who', 0.75, 0);
	SELECT dp_protect('u', 'who', 100, 0);});

# twenty sessions, a budget for seven calls
my @jobs = map { background($node, "SELECT ledger_charge('t', '{0,0.1,0}')") } 1 .. 20;
my %count = (fine => 0, exhausted => 0, other => 0);
for my $job (@jobs)
{
	my ($out, $err) = finish($job);
	my $kind = $out eq '1' && $err eq '' ? 'fine' : $err =~ /NG001/ ? 'exhausted' : 'other';
	diag($err) if $kind eq 'other';
	$count{$kind}++;
}
is_deeply(\%count, { fine => 7, exhausted => 13, other => 0 },
	'of twenty sessions seven got what the budget holds');
is($node->safe_psql('postgres', q{
	SELECT count(*), sum(eps_pure) = (SELECT eps_pure_spent FROM dpngram.dataset WHERE name = 't')
	FROM dpngram.release WHERE mechanism = 'ledger_test'}),
	'7|t', 'seven releases, and they add up');

# a locked ledger row: the call ends at its timeout and nothing is charged
sub locked_row
{
	my ($dataset, $seconds) = @_;
	my $job = background($node, qq{BEGIN; SELECT 1 FROM dpngram.dataset WHERE name = '$dataset' FOR UPDATE;
		SELECT pg_sleep($seconds); ROLLBACK;});

	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
		WHERE wait_event = 'PgSleep'}) or die 'the row was not locked';
	return $job;
}

sub end_sleepers
{
	$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
	return;
}

sub cancel_callers
{
	$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity
		WHERE query LIKE '%ledger_charge%' AND backend_type = 'client backend' AND pid <> pg_backend_pid()});
	return;
}

my $lock = locked_row('u', 60);
my $start = time;
my ($out, $err) = finish(background($node,
		q{SET dpngram.charge_timeout = '1s'; SELECT ledger_charge('u', '{0,1,0}')}));
like($err, qr/NG006: charge could not be committed.*dataset's row/s, 'a locked row: an error that says so');
cmp_ok(time - $start, '<', 20, 'soon after the timeout');

# a worker that is ended while it waits: the caller knows at once, not at the timeout
my $job = background($node, q{SET dpngram.charge_timeout = '100s'; SELECT ledger_charge('u', '{0,1,0}')});
$node->poll_query_until('postgres', q{SELECT count(pg_terminate_backend(pid)) = 1 FROM pg_stat_activity
	WHERE backend_type = 'dpngram release' AND wait_event_type = 'Lock'}) or die 'no worker waits';
($out, $err) = finish($job);
like($err, qr/NG006: .*ended without an answer. Nothing was charged/s, 'a terminated worker is noticed');

# a caller that is cancelled while its worker waits: the worker ends, and nothing is charged
$job = background($node, q{SET dpngram.charge_timeout = '100s'; SELECT ledger_charge('u', '{0,1,0}')});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
	WHERE backend_type = 'dpngram release' AND wait_event_type = 'Lock'}) or die 'no worker waits';
cancel_callers();
($out, $err) = finish($job);
like($err, qr/57014/, 'the caller can be cancelled while it waits');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity
	WHERE backend_type = 'dpngram release'}), 'its worker ends with it, although the row is locked');
end_sleepers();
finish($lock);
is(spent($node, 'u'), '0', 'and nothing is charged');
is(sqlstate($node, "SELECT ledger_charge('u', '{0,1,0}')"), '00000', 'the next call works');

# waiting for an owner's transaction shows in pg_locks
$job = background($node, q{BEGIN; SELECT dp_grant('u', 'pg_monitor'); SELECT pg_sleep(60);});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'})
  or die 'the owner does not sleep';
my $waiter = background($node, q{SET dpngram.charge_timeout = '100s'; SELECT ledger_charge('u', '{0,1,0}')});
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks l
	JOIN dpngram.dataset d ON d.id::text::oid = l.objid
	WHERE l.locktype = 'object' AND l.classid = 'dpngram.dataset'::regclass AND d.name = 'u' AND NOT l.granted}),
	'a call that waits for the owner shows in pg_locks');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dpngram release'}),
	'0', 'and needs no worker to wait');
is(sqlstate($node, q{SET dpngram.charge_timeout = '200ms'; SELECT ledger_charge('u', '{0,1,0}')}),
	'NG006', 'this wait, too, ends at the timeout');
end_sleepers();
finish($job);
($out, $err) = finish($waiter);
is($out, '1', 'the call goes on when the owner has let go');
is(spent($node, 'u'), '2', 'every call that went through was charged once');
is(log_balances($node), 't', 'the log adds up to what was spent');
$node->stop;

# one slot, which the server's own launcher takes
$node->append_conf('postgresql.conf', 'max_worker_processes = 1');
$node->start;
$start = time;
($out, $err) = finish(background($node,
		q{SET dpngram.charge_timeout = '1s'; SELECT ledger_charge('u', '{0,1,0}')}));
like($err, qr/NG006: .*no free background worker.*max_worker_processes/s, 'no free worker: an error that says so');
cmp_ok(time - $start, '>=', 1, 'after trying until the timeout');
cmp_ok(time - $start, '<', 20, 'and not for ever');
is(spent($node, 'u'), '2', 'nothing was charged');
$node->stop;

# one slot for calls: a call waits for the one that another dataset's call has, and others in turn
$node->append_conf('postgresql.conf', "max_worker_processes = 8\ndpngram.max_calls = 1");
$node->start;
$node->safe_psql('postgres', q{CREATE TABLE v (who int); SELECT dp_protect('v', 'who', 100, 0);
	CREATE TABLE answered (number int, at timestamptz DEFAULT clock_timestamp())});
$lock = locked_row('u', 60);
$job = background($node, q{SET dpngram.charge_timeout = '100s'; SELECT ledger_charge('u', '{0,1,0}')});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
	WHERE backend_type = 'dpngram release' AND wait_event_type = 'Lock'}) or die 'no worker waits';
($out, $err) = finish(background($node, q{SET dpngram.charge_timeout = '300ms'; SELECT ledger_charge('v', '{0,1,0}')}));
like($err, qr/NG006: .*all of the 1 slots.*dpngram.max_calls/s, 'the only slot is taken: an error that says which setting');
my @waiters;
for my $n (1 .. 6)
{
	push @waiters, background($node, qq{SET dpngram.charge_timeout = '100s'; SELECT ledger_charge('v', '{0,1,0}');
		INSERT INTO answered VALUES ($n)});
	$node->poll_query_until('postgres', qq{SELECT count(*) = $n FROM pg_stat_activity
		WHERE query LIKE '%''v''%' AND pid <> pg_backend_pid() AND state = 'active'
		  AND (wait_event_type = 'Lock' OR wait_event = 'Extension')}) or die 'a call does not wait';
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dpngram release'}),
	'1', 'those who wait have no worker');
end_sleepers();
finish($lock);
is((finish($job))[0], '1', 'the call that had the slot is done');
is(join(' ', map { (finish($_))[0] } @waiters), '1 1 1 1 1 1', 'those that waited for it got it');
is($node->safe_psql('postgres', q{SELECT string_agg(number::text, ' ' ORDER BY at) FROM answered}), '1 2 3 4 5 6',
	'in the order in which they had asked');
is(spent($node, 'v'), '6', 'all are charged');
$node->stop;
done_testing();
