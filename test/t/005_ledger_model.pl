# The ledger against a model of it: random analysts, owners, transaction ends and
# crashes; after every step the two agree.  All prices are multiples of 1/64, so
# that the model's sums are exact as well.  SEED chooses another history.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $steps = $ENV{LEDGER_STEPS} // 150;
my $seed = $ENV{SEED} // 20;
srand($seed);
note("SEED=$seed");

my $node = ledger_node('model');
ledger_functions($node, 'postgres');
my @roles = qw(ana bob);
$node->safe_psql('postgres', 'CREATE TABLE t (who int); CREATE ROLE ana; CREATE ROLE bob; CREATE ROLE boss SUPERUSER;'
	  . q{SELECT dp_protect('t', 'who', 2, 0, dataset => 'd')});

# what the model knows: the live dataset, and its grants by role
my %dataset = (cap => 2, spent => 0);
my %grant;

sub pick
{
	return $_[ int(rand(@_)) ];
}

sub fits
{
	my ($account, $price) = @_;
	return !defined $account->{cap} || $account->{spent} + $price <= $account->{cap};
}

# The SQLSTATE that a charge by a role must meet; debits the model if it is fine.
sub model_charge
{
	my ($role, $price) = @_;
	my $right = $role eq 'boss' ? { spent => 0 } : $grant{$role};

	return 'NG003' unless $right && !$right->{revoked};
	return 'NG001' unless fits(\%dataset, $price) && fits($right, $price);
	$_->{spent} += $price for (\%dataset, $right);
	return '00000';
}

# What surrounds a charge never changes the debit, only the session's own end.
sub step_charge
{
	my ($role, $price) = (pick(@roles, 'boss'), (1 + int(rand(8))) / 64);
	my $call = "SELECT ledger_charge('t', '{0,$price,0}')";
	my $failing = "SELECT ledger_charge('t', '{0,$price,0}', outcome => 'error')";
	my ($sql, $after) = @{ pick(
			[ "$call;", '00000' ],
			[ "BEGIN; $call; ROLLBACK;", '00000' ],
			[ "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; $call; COMMIT;", '00000' ],
			[ "BEGIN; SAVEPOINT s; $call; ROLLBACK TO s; COMMIT;", '00000' ],
			[ "$failing;", 'XX000' ]) };
	my $want = model_charge($role, $price);

	$want = $after if $want eq '00000';
	is(sqlstate($node, "SET ROLE $role; $sql"), $want, "$role charges $price: $sql");
	return;
}

# An owner's act counts only if its transaction commits.
sub owner
{
	my ($act, $change) = @_;
	my $commits = rand() < 0.7;

	is(sqlstate($node, "BEGIN; $act; " . ($commits ? 'COMMIT' : 'ROLLBACK')), '00000',
		$act . ($commits ? '' : ', rolled back'));
	$change->() if $commits;
	return;
}

sub step_grant
{
	my ($role, $cap) = (pick(@roles), pick(undef, (1 + int(rand(64))) / 64));
	my $act = defined $cap ? "SELECT dp_grant('d', '$role', $cap)" : "SELECT dp_grant('d', '$role')";

	return if defined $cap && $cap > $dataset{cap};
	owner($act, sub {
		$grant{$role} = { spent => $grant{$role} ? $grant{$role}{spent} : 0, cap => $cap };
	});
	return;
}

sub step_revoke
{
	my $role = pick(@roles);

	return unless $grant{$role} && !$grant{$role}{revoked};
	owner("SELECT dp_revoke('d', '$role')", sub { $grant{$role}{revoked} = 1 });
	return;
}

# A new budget for the same relation starts with what the old one had spent.
sub step_renew
{
	my $cap = $dataset{spent} + pick(-0.25, 0.5, 1);

	return if $cap <= 0;
	owner("SELECT dp_unprotect('d'); SELECT dp_protect('t', 'who', $cap, 0, dataset => 'd')", sub {
		$dataset{cap} = $cap;
		%grant = ();
	});
	return;
}

sub step_crash
{
	$node->stop('immediate');
	$node->start;
	return;
}

# dataset's cap and sum, then every grant's role, cap, sum and liveness
sub model_state
{
	return join("\n", "$dataset{cap}|$dataset{spent}",
		map { join('|', $_, $grant{$_}{cap} // '', $grant{$_}{spent}, $grant{$_}{revoked} ? 'f' : 't') }
		  sort keys %grant);
}

my $state = q{SELECT eps_pure_cap::float8, eps_pure_spent::float8 FROM dpngram.dataset WHERE name = 'd' AND ended IS NULL;
	SELECT g.role, g.eps_pure_cap::float8, g.eps_pure_spent::float8, g.revoked IS NULL FROM dpngram.grantee g
	JOIN dpngram.dataset d ON d.id = g.dataset WHERE d.ended IS NULL ORDER BY 1};
my @steps = ((\&step_charge) x 12, (\&step_grant) x 5, \&step_revoke, \&step_renew);
for my $step (1 .. $steps)
{
	$step % 50 ? pick(@steps)->() : step_crash();
	is($node->safe_psql('postgres', $state), model_state(), "step $step: ledger and model agree")
	  or last;
}
is(log_balances($node), 't', 'the log adds up to what was spent');
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM dpngram.release WHERE mechanism = 'ledger_test'}),
	'>', $steps / 20, 'the history had charges');
$node->stop;
done_testing();
