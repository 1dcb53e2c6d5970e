# Manual.pm: the commands of doc/operations.md and other pages, so that tests run what is
# printed there.
#
# A block that a test runs stands in a fence whose line before is "<!-- tested: NAME -->".
package Manual;

use strict;
use warnings;
use Exporter 'import';
use File::Basename qw(dirname);

our @EXPORT = qw(manual_text manual_block manual_block_of manual_blocks manual_dialogue);

# A page of doc/; the manual of operations, unless another is named.
sub manual_text
{
	my $page = shift // 'operations.md';
	open(my $file, '<', dirname(__FILE__) . "/../../doc/$page") or die "no $page: $!";
	local $/ = undef;
	return scalar <$file>;
}

# The names of a page's blocks.
sub manual_blocks
{
	return manual_text(shift) =~ /^<!-- tested: (\S+) -->$/mg;
}

# The text of the block of that name; each of @changes is a pair of what stands there and
# what the test needs instead, such as another schedule.
sub manual_block_of
{
	my ($page, $name, @changes) = @_;
	my ($text) = manual_text($page) =~ /^<!-- tested: \Q$name\E -->\n```\w+\n(.*?)^```$/ms;

	die "doc/$page has no block \"$name\"" unless defined $text;
	while (my ($from, $to) = splice(@changes, 0, 2))
	{
		die "block \"$name\" has no \"$from\"" unless $text =~ s/\Q$from\E/$to/g;
	}
	return $text;
}

# The SQL of a page, block by block, and the output that the page shows right after one.
sub manual_dialogue
{
	my $text = manual_text(shift);
	my @blocks;

	while ($text =~ /^```sql\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?/msg)
	{
		push @blocks, { sql => $1, output => $2 };
	}
	return @blocks;
}

sub manual_block
{
	return manual_block_of('operations.md', @_);
}

1;
