# 042_manual.pl: the operations manual prints no command as tested that no test runs.
use strict;
use warnings;
use File::Basename qw(dirname);
use PostgreSQL::Test::Utils;
use Test::More;
use Manual;

my $here = dirname(__FILE__);
my $manual = manual_text();

my $tests = join('', map { slurp_file($_) } glob("$here/*.pl"));
my @blocks = $manual =~ /^<!-- tested: (\S+) -->$/mg;
ok($tests =~ /manual_block\('\Q$_\E'/, "some test runs \"$_\"") for @blocks;
is(() = $manual =~ /^```\w/mg, scalar(@blocks), 'all commands of the manual are tested');
done_testing();
