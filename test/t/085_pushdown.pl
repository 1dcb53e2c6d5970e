# 085_pushdown.pl: n-grams that three servers count, each those of its own users: the rows
# are those of a table that is here, only keys and weights travel, and what can't be
# counted so costs nothing.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use Manual;

my $here = ledger_node('coordinator');
my @there = map { ledger_node("there$_", 'log_statement = all') } (0 .. 2);

# ------------------------------------------------------------------------
# the same texts in a table here and, in several layouts, on the servers
# ------------------------------------------------------------------------

$here->safe_psql('postgres', q{
	CREATE EXTENSION dpngram;
	CREATE EXTENSION postgres_fdw;
	CREATE ROLE owner;
	CREATE ROLE ana;
	GRANT CREATE, USAGE ON SCHEMA public TO owner;
	GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO owner;});
foreach my $node (@there)
{
	$node->safe_psql('postgres', q{
		CREATE EXTENSION dpngram;
		CREATE ROLE counter LOGIN;
		GRANT EXECUTE ON FUNCTION dpngram.exact_counts, dpngram.exact_words TO counter;
		GRANT CREATE, USAGE ON SCHEMA public TO counter;});
}
foreach my $i (0 .. 2)
{
	my ($host, $port) = ($there[$i]->host, $there[$i]->port);

	$here->safe_psql('postgres', qq{
		CREATE SERVER s$i FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '$host', port '$port', dbname 'postgres', extensions 'dpngram', async_capable 'true');
		ALTER SERVER s$i OWNER TO owner;
		CREATE USER MAPPING FOR owner SERVER s$i OPTIONS (user 'counter', password_required 'false');});
}

# Words of Zipf-like frequencies, some not ASCII; each user has about four documents.
$here->safe_psql('postgres', q{
	SET ROLE owner;
	CREATE TABLE here AS
	SELECT i % 300 AS who, to_char(i % 300, 'FM000') COLLATE "C" AS name,
		(SELECT string_agg((ARRAY['der', 'Öl', 'ЖУК', 'naïve', 'straße', 'x', 'secretword'])[1 + least(i * j * j % 7, (i + j) % 5)], ' ' ORDER BY j)
			FROM generate_series(1, 3 + i % 9) j) AS what,
		'2026-01-01 00:00Z'::timestamptz + i * interval '1 hour' AS said
	FROM generate_series(1, 1200) i;
	ALTER TABLE here ALTER name TYPE text COLLATE "C";});

my $columns = 'who int, name text COLLATE "C", what text, said timestamptz';

# A relation in three parts, by these bounds.
sub spread
{
	my ($relation, $key, @bounds) = @_;

	foreach my $i (0 .. 2)
	{
		$there[$i]->safe_psql('postgres', "SET ROLE counter; CREATE TABLE $relation ($columns)");
	}
	$here->safe_psql('postgres', join(';', 'SET ROLE owner', "CREATE TABLE $relation ($columns) PARTITION BY $key",
		(map { "CREATE FOREIGN TABLE ${relation}_$_ PARTITION OF $relation $bounds[$_] SERVER s$_ OPTIONS (table_name '$relation')" } (0 .. 2)),
		"INSERT INTO $relation SELECT * FROM here"));
	return;
}

spread('hashed', 'HASH (who)', map { "FOR VALUES WITH (MODULUS 3, REMAINDER $_)" } (0 .. 2));
spread('ranged', 'RANGE (who)', 'FOR VALUES FROM (MINVALUE) TO (90)', 'FOR VALUES FROM (90) TO (210)', 'DEFAULT');
spread('listed', 'LIST (who)', map { my $i = $_; 'FOR VALUES IN (' . join(', ', grep { $_ % 3 == $i } (0 .. 299)) . ')' } (0 .. 2));
spread('by_name', 'RANGE (name)', "FOR VALUES FROM (MINVALUE) TO ('1')", "FOR VALUES FROM ('1') TO ('2')", 'DEFAULT');
spread('timed', 'HASH (who)', map { "FOR VALUES WITH (MODULUS 3, REMAINDER $_)" } (0 .. 2));

# hash within a range: two on one server
$there[0]->safe_psql('postgres', "SET ROLE counter; CREATE TABLE nested_0 ($columns); CREATE TABLE nested_1 ($columns)");
$there[1]->safe_psql('postgres', "SET ROLE counter; CREATE TABLE nested ($columns)");
$here->safe_psql('postgres', qq{
	SET ROLE owner;
	CREATE TABLE nested ($columns) PARTITION BY RANGE (who);
	CREATE TABLE nested_low PARTITION OF nested FOR VALUES FROM (MINVALUE) TO (150) PARTITION BY HASH (who);
	CREATE FOREIGN TABLE nested_0 PARTITION OF nested_low FOR VALUES WITH (MODULUS 2, REMAINDER 0) SERVER s0;
	CREATE FOREIGN TABLE nested_1 PARTITION OF nested_low FOR VALUES WITH (MODULUS 2, REMAINDER 1) SERVER s0;
	CREATE FOREIGN TABLE nested_high PARTITION OF nested FOR VALUES FROM (150) TO (200) SERVER s1 OPTIONS (table_name 'nested');
	CREATE TABLE nested_here PARTITION OF nested DEFAULT;
	INSERT INTO nested SELECT * FROM here;
	CREATE FOREIGN TABLE single ($columns) SERVER s2 OPTIONS (table_name 'single');});
$there[2]->safe_psql('postgres', "SET ROLE counter; CREATE TABLE single ($columns)");
$here->safe_psql('postgres', q{
	GRANT EXECUTE ON FUNCTION dpngram.exact_counts, dpngram.exact_words TO owner;
	SET ROLE owner;
	INSERT INTO single SELECT * FROM here;
	SELECT dp_protect(r::regclass, 'who', 1000, 1e-2), dp_grant(r, 'ana') FROM unnest('{here,hashed,ranged,listed,nested,single}'::text[]) r;
	SELECT dp_protect('by_name', 'name', 1000, 1e-2), dp_grant('by_name', 'ana');
	CREATE TABLE here_too AS SELECT * FROM here;
	SELECT dp_protect('here_too', 'name', 1000, 1e-2), dp_grant('here_too', 'ana');
	CREATE TABLE timed_here AS SELECT * FROM here;
	SELECT dp_protect(r::regclass, 'who', 1000, 1e-2, options => '{"renews": "1 month", "time_col": "said"}'), dp_grant(r, 'ana')
	FROM unnest('{timed,timed_here}'::text[]) r;});

# ------------------------------------------------------------------------
# rows
# ------------------------------------------------------------------------

# The rows of a call, as the analyst gets them, and how it was executed.
sub rows
{
	my ($relation, $arguments, $settings) = @_;
	my $user = $relation eq 'by_name' || $relation eq 'here_too' ? 'name' : 'who';
	my $rows = $here->safe_psql('postgres', qq{
		SET client_min_messages = error;
		SET dpngram.test_seed = 7;
		@{[ $settings // '' ]}
		SET ROLE ana;
		SELECT count(*) || ' ' || md5(string_agg(r::text, ',')) FROM dp_ngrams('$relation', '$user', 'what', 4, 1e-6, $arguments) r;});

	return ($rows, $here->safe_psql('postgres',
		q{SELECT coalesce(used->>'execution', 'local') FROM dpngram.releases ORDER BY id DESC LIMIT 1}));
}

my %calls = (
	'dpne' => q{max_length => 4, method => 'dpne'},
	'dpne, single-side' => q{max_length => 4, method => 'dpne', pruning => 'single'},
	'dpne-mr' => q{max_length => 4},
	'dpne-mr, single-side' => q{max_length => 3, pruning => 'single', max_tokens => 8},
	'few n-grams of a user' => q{max_length => 3, max_contributions => 2, max_contributions_per_length => '{2,3,4}'},
	'whitespace' => q{max_length => 2, tokenizer => 'whitespace'});
foreach my $name (sort keys %calls)
{
	my ($expected) = rows('here', $calls{$name});

	like($expected, qr/^[1-9]\d* /, "$name: there are n-grams");
	# by itself dpne alone is counted there
	my $call = $calls{$name} . ($name =~ /^dpne(,|$)/ ? '' : q{, options => '{"execution": "pushdown"}'});
	foreach my $relation (qw(hashed ranged nested))
	{
		my ($rows, $execution) = rows($relation, $call);

		is("$rows $execution", "$expected pushdown", "$name: $relation is counted on the servers, and the rows are the same");
	}
}
my ($expected) = rows('here', $calls{dpne});
foreach my $relation (qw(listed single))
{
	my ($rows, $execution) = rows($relation, $calls{dpne});
	is("$rows $execution", "$expected pushdown", "$relation: the same");
}
my ($named) = rows('here_too', $calls{dpne});
is_deeply([ rows('by_name', $calls{dpne}) ], [ $named, 'pushdown' ], 'users are texts, in ranges by the order of bytes');
is_deeply([ rows('hashed', qq{$calls{dpne}, options => '{"execution": "local"}'}) ], [ $expected, 'local' ],
	'what is on servers can be read from there all the same');
is_deeply([ rows('here', qq{$calls{dpne}}) ], [ $expected, 'local' ], 'what is here is counted here');
is((rows('hashed', $calls{'dpne-mr'}))[1], 'local', 'rounds are counted there only if that is asked for');

# ------------------------------------------------------------------------
# what travels
# ------------------------------------------------------------------------

my $start = -s $there[0]->logfile;
rows('hashed', $calls{dpne});
my $log = substr(slurp_file($there[0]->logfile), $start);
my @asked = $log =~ /DECLARE c\d+ CURSOR FOR\s+(.*)/g;
my @other = grep { !/^SELECT \d+, dpngram\.exact_(?:counts|words)\(E'\\\\x[0-9a-f]+'::bytea, who, what\) FROM public\.hashed$/ } @asked;
cmp_ok(scalar(@asked), '>=', 5, 'a statement for each length, and one for the words');
is_deeply(\@other, [], 'nothing is asked for but counts and released words');
unlike($log, qr/secretword|naïve/, 'no text travels there');
unlike($log, qr/@{[ unpack('H*', 'secretword') ]}/, 'nor in bytes');

my ($count) = grep { /exact_counts/ } @asked;
my $first_answer = $there[0]->safe_psql('postgres', "SET ROLE counter; SET search_path = pg_catalog; SELECT (q).* FROM ($count) q");
like($first_answer, qr/^\d+\|\\x01[0-9a-f]+$/, 'the answer is bytes');
unlike($first_answer, qr/@{[ unpack('H*', 'secretword') ]}/, 'with no text in them');

# ------------------------------------------------------------------------
# users who are where they don't belong
# ------------------------------------------------------------------------

# The SQLSTATE and message of a call, and what its dataset has had charged meanwhile.
sub failure
{
	my ($relation, $arguments, $settings) = @_;
	my $charges = "SELECT count(*) FROM dpngram.releases WHERE dataset = '$relation'";
	my $before = $here->safe_psql('postgres', $charges);
	my ($out, $err) = finish(background($here, ($settings // '') . qq{
		SET ROLE ana;
		SELECT count(*) FROM dp_ngrams('$relation', 'who', 'what', 4, 1e-6, $arguments);}));

	return ($err, $here->safe_psql('postgres', $charges) - $before);
}

$there[1]->safe_psql('postgres', q{INSERT INTO ranged SELECT 5, 'x', 'der der der x x', now() FROM generate_series(1, 50)});
is_deeply([ rows('ranged', $calls{dpne}) ], [ $expected, 'pushdown' ], 'rows outside of a range count for nothing');
$there[1]->safe_psql('postgres', q{INSERT INTO listed SELECT 3, 'x', 'der der der x x', now() FROM generate_series(1, 50)});
is_deeply([ rows('listed', $calls{dpne}) ], [ $expected, 'pushdown' ], 'nor do those outside of a list');
my $wrong = $there[1]->safe_psql('postgres', q{INSERT INTO hashed SELECT who, 'x', 'der', now() FROM generate_series(0, 9) who
	WHERE who NOT IN (SELECT who FROM hashed WHERE who IS NOT NULL) RETURNING who});
my ($err, $charged) = failure('hashed', $calls{dpne});
like($err, qr/NG008: the relation could not be read/, 'a user in the wrong partition by hash is an error');
is($charged, 1, 'after the charge');
unlike($err, qr/partition|dpngram\.exact/, 'that tells nothing');
$there[1]->safe_psql('postgres', q{DELETE FROM hashed WHERE name = 'x'});
is_deeply([ rows('hashed', $calls{dpne}) ], [ $expected, 'pushdown' ], 'and all is well again');

# ------------------------------------------------------------------------
# what can't be counted there
# ------------------------------------------------------------------------

my $must = q{, options => '{"execution": "pushdown"}'};

# A layout that is refused before the charge, and is read from the servers otherwise.
sub refused
{
	my ($name, $change, $back, $detail) = @_;

	$here->safe_psql('postgres', $change);
	($err, $charged) = failure('hashed', $calls{dpne} . $must);
	like($err, qr/NG005: the relation's n-grams can't be counted where its rows are.*$detail/s, "$name: refused");
	is($charged, 0, "$name: and nothing is charged");
	is_deeply([ rows('hashed', $calls{dpne}) ], [ $expected, 'local' ], "$name: left to us, it is counted here");
	$here->safe_psql('postgres', $back);
	return;
}

refused('a server that does not know the extension', q{ALTER SERVER s2 OPTIONS (DROP extensions)},
	q{ALTER SERVER s2 OPTIONS (ADD extensions 'dpngram')}, q{ALTER SERVER .* OPTIONS \(ADD extensions 'dpngram'\)});
refused('row-level security', q{ALTER TABLE hashed ENABLE ROW LEVEL SECURITY; ALTER TABLE hashed FORCE ROW LEVEL SECURITY; CREATE POLICY p ON hashed USING (true)},
	q{DROP POLICY p ON hashed; ALTER TABLE hashed NO FORCE ROW LEVEL SECURITY; ALTER TABLE hashed DISABLE ROW LEVEL SECURITY}, 'Row-level security');
refused('a partition that the owner may not read', q{ALTER FOREIGN TABLE hashed_1 OWNER TO CURRENT_USER; CREATE USER MAPPING FOR CURRENT_USER SERVER s1 OPTIONS (user 'counter')},
	q{ALTER FOREIGN TABLE hashed_1 OWNER TO owner}, 'may not read all of its partitions');
# Costs of the caller's do not decide, else the refusal would tell what the planner knows of the rows.
$here->safe_psql('postgres', join(';', map { "ALTER SERVER s$_ OPTIONS (ADD use_remote_estimate 'true', ADD fdw_tuple_cost '0.00001')" } (0 .. 2)));
(undef, $charged) = failure('hashed', "max_length => 2, method => 'dpne'$must", 'SET cpu_operator_cost = 0; SET cpu_tuple_cost = 0;');
is($charged, 1, 'whatever the caller says of costs, the servers count');
$here->safe_psql('postgres', join(';', map { "ALTER SERVER s$_ OPTIONS (DROP use_remote_estimate, DROP fdw_tuple_cost)" } (0 .. 2)));
foreach my $case ([ 'dpsu', q{method => 'dpsu-all'}, qr/NG005: argument "execution"/ ],
	[ 'a text search parser', q{tokenizer => 'parser:pg_catalog.default'}, qr/Tokenizers of text search/ ])
{
	($err, $charged) = failure('hashed', $case->[1] . $must);
	like($err, $case->[2], "$case->[0]: refused");
	is($charged, 0, "$case->[0]: not charged");
}
$here->safe_psql('postgres', qq{
	SET ROLE owner;
	CREATE TABLE by_time ($columns) PARTITION BY RANGE (said);
	CREATE FOREIGN TABLE by_time_0 PARTITION OF by_time DEFAULT SERVER s0 OPTIONS (table_name 'single');
	SELECT dp_protect('by_time', 'who', 10, 1e-5), dp_grant('by_time', 'ana');
	CREATE TABLE by_locale (who text, what text) PARTITION BY RANGE (who);
	CREATE FOREIGN TABLE by_locale_0 PARTITION OF by_locale DEFAULT SERVER s0 OPTIONS (table_name 'single');
	SELECT dp_protect('by_locale', 'who', 10, 1e-5), dp_grant('by_locale', 'ana');
	REVOKE ALL ON here FROM ana;});
foreach my $relation (qw(by_time by_locale))
{
	($err, $charged) = failure($relation, "max_length => 2$must");
	like($err, qr/not partitioned by the person's column alone/, "$relation: refused");
	is($charged, 0, "$relation: not charged");
}
($err, $charged) = failure('here', "max_length => 2$must");
like($err, qr/may not call the functions that count here/, 'a table that is here: only who may count here');
is($charged, 0, 'not charged');
$here->safe_psql('postgres', q{GRANT EXECUTE ON FUNCTION dpngram.exact_user_counts, dpngram.unpacked_counts, dpngram.exact_row_words TO owner});
is_deeply([ rows('here', $calls{dpne} . $must) ], [ $expected, 'pushdown' ], 'then by the SQL that Citus would push down');

# ------------------------------------------------------------------------
# periods
# ------------------------------------------------------------------------

my %of_period;
foreach my $period ('2026-01-15', '2026-02-15')
{
	my $arguments = qq{max_length => 2, method => 'dpne', options => '{"period": "$period"}'};

	($of_period{$period}) = rows('timed_here', $arguments);
	is_deeply([ rows('timed', $arguments) ], [ $of_period{$period}, 'pushdown' ], "the servers count the rows of $period");
}
isnt($of_period{'2026-01-15'}, $of_period{'2026-02-15'}, 'which are others than those of another period');

# ------------------------------------------------------------------------
# a distributed table, by what we ask Citus of it
# ------------------------------------------------------------------------

$here->safe_psql('postgres', q{
	SET allow_system_table_mods = on;
	CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char", partkey text);
	CREATE TABLE pg_catalog.pg_dist_local_group (groupid int);
	GRANT SELECT ON pg_catalog.pg_dist_partition, pg_catalog.pg_dist_local_group TO PUBLIC;
	CREATE FUNCTION pg_catalog.column_to_column_name(regclass, text) RETURNS text LANGUAGE sql AS 'SELECT $2';
	INSERT INTO pg_dist_partition VALUES ('here', 'h', 'name'), ('here_too', 'n', NULL);
	INSERT INTO pg_dist_local_group VALUES (0);
	INSERT INTO pg_extension VALUES (99999, 'citus', 10, 11, false, '13', NULL, NULL);
	GRANT SELECT ON here TO ana;});
is_deeply([ rows('here', $calls{dpne}) ], [ $expected, 'local' ], 'distributed by another column: counted here');
($err, $charged) = failure('here', $calls{dpne} . $must);
like($err, qr/not distributed by the person's column/, 'or not at all');
is($charged, 0, 'not charged');
$here->safe_psql('postgres', q{UPDATE pg_dist_partition SET partkey = 'who' WHERE logicalrelid = 'here'::regclass});
is_deeply([ rows('here', $calls{dpne}) ], [ $expected, 'pushdown' ], 'distributed by users: counted there');
is_deeply([ rows('here_too', $calls{dpne}) ], [ $named, 'pushdown' ], 'a table that is whole on one node, or on each');
$here->safe_psql('postgres', q{UPDATE pg_dist_partition SET partmethod = 'a' WHERE logicalrelid = 'here_too'::regclass});
is_deeply([ rows('here_too', $calls{dpne}) ], [ $named, 'local' ], 'distributed as rows came: counted here');
$here->safe_psql('postgres', q{UPDATE pg_dist_partition SET partmethod = 'a' WHERE logicalrelid = 'here'::regclass});
($err, $charged) = failure('here', $calls{dpne} . $must);
like($err, qr/not distributed by a hash/, 'or not at all');
is($charged, 0, 'not charged');
# one ledger: on other nodes than the coordinator nothing is charged or protected
$here->safe_psql('postgres', q{UPDATE pg_dist_local_group SET groupid = 3});
($err, $charged) = failure('here', $calls{dpne});
like($err, qr/55000: this server is not the coordinator/, 'a node charges nothing');
is($charged, 0, 'not charged');
like((finish(background($here, q{CREATE TABLE nodes (who int); SELECT dp_protect('nodes', 'who', 1, 0)})))[1],
	qr/55000: this server is not the coordinator/, 'and protects nothing');
$here->safe_psql('postgres', q{SET allow_system_table_mods = on; DELETE FROM pg_extension WHERE oid = 99999});

# ------------------------------------------------------------------------
# doc/pushdown.md, as it is printed
# ------------------------------------------------------------------------

my $page = 'pushdown.md';
is_deeply([ manual_blocks($page) ], [qw(server coordinator)], 'its blocks are those');
my @visits = (q{CREATE TABLE visits (person int, pages text)}, 'counter' => 'counter_of_visits', q{'...'} => q{'secret'});
$_->safe_psql('postgres', 'CREATE DATABASE manual') foreach ($here, $there[0]);
$there[0]->safe_psql('manual', $visits[0]);
$there[0]->safe_psql('manual', manual_block_of($page, 'server', @visits[1 .. 4]) . 'GRANT INSERT ON visits TO counter_of_visits');
$here->safe_psql('manual', manual_block_of($page, 'coordinator', @visits[1, 2],
	q{password '...'} => q{password_required 'false'},
	q{host '...', dbname '...'} => sprintf(q{host '%s', port '%s', dbname 'manual'}, $there[0]->host, $there[0]->port)) . q{
	CREATE TABLE visits_two PARTITION OF visits FOR VALUES WITH (MODULUS 3, REMAINDER 1);
	CREATE TABLE visits_three PARTITION OF visits FOR VALUES WITH (MODULUS 3, REMAINDER 2);
	ALTER TABLE visits OWNER TO owner;
	ALTER TABLE visits_one OWNER TO owner;
	ALTER TABLE visits_two OWNER TO owner;
	ALTER TABLE visits_three OWNER TO owner;
	GRANT USAGE ON FOREIGN SERVER one TO owner;
	GRANT EXECUTE ON FUNCTION dpngram.exact_counts, dpngram.exact_words TO owner;
	SET ROLE owner;
	INSERT INTO visits SELECT i, 'front page' FROM generate_series(1, 600) i;
	SELECT dp_protect('visits', 'person', 10, 1e-3);});
is($here->safe_psql('manual', q{SET ROLE owner;
	SELECT string_agg(ngram, ',' ORDER BY n, ngram) FROM dp_ngrams('visits', 'person', 'pages', 4, 1e-6, method => 'dpne',
		max_length => 2, spurious => 1e-6, options => '{"execution": "pushdown"}')}), 'front,page,front page',
	'what the manual prints counts on the servers');

# ------------------------------------------------------------------------
# servers that don't answer
# ------------------------------------------------------------------------

my $locker = background($there[1], q{BEGIN; LOCK TABLE ranged; SELECT pg_sleep(600);});
$there[1]->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE relation = 'ranged'::regclass AND mode = 'AccessExclusiveLock' AND granted});
($err, $charged) = failure('ranged', $calls{dpne}, q{SET statement_timeout = '1s';});
like($err, qr/57014: canceling statement due to statement timeout/, 'a call that waits for a server is cancelled');
is($charged, 1, 'it was charged');
ok($there[1]->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = 'counter' AND state = 'active'}),
	'and so is what it had asked of the server');
$there[1]->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()});
finish($locker);

$there[1]->stop;
($err, $charged) = failure('ranged', $calls{dpne});
like($err, qr/NG008: the relation could not be read/, 'a server that is down is an error');
unlike($err, qr/connect|socket|server "s1"/, 'that tells nothing');
is($charged, 1, 'after the charge');
$here->safe_psql('postgres', q{ALTER SERVER s1 OPTIONS (ADD use_remote_estimate 'true')});
($err, $charged) = failure('ranged', $calls{dpne});
like($err, qr/NG008: the relation could not be read/, 'one that must be asked for a plan, too');
unlike($err, qr/connect|socket|server "s1"/, 'and that tells nothing, either');
is($charged, 0, 'before the charge');

$_->stop foreach ($here, $there[0], $there[2]);
done_testing();
