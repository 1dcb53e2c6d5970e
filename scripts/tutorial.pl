# tutorial.pl: runs doc/tutorial.md, or another page, on the server that psql finds, shows what
# it does to read along, and ends with "N passed, N failed".  With --write the page's
# outputs become those of this run.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../test/t";
use Tutorial;

my $write = @ARGV && $ARGV[0] eq '--write' ? shift : undef;
my $page = shift // 'tutorial.md';
my @blocks = tutorial_blocks($page);
my ($passed, $failed) = (0, 0);

sub show
{
	my ($block) = @_;

	print "\n== $block->{name} (line $block->{line})\n\n$block->{text}\n";
	print "   $block->{left_out}\n" if $block->{left_out};
	return unless defined $block->{answer};
	print $block->{answer};
	my @wrong = tutorial_differences($block);
	@wrong ? $failed++ : $passed++;
	print "\n== not as in $page: $block->{name}\n   ", join("\n   ", @wrong), "\n" if @wrong;
	return;
}

$| = 1;
tutorial_run(\&show, 600, @blocks);
tutorial_write($page, @blocks) if $write;
print "\n$passed passed, $failed failed\n";
exit($failed || !$passed ? 1 : 0);
