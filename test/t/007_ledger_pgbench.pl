# 64 clients of pgbench and a budget that runs out in the middle: exactly as many calls
# are answered as the budget holds, with one dataset and with 64; no deadlock, no worker,
# no shared memory and no lock is left behind.
#
# The server has 16 slots for background workers, far fewer than there are clients, and
# far fewer than charges: a slot that was not given back would soon be missed.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerModel qw(units);
use LedgerNode;

my ($clients, $seconds) = (64, 5);

# shared memory segments are files, so that they can be counted
my $node = ledger_node('pgbench', 'max_worker_processes = 16', 'dynamic_shared_memory_type = mmap', 'log_statement = none');
ledger_functions($node, 'postgres');

# Prices 0.01 and 0.3 are a little more than 1/100 and a little less than 3/10 as binary
# fractions, so the budgets hold 49 and, to the last digit, 7.
$node->safe_psql('postgres', qq{
	ALTER DATABASE postgres SET dpngram.charge_timeout = '100s';
	CREATE TABLE answered (dataset text);
	CREATE FUNCTION refused(relation regclass, price float8) RETURNS boolean LANGUAGE plpgsql
	AS \$\$ BEGIN
		PERFORM ledger_charge(relation, ARRAY[0, price, 0]);
		RETURN false;
	EXCEPTION WHEN SQLSTATE 'NG001' THEN
		RETURN true;
	END \$\$;
	CREATE TABLE one (who int);
	SELECT dp_protect('one', 'who', 0.5, 0);
	DO \$\$ BEGIN
		FOR i IN 1 .. $clients LOOP
			EXECUTE format('CREATE TABLE many%s (who int)', i);
			PERFORM dp_protect(format('many%s', i)::regclass, 'who', 2.1, 0);
		END LOOP;
	END \$\$;});

sub holds
{
	my ($cap, $price) = @_;

	return (units($cap) / units($price))->numify;
}

sub segments
{
	return scalar(my @files = glob($node->data_dir . '/pg_dynshmem/*'));
}

# Runs a script for the time; its transactions are the calls, whose answers are rows.
sub pgbench
{
	my ($name, $script) = @_;
	my $file = "$PostgreSQL::Test::Utils::tmp_check/$name.sql";
	my ($out, $err) = ('', '');

	append_to_file($file, $script);
	ok(IPC::Run::run([ 'pgbench', '--no-vacuum', "--client=$clients", '--jobs=2', "--time=$seconds", "--file=$file",
			'-d', $node->connstr('postgres') ], '<', '/dev/null', '>', \$out, '2>', \$err,
			IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default)), "$name: no client fails")
	  or diag($err);
	return $out =~ /actually processed: (\d+)/ ? $1 : 0;
}

sub answered
{
	return $node->safe_psql('postgres', "SELECT count(*) FROM answered WHERE $_[0]");
}

my $segments = segments();
my $held = holds(0.5, 0.01);
my $calls = pgbench('one', q{INSERT INTO answered SELECT 'one' WHERE NOT refused('one', 0.01)});
is($held, 49, 'what the budget holds');
cmp_ok($calls, '>', $held, "one dataset: $calls calls, so it ran out");
is(answered(q{dataset = 'one'}), $held, 'and exactly what it holds was answered');

$held = holds(2.1, 0.3);
$calls = pgbench('many', qq{\\set d random(1, $clients)\n}
	. q{INSERT INTO answered SELECT 'many:d' WHERE NOT refused('many:d', 0.3)});
is($held, 7, 'what each of the budgets holds');
cmp_ok($calls, '>', 0, "$clients datasets: $calls calls");
is(answered(q{dataset LIKE 'many%'} . " GROUP BY dataset HAVING count(*) > $held"), '', 'none gave more than it holds');

# those that time did not exhaust are now, one call at a time
$node->safe_psql('postgres', qq{DO \$\$ BEGIN
	FOR d IN 1 .. $clients LOOP
		WHILE NOT refused(('many' || d)::regclass, 0.3) LOOP
			INSERT INTO answered VALUES ('many' || d);
		END LOOP;
	END LOOP;
	END \$\$});
is($node->safe_psql('postgres', q{SELECT count(*), min(n), max(n) FROM (SELECT count(*) AS n FROM answered
	WHERE dataset LIKE 'many%' GROUP BY dataset) s}), "$clients|$held|$held", 'and each gave all of it');

is($node->safe_psql('postgres', q{SELECT count(*) FROM dpngram.dataset WHERE eps_pure_spent > eps_pure_cap}), '0',
	'no budget is overdrawn');
is(log_balances($node), 't', 'the log adds up to what was spent');
is($node->safe_psql('postgres', q{SELECT count(*) FROM dpngram.dataset d, dpngram.broken_chain(d.id)}), '0',
	'the chain of digests is whole');
is($node->safe_psql('postgres', q{SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()}), '0',
	'no deadlock');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'dpngram%'}),
	'no worker is left');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_locks WHERE locktype = 'object'
	AND classid = 'dpngram.dataset'::regclass}), '0', 'no lock of a dataset');
is(segments(), $segments, 'no segment of shared memory');
$node->stop;
done_testing();
