# 032_watching.pl: what of a read can be watched from outside of it, as doc/privacy.md tells it
# ("What else can be watched"): these are the open channels, each shown for what it tells.  And a
# lock that a session can't keep.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $node = ledger_node('watching', 'autovacuum = off', 'max_prepared_transactions = 5', 'hash_mem_multiplier = 1');
$node->safe_psql('postgres', q{
	CREATE EXTENSION dpngram;
	CREATE ROLE ana LOGIN;
	CREATE TABLE said AS SELECT i AS who, CASE WHEN i % 2 = 0 THEN 'flu' ELSE 'cold' END AS what FROM generate_series(1, 300) i;
	-- a public list, a page for each word
	CREATE TABLE codes (word text PRIMARY KEY, label text, filler text);
	ALTER TABLE codes ALTER filler SET STORAGE PLAIN;
	INSERT INTO codes SELECT w, 'label of ' || w, repeat('x', 7000) FROM unnest('{flu,cold,hiv,measles}'::text[]) w;
	GRANT SELECT ON codes TO ana;
	CREATE FUNCTION label(t text) RETURNS text LANGUAGE plpgsql STABLE SET search_path = public SET enable_seqscan = off SET enable_bitmapscan = off AS
	$$ BEGIN RETURN (SELECT label FROM codes WHERE word = t); END $$;
	CREATE VIEW labelled AS SELECT who, label(what) AS what FROM said;
	CREATE SEQUENCE calls;
	GRANT SELECT ON calls TO ana;
	CREATE TABLE texts AS SELECT i AS who, (SELECT string_agg('w' || (i * j) % 97, ' ') FROM generate_series(1, 20) j) AS what
		FROM generate_series(1, 5000) i;
	CREATE TABLE asides (x int);
	CREATE FUNCTION wait(who int, t text) RETURNS text LANGUAGE plpgsql SET search_path = public AS $$
	BEGIN
		IF who = 4900 THEN PERFORM nextval('calls'), (SELECT count(*) FROM asides), pg_advisory_xact_lock_shared(77); END IF;
		RETURN t;
	END $$;
	CREATE VIEW waiting AS SELECT who, wait(who, what) AS what FROM texts;
	VACUUM ANALYZE;
	SELECT dp_protect('labelled', 'who', 100, 1e-3), dp_protect('waiting', 'who', 100, 1e-3), dp_protect('said', 'who', 100, 1e-3);
	SELECT dp_grant('labelled', 'ana'), dp_grant('waiting', 'ana'), dp_grant('said', 'ana');});

# ------------------------------------------------------------------------
# the buffer cache
# ------------------------------------------------------------------------

# Is the page of a word in memory after a call?
sub page_of
{
	my ($word) = @_;
	my $plan = $node->safe_psql('postgres', q{SET ROLE ana; SET enable_seqscan = off;
		EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT label FROM codes WHERE ctid = } .
		{ flu => q{'(0,1)'}, cold => q{'(1,1)'}, hiv => q{'(2,1)'}, measles => q{'(3,1)'} }->{$word});

	return $plan =~ /Tid Scan.*\n.*\n\s+Buffers: shared (hit|read)=1/ ? $1 : $plan;
}

foreach my $person (0, 1)
{
	$node->safe_psql('postgres', q{INSERT INTO said VALUES (777, 'hiv')}) if $person;
	$node->restart;
	$node->safe_psql('postgres', q{SET ROLE ana; SELECT count(*) FROM dp_ngrams('labelled', 'who', 'what', 0.1, 1e-9, max_length => 1)});
	is(page_of('flu'), 'hit', 'a page that the read looked up is in memory');
	is(page_of('measles'), 'read', 'one that it did not is not');
	is(page_of('hiv'), $person ? 'hit' : 'read', 'a single person decides: as privacy.md tells');
}

# ------------------------------------------------------------------------
# while it runs
# ------------------------------------------------------------------------

my $base = $node->safe_psql('postgres', q{SET ROLE ana; SELECT pg_tablespace_size('pg_default')});
my $holder = background($node, q{SELECT pg_advisory_lock(77); SELECT pg_sleep(60);});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND granted}) or die 'no lock';
my $job = background($node, q{SET ROLE ana; SET work_mem = '64kB'; SET dpngram.max_parallel_workers = 0;
	SELECT count(*) FROM dp_ngrams('waiting', 'who', 'what', 1, 1e-7, max_length => 2)});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}) or die 'nothing is read';
my $others = q{FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relname IN ('texts', 'asides', 'waiting')
	AND l.mode = 'AccessShareLock' AND l.pid <> pg_backend_pid()};
is($node->safe_psql('postgres', "SET ROLE ana; SELECT string_agg(DISTINCT relname, ' ' ORDER BY relname) $others"), 'asides texts waiting',
	'any role sees which relations are read, also for a single row');
my ($pid) = $node->safe_psql('postgres', "SELECT DISTINCT pid $others");
is($node->safe_psql('postgres', "SET ROLE ana; SELECT query, usename, application_name, wait_event FROM pg_stat_activity WHERE pid = $pid"),
	'<insufficient privilege>|postgres||', 'but not by whose call, nor what it does');
is($node->safe_psql('postgres', "SELECT coalesce(query, '') FROM pg_stat_activity WHERE pid = $pid"), '', 'a superuser sees no query, either');
my $files = $node->safe_psql('postgres', 'SELECT sum(size) FROM pg_ls_tmpdir()');
cmp_ok($files, '>', 100_000, 'there are temporary files');
# other files of the tablespace grow, too, by whole pages, and a folder has a size
my $seen = $node->safe_psql('postgres', q{SET ROLE ana; SELECT pg_tablespace_size('pg_default')}) - $base;
is(($seen - $files) % 4096, 0, 'any role sees their exact bytes');
is($node->safe_psql('postgres', 'SELECT sum(temp_bytes) FROM pg_stat_database'), '0', 'which no statistics tell');
is($node->safe_psql('postgres', q{SET ROLE ana; SELECT last_value, is_called FROM calls}), '1|t', 'a sequence shows that it was advanced');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted});
finish($holder);
like((finish($job))[0], qr/^\d+$/, 'the call is answered');
is($node->safe_psql('postgres', "SELECT count(*) $others"), '0', 'no lock is left');
is($node->safe_psql('postgres', q{SET ROLE ana; SELECT last_value, is_called FROM calls}), '1|t', 'no rollback takes back what a sequence shows');

# ------------------------------------------------------------------------
# numbers of transactions
# ------------------------------------------------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE noted (what text);
	CREATE FUNCTION note(t text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
		IF t LIKE 'noted%' THEN
			BEGIN INSERT INTO public.noted VALUES (t); EXCEPTION WHEN OTHERS THEN NULL; END;
		END IF;
		RETURN t;
	END $$;
	CREATE TABLE plain AS SELECT i AS who, 'plain' AS what FROM generate_series(1, 50) i;
	CREATE TABLE marked AS SELECT i AS who, CASE WHEN i > 7 THEN 'plain' ELSE 'noted' END AS what FROM generate_series(1, 50) i;
	CREATE VIEW plain_noted AS SELECT who, note(what) AS what FROM plain;
	CREATE VIEW marked_noted AS SELECT who, note(what) AS what FROM marked;
	SELECT dp_protect('plain_noted', 'who', 100, 1e-3), dp_protect('marked_noted', 'who', 100, 1e-3),
		dp_grant('plain_noted', 'ana'), dp_grant('marked_noted', 'ana');});

sub numbers_of # RELATION: how many numbers of transactions a call takes
{
	my $out = $node->safe_psql('postgres', qq{SET ROLE ana; SET dpngram.max_parallel_workers = 0;
		SELECT pg_snapshot_xmax(pg_current_snapshot());
		SELECT count(*) >= 0 FROM dp_ngrams('$_[0]', 'who', 'what', 1, 1e-7, max_length => 1);
		SELECT pg_snapshot_xmax(pg_current_snapshot());});
	my ($before, $after) = $out =~ /^(\d+)$/mg;

	return $after - $before;
}

cmp_ok(numbers_of('marked_noted') - numbers_of('plain_noted'), '>=', 7, 'numbers of transactions tell how often a function wrote: as privacy.md tells');
is($node->safe_psql('postgres', 'SELECT count(*) FROM noted'), '0', 'though nothing is left of it');

# ------------------------------------------------------------------------
# a lock without a session
# ------------------------------------------------------------------------

$node->safe_psql('postgres', q{SET ROLE ana; BEGIN; SELECT count(*) FROM dp_ngrams('said', 'who', 'what', 1, 1e-7, max_length => 1);
	PREPARE TRANSACTION 'kept'});
is(sqlstate($node, q{SET lock_timeout = '2s'; ALTER TABLE said ADD COLUMN extra int}), '00000',
	'a prepared transaction holds no lock on the relation');
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'kept'});

# a session that is ended while it waits hears of it
$holder = background($node, q{SELECT pg_advisory_lock(77); SELECT pg_sleep(60);});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND granted}) or die 'no lock';
$job = background($node, q{SELECT count(*) FROM dp_ngrams('waiting', 'who', 'what', 1, 1e-7, max_length => 1)});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}) or die 'nothing is read';
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM dpngram.running});
like((finish($job))[1], qr/FATAL:  57P01: terminating connection due to administrator command/, 'a terminated session is told so');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'dpngram release'}),
	'and its worker ends with it');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted});
finish($holder);

$node->stop;
done_testing();
