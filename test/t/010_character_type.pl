# Where the database's character type knows ASCII only, dp_protect says so, once.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $node = ledger_node('character_type');
my %said;
# lower() may be provided by another than the C library, whose the character type is
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
my $provider = $version >= 170000 ? q{LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'}
  : $version >= 150000 ? q{LOCALE_PROVIDER icu ICU_LOCALE 'en'} : '';
for my $case ([ 'utf8', 'C.UTF-8', 'UTF8' ], [ 'c', 'C', 'UTF8' ], [ 'ascii', 'C', 'SQL_ASCII' ],
	[ 'provided', 'C', 'UTF8', $provider ])
{
	my ($database, $locale, $encoding, $more) = @$case;

	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0 LOCALE '$locale' ENCODING '$encoding' "
		. ($more // ''));
	my ($rc, $out, $err) = $node->psql($database, q{
		CREATE EXTENSION dpngram;
		CREATE TABLE t AS SELECT i AS who, convert_from('\x4772c3b6c39f65', getdatabaseencoding()) AS what
			FROM generate_series(1, 300) i;
		SELECT dp_protect('t', 'who', 20, 1e-3);
		SELECT ngram FROM dp_ngrams('t', 'who', 'what', 8, 1e-4, max_length => 1);});
	$said{$database} = () = $err =~ /NOTICE:  words are told apart by ASCII letters and digits only/g;
	like($out, $database eq 'utf8' ? qr/^gr\xc3\xb6\xc3\x9fe$/m : qr/^gr$/m, "$database: words as its character type has them");
}
# The hash chain's text is UTF-8, but where nothing can be converted.
my $name = q{$$ || convert_from('\x74e4', 'SQL_ASCII') || $$};
is($node->safe_psql('ascii', qq{
	SET client_encoding = SQL_ASCII;
	SELECT \$\$CREATE TABLE "$name" AS SELECT 1 AS who, 'a'::text AS what\$\$ \\gexec
	SELECT dp_protect(oid, 'who', 20, 1e-3, 'bytes') FROM pg_class WHERE relname = convert_from('\\x74e4', 'SQL_ASCII')::name;
	SELECT d.releases FROM dpngram.dataset d WHERE d.name = 'bytes' AND NOT EXISTS (SELECT FROM dpngram.broken_chain(d.id));}),
	"\n1", 'a relation whose name is no UTF-8 in a database that does not ask for any');
is_deeply(\%said, { utf8 => 0, c => 1, ascii => 1, provided => 1 }, 'one NOTICE, where it is so');
# A range of an alphabet that spans one and two bytes has its characters and no others: six of
# ASCII from z on, 63 katakana of half width, 3 rows of 94, and two.
$node->safe_psql('postgres', "CREATE DATABASE euc TEMPLATE template0 LOCALE 'C' ENCODING 'EUC_JP'");
is($node->safe_psql('euc', q{
	CREATE EXTENSION dpngram;
	SELECT jsonb_array_length(ldp_round('privtrie', 1, 5, convert_from('\x7a2da4a2', 'EUC_JP')) -> 'nodes');}),
	'353', 'an alphabet of characters of one and of two bytes');
$node->stop;
done_testing();
