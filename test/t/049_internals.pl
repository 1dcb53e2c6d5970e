# 049_internals.pl: doc/internals.md names no file, folder or function that isn't there, and
# leaves no folder and no file of the sources out.
use strict;
use warnings;
use File::Basename qw(basename);
use File::Find;
use PostgreSQL::Test::Utils;
use Test::More;
use Manual;
use Sources;

my $page = manual_text('internals.md');
my $tree = source_dir();

# Files by their names alone; where a name stands with its folder, the end of its path counts.
my @paths;
find({ no_chdir => 1, wanted => sub { push @paths, $_ if -f && !m{/(?:build|tmp_check|results)[^/]*/} } },
	map { "$tree/$_" } qw(src test sql scripts doc));
my @absent = grep { my $file = $_; !-e "$tree/$file" && !grep { m{/\Q$file\E$} } @paths }
	$page =~ m{`([\w./-]+\.(?:c|h|pl|pm|sql|sh|md|spec))`}g;
is(join("\n", @absent), '', 'files that are named are there');

# Functions, types and macros.
my $text = join("\n", map { slurp_file($_) } grep { /\.(?:[ch]|sql|sh|pl|pm)$|Makefile$/ } @paths);
my %word = map { $_ => 1 } $text =~ /(\w+)/g;
$word{$_} = 1 for qw(errfinish post_auth_delay);    # PostgreSQL's
my @unknown = grep { !$word{$_} } map { s/\(\)$//r } $page =~ /`([A-Za-z]\w{3,}(?:\(\))?)`/g;
is(join("\n", @unknown), '', 'so are functions, types and modules');

# The tree: each folder of src and test is in it, and each that is in it is there.
my ($drawn) = $page =~ /^## The tree\n\n```\n(.*?)^```/ms;
for my $folder (map { glob("$tree/$_/*/") } qw(src test))
{
	my $name = basename($folder);

	like($drawn, qr/^  \Q$name\E\/ /m, "the tree has $name/");
}
my @gone = grep { !-d "$tree/$_" && !-d "$tree/src/$_" && !-d "$tree/test/$_" } $drawn =~ m{^ *(\w+)/}mg;
is(join(' ', @gone), '', 'and no folder that is gone');

# Every file of C has its place: by its name, with or without suffix.
my @left = grep { my $name = basename($_, '.c'); $page !~ /\b\Q$name\E\b/ } source_files(qr/\.c$/);
is(join("\n", map { s{.*/src/}{}r } @left), '', 'every file of src is told of');
done_testing();
