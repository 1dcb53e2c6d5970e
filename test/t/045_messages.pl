# 045_messages.pl: whoever has an error on the screen finds it in doc/troubleshooting.md: each
# message of the sources under its SQLSTATE, each reason of those that have several, and no
# message that there is not.  PostgreSQL's own, where the page has them, are provoked.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use Manual;
use Sources;

my $page = manual_text('troubleshooting.md');
my $own = $page =~ s/^## PostgreSQL's own messages\n(.*?)^## //ms ? $1 : die "no such section";
my ($server) = run_command([ 'pg_config', '--includedir-server' ]);

# Rows "message | SQLSTATE"; messages are code spans, several in a row.
my %told;
while ($page =~ /^\| (`[^|]*`) \| (\w+) \|/mg)
{
	my ($messages, $state) = ($1, $2);
	$told{"$_ ($state)"} = 1 for $messages =~ /`([^`]+)`/g;
}
# Those that PostgreSQL's own functions have, too, stand among its messages.
my %common = map { $_ => 1 } $own =~ /`([^`]+)`/g;
my %said;
for my $message (source_messages($server))
{
	my ($text, $state) = @$message;

	$said{ "$text (" . ($state // 'no SQLSTATE') . ')' } = 1 unless $common{$text};
}
# A row may be of several messages: "…" stands for any words.
sub covers
{
	my ($row, $message) = @_;
	my $pattern = join('.*', map { quotemeta } split(/…/, $row, -1));

	return $message =~ /^$pattern$/;
}

sub uncovered
{
	my ($rows, $messages) = @_;

	return grep { my $message = $_; !$rows->{$message} && !grep { covers($_, $message) } keys %$rows } sort keys %$messages;
}

cmp_ok(scalar(keys %said), '>', 150, 'the sources have messages');
is(join("\n", uncovered(\%told, \%said)), '', 'each is in the manual, under its SQLSTATE');
is(join("\n", grep { my $row = $_; !grep { covers($row, $_) } keys %said } sort keys %told), '', 'and the manual has no others');

for my $reasons (
	[ 'NG006', source_details('ledger/call.c', qr/\bcall_failed\(|\bno_answer\(segment,/) ],
	[ 'NG007', source_details('ledger/binding.c', qr/\breturn/), source_details('ledger/carry.c', qr/\breturn/) ])
{
	my ($state, @details) = @$reasons;

	cmp_ok(scalar(@details), '>=', 5, "$state has several reasons");
	is(join("\n", grep { $page !~ /^\| \Q$_\E \|/m } @details), '', 'all in the manual');
}

my @states = map { s/[', ]//gr } slurp_file(source_dir() . '/src/dpngram_errcodes.h') =~ /MAKE_SQLSTATE\(([^)]*)\)/g;
is_deeply([ $page =~ /^## By SQLSTATE$(.*?)^## /ms ? $1 =~ /^\| (NG\d{3}) \| /mg : () ], \@states, 'the manual tells what to do about each SQLSTATE');

my $node = ledger_node('messages');
$node->safe_psql('postgres', q{
	CREATE ROLE ana LOGIN;
	CREATE SCHEMA closed;
	CREATE TABLE closed.texts (person int, body text);
	CREATE TABLE texts (person int, body text);
	CREATE DATABASE with_it;});
$node->safe_psql('with_it', q{
	CREATE EXTENSION dpngram;
	CREATE SCHEMA closed;
	CREATE TABLE closed.texts (person int, body text);
	SELECT dp_protect('closed.texts', 'person', 1, 1e-6);});
my $call = q{dp_ngrams('closed.texts', 'person', 'body', 1, 1e-7)};
for (
	[ 'postgres', "SELECT * FROM $call" ],
	[ 'with_it', "SELECT * FROM dp_ngrams('closed.texts', 'person', 'body', 1, 1e-7, 1, 2, 3)" ],
	[ 'with_it', q{SELECT * FROM dp_ngrams('texts', 'person', 'body', 1, 1e-7)} ],
	[ 'with_it', "SET ROLE ana; SELECT * FROM $call" ],
	[ 'postgres', 'SET ROLE ana; SELECT * FROM texts' ],
	[ 'postgres', 'SET ROLE ana; CREATE EXTENSION dpngram' ],
	[ 'postgres', q{CREATE FUNCTION f() RETURNS int AS '$libdir/dpngram2', 'f' LANGUAGE c} ],
	[ 'with_it', q{BEGIN READ ONLY; SELECT dp_protect('closed.texts', 'person', 1, 1e-6)} ],
	[ 'with_it', q{SELECT dpngram.append_only()} ])
{
	my ($database, $sql) = @$_;
	my (undef, undef, $error) = $node->psql($database, "\\set VERBOSITY verbose\n$sql");
	my ($state, $message) = $error =~ /ERROR:  (\w{5}): (.*)/;
	my $general = defined $message ? $message =~ s/"(?!\$libdir|dpngram2?")[^"]*"/"…"/gr : '';

	# from PostgreSQL 18 on without $libdir
	$general =~ s/dpngram2"/dpngram"/;
	$general =~ s/(permission denied for \w+) .*/$1 …/;
	$general =~ s/function dp_ngrams\(.*\)/function dp_ngrams(unknown, unknown, …)/;
	like($own, qr/^\| .*`\Q$general\E`.* \| $state \|/m, "the manual has \"$general\"");
}
$node->stop;
done_testing();
