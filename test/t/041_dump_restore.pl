# 041_dump_restore.pl: every kind of dump keeps ledger and log row by row, in plain names;
# what is restored is suspended, and its materialized views cost nothing by themselves.
#
# Runs the recipes of doc/operations.md.  003_ledger_restore.pl shows who may do what in
# a restored ledger.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use Manual;

my $node = ledger_node('dump');
my $tmp = PostgreSQL::Test::Utils::tempdir();
$node->safe_psql('postgres', $_) for 'CREATE DATABASE app', 'CREATE ROLE visitor LOGIN', 'CREATE ROLE reader LOGIN IN ROLE pg_read_all_data';
$node->safe_psql('app', $_) for manual_block('setup'), q{
	INSERT INTO archive.commits SELECT i, 'fix the build of number ' || i FROM generate_series(1, 2000) i;
	SET ROLE archive;
	CREATE TABLE archive.notes (who int, note text, said text);
	SELECT dp_protect('archive.notes', 'who', 4, 0, dataset => 'notes', columns => '{note,said}',
		options => '{"public_user_count": true}');
	SELECT dp_grant('notes', 'analysts', 2);
	SELECT dp_revoke('notes', 'analysts');
	SELECT dp_grant('notes', 'ana');
	CREATE TABLE archive.old (who int, note text);
	SELECT dp_protect('archive.old', 'who', 4, 1e-6, dataset => 'old');
	SELECT dp_unprotect('old');
	RESET ROLE;
	CREATE SCHEMA reports AUTHORIZATION ana;};
ledger_functions($node, 'app');
$node->safe_psql('app', q{SELECT ledger_charge('archive.notes', '{0,0.3,0}', parameters => '{"why": "O''Neill\t\\\\"}');
	SELECT ledger_charge('archive.notes', '{0,0.1,0}', outcome => 'open');});
$node->psql('app', q{SELECT ledger_charge('archive.notes', '{0,0.2,0}', outcome => 'error')});
$node->safe_psql('app', q{SET ROLE ana;
	CREATE MATERIALIZED VIEW reports.phrases AS
		SELECT * FROM dp_ngrams('archive.commits', 'author', 'message', 0.5, 1e-8);
	CREATE VIEW reports.long AS SELECT * FROM reports.phrases WHERE n > 1;
	CREATE MATERIALIZED VIEW reports."Top ""Ten""" AS SELECT * FROM reports.long ORDER BY weight DESC LIMIT 10;
	CREATE MATERIALIZED VIEW reports.calendar AS SELECT generate_series(1, 7) AS day;
	CREATE TABLE reports.articles AS SELECT 'fix the build'::text AS body;
	CREATE MATERIALIZED VIEW reports.vocabulary AS SELECT * FROM dp_public_ngrams('reports.articles', 'body', 1);
	CREATE MATERIALIZED VIEW reports.shares AS
		SELECT * FROM bayes_dp_dist('archive.commits', 'author', 'message', 'reports.vocabulary', 0.1, 1e-9, n => 1);
	CREATE MATERIALIZED VIEW reports.terms AS
		SELECT * FROM ldp_frequent_terms('archive.notes', 'who', 'note', 0.1);
	CREATE MATERIALIZED VIEW reports.entropy AS SELECT cross_entropy(count, probability) FROM reports.shares JOIN reports.vocabulary USING (ngram);
	CREATE MATERIALIZED VIEW reports.perplexity AS SELECT perplexity(0.5) FROM reports.calendar;});
$node->poll_query_until('app', q{SELECT count(*) = 1 FROM dpngram.releases WHERE status = 'failed'}) or die 'no failed release';

# All that a dump is to keep, row by row: the extension's configuration tables.
sub ledger
{
	my ($server, $database) = @_;
	my $tables = $server->safe_psql($database, q{SELECT c.oid::regclass, c.relkind FROM pg_extension e
		CROSS JOIN LATERAL unnest(e.extconfig) t (id) JOIN pg_class c ON c.oid = t.id WHERE e.extname = 'dpngram' ORDER BY 1});
	my @select = map { my ($t, $kind) = split(/\|/);
		$kind eq 'S' ? "SELECT '$t', last_value, is_called FROM $t" : "SELECT '$t', t FROM $t t ORDER BY t::text" } split(/\n/, $tables);
	return $server->safe_psql($database, join(';', @select));
}
my $ledger = ledger($node, 'app');
cmp_ok($ledger =~ tr/\n//, '>', 20, 'there is a ledger to keep');

# Runs a script of the shell in a folder of its own, as superuser.
sub status_of_shell
{
	my ($script, $server) = @_;
	local $ENV{PGHOST} = ($server // $node)->host;
	local $ENV{PGPORT} = ($server // $node)->port;
	my ($out, $err) = run_command([ 'bash', '-euo', 'pipefail', '-c', "cd '$tmp'; $script" ]);
	note $err if $err;
	return ($? >> 8, $out, $err);
}

sub runs_well
{
	my ($name, $script, $server) = @_;
	my ($status) = status_of_shell($script, $server);
	return is($status, 0, $name);
}

# A restored database has the ledger, suspended, and spent nothing.
sub same_ledger
{
	my ($name, $server, $database) = @_;
	is(ledger($server, $database), $ledger, "$name: ledger and log, row by row");
	is($server->safe_psql($database, q{SELECT DISTINCT status FROM dpngram.budget}), 'suspended', "$name: suspended");
	return is($server->safe_psql($database, q{SELECT b.* FROM dpngram.dataset d, dpngram.broken_chain(d.id) b}), '',
		"$name: its chain is whole");
}

sub populated
{
	my ($server, $database) = @_;
	return $server->safe_psql($database, q{SELECT matviewname FROM pg_matviews WHERE ispopulated ORDER BY 1});
}

# Of this cluster the ledger holds names only.
is($node->safe_psql('app', q{SELECT count(*) FROM pg_extension e CROSS JOIN LATERAL unnest(e.extconfig) t (id)
	JOIN pg_attribute a ON a.attrelid = t.id AND a.attnum > 0 JOIN pg_type y ON y.oid = a.atttypid
	WHERE e.extname = 'dpngram' AND (y.typcategory = 'N' AND y.typname ~ '^(oid|reg)' OR y.typname IN ('xid', 'xid8', 'cid', 'tid'))}),
	'0', 'no dumped column has a type that is an OID');
my $numbers = $node->safe_psql('app', q{SELECT string_agg(n::text, '|') FROM (SELECT 'archive.commits'::regclass::oid UNION ALL
	SELECT 'archive.notes'::regclass::oid UNION ALL SELECT oid FROM pg_roles WHERE rolname IN ('ana', 'analysts', 'archive')
	UNION ALL SELECT oid FROM pg_database WHERE datname = 'app') o (n)}) . '|'
  . $node->safe_psql('app', 'SELECT system_identifier FROM pg_control_system()');
unlike($ledger, qr/(?<![\w.\/])(?:$numbers)(?![\w.])/, 'nor is the number of a table, role, database or cluster in it');

# Without the recipe: the restore's own REFRESH is refused, not charged, and the rest goes on.
runs_well('a plain dump', 'pg_dump --file=plain.sql app');
like(slurp_file("$tmp/plain.sql"), qr/^REFRESH MATERIALIZED VIEW reports\.phrases;$/m, 'which refreshes views');
my ($status, $out, $err) = status_of_shell('createdb plain; psql -Xq --dbname=plain --file=plain.sql');
like($err, qr/^psql:plain\.sql:\d+: ERROR:  dataset "commits" is suspended$/m, 'whose refresh is refused');
same_ledger('plain', $node, 'plain');
is(populated($node, 'plain'), "calendar\nperplexity\nvocabulary", 'plain: the paid views are empty, others not');
is($node->safe_psql('plain', 'SELECT count(*) FROM archive.commits'), '2000', 'plain: the texts are there');

runs_well('a dump in the custom format', 'pg_dump --format=custom --file=full.dump app');
($status, $out, $err) = status_of_shell('createdb custom; pg_restore --dbname=custom full.dump');
is($status, 1, 'pg_restore goes on, but says that it was not all well');
like($err, qr/errors ignored on restore: 5/, 'five times: three views and those over two of them');
same_ledger('custom', $node, 'custom');
($status, $out, $err) = status_of_shell('createdb strict; pg_restore --dbname=strict --single-transaction full.dump');
is($status, 1, 'in one transaction it fails');
is($node->safe_psql('strict', q{SELECT count(*) FROM pg_extension WHERE extname = 'dpngram'}), '0', 'and restores nothing');

# The recipe.
append_to_file("$tmp/paid_views.sql", manual_block('paid-views'));
runs_well('the recipe of a backup', manual_block('dump'));
$node->safe_psql('postgres', 'ALTER DATABASE app RENAME TO live');
runs_well('the recipe of a restore', manual_block('restore'));
same_ledger('recipe', $node, 'app');
is(populated($node, 'app'), "calendar\nperplexity\nvocabulary", 'recipe: the paid views are empty, others not');

# In parallel, in one transaction, in three sections, as INSERTs.
my $options = q{mapfile -t options < <(psql -XAt -d live -f paid_views.sql)};
runs_well('a dump by two jobs, restored by two',
	qq{$options; pg_dump --format=directory --jobs=2 --file=folder "\${options[\@]}" live
	createdb jobs; pg_restore --dbname=jobs --exit-on-error --jobs=2 folder});
same_ledger('jobs', $node, 'jobs');
runs_well('one transaction', 'createdb single; pg_restore --dbname=single --single-transaction app.dump');
same_ledger('one transaction', $node, 'single');
runs_well('three sections', q{createdb sections
	for section in pre-data data post-data; do pg_restore --dbname=sections --exit-on-error --section=$section app.dump; done});
same_ledger('sections', $node, 'sections');
runs_well('INSERTs', qq{$options; pg_dump --rows-per-insert=3 --file=inserts.sql "\${options[\@]}" live
	createdb inserts; psql -Xq -v ON_ERROR_STOP=1 --dbname=inserts --file=inserts.sql});
same_ledger('INSERTs', $node, 'inserts');

# All of a cluster, into another.
my $other = ledger_node('other');
$node->safe_psql('postgres', "DROP DATABASE $_") for qw(plain custom strict jobs single sections inserts);
runs_well('pg_dumpall', 'pg_dumpall --file=all.sql');
($status, $out, $err) = status_of_shell('psql -Xq --dbname=postgres --file=all.sql', $other);
is(() = $err =~ /is suspended$/mg, 3, 'whose refreshes are refused, too');
same_ledger('pg_dumpall', $other, $_) for qw(live app);

# Resumed, the copy goes on where the dump was made; only then are its views paid for.
is($other->safe_psql('live', q{SELECT sum(mu2_spent) FROM dpngram.dataset}),
	$node->safe_psql('live', q{SELECT sum(mu2_spent) FROM dpngram.dataset}), 'nothing was spent by restoring');
my $resumed = $other->safe_psql('live', manual_block('resume'));
is($resumed, "commits|\nnotes|", 'the recipe resumes all that is suspended');
is($other->safe_psql('live', q{SELECT DISTINCT status FROM dpngram.budget}), 'active', 'which is active then');
is(doctor_errors($other, 'live'), '', 'and in which dp_doctor finds no error');
$other->safe_psql('live', 'REFRESH MATERIALIZED VIEW reports.phrases');
$other->safe_psql('live', 'SET ROLE ana; REFRESH MATERIALIZED VIEW reports."Top ""Ten"""');
my $superuser = $other->safe_psql('live', 'SELECT current_user');
is($other->safe_psql('live', q{SELECT session_role, caller_role, grantee FROM dpngram.releases WHERE mechanism = 'dp_ngrams' ORDER BY id}),
	"$superuser|ana|analysts\n$superuser|ana|analysts", 'a refresh pays, as the owner of the view, whoever says it');
is($other->safe_psql('live', q{SELECT (SELECT count(*) FROM reports.phrases) > 0, (SELECT count(*) FROM reports."Top ""Ten""") > 0}), 't|t', 'and the views are there again');
is($other->safe_psql('live', q{SELECT min(id) FILTER (WHERE mechanism = 'dp_resume') > max(id) FILTER (WHERE mechanism NOT IN ('dp_resume', 'dp_ngrams')) FROM dpngram.release}),
	't', 'numbers of releases go on after those of the dump');
$other->safe_psql('live', q{CREATE TABLE archive.more (who int); ALTER TABLE archive.more OWNER TO archive;
	SET ROLE archive; SELECT dp_protect('archive.more', 'who', 1, 1e-6, dataset => 'more'); SELECT dp_grant('more', 'analysts');});
is(log_balances($other, 'live'), 't', 'the log adds up to what was spent');
$other->stop;

# A role that may not read the ledger gets no dump at all, not one with an empty ledger.
$node->safe_psql('live', "GRANT USAGE ON SCHEMA $_ TO visitor; GRANT SELECT ON ALL TABLES IN SCHEMA $_ TO visitor")
  for qw(archive reports);
($status, $out, $err) = status_of_shell('pg_dump --username=visitor --file=visitor.sql live');
is($status, 1, 'a role without rights on the ledger dumps nothing');
like($err, qr/permission denied for (?:table|sequence) dataset|may lack SELECT privilege on the sequence/, 'loudly');
unlike(-e "$tmp/visitor.sql" ? slurp_file("$tmp/visitor.sql") : '', qr/dpngram\./, 'not a word of the ledger');
runs_well('a role that may read all tables', 'pg_dump --username=reader --file=reader.sql live');
like(slurp_file("$tmp/reader.sql"), qr/^COPY dpngram\.release /m, 'dumps the ledger');

# Some tables or a schema alone: no ledger, hence no budget.
runs_well('a dump of one schema', 'pg_dump --schema=archive --file=schema.sql live');
unlike(slurp_file("$tmp/schema.sql"), qr/dpngram/, 'holds no ledger');
runs_well('and is restored elsewhere', 'createdb part; psql -Xq -v ON_ERROR_STOP=1 --dbname=part --command="CREATE EXTENSION dpngram" --file=schema.sql');
is(sqlstate($node, q{SELECT * FROM dp_ngrams('archive.commits', 'author', 'message', 0.5, 1e-8)}, 'part'), 'NG002', 'where its tables are not protected');

# An older dump over the live database: the ledger goes back, and is suspended.
my $old = ledger($node, 'live');
$node->safe_psql('live', q{SELECT ledger_charge('archive.notes', '{0,0.25,0}')});
isnt(ledger($node, 'live'), $old, 'something was spent since the dump');
runs_well('a restore over the live database', 'pg_restore --clean --if-exists --exit-on-error --single-transaction --dbname=live app.dump');
is(ledger($node, 'live'), $old, 'turns the ledger back');
is($node->safe_psql('live', q{SELECT DISTINCT status FROM dpngram.budget}), 'suspended', 'and suspends it');
is(sqlstate($node, q{SELECT ledger_charge('archive.notes', '{0,0.25,0}')}, 'live'), 'NG007', 'nothing is answered');

# Another encoding, date style and time zone change nothing of the chain.
$node->safe_psql('postgres', $_) for q{CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'}, q{CREATE DATABASE utf TEMPLATE template0},
  q{ALTER DATABASE utf SET datestyle = 'German'}, q{ALTER DATABASE utf SET timezone = 'Asia/Tokyo'}, q{ALTER DATABASE utf SET extra_float_digits = -5};
$node->safe_psql('latin', q{CREATE EXTENSION dpngram; CREATE TABLE U&"th\00E8se" (who int, what text);
	SELECT dp_protect(U&'"th\00E8se"', 'who', 0.1::float8 + 0.2, 0);});
runs_well('a dump of a LATIN1 database', 'pg_dump --file=latin.sql latin; psql -Xq -v ON_ERROR_STOP=1 --dbname=utf --file=latin.sql');
is($node->safe_psql('utf', q{SELECT count(*), bool_and(relation LIKE U&'%th\00E8se%') FROM dpngram.release}), '1|t', 'is restored in UTF8');
is($node->safe_psql('utf', q{SELECT b.* FROM dpngram.dataset d, dpngram.broken_chain(d.id) b}), '', 'and its chain is whole');

# Rows loaded without their triggers.
runs_well('data only', 'createdb empty; pg_restore --section=pre-data --dbname=empty app.dump; pg_restore --data-only --disable-triggers --exit-on-error --dbname=empty app.dump');
same_ledger('data only', $node, 'empty');
is(sqlstate($node, $_, 'empty'), '55000', "data only: $_ is refused as ever")
  for 'DELETE FROM dpngram.release', 'UPDATE dpngram.release_end SET used = NULL', 'TRUNCATE dpngram.release';

# pg_upgrade makes another cluster of the same tables and OIDs.
$node->safe_psql('postgres', "DROP DATABASE $_") for qw(app part empty);
$node->safe_psql('live', manual_block('resume'));
$ledger = ledger($node, 'live');
$node->stop;
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(extra => [ '--encoding=UTF8', '--locale=C.UTF-8' ]);
$new->append_conf('postgresql.conf', "max_worker_processes = 128\n");
my ($bindir) = run_command([ 'pg_config', '--bindir' ]);
my ($old_data, $new_data) = ($node->data_dir, $new->data_dir);
runs_well('pg_upgrade', "pg_upgrade -b $bindir -B $bindir -d $old_data -D $new_data -s $tmp -N");
$new->start;
same_ledger('pg_upgrade', $new, 'live');
is(sqlstate($new, q{SELECT ledger_charge('archive.notes', '{0,0.25,0}')}, 'live'), 'NG007', 'pg_upgrade: refused until resumed');
is($new->safe_psql('live', manual_block('resume')), "commits|\nnotes|", 'pg_upgrade: resumed');
is(sqlstate($new, q{SELECT ledger_charge('archive.notes', '{0,0.25,0}')}, 'live'), '00000', 'pg_upgrade: and usable');
$new->stop;
done_testing();
