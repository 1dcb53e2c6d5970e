# 071_local.pl: the statements of doc/local.md do what the page says, and a term that went
# through ldp_encode is nowhere in the server's files.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Digest::SHA qw(sha256_hex);
use File::Find;
use Test::More;
use LedgerNode;
use Manual;

my $page = 'local.md';
my $node = ledger_node('local');

sub query
{
	return $node->safe_psql('postgres', $_[0]);
}

sub block
{
	return query(manual_block_of($page, @_));
}

# Clients' words: four frequent ones, and one that stands nowhere else, neither whole nor
# in parts, and is looked for in the server's files.
my @words = ('hello', 'there', 'you', 'two');
my $marker = 'zqxjkvwq';
my $clients = 6000;

sub word
{
	my $i = shift;
	return $marker if $i % 1000 == 999;
	return $words[ $i % 10 < 4 ? 0 : $i % 10 < 7 ? 1 : $i % 10 < 9 ? 2 : 3 ];
}

sub write_file
{
	my ($name, $line) = @_;
	my $path = PostgreSQL::Test::Utils::tempdir() . "/$name";

	open(my $file, '>', $path) or die "$path: $!";
	print $file $line->($_), "\n" for 1 .. $clients;
	close($file);
	return $path;
}

# How far a row's estimate is from the truth, in its standard deviations; the terms found.
sub errors
{
	my %truth = (hello => 0.4, there => 0.3, you => 0.2, two => 0.1);
	my @errors;

	for my $row (map { [ split /\|/ ] } split /\n/, $_[0])
	{
		my ($term, $frequency, $stddev) = @$row;
		push @errors, [ $term, abs($frequency - ($truth{$term} // 0) * $clients) / $stddev ];
	}
	return @errors;
}

sub ok_result
{
	my ($result, $name) = @_;
	my @errors = errors($result);
	my %found = map { $_->[0] => $_->[1] } @errors;
	my @missing = grep { !exists $found{$_} } @words;

	is("@missing", '', "$name: all frequent terms are found");
	# 6 standard deviations, and the samples' own: rows come from all clients, not a sample
	ok(!(grep { $found{$_} > 6 } @words), "$name: estimates are near the truth");
	like($result, qr/^hello\|/, "$name: the most frequent comes first");
}

query('CREATE EXTENSION dpngram');

# ---- from clients, who come first: then nothing else has the marker ----

block('begin');
block('inbox');
my $file = write_file('words.txt', \&word);
query("\\copy inbox FROM '$file'");
is(query('SELECT count(*) FROM reports'), $clients, 'each client has reported');
is(query(q{SELECT count(*) FROM reports WHERE NOT report ?& '{round,place,seed,value}'}), 0, 'reports have what they need');
ok_result(block('decode'), 'pem from reports');

for my $method ('treehist', 'rappor')
{
	query("UPDATE collection SET round = ldp_round('$method', 4, k => 10, max_length => 6); TRUNCATE reports");
	$node->safe_psql('postgres',
		manual_block_of($page, 'inbox', "'pem'" => "'$method'", 'CREATE VIEW' => 'CREATE OR REPLACE VIEW',
			'CREATE FUNCTION' => 'CREATE OR REPLACE FUNCTION', 'CREATE TRIGGER' => 'CREATE OR REPLACE TRIGGER'));
	query("\\copy inbox FROM '$file'");
	like(block('decode'), qr/^hello\|/, "$method from reports: the most frequent comes first");
}

# ---- privtrie ----

block('privtrie', 'k => 10' => q(k => 10, options => '{"frontier": 500}'));
my $phones = write_file('phones.txt', sub { '\\\\x' . sha256_hex("phone $_[0]") . "\t" . word($_[0]) });
my $rounds = 0;
my $published = 1;
my $early = '';
while ($published)
{
	$rounds++;
	query("\\copy phones FROM '$phones'");
	(undef, undef, $early) = $node->psql('postgres', manual_block_of($page, 'result')) if $rounds == 2;
	block('next');
	$published = query('SELECT count(*) FROM rounds') > $rounds;
}
like($early, qr/NOTICE:  the collection goes on after round 2$/m, 'a result before the end is told to be one');
(undef, undef, my $late) = $node->psql('postgres', manual_block_of($page, 'result'));
is($late, '', 'and the last one is not');
cmp_ok($rounds, '>', 5, "privtrie took $rounds rounds");
is(query('SELECT count(*) FROM answers'), $clients, 'each client was asked in one of them');
is(query(q{SELECT count(*) FROM (SELECT report -> 'round' FROM answers GROUP BY 1) r}), $rounds, 'and each round asked some');
ok_result(block('result'), 'privtrie from clients');

# what is not of the collection is left out, and said
my ($status, $out, $notice) = $node->psql('postgres', q{
	BEGIN;
	INSERT INTO answers VALUES ('{}'), ('[]'), ('"x"'), ('{"round": 1, "place": 5, "bits": "01"}'),
		('{"round": 1, "place": -5, "bits": ""}'), ('{"round": 1e9, "place": 5, "bits": ""}'),
		('{"round": 1.5, "place": 5, "bits": "0"}');
	SELECT count(*) FROM (SELECT array_agg(round ORDER BY number) AS a FROM rounds) r, ldp_decode(a, 'answers');
	ROLLBACK;});
is($status, 0, 'foreign reports do no harm');
like($notice, qr/NOTICE:  7 reports are not of this collection and not counted/, 'they are counted');

# a late answer is noticed
($status, $out, $notice) = $node->psql('postgres', q{
	BEGIN;
	INSERT INTO answers SELECT a.report FROM answers a, generate_series(1, 200) WHERE report @> '{"round": 1}';
	SELECT count(*) FROM (SELECT array_agg(round ORDER BY number) AS a FROM rounds) r, ldp_decode(a, 'answers');
	ROLLBACK;});
like($notice, qr/ERROR:  round \d+ does not follow from those before it and their reports/, 'late reports are noticed');

# ---- nothing of the terms is left ----

is(query(q{SELECT count(*) FROM reports r WHERE r::text LIKE '%zqxj%'}), 0, 'no report has a term');
query('CHECKPOINT');
$node->stop;
my @holders;
find(
	{   no_chdir => 1,
		wanted => sub {
			return unless -f $_;
			open(my $content, '<:raw', $_) or return;
			local $/ = undef;
			push @holders, $_ if index(scalar <$content>, $marker) >= 0;
		}
	},
	$node->data_dir);
is("@holders", '', 'no file of the server has the term that a client sent: no table, no index, no write-ahead log');
$node->start;

# ---- in the server ----

query(qq{CREATE TABLE typed (phone int, word text);
	INSERT INTO typed SELECT i, (ARRAY['hello','hello','hello','hello','there','there','there','you','you','two'])[1 + i % 10]
	FROM generate_series(1, $clients) i;});
block('protect');
ok_result(block('ask'), 'privtrie in the server');
my ($precision, $recall, $fscore) = split /\|/, block('fscore');
is($recall, 1, 'all terms that there are were found');
cmp_ok(abs($fscore - 2 * $precision / ($precision + 1)), '<', 1e-12, 'the F-score is the harmonic mean');

like(block('lifetime'), qr/^\{"bits": \["[0-9a-f]{16}", "[0-9a-f]{16}", "[0-9a-f]{16}"\], "place": \d+, "round": 1\}$/, 'a report of Bloom filters');
my ($count, $stddev) = split /\|/, block('bit');
cmp_ok(abs($count - 25000), '<', 6 * $stddev, 'one bit of 100,000 clients');

is_deeply([ manual_blocks($page) ], [qw(protect ask fscore begin inbox decode privtrie next result lifetime bit)],
	'all statements of the page are tested');
$node->stop;
done_testing();
