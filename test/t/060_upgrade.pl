# ALTER EXTENSION UPDATE from version 0.1.0: the catalogs are those of a fresh install,
# nothing of the old ledger is lost, and the new one goes on from there.
use strict;
use warnings;
use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use Manual;

my $folder = dirname(__FILE__) . '/../upgrade';
my $catalog_sql = slurp_file("$folder/catalog.sql");
my $node = ledger_node('upgrade', 'max_prepared_transactions = 5');
$node->safe_psql('postgres', "CREATE ROLE $_") for map { "upgrade_$_" } qw(owner ana group member leaver);
$node->safe_psql('postgres', q{GRANT upgrade_group TO upgrade_member; CREATE ROLE upgrade_dba SUPERUSER; CREATE ROLE upgrade_auditor});

sub query { return $node->safe_psql(@_) }

# The facts of the catalogs that one database has and the other has not, as a diff.
sub difference
{
	my ($expected, $got) = @_;
	my %expected = map { $_ => 1 } split(/\n/, $expected);
	my %got = map { $_ => 1 } split(/\n/, $got);

	return join("\n", (map { "- $_" } grep { !$got{$_} } sort keys %expected),
		(map { "+ $_" } grep { !$expected{$_} } sort keys %got));
}

# The rows of the ledger's tables, of those columns that 0.1.0 knew.
my %old_columns;

sub old_rows
{
	my ($database) = @_;
	return join("\n", map { query($database, "SELECT '$_', ROW($old_columns{$_}) FROM dpngram.$_ ORDER BY 2") } sort keys %old_columns);
}

# 1. A database in which 0.1.0 was at work: its dump, and the bindings, which no dump
# has, as its dp_resume made them.
sub old_database
{
	my ($database) = @_;

	query('postgres', "CREATE DATABASE $database");
	query($database, q{CREATE EXTENSION dpngram VERSION '0.1.0'});
	command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), '-f', "$folder/ledger-0.1.0.sql" ],
		"$database: the dump of a ledger of 0.1.0 is restored");
	return;
}

sub bind_all
{
	my ($database) = @_;
	return query($database, q{
		INSERT INTO dpngram.relation_binding
		SELECT r.id, (SELECT system_identifier FROM pg_control_system()),
			(SELECT oid FROM pg_database WHERE datname = current_database()), c.oid, a.attnum, a.atttypid, c.relowner
		FROM dpngram.relation r JOIN pg_class c ON c.relname = r.name AND c.relnamespace = to_regnamespace(r.schema)
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = r.user_col;
		INSERT INTO dpngram.grantee_binding SELECT g.id, a.oid FROM dpngram.grantee g JOIN pg_roles a ON a.rolname = g.role;});
}

old_database('old');
bind_all('old');
%old_columns = map { split(/\|/) } split(/\n/, query('old', q{SELECT c.relname, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
	FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
	WHERE c.relnamespace = 'dpngram'::regnamespace AND c.relkind = 'r' GROUP BY c.relname}));
is(join(' ', sort keys %old_columns), 'dataset grantee grantee_binding relation relation_binding release release_end', 'the tables of 0.1.0');
my $rows_before = old_rows('old');
cmp_ok($rows_before =~ tr/\n//, '>', 100, 'have rows');

# the new library does nothing with the old tables, and says what to do
my $call = q{SELECT count(*) FROM dp_ngrams('s.talk', 'who', 'said', 1, 1e-7, max_length => 1)};
for my $statement ($call, q{SELECT dp_grant('talk', 'upgrade_ana')}, q{SELECT count(status) FROM dpngram.budget})
{
	my ($rc, $out, $err) = $node->psql('old', $statement);
	like($err, qr/the privacy ledger is of version 0\.1\.0, but the library of version (?!0\.1\.0).*ALTER EXTENSION dpngram UPDATE/s,
		"refused before the upgrade: $statement");
	is(sqlstate($node, $statement, 'old'), '55000', 'by its SQLSTATE');
}

# it waits for whoever reads the ledger, and can be given up
query('old', q{BEGIN; SELECT count(*) FROM dpngram.dataset; PREPARE TRANSACTION 'reader'});
is(sqlstate($node, q{SET lock_timeout = '100ms'; ALTER EXTENSION dpngram UPDATE}, 'old'), '55P03', 'the upgrade waits for calls that are under way');
query('old', q{COMMIT PREPARED 'reader'});
is(query('old', q{SELECT extversion FROM pg_extension WHERE extname = 'dpngram'}), '0.1.0', 'and does all or nothing');
is(old_rows('old'), $rows_before, 'no row has changed');

query('old', manual_block('upgrade'));

# 2. The catalogs.
query('postgres', 'CREATE DATABASE fresh');
query('fresh', 'CREATE EXTENSION dpngram');
my $fresh = query('fresh', $catalog_sql);
cmp_ok($fresh =~ tr/\n//, '>', 500, 'there is a catalog to compare');
is(difference($fresh, query('old', $catalog_sql)), '', 'the upgraded catalog is that of a fresh install');

# what the comparison sees: each is undone again
my @sabotage = (
	[ 'ALTER TABLE dpngram.dataset ADD extra integer', qr/column extra/ ],
	[ 'ALTER TABLE dpngram.dataset DROP created, ADD created timestamptz NOT NULL DEFAULT clock_timestamp()', qr/column created \| definition/ ],
	[ 'ALTER TABLE dpngram.relation RENAME detached TO renamed', qr/column renamed/ ],
	[ 'ALTER TABLE dpngram.dataset ALTER rho_spent DROP DEFAULT', qr/rho_spent \| default/ ],
	[ 'ALTER TABLE dpngram.release ALTER digest DROP NOT NULL', qr/digest \| definition/ ],
	[ 'ALTER TABLE dpngram.dataset ALTER pure_share TYPE real', qr/column pure_share \| definition/ ],
	[ 'ALTER TABLE dpngram.dataset DROP CONSTRAINT dataset_caps_check', qr/dataset_caps_check/ ],
	[ 'ALTER TABLE dpngram.grantee ADD FOREIGN KEY (dataset) REFERENCES dpngram.dataset', qr/FOREIGN KEY/ ],
	[ 'DROP INDEX dpngram.release_period', qr/release_period/ ],
	[ 'CREATE INDEX ON dpngram.release (at)', qr/release_at_idx/ ],
	[ 'ALTER TABLE dpngram.release DISABLE TRIGGER append_only', qr/append_only/ ],
	[ 'ALTER TABLE dpngram.release ENABLE TRIGGER append_only', qr/append_only/ ],
	[ 'ALTER TABLE dpngram.dataset ENABLE ALWAYS TRIGGER own_dataset_stays', qr/own_dataset_stays/ ],
	[ 'ALTER VIEW dpngram.budget RESET (security_barrier)', qr/budget \| options/ ],
	[ 'CREATE OR REPLACE VIEW dpngram.grantee_state AS SELECT id, dataset, NULL::name AS role, true AS live, true AS held FROM dpngram.grantee',
		qr/grantee_state \| definition/ ],
	[ 'ALTER FUNCTION dpngram.row_digest VOLATILE', qr/row_digest/ ],
	[ 'ALTER FUNCTION dp_protect RENAME TO dp_guard', qr/dp_guard/ ],
	[ 'GRANT EXECUTE ON FUNCTION dpngram.broken_chain TO PUBLIC', qr/broken_chain.* privilege \| - EXECUTE/ ],
	[ 'REVOKE SELECT ON dpngram.budget FROM PUBLIC', qr/budget \| privilege \| - SELECT/ ],
	[ q{DELETE FROM pg_init_privs WHERE objoid = 'dpngram.budget'::regclass}, qr/budget .*initially/ ],
	[ q{COMMENT ON COLUMN dpngram.release.digest IS 'x'}, qr/dpngram\.release \| comment/ ],
	[ 'COMMENT ON FUNCTION dp_resume IS NULL', qr/dp_resume.* \| comment/ ],
	[ q{UPDATE pg_extension SET extconfig = extconfig[2:], extcondition = extcondition[2:] WHERE extname = 'dpngram'}, qr/dumps/ ],
	[ 'ALTER EXTENSION dpngram DROP FUNCTION dpngram.broken_chain(integer)', qr/stranger.*broken_chain/ ],
	[ 'CREATE TABLE dpngram.left_over ()', qr/stranger.*left_over/ ],
	[ 'ALTER TABLE dpngram.carried OWNER TO upgrade_dba', qr/carried \| owner/ ],
	[ 'ALTER SEQUENCE dpngram.release_id_seq CACHE 5', qr/release_id_seq/ ],
	[ q{UPDATE pg_extension SET extversion = 'x' WHERE extname = 'dpngram'}, qr/version \| x/ ]);
for my $sabotage (@sabotage)
{
	my ($statement, $seen) = @$sabotage;
	like(difference($fresh, query('fresh', "BEGIN; $statement; $catalog_sql; ROLLBACK")), $seen, "seen: $statement");
}

# 3. The rows.
is(old_rows('old'), $rows_before, 'every row of 0.1.0 is there as it was');
is(query('old', q{SELECT count(*), bool_and(attached = created AND detached IS NULL)
	FROM dpngram.relation r JOIN dpngram.dataset d ON d.id = r.dataset}), '10|t', 'relations are attached since then');

my @lanes = qw(mu2 eps_pure delta_add rho rho_delta basic_epsilon basic_delta);

# Datasets or grants whose sums in any lane aren't those of the log.
sub unbalanced
{
	my ($database, $table, $column) = @_;
	my $sums = join(', ', map { "coalesce(sum(r.$_), 0)" } @lanes);
	my $spent = join(', ', map { "o.${_}_spent" } @lanes);
	return query($database, "SELECT o.id FROM dpngram.$table o
		WHERE ($spent) <> (SELECT $sums FROM dpngram.release r WHERE r.$column = o.id)");
}

sub log_is_whole
{
	my ($database, $name) = @_;

	is(unbalanced($database, 'dataset', 'dataset'), '', "$name: datasets have spent what the log says, in every lane");
	is(unbalanced($database, 'grantee', 'grantee'), '', "$name: and so have grants");
	is(query($database, 'SELECT d.id, b.* FROM dpngram.dataset d, dpngram.broken_chain(d.id) b'), '', "$name: the chains hold");
	is(query($database, 'SELECT count(*) FROM dpngram.dataset d
		WHERE releases = 0 OR releases <> (SELECT count(*) FROM dpngram.release r WHERE r.dataset = d.id)'), '0', "$name: and count all releases");
	return;
}
log_is_whole('old', 'upgraded');
is(query('old', q{SELECT bool_and(number = (SELECT count(*) FROM dpngram.release e WHERE e.dataset = r.dataset AND e.id <= r.id)) FROM dpngram.release r}),
	't', 'releases are numbered in their order');
my $sum_of = join(', ', map { "coalesce(sum($_), 0)" } @lanes);
my $price = join(', ', @lanes);
is(query('old', "SELECT count(*), bool_and(($price) = (SELECT $sum_of FROM dpngram.release c JOIN dpngram.carried s ON s.source = c.dataset
	WHERE s.dataset = r.dataset AND NOT s.forgotten AND c.epsilon IS NOT NULL)) FROM dpngram.release r WHERE mechanism = 'dp_protect'"), '10|t',
	'datasets began with the sum of the calls that they carry, in every lane');
is(query('old', "SELECT DISTINCT $price, events FROM dpngram.release WHERE epsilon IS NULL AND mechanism <> 'dp_protect'"), '0|0|0|0|0|0|0|[]', 'no other act costs anything');
is(query('old', q{SELECT count(DISTINCT accounting), bool_and(num_nonnulls(rho_cap, rho_delta_cap, basic_epsilon_cap, basic_delta_cap,
	renews) = 0) FROM dpngram.dataset}), '1|t', 'old datasets are of gdp and have its caps alone');
like(query('old', q{BEGIN; ALTER TABLE dpngram.release DISABLE TRIGGER ALL; UPDATE dpngram.release SET seeded = false WHERE id = 14;
	SELECT string_agg(b.release::text, ',') FROM dpngram.broken_chain(1) b; ROLLBACK}), qr/^14/, 'a row that is changed after the upgrade is found');
is(sqlstate($node, "$_ dpngram.release" . (/UPDATE/ ? ' SET mu2 = 0' : ''), 'old'), '55000', "refused as ever: $_")
	for ('UPDATE', 'DELETE FROM', 'TRUNCATE');
is(query('old', q{SELECT string_agg(dataset || CASE WHEN forgotten THEN ' forgot ' ELSE ' carries ' END || source, ', '
	ORDER BY dataset, source) FROM dpngram.carried}),
	'3 carries 2, 4 carries 2, 4 carries 3, 6 carries 5, 7 forgot 5, 7 forgot 6', 'who carries whose spending');
is(query('old', q{SELECT string_agg(dataset, ',' ORDER BY dataset) FROM dpngram.budget WHERE grantee IS NULL AND status = 'active'}),
	'failing,forgot 3,odd 3,pure,talk', 'what could be called before can be called');
is(query('old', q{SELECT dataset, status FROM dpngram.budget WHERE status <> 'active' AND grantee IS NULL}), 'dropped|suspended', 'but what was suspended');
is(query('old', q{SELECT string_agg(DISTINCT finding, ',') FROM dpngram.dataset d, dp_doctor(d.name::name) f
	WHERE d.ended IS NULL AND severity = 'error' AND finding NOT IN ('not-durable', 'went-back')}), 'seeded-release,suspended',
	'dp_doctor finds what it should, apart from this server and from positions in the log of the one that the dump is of');
is(query('old', q{SELECT string_agg(DISTINCT e ->> 'carried_from', ', '), count(*) FROM jsonb_array_elements(dp_export_events('odd 3') -> 'events') e
	WHERE jsonb_array_length(e -> 'events') = 3}), 'odd 2, s."odd ""name"|3', 'dp_export_events has the releases of 0.1.0 and of what they carry');

# 4. It goes on.
my %again = (
	5 => q{dp_ngrams('s.talk', 'who', 'said', 2, 1e-7, method => 'dpne')},
	6 => q{dp_ngrams('s.talk', 'who', 'said', 1, 1e-7, max_length => 3, method => 'dpne', noise_ratio => 1.3, max_contributions_per_length => '{10,20,NULL}')},
	7 => q{dp_ngrams('s.talk', 'who', 'said', 1.5, 2e-7, max_length => 4, method => 'dpsu-even')},
	8 => q{dp_ngrams('s.talk', 'who', 'said', 0.3, 1e-7, max_length => 2, method => 'dpsu-all')},
	9 => q{dp_set_union('s.talk', 'who', 'said', 0.5, 1e-7, max_contributions => 3, method => 'weighted_gaussian')},
	10 => q{dp_ngrams('s.talk', 'who', 'said', 1, 1e-8, method => 'dpsu-single', length => 2)});
for my $old (sort { $a <=> $b } keys %again)
{
	query('old', "SELECT count(*) FROM $again{$old}");
	# the log of dp_set_union says less since it has methods of its own;
	# mu2 is a sum of as many roundings as there are steps; rho was bounded by a hair more
	is(query('old', qq{SELECT o.parameters @> n.parameters OR o.mechanism = 'dp_set_union', o.basic_epsilon = n.basic_epsilon, o.basic_delta = n.basic_delta,
		abs(o.mu2 - n.mu2) <= n.mu2 * 1e-12, o.eps_pure = n.eps_pure, o.delta_add = n.delta_add,
		o.rho BETWEEN n.rho * (1 - 1e-14) AND n.rho * (1 + 1e-9), o.rho_delta = n.rho_delta,
		(SELECT sum((e ->> 'zcdp_rho')::numeric) FROM jsonb_array_elements(o.events) e)
			BETWEEN (SELECT sum((e ->> 'zcdp_rho')::numeric) FROM jsonb_array_elements(n.events) e)
			AND (SELECT 3 * sum((e ->> 'zcdp_rho')::numeric) FROM jsonb_array_elements(n.events) e),
		(SELECT string_agg(DISTINCT e ->> 'event', ',') FROM jsonb_array_elements(o.events) e)
			= (SELECT string_agg(DISTINCT e ->> 'event', ',') FROM jsonb_array_elements(n.events) e)
		FROM dpngram.release o, dpngram.release n WHERE o.id = $old AND n.id = (SELECT max(id) FROM dpngram.release)}),
		't|t|t|t|t|t|t|t|t|t', "an old release is priced as the same call is now: $again{$old}");
}
is(query('old', q{SELECT max(id), count(*), bool_and(number > 14) FROM dpngram.release WHERE id > 37}), '43|6|t', 'numbers go on');
is(query('old', "SET ROLE upgrade_member; $call") >= 0, 1, 'an analyst calls under the grant of her group');
is(query('old', q{SELECT g.role FROM dpngram.release r JOIN dpngram.grantee g ON g.id = r.grantee ORDER BY r.id DESC LIMIT 1}), 'upgrade_group', 'which is debited');

# what old datasets spent is carried into any accounting, each once
query('old', qq{SET ROLE upgrade_owner; SELECT dp_unprotect('$_')}) for ('odd 3', 'forgot 3');
query('old', q{SET ROLE upgrade_owner; SELECT dp_protect('s."odder ""name"', 'the user', 9, 9e-6, dataset => 'odd 4', accounting => 'zcdp');
	SELECT dp_protect('s.forgot', 'who', 9, 9e-6, dataset => 'forgot 4', accounting => 'basic')});
is(query('old', q{SELECT parameters -> 'carried_from' FROM dpngram.release WHERE mechanism = 'dp_protect' AND id > 37 ORDER BY id}), "[2, 3, 4]\n[7]",
	'what was carried, but not what was forgotten');
is(query('old', "SELECT ($price) = (SELECT $sum_of FROM dpngram.release c WHERE c.dataset IN ($$_[1]) AND c.epsilon IS NOT NULL)
	FROM dpngram.release r WHERE r.dataset = (SELECT id FROM dpngram.dataset WHERE name = '$$_[0]') AND mechanism = 'dp_protect'"), 't',
	"the sum of all their calls: $$_[0]") for ([ 'odd 4', '2, 3, 4' ], [ 'forgot 4', '7' ]);
query('old', q{SELECT count(*) FROM dp_set_union('s."odder ""name"', 'the user', 'what', 0.25, 1e-7)});
query('old', q{SET ROLE upgrade_owner; SELECT dp_set_budget('talk', 50, 1e-5);});
log_is_whole('old', 'after more calls and acts');

# 5. By another superuser than the one who made the extension, with others' objects that
# depend on it, and after a promotion that 0.1.0 did not see.
old_database('used');
bind_all('used');
query('used', q{
	CREATE VIEW mine AS SELECT b.dataset, b.spent_epsilon, r.id FROM dpngram.budget b JOIN dpngram.releases r ON r.dataset = b.dataset;
	GRANT SELECT ON dpngram.release TO upgrade_auditor;
	INSERT INTO dpngram.release (dataset, relation, session_role, caller_role, mechanism, parameters, mu2, eps_pure, delta_add, seeded, timeline, lsn)
		SELECT dataset, relation, session_role, caller_role, 'dp_resume', '{}', 0, 0, 0, false, 7, lsn FROM dpngram.release WHERE id = 34;});
query('used', 'SET ROLE upgrade_dba; ALTER EXTENSION dpngram UPDATE');
my $superuser = query('used', 'SELECT current_user');
is(join("\n", grep { !/^\+ table dpngram\.release \| privilege \| \Q$superuser\E / } split(/\n/, difference($fresh, query('used', $catalog_sql)))),
	"+ table dpngram.release | privilege | upgrade_auditor SELECT f by $superuser", 'another superuser makes nothing of his own, and grants stay');
cmp_ok(query('used', 'SELECT count(*) FROM mine'), '>', 0, 'a view over a view of ours stays');
is(query('used', q{SELECT string_agg(dataset, ',' ORDER BY dataset) FROM dpngram.budget WHERE status = 'suspended' AND grantee IS NULL}),
	'dropped,failing', 'a dataset last heard of on another timeline is suspended');
query('used', q{SET ROLE upgrade_owner; SELECT dp_resume('failing')});
is(query('used', q{SELECT status FROM dpngram.budget WHERE dataset = 'failing' AND grantee IS NULL}), 'active', 'until its owner resumes it');
log_is_whole('used', 'used');

# Or where the ledger was given to a role that is no superuser.
query('postgres', 'CREATE DATABASE given');
query('given', q{SET ROLE upgrade_dba; CREATE EXTENSION dpngram VERSION '0.1.0'; REASSIGN OWNED BY upgrade_dba TO upgrade_auditor; RESET ROLE;
	ALTER EXTENSION dpngram UPDATE; CREATE TABLE t (who int, what text); SELECT dp_protect('t', 'who', 1, 1e-6)});
is(join("\n", grep { / \| owner \| / && !/^extension|upgrade_auditor$/ } split(/\n/, query('given', $catalog_sql))), '', 'all of it is still of that role');
is(query('given', q{SELECT count(*) FROM dp_ngrams('t', 'who', 'what', 1, 1e-6)}), '0', 'and calls work');

# 6. As the manual says, an old dump goes into the old version, which then is upgraded.
my $tmp = PostgreSQL::Test::Utils::tempdir();
append_to_file("$tmp/app.sql", slurp_file("$folder/ledger-0.1.0.sql"));
{
	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	command_ok([ 'bash', '-euo', 'pipefail', '-c', "cd '$tmp'; " . manual_block('upgrade-dump') ], 'the recipe for an old dump');
}
is(difference($fresh, query('app', $catalog_sql)), '', 'ends with the same catalog');
log_is_whole('app', 'an old dump');
is(query('app', q{SELECT DISTINCT status FROM dpngram.budget}), 'suspended', 'suspended, as after any restore');
is(query('app', q{SELECT count(*) FROM dpngram.carried WHERE forgotten}), '0', 'who forgot is not known without bindings: it counts again');
query('app', q{SET ROLE upgrade_owner; SELECT dp_resume('talk')});
query('app', "SET ROLE upgrade_ana; $call");
is(query('app', q{SELECT epsilon FROM dpngram.releases ORDER BY id DESC LIMIT 1}), '1', 'and charged after dp_resume');
log_is_whole('app', 'an old dump, resumed');

query('postgres', 'CREATE DATABASE wrong');
query('wrong', 'CREATE EXTENSION dpngram');
command_fails([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('wrong'), '-f', "$tmp/app.sql" ], 'it does not go into the new version');
$node->stop;
done_testing();
