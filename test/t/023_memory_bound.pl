# 023_memory_bound.pl: a corpus, a vocabulary and histograms ten times as large as memory:
# the same rows, memory that doesn't grow with the data, and temporary files that keep to
# their limit and vanish, whatever ends the call.
#
# Needs the module built: make -C test/modules/phase_test.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Spec;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $module = File::Spec->rel2abs(dirname(__FILE__) . '/../modules/phase_test');
my $node = ledger_node('memory_bound', 'hash_mem_multiplier = 1', 'max_parallel_workers_per_gather = 0',
	'autovacuum = off');
my $limit = 2e6;

# Two words of three are of a thousand, the third is nobody else's.  20,000 users make
# 2.4 million tokens, 9.6 MB; 800,000 words, some 30 MB; 800,000 pairs of words, some 30 MB.
$node->safe_psql('postgres', q{
	CREATE EXTENSION dpngram;
	CREATE FUNCTION texts(users int) RETURNS TABLE (who int, what text) LANGUAGE sql AS $$
		SELECT i, (SELECT string_agg(CASE j % 3 WHEN 2 THEN 'rare' || i * 40 + j / 3
				ELSE 'w' || (hashint4(i * 128 + j) & 1023) END, ' ') FROM generate_series(1, 120) j)
		FROM generate_series(1, users) i $$;
	CREATE TABLE once AS SELECT * FROM texts(20000);
	CREATE TABLE twice AS SELECT * FROM texts(40000);
	VACUUM ANALYZE once;
	VACUUM ANALYZE twice;
	SELECT dp_protect('once', 'who', 1000, 1e-2), dp_protect('twice', 'who', 1000, 1e-2);});

# dp_ngrams in the library that watches memory, whose session can't have the extension's
{
	local $ENV{PHASE_TEST_MODULE} = "$module/phase_test";
	$node->run_log([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', "$module/sql/setup.sql" ])
	  or BAIL_OUT('the module phase_test is not built');
}

sub files_left
{
	return $node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()');
}

sub call_text
{
	my ($function, $table, $method) = @_;
	return "$function('$table', 'who', 'what', 4, 1e-6, max_length => 3, method => '$method')";
}

# A call's rows, as a sum, and by how many bytes its memory contexts grew at their peak.
sub watched
{
	my ($work_mem, $table, $method) = @_;
	my $call = call_text('phase.dp_ngrams', $table, $method);

	return split(/\|/, $node->safe_psql('postgres', qq{
		SET client_min_messages = error;
		LOAD '$module/phase_test';
		SET dpngram.test_seed = 3;
		SET dpngram.max_parallel_workers = 0;
		SET work_mem = '$work_mem';
		SELECT phase.start(false) AS ignored \\gset
		SELECT count(*) || ' ' || md5(string_agg(r::text, ',')) AS rows FROM $call r \\gset
		SELECT phase.stop() AS ignored \\gset
		SELECT :'rows', contexts - contexts_before, samples FROM phase.memory();}));
}

foreach my $method (qw(dpne dpne-mr))
{
	my ($rows, $bytes, $samples) = watched('2MB', 'once', $method);
	my ($rows_free, $bytes_free) = watched('1GB', 'once', $method);
	my ($rows_twice, $bytes_twice) = watched('2MB', 'twice', $method);

	like($rows, qr/^[1-9]\d\d+ /, "$method: a call with many n-grams");
	is($rows, $rows_free, "$method: the same rows within 2 MB as without a limit");
  SKIP:
	{
		skip 'no samples before PostgreSQL 15', 3 if $samples < 5;
		cmp_ok($bytes_free, '>', 10 * $limit, "$method: without a limit, ten times as much memory and more");
		# buffers of files, and what is released, are beside the limit
		cmp_ok($bytes, '<', 2 * $limit + 8e6, "$method: within 2 MB, twice that and some buffers at most");
		cmp_ok($bytes_twice, '<', 1.25 * $bytes, "$method: of twice the data hardly more");
	}
	note "$method: $bytes bytes within 2 MB ($rows), $bytes_twice of twice the data ($rows_twice), $bytes_free without a limit";
}
is(files_left(), 0, 'no temporary file is left');

# Files that may not grow further, a cancel: each by one process and by two.  What any
# role may read of temporary files says nothing of them.
my $told_of_files = $node->safe_psql('postgres', 'SELECT sum(temp_bytes) FROM pg_stat_database');
foreach my $workers (0, 1)
{
	my $call = call_text('dp_ngrams', 'twice', 'dpne');
	my $settings = "SET client_min_messages = error; SET work_mem = '2MB'; SET dpngram.max_parallel_workers = $workers;";
	my $start = -s $node->logfile;
	$node->safe_psql('postgres', q{ALTER DATABASE postgres SET temp_file_limit = '5MB'});
	my ($rc, $out, $err) = $node->psql('postgres', "$settings SELECT count(*) FROM $call");
	$node->safe_psql('postgres', q{ALTER DATABASE postgres RESET temp_file_limit});

	isnt($rc, 0, "$workers workers: a call fails that would write more than temp_file_limit");
	like($err, qr/the relation could not be read/, "$workers workers: and tells no more");
	like(substr(slurp_file($node->logfile), $start), qr/failed with SQLSTATE 53400/,
		"$workers workers: because of its files");
	is(files_left(), 0, "$workers workers: which are gone");

	($rc, $out, $err) =
		$node->psql('postgres', "$settings SET statement_timeout = '700ms'; SELECT count(*) FROM $call");
	like($err, qr/canceling statement due to statement timeout/, "$workers workers: a call is cancelled");
	ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_ls_tmpdir()'), "$workers workers: and its files go");
}
is($node->safe_psql('postgres', 'SELECT sum(temp_bytes) FROM pg_stat_database'), $told_of_files,
	'no temporary file was counted');
$node->stop;
done_testing();
