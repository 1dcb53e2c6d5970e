# 053_links.pl: all links between the pages lead to a page, and to a heading of it.
use strict;
use warnings;
use File::Basename qw(dirname);
use PostgreSQL::Test::Utils;
use Test::More;

my $top = dirname(__FILE__) . '/../..';
my %pages = map { substr($_, length($top) + 1) => slurp_file($_) } glob("$top/*.md $top/doc/*.md");

# As GitHub makes anchors of headings: lower case, no punctuation, hyphens for blanks.
sub anchors
{
	my ($text) = @_;
	my (%seen, %anchor);

	$text =~ s/^```.*?^```$//msg;
	utf8::decode($text);
	for my $heading ($text =~ /^#+ +(.*?) *$/mg)
	{
		my $anchor = lc($heading =~ s/[^\w\- ]//gr) =~ tr/ /-/r;
		$anchor{ $seen{$anchor}++ ? "$anchor-" . ($seen{$anchor} - 1) : $anchor } = 1;
	}
	return \%anchor;
}

my %anchors = map { $_ => anchors($pages{$_}) } keys %pages;

# The links of a page's text that stay in the tree, each with the file that it leads to.
sub links
{
	my ($page, $text) = @_;
	my @links = grep { !/^\w+:/ } $text =~ s/^```.*?^```$//msgr =~ s/`[^`\n]*`//gr =~ /\]\(([^)\s]+)\)/g;

	return map { [ $_, /^#/ ? $page : $page =~ m{^doc/} ? "doc/$_" =~ s/#.*//r =~ s{^doc/\.\./}{}r : s/#.*//r ] } @links;
}

sub broken
{
	my ($page, $text) = @_;
	my @broken;

	for (links($page, $text))
	{
		my ($link, $to) = @$_;
		my ($anchor) = $link =~ /#(.*)/;
		push @broken, "$page: $link" if !-e "$top/$to" || defined $anchor && !$anchors{$to}{$anchor};
	}
	return @broken;
}

cmp_ok(scalar(map { links($_, $pages{$_}) } keys %pages), '>', 200, 'there are links');
is(join("\n", map { broken($_, $pages{$_}) } sort keys %pages), '', 'all of them lead somewhere');
is(join(' ', broken('doc/x.md', '[a](nowhere.md) [b](privacy.md#nothing) [c](../README.md#nothing) [d](privacy.md#the-promise)')),
	'doc/x.md: nowhere.md doc/x.md: privacy.md#nothing doc/x.md: ../README.md#nothing', 'those that do not are seen');
done_testing();
