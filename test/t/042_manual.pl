# 042_manual.pl: the operations manual prints no command as tested that no test runs, and
# points at nothing that isn't there.
use strict;
use warnings;
use File::Basename qw(basename dirname);
use PostgreSQL::Test::Utils;
use Test::More;
use Manual;

my $here = dirname(__FILE__);
my $manual = manual_text();

my $tests = join('', map { slurp_file($_) } glob("$here/*.pl"));
my @blocks = $manual =~ /^<!-- tested: (\S+) -->$/mg;
ok($tests =~ /manual_block\('\Q$_\E'/, "some test runs \"$_\"") for @blocks;
is(() = $manual =~ /^```\w/mg, scalar(@blocks), 'all commands of the manual are tested');

# Links: the file is there, and the heading.  GitHub makes of a heading its anchor: in lower
# case, without what is no letter, digit, hyphen or blank, and with hyphens for blanks.
sub anchors
{
	my ($file) = @_;
	my $text = slurp_file($file) =~ s/^```.*?^```//msgr;

	utf8::decode($text);
	return map { my $title = lc; $title =~ s/[^\w\- ]//g; $title =~ tr/ /-/; ($title => 1) }
		$text =~ /^#+ (.*)$/mg;
}

my @pages = ("$here/../../README.md", glob("$here/../../doc/*.md"));
my @broken;
for my $page (@pages)
{
	my $text = slurp_file($page) =~ s/^```.*?^```//msgr =~ s/`[^`\n]*`//gr;

	while ($text =~ /\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)
	{
		my ($target, $anchor) = ($1, $2);
		my $file = $target eq '' ? $page : dirname($page) . "/$target";
		my %there = -f $file && defined $anchor ? anchors($file) : ();

		push @broken, basename($page) . ": $target" . (defined $anchor ? "#$anchor" : '')
			if !-e $file || defined $anchor && !$there{$anchor};
	}
}
is(join("\n", @broken), '', 'links of the manual point at what is there');
done_testing();
