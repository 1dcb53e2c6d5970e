# 034_lock_table.pl: every role can fill the server's table of locks.  A read that began before takes no
# lock whose want depends on a person's value, so its failure tells nothing: not the lock of the
# relation that has a long text, and not one of a partition, of which there are more than a process
# can lock without the table.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $node = ledger_node('lock_table', 'max_connections = 12', 'max_wal_senders = 0', 'max_worker_processes = 4', 'max_locks_per_transaction = 64');
my $partitions = join("\n", map {
	my $t = $_;
	map { sprintf('CREATE TABLE %s_%d PARTITION OF %s FOR VALUES FROM (%d) TO (%d);', $t, $_, $t, 10 * $_, 10 * $_ + 10) } 0 .. 19
} 'without', 'with');
$node->safe_psql('postgres', qq{
	CREATE EXTENSION dpngram;
	CREATE ROLE ana;
	CREATE FUNCTION wait(word text) RETURNS text LANGUAGE plpgsql AS
	\$\$ BEGIN PERFORM pg_advisory_xact_lock_shared(34); RETURN word; END \$\$;
	CREATE TABLE without (who int, what text) PARTITION BY RANGE (who);
	CREATE TABLE "with" (LIKE without) PARTITION BY RANGE (who);
	} . $partitions =~ s/\bwith_(\d+) PARTITION OF with\b/with_$1 PARTITION OF "with"/gr . q{
	INSERT INTO without SELECT i, 'good morning' FROM generate_series(0, 198) i;
	INSERT INTO "with" TABLE without;
	INSERT INTO "with" SELECT 199, string_agg(md5(i::text), ' ') FROM generate_series(1, 400) i;
	CREATE VIEW without_slow AS SELECT who, wait(what) AS what FROM without;
	CREATE VIEW with_slow AS SELECT who, wait(what) AS what FROM "with";
	SELECT dp_protect('without_slow', 'who', 10, 1e-3), dp_grant('without_slow', 'ana');
	SELECT dp_protect('with_slow', 'who', 10, 1e-3), dp_grant('with_slow', 'ana');});
is($node->safe_psql('postgres', q{SELECT sum(pg_relation_size(reltoastrelid)) > 0 FROM pg_class WHERE relname = 'with_19'}),
	't', 'there is a long text');

foreach my $relation ('without_slow', 'with_slow')
{
	my $holder = background($node, q{SELECT pg_advisory_lock(34); SELECT pg_sleep(60);});
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND granted}) or die 'no holder';
	my $call = background($node, qq{SET ROLE ana; SET dpngram.max_parallel_workers = 0;
		SELECT count(*) >= 0 FROM dp_ngrams('$relation', 'who', 'what', 1, 1e-7, max_length => 1)});
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}) or die 'nothing is read';

	my $pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted});
	my ($rc, $out, $err) = $node->psql('postgres', qq{
		SET ROLE ana;
		DO \$\$ BEGIN
			FOR i IN 1000 .. 1000000 LOOP PERFORM pg_advisory_lock(i); END LOOP;
		EXCEPTION WHEN out_of_memory THEN NULL;
		END \$\$;
		SELECT count(*) > 500 FROM (SELECT pg_advisory_lock(i) FROM generate_series(1000, 1000000) i) s;
		RESET ROLE;
		SELECT pg_terminate_backend($pid);
		SELECT pg_sleep(2);}, on_error_stop => 0);
	like($err, qr/out of shared memory/, "$relation: the table of locks is full");
	($out, $err) = finish($call);
	is("$out$err", 't', "$relation: the call is answered");
	finish($holder);
}
$node->stop;
done_testing();
