# 051_reference.pl: doc/reference.md says what the server says, its examples print what is
# printed there, and nothing is missing or too much.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Temp;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use Manual;

my $top = dirname(__FILE__) . '/../..';
my $page = manual_text('reference.md');
my $node = ledger_node('reference');

sub query
{
	return $node->safe_psql('postgres', $_[0]);
}

sub names
{
	return split(/\n/, query($_[0]));
}

# The page brought up to date, in a database of its own; each is thrown away with its role.
sub updated
{
	my ($text, @sabotage) = @_;
	my $file = File::Temp->new;
	my ($out, $err);

	print $file $text;
	close($file);
	query('CREATE DATABASE reference');
	$node->safe_psql('reference', $_) for @sabotage;
	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	local $ENV{PGDATABASE} = 'reference';
	IPC::Run::run([ 'perl', "$top/scripts/reference.pl", $file->filename ], '>', \$out, '2>', \$err);
	query('DROP DATABASE reference');
	query('DROP ROLE IF EXISTS ana');
	diag($err) if $err ne '';
	return $out;
}

# Lines of the page that are others now.
sub changes
{
	my ($now) = @_;
	my %now = map { $_ => 1 } split(/\n/, $now);
	my %page = map { $_ => 1 } split(/\n/, $page);

	return join("\n", (map { "- $_" } grep { !$now{$_} } split(/\n/, $page)), (map { "+ $_" } grep { !$page{$_} } split(/\n/, $now)));
}

# ---- what the server knows ----

my $now = updated($page);
is(changes($now), '', 'signatures, defaults, comments, settings and examples are those of the server');
ok($now eq $page, 'and in their order');

# the check sees what drifts: in the extension before the page is brought up to date, or on the page
my $installed = q{CREATE EXTENSION dpngram; };
my $later = $page =~ s/^CREATE EXTENSION dpngram;\n//mr;
for my $sabotage (
	[ q{COMMENT ON FUNCTION dp_revoke IS 'something else'}, qr/^\+ \*\*Something else\.\*\*$/m ],
	[ q{COMMENT ON COLUMN dpngram.budget.status IS 'something else'}, qr/^\+ \| `status` \| text \| something else \|$/m ],
	[ q{CREATE OR REPLACE FUNCTION ngrams(text text, n int, tokenizer text DEFAULT 'whitespace') RETURNS SETOF text
		LANGUAGE C STABLE STRICT AS '$libdir/dpngram', 'dpngram_ngrams'}, qr/^\+ \| `tokenizer` \| text \| `'whitespace'` \|/m ],
	[ q{ALTER VIEW dpngram.outlook RENAME calls_left TO remaining_calls}, qr/^\+ \| `remaining_calls` \|/m ])
{
	my ($statement, $seen) = @$sabotage;
	my ($text, $first) = $statement =~ /outlook/ ? ($later =~ s/, calls_left FROM/ FROM/r, $installed) : ($later, $installed);
	like(changes(updated($text, "$first $statement")), $seen, 'seen: ' . substr($statement, 0, 60));
}
like(changes(updated($page =~ s/^\| `delta_share`[^\n]*\n//mr)), qr/^- \| `delta_share`/m, 'a parameter that the page lacks comes with the update');
isnt(updated($page =~ s/^\| `delta_share`[^\n]*\n/| `delta_part` | name | | x |\n/mr), $page, 'and one that is none goes');
unlike($page, qr/\| \? \|$|\*\*\?/m, 'no meaning is missing');

# ---- all that there is, once ----

query('CREATE EXTENSION dpngram');
my @functions = names(q{SELECT DISTINCT p.proname COLLATE "C" FROM pg_proc p
	JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON d.refobjid = e.oid AND e.extname = 'dpngram'
	WHERE p.pronamespace = e.extnamespace ORDER BY 1});
my @views = names(q{SELECT oid::regclass::text COLLATE "C" FROM pg_class WHERE relnamespace = 'dpngram'::regnamespace
	AND relkind = 'v' AND has_table_privilege('public', oid, 'SELECT') ORDER BY 1});
my @sections = split(/^(?=##)/m, $page);
my %section = map { /^### ([^\n]*)/ ? ($1 => $_) : () } @sections;
my @headings = grep { /^[a-z_.]+$/ } map { /^### ([^\n]*)/ ? $1 : () } @sections;
is(join(' ', sort @headings), join(' ', sort @functions, @views), 'one section for each function and each view, and no other');
is(join(' ', sort($page =~ /^\| \[`([^`]+)`\]/mg)), join(' ', sort @functions, @views), 'and one line in the index');

for my $function (@functions)
{
	my $text = $section{$function};
	my @missing = grep { $text !~ /$_/m } '^```sql\n' . $function . '\(', '^\| parameter \| type \| default \| meaning \|$', '^\*\*Returns\*\* ',
		'^\*\*Errors\*\*: ', '^\*\*Price\*\*: ', '^<!-- example -->$', '\*\*See also\*\*\s';
	is(join(' ', @missing), '', "$function: no part of the section is missing");
	my ($result) = query("SELECT string_agg(DISTINCT CASE WHEN proretset AND proallargtypes IS NOT NULL OR typrelid <> 0 THEN 'columns' ELSE pg_get_function_result(p.oid) END, ',')
		FROM pg_proc p JOIN pg_type t ON t.oid = prorettype WHERE proname = '$function' AND pronamespace = 'public'::regnamespace");
	like($text, $result eq 'columns' ? qr/^\| column \| type \| meaning \|$/m : $result eq 'void' ? qr/\*\*Returns\*\* nothing\./ : qr/\*\*Returns\*\* `\Q$result\E`/,
		"$function: it returns $result");
}

# ---- what no catalog has: options, and domains ----

# What the server says of a call that can't be.
sub complaint
{
	my ($call) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT $call");
	return $err;
}

# Each function with arguments that are enough to get as far as its options.
my $relation = q{'pg_class', 'oid', 'relname'};
my %call = (
	dp_protect => [q{'pg_class', 'oid', 1, 1e-6}],
	dp_attach => [q{'x', 'pg_class', 'oid'}],
	dp_ngrams => [ map { "$relation, 1, 1e-6, method => '$_'" } qw(dpne-mr dpne) ],
	dp_set_union => [ map { "$relation, 1, 1e-6, method => '$_'" } qw(cumulative policy_gaussian policy_laplace) ],
	bayes_dp_dist => [
		map { "$relation, 'pg_class', 1, $_" } (map { "1e-6, method => '$_'" } qw(shrinkage log-posterior local-sensitivity)),
		q{1e-6, method => 'log-posterior', tune => true}, (map { "0, method => '$_'" } qw(laplace laplace-public)) ],
	ldp_frequent_terms => [ map { "$relation, 1, method => '$_', max_length => 6" } qw(privtrie rappor) ],
	ldp_round => [ map { "'$_', 1, max_length => 6" } qw(privtrie rappor) ]);
for my $function (sort keys %call)
{
	my %known;

	for my $arguments (@{ $call{$function} })
	{
		my ($list) = complaint("$function($arguments, options => '{\"none\": 1}')") =~ /^HINT:  (?:Options are|The option is) (.*)\.$/m;
		$known{$_} = 1 for split(/, | and /, $list // 'no list of options');
	}
	my ($table) = $section{$function} =~ /^\| option \|[^\n]*\n((?:\|[^\n]*\n)*)/m;
	my ($row) = $section{$function} =~ /^(\| `options` \|[^\n]*)/m;
	my %told = map { $_ => 1 } defined $table ? $table =~ /^\| `(\w+)` \|/mg : grep { $known{$_} } $row =~ /`(\w+)`/g;
	is(join(' ', sort keys %told), join(' ', sort keys %known), "$function: its options");
}

# A number far out of its domain is answered with that.
for (
	[ dp_ngrams => "$relation, 1, 1e-6", qw(max_length max_contributions max_tokens) ],
	[ dp_ngrams => "$relation, 1, 1e-6, method => 'dpsu-single', max_length => 32", 'length' ],
	[ dp_set_union => "$relation, 1, 1e-6", 'max_contributions' ],
	[ bayes_dp_dist => "$relation, 'pg_class', 1, 1e-6", qw(n max_count max_contributions max_norm max_tokens) ],
	[ ldp_frequent_terms => $relation, 'epsilon' ],
	[ ldp_frequent_terms => "$relation, 1", qw(k max_length) ],
	[ ldp_round => q{'pem'}, 'epsilon' ],
	[ ldp_round => q{'pem', 1}, qw(k max_length) ],
	[ oue_bit => 'true', 'epsilon' ],
	[ ngrams => q{'a'::text}, 'n' ],
	[ dp_public_ngrams => q{'pg_class', 'relname'}, qw(n min_count max_tokens) ],
	[ dp_next_words => q{'pg_class', 'a'::text}, 'k' ],
	[ ngram_score => q{'pg_class', 'pg_class', 'relname'}, 'n' ],
	[ kanon_ngrams => $relation, 'k' ],
	[ kanon_ngrams => "$relation, 1", qw(max_length max_tokens) ],
	[ dp_membership_attack => "$relation, 'pg_class', 1, 1e-6", qw(runs confidence) ])
{
	my ($function, $arguments, @parameters) = @$_;

	for my $parameter (@parameters)
	{
		my $number = $parameter eq 'epsilon' ? 1000 : -1;
		my ($low, $high) = complaint("$function($arguments, $parameter => $number)")
			=~ /^DETAIL:  "\w+" must be (?:between|at least) (\S+?)(?: and (\S+?))?(?: under [^.]*)?\.$/m;
		$low =~ s/e-0/e-/ if defined $low;
		my $domain = !defined $low ? 'no domain' : !defined $high || $high == 2147483647 ? "at least $low" : $parameter eq 'length' ? "$low to `max_length`" : "$low to $high";
		like($section{$function}, qr/^\| `$parameter` \|[^\n]*\Q$domain\E/m, "$function: $parameter, $domain");
	}
}

# ---- errors ----

my ($errors) = $page =~ /^## Errors\n(.*)/ms;
my @states = map { s/[', ]//gr } slurp_file("$top/src/dpngram_errcodes.h") =~ /MAKE_SQLSTATE\(([^)]*)\)/g;
my @listed = $errors =~ /^\| (\w{5}) \|/mg;
is(join(' ', grep { /^NG/ } @listed), "@states", 'every SQLSTATE of our own is listed');
my %listed = map { $_ => 1 } @listed;
my @named = $page =~ /\b(NG\d{3}|\d{2}[0-9P]\w\d)\b(?=[ ,:.;)])/g;
is(join(' ', grep { !$listed{$_} } grep { /^NG|^(?:25|40|42|54|55|57)[0-9P]/ } @named), '', 'and every one that a section names');
cmp_ok(scalar(@named), '>', 150, 'of which there are many');

$node->stop;
done_testing();
