# 086_lying_server.pl: a server that counts what is no n-gram at all.  It may spoil the rows
# of a relation that is its own, but nothing else: the call fails, the session goes on.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $here = ledger_node('coordinator');
my $there = ledger_node('there');
my ($host, $port) = ($there->host, $there->port);

# The honest functions under another name, and one that adds to what they say, from level
# "from_level" on, what is in the table of lies: how far the next key is, and its weight.
$there->safe_psql('postgres', q{
	CREATE EXTENSION dpngram;
	ALTER AGGREGATE dpngram.exact_counts(bytea, "any", "any") RENAME TO honest_counts;
	CREATE TABLE texts (who int, what text);
	CREATE TABLE lie (from_level int, added bytea);
	INSERT INTO texts SELECT i, 'one two three four' FROM generate_series(1, 300) i;
	CREATE FUNCTION keep_spec(state bytea, spec bytea, int, text) RETURNS bytea LANGUAGE sql AS 'SELECT spec';
	CREATE FUNCTION lie(spec bytea) RETURNS bytea LANGUAGE plpgsql AS $$
	DECLARE
		counts bytea;
	BEGIN
		EXECUTE format('SELECT dpngram.honest_counts(%L::bytea, who, what) FROM public.texts', spec) INTO counts;
		RETURN counts || coalesce((SELECT added FROM public.lie WHERE from_level <= get_byte(counts, 0)), '');
	END $$;
	CREATE AGGREGATE dpngram.exact_counts(bytea, int, text) (SFUNC = keep_spec, STYPE = bytea, FINALFUNC = lie);});
$here->safe_psql('postgres', qq{
	CREATE EXTENSION dpngram;
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER liar FOREIGN DATA WRAPPER postgres_fdw
		OPTIONS (host '$host', port '$port', dbname 'postgres', extensions 'dpngram');
	CREATE USER MAPPING FOR CURRENT_USER SERVER liar;
	CREATE FOREIGN TABLE texts (who int, what text) SERVER liar;
	SELECT dp_protect('texts', 'who', 10000, 1e-2, options => '{"min_epsilon": 0}');});

# The rows of a call, or its error, and whether the same session goes on.
sub call
{
	my ($arguments, $added) = @_;

	$there->safe_psql('postgres', "TRUNCATE lie" . ($added ? "; INSERT INTO lie VALUES ($added)" : ''));
	my ($status, $out, $err) = $here->psql('postgres', qq{
		SELECT string_agg(ngram, ',' ORDER BY ngram) FROM dp_ngrams('texts', 'who', 'what', 4, 1e-6, max_length => 4, $arguments,
			options => '{"execution": "pushdown"}');
		SELECT 'and on it goes';}, on_error_stop => 0);

	return "$out\n$err";
}

# A varint of a number, and pairs of numbers as keys, as a difference from the key before.
sub varint
{
	my ($value) = @_;
	my $bytes = '';

	for (; $value >= 0x80; $value >>= 7)
	{
		$bytes .= sprintf '%02x', $value & 0x7f | 0x80;
	}
	return $bytes . sprintf '%02x', $value;
}

my $heavy = varint(1 << 40);
my %lies = (
	'a word beyond the prime' => "1, '\\x" . varint(1 << 62) . '00' x 8 . "$heavy'",
	'a number that no word has' => "2, '\\x" . varint(1 << 40) . "$heavy'",
	'the largest numbers' => "2, '\\x" . varint((1 << 63) - 1) . "$heavy'",
	'two n-grams that do not overlap' => "3, '\\x01$heavy'");
foreach my $arguments (map { my $method = $_; map { "method => '$method', pruning => '$_'" } qw(both single) } qw(dpne dpne-mr))
{
	like(call($arguments), qr/one two three four.*and on it goes/s, "$arguments: without a lie there are n-grams");
	foreach my $lie (sort keys %lies)
	{
		next if $lie =~ /overlap/ && $arguments =~ /single/; # which asks for no more than a word
		like(call($arguments, $lies{$lie}), qr/^and on it goes\n.*NG008|NG008|the relation could not be read/s, "$arguments: $lie");
		like($here->safe_psql('postgres', 'SELECT 1'), qr/1/, 'the server stands');
	}
}
unlike(slurp_file($here->logfile), qr/signal 11|was terminated/, 'no process has crashed');
done_testing();
