# 026_running.pl: a release that is being computed stands in dpngram.running, with the caller's
# process, for those who see it in dpngram.releases, until it is done or cancelled.  Its relation is a
# view that waits.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $node = ledger_node('running');
$node->safe_psql('postgres', q{
	CREATE EXTENSION dpngram;
	CREATE ROLE owner;
	CREATE ROLE ana;
	CREATE ROLE bob;
	CREATE FUNCTION wait(word text) RETURNS text LANGUAGE plpgsql AS
	$$ BEGIN PERFORM pg_advisory_xact_lock_shared(20260501); RETURN word; END $$;
	CREATE TABLE texts AS SELECT 1 AS id, 'word' AS what;
	CREATE VIEW slow AS SELECT id, wait(what) AS what FROM texts;
	ALTER VIEW slow OWNER TO owner;
	ALTER TABLE texts OWNER TO owner;
	SELECT dp_protect('slow', 'id', 20, 1e-3), dp_grant('slow', 'ana'), dp_grant('slow', 'bob');});

my $call = q{SET ROLE ana; SELECT count(*) FROM dp_ngrams('slow', 'id', 'what', 1, 1e-5, max_length => 1, method => 'dpne');};
my $look = q{SELECT r.dataset, r.mechanism, r.caller_role, r.grantee, r.epsilon, r.running_for >= '0',
	r.charged = l.at AND l.status = 'charged',
	(SELECT query LIKE '%dp_ngrams%' FROM pg_stat_activity a WHERE a.pid = r.pid)
	FROM dpngram.running r JOIN dpngram.releases l ON l.id = r.release};
my $seen = 'slow|dp_ngrams|ana|ana|1|t|t|t';

sub wait_for_reading
{
	$node->poll_query_until('postgres',
		q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}) or die 'nothing is read';
	return;
}

my $holder = background($node, q{SELECT pg_advisory_lock(20260501); SELECT pg_sleep(60);});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND granted})
	or die 'nobody holds the lock';
my $job = background($node, $call);
wait_for_reading();
is($node->safe_psql('postgres', $look), $seen, 'a superuser sees it');
is($node->safe_psql('postgres', "SET ROLE owner; $look") =~ s/[tf]$//r, $seen =~ s/t$//r, 'so does the owner');
is($node->safe_psql('postgres', "SET ROLE bob; $look"), '', 'another analyst does not');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted});
is((finish($job))[0], '0', 'it is answered');
is($node->safe_psql('postgres', $look), '', 'and gone');
finish($holder);

$holder = background($node, q{SELECT pg_advisory_lock(20260501); SELECT pg_sleep(60);});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND granted})
	or die 'nobody holds the lock';
$job = background($node, $call);
wait_for_reading();
$node->safe_psql('postgres', 'SELECT pg_cancel_backend(pid) FROM dpngram.running');
like((finish($job))[1], qr/ERROR:  57014/, 'cancelled by the pid that it shows');
is($node->safe_psql('postgres', $look), '', 'it is gone');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'dpngram release'}),
	'and so is its worker');
ok(status_of($node, 'failed'), 'which the log notes');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted});
finish($holder);

$node->stop;
done_testing();
