# The ledger against a model of it (LedgerModel.pm): ten thousand random operations
# of analysts who choose what to ask by what they were answered, of owners, of
# transaction ends, cancels and crashes.  After every step:
#
#	- every call that was answered has its debit, at the price and under the grant
#	  that the model says; a call that was refused has none, and if it was refused
#	  for want of budget, it did not fit;
#	- a call that was cancelled, terminated or met a crash has one debit or none;
#	- no debit exceeded a cap, the dataset's or the role's, when it was made;
#	- the ledger's sums are the model's, to the last of their 100 binary digits.
#
# LEDGER_STEPS is the number of operations, SEED chooses another history.
use strict;
use warnings;
use List::Util qw(min shuffle);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use LedgerNode;
use LedgerWorld;

my $steps = $ENV{LEDGER_STEPS} // 10_000;
my $seed = $ENV{SEED} // 20;
my $crashes = 32;
srand($seed);
note("SEED=$seed");

# One call, in every kind of transaction.  The answer counts as soon as its rows
# are here, whatever becomes of the transaction.
sub step_call
{
	my $at = session();
	my ($before, $after, %how) = @{ pick(
			[ '', '' ], [ '', '' ], [ '', '' ],
			[ 'BEGIN', 'ROLLBACK' ],
			[ 'BEGIN; SAVEPOINT s', 'ROLLBACK TO s; COMMIT' ],
			[ 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1', 'COMMIT' ],
			[ 'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT 1', 'ROLLBACK' ],
			[ '', '', candidates => 2 ],
			[ '', '', arguments => q{, outcome => 'open'} ],
			[ '', '', arguments => q{, outcome => 'error'}, failing => 'XX000' ]) };
	my ($call, $sql) = new_call($at, %how);

	$at->{session}->must($before) if $before;
	$at->{session}->run("SELECT $sql");
	ended($call, $at->{session}{state}, failing => $how{failing}, what => $before);
	$at->{session}->must($at->{session}{state} eq '00000' ? $after : 'ROLLBACK') if $before;
	return;
}

# Calls that can't be charged, whatever the budget.
sub step_improper
{
	my $at = session();
	my ($call, $sql) = new_call($at);

	if (rand() < 0.5)
	{
		$at->{session}->must('BEGIN READ ONLY');
		$at->{session}->run("SELECT $sql");
		ended({ %$call, first => '25006' }, $at->{session}{state});
		$at->{session}->must('ROLLBACK');
		return;
	}
	my $amount = pick('NaN', 'Infinity', '-1e-300');
	if (rand() < 0.5)
	{
		$sql =~ s/'\{[^,]*,/'{$amount,/;
	}
	else
	{
		# a call that asks for nothing would be free in accounting basic
		$amount = pick("'NaN'", '0', '-1e-300');
		$sql =~ s/epsilon => [^,]*, delta => [^,)]*/epsilon => $amount, delta => 0/;
	}
	$at->{session}->run("SELECT $sql");
	ended($call, $at->{session}{state}, refused => 'NG005', what => $amount);
	return;
}

# A cursor, an exception block, another role's name, two calls in one statement.
sub step_indirect
{
	my $kind = int(rand(4));
	my $at = session($kind == 2 ? 'boss' : undef);
	my $role = $kind == 2 ? pick(@analysts) : $at->{role};
	my ($call, $sql) = new_call($at, role => $role);
	my $session = $at->{session};

	if ($kind == 0)
	{
		$session->must("BEGIN; DECLARE c CURSOR FOR SELECT $sql");
		$session->run('FETCH c');
		ended($call, $session->{state}, what => 'cursor');
		$session->must('ROLLBACK');
	}
	elsif ($kind == 1)
	{
		$sql =~ s/ledger_charge/undone/;
		my $rows = $session->run("SELECT $sql");
		ended($call, $rows ? $rows->[0][0] : $session->{state}, failing => 'P0001', what => 'exception block');
	}
	elsif ($kind == 2)
	{
		$session->must('SET ROLE ' . quoted($name{$role}));
		$session->run("SELECT $sql");
		ended($call, $session->{state}, what => 'SET ROLE');
		$session->must('RESET ROLE');
	}
	else
	{
		my ($other, $second) = new_call($at, relation => $call->{relation});

		$session->run("SELECT $sql, $second");
		ended($_, $session->{state}, unsure => qr/NG001/, what => 'one of two') for $call, $other;
	}
	return;
}

# The real thing: the price of each of these calls, on a relation of its own.  The
# second is that of the dataset's split of delta, for a call whose own doesn't fit;
# it is known as soon as it was charged for the first time.
my %known;

sub ngrams_sql
{
	my ($relation, $column, $asked, $number) = @_;

	return sprintf(q{SELECT * FROM dp_ngrams('%s', '%s', 'what', %s, max_length => 2, max_tokens => %d)},
		$relation, $column, $asked, 1_000_000 + $number);
}

sub learn
{
	my ($asked, $number) = @_;
	my $paid = $admin->run(q{SELECT units(mu2), units(eps_pure), units(delta_add), units(rho),
		units(rho_delta), units(basic_epsilon), units(basic_delta) FROM dpngram.release
		WHERE id > ? AND mechanism = 'dp_ngrams' AND parameters->>'max_tokens' = ?}, $newest - 12, 1_000_000 + $number);

	return unless @$paid && @{ $known{$asked} // [] } < 2;
	my @debit = map { Math::BigInt->new($_) } @{ $paid->[0] };
	return if grep { "@{ $_->{low} }" eq "@debit" } @{ $known{$asked} };
	push @{ $known{$asked} }, { low => \@debit, high => \@debit };
	return;
}

sub learn_prices
{
	$admin->must('CREATE TABLE learn AS TABLE s.words',
		"SELECT dp_protect('learn', 'who', 64, 2.0^(-10) " . options('words') . ')');
	my $number = 0;
	for my $asked (map { ("$_, 1e-6", "$_, 1e-5") } 0.5, 1, 2)
	{
		$admin->must(ngrams_sql('learn', 'who', $asked, ++$number));
		learn($asked, $number);
	}
	$admin->must(q{SELECT dp_unprotect('learn')});
	ledger();
	return;
}

sub step_ngrams
{
	my $at = session();
	my $asked = pick(sort keys %known);
	my %call = (op => ++$op, relation => 'words', role => $at->{role}, dataset => $model->id('words'),
		first => $model->may('words', $at->{role}));

	$at->{session}->run(ngrams_sql(regclass('words'), $relation{words}{column}, $asked, $op));
	learn($asked, $op);
	$model->call(%call, prices => [ @{ $known{$asked} } ]);
	ended(\%call, $at->{session}{state}, what => 'dp_ngrams');
	return;
}

# Several sessions at once.
sub step_burst
{
	my @at = grep { $_->{session}{role} = $name{ $_->{role} }; $_->{session}->connect }
	  (shuffle(@sessions))[ 0 .. 1 + int(rand(5)) ];
	my $relation = pick('plain', 'lanes', 'rhos', undef);
	my @calls = map { [ $_->{session}, new_call($_, relation => $relation) ] } @at;

	$_->[0]->start("SELECT $_->[2]") for @calls;
	ended($_->[1], ($_->[0]->outcome)[0], what => 'burst') for @calls;
	return;
}

# What a call may end in that was cut short; whether it was charged is open.
my $cut = qr/^(?:57014|57P0[12]|08\d\d\d|NG006)$/;

sub step_cut
{
	my $at = session();
	my ($call, $sql) = new_call($at);
	my $session = $at->{session};
	my $how = pick(qw(cancel cancel backend backend timeout terminate worker));

	$session->must('SET statement_timeout = ' . (1 + int(rand(12)))) if $how eq 'timeout';
	$session->start("SELECT $sql");
	pause(rand(0.012)) if $how ne 'timeout';
	if ($how eq 'cancel')
	{
		# the driver doesn't tell what came before the cancel
		$session->cancel;
		ended($call, '57014', unsure => $cut, what => $how);
		return;
	}
	$admin->value("SELECT pg_cancel_backend($session->{pid})") if $how eq 'backend';
	$admin->value("SELECT pg_terminate_backend($session->{pid})") if $how eq 'terminate';
	$admin->run(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'dpngram release'})
	  if $how eq 'worker';
	ended($call, ($session->outcome)[0], unsure => $cut, what => $how);
	$session->drop if $how eq 'terminate';
	$session->must('RESET statement_timeout') if $how eq 'timeout';
	return;
}

# A row of the ledger that somebody holds: workers wait for it, and their callers are
# cancelled, so that no other lock keeps the workers apart when the row is free, and
# their debits come when nobody waits for them.  Where each asks for more than half of
# what is left, only one of them may get it.
sub step_locked_row
{
	my $relation = pick('plain', 'lanes', 'rhos', 'sums');
	my $dataset = $model->{dataset}{$relation} or return;
	my $part = pick(0, 0.6, 0.6);

	$locker->must("BEGIN; SELECT 1 FROM dpngram.dataset WHERE id = $dataset->{id} FOR UPDATE");
	for (1 .. 1 + int(rand(3)))
	{
		my @calls = begin_calls($relation, part => $part);

		until_waiting(@calls);
		pause(rand(0.02));
		for my $call (@calls)
		{
			$admin->value("SELECT pg_cancel_backend($call->[0]{pid})");
			ended($call->[1], ($call->[0]->outcome)[0], unsure => $cut, what => 'row held');
		}
	}
	$locker->must('ROLLBACK');
	return;
}

# An owner's act counts only if its transaction commits.  Sometimes calls wait for
# that end; one that is cancelled while it waits is not charged.
sub owner_act
{
	my ($relation, $sql, @acts) = @_;
	my $commits = rand() < 0.7;
	my @calls;

	$owner->must("BEGIN; $sql");
	if (rand() < 0.3)
	{
		@calls = begin_calls($relation);
		until_waiting(@calls);
		if (rand() < 0.4)
		{
			my $call = shift @calls;

			$admin->value("SELECT pg_cancel_backend($call->[0]{pid})");
			ended($call->[1], ($call->[0]->outcome)[0], refused => '57014', what => 'cancelled while it waits');
		}
	}
	$owner->must($commits ? 'COMMIT' : 'ROLLBACK');
	if ($commits)
	{
		$model->act(@$_) for @acts;
	}
	push @recent, ($commits ? '' : 'rolled back: ') . $sql;
	$op++;
	ended($_->[1], ($_->[0]->outcome)[0], what => 'waited') for @calls;
	return;
}

# The SQL of a grant, with a cap of its own if epsilon is given, and the act to expect.
sub grant_act
{
	my ($relation, $role, $epsilon) = @_;
	my $cap = defined $epsilon ? sprintf(', %.17g', $epsilon) : '';

	return ("SELECT dp_grant('$relation', '$name{$role}'$cap)", [ 'dp_grant', $relation, sub {
		my ($row) = @_;
		my $grant = $grants_of{ $row->{dataset} }{$role} or return 'no grant';
		my $cap = as_caps($grant->{cap});

		$model->grant($relation, $role, $grant->{id}, $cap);
		return defined $epsilon ? caps_wrong('dp_grant', $cap, $relation, $epsilon)
		  : $cap ? 'a cap that nobody asked for' : undef;
	} ]);
}

sub step_grant
{
	my ($relation, $role) = (pick(sort keys %relation), pick(@grantees));
	my $epsilon = rand() < 0.4 ? undef : $budget{$relation}{epsilon} * pick(1, 0.5, 0.25, 1 / 64);

	return unless $model->{dataset}{$relation};
	owner_act($relation, grant_act($relation, $role, $epsilon));
	return;
}

sub step_revoke
{
	my ($relation, $role) = (pick(sort keys %relation), pick(@grantees));
	my $grant = ($model->{dataset}{$relation} // {})->{grant}{$role};

	return unless $grant && $grant->{live};
	owner_act($relation, "SELECT dp_revoke('$relation', '$name{$role}')",
		[ 'dp_revoke', $relation, sub { $model->revoke($relation, $role); return } ]);
	return;
}

sub options
{
	my ($accounting, $pure, $additive) = @{ $budget{ $_[0] } }{qw(accounting pure additive)};

	# with delta 0 the lane of pure epsilon has all of it, whatever is asked
	return sprintf(q{, accounting => '%s', pure_share => %g, delta_share => %g, options => '{"min_epsilon": 0%s}'}, $accounting,
		$pure == 1 ? 0.5 : $pure, $additive, $_[1] ? ', "carry_forward": false' : '');
}

# The act of dp_protect: what it must have made of the budget that was asked for.
sub protected
{
	my ($relation, $epsilon, $forget) = @_;

	return [ 'dp_protect', $relation, sub {
		my ($row) = @_;
		my $cap = as_caps($caps_of{ $row->{dataset} });

		$budget{$relation}{epsilon} = $epsilon;
		$model->protect($relation, $row->{dataset}, $cap, $forget);
		return 'dp_protect: carries something else'
		  if "@{ $row->{price} }" ne "@{ $model->{dataset}{$relation}{spent} }";
		return caps_wrong('dp_protect', $cap, $relation, $epsilon);
	} ];
}

sub protect_sql
{
	my ($relation, $epsilon, $forget) = @_;

	return sprintf(q{SELECT dp_protect('%s', '%s', %.17g, %.17g, dataset => '%s'%s)}, regclass($relation),
		$relation{$relation}{column}, $epsilon, $budget{$relation}{delta}, $relation, options($relation, $forget));
}

# A dataset is ended, and mostly made again; it starts with what was spent before,
# be that more than there is now.
sub step_protect
{
	my $relation = pick(sort keys %relation);
	my $lives = $model->{dataset}{$relation};
	my $epsilon = min(64, $budget{$relation}{epsilon} * pick(0.75, 1, 1.5, 2, 4));
	my @ended = $lives ? [ 'dp_unprotect', $relation, sub { $model->unprotect($relation); return } ] : ();
	my $unprotect = $lives ? "SELECT dp_unprotect('$relation'); " : '';

	return owner_act($relation, $unprotect, @ended) if $lives && rand() < 0.3;
	my ($grant, $granted) = grant_act($relation, pick(@grantees));
	owner_act($relation, $unprotect . protect_sql($relation, $epsilon) . "; $grant", @ended,
		protected($relation, $epsilon), $granted);
	return;
}

# Only a superuser may have the past forgotten.
sub step_forget
{
	my $relation = pick(sort keys %relation);
	my $epsilon = pick(1, 2, 4);

	if ($model->{dataset}{$relation})
	{
		$owner->must("SELECT dp_unprotect('$relation')");
		$model->act('dp_unprotect', $relation, sub { $model->unprotect($relation); return });
	}
	$owner->run(protect_sql($relation, $epsilon, 1));
	die "the owner forgot what was spent: $owner->{state}" if $owner->{state} ne '42501';
	$admin->must(protect_sql($relation, $epsilon, 1));
	$model->act(@{ protected($relation, $epsilon, 1) });
	push @recent, "$relation: forgotten";
	$op++;
	return;
}

# More budget for a dataset that lives, without a new beginning.
sub step_set_budget
{
	my $relation = pick(sort keys %relation);
	my $epsilon = $budget{$relation}{epsilon} * pick(1, 1.125, 1.25);

	return if !$model->{dataset}{$relation} || $epsilon > 64;
	owner_act($relation, sprintf(q{SELECT dp_set_budget('%s', %.17g, %.17g)}, $relation, $epsilon,
			$budget{$relation}{delta}), [ 'dp_set_budget', $relation, sub {
		my ($row) = @_;
		my $cap = as_caps($caps_of{ $row->{dataset} });

		$budget{$relation}{epsilon} = $epsilon;
		$model->{dataset}{$relation}{cap} = $cap;
		return caps_wrong('dp_set_budget', $cap, $relation, $epsilon);
	} ]);
	return;
}

# Group membership, and names of everything: none of them is budget.
sub step_administrator
{
	my ($role, $group, $relation) = (pick(@analysts), pick(qw(team guild)), pick(sort keys %relation));
	my $old = $relation{$relation};
	my $fresh = pick('x', 'Y y', 'select') . ++$op;
	my %new = %$old;
	my ($sql, $change) = @{ pick(
			[ sprintf('GRANT %s TO %s', map { quoted($name{$_}) } $group, $role), sub { $model->member($role, $group, 1) } ],
			[ sprintf('REVOKE %s FROM %s', map { quoted($name{$_}) } $group, $role), sub { $model->member($role, $group, 0) } ],
			[ sprintf('ALTER ROLE %s RENAME TO %s', quoted($name{$role}), quoted($fresh)), sub { $name{$role} = $fresh } ],
			[ sprintf('ALTER ROLE %s RENAME TO %s', quoted($name{$group}), quoted($fresh)), sub { $name{$group} = $fresh } ],
			[ sprintf('ALTER TABLE %s RENAME TO %s', regclass($relation), quoted($fresh)), sub { $old->{table} = $fresh } ],
			[ sprintf('ALTER TABLE %s RENAME COLUMN %s TO %s', regclass($relation), quoted($old->{column}), quoted($fresh)),
				sub { $old->{column} = $fresh } ],
			[ sprintf('ALTER SCHEMA %s RENAME TO %s', quoted($old->{schema}), quoted($fresh)),
				sub { $_->{schema} = $fresh for values %relation } ]) };
	my $commits = rand() < 0.8;

	$admin->must("BEGIN; $sql", $commits ? 'COMMIT' : 'ROLLBACK');
	$change->() if $commits;
	push @recent, ($commits ? '' : 'rolled back: ') . $sql;
	return;
}

# The server dies while some sessions call; afterwards nothing is under way.
sub step_crash
{
	my @calls = begin_calls(pick('plain', 'lanes', 'rhos', undef));

	pause(rand(0.012));
	$node->stop('immediate');
	ended($_->[1], ($_->[0]->outcome)[0], unsure => $cut, what => 'crash') for @calls;
	$_->drop for $admin, $locker, $owner, map { $_->{session} } @sessions;
	$node->start;
	delete $admin->{ledger};
	$_->reconnect for $admin, $locker, $owner;
	push @recent, 'a crash';
	$op++;
	return;
}

my @steps = ((\&step_call) x 40, (\&step_improper) x 3, (\&step_indirect) x 8, (\&step_ngrams) x 3,
	(\&step_burst) x 6, (\&step_cut) x 10, (\&step_locked_row) x 2, (\&step_grant) x 20, (\&step_revoke) x 3,
	(\&step_protect) x 4, (\&step_forget) x 2, (\&step_set_budget) x 2, (\&step_administrator) x 10);
my $start = time;
create_world();
learn_prices();
for my $relation (sort keys %relation)
{
	my ($grant, $granted) = grant_act($relation, 'team');

	$owner->must(protect_sql($relation, $budget{$relation}{epsilon}), $grant);
	$model->act(@$_) for protected($relation, $budget{$relation}{epsilon}), $granted;
}
my ($reported, $crashed, $wrong) = (0, 0, step_wrong());

while ($op < $steps && !$wrong)
{
	my $crash = $op >= ($crashed + 1) * $steps / ($crashes + 1);

	@LedgerWorld::outcomes = ();
	$crash ? step_crash() : pick(@steps)->();
	$wrong = step_wrong();
	if ($crash)
	{
		$crashed++;
		$model->all_over;
	}
	if ($wrong || $op >= $reported + $steps / 20 || $op >= $steps)
	{
		$wrong ||= $admin->value('SELECT min(b.problem) FROM dpngram.dataset d, dpngram.broken_chain(d.id) b');
		ok(!$wrong, "operations to $op: ledger and model agree");
		$reported = $op;
	}
	splice(@recent, 0, -30);
}
diag(join("\n", "SEED=$seed", $wrong, 'the last steps:', @recent)) if $wrong;
note(sprintf('%d operations, %d crashes, %.0f s; calls: %s; debits that nobody heard of: %d', $op, $crashed,
		time - $start, join(', ', map { "$_ $count{$_}" } sort keys %count), $model->{unheard}));
is(log_balances($node), 't', 'the log adds up to what was spent');
is($node->safe_psql('postgres', q{SELECT count(*) FROM (SELECT parameters->>'op' FROM dpngram.release
	WHERE mechanism = 'ledger_test' GROUP BY 1 HAVING count(*) > 1) twice}), '0', 'no call was debited twice');
cmp_ok($count{answered}, '>', $steps / 10, 'the history had charges');
cmp_ok($count{NG001}, '>', $steps / 100, 'and refusals');
$node->stop;
done_testing();
