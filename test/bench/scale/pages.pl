# pages.pl PID FILE: until it is told to stop, watches how many unshared pages a backend and
# its parallel workers have together; writes the peak, in MB, to the file.
use strict;
use warnings;
use Time::HiRes qw(sleep);

my ($leader, $file) = @ARGV;
my $peak = 0;
my %member; # processes met, and whether they belong to the call

sub pages
{
	my ($pid) = @_;
	open(my $status, '<', "/proc/$pid/status") or return 0;
	my ($kb) = map { /^RssAnon:\s*(\d+)/ ? $1 : () } <$status>;

	return $kb // 0;
}

sub belongs
{
	my ($pid) = @_;
	open(my $command, '<', "/proc/$pid/cmdline") or return;
	my $line = <$command> // '';

	return if $line !~ /^postgres: /; # a process that has not yet got its title
	return $line =~ /parallel worker for PID $leader\b/ ? 1 : 0;
}

sub finish
{
	open(my $out, '>', $file) or die "$file: $!";
	printf $out "%.1f\n", $peak / 1000;
	exit 0;
}

$SIG{TERM} = \&finish;
while (1)
{
	my $sum = pages($leader);

	foreach my $pid (map { m{(\d+)$} ? $1 : () } glob('/proc/[0-9]*'))
	{
		next if $pid < $leader;
		$member{$pid} = belongs($pid) unless defined $member{$pid};
		$sum += pages($pid) if $member{$pid};
	}
	$peak = $sum if $sum > $peak;
	sleep(0.02);
}
