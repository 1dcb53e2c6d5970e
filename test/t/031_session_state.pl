# 031_session_state.pl: what an analyst sees of her own session and transaction, before and after a
# call, is the same whoever is in the relation.
#
# The list of what there is to see comes of pg_catalog: all its views, and its functions that
# take no argument or a process's number.  Three copies of one database are asked: two are alike, and
# the third has one person more, for whom a function of the view does all that leaves traces.  What
# shows a difference between the two that are alike is not of the session, or a clock; it must stand
# in the list below, so that whatever a new version adds shows up here.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

# Functions that do something instead of showing it, or draw a number.
my %acts = map { $_ => 1 } qw(pg_advisory_unlock_all pg_current_xact_id txid_current pg_export_snapshot
	pg_nextoid gen_random_uuid random lo_creat uuidv4 uuidv7);
# Clocks, numbers of transactions and processes, and what the server counts for all sessions together:
# doc/privacy.md, "What else can be watched", tells of these.
my %elsewhere = map { $_ => 1 } qw(
	clock_timestamp timeofday now transaction_timestamp statement_timestamp pg_backend_pid inet_client_port
	current_query pg_current_snapshot txid_current_snapshot pg_postmaster_start_time pg_conf_load_time
	pg_current_xact_id_if_assigned txid_current_if_assigned pg_get_backend_memory_contexts
	pg_current_wal_lsn pg_current_wal_insert_lsn pg_current_wal_flush_lsn pg_last_committed_xact
	pg_stat_activity pg_stat_bgwriter pg_stat_checkpointer pg_stat_database pg_stat_io pg_stat_wal pg_stat_slru
	pg_stat_get_activity pg_stat_get_wal pg_stat_get_slru pg_stat_get_io pg_stat_get_backend_idset
	pg_stat_get_snapshot_timestamp pg_stat_gssapi pg_stat_ssl pg_statio_all_tables pg_statio_all_indexes pg_statio_sys_tables
	pg_statio_sys_indexes pg_stat_all_tables pg_stat_all_indexes pg_stat_sys_tables pg_stat_sys_indexes
	pg_stat_database_conflicts pg_timezone_names pg_timezone_abbrevs pg_timezone_abbrevs_abbrevs
	pg_stats pg_stats_ext pg_stats_ext_exprs pg_control_checkpoint pg_stat_get_archiver pg_stat_archiver
	pg_stat_user_tables pg_stat_user_indexes pg_statio_user_tables pg_statio_user_indexes pg_stat_get_buf_written_backend
	pg_stat_get_bgwriter_buf_written_clean pg_stat_get_buf_alloc pg_stat_get_db_stat_reset_time pg_shmem_allocations
	pg_stat_get_backend_start pg_stat_get_backend_xact_start pg_stat_get_backend_activity_start
	pg_stat_get_backend_pid pg_stat_get_backend_client_port pg_stat_get_backend_io pg_stat_get_backend_wal
	pg_tables pg_lock_status pg_cursor pg_prepared_statement);
# Where what it says has a number of the session's or a clock in it, what else.
my %columns = (
	pg_my_temp_schema => q{SELECT nspname ~ '^pg_temp' FROM pg_namespace WHERE oid = pg_my_temp_schema()},
	pg_locks => q{SELECT locktype, relation::regclass::text, mode, granted, objid, objsubid FROM pg_locks WHERE pid = pg_backend_pid()
		AND locktype NOT IN ('virtualxid', 'transactionid') AND (relation::regclass::text ~ 'temp') IS NOT TRUE},
	map({ $_ => "SELECT * FROM $_ WHERE schemaname IN ('public', 'dpngram')" } qw(pg_stat_xact_all_tables pg_stat_xact_sys_tables pg_stat_xact_user_tables)),
	pg_cursors => q{SELECT name, statement, is_holdable FROM pg_cursors},
	pg_prepared_statements => q{SELECT name, statement FROM pg_prepared_statements});

my $node = ledger_node('state', 'autovacuum = off');
$node->safe_psql('postgres', q{
	CREATE EXTENSION dpngram;
	CREATE ROLE ana LOGIN;
	CREATE TABLE texts AS SELECT i AS who, 'good morning' AS what FROM generate_series(1, 300) i;
	CREATE TABLE mails AS SELECT 'x@y' AS addr;
	CREATE SEQUENCE seq;
	CREATE FUNCTION tidy(t text) RETURNS text LANGUAGE plpgsql SET search_path = public AS $$
	DECLARE c refcursor; r record;
	BEGIN
		IF t LIKE '%@%' THEN
			OPEN c FOR SELECT addr FROM mails;
			FOR r IN SELECT addr FROM mails LOOP PERFORM random(), nextval('public.seq'), pg_advisory_lock(77); END LOOP;
			PERFORM set_config('application_name', t, false), set_config('work_mem', '1MB', false);
			RAISE INFO 'seen %', t;
			INSERT INTO mails VALUES (t);
		END IF;
		RETURN t;
	END $$;
	CREATE VIEW tidied AS SELECT who, tidy(what) AS what FROM texts;
	VACUUM ANALYZE texts;});
foreach my $copy (qw(copy_a copy_b copy_c))
{
	$node->safe_psql('postgres', "CREATE DATABASE $copy TEMPLATE postgres");
	$node->safe_psql($copy, q{INSERT INTO texts VALUES (1000, 'write to bob@example.org'); VACUUM ANALYZE texts;}) if $copy eq 'copy_c';
	$node->safe_psql($copy, q{SELECT dp_protect('tidied', 'who', 4, 1e-5), dp_grant('tidied', 'ana')});
}

# name => query, for all that there is
sub all_there_is
{
	my %query = map { $_ => "SELECT * FROM pg_catalog.$_" } split(/\n/, $node->safe_psql('postgres',
		q{SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'v'}));
	my @functions = split(/\n/, $node->safe_psql('postgres', q{
		SELECT proname, pronargs FROM pg_proc p WHERE pronamespace = 'pg_catalog'::regnamespace AND provolatile <> 'i' AND prokind = 'f'
			AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype)
			AND NOT EXISTS (SELECT FROM unnest(proallargtypes, proargmodes) a (type, mode) WHERE mode = 'v')
			AND (pronargs = 0 OR pronargs = 1 AND proargtypes[0] = 'int4'::regtype AND proname ~ 'backend|pids|activity')
			AND proname !~ '^(pg_cancel|pg_terminate|pg_log_backend|pg_stat_reset)'}));
	my %pids = map { /^pid\|(.*)/ ? ($1 => 1) : () } split(/\n/, $node->safe_psql('postgres', q{
		SELECT 'pid|' || c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'pid'
		 WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'v'}));

	$query{$_} .= ' WHERE pid = pg_backend_pid()' foreach keys %pids;
	foreach my $function (@functions)
	{
		my ($name, $arguments) = split(/\|/, $function);
		$query{$name} = sprintf('SELECT * FROM pg_catalog.%s(%s)', $name, $arguments ? 'pg_backend_pid()' : '') unless $acts{$name};
	}
	$query{$_} = $columns{$_} foreach keys %columns;
	return %query;
}

my %query = all_there_is();
cmp_ok(scalar(keys %query), '>', 150, 'there is much to see');

# What a session sees before and after a call, in one transaction.
sub session
{
	my ($database, $isolation) = @_;
	my $list = join(",\n", map { "(\$q\$$_\$q\$, \$q\$$query{$_}\$q\$)" } sort keys %query);
	my $script = qq{
		SET client_min_messages = error;
		SET ROLE ana;
		CREATE TEMP TABLE seen (stage text, name text, value text);
		CREATE TEMP TABLE queries AS SELECT * FROM (VALUES $list) v (name, query);
		CREATE FUNCTION pg_temp.look(stage text) RETURNS void LANGUAGE plpgsql AS \$\$
		DECLARE q record; value text;
		BEGIN
			FOR q IN SELECT * FROM queries ORDER BY name LOOP
				BEGIN
					EXECUTE format('SELECT string_agg(t::text, E''\\n'' ORDER BY t::text) FROM (%s) t', q.query) INTO value;
				EXCEPTION WHEN OTHERS THEN value := SQLSTATE;
				END;
				INSERT INTO seen VALUES (stage, q.name, value);
			END LOOP;
		END \$\$;
		SELECT pg_temp.look('warm');
		BEGIN ISOLATION LEVEL $isolation;
		SELECT count(*) >= 0 FROM dp_ngrams('tidied', 'who', 'what', 0.5, 1e-7, max_length => 1);
		COMMIT;
		BEGIN ISOLATION LEVEL $isolation;
		SELECT pg_temp.look('before');
		SELECT count(*) >= 0 FROM dp_ngrams('tidied', 'who', 'what', 0.5, 1e-7, max_length => 1);
		SELECT pg_temp.look('after');
		COMMIT;
		SELECT pg_temp.look('later');
		SELECT stage, name, translate(coalesce(value, ''), E'\\n|', '; ') FROM seen WHERE stage <> 'warm';};
	my ($rc, $out, $err) = $node->psql($database, $script, on_error_stop => 1);
	my %seen;

	die $err if $rc != 0;
	foreach my $line (grep { /^(before|after|later)\|/ } split(/\n/, $out))
	{
		my ($stage, $name, $value) = split(/\|/, $line, 3);
		$value =~ s/\bcopy_[abc]\b/copy/g;
		$seen{$stage}{$name} = $value;
	}
	return \%seen;
}

foreach my $isolation ('READ COMMITTED', 'SERIALIZABLE')
{
	my ($first, $second, $with) = map { session($_, $isolation) } qw(copy_a copy_b copy_c);
	my (%differs, %noisy);

	is(scalar(keys %{ $first->{after} }), scalar(keys %query), "$isolation: all of it was looked at");
	foreach my $stage (qw(before after later))
	{
		foreach my $name (keys %query)
		{
			$noisy{$name} = 1 if $first->{$stage}{$name} ne $second->{$stage}{$name};
			$differs{$name} = 1 if $first->{$stage}{$name} ne $with->{$stage}{$name};
		}
	}
	is(join(' ', grep { !$elsewhere{$_} } sort keys %noisy), '', "$isolation: what differs by itself is known");
	is(join(' ', grep { !$elsewhere{$_} } sort keys %differs), '', "$isolation: nothing tells of the person");
	# what the session itself holds, it holds as before
	foreach my $name (qw(pg_locks pg_cursors pg_prepared_statements pg_settings lastval))
	{
		is($with->{later}{$name}, $first->{later}{$name}, "$isolation: $name, later");
	}
	is($with->{after}{pg_settings}, $with->{before}{pg_settings}, "$isolation: settings are as before the call");
}
is($node->safe_psql('copy_c', 'SELECT count(*) FROM mails'), '1', 'what a function of the view wrote was rolled back');

$node->stop;
done_testing();
