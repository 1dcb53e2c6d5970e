# watch.pl PID FILE: until it is told to stop, watches the session PID, the background worker of
# the call that it makes, and that worker's parallel workers.  Then it writes to the file, in one line:
# seconds of processor time of the session and its worker; the peak in MB of the larger one's
# resident set; and that of the pages, in MB, that are not shared, of all processes together.
use strict;
use warnings;
use POSIX ();
use Time::HiRes qw(sleep);

my ($session, $file) = @ARGV;
my $ticks = POSIX::sysconf(POSIX::_SC_CLK_TCK());
my %member = ($session => 'main'); # processes met: main, parallel, or none of ours
my (%processor, %resident, $anonymous);
$anonymous = 0;

sub contents
{
	my ($name) = @_;
	open(my $in, '<', $name) or return '';
	local $/;
	return scalar(<$in>) // '';
}

sub kind
{
	my ($pid) = @_;
	my $title = contents("/proc/$pid/cmdline");

	return if $title !~ /^postgres: /; # a process that has not yet got its title
	return 'main' if $title =~ /dpngram release/;
	return 'parallel' if $title =~ /parallel worker for PID (\d+)/ && ($member{$1} // '') eq 'main';
	return 'other';
}

sub processor_of
{
	my ($pid) = @_;
	my ($user, $system) = (split(' ', contents("/proc/$pid/stat") =~ s/.*\) //r))[ 11, 12 ];

	return defined $system ? ($user + $system) / $ticks : undef;
}

# The session has lived before.
my $before = processor_of($session) // 0;

sub look
{
	my $sum = 0;

	foreach my $pid (map { m{(\d+)$} ? $1 : () } glob('/proc/[0-9]*'))
	{
		next if $pid < $session;
		$member{$pid} = kind($pid) unless defined $member{$pid};
		next if ($member{$pid} // 'other') eq 'other';
		my %kb = contents("/proc/$pid/status") =~ /^(VmHWM|RssAnon):\s*(\d+)/mg;

		$sum += $kb{RssAnon} // 0;
		next if $member{$pid} ne 'main';
		$processor{$pid} = processor_of($pid) // $processor{$pid};
		$resident{$pid} = $kb{VmHWM} // $resident{$pid};
	}
	$anonymous = $sum if $sum > $anonymous;
	return;
}

sub finish
{
	my ($seconds, $peak) = (-$before, 0);

	look();
	$seconds += $_ // 0 foreach values %processor;
	foreach (values %resident)
	{
		$peak = $_ if ($_ // 0) > $peak;
	}
	open(my $out, '>', $file) or die "$file: $!";
	printf $out "%.2f %.1f %.1f\n", $seconds, $peak / 1024, $anonymous / 1000;
	close($out);
	exit 0;
}

$SIG{TERM} = \&finish;
while (1)
{
	look();
	sleep(0.01);
}
