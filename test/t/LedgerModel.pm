# LedgerModel.pm: the privacy ledger as one would write it without a database: a
# few sums, caps and rights, in integers.
#
# It shares no code with src/ledger and knows nothing of sessions or locks.  The
# test tells it what it asked for; the ledger's log says in which order that was
# decided; replay() goes through it and returns the first thing that is wrong.
#
# Amounts are integers in units of 2^-100, the ledger's quantum, so that every
# sum and comparison here is exact.
package LedgerModel;

use strict;
use warnings;
use Exporter 'import';
use Math::BigInt;
use POSIX ();

our @EXPORT_OK = qw(units price as_double);

use constant BITS => 100;

# Every lane there is, and those that hold a dataset's caps, by its accounting.
our @LANES = qw(mu2 eps_pure delta_add rho rho_delta basic_epsilon basic_delta);
our %CAPPED = (gdp => [ 0, 1, 2 ], zcdp => [ 3, 4 ], basic => [ 5, 6 ]);

# A double as an integer and a power of two.
sub split_double
{
	my ($x) = @_;
	my $exponent = 0;

	for (; $x != POSIX::floor($x); $exponent--)
	{
		$x *= 2;
	}
	return (Math::BigInt->new(sprintf('%.0f', $x)), $exponent);
}

# integer 2^exponent as units, rounded up.
sub scaled
{
	my ($integer, $exponent) = @_;
	my $shift = BITS + $exponent;

	return $integer->copy->blsft($shift) if $shift >= 0;
	return -((-$integer)->bdiv(Math::BigInt->bone->blsft(-$shift)));
}

# A double as units; rounded up where it is finer than the quantum.
sub units
{
	return scaled(split_double($_[0]));
}

# What a call costs in every lane that does a Gaussian release of mu^2, a pure one of
# epsilon and an additive delta, and asked for a budget (asked epsilon, asked delta).
# Amounts between low and high are right: the square of a pure epsilon is rounded up
# from long binary fractions, and how that is done is no concern of the model.
sub price
{
	my ($mu2, $pure, $additive, $asked_epsilon, $asked_delta) = @_;
	my ($mu2_integer, $mu2_exponent) = split_double($mu2);
	my ($integer, $exponent) = split_double($pure);
	my $square = scaled($integer * $integer, 2 * $exponent - 1);
	my $rho = scaled($mu2_integer, $mu2_exponent - 1);
	my @low = (units($mu2), units($pure), units($additive), $rho + $square, units($additive),
		units($asked_epsilon), units($asked_delta));
	my @high = @low;

	$high[3] += $square->copy->brsft(50) + 2;
	return { low => \@low, high => \@high };
}

# A double near an amount.
sub as_double
{
	return $_[0]->numify / 2**BITS;
}

sub zero
{
	return [ map { Math::BigInt->new(0) } @LANES ];
}

sub text
{
	return join(',', map { $_ // '' } @{ $_[0] });
}

# May a debit be the price?
sub is_price
{
	my ($debit, $price) = @_;

	return !grep { $debit->[$_] < $price->{low}[$_] || $debit->[$_] > $price->{high}[$_] } 0 .. $#LANES;
}

sub new
{
	return bless({ dataset => {}, former => {}, role => {}, member => {}, call => {}, act => [], unheard => 0 },
		shift);
}

# What role is it?  super: no grant is needed, nor for the owner of the relations.
sub role
{
	my ($self, $role, %is) = @_;

	$self->{role}{$role} = \%is;
	return;
}

sub member
{
	my ($self, $role, $group, $is) = @_;

	$self->{member}{$role}{$group} = $is;
	return;
}

# The number of a relation's dataset; 0 if it has none.
sub id
{
	my ($self, $relation) = @_;

	return $self->{dataset}{$relation} ? $self->{dataset}{$relation}{id} : 0;
}

# The caps of a relation's dataset, lane by lane.
sub caps
{
	my ($self, $relation) = @_;

	return @{ $self->{dataset}{$relation} ? $self->{dataset}{$relation}{cap} : [ map { undef } @LANES ] };
}

# What is left in each lane; 0 where there is no cap.
sub rest
{
	my ($self, $relation) = @_;
	my @cap = $self->caps($relation);
	my $spent = $self->{dataset}{$relation} ? $self->{dataset}{$relation}{spent} : zero();

	return map { defined $cap[$_] && $cap[$_] > $spent->[$_] ? as_double($cap[$_] - $spent->[$_]) : 0 } 0 .. $#LANES;
}

# The rights that a role may try on a relation's dataset, as a list of grants; an
# empty list if it has none, undef if there is no dataset.  An account without a
# cap stands for ownership.
sub rights
{
	my ($self, $relation, $role) = @_;
	my $dataset = $self->{dataset}{$relation} or return;
	my @live = sort { $a->{id} <=> $b->{id} } grep { $_->{live} } values %{ $dataset->{grant} };

	return [ { spent => zero() } ] if $self->{role}{$role}{super} || $self->{role}{$role}{owner};
	for my $grant (@live)
	{
		return [$grant] if $grant->{role} eq $role;
	}
	return [ grep { $self->{member}{$role}{ $_->{role} } } @live ];
}

# May the role call at all?  As the SQLSTATE that it meets.
sub may
{
	my ($self, $relation, $role) = @_;
	my $rights = $self->rights($relation, $role);

	return !defined $rights ? 'NG002' : @$rights ? '00000' : 'NG003';
}

sub fits
{
	my ($account, $price) = @_;

	return 1 unless $account->{cap};
	for my $lane (0 .. $#LANES)
	{
		return 0 if defined $account->{cap}[$lane]
		  && $account->{spent}[$lane] + $price->[$lane] > $account->{cap}[$lane];
	}
	return 1;
}

# The first of the amounts, and the first right, that hold: (number, grant's id).
sub choose
{
	my ($self, $relation, $role, @amounts) = @_;
	my $dataset = $self->{dataset}{$relation} or return;

	for my $number (0 .. $#amounts)
	{
		next unless fits($dataset, $amounts[$number]);
		for my $grant (@{ $self->rights($relation, $role) })
		{
			return ($number, $grant->{id} // 0) if fits($grant, $amounts[$number]);
		}
	}
	return;
}

# A call that was made or is under way: op, relation, role, prices.
sub call
{
	my ($self, %call) = @_;

	$self->{call}{ $call{op} } = \%call;
	return;
}

# It was answered, so its debit must be there, now and for ever.
sub answered
{
	my ($self, $op) = @_;

	$self->{call}{$op}{answered} = 1;
	return;
}

# It was refused, so there must never be a debit; and if for want of budget, it
# must not fit.  What is wrong, if anything; to be asked after replay().
sub refused
{
	my ($self, $op, $state) = @_;
	my $call = delete $self->{call}{$op} or return "the refused call $op is in the log";

	return if $state ne 'NG001';
	return "the call $op was refused, although it fits"
	  if $self->choose($call->{relation}, $call->{role}, map { $_->{high} } @{ $call->{prices} });
	return;
}

# No call that is still under way can be debited any more.
sub all_over
{
	my ($self) = @_;

	$self->{call} = {};
	return;
}

# An owner's act that was committed and will appear in the log.
sub act
{
	my ($self, $name, $relation, $change) = @_;

	push @{ $self->{act} }, { name => $name, relation => $relation, change => $change };
	return;
}

sub debit
{
	my ($self, $row) = @_;
	my $call = delete $self->{call}{ $row->{op} } or return "release $row->{id} of no call under way";
	my $dataset = $self->{dataset}{ $call->{relation} } // { id => 0, grant => {} };
	my ($grant) = grep { $_->{id} == $row->{grantee} } values %{ $dataset->{grant} };
	my ($number) = grep { is_price($row->{price}, $call->{prices}[$_]) } 0 .. $#{ $call->{prices} };

	return "release $row->{id}: another dataset" unless $dataset->{id} == $row->{dataset};
	return "release $row->{id}: no price that was asked for" unless defined $number;
	return "release $row->{id}: no such grant" if $row->{grantee} && !$grant;
	return "release $row->{id}: above the dataset's cap" unless fits($dataset, $row->{price});
	return "release $row->{id}: above the role's cap" if $grant && !fits($grant, $row->{price});
	if ($call->{answered})
	{
		my @amounts = ((map { $_->{high} } @{ $call->{prices} })[ 0 .. $number - 1 ], $row->{price});
		my @want = $self->choose($call->{relation}, $call->{role}, @amounts);
		return "release $row->{id}: another choice" if "@want" ne "$number $row->{grantee}";
	}
	$self->{unheard}++ unless $call->{answered};
	for my $account (grep { defined } $dataset, $grant)
	{
		$account->{spent}[$_] += $row->{price}[$_] for 0 .. $#LANES;
	}
	return;
}

# Goes through the log's new rows: {id, dataset, grantee, mechanism, op, price}.
sub replay
{
	my ($self, @rows) = @_;

	for my $row (@rows)
	{
		my $wrong;

		if (defined $row->{op})
		{
			$wrong = $self->debit($row);
		}
		else
		{
			my $act = shift @{ $self->{act} };

			$wrong = !$act || $act->{name} ne $row->{mechanism} ? "release $row->{id}: an unknown act"
			  : $act->{change}->($row);
		}
		return $wrong if $wrong;
	}
	return 'an act is not in the log' if @{ $self->{act} };
	for my $call (values %{ $self->{call} })
	{
		return "the call $call->{op} was answered and not debited" if $call->{answered};
	}
	return;
}

# A new dataset: it starts with what the relation's former one had spent.
sub protect
{
	my ($self, $relation, $id, $cap, $forget) = @_;
	my $spent = $forget || !$self->{former}{$relation} ? zero() : $self->{former}{$relation};

	$self->{dataset}{$relation} = { id => $id, cap => $cap, spent => [@$spent], grant => {} };
	return;
}

sub unprotect
{
	my ($self, $relation) = @_;

	$self->{former}{$relation} = (delete $self->{dataset}{$relation})->{spent};
	return;
}

# A grant, or a new cap for an old one; what was spent stays.
sub grant
{
	my ($self, $relation, $role, $id, $cap) = @_;
	my $grants = $self->{dataset}{$relation}{grant};

	$grants->{$role} //= { id => $id, role => $role, spent => zero() };
	$grants->{$role}{cap} = $cap;
	$grants->{$role}{live} = 1;
	return;
}

sub revoke
{
	my ($self, $relation, $role) = @_;

	$self->{dataset}{$relation}{grant}{$role}{live} = 0;
	return;
}

# Everything that it knows of live datasets, as lines that sort.
sub state
{
	my ($self) = @_;
	my @lines;

	for my $dataset (values %{ $self->{dataset} })
	{
		push @lines, "D $dataset->{id} " . text($dataset->{cap}) . ' ' . text($dataset->{spent});
		push @lines, map { "G $_->{id} $_->{role} " . ($_->{live} ? 't' : 'f') . ' '
			  . text($_->{cap} // [ map { undef } @LANES ]) . ' ' . text($_->{spent}) } values %{ $dataset->{grant} };
	}
	return sort @lines;
}

sub normal_cdf
{
	return 0.5 * POSIX::erfc(-$_[0] / sqrt(2));
}

# The delta that rho-zCDP gives at epsilon, by the textbook's infimum, from above.
sub zcdp_delta
{
	my ($rho, $epsilon) = @_;
	my ($low, $high) = (-40, 40);
	my $log_delta = sub {
		my $b = exp($_[0]);
		return $b * (($b + 1) * $rho - $epsilon) - log($b) + ($b + 1) * log($b / ($b + 1));
	};

	for (1 .. 200)
	{
		my ($one, $two) = map { $low + ($high - $low) * $_ / 3 } 1, 2;

		$log_delta->($one) < $log_delta->($two) ? ($high = $two) : ($low = $one);
	}
	return exp($log_delta->($low));
}

sub gaussian_delta
{
	my ($mu2, $epsilon) = @_;
	my $mu = sqrt($mu2);

	return 0 if $mu == 0;
	return normal_cdf($mu / 2 - $epsilon / $mu) - exp($epsilon) * normal_cdf(-$mu / 2 - $epsilon / $mu);
}

# Do these caps keep the promise of (epsilon, delta)?  By the textbook's formulas,
# to the precision of doubles.
sub caps_hold
{
	my ($accounting, $cap, $epsilon, $delta) = @_;
	my @cap = map { defined $_ ? as_double($_) : undef } @$cap;
	my ($most, $most_delta) = map { $_ * (1 + 1e-9) } $epsilon, $delta;

	return $cap[5] <= $most && $cap[6] <= $most_delta if $accounting eq 'basic';
	return zcdp_delta($cap[3], $epsilon) + $cap[4] <= $most_delta if $accounting eq 'zcdp';
	return $cap[1] <= $most
	  && exp($cap[1]) * gaussian_delta($cap[0], $epsilon - $cap[1]) + $cap[2] <= $most_delta;
}

1;
