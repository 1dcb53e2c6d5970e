# 043_point_in_time.pl: recovery to an earlier point turns the ledger back, and the new
# timeline suspends it; a base backup that is just started can't be told from its original.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use Manual;

my $node = PostgreSQL::Test::Cluster->new('archived');
$node->init(has_archiving => 1, allows_streaming => 1, extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ]);
$node->append_conf('postgresql.conf', "max_worker_processes = 128\n");
$node->start;
ledger_functions($node, 'postgres');
$node->safe_psql('postgres', q{
	CREATE TABLE t (who int, what text);
	SELECT dp_protect('t', 'who', 10, 0);
	SELECT ledger_charge('t', '{0,1,0}');});
$node->backup('base');
$node->safe_psql('postgres', q{SELECT ledger_charge('t', '{0,2,0}'), pg_create_restore_point('before')});
$node->safe_psql('postgres', q{SELECT ledger_charge('t', '{0,4,0}'), pg_switch_wal()});
is(spent($node, 't'), '7', 'what was spent in the end');
$node->poll_query_until('postgres', q{SELECT last_archived_wal >= '000000010000000000000003' FROM pg_stat_archiver})
  or die 'nothing was archived';

# To a point in time.
my $earlier = PostgreSQL::Test::Cluster->new('earlier');
$earlier->init_from_backup($node, 'base', has_restoring => 1, standby => 0);
$earlier->append_conf('postgresql.conf', "archive_mode = off\nrecovery_target_name = 'before'\nrecovery_target_action = 'promote'\n");
$earlier->start;
$earlier->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'recovery did not end';
is(spent($earlier, 't'), '3', 'the ledger has gone back');
is($earlier->safe_psql('postgres', 'SELECT status FROM dpngram.budget'), 'suspended', 'and is suspended');
is(sqlstate($earlier, q{SELECT ledger_charge('t', '{0,4,0}')}), 'NG007', 'so that the same is not answered twice');
is(log_balances($earlier), 't', 'its log adds up to what it knows');

# What is lost can be seen where the original still runs.
my $last = $earlier->safe_psql('postgres', manual_block('last-release'));
like($last, qr/^t\|\d+$/, 'the recovered server tells its last release');
$last =~ s/.*\|//;
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
is($node->safe_psql('postgres', manual_block('lost-releases', ':last' => $last)) =~ s/^\d+\|[^|]*\|//r,
	"t|$superuser|ledger_test|1|0", 'and the original what came after');
like(doctor_errors($earlier), qr/^suspended\|/, 'dp_doctor says so too');
$earlier->safe_psql('postgres', manual_block('resume'));
is(doctor_errors($earlier), '', 'and nothing when it is resumed');
is(sqlstate($earlier, q{SELECT ledger_charge('t', '{0,4,0}')}), '00000', 'its owner may resume it');
$earlier->restart;
is(sqlstate($earlier, q{SELECT ledger_charge('t', '{0,1,0}')}), '00000', 'a restart suspends nothing');
$earlier->stop;

# Restored to the end of its log it is a promoted server all the same.
my $latest = PostgreSQL::Test::Cluster->new('latest');
$latest->init_from_backup($node, 'base', has_restoring => 1, standby => 0);
$latest->start;
$latest->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'recovery did not end';
is(spent($latest, 't'), '7', 'restored to the end: nothing is lost');
is($latest->safe_psql('postgres', 'SELECT status FROM dpngram.budget'), 'suspended', 'but nobody can know, so it is suspended');
$latest->stop;

# A copy of the files with no recovery asked for is the same server, as far as it can know.
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($node, 'base');
$copy->start;
is(spent($copy, 't'), '1', 'a base backup just started has the ledger of its time');
is($copy->safe_psql('postgres', 'SELECT status FROM dpngram.budget'), 'active', 'and is not suspended: doc/operations.md says so');
$copy->stop;
$node->stop;
done_testing();
