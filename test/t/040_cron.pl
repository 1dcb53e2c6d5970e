# 040_cron.pl: a materialized view that pg_cron refreshes pays each time, stops with the
# budget, keeps its last contents, and what went wrong can be seen.
#
# Runs the recipe of doc/operations.md.  pg_cron's smallest interval is a minute, so one
# refresh is waited for at the clock; the others are "@reboot" jobs, which pg_cron starts
# when the server does.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use Manual;

my $node = ledger_node('cron');
unless ($node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_cron'}))
{
	# scripts/deps.sh brings it where the server is the distribution's
	my ($bindir) = run_command([ 'pg_config', '--bindir' ]);
	plan skip_all => 'this server has no pg_cron' unless $bindir =~ m{^/usr/lib/postgresql/\d+/bin$};
	fail(q{the distribution's server has pg_cron});
	done_testing();
	exit;
}

sub workers
{
	my ($on) = @_;
	$node->append_conf('postgresql.conf', sprintf("cron.use_background_workers = %s\ncron.host = '%s'\n", $on, $node->host));
	return;
}

$node->append_conf('postgresql.conf', manual_block('cron-settings') . "max_worker_processes = 128\n");
workers('off');
$node->restart;
$node->safe_psql('postgres', $_) for manual_block('setup'), manual_block('cron-superuser'), q{
	INSERT INTO archive.commits SELECT i, 'fix the build of number ' || i FROM generate_series(1, 2000) i;
	CREATE ROLE reader LOGIN;
	GRANT USAGE ON SCHEMA cron TO reader;};

sub as
{
	my ($role, $sql) = @_;
	return $node->safe_psql('postgres', $sql, extra_params => [ '-U', $role ]);
}

sub now_spent
{
	my ($dataset) = @_;
	return $node->safe_psql('postgres',
		"SELECT mu2_spent FROM dpngram.dataset WHERE name = '$dataset' AND ended IS NULL");
}

# Waits for a job's next run to end and returns its status and message; $before is its
# number of ended runs.
sub run_after
{
	my ($job, $before) = @_;
	my $ended = "FROM cron.job_run_details JOIN cron.job j USING (jobid) WHERE jobname = '$job' AND end_time IS NOT NULL";

	$node->poll_query_until('postgres', "SELECT count(*) > $before $ended") or die "job $job did not run";
	return $node->safe_psql('postgres', "SELECT status || '|' || return_message $ended ORDER BY runid DESC LIMIT 1");
}

# The first refresh is the analyst's own.  Of the job's schedule only the day is changed,
# to one that never comes.
my $rows = q{SELECT string_agg(concat_ws(' ', n, ngram, weight), ',' ORDER BY n, ngram) FROM reports.phrases};
as('ana', manual_block('cron-analyst', '0 3 * * *' => '0 3 30 2 *'));
my $price = now_spent('commits');
my $first = as('ana', $rows);
cmp_ok($price, '>', 0, 'the first refresh is paid');
like($first, qr/fix the build/, 'and tells phrases');
is(as('reader', $rows), $first, 'to whoever may read the view');
is($node->safe_psql('postgres', q{SELECT username, active FROM cron.job}), 'ana|t', 'the job is the analyst\'s');
is(as('reader', 'SELECT count(*) FROM cron.job'), '0', 'and nobody else\'s to see');

# the job for another database, which a superuser schedules; pg_cron wants that to exist
$node->safe_psql('postgres', manual_block('cron-elsewhere', q{'phrases'} => q{'elsewhere'}, q{'app'} => q{'postgres'}));
is($node->safe_psql('postgres', q{SELECT username, database FROM cron.job WHERE jobname = 'elsewhere'}),
	'ana|postgres', 'the job for another database is the analyst\'s, too');
as('ana', q{SELECT cron.unschedule('elsewhere')});

# meanwhile: a view over a relation that can't be read
$node->safe_psql('postgres', q{
	CREATE VIEW archive.broken AS SELECT author, (1 / (length(message) - length(message)))::text AS message FROM archive.commits;
	ALTER VIEW archive.broken OWNER TO archive;
	SET ROLE archive;
	SELECT dp_protect('archive.broken', 'author', 8, 1e-6, dataset => 'broken');
	SELECT dp_grant('broken', 'analysts');});
as('ana', q{
	CREATE MATERIALIZED VIEW reports.broken AS
		SELECT * FROM dp_ngrams('archive.broken', 'author', 'message', 0.5, 1e-8) WITH NO DATA;
	SELECT cron.schedule('broken', '@reboot', 'REFRESH MATERIALIZED VIEW reports.broken');});
is(now_spent('broken'), '0', 'a view WITH NO DATA and its job cost nothing');

# With the clock, by a connection.
my $refresh = 'REFRESH MATERIALIZED VIEW CONCURRENTLY reports.phrases';
as('ana', "SELECT cron.schedule('phrases', '* * * * *', '$refresh')");
like(run_after('phrases', 0), qr/^succeeded/, 'pg_cron refreshes the view');
as('ana', "SELECT cron.schedule('phrases', '\@reboot', '$refresh')");
is($node->safe_psql('postgres', "SELECT mu2_spent = 2 * $price FROM dpngram.dataset WHERE name = 'commits'"), 't', 'which pays again');
my $second = as('ana', $rows);
isnt($second, $first, 'for new noise');

# Budget for one more, then none.  By background workers this time.
ledger_functions($node, 'postgres');
$node->safe_psql('postgres', qq{SELECT ledger_charge('archive.commits', ARRAY[mu2_cap - mu2_spent - 1.5 * $price, 0, 0]::float8[])
	FROM dpngram.dataset WHERE name = 'commits'});
my $spent = now_spent('commits');
workers('on');
$node->restart;
like(run_after('phrases', 1), qr/^succeeded/, 'a background worker of pg_cron refreshes the view');
is($node->safe_psql('postgres', "SELECT mu2_spent = $spent + $price FROM dpngram.dataset WHERE name = 'commits'"), 't', 'which pays');
my $last = as('ana', $rows);
isnt($last, $second, 'for new noise');
$spent = now_spent('commits');

$node->restart;
my $message = run_after('phrases', 2);
like($message, qr/^failed\|ERROR: +privacy budget of dataset "commits" is exhausted/, 'at its end pg_cron is told why');
like($message, qr/DETAIL: +The call needs \S+ of lane mu2/, 'with the lane that is short');
is(now_spent('commits'), $spent, 'nothing is paid');
is(as('reader', $rows), $last, 'and the view keeps its last contents');

like(run_after('broken', 1), qr/^failed\|ERROR: +the relation could not be read\nDETAIL: +The release stays charged/,
	'a refresh that could not read fails');
is($node->safe_psql('postgres', q{SELECT count(*) FROM cron.job_run_details WHERE return_message ~ 'divi'}),
	'0', 'for a reason that is not told');
cmp_ok(now_spent('broken'), '>', 0, 'it is paid');
$node->poll_query_until('postgres', q{SELECT count(*) = 2 FROM dpngram.releases WHERE status = 'failed'})
  or die 'the failed releases were not noted';

my %watched;
@watched{qw(runs releases budget)} = split(/^--\n/m, as('ana', join(";\nSELECT '--';\n", split(/;\n/, manual_block('cron-watch')))));
like($watched{runs}, qr/\A[^\n]*\|failed\|ERROR: +privacy budget/, 'the analyst sees the failure first');
is(() = $watched{runs} =~ /\|succeeded\|/g, 2, 'then the refreshes before it');
is(() = $watched{releases} =~ /\|done$/mg, 3, 'three releases that were refreshes');
is(() = $watched{releases} =~ /\|failed$/mg, 2, 'two that failed');
like($watched{budget}, qr/^commits\|[\d.]+\|[\d.e-]+$/m, 'and what is left');
is(as('reader', 'SELECT count(*) FROM cron.job_run_details') . as('reader', 'TABLE dpngram.budget'), '0', 'others see none of it');
is(as('ana', q{SELECT cron.unschedule('phrases')}), 't', 'the analyst ends the job');

# Whom a plain view asks for a grant, and who sees all.
as('ana', 'CREATE VIEW reports.plain AS SELECT * FROM ' . q{dp_ngrams('archive.commits', 'author', 'message', 0.5, 1e-8);
	GRANT SELECT ON reports.plain TO reader});
is(sqlstate($node, 'SET ROLE reader; TABLE reports.plain'), 'NG003', 'a plain view is read by the grant of its reader');
$node->safe_psql('postgres', 'GRANT pg_read_all_stats TO reader');
my $seen = as('reader', manual_block('monitor'));
like($seen, qr/^commits\|\|active\|[\d.e-]+\|[\d.e-]+$/m, 'a member of pg_read_all_stats sees what is left');
is(() = $seen =~ /^\d+\|.*\|broken\|ana\|dp_ngrams\|failed$/mg, 2, 'and what failed');
is(log_balances($node), 't', 'the log adds up to what was spent');
$node->stop;
done_testing();
