# 047_privacy.pl: doc/privacy.md and what it speaks of: every method that the code accepts is
# among the mechanisms, files that are named as proof or as test are there, and the numbers
# of the first page are what the formulas and the server say.
use strict;
use warnings;
use File::Basename qw(basename);
use File::Find;
use POSIX qw(erfc);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use Manual;
use Sources;

my $page = manual_text('privacy.md');
my $tree = source_dir();

# The rows of the table that follows a heading, as lists of cells.
sub table
{
	my ($heading) = @_;
	my ($text) = $page =~ /^## \Q$heading\E[^\n]*\n(.*?)(?=^## |\z)/ms or die "no section $heading";
	my @rows = $text =~ /^\| (.*) \|$/mg;

	return map { [ split / \| ?/, s/\\\|//gr, -1 ] } @rows[1 .. $#rows];
}

# Methods: those by whose names the sources find them.
my @tables = (
	[ 'dp_ngrams', 'ngram/plan.c', 'METHOD' ], [ 'dp_set_union', 'ngram/set_union.c', 'SET_UNION' ],
	[ 'bayes_dp_dist', 'dist/plan.c', 'DIST' ], [ 'ldp_frequent_terms', 'api/local_arguments.c', 'LOCAL' ]);
my @mechanisms = table('Mechanisms, and where each is proved');
my ($public) = $page =~ /^\*\*Not private\*\*(.*?)\n\n/ms;
for (@tables)
{
	my ($function, $file, $prefix) = @$_;
	my %coded = map { $_ => 1 } slurp_file("$tree/src/$file") =~ /\[${prefix}_\w+\] = "([\w-]+)"/g;
	my %told = map { $_ => 1 } map { $_->[1] =~ /`([\w-]+)`/g } grep { $_->[0] eq "`$function`" } @mechanisms;

	delete $told{tune};    # an option of a method
	delete $coded{$_} for grep { $public =~ /`\Q$_\E`/ } keys %coded;
	cmp_ok(scalar(keys %coded), '>=', 4, "$function has methods");
	is(join(' ', sort keys %told), join(' ', sort keys %coded), "$function: its methods are those of the manual");
}
my %charged = map { $_ => 1 } source_text(qr{/src/api/.*\.c$}) =~ /mechanism = "(\w+)"/g;
is(join(' ', sort keys %charged), join(' ', sort map { $_->[0] } @tables), 'no other function is charged');
is(scalar(grep { @$_ != 6 || grep { $_ eq '' } @{$_}[ 0, 2, 3, 4 ] } @mechanisms), 0,
	'each has a proof, a file that argues it, and a check');

# Files: by their path, or by their name alone where one of tests or sources has it.
my %name;
find({ no_chdir => 1, wanted => sub { $name{ basename($_) } = 1 if -f } }, "$tree/src", "$tree/test");
my @absent;
for my $file ($page =~ m{`([\w./-]+\.(?:c|h|pl|sql|spec))`}g)
{
	my $there = grep { -f "$tree/$_$file" } '', 'test/audit/', 'test/unit/', 'src/';

	push @absent, $file unless $there || ($file !~ m{/} && $name{$file});
}
is(join("\n", @absent), '', 'every file that is named is there');
for my $heading ('Where the papers are wrong', 'Who may do what')
{
	is(join("\n", map { $_->[0] } grep { $_->[-1] !~ /`.*`/ } table($heading)), '', "$heading: each row names a test");
}

# Numbers: what (epsilon, 1e-6) bounds, and the mu that a budget of it has.
sub phi { return erfc(-$_[0] / sqrt(2)) / 2; }
my $node = ledger_node('privacy');
my $z = 2.3263478740408408;    # phi(-z) = 0.01
my @numbers = table('What the numbers mean');
$node->safe_psql('postgres', 'CREATE EXTENSION dpngram');
cmp_ok(scalar(@numbers), '>=', 6, 'there is a table of numbers');
my %missed;    # how often Gaussian noise passes e^epsilon, in deltas
for my $row (@numbers)
{
	my ($epsilon, @told) = map { s/[^\d.]//gr } @$row;
	my $odds = exp($epsilon);
	my @want = ($odds, map { 100 * $odds * $_ / (1 + ($odds - 1) * $_) } 0.01, 0.1, 0.5);
	my $other = 1 - (1 - 1e-6 - 0.01) / $odds;
	my $any = 0.01 * $odds + 1e-6;
	my $mu = $node->safe_psql('postgres', qq{
		CREATE TABLE t_$row->[0] (who int);
		DO 'BEGIN PERFORM dp_protect(''t_$row->[0]'', ''who'', $epsilon, 1e-6); END';
		SELECT sqrt(mu2_cap) FROM dpngram.budget WHERE epsilon = $epsilon} =~ s/t_(\d+)\.(\d+)/t_$1_$2/gr);

	push @want, 100 * ($any < $other ? $any : $other), 100 * phi($mu - $z);
	$missed{$epsilon} = sprintf('%.0f', 1e6 * phi($mu / 2 - $epsilon / $mu));
	for my $i (0 .. $#want)
	{
		my ($digits) = $told[$i] =~ /\.(\d+)/;
		my $place = defined $digits ? length $digits : 0;

		cmp_ok(abs($told[$i] - $want[$i]), '<=', 0.51 * 10**-$place, "epsilon $epsilon, column $i: $told[$i]");
	}
}
my $beyond = sprintf('%.1f δ for t = 1, %.1f δ for t = 0.1', map { 1 / (1 - exp(-$_)) } 1, 0.1);
my $at = "$missed{1} δ at ε = 1 and $missed{8} δ at ε = 8";
like($page, qr/\Q$beyond\E/, "beyond epsilon: $beyond");
like($page, qr/\Q$at\E/, "at epsilon: $at");
$node->stop;
done_testing();
