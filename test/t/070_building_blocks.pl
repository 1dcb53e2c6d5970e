# 070_building_blocks.pl: the statements of doc/distributions.md do what the page says.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use Manual;

my $page = 'distributions.md';
my $node = ledger_node('building_blocks');

sub query
{
	return $node->safe_psql('postgres', $_[0]);
}

sub block
{
	return query(manual_block_of($page, @_));
}

# 2,000 people thank, half of them for help; ten do something rare, which nobody public does
query(q{
	CREATE EXTENSION dpngram;
	CREATE TABLE articles (body text);
	CREATE TABLE posts (author int, body text);
	CREATE TABLE held_out (body text);
	INSERT INTO articles SELECT 'thanks for your time' FROM generate_series(1, 3);
	INSERT INTO articles SELECT 'thanks for your help' FROM generate_series(1, 2);
	INSERT INTO articles SELECT 'for your eyes' FROM generate_series(1, 3);
	INSERT INTO articles VALUES ('only once here');
	INSERT INTO posts SELECT i, 'Thanks for your ' || (ARRAY['help', 'time'])[1 + i % 2] FROM generate_series(1, 2000) i;
	INSERT INTO posts SELECT i, 'for your eyes' FROM generate_series(1, 10) i;
	INSERT INTO held_out VALUES ('Thanks for your help!'), ('thanks for your attention'), ('thanks'), (NULL);
	SELECT dp_protect('posts', 'author', 100, 1e-3);});

block('public');
is(query(q{SELECT string_agg(ngram || ' ' || count, ', ' ORDER BY ngram COLLATE "C") FROM public_trigrams}),
	'for your eyes 3, for your help 2, for your time 3, thanks for your 5', 'the vocabulary');
is(query(q{SELECT sum(probability) = 1, max(probability) = 5 / 13.0::float8 FROM public_baseline}), 't|t', 'the public baseline');

block('first');
is(query(q{SELECT count(*), abs(sum(probability) - 1) < 1e-9, min(probability) > 0 FROM phrasing}), '4|t|t', 'a private distribution');

my ($attacked, $found, $warning) = $node->psql('postgres', manual_block_of($page, 'attack'));
is($attacked, 0, 'an attack');
like($warning, qr/WARNING:  the result of dp_membership_attack is not differentially private/, 'which warns');
my ($probability, $bound) = split /\|/, $found;
cmp_ok(abs($probability - 0.5), '<', 0.5, 'has a probability');
# above 1 by chance once in twenty at most, above 2 next to never
cmp_ok($bound, '<', 2, 'and a bound that does not contradict the epsilon of the call');

block('private');
is(query(q{SELECT abs(sum(probability) - 1) < 1e-15, max(probability) = 2000 / 4010.0::float8, min(probability) = 10 / 4010.0::float8
	FROM private_baseline}), 't|t|t', 'the non-private baseline');

my ($status, $out, $notice) = $node->psql('postgres', manual_block_of($page, 'kanon'));
is($status, 0, 'the baseline of k-anonymity');
like($notice, qr/WARNING:  the result of kanon_ngrams is not differentially private/, 'which warns');
is(query(q{SELECT abs(sum(probability) - 1) < 1e-15, max(probability) = 2000 / 4000.5::float8, min(probability) = 0.5 / 4000.5::float8
	FROM kanon_baseline}), 't|t|t', 'has what 50 people wrote');

my @rows = map { [ split /\|/ ] } split /\n/, block('divergence');
is_deeply([ map { $_->[0] } @rows ], [ 'public', '50-anonymity' ], 'two baselines are compared');
my %truth = ('for your eyes' => 10, 'for your help' => 1000, 'for your time' => 1000, 'thanks for your' => 2000);
my %count = (public => { 'for your eyes' => 3, 'for your help' => 2, 'for your time' => 3, 'thanks for your' => 5 },
	'50-anonymity' => { %truth, 'for your eyes' => 0.5 });
for my $row (@rows)
{
	my ($baseline, $got) = @$row;
	my ($total, $sum) = (0, 0);

	$total += $_ for values %{ $count{$baseline} };
	$sum += $truth{$_} / 4010 * log($truth{$_} / 4010 / ($count{$baseline}{$_} / $total)) for keys %truth;
	cmp_ok(abs($got - $sum), '<', 1e-14, "the divergence of $baseline is $sum");
}

# P(help | for your) = 2/8, P(your | thanks for) = 1
is(block('perplexity'), sprintf('%.15g', 4**0.5) . '|1|2', 'perplexity of the covered text');

like(block('next'), qr/^(help|time)\|0\.[45]\d+\n(help|time)\|0\.[45]\d+$/m, 'what follows "Thanks for your"');
is(query(q{SELECT count(*) FROM pg_indexes WHERE tablename = 'phrases' AND indexdef LIKE '%USING hash%ngram_prefix(ngram)%'}), 1,
	'an index on the materialized view');
is(query(q{SELECT string_agg(ngram, ', ') FROM ngrams('to be or not', 2) ngram}), 'to be, be or, or not', 'n-grams of a text');
is(query(q{SELECT ngrams(ARRAY['living room', 'hall'], 2)}), 'living\\ room hall', 'n-grams of an array');

is_deeply([ manual_blocks($page) ], [qw(first attack public private kanon divergence perplexity next)],
	'all statements of the page are tested');
$node->stop;
done_testing();
