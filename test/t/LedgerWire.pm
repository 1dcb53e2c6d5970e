# LedgerWire.pm: a client of the server's protocol, as small as can be, that knows of
# each row whether it has arrived, and that can stop reading in the middle of them.
package LedgerWire;

use strict;
use warnings;
use IO::Select;
use IO::Socket::UNIX;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(time);

# A connected session; undef if the server doesn't take one now.
sub new
{
	my ($class, $node, $role) = @_;
	my $socket = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port) or return;
	my $self = bless({ socket => $socket, select => IO::Select->new($socket), buffer => '' }, $class);
	my $startup = pack('N', 196608) . join("\0", 'user', $role, 'database', 'postgres', '', '');

	$self->reset;
	$self->transmit(pack('N', 4 + length $startup) . $startup);
	$self->finish;
	return $self->{ready} ? $self : undef;
}

sub reset
{
	my ($self) = @_;

	@$self{qw(rows first state ready)} = (0, undef, '00000', 0);
	return;
}

sub transmit
{
	my ($self, $bytes) = @_;
	local $SIG{PIPE} = 'IGNORE';

	$self->{eof} = 1 unless defined syswrite($self->{socket}, $bytes);
	return;
}

# Sends a query; listen() or finish() must follow.
sub query
{
	my ($self, $sql) = @_;

	$self->reset;
	$self->transmit('Q' . pack('N', 5 + length $sql) . "$sql\0");
	return;
}

# K: process and key; D: a row; E: an error; Z: the end.
sub message
{
	my ($self, $type, $body) = @_;

	if ($type eq 'K')
	{
		$self->{pid} = unpack('N', $body);
	}
	elsif ($type eq 'D')
	{
		my ($length) = unpack('x2 N', $body);

		$self->{first} //= $length == 0xffffffff ? undef : substr($body, 6, $length);
		$self->{rows}++;
	}
	elsif ($type eq 'E')
	{
		($self->{state}) = $body =~ /(?:^|\0)C(\w{5})\0/;
	}
	elsif ($type eq 'Z')
	{
		$self->{ready} = 1;
	}
	return;
}

# Takes what has come, waiting for it at most that many seconds; false at the end.
sub listen
{
	my ($self, $seconds) = @_;
	my $got;

	return 0 if $self->{eof} || $self->{ready};
	return 1 unless $self->{select}->can_read($seconds);
	$got = sysread($self->{socket}, $self->{buffer}, 65536, length $self->{buffer});
	$self->{eof} = 1 unless $got;
	while (length $self->{buffer} >= 5)
	{
		my ($type, $length) = unpack('a N', $self->{buffer});

		last if length $self->{buffer} < 1 + $length;
		$self->message($type, substr($self->{buffer}, 5, $length - 4));
		substr($self->{buffer}, 0, 1 + $length) = '';
	}
	return !$self->{eof} && !$self->{ready};
}

# Takes all that comes until the query's end or the connection's.
sub finish
{
	my ($self) = @_;
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;

	while ($self->listen(0.1))
	{
		die 'the server neither answers nor leaves' if time > $end;
	}
	return;
}

1;
