# 020_debit_stands.pl: whatever happens to the caller, the debit of its
# dp_ngrams call stands; and what can't be charged is not read.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = PostgreSQL::Test::Cluster->new('debit');
$node->init(allows_streaming => 1, extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ]);
$node->append_conf('postgresql.conf', "max_worker_processes = 128\nmax_connections = 100\nlog_statement = 'none'\n");
$node->start;

my $call = "dp_ngrams('posts', 'author', 'body', 1, 1e-7, max_length => 2)";
$node->safe_psql('postgres', <<SQL);
CREATE EXTENSION dpngram;
CREATE TABLE posts AS SELECT i AS author, 'good morning ' || i AS body FROM generate_series(1, 2000) i;
CREATE TABLE big AS SELECT i AS author, repeat('some words that take their time ' || i || ' ', 60) AS body
	FROM generate_series(1, 40000) i;
SELECT dp_protect('posts', 'author', 100, 1e-3);
SELECT dp_protect('big', 'author', 100, 1e-3);
CREATE ROLE analyst LOGIN;
SELECT dp_grant(d, 'analyst') FROM unnest('{posts,big}'::text[]) d;
SQL

sub spent
{
	my ($dataset) = @_;
	return $node->safe_psql('postgres',
		"SELECT mu2_spent FROM dpngram.dataset WHERE name = '$dataset'");
}

# Runs a script and checks that it debited the dataset by the price of n calls.
my $price;
sub debits
{
	my ($name, $calls, $script) = @_;
	my $before = spent('posts');
	my ($rc, $out, $err) = $node->psql('postgres', $script, on_error_stop => 0,
		extra_params => [ '-U', 'analyst' ]);
	my $rose = $node->safe_psql('postgres', "SELECT '" . spent('posts') . "'::numeric - '$before'::numeric");
	$price = $rose unless defined $price;
	is($node->safe_psql('postgres', "SELECT ${rose}::numeric = $calls * ${price}::numeric"), 't', $name);
	return ($out, $err);
}

debits('a call debits', 1, "SELECT count(*) FROM $call");
cmp_ok($price, '>', 0, 'and the price is positive');
my ($out) = debits('ROLLBACK', 1, "BEGIN; SELECT string_agg(ngram, ',') FROM $call WHERE n = 2; ROLLBACK;");
like($out, qr/good morning/, 'the answer was seen before the ROLLBACK');
debits('ROLLBACK TO SAVEPOINT', 1,
	"BEGIN; SAVEPOINT s; SELECT count(*) FROM $call; ROLLBACK TO s; COMMIT;");
debits('an exception block', 1,
	"DO \$\$ BEGIN PERFORM $call; RAISE EXCEPTION 'x'; EXCEPTION WHEN OTHERS THEN NULL; END \$\$");
debits('a cursor closed after one row', 1,
	"BEGIN; DECLARE c CURSOR FOR SELECT * FROM $call; FETCH 1 FROM c; CLOSE c; ROLLBACK;");
debits('a cursor that never fetched costs nothing', 0,
	"BEGIN; DECLARE c CURSOR FOR SELECT * FROM $call; CLOSE c; COMMIT;");
debits('EXPLAIN costs nothing', 0, "EXPLAIN SELECT * FROM $call");
debits('PREPARE costs nothing, each EXECUTE its price', 2,
	"PREPARE p AS SELECT count(*) FROM $call; EXECUTE p; EXECUTE p;");
debits('two calls in one query are two debits', 2, "SELECT (SELECT count(*) FROM $call) + (SELECT count(*) FROM $call)");
debits('LIMIT 0 runs nothing, LIMIT 1 all', 1, "SELECT * FROM $call LIMIT 0; SELECT * FROM $call LIMIT 1;");
debits('read only', 0, "BEGIN READ ONLY; SELECT count(*) FROM $call; COMMIT;");
debits('default_transaction_read_only', 0, "SET default_transaction_read_only = on; SELECT count(*) FROM $call;");

# REFRESH MATERIALIZED VIEW, rolled back
$node->safe_psql('postgres', "CREATE MATERIALIZED VIEW mv AS SELECT * FROM $call WITH NO DATA; ALTER MATERIALIZED VIEW mv OWNER TO analyst;"
	. "GRANT CREATE ON SCHEMA public TO analyst");
($out) = debits('REFRESH MATERIALIZED VIEW, rolled back', 1,
	"BEGIN; REFRESH MATERIALIZED VIEW mv; SELECT count(*) > 0 FROM mv; ROLLBACK;");
like($out, qr/^t$/m, 'its rows were seen');
debits('REFRESH ... WITH NO DATA costs nothing', 0, "REFRESH MATERIALIZED VIEW mv WITH NO DATA");
debits('REFRESH MATERIALIZED VIEW', 1, "REFRESH MATERIALIZED VIEW mv");

# a dataset that its own transaction made
my ($rc, $err);
($rc, $out, $err) = $node->psql('postgres', "BEGIN; CREATE TABLE young AS SELECT * FROM posts; SELECT dp_protect('young', 'author', 1, 1e-6);"
	. "SELECT * FROM dp_ngrams('young', 'author', 'body', 1, 1e-7); COMMIT", extra_params => [ '-v', 'VERBOSITY=verbose' ]);
like($err, qr/NG009/, 'a dataset that is not committed yet is refused');
like($err, qr/Commit first/, 'with a hint');

# cancelled and terminated in the middle of the run
sub interrupted
{
	my ($name, $function, $message) = @_;
	my $before = spent('big');
	my ($o, $e) = ('', '');
	my $h = IPC::Run::start([ 'psql', '-XAtq', '-U', 'analyst', '-d', $node->connstr('postgres'), '-c',
		"SELECT * FROM dp_ngrams('big', 'author', 'body', 1, 1e-7, max_contributions => 1000)" ], '>', \$o, '2>', \$e,
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	for (1 .. 1000)
	{
		last if spent('big') ne $before;
		usleep(1000);
	}
	is($node->safe_psql('postgres', "SELECT count($function(pid)) FROM pg_stat_activity WHERE query LIKE '%dp_ngrams(''big''%' AND state = 'active' AND pid <> pg_backend_pid()"),
		'1', "$name: the call was running");
	eval { $h->finish };
	like($e, $message, "$name: the caller is told");
	is($o, '', "$name: no row came back");
	isnt(spent('big'), $before, "$name: the debit stands");
}
interrupted('cancel', 'pg_cancel_backend', qr/canceling statement due to user request/);
interrupted('terminate', 'pg_terminate_backend', qr/connection|terminat/);
ok($node->poll_query_until('postgres',
	"SELECT count(*) >= 1 FROM dpngram.releases WHERE dataset = 'big' AND status = 'failed'"), 'the cancelled release is marked failed');

# statement_timeout in the middle of the run
my $before = spent('big');
($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = '150ms'; SELECT * FROM dp_ngrams('big', 'author', 'body', 1, 1e-7)");
like($err, qr/statement timeout/, 'statement_timeout ends the run');
isnt(spent('big'), $before, 'and the debit stands');

# an immediate stop right after the charge
$before = spent('big');
{
	my ($o, $e) = ('', '');
	my $h = IPC::Run::start([ 'psql', '-XAtq', '-U', 'analyst', '-d', $node->connstr('postgres'), '-c',
		"SELECT * FROM dp_ngrams('big', 'author', 'body', 1, 1e-7, max_contributions => 1000)" ], '>', \$o, '2>', \$e);
	for (1 .. 1000)
	{
		last if spent('big') ne $before;
		usleep(1000);
	}
	my $after = spent('big');
	$node->stop('immediate');
	eval { $h->finish };
	$node->start;
	is($o, '', 'immediate stop: no row came back');
	isnt($after, $before, 'immediate stop: it was charged');
	is(spent('big'), $after, 'immediate stop: the debit stands after recovery');
}

# twenty sessions race for a budget that holds seven calls
$node->safe_psql('postgres', "CREATE TABLE race AS SELECT * FROM posts");
$node->safe_psql('postgres', "SELECT dp_protect('race', 'author', 2.74, 1e-6, delta_share => 0.2); SELECT dp_grant('race', 'analyst');");
my $holds = $node->safe_psql('postgres', "SELECT floor(mu2_cap / $price) FROM dpngram.budget WHERE dataset = 'race' AND grantee IS NULL");
is($holds, '7', 'the budget holds seven calls');
my @racers;
for my $i (1 .. 20)
{
	my %r = (out => '', err => '');
	$r{handle} = IPC::Run::start([ 'psql', '-XAtq', '-U', 'analyst', '-d', $node->connstr('postgres'), '-v', 'VERBOSITY=verbose',
		'-c', "SELECT 'answered' FROM dp_ngrams('race', 'author', 'body', 1, 1e-7, max_length => 2) LIMIT 1" ],
		'>', \$r{out}, '2>', \$r{err});
	push @racers, \%r;
}
eval { $_->{handle}->finish } for @racers;
is(scalar(grep { $_->{out} =~ /answered/ } @racers), 7, 'exactly seven of twenty succeed');
is(scalar(grep { $_->{err} =~ /NG001/ } @racers), 13, 'the others are told that the budget is exhausted');
is($node->safe_psql('postgres', "SELECT count(*) FROM dpngram.releases WHERE dataset = 'race' AND mechanism = 'dp_ngrams'"), '7', 'seven releases are in the log');

# settings that any user may change show nothing of the read
my $oid = $node->safe_psql('postgres', "SELECT 'posts'::regclass::oid");
($rc, $out, $err) = $node->psql('postgres', "SET client_min_messages = debug5; SET trace_sort = on; SET debug_print_plan = on;"
	. "SET debug_print_parse = on; SET debug_print_rewritten = on; SELECT count(*) > 0 FROM $call;", extra_params => [ '-U', 'analyst' ]);
is($out, 't', 'the call answers under debug settings');
unlike($err, qr/relid $oid\b/, 'no plan or parse tree of the read is shown');
unlike($err, qr/good|morning/i, 'nor a word of the data');
my $begun = () = $err =~ /begin tuple sort/g;
my ($rc2, $out2, $err2) = $node->psql('postgres', "SET client_min_messages = debug5; SET trace_sort = on; SELECT * FROM dp_ngrams('posts', 'author', 'none', 1, 1e-7)",
	extra_params => [ '-U', 'analyst' ]);
my $refused = () = $err2 =~ /begin tuple sort/g;
cmp_ok($begun, '<=', $refused + 2, 'no sort of the read is traced');

# no free worker for longer than the timeout: an error, nothing read, nothing charged
$before = spent('posts');
$node->append_conf('postgresql.conf', "max_worker_processes = 0\n");
$node->restart;
($rc, $out, $err) = $node->psql('postgres', "SET dpngram.charge_timeout = 300; SELECT * FROM $call",
	extra_params => [ '-U', 'analyst', '-v', 'VERBOSITY=verbose' ]);
like($err, qr/NG006.*max_worker_processes/s, 'no free worker: refused, with a hint');
is($out, '', 'nothing was read');
is(spent('posts'), $before, 'nothing was charged');
$node->append_conf('postgresql.conf', "max_worker_processes = 128\n");
$node->restart;

# a locked ledger row
my $holder = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c',
	"BEGIN; SELECT name FROM dpngram.dataset WHERE name = 'posts' FOR UPDATE; SELECT pg_sleep(3); ROLLBACK" ], '>', \my $held, '2>', \my $held_err);
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3)%' AND wait_event = 'PgSleep'");
($rc, $out, $err) = $node->psql('postgres', "SET dpngram.charge_timeout = 500; SELECT * FROM $call",
	extra_params => [ '-U', 'analyst', '-v', 'VERBOSITY=verbose' ]);
like($err, qr/NG006/, 'a locked ledger row: refused at the timeout');
is($out, '', 'nothing was read');
$holder->finish;
is(spent('posts'), $before, 'nothing was charged, also after the lock is gone');

# a standby
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1) if $node->safe_psql('postgres', 'SHOW wal_level') ne 'minimal';
SKIP:
{
	skip 'wal_level is minimal', 2 unless -d $standby->data_dir;
	$standby->append_conf('postgresql.conf', "hot_standby = on\n");
	$standby->start;
	($rc, $out, $err) = $standby->psql('postgres', "SELECT * FROM $call", extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	like($err, qr/25006/, 'a standby refuses');
	is($out, '', 'and reads nothing');
	$standby->stop;
}

$node->stop;
done_testing();
