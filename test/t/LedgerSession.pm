# LedgerSession.pm: a persistent session whose statements can be left running, for
# the tests that call the ledger thousands of times.
#
# start() sends a statement and returns at once; outcome() waits for its end, in
# bounded time, and tells the SQLSTATE and the rows that reached this client.  A
# session whose server went away is reopened by the next connect().
package LedgerSession;

use strict;
use warnings;
use DBD::Pg qw(:async);
use DBI;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(time);

# A session of that role; @setup are statements to run after each connect.
sub new
{
	my ($class, $node, $role, @setup) = @_;
	return bless({ node => $node, role => $role, setup => \@setup }, $class);
}

# Opens the session unless it is open; false if the server doesn't take it yet.
sub connect
{
	my ($self) = @_;
	return 1 if $self->{dbh};
	my $dsn = sprintf('dbi:Pg:host=%s;port=%s;dbname=postgres', $self->{node}->host, $self->{node}->port);

	$self->{dbh} = DBI->connect($dsn, $self->{role}, '',
		{ RaiseError => 0, PrintError => 0, PrintWarn => 0, AutoCommit => 1, pg_server_prepare => 0 })
	  or return 0;
	$self->{dbh}->do($_) for 'SET client_min_messages = error', @{ $self->{setup} };
	$self->{pid} = $self->{dbh}{pg_pid};
	$self->{state} = '00000';
	return 1;
}

# Opens the session, waiting for a server that is just starting.
sub reconnect
{
	my ($self) = @_;
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;

	$self->drop;
	until ($self->connect)
	{
		die "no connection: $DBI::errstr" if time > $end;
		select(undef, undef, undef, 0.005);
	}
	return $self;
}

sub drop
{
	my ($self) = @_;
	my $dbh = delete $self->{dbh} or return;

	delete $self->{statement};
	$dbh->{InactiveDestroy} = 0;
	$dbh->disconnect;
	return;
}

sub failed
{
	my ($self) = @_;
	my $state = $self->{dbh}->state;

	# the driver has a state of its own for a connection that broke
	$self->{state} = $state =~ /^\w{5}$/ ? $state : '08006';
	$self->{error} = $self->{dbh}->errstr;
	return;
}

# Runs a statement to its end; its rows, or undef if it failed ({state} tells how).
sub run
{
	my ($self, $sql, @values) = @_;
	my $statement = $self->{dbh}->prepare($sql);

	$self->{state} = '00000';
	unless ($statement && $statement->execute(@values))
	{
		$self->failed;
		return;
	}
	return $statement->{NUM_OF_FIELDS} ? $statement->fetchall_arrayref : [];
}

# The first column of the only row.
sub value
{
	my ($self, $sql, @values) = @_;
	my $rows = $self->run($sql, @values) or die "$sql: $self->{state} $self->{error}";

	return $rows->[0][0];
}

# Runs statements that must not fail.
sub must
{
	my ($self, @sql) = @_;

	$self->run($_) or die "$_: $self->{state} $self->{error}" for @sql;
	return;
}

# Sends a statement; outcome() must follow.
sub start
{
	my ($self, $sql) = @_;

	$self->{state} = '00000';
	$self->{statement} = $self->{dbh}->prepare($sql, { pg_async => PG_ASYNC });
	$self->{statement}->execute or $self->failed;
	return;
}

# Is the statement at its end?
sub ready
{
	my ($self) = @_;
	my $ready = $self->{dbh}->pg_ready;

	return !defined $ready || $ready != 0;
}

# Waits for the statement's end; (SQLSTATE, rows).
sub outcome
{
	my ($self) = @_;
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;
	my $socket = $self->{dbh}{pg_socket};
	my $statement = delete $self->{statement};

	return ($self->{state}, []) if $self->{state} ne '00000';
	until ($self->ready)
	{
		my $bits = '';

		die 'a statement did not end' if time > $end;
		vec($bits, $socket, 1) = 1 if $socket >= 0;
		select($bits, undef, undef, 0.05);
	}
	# to some releases of the driver a cancelled statement is no failure, but has its state
	unless (defined $self->{dbh}->pg_result && $self->{dbh}->state =~ /^(?:00000)?$/)
	{
		$self->failed;
		return ($self->{state}, []);
	}
	return ('00000', $statement->{NUM_OF_FIELDS} ? $statement->fetchall_arrayref : []);
}

# Cancels as a client does; true if the server says that it did.
sub cancel
{
	my ($self) = @_;
	my $cancelled = $self->{dbh}->pg_cancel;

	delete $self->{statement};
	return $cancelled;
}

1;
