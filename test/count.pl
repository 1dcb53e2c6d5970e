# count.pl: counts what a test suite's output says.
#
# Reads the output of TAP programs (also under prove --verbose), of pg_regress
# and of pg_isolation_regress: up to PostgreSQL 15 those print "test NAME ... ok",
# from 16 on TAP.  Prints "PASSED FAILED".  A plan that was not carried out and a
# bail-out are failures.  Skipped tests and expected failures count as neither.
use strict;
use warnings;

my ($passed, $failed) = (0, 0);
my ($planned, $seen) = (undef, 0);

# At the end of one TAP stream: tests that were planned but never ran.
sub end_of_stream
{
    $failed++ if defined $planned && $seen < $planned;
    ($planned, $seen) = (undef, 0);
    return;
}

while (my $line = <>)
{
    if ($line =~ /^(not )?ok +\d+\b([^#]*)(?:#\s*(skip|todo)\b)?/i)
    {
        my ($not, $directive) = ($1, lc($3 // ''));
        end_of_stream() if $line =~ /^(?:not )?ok +1\b/ && $seen > 0;
        $seen++;
        next if $directive ne '';
        $not ? $failed++ : $passed++;
    }
    elsif ($line =~ /^1\.\.(\d+)/)
    {
        # the plan stands before its tests or after them
        end_of_stream() if defined $planned;
        $planned = $1;
        end_of_stream() if $seen > 0;
    }
    elsif ($line =~ /\.\.\. (ok|FAILED)\b/)
    {
        $1 eq 'ok' ? $passed++ : $failed++;
    }
    elsif ($line =~ /^Bail out!/)
    {
        $failed++;
    }
}
end_of_stream();
print "$passed $failed\n";
