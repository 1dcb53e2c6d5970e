# Manual.pm: the commands of doc/operations.md, so that tests run what is printed there.
#
# A block that a test runs stands in a fence whose line before is "<!-- tested: NAME -->".
package Manual;

use strict;
use warnings;
use Exporter 'import';
use File::Basename qw(dirname);

our @EXPORT = qw(manual_text manual_block);

sub manual_text
{
	open(my $file, '<', dirname(__FILE__) . '/../../doc/operations.md') or die "no manual: $!";
	local $/ = undef;
	return scalar <$file>;
}

# The text of the block of that name; each of @changes is a pair of what stands there and
# what the test needs instead, such as another schedule.
sub manual_block
{
	my ($name, @changes) = @_;
	my ($text) = manual_text() =~ /^<!-- tested: \Q$name\E -->\n```\w+\n(.*?)^```$/ms;

	die "doc/operations.md has no block \"$name\"" unless defined $text;
	while (my ($from, $to) = splice(@changes, 0, 2))
	{
		die "block \"$name\" has no \"$from\"" unless $text =~ s/\Q$from\E/$to/g;
	}
	return $text;
}

1;
