# Tutorial.pm: runs the pages of doc/ whose outputs are printed, in order and in one session
# as a reader would, and compares each output with what is printed; or prints it anew.
#
# A block that is run stands in a fence after a line "<!-- tested: NAME -->", as in Manual.pm
# ("<!-- tested: NAME, needs EXTENSION -->" is left out where the server does not preload that).
# A fence "text" that follows is what psql answers, after a line that says how it is compared:
#
#     <!-- output: exact -->           it is this very text (of numbers ten digits)
#     <!-- output: error -->           likewise, and begins with an error, which no other output does
#     <!-- output: exact but for RE -->  except lines that match; "error but for RE" as well
#     <!-- output: rows 8..; ... -->   noise, the machine's texts or the clock have a part in it:
#                                      then columns, their formats, and what the line names
#     <!-- output: masked -->          as exact, but for numbers and the lengths of dashes
#
# Of what a line names, with semicolons between:
#
#     rows 8..20               so many rows; "rows 8" and "rows 8.." as well
#     same A, B                these columns are the printed ones, row by row
#     near A, B 2              likewise numbers, but for a factor of 2
#     shared A 0.3             three tenths of the printed values occur again
#     sum A 0.5 B              the numbers of A come to half of those of B at least
#     written A 0.8 of R.C by 5  eight tenths of the values are n-grams that five authors or more
#                              really wrote in column C of R, whatever the texts are
#
# A block without an output answers nothing but command tags and void, and no tag that tells of
# no rows.  Blocks of the shell are run as they are, but for "psql DATABASE", in whose place is
# the session, and those named "install" and "texts", which whoever runs the page has done,
# "package" and "pgxn", which test/packages runs.
package Tutorial;

use strict;
use warnings;
use Exporter 'import';
use File::Basename qw(dirname);
use IPC::Run;

our @EXPORT = qw(tutorial_blocks tutorial_run tutorial_differences tutorial_write);

my $doc = dirname(__FILE__) . '/../../doc';

sub slurp
{
	my ($path) = @_;

	open(my $file, '<:raw', $path) or die "$path: $!";
	local $/ = undef;
	return scalar <$file>;
}

# The blocks of a page: name, language, text, and, if an output is printed, that and how it
# is compared; "from" and "length" say where the output stands in the page.
sub tutorial_blocks
{
	my ($page) = @_;
	my $text = slurp("$doc/$page");
	my @blocks;

	while ($text =~ /^<!-- tested: (\S+?)(?:, needs (\w+))? -->\n```(\w+)\n(.*?)^```$/msg)
	{
		my %block = (name => $1, needs => $2, language => $3, text => $4);

		$block{line} = 2 + (substr($text, 0, $-[0]) =~ tr/\n//);
		if ($text =~ /\G\n\s*<!-- output: ([^\n]+) -->\n```text\n(.*?)^```$/msgc)
		{
			@block{qw(check output from length)} = ($1, $2, $-[2], length($2));
		}
		push @blocks, \%block;
	}
	return @blocks;
}

# The page with the outputs that the blocks have now, in "answer".
sub tutorial_write
{
	my ($page, @blocks) = @_;
	my $text = slurp("$doc/$page");

	for my $block (reverse grep { defined $_->{output} && defined $_->{answer} } @blocks)
	{
		substr($text, $block->{from}, $block->{length}, $block->{answer});
	}
	open(my $file, '>:raw', "$doc/$page") or die "$doc/$page: $!";
	print $file $text;
	close($file) or die "$doc/$page: $!";
	return;
}

# Runs blocks one after the other, in the database "postgres" at first, and calls a function with each, which finds in it what was
# answered, or why it was left out.
sub tutorial_run
{
	my ($done, $timeout, @blocks) = @_;
	my ($psql, $database) = (undef, 'postgres');

	for my $block (@blocks)
	{
		if ($block->{needs} && !preloaded($block->{needs}))
		{
			$block->{left_out} = "this server has no $block->{needs}";
		}
		elsif ($block->{language} eq 'sh')
		{
			my ($opened) = $block->{text} =~ /^psql (\w+)$/m;
			my $commands = $block->{text} =~ s/^psql \w+$//mr;

			if ($block->{name} =~ /^(install|texts|package|pgxn)$/)
			{
				$block->{done} = 1;
			}
			elsif ($commands =~ /\S/)
			{
				$block->{answer} = shell($commands);
			}
			$psql = session($database = $opened, $timeout) if defined $opened;
		}
		elsif ($block->{text} eq "\\q\n")
		{
			$psql->();
			($psql, $block->{answer}) = (undef, '');
		}
		else
		{
			$psql //= session($database, $timeout);
			$block->{database} = $database;
			$block->{answer} = $psql->($block->{text});
		}
		$done->($block);
	}
	$psql->() if $psql;
	return;
}

sub shell
{
	my ($commands) = @_;
	my $answer = '';

	IPC::Run::run([ 'sh', '-e', '-c', $commands ], '>&', \$answer) or $answer .= "exit code " . ($? >> 8) . "\n";
	return trimmed($answer);
}

# Without the blank line after each table, and what fills the last column.
sub trimmed
{
	return $_[0] =~ s/[ \t]+$//mgr =~ s/\n+\z/\n/r;
}

sub preloaded
{
	my ($extension) = @_;

	return shell('psql -XAtc "SHOW shared_preload_libraries" postgres') =~ /\b\Q$extension\E\b/;
}

# A session of psql, as a function: of statements, of what psql answers to them, errors and
# notices first; of nothing it ends.
sub session
{
	my ($database, $timeout) = @_;
	my ($in, $out, $err, $number) = ('', '', '', 0);
	my @psql = ('psql', '--no-psqlrc', '--pset=pager=off', "--dbname=$database");
	my $psql = IPC::Run::start(\@psql, '<', \$in, '>', \$out, '2>', \$err, IPC::Run::timeout($timeout));

	return sub {
		my ($sql) = @_;
		my $end = sprintf('-- end of block %d --', ++$number);

		unless (defined $sql)
		{
			$in .= "\\q\n";
			$psql->finish;
			return;
		}
		$in .= "$sql\n\\echo $end\n\\warn $end\n";
		$psql->pump until ($out =~ /^$end\n/m && $err =~ /^$end\n/m) || !$psql->pumpable;
		my $answer = $err . $out;
		($out, $err) = ('', '');
		$answer =~ s/^$end\n//mg;
		return trimmed($answer);
	};
}

# The rows of psql's table as references to hashes, or nothing if it is none.
sub rows_of
{
	my ($text) = @_;
	my ($head, $rule, @lines) = split /\n/, $text;

	return unless defined $rule && $rule =~ /^-[-+]*$/;
	pop @lines if @lines && $lines[-1] =~ /^\(\d+ rows?\)$/;
	my $start = 0;
	my @columns = map { my $at = $start; $start += 1 + length; [ $at, length ] } split /\+/, $rule;
	my @names = cells($head, @columns);
	my @rows;
	for my $line (@lines)
	{
		my %row;
		@row{@names} = cells($line, @columns);
		push @rows, \%row;
	}
	return { names => \@names, rows => \@rows };
}

sub cells
{
	my ($line, @columns) = @_;

	utf8::decode($line);
	return map { s/^\s+|\s+$//gr }
		map { $_->[0] < length($line) ? substr($line, $_->[0], $_->[1]) : '' } @columns;
}

# What the form of a value is: digits stand for themselves before a point only.
sub shape
{
	my ($value) = @_;

	return 'number with ' . length($1 // '') . ' decimals' if $value =~ /^-?\d+(?:\.(\d+))?$/;
	return $value =~ s/\d/9/gr if $value =~ /^\d{4}-\d\d-\d\d/;
	return 'text';
}

sub values_of
{
	my ($table, $column) = @_;

	die "no column \"$column\"\n" unless grep { $_ eq $column } @{ $table->{names} };
	return map { $_->{$column} } @{ $table->{rows} };
}

# Each function takes the printed table, the new one, what follows the word, and the database; it
# returns what is wrong.
my %checks = (
	rows => sub {
		my ($printed, $got, $range) = @_;
		my ($from, $dots, $to) = $range =~ /^(\d+)(\.\.)?(\d+)?$/ or die "rows $range\n";
		my $count = @{ $got->{rows} };

		$to //= $dots ? $count : $from;
		return $count < $from || $count > $to ? "$count rows" : ();
	},
	same => sub {
		my ($printed, $got, $columns) = @_;

		return map {
			my $column = $_;
			my ($old, $new) = map { join(', ', values_of($_, $column)) } $printed, $got;
			$old eq $new ? () : "$column is $new"
		} split /, */, $columns;
	},
	near => sub {
		my ($printed, $got, $what) = @_;
		my ($columns, $factor) = $what =~ /^(.*) ([\d.]+)$/ or die "near $what\n";
		my @wrong;

		for my $column (split /, */, $columns)
		{
			my @old = values_of($printed, $column);
			my @new = values_of($got, $column);
			for my $i (0 .. (@old < @new ? $#old : $#new))
			{
				my ($low, $high) = sort { $a <=> $b } map { s/%$//r } $old[$i], $new[$i];
				push @wrong, "$column is $new[$i] in place of $old[$i]" if $high > $factor * $low;
			}
		}
		return @wrong;
	},
	shared => sub {
		my ($printed, $got, $what) = @_;
		my ($column, $share) = $what =~ /^(.*) ([\d.]+)$/ or die "shared $what\n";
		my %new = map { $_ => 1 } values_of($got, $column);
		my @old = values_of($printed, $column);
		my $again = grep { $new{$_} } @old;

		return $again < $share * @old ? "$again of " . @old . " values of $column occur again" : ();
	},
	sum => sub {
		my ($printed, $got, $what) = @_;
		my ($column, $share, $other) = split / /, $what;
		my @sums = map { my $sum = 0; $sum += $_ for values_of($got, $_); $sum } $column, $other;

		return $sums[0] < $share * $sums[1] ? "sums are $sums[0] and $sums[1]" : ();
	},
	written => sub {
		my ($printed, $got, $what, $database) = @_;
		my ($column, $share, $relation, $text, $people) = $what =~ /^(\w+) ([\d.]+) of ([\w.]+)\.(\w+) by (\d+)$/
			or die "written $what\n";
		my @values = values_of($got, $column);
		my $list = join(',', map { "'" . s/'/''/gr . "'" } @values);
		my $sql = "WITH said AS (SELECT author, ' ' || (SELECT string_agg(w, ' ') FROM ngrams($text, 1) w) || ' ' AS words FROM $relation)
			SELECT count(*) FROM unnest(ARRAY[$list]::text[]) v
			WHERE (SELECT count(DISTINCT author) FROM said WHERE position(' ' || v || ' ' IN words) > 0) >= $people";
		utf8::encode($sql);
		IPC::Run::run([ 'psql', '-XAt', "--dbname=$database", '--command', $sql ], '>', \my $true) or die "psql failed\n";

		return $true < $share * @values ? $true + 0 . ' of ' . @values . " are written by $people people" : ();
	});

# What is wrong with two tables' columns and formats.
sub differences_of_form
{
	my ($printed, $got) = @_;
	my @wrong;

	return 'no table' unless $got;
	return 'columns ' . join(', ', @{ $got->{names} })
		unless "@{ $printed->{names} }" eq "@{ $got->{names} }";
	for my $column (@{ $printed->{names} })
	{
		my %shapes = map { shape($_) => 1 } values_of($printed, $column);
		next if $shapes{text};
		my %other = map { shape($_) => 1 } grep { !$shapes{ shape($_) } } values_of($got, $column);
		push @wrong, "$column has a " . join(' and a ', sort keys %other) if %other;
	}
	return @wrong;
}

sub masked
{
	return $_[0] =~ s/\d+(?:\.\d+)?/9/gr =~ s/[-#]{2,}/--/gr =~ s/ +/ /gr;
}

# A text for comparison: the last digits of a number depend on the processor.
sub exactly
{
	my ($text, $but) = @_;
	my @lines = split /\n/, $text;

	@lines = map { /$but/ ? () : $_ } @lines, '' if defined $but;
	return join("\n", map { s/(\d+\.\d{9,})/sprintf('%.10g', $1)/ger } @lines);
}

# How a block's answer differs from what the page prints; nothing if it does not.
sub tutorial_differences
{
	my ($block) = @_;
	my ($check, $answer) = @$block{qw(check answer)};

	if (!defined $check)
	{
		# command tags, and the empty table that a function without a result makes
		my $rest = $answer =~ s/^ \w+\n-+\n\n\(1 row\)\n*//mgr =~ s/^[A-Z]+(?: [A-Z]+)*(?: \d+)*\n//mgr;
		$rest .= $1 if $answer =~ /^((?:COPY|SELECT) 0\n)/m;
		return $rest =~ /\S/ ? ("unexpected: $rest") : ();
	}
	my $failed = $answer =~ /^(?:ERROR|FATAL):|^exit code/m;
	if ($check =~ /^(exact|error)(?: but for (.*))?$/)
	{
		my $as_said = $failed ? $1 eq 'error' && $answer =~ /^ERROR:/ : $1 eq 'exact';
		return $as_said && exactly($answer, $2) eq exactly($block->{output}, $2) ? () : ("got:\n$answer");
	}
	return ("got:\n$answer") if $failed;
	return masked($answer) eq masked($block->{output}) ? () : ("got:\n$answer") if $check eq 'masked';

	my ($printed, $got) = (rows_of($block->{output}), rows_of($answer));
	return ('what is printed is no table', "got:\n$answer") unless $printed;
	my @wrong = differences_of_form($printed, $got);
	for my $part (@wrong ? () : split /; */, $check)
	{
		my ($word, $what) = $part =~ /^(\w+) (.*)$/;
		die "$block->{name}: no check \"$part\"\n" unless defined $word && $checks{$word};
		push @wrong, $checks{$word}->($printed, $got, $what, $block->{database});
	}
	return @wrong ? (join('; ', @wrong), "got:\n$answer") : ();
}

1;
