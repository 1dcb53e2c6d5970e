# 022_memory.pl: what a call needs beyond work_mem goes to temporary files, and the
# answer does not depend on how much that is.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $node = ledger_node('memory', 'log_temp_files = 0', 'hash_mem_multiplier = 1');
$node->safe_psql('postgres', q{
	CREATE EXTENSION dpngram;
	CREATE TABLE t AS SELECT i AS who, (SELECT string_agg('w' || (i * j) % 97, ' ') FROM generate_series(1, 20) j) AS what
		FROM generate_series(1, 20000) i;
	VACUUM ANALYZE t;
	SELECT dp_protect('t', 'who', 100, 1e-3);
	CREATE TABLE wide AS SELECT i AS who, (SELECT string_agg(CASE WHEN j % 2 = 0 THEN 'lengthyword' ELSE 'w' END || (i * j) % 1999, ' ')
		FROM generate_series(1, 20) j) AS what FROM generate_series(1, 20000) i;
	VACUUM ANALYZE wide;
	SELECT dp_protect('wide', 'who', 100, 1e-3);
	CREATE TABLE items AS SELECT i AS who, 'w' || (i * j) % 997 AS what FROM generate_series(1, 20000) i, generate_series(1, 10) j;
	VACUUM ANALYZE items;
	SELECT dp_protect('items', 'who', 100, 1e-3);});

# The rows of a call, and the sizes of the temporary files that it wrote.
sub call
{
	my ($work_mem, $query) = @_;
	my $start = -s $node->logfile;
	my $rows = $node->safe_psql('postgres', qq{
		SET client_min_messages = error;
		SET dpngram.test_seed = 3;
		SET work_mem = '$work_mem';
		SELECT count(*) || ' ' || md5(string_agg(r::text, ',')) FROM $query r;});
	my $log = substr(slurp_file($node->logfile), $start);

	return ($rows, $log =~ /temporary file: path .*, size (\d+)/g);
}

my $ngrams = q{dp_ngrams('t', 'who', 'what', 4, 1e-6, max_length => 3)};
my ($rows_large, @files_large) = call('256MB', $ngrams);
my ($rows_small, @files_small) = call('64kB', $ngrams);
like($rows_large, qr/^[1-9]\d\d+ /, 'a call with many n-grams');
is(scalar(@files_large), 0, 'with memory enough nothing is written');
# 400,000 tokens of 4 bytes
ok((grep { $_ >= 1_600_000 } @files_small), 'with 64 kB the corpus is');
# 20,000 documents of 24 bytes and a user's 8 more, in 32 parts by the users' hashes
cmp_ok(scalar(grep { $_ >= 50_000 && $_ < 150_000 } @files_small), '>=', 32, 'and so were documents, in parts');
# the rows' own tuplestore is one file more
cmp_ok(scalar(grep { $_ < 1_600_000 } @files_small), '>=', 32 + 16, 'and so are histograms, in parts');
is($rows_small, $rows_large, 'and the rows are the same, weights and all');

# more words than find room in 16 kB: the others are known by their keys, wherever they stand
foreach my $method (qw(dpne dpne-mr))
{
	foreach my $pruning (qw(both single))
	{
		my $call = "dp_ngrams('wide', 'who', 'what', 8, 1e-4, max_length => 3, method => '$method', pruning => '$pruning', max_contributions => 20)";

		($rows_large) = call('256MB', $call);
		($rows_small) = call('64kB', $call);
		like($rows_large, qr/^[1-9]\d{3,} /, "$method, $pruning: a call with thousands of n-grams");
		is($rows_small, $rows_large, 'and the rows are the same where few words have ids');
	}
}

# files are the worker's: their sizes go to nobody but the server's log, also of a call that fails
my $start = -s $node->logfile;
$node->safe_psql('postgres', q{ALTER DATABASE postgres SET temp_file_limit = '3MB'});
my ($rc, $out, $err) = $node->psql('postgres', qq{
	SET client_min_messages = log;
	SET work_mem = '64kB';
	SET temp_file_limit = -1;
	SELECT count(*) FROM (SELECT DISTINCT i FROM generate_series(1, 400000) i OFFSET 0) s;
	SELECT count(*) FROM $ngrams;});
$node->safe_psql('postgres', q{ALTER DATABASE postgres RESET temp_file_limit});
my ($before, $after) = split(/could not be read/, $err);
like($before, qr/LOG:  temporary file: .*, size \d{7}/, 'clients may be told the sizes of their files');
ok(defined($after), 'a call that writes too much fails');
unlike($after // '', qr/temporary file/, 'and tells no sizes');
like(substr(slurp_file($node->logfile), $start), qr/failed with SQLSTATE 53400/, 'because of its files');

# set unions: the corpus, the users' lists, and their order where that counts
foreach my $method (qw(cumulative policy_gaussian policy_laplace))
{
	my $union = "dp_set_union('items', 'who', 'what', 4, 1e-6, 9, '$method')";

	($rows_large, @files_large) = call('256MB', $union);
	($rows_small, @files_small) = call('64kB', $union);
	like($rows_large, qr/^[1-9]\d+ /, "$method: values");
	is(scalar(@files_large), 0, "$method: with memory enough nothing is written");
	cmp_ok(scalar(grep { $_ >= 700_000 } @files_small), '>=', $method eq 'cumulative' ? 2 : 3,
		"$method: with 64 kB corpus, lists and the order of users are");
	is($rows_small, $rows_large, "$method: and the rows are the same");
}
$node->stop;
done_testing();
