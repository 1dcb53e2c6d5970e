# 054_tutorial.pl: doc/tutorial.md runs from top to bottom as it is printed, and answers what is
# printed; likewise the first minute of README.md.
#
# The texts are the changelogs of this machine, which differ from those that the pages were
# made with: scripts/changelogs.sh has them, or $CHANGELOGS names a file of its rows.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Copy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Tutorial;

my $top = dirname(__FILE__) . '/../..';
my $texts = PostgreSQL::Test::Utils::tempdir() . '/changelogs.tsv';

if ($ENV{CHANGELOGS})
{
	copy($ENV{CHANGELOGS}, $texts) or die "$ENV{CHANGELOGS}: $!";
}
else
{
	system_log("$top/scripts/changelogs.sh", $texts) == 0 or die 'no texts';
}

# A server with PostgreSQL's default settings, as a reader's is.
my $node = PostgreSQL::Test::Cluster->new('tutorial');
$node->init(extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ]);
$node->append_conf('postgresql.conf', "fsync = on\nlog_statement = none\nmax_worker_processes = 8\n");
my ($sharedir) = run_command([ 'pg_config', '--sharedir' ]);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_cron'\ncron.use_background_workers = on\n")
	if -e "$sharedir/extension/pg_cron.control";
$node->start;
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'dpngram'}), 1, 'what "install" is for');
cmp_ok(-s $texts, '>', 0, 'what "texts" is for');

sub judge
{
	my ($block) = @_;
	my $check = $block->{check} // ($block->{language} eq 'sh' ? 'it runs' : 'no error, no result');
	my $name = "line $block->{line}: $block->{name}: $check";

	return if $block->{done};
  SKIP:
	{
		skip "$name: $block->{left_out}", 1 if defined $block->{left_out};
		my @wrong = tutorial_differences($block);
		ok(!@wrong, $name) or diag(join("\n", @wrong));
	}
	return;
}

# A page's blocks, in the folder of the texts.
sub run_page
{
	my (@blocks) = @_;
	my $here = File::Spec->rel2abs('.');

	chdir dirname($texts) or die "$texts: $!";
	tutorial_run(\&judge, $PostgreSQL::Test::Utils::timeout_default, @blocks);
	chdir $here or die "$here: $!";
	return;
}

my @blocks = tutorial_blocks('tutorial.md');
my $page = slurp_file("$top/doc/tutorial.md");
my $fences = () = $page =~ /^```\w+$/mg;
is($fences, @blocks + grep({ defined $_->{output} } @blocks), 'all that the tutorial prints is run and compared');
is_deeply([ map { $_->{name} } grep { $_->{language} eq 'sh' } @blocks ],
	[qw(install texts database cron unschedule clear)], 'commands of the shell');
run_page(@blocks);
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_roles WHERE rolname IN ('owner', 'ana', 'trainee')}), 0, 'nothing is left of it');

# ---- the first minute ----

$node->safe_psql('postgres', qq{
	CREATE ROLE ana;
	CREATE TABLE commits (author text, package text, message text);
	\\copy commits FROM '$texts'
});
my @minute = tutorial_blocks('../README.md');
is(scalar(grep { $_->{language} eq 'sql' } @minute), 3, 'the first minute in three steps');
run_page(@minute);
$node->stop;
done_testing();
