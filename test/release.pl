# release.pl: what tells a version tells the same one, and what is told of files is true.
#
# The control file holds the version; PGXN's META.json, Debian's changelog and ours repeat
# it, because those who read them read nothing else.  Prints what disagrees.
use strict;
use warnings;
use JSON::PP;

sub slurp
{
	my ($file) = @_;
	open(my $handle, '<', $file) or die "$file: $!";
	local $/ = undef;
	return scalar <$handle>;
}

# The keys that PGXN's Meta Spec 1.0.0 requires, and of those that it knows by a list of
# values the ones that we may use.
sub check_meta
{
	my ($meta, $version) = @_;

	for my $key (qw(name version abstract maintainer license provides meta-spec))
	{
		print "META.json: no \"$key\"\n" unless $meta->{$key};
	}
	print "META.json: version $meta->{version}, not $version\n" unless $meta->{version} eq $version;
	print "META.json: $version is no semantic version\n" unless $version =~ /^\d+\.\d+\.\d+$/;
	print "META.json: licence $meta->{license}, not that of LICENSE\n"
	  unless $meta->{license} eq 'gpl_3' && slurp('LICENSE') =~ /GENERAL PUBLIC LICENSE\s+Version 3/;
	print "META.json: not of the Meta Spec 1.0.0\n" unless $meta->{'meta-spec'}{version} eq '1.0.0';
	for my $name (sort keys %{ $meta->{provides} })
	{
		my $extension = $meta->{provides}{$name};

		print "META.json: $name has version $extension->{version}\n"
		  unless $extension->{version} eq $version;
		for my $key (qw(file docfile))
		{
			print "META.json: there is no $extension->{$key}\n" unless -f $extension->{$key};
		}
	}
	return;
}

# Whether a version is out is said in three places: a date or "Unreleased", a distribution
# or "UNRELEASED", "stable" or "unstable".
sub check_changelogs
{
	my ($meta, $version) = @_;
	my ($newest, $date) = slurp('CHANGELOG.md') =~ /^## \[(\S+)\] - (\S+)$/m;
	my ($package, $suite) = slurp('debian/changelog') =~ /\Adpngram \((\S+)\) (\S+);/;
	my $out = $date ne 'Unreleased';

	print "CHANGELOG.md: the newest version is $newest, not $version\n" unless $newest eq $version;
	print "CHANGELOG.md: $date is no date\n" if $out && $date !~ /^\d{4}-\d\d-\d\d$/;
	print "debian/changelog: the newest version is $package\n" unless $package =~ /^\Q$version\E-\d+$/;
	print "debian/changelog: $suite, but CHANGELOG.md says $date\n" if ($suite ne 'UNRELEASED') != $out;
	print "META.json: $meta->{release_status}, but CHANGELOG.md says $date\n"
	  unless $meta->{release_status} eq ($out ? 'stable' : 'unstable');
	return;
}

# Whoever has an older version can install it for a dump, and come from it to this one.
sub check_scripts
{
	my ($version) = @_;
	my @versions = slurp('CHANGELOG.md') =~ /^## \[(\S+)\]/mg;
	my $makefile = slurp('Makefile');

	for my $old (@versions[1 .. $#versions])
	{
		print "no install script of $old\n"
		  unless -f "src/sql/old/dpngram--$old.sql" && $makefile =~ m{^DATA = .*dpngram--\Q$old\E\.sql}m;
		print "no way from $old\n" unless $makefile =~ /^\w+ = dpngram--\Q$old\E--/m;
	}
	return;
}

# The oldest PostgreSQL.
sub check_server
{
	my ($meta) = @_;
	my ($oldest) = slurp('debian/pgversions') =~ /^(\d+)\+$/m;

	print "debian/pgversions: $oldest, not what META.json requires\n"
	  unless $meta->{prereqs}{runtime}{requires}{PostgreSQL} eq "$oldest.0.0";
	print "README.md: not written for PostgreSQL $oldest and later\n"
	  unless slurp('README.md') =~ /for PostgreSQL $oldest to \d+/;
	return;
}

my $meta = decode_json(slurp('META.json'));
my ($version) = slurp('dpngram.control') =~ /^default_version = '(.*)'$/m;

check_meta($meta, $version);
check_changelogs($meta, $version);
check_scripts($version);
check_server($meta);
