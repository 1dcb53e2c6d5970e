# 072_ldp_log.pl: an error of ldp_encode or oue_bit doesn't take what the client has into the
# server log.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;

my $node = ledger_node('ldp_log', 'log_statement = none');    # as by default; tests log all
my $marker = 'zqxjkvwq';

$node->safe_psql(
	'postgres', q{
CREATE EXTENSION dpngram;
CREATE TABLE rounds (round jsonb);
INSERT INTO rounds VALUES (ldp_round('pem', 1) || '{"k": 0}');    -- nobody published it
CREATE TABLE reports (report jsonb);
CREATE VIEW inbox AS SELECT NULL::text AS word WHERE false;
CREATE FUNCTION keep_report() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO reports SELECT ldp_encode('pem', NEW.word, 1, round) FROM rounds;
	RETURN NULL;
END $$;
CREATE TRIGGER keep_report INSTEAD OF INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION keep_report();
});

# What a client sends that meets the bad round; COPY names the line in its context.
my %clients = (
	'a statement' => "SELECT ldp_encode('pem', '$marker', 1, round) FROM rounds",
	'an insert through the door' => "INSERT INTO inbox VALUES ('$marker')",
	'COPY through the door' => "COPY inbox FROM stdin;\n$marker\n\\.\n",
	'a statement made of it' =>
	  qq{DO \$\$ BEGIN EXECUTE 'SELECT ldp_encode(''pem'', ''$marker'', 1, round) FROM rounds'; END \$\$},
	'a bit' => "SELECT oue_bit('$marker' <> '', 0)",
	'a secret that is too short' =>
	  "SELECT ldp_encode('pem', '$marker', 1, ldp_round('pem', 1), 'zqxjkvwq')");

for my $client (sort keys %clients)
{
	my $before = -s $node->logfile;
	my ($status, $out, $err) = $node->psql('postgres', $clients{$client});
	my $log = slurp_file($node->logfile, $before);

	isnt($status, 0, "$client: fails");
	like($log, qr/ERROR:  (the round is not one that|argument "(?:secret|epsilon)")/, "$client: the log has the error");
	unlike($log, qr/$marker/, "$client: the log has no term");
}

# Other errors on the way are the server's own: doc/local.md tells how a door keeps quiet about them.
$node->safe_psql(
	'postgres', q{
CREATE ROLE door LOGIN;
GRANT INSERT ON inbox TO door;
GRANT SELECT ON rounds TO door;
ALTER ROLE door SET log_min_error_statement = 'panic';
ALTER ROLE door SET log_error_verbosity = 'terse';
UPDATE rounds SET round = ldp_round('pem', 1);});
for my $client ("INSERT INTO inbox VALUES ('$marker')", "COPY inbox FROM stdin;\n$marker\n\\.\n")
{
	my $before = -s $node->logfile;
	my ($status, $out, $err) = $node->psql('postgres', $client, extra_params => [ '-U', 'door' ]);
	my $log = slurp_file($node->logfile, $before);

	like($log, qr/ERROR:  permission denied for table reports/, 'a door without the right to store: the log has the error');
	unlike($log, qr/$marker/, 'a door without the right to store: the log has no term');
}

$node->stop;
done_testing();
