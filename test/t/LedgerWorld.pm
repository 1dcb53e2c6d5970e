# LedgerWorld.pm: the server, the people and the calls of the model test, and how the
# ledger is read for the comparison with LedgerModel.pm.
package LedgerWorld;

use strict;
use warnings;
use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(time);
use LedgerModel qw(units price as_double);
use LedgerNode;
use LedgerSession;

our @EXPORT = qw($node $model $admin $locker $owner @sessions create_world @analysts @grantees %relation %budget %name
	$op $newest %count @recent %caps_of %grants_of pick pause quoted regclass session ledger step_wrong
	new_call ended begin_calls until_waiting as_caps caps_wrong);

our ($node, $model, $admin, $locker, $owner, @sessions, %key);

# Relations, each with a dataset of that name.  The shares are powers of two, so that
# the caps of their lanes are known to the last digit.
our %budget = (
	plain => { epsilon => 2, delta => 0, accounting => 'gdp', pure => 1, additive => 0.25 },
	lanes => { epsilon => 4, delta => 2**-10, accounting => 'gdp', pure => 0.25, additive => 0.25 },
	rhos => { epsilon => 4, delta => 2**-10, accounting => 'zcdp', pure => 0.5, additive => 0.5 },
	sums => { epsilon => 4, delta => 2**-10, accounting => 'basic', pure => 0.5, additive => 0.5 },
	words => { epsilon => 8, delta => 2**-10, accounting => 'gdp', pure => 0.125, additive => 0.5 });
our %relation = map { $_ => { schema => 's', table => $_, column => 'who' } } keys %budget;
our %name = map { $_ => $_ } qw(boss owen ana bob cyd team guild);
our @analysts = qw(ana bob cyd);
our @grantees = (@analysts, qw(team guild));

# The server, with everybody's sessions.  What analysts and server commit may be lost
# in a crash; the ledger's must not be.
sub create_world
{
	my @sync = 'SET synchronous_commit = on';

	$node = ledger_node('model', 'shared_buffers = 4MB', 'wal_writer_delay = 10s', 'autovacuum = off',
		'log_statement = none');
	ledger_functions($node, 'postgres');
	$node->safe_psql('postgres', q{
		ALTER DATABASE postgres SET synchronous_commit = off;
		CREATE ROLE boss SUPERUSER LOGIN;
		CREATE ROLE owen LOGIN; CREATE ROLE ana LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE cyd LOGIN;
		CREATE ROLE team; CREATE ROLE guild;
		CREATE SCHEMA s; GRANT USAGE ON SCHEMA s TO PUBLIC;
		GRANT CREATE ON SCHEMA s TO owen;
		SET ROLE owen;
		CREATE TABLE s.plain (who int, what text); CREATE TABLE s.lanes (who int, what text);
		CREATE TABLE s.rhos (who int, what text); CREATE TABLE s.sums (who int, what text);
		CREATE TABLE s.words AS SELECT i AS who, 'some words' AS what FROM generate_series(1, 200) i;
		RESET ROLE;
		CREATE FUNCTION units(numeric) RETURNS text LANGUAGE sql IMMUTABLE
			AS 'SELECT trim_scale($1 * 1267650600228229401496703205376)::text';
		CREATE FUNCTION undone(relation regclass, prices float8[], parameters text, epsilon float8, delta float8)
			RETURNS text LANGUAGE plpgsql AS $$ BEGIN
			PERFORM ledger_charge(relation, prices, parameters => parameters, epsilon => epsilon, delta => delta);
			RAISE EXCEPTION 'x' USING ERRCODE = 'P0001'; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$;});

	$model = LedgerModel->new;
	$model->role($_) for @grantees;
	$model->role('boss', super => 1);
	$model->role('owen', owner => 1);
	$_ = LedgerSession->new($node, 'boss', @sync)->reconnect for $admin, $locker;
	$owner = LedgerSession->new($node, 'owen', @sync)->reconnect;
	@sessions = map { { session => LedgerSession->new($node, $_), role => $_ } } qw(ana ana bob bob cyd owen boss);
	%key = map { $admin->value("SELECT oid FROM pg_roles WHERE rolname = '$_'") => $_ } keys %name;
	return;
}

sub pick
{
	return $_[ int(rand(@_)) ];
}

sub pause
{
	select(undef, undef, undef, $_[0]);
	return;
}

sub quoted
{
	return join('.', map { '"' . $_ . '"' } @_);
}

sub regclass
{
	return quoted(@{ $relation{ $_[0] } }{qw(schema table)});
}

# An open session, of a given role if one is asked for.
sub session
{
	my ($role) = @_;
	my $chosen = pick(grep { !defined $role || $_->{role} eq $role } @sessions);

	$chosen->{session}{role} = $name{ $chosen->{role} };
	$chosen->{session}->connect or die 'no connection';
	return $chosen;
}

# The ledger as it is now, by one snapshot: lines as the model's, and the log's rows
# beyond those that were seen.  Numbers come from a sequence, so a smaller one may
# appear later: 12 are looked back.
our ($op, $newest, %count, @recent) = (0, 0);
my %seen;
my @lanes = @LedgerModel::LANES;
my $ledger = sprintf(q{
	SELECT 'D' AS kind, id, id AS dataset, NULL::bigint AS number, name, NULL, %1$s, %2$s FROM dpngram.dataset WHERE ended IS NULL
	UNION ALL SELECT 'G', g.id, g.dataset, NULL, b.role::text, CASE WHEN g.revoked IS NULL THEN 't' ELSE 'f' END,
		%3$s, %4$s FROM dpngram.grantee g JOIN dpngram.grantee_binding b ON b.grantee = g.id
		JOIN dpngram.dataset d ON d.id = g.dataset WHERE d.ended IS NULL
	UNION ALL SELECT 'R', id, dataset, number, mechanism, coalesce(parameters->>'op',
		((parameters->>'max_tokens')::int - 1000000)::text), coalesce(grantee, 0)::text, %5$s, %6$s
		FROM dpngram.release WHERE id > $1 ORDER BY kind, dataset, number},
	map { join(', ', @$_) }
	  [ map { "units(${_}_cap)" } @lanes ], [ map { "units(${_}_spent)" } @lanes ],
	  [ map { "units(g.${_}_cap)" } @lanes ], [ map { "units(g.${_}_spent)" } @lanes ],
	  [ ("''") x (@lanes - 1) ], [ map { "units($_)" } @lanes ]);

our (%caps_of, %grants_of);

sub ledger
{
	my (@lines, @log);

	$admin->{dbh}{pg_server_prepare} = 1;
	$admin->{ledger} //= $admin->{dbh}->prepare($ledger);
	$admin->{dbh}{pg_server_prepare} = 0;
	$admin->{ledger}->execute($newest - 12) or die $admin->{dbh}->errstr;
	(%caps_of, %grants_of) = ();
	for my $row (@{ $admin->{ledger}->fetchall_arrayref })
	{
		my ($kind, $id, $dataset, $number, $name, $more, @amounts) = @$row;
		my @cap = @amounts[ 0 .. $#lanes ];
		my @last = @amounts[ @lanes .. $#amounts ];

		if ($kind eq 'R')
		{
			next if $seen{$id}++;
			$newest = $id if $id > $newest;
			push @log, { id => $id, number => $number, dataset => $dataset, mechanism => $name, op => $more, grantee => $amounts[0],
				price => [ map { Math::BigInt->new($_) } @last ] };
			next;
		}
		$caps_of{$dataset} = \@cap if $kind eq 'D';
		$grants_of{$dataset}{ $key{$name} } = { id => $id, cap => \@cap } if $kind eq 'G';
		push @lines, join(' ', $kind, $id, $kind eq 'D' ? () : ($key{$name}, $more),
			join(',', map { $_ // '' } @cap), join(',', @last));
	}
	return (\@log, sort @lines);
}

# How this step's calls ended; and whether ledger and model agree.  What is wrong.
our @outcomes;

sub step_wrong
{
	for my $end (@outcomes)
	{
		$end->{answered} = $end->{state} eq '00000' || $end->{state} eq ($end->{failing} // '');
		$model->answered($end->{op}) if $end->{answered};
		$count{ $end->{answered} ? 'answered' : $end->{unsure} && $end->{state} =~ $end->{unsure} ? 'unsure' : $end->{state} }++;
	}
	my ($log, @lines) = ledger();
	my $wrong = $model->replay(@$log);
	return $wrong if $wrong;
	for my $end (@outcomes)
	{
		my ($state, $first) = @$end{qw(state first)};

		return "call $end->{op} was answered, but $first" if $end->{answered} && $first ne '00000';
		next if $end->{answered} || ($end->{unsure} && $state =~ $end->{unsure});
		# a call that waited while its dataset ended does not get the next one
		my $same = $end->{dataset} == $model->id($end->{relation});
		my $may = $first ne '00000' ? $first : $same ? $model->may(@$end{qw(relation role)}) : 'NG002';
		return "call $end->{op}: $state, expected $may"
		  unless $state eq ($end->{refused} // '') && $first eq '00000'
		  || $state eq ($may eq '00000' ? 'NG001' : $may);
		$wrong = $model->refused($end->{op}, $state) and return $wrong;
	}
	my @expected = $model->state;
	return "the ledger has\n" . join("\n", @lines) . "\nand the model\n" . join("\n", @expected)
	  if "@lines" ne "@expected";
	return;
}

# A price for an analyst, as (mu^2, epsilon, delta, asked epsilon, asked delta): by
# chance, or by what the budget's view shows of the rest.
sub random_price
{
	my ($relation, $at) = @_;
	my $budget = $budget{$relation};
	my @most = map { defined $_ ? as_double($_) : 0 } $model->caps($relation);
	my ($rho, @amount) = ($most[3], @most[ 0 .. 2 ], @most[ 5, 6 ]);
	my $kind = rand();

	if ($budget->{accounting} eq 'zcdp')
	{
		@amount[ 0 .. 2 ] = (2 * $rho, sqrt(2 * $rho), $most[4]);
	}
	if ($kind < 0.06)
	{
		my $rest = $at->{session}->run("SELECT mu2_remaining, eps_pure_remaining, delta_add_remaining, rho_remaining,
			rho_delta_remaining, remaining_epsilon FROM dpngram.budget WHERE dataset = '$relation' ORDER BY random() LIMIT 1");
		my @rest = map { ($_ // 0) * pick(1, 1 + 2**-52, 1 + 2**-52, 0.5, 1 / 3) } @{ ($rest || [])->[0] || [] };

		@amount = @rest[ 0 .. 2 ] if @rest && $budget->{accounting} eq 'gdp';
		@amount = pick([ 2 * $rest[3], 0, 0 ], [ 0, sqrt(2 * $rest[3]), 0 ], [ 0, 0, $rest[4] ])->@*
		  if @rest && $budget->{accounting} eq 'zcdp';
		@amount = (0, 0, 0, $rest[5]) if @rest && $budget->{accounting} eq 'basic';
	}
	elsif ($kind < 0.16)
	{
		@amount = map { 2**-int(rand(120)) } 0 .. 4;
	}
	else
	{
		@amount = map { $_ * rand() * pick(1 / 3, 1 / 30, 1 / 100, 1 / 100, 1 / 300) } @amount;
	}
	my $lane = $relation eq 'plain' && rand() < 0.95 ? 1 : int(rand(3));
	if (rand() < 0.5)
	{
		$amount[$_] = 0 for grep { $_ != $lane } 0 .. 2;
	}
	# as the ledger will read them
	return map { $_ || 0 } map { sprintf('%.17g', $_ // 0) } @amount[ 0 .. 4 ];
}

# A price that takes that part of what the dataset has left in one lane.
sub part_of_rest
{
	my ($relation, $part) = @_;
	my @rest = map { $part * $_ } $model->rest($relation);
	my %price = (gdp => [ $rest[0], $rest[1], $rest[2], 0, 0 ], zcdp => [ 2 * $rest[3], 0, $rest[4], 0, 0 ],
		basic => [ 0, 0, 0, $rest[5], $rest[6] ]);

	return map { $_ == 0 ? 0 : sprintf('%.17g', $_) } $price{ $budget{$relation}{accounting} }->@*;
}

# A new call by whoever uses that session; its SQL, to be sent.
sub new_call
{
	my ($at, %how) = @_;
	my $relation = $how{relation} // pick(sort keys %relation);
	my $role = $how{role} // $at->{role};
	my @prices = map { [ $how{part} ? part_of_rest($relation, $how{part}) : random_price($relation, $at) ] }
	  1 .. ($how{candidates} // 1);
	my ($epsilon, $delta) = ($prices[0][3] || 1e-9, $prices[0][4]);
	my %call = (op => ++$op, relation => $relation, role => $role, dataset => $model->id($relation),
		first => $model->may($relation, $role));
	my $sql = sprintf(q{ledger_charge('%s', '{%s}', parameters => '{"op": %d}', epsilon => %s, delta => %s%s)},
		regclass($relation), join(',', map { @$_[ 0 .. 2 ] } @prices), $op, $epsilon, $delta, $how{arguments} // '');

	$model->call(%call, prices => [ map { price(@$_[ 0 .. 2 ], $epsilon, $delta) } @prices ]);
	return (\%call, $sql);
}

sub ended
{
	my ($call, $state, %how) = @_;

	push @outcomes, { %$call, state => $state, %how };
	push @recent, "$call->{op}: $call->{role} asked $call->{relation}: $state" . ($how{what} ? " ($how{what})" : '');
	return;
}

# Calls by several sessions that begin now; they end later.
sub begin_calls
{
	my ($relation, %how) = @_;
	my %taken;
	my @at = grep { !$taken{ $_->{session} }++ } map { session() } 1 .. 1 + int(rand(3));
	my @calls = map { [ $_->{session}, new_call($_, relation => $relation, %how) ] } @at;

	$_->[0]->start("SELECT $_->[2]") for @calls;
	return @calls;
}

# Until each of the calls has ended or waits: for a lock, or for its worker.
sub until_waiting
{
	my (@calls) = @_;
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;
	my $waits = 'SELECT count(*) FROM pg_stat_activity WHERE pid = ? AND wait_event_type IN (\'Lock\', \'Extension\')';

	for my $call (@calls)
	{
		until ($call->[0]->ready || $admin->value($waits, $call->[0]{pid}))
		{
			die 'a call neither ended nor waits' if time > $end;
			pause(0.0005);
		}
	}
	return;
}

# Caps as ledger() reads them, as the model keeps them; undef if there are none.
sub as_caps
{
	my ($cap) = @_;

	return unless grep { defined } @$cap;
	return [ map { defined $_ ? Math::BigInt->new($_) : undef } @$cap ];
}

# Caps that the ledger computed: exact where that is possible, else by the promise.
sub caps_wrong
{
	my ($what, $cap, $relation, $epsilon) = @_;
	my ($accounting, $delta, $pure, $additive) = @{ $budget{$relation} }{qw(accounting delta pure additive)};
	my %exact = (
		gdp => { 1 => $pure * $epsilon, 2 => $additive * $delta },
		zcdp => { 4 => $additive * $delta },
		basic => { 5 => $epsilon, 6 => $delta });
	my %capped = map { $_ => 1 } @{ $LedgerModel::CAPPED{$accounting} };

	return "$what: no caps" unless $cap;
	for my $lane (0 .. $#lanes)
	{
		my $should = $exact{$accounting}{$lane};

		return "$what: lane $lanes[$lane]" if defined $cap->[$lane] xor $capped{$lane};
		return "$what: cap of lane $lanes[$lane]" if defined $should && $cap->[$lane] != units($should);
	}
	return "$what: the caps don't hold the promise"
	  unless LedgerModel::caps_hold($accounting, $cap, $epsilon, $delta);
	return;
}

1;
