# 048_budgets.pl: doc/budgets.md prints what a server answers, and its table what the
# formulas of the promise say.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use Manual;

my $page = 'budgets.md';
my $node = ledger_node('budgets');

$node->safe_psql('postgres', 'CREATE EXTENSION dpngram');

# All blocks in one session, as a reader pastes them; a line between their answers.
my @blocks = manual_dialogue($page);
my $script = join('', map { "$_->{sql}\\echo === end of block\n" } @blocks);
my ($out, $err) = ('', '');
ok($node->run_log(
		[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', '-' ],
		'<' => \$script, '>' => \$out, '2>' => \$err), 'the page runs') or diag($err);
my @answers = split /=== end of block\n/, $out;
is(scalar(@answers), scalar(@blocks), 'every block was run');
is(scalar(grep { !defined $_->{output} && $_->{sql} =~ /^SELECT (?!dp_(?:protect|grant|set_budget))/m } @blocks), 0,
	'what answers is shown with its answer');

# What a page leaves out: the answers of functions that have none, and the hour of calls.
sub as_printed
{
	my $answer = shift =~ s/^ dp_\w+\s*\n-+\n \n\(1 row\)\n\n//mgr;
	return $answer =~ s/^ \d{4}-\d\d-\d\d \d\d:00(.*)$/ DATE$1/mgr =~ s/[ ]+$//gmr =~ s/\n+\z/\n/r;
}

for my $i (0 .. $#blocks)
{
	my $expected = $blocks[$i]{output} // next;
	is(as_printed($answers[$i]), as_printed($expected), "block $i answers as printed");
}

for my $row (manual_text($page) =~ /^\| ([\d.]+) \| [\d.,]+ to 1 \| [\d.]+ % \|$/mg)
{
	my ($odds, $guess) = manual_text($page) =~ /^\| \Q$row\E \| ([\d.,]+) to 1 \| ([\d.]+) % \|$/m;
	my $true = exp($row);

	$odds =~ s/,//;
	cmp_ok(abs($odds / $true - 1), '<', 0.05, "the odds of epsilon $row");
	cmp_ok(abs($guess / 100 - $true / (1 + $true)), '<', 0.0005, 'and what a guess gains');
}
# the table of the accountings, by real calls
my @table = map { [ split / *\| */ ] } manual_text($page) =~ /^\| (`(?:gdp|zcdp|basic)` \|.*) \|$/mg;
is(scalar(@table), 3, 'three accountings');
for my $row (@table)
{
	my ($accounting, undef, $calls, $sum) = map { s/`//gr } @$row;
	my $asked = "dp_ngrams('$accounting', 'who', 'what', 1, 1e-7)";

	$node->safe_psql('postgres', qq{CREATE TABLE $accounting (who text, what text);
		SELECT dp_protect('$accounting', 'who', 4, 1e-6, accounting => '$accounting');
		SELECT count(*) FROM $asked;});
	is($node->safe_psql('postgres', "SELECT 1 + calls_left FROM dpngram.outlook WHERE dataset = '$accounting'"),
		$calls, "$accounting: calls of (1, 1e-7)");
	my ($epsilon) = $sum =~ /^(?:epsilon )?([\d.]+)/;
	push @$row, $epsilon;
}
$node->safe_psql('postgres', q{CREATE TABLE twelve (who text, what text);
	SELECT dp_protect('twelve', 'who', 8, 1e-7);});
$node->safe_psql('postgres', "SELECT count(*) FROM dp_ngrams('twelve', 'who', 'what', 0.5, 1e-8);" x 12);
is($node->safe_psql('postgres', q{SELECT round(epsilon_by_gdp::numeric, 2), round(epsilon_by_zcdp::numeric, 2),
		round(basic_epsilon_spent::numeric, 2), round(basic_delta_spent::numeric * 1e7, 3)
	FROM dpngram.budget WHERE dataset = 'twelve'}),
	sprintf('%.2f|%.2f|%.2f|1.200', map { $_->[-1] } @table), 'twelve calls of (0.5, 1e-8)');
done_testing();
