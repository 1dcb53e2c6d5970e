# reference.pl PAGE: prints doc/reference.md with everything that a server knows better put
# in anew: signatures, types, defaults, comments, settings, and what the examples print.
#
# So the page can't drift: test/t/051_reference.pl demands that this changes nothing, and
# "make reference" writes it.  Words stay as they are; a parameter that is new on the page
# gets "?" for its meaning, at which the test fails as well.
#
# The database that the environment names must be empty.  The page's examples run there, as
# one session of a superuser, with predictable noise.
use strict;
use warnings;
use File::Temp;
use JSON::PP;

my $columns = 100;

# ---- the server ----

# What psql prints of a script; errors go to standard error, and nothing else does.
sub psql
{
	my ($script, @options) = @_;
	my $file = File::Temp->new;

	print $file $script;
	close($file);
	local $ENV{PGOPTIONS} = '-c client_min_messages=error -c dpngram.test_seed=1';
	open(my $psql, '-|', 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', @options, '-f', $file->filename) or die "psql: $!";
	my $text = do { local $/ = undef; <$psql> // '' };
	close($psql) or die "psql failed\n";
	return $text;
}

sub rows
{
	my ($sql) = @_;
	return decode_json(psql("SELECT coalesce(json_agg(r), '[]') FROM ($sql) r;\n", '-At'));
}

# Functions that users call: those in the extension's own schema.  Of each the arguments,
# the columns of its result, its type without them, and its comment.
my $functions_query = q{
SELECT p.proname AS name, obj_description(p.oid, 'pg_proc') AS comment, p.pronargs AS n,
	coalesce((SELECT json_agg(json_build_object('name', p.proargnames[i], 'type', format_type(p.proargtypes[i - 1], NULL),
			'default', regexp_replace(pg_get_function_arg_default(p.oid, i::int), '::[a-z \[\]]+$', '')) ORDER BY i)
		FROM generate_series(1, p.pronargs) i), '[]') AS arguments,
	CASE WHEN t.typrelid <> 0 AND p.prorettype <> 'record'::regtype THEN (
			SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) ORDER BY a.attnum)
			FROM pg_attribute a WHERE a.attrelid = t.typrelid AND a.attnum > 0)
		ELSE (SELECT json_agg(json_build_object('name', p.proargnames[i], 'type', format_type(p.proallargtypes[i], NULL)) ORDER BY i)
			FROM generate_series(p.pronargs + 1, cardinality(p.proallargtypes)) i) END AS columns,
	pg_get_function_result(p.oid) AS result
FROM pg_proc p
JOIN pg_type t ON t.oid = p.prorettype
JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND e.extname = 'dpngram'
WHERE p.pronamespace = e.extnamespace
ORDER BY p.proname COLLATE "C", p.pronargs DESC};

# Views that PUBLIC may read.
my $views_query = q{
SELECT c.oid::regclass::text AS name, obj_description(c.oid, 'pg_class') AS comment,
	(SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
		'comment', col_description(c.oid, a.attnum)) ORDER BY a.attnum)
	 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
FROM pg_class c
WHERE c.relnamespace = 'dpngram'::regnamespace AND c.relkind = 'v' AND has_table_privilege('public', c.oid, 'SELECT')
ORDER BY 1};

# The functions of schema dpngram, without triggers' and what aggregates are made of.
my $inner_query = q{
SELECT 'dpngram.' || p.proname AS name, obj_description(p.oid, 'pg_proc') AS comment,
	(SELECT string_agg(concat_ws(' ', p.proargnames[i], format_type(p.proargtypes[i - 1], NULL)), ', ' ORDER BY i)
		FROM generate_series(1, p.pronargs) i) AS arguments,
	has_function_privilege('public', p.oid, 'EXECUTE') AS anybody
FROM pg_proc p
WHERE p.pronamespace = 'dpngram'::regnamespace AND p.prorettype <> 'trigger'::regtype
	AND NOT EXISTS (SELECT FROM pg_aggregate a WHERE p.oid IN (a.aggtransfn, a.aggfinalfn, a.aggcombinefn))
ORDER BY p.proname COLLATE "C"};

# What is behind those views: the ledger's own tables and views.
my $ledger_query = q{
SELECT c.oid::regclass::text AS name, obj_description(c.oid, 'pg_class') AS comment,
	(SELECT string_agg(a.attname, ', ' ORDER BY a.attnum) FROM pg_attribute a
		WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
FROM pg_class c
WHERE c.relnamespace = 'dpngram'::regnamespace AND c.relkind IN ('r', 'v') AND NOT has_table_privilege('public', c.oid, 'SELECT')
ORDER BY c.relkind, 1};

my $settings_query = q{
SELECT name, vartype, boot_val, unit, min_val, max_val, context
FROM pg_settings WHERE name LIKE 'dpngram.%' ORDER BY name COLLATE "C"};

# ---- how things are written ----

# What stands in parentheses, if it is long in lines of its own.
sub in_parentheses
{
	my (@parts) = @_;
	my @lines;

	for my $i (0 .. $#parts)
	{
		my $part = $parts[$i] . ($i < $#parts ? ',' : '');
		if (@lines && length("$lines[-1] $part") <= $columns)
		{
			$lines[-1] .= " $part";
		}
		else
		{
			push @lines, "    $part";
		}
	}
	return join("\n", '(', @lines, ')');
}

# "name(arguments) RETURNS type", in lines.
sub signature
{
	my ($function) = @_;
	my @parts = map { "$_->{name} $_->{type}" . (defined $_->{default} ? " DEFAULT $_->{default}" : '') }
		@{ $function->{arguments} };
	my $result = "RETURNS $function->{result}";
	my $one = "$function->{name}(" . join(', ', @parts) . ") $result";

	return $one if length($one) <= $columns;
	$result =~ s/^(RETURNS TABLE)\((.*)\)$/$1 . in_parentheses(split(\/, \/, $2))/e if length($result) + 2 > $columns;
	return $function->{name} . in_parentheses(@parts) . " $result";
}

sub sentence
{
	my ($comment) = @_;
	return '**' . ucfirst($comment // '?') . '.**';
}

# The last cells of a table's rows, by the names in the first.
sub meanings
{
	my ($table) = @_;
	return map { /^\| `([^`]*)`.* \| ([^|]*) \|$/ ? ($1 => $2) : () } split(/\n/, $table);
}

# A section's table that begins with this header, made anew by a function of the meanings.
sub put_table
{
	my ($section, $header, $rows) = @_;
	my $rule = join('|', map { '---' } split(/ \| /, $header));

	$$section =~ s{^\| \Q$header\E \|\n((?:\|.*\n)*)}{
		my %meaning = meanings($1);
		"| $header |\n|$rule|\n" . join('', map { "| $_ |\n" } $rows->(\%meaning))}me;
	return;
}

# The arguments of all functions of one name: an argument that several have stands once.
sub all_arguments
{
	my (%at, @arguments);

	for my $argument (map { @{ $_->{arguments} } } @_)
	{
		my $known = $at{ $argument->{name} };
		if (!defined $known)
		{
			push @arguments, { %$argument };
			$at{ $argument->{name} } = $arguments[-1];
		}
		elsif ($known->{type} ne $argument->{type})
		{
			$known->{type} .= " or $argument->{type}";
		}
	}
	return @arguments;
}

sub put_function
{
	my ($section, @functions) = @_;
	my $signatures = join("\n\n", map { signature($_) } @functions);
	my $sentences = join("\n", map { sentence($_->{comment}) } @functions);

	$$section =~ s/^```sql\n.*?^```\n/```sql\n$signatures\n```\n/ms;
	$$section =~ s/^```\n\n\K(?:\*\*[^*]*\*\*[ \n]?)*/$sentences\n/m;
	put_table($section, 'parameter | type | default | meaning', sub {
		my ($meaning) = @_;
		map { "`$_->{name}` | $_->{type} | " . (defined $_->{default} ? "`$_->{default}` |" : '|') . ' ' . ($meaning->{ $_->{name} } // '?') }
			all_arguments(@functions); });
	put_table($section, 'column | type | meaning', sub {
		my ($meaning) = @_;
		map { "`$_->{name}` | $_->{type} | " . ($meaning->{ $_->{name} } // '?') } @{ $functions[0]{columns} // [] }; });
	return;
}

sub put_view
{
	my ($section, $view) = @_;
	my $comment = sentence($view->{comment});

	$$section =~ s/^###[^\n]*\n\n\K(?:\*\*[^*]*\*\*[ \n]?)?/$comment\n/;
	put_table($section, 'column | type | meaning', sub {
		map { "`$_->{name}` | $_->{type} | $_->{comment}" } @{ $view->{columns} }; });
	return;
}

sub setting_row
{
	my ($setting, $meaning) = @_;
	my $range = defined $setting->{min_val} ? "$setting->{min_val} to $setting->{max_val}" : 'on, off';
	my $who = { user => 'anybody', superuser => 'superusers' }->{ $setting->{context} } // $setting->{context};

	return join(' | ', "`$setting->{name}`", $setting->{boot_val}, $setting->{unit} // '', $range, $who, $meaning // '?')
		=~ s/ \|  \| / | | /r;
}

# ---- the page ----

# Runs the examples, which see each other's tables, and puts in what they print.
sub run_examples
{
	my ($page) = @_;
	my $fence = qr/^<!-- example -->\n```sql\n(.*?)^```\n(?:```\n.*?^```\n)?/ms;
	my $mark = '=== example ===';
	my @statements = $page =~ /$fence/g;
	my (undef, @output) = split(/^$mark\n/m, psql(join('', map { "\\echo $mark\n$_" } @statements)), -1);

	die 'examples are missing' if @output != @statements;
	$page =~ s{$fence}{
		my $statement = $1;
		# without trailing blanks, and without the empty row of a function that returns nothing
		my $output = shift(@output) =~ s/ +$//mgr =~ s/^ \w+\n-+\n\n\(1 row\)\n\n//mgr =~ s/\n*\z//r;
		"<!-- example -->\n```sql\n$statement```\n" . ($output eq '' ? '' : "```\n$output\n```\n")}ge;
	return $page;
}

my ($file) = @ARGV;
die "usage: reference.pl PAGE\n" if @ARGV != 1;
open(my $handle, '<', $file) or die "$file: $!";
my $page = do { local $/ = undef; <$handle> };
close($handle);

$page = run_examples($page);
my (%functions, %comment);
push @{ $functions{ $_->{name} } }, $_ for @{ rows($functions_query) };
my %view = map { $_->{name} => $_ } @{ rows($views_query) };
my @settings = @{ decode_json(psql("LOAD 'dpngram'; SELECT json_agg(r) FROM ($settings_query) r;\n", '-At')) };

my @sections = split(/^(?=##)/m, $page);
for my $section (@sections)
{
	my ($name) = $section =~ /^##+ ([^\n]*)/;

	next unless defined $name;
	put_function(\$section, @{ $functions{$name} }) if $functions{$name};
	put_view(\$section, $view{$name}) if $view{$name};
	put_table(\$section, 'setting | default | unit | range | who sets it | meaning', sub {
		my ($meaning) = @_;
		map { setting_row($_, $meaning->{ $_->{name} }) } @settings; });
	put_table(\$section, 'function | arguments | who may call it | what it does', sub {
		map { "`$_->{name}` | " . (defined $_->{arguments} ? "$_->{arguments} | " : '| ') . ($_->{anybody} ? 'anybody' : 'the owner') . " | $_->{comment}" }
			@{ rows($inner_query) }; });
	put_table(\$section, 'relation | what it holds | columns', sub {
		map { "`$_->{name}` | $_->{comment} | $_->{columns}" } @{ rows($ledger_query) }; });
	$section =~ s{^\| \[`([^`]+)`\]\((#[^)]*)\) \| .*\n}{
		my $comments = join('; ', map { $_->{comment} // '?' } @{ $functions{$1} // [ $view{$1} // {} ] });
		"| [`$1`]($2) | $comments |\n"}mge;
}
print join('', @sections);
