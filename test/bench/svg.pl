# svg.pl: makes of what gnuplot wrote the picture that is kept: with a title for who can't see
# it, which is the text that doc/benchmarks.md shows in its place, and the names of the files
# it is drawn from; without what tells of one machine's gnuplot, and without empty groups,
# which are most of its size.
#
#   perl svg.pl FOLDER PAGE: the pictures of FOLDER/NAME.from
use strict;
use warnings;

sub slurp
{
	my ($file) = @_;
	local $/;
	open(my $in, '<:encoding(UTF-8)', $file) or die "$file: $!\n";
	return <$in>;
}

sub escape
{
	my ($text) = @_;
	$text =~ s/&/&amp;/g;
	$text =~ s/</&lt;/g;
	$text =~ s/>/&gt;/g;
	return $text;
}

# Numbers are rounded where they are places, not where they are text.
sub slim
{
	my ($svg) = @_;
	my $last = '';
	my @lines;

	$svg =~ s/\s*<filter .*?<\/filter>//gs;
	$svg =~ s/<tspan font-family="[^"]*" ?>([^<]*)<\/tspan>/$1/g;
	$svg =~ s/<g id="gnuplot_\w+" ?>/<g>/g;
	$svg =~ s/<g>\K<title>[^<]*<\/title>//g;
	$svg =~ s{( d='[^']*'| transform='[^']*'| transform="[^"]*"| [xy]='[^']*')}{rounded($1)}ge;
	$svg =~ s/ class="gridline"//g;
	$svg =~ s/\s+'/'/g;
	1 while $svg =~ s/<g[^>]*>\s*<\/g>\n?//g;
	foreach my $line (grep { /\S/ } split /\s*\n/, $svg)
	{
		if ($line =~ /^<g fill/)
		{
			next if $line eq $last && $lines[-1] =~ s/^<\/g>$|(?<=\/>)<\/g>$//;
			$last = $line;
		}
		push @lines, $line;
	}
	return join("\n", grep { $_ ne '' } @lines) . "\n";
}

sub rounded
{
	my ($places) = @_;
	$places =~ s/(\d+\.\d\d+)/sprintf('%.1f', $1)/ge;
	$places =~ s/(\d)\.0\b/$1/g;
	return $places;
}

my ($folder, $page) = @ARGV;
my $text = slurp($page);

foreach my $from (glob "$folder/*.from")
{
	my ($name) = $from =~ m{([^/]+)\.from$};
	my @files = split ' ', slurp($from);
	my ($title) = $text =~ /!\[([^\]]+)\]\(figures\/\Q$name\E\.svg\)/
	  or die "$page does not show $name.svg\n";
	my $svg = slurp("$folder/$name.svg");

	$svg =~ s{<title>.*?</desc>}{"<title>" . escape($title) . "</title>\n<desc>Drawn from @files.</desc>"}se
	  or die "$name.svg has no title\n";
	$svg =~ s/<svg\s+/<svg role="img" /;
	open(my $out, '>:encoding(UTF-8)', "$folder/$name.svg") or die "$name.svg: $!\n";
	print $out slim($svg);
	close($out) or die "$name.svg: $!\n";
	unlink $from;
}
