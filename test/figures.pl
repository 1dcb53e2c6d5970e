# figures.pl: pictures and numbers of the manual hang together: every picture is well-formed,
# is shown by a page with words in its place, and is drawn from data that lie beside it; and
# the tables of doc/benchmarks.md say what those data say.  It prints what is wrong.
#
#   perl test/figures.pl, in the top folder
use strict;
use warnings;
use utf8;
binmode(STDOUT, ':encoding(UTF-8)');

my $figures = 'doc/figures';
my $compared = 0;

sub slurp
{
	my ($file) = @_;
	local $/;
	open(my $in, '<:encoding(UTF-8)', $file) or die "$file: $!\n";
	return <$in>;
}

# Elements are closed in order, attributes quoted, and there is no stray < or &.
sub well_formed
{
	my ($xml) = @_;
	my @open;

	$xml =~ s/^<\?xml version="1\.0"[^>]*\?>\s*// or return 'no XML declaration';
	while ($xml =~ /\G([^<]*)(<(\/?)([\w:]+)((?:\s+[\w:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>)?/gc)
	{
		my ($text, $tag, $closes, $name, $attributes, $empty) = ($1, $2, $3, $4, $5, $6);
		return 'a stray &' if ($text . ($attributes // '')) =~ /&(?!(amp|lt|gt|quot|apos|#\d+);)/;
		last if !defined $tag;
		return 'text outside of it' if !@open && $text =~ /\S/;
		return 'two roots' if !@open && ($closes || pos($xml) > length($tag) + length($text));
		if ($closes) { return "</$name> closes <$open[-1]>" if pop(@open) ne $name; }
		elsif (!$empty) { push @open, $name; }
		last if !@open;
	}
	return @open ? "<$open[-1]> is not closed" : substr($xml, pos($xml)) =~ /\S/ ? 'something after its end' : '';
}

# The blocks of a file: name of the block, first column, the others.
my %cache;

sub data
{
	my ($file) = @_;
	return $cache{$file} if $cache{$file};
	my ($name, %blocks) = ('');
	foreach (split /\n/, slurp("$figures/$file"))
	{
		if (/^# "(.*)"/) { $name = $1; }
		elsif (/\S/)
		{
			my ($x, @values) = split ' ';
			$blocks{$name}{ $x + 0 } = \@values;
		}
	}
	return $cache{$file} = \%blocks;
}

# The nth table after a text in the page: its rows of cells, the first of which is the header.
my $page = slurp('doc/benchmarks.md');

sub table
{
	my ($after, $nth) = @_;
	my $at = index($page, $after);
	return [] if $at < 0;
	my @tables = substr($page, $at) =~ /((?:^\|.*\n)+)/gm;
	my @rows = map { s/^\| ?| ?\|$//g; [ map { s/^\s+|\s+$|`|\*//gr } split /\|/ ] }
	  split /\n/, $tables[ ($nth // 1) - 1 ];
	splice(@rows, 1, 1);
	return \@rows;
}

# A number of the page is the data's, rounded to as many places as it shows.
sub same
{
	my ($where, $shown, $value) = @_;
	return if $shown eq '' || !defined $value;
	$shown =~ s/,//g;
	my ($places) = $shown =~ /\.(\d+)/;
	my $unit = 10**-length($places // '');
	$compared++;
	print "doc/benchmarks.md, $where: $shown, in the data $value\n" if abs($shown - $value) > 0.5 * $unit + 1e-9 * abs($value);
}

# "0.0185 ±0.0005", "0.480 (0.00)", "7,886": the columns of the data in turn.
sub cell
{
	my ($where, $shown, $values) = @_;
	my @numbers = $shown =~ /(-?[\d,]+(?:\.\d+)?)/g;
	print "doc/benchmarks.md, $where: $shown, and no data\n" if @numbers && !$values;
	return if !$values;
	foreach my $i (0 .. $#numbers) { same("$where, column " . ($i + 1), $numbers[$i], $values->[$i]); }
}

# A table with a series a row and its points across; $of tells the file and block of a row.
sub across
{
	my ($after, $nth, $of) = @_;
	my ($header, @rows) = @{ table($after, $nth) };
	my $before = $compared;

	foreach my $row (@rows)
	{
		my ($file, $block) = $of->(@$row);
		next if !$file;
		foreach my $i (1 .. $#$header)
		{
			my ($x) = $header->[$i] =~ /([\d,.]+)/ or next;
			$x =~ s/,//g;
			cell("$after, $row->[0], $header->[$i]", $row->[$i] // '', data($file)->{$block}{ $x + 0 });
		}
	}
	print "doc/benchmarks.md, $after: no number was compared\n" if $before == $compared;
}

sub named # "`dpne`, MSNBC": as the data call it
{
	my ($method, $set) = $_[0] =~ /^(.*?), (MSNBC|git)/ or return;
	return (lc $set, $method);
}

sub pictures
{
	my %shown;
	my %used;

	foreach my $file (glob 'README.md doc/*.md')
	{
		my ($folder) = $file =~ m{^(.*/)?};
		my $text = slurp($file);
		while ($text =~ /!\[([^\]]*)\]\(([^)]+)\)/g)
		{
			my ($alt, $target) = ($1, ($folder // '') . $2);
			next if $2 =~ /^https?:/;
			print "$file: $target is not there\n" if !-f $target;
			print "$file: $target has no words in its place\n" if $alt !~ /\w+ \w+/;
			$shown{$target} = $alt;
		}
	}
	foreach my $file (glob "$figures/*.svg")
	{
		my $svg = slurp($file);
		my $fault = well_formed($svg);
		my ($title) = $svg =~ /<title>([^<]*)<\/title>/;
		my ($from) = $svg =~ /<desc>Drawn from ([^<]*)\.<\/desc>/;
		print "$file: $fault\n" if $fault;
		print "$file: no page shows it\n" if !$shown{$file};
		print "$file: its title is not what the page says\n" if ($title // '') ne ($shown{$file} // '');
		print "$file: it doesn't tell its data\n" if !$from;
		print "$file: of another size than the others\n" if $svg !~ /^<svg [^>]*width="800" height="\d+"/m;
		foreach my $data (split ' ', $from // '')
		{
			print "$file: $data is not there\n" if !-s "$figures/$data";
			$used{$data} = 1;
		}
	}
	foreach my $file (glob "$figures/*.dat")
	{
		print "$file: no picture is drawn from it\n" if !$used{ $file =~ s{.*/}{}r };
	}
}

sub of_rounds
{
	my ($file, $label) = @_;
	return ('rounds_kanonymity.dat', lc($2) . ", $1") if $label =~ /^K-anonymity, (.*), (.*)/;
	my ($set, $method) = named($label) or return;
	return ($file, "$set, $method");
}

sub tables
{
	across('### By length', 1, sub { of_rounds('rounds_lengths.dat', $_[0]) });
	across('### Against ε (figure 2', 1, sub { of_rounds('rounds_epsilon.dat', $_[0]) });
	across('### Other T', 1, sub { of_rounds('rounds_t.dat', $_[0]) });
	foreach my $row (@{ table('### Coverage') })
	{
		my ($least) = $row->[0] =~ /K = (\d+)/ or next;
		my ($set, $method) = named($row->[0]);
		cell("coverage, $row->[0], $_", $row->[$_], data('rounds_coverage.dat')->{"$set, $method, length $_"}{$least}) for 1 .. 9;
	}
	foreach my $corpus (qw(msnbc git))
	{
		my $heading = $corpus eq 'git' ? "figures/epsilon_git.svg" : "### Against ε\n";
		across($heading, 1, sub { ("epsilon_${corpus}_users.dat", $_[0]) });
		across($heading, 2, sub { ("epsilon_${corpus}_occurrences.dat", $_[0]) });
		across('### Against the size of the vocabulary', $corpus eq 'git' ? 2 : 1, sub { ("vocabulary_${corpus}_users.dat", $_[0]) });
	}
	across('### Against the number of users', 1, sub { ('users_msnbc_users.dat', $_[0]) });
	across('### Against the quality', 1, sub { ('public_msnbc_users.dat', $_[0]) });
	across('### K-anonymity', 1, sub { ('kanonymity.dat', lc $_[0]) });
	across('### Membership inference', 1, sub { ('membership.dat', $_[0]) });
	across('### Membership inference', 2, sub { ('membership_rare.dat', $_[0]) });
	foreach my $set (qw(reddit zipf))
	{
		my ($header, @rows) = @{ table("figures/terms_fscore_$set.svg") };
		my $epsilon;
		foreach my $row (@rows)
		{
			$epsilon = $row->[0] if $row->[0] ne '';
			my $block = data("terms_fscore_$set.dat")->{"$row->[1], epsilon $epsilon"};
			cell("$set, $row->[1], epsilon $epsilon, k = $header->[$_]", $row->[$_], $block->{ $header->[$_] }) for 2 .. 11;
		}
	}
	foreach my $set (qw(reddit7 reddit4585))
	{
		across("\n`$set`, 7,613,851 users, ε = 2:", 1, sub { ("terms_fscore_$set.dat", "$_[0], epsilon 2") });
	}
	my %grown = map { my @f = split ' '; ("$f[0] $f[1]" => \@f) } split /\n/, slurp("$figures/scale_growth.dat");
	foreach my $row (@{ table('**Growth.**') })
	{
		my $f = $grown{"$row->[0] $row->[1]"} or next;
		same("growth, $row->[0], $row->[1] times", $row->[ $_->[0] ], $f->[ $_->[1] ]) for [ 2, 5 ], [ 3, 2 ], [ 5, 4 ], [ 6, 3 ];
	}
	my %budget = %{ data('budget.dat') };
	my ($header, $held, $twelve, $mixed) = @{ table('## Budget') };
	foreach my $i (1 .. 3)
	{
		my $how = $header->[$i];
		my ($most) = sort { $b <=> $a } keys %{ $budget{"held, $how"} };
		same("budget, $how, held", $held->[$i], $most);
		same("budget, $how, twelve", $twelve->[$i], $budget{"twelve, $how"}{12}[0]);
		same("budget, $how, mixed", $mixed->[$i], $budget{"mixed, $how"}{31}[0]);
	}
}

pictures();
tables();
print "doc/benchmarks.md: only $compared numbers were compared\n" if $compared < 1500;
