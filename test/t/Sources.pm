# Sources.pm: what src/ says to its users, so that tests compare a page of the manual with it.
#
# A message is given as it is printed, with "…" in place of what a call fills in, and with
# its SQLSTATE: "log" where nobody but the server's log gets it, "file" where the SQLSTATE
# is that of the system's error.
package Sources;

use strict;
use warnings;
use Exporter 'import';
use File::Basename qw(dirname);
use File::Find;
use PostgreSQL::Test::Utils qw(slurp_file);

our @EXPORT = qw(source_dir source_files source_text source_messages source_details);

sub source_dir
{
	return dirname(__FILE__) . '/../..';
}

# The files of src/ whose names match.
sub source_files
{
	my ($pattern) = @_;
	my @files;

	find({ no_chdir => 1, wanted => sub { push @files, $_ if -f && /$pattern/ } }, source_dir() . '/src');
	@files = sort @files;
	return @files;
}

sub source_text
{
	return join("\n", map { slurp_file($_) } source_files(shift));
}

# The SQLSTATEs by the names of their macros: our own, and the server's.
sub sqlstates
{
	my ($server) = @_;
	my $headers = slurp_file(source_dir() . '/src/dpngram_errcodes.h') . slurp_file("$server/utils/errcodes.h");
	my %state;

	while ($headers =~ /#define (ERRCODE_\w+) MAKE_SQLSTATE\(([^)]*)\)/g)
	{
		my ($name, $letters) = ($1, $2);
		$state{$name} = $letters =~ s/[', ]//gr;
	}
	return %state;
}

# What a C format prints; adjacent literals are one.
sub printed
{
	my ($format) = @_;

	$format =~ s/"\s*INT64_FORMAT\s*"/…/g;
	$format =~ s/^INT64_FORMAT\s*"/"…/;
	$format =~ s/"\s+"//g;
	$format =~ s/^"|"$//g;
	$format =~ s/%(?:[sduxgfi]|zu|\.\d+g)/…/g;
	return $format =~ s/\\"/"/gr;
}

sub state_of
{
	my ($level, $report, $state) = @_;

	return 'log' if $level =~ /^LOG/ || $report =~ /errcode\(error->sqlerrcode\)/;
	return 'file' if $report =~ /errcode_for_file_access/;
	return $state->{$1} if $report =~ /errcode\((ERRCODE_\w+)\)/;
	return { WARNING => '01000', NOTICE => '00000' }->{$level};
}

# The messages of all calls of ereport in C, and of RAISE in SQL: [message, SQLSTATE].
sub source_messages
{
	my ($server) = @_;
	my %state = sqlstates($server);
	my $literal = qr/(?:INT64_FORMAT\s*)?"(?:[^"\\]|\\.)*"(?:\s*(?:INT64_FORMAT|"(?:[^"\\]|\\.)*"))*/;
	my $source = source_text(qr/\.[ch]$/);
	my @messages;

	while ($source =~ /\bereport\((\w+),\s*(.*?)\)\)?;/gs)
	{
		my ($level, $report) = ($1, $2);
		push @messages, map { [ printed($_), state_of($level, $report, \%state) ] }
			$report =~ /\berrmsg\(($literal)/g;
	}
	# what a method says of work that it did not do
	push @messages, [ printed($1), $state{ERRCODE_PROGRAM_LIMIT_EXCEEDED} ]
		while $source =~ /\w+_failure\(void \*state.*?psprintf\(($literal)/gs;
	my $sql = source_text(qr{/src/sql/[^/]+\.sql$});
	while ($sql =~ /RAISE EXCEPTION '([^']*)'.*?ERRCODE = '(\w+)'/gs)
	{
		my ($text, $state) = ($1, $2);
		push @messages, [ $text =~ s/%/…/gr, $state eq 'insufficient_privilege' ? '42501' : $state ];
	}
	return grep { $_->[0] ne '…' } @messages;
}

# The first string of each call of a function, or of what it returns.
sub source_details
{
	my ($file, $pattern) = @_;
	my $source = slurp_file(source_dir() . "/src/$file");
	my @details = $source =~ /$pattern\s*("(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*)/g;

	return map { printed($_) } @details;
}

1;
